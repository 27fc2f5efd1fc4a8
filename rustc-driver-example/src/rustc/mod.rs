//! The code that depends on rustc: when rustc's interfaces change, this folder has to be adapted.
//!
//! A driver is `rustc` with callbacks. Before the session starts, [`Driver::config`] may replace *queries*: the
//! functions by which rustc computes everything. The queries that a gate replaces are in the module of that gate.

mod edition;
mod halve;
mod names;
mod optimize;

use std::{
    process::{self, ExitCode},
    sync::OnceLock,
    time::SystemTime,
};

use rustc_data_structures::{fingerprint::Fingerprint, stable_hasher::StableHasher, svh::Svh};
use rustc_driver::{Callbacks, Compilation};
use rustc_interface::{Config, interface::Compiler};
use rustc_middle::{mir::Body, query::LocalCrate, ty::TyCtxt, util::Providers};
use rustc_session::{
    EarlyDiagCtxt, Session,
    config::{CrateType, ErrorOutputType},
};
use rustc_span::{Symbol, def_id::LocalDefId};

use crate::{Bisection, Gate};

/// The settings of this process's compilation. They are static because queries are plain functions without state.
static BISECTION: OnceLock<Bisection> = OnceLock::new();

/// The original queries of rustc.
static QUERIES: OnceLock<Providers> = OnceLock::new();

fn bisection() -> &'static Bisection {
    BISECTION.get().expect("it is set before the compiler starts")
}

fn rustc() -> &'static Providers {
    QUERIES.get().expect("only queries that were replaced ask for those that they replace")
}

/// Returns the arguments of this process. If one is not UTF-8, the process ends with the error of rustc.
pub(crate) fn arguments() -> Vec<String> {
    rustc_driver::args::raw_args(&EarlyDiagCtxt::new(ErrorOutputType::default()))
}

/// Compiles a crate, which a process does only once. Returns the status of `rustc`.
pub(crate) fn compile(args: &[String], bisection: Bisection) -> ExitCode {
    rustc_driver::init_rustc_env_logger(&EarlyDiagCtxt::new(ErrorOutputType::default()));
    rustc_driver::install_ice_hook(rustc_driver::DEFAULT_BUG_REPORT_URL, |diagnostics| {
        diagnostics.handle().note("this is bisect-rustc: see whether rustc itself does the same, before you report it");
    });
    rustc_driver::install_ctrlc_handler();
    BISECTION.set(bisection).expect("a process compiles once");
    rustc_driver::catch_with_exit_code(|| rustc_driver::run_compiler(args, &mut Driver::default()))
}

#[derive(Debug, Default)]
struct Driver {
    /// The plan of the gates of editions; `None` if they have nothing to do.
    plan: Option<edition::Plan>,
}

impl Callbacks for Driver {
    fn config(&mut self, config: &mut Config) {
        // `rustc` itself sets this, and it is part of the hash of the crate.
        config.opts.trimmed_def_paths = true;
        if runs_while_building(config) {
            return;
        }
        self.plan = edition::plan(config);
        // `cargo check` generates no machine code: the gates of code decide and report nothing there.
        let decides_code = bisection().asks_for(&Gate::OF_CODE) && config.opts.output_types.should_codegen();
        let active = self.plan.is_some() || decides_code;
        config.track_state = Some(Box::new(move |session, hasher| track(session, active.then_some(hasher))));
        if decides_code {
            config.override_queries = Some(replace_queries);
        } else if active {
            config.override_queries = Some(replace_common_queries);
        }
    }

    fn after_expansion(&mut self, _: &Compiler, tcx: TyCtxt<'_>) -> Compilation {
        if let Some(plan) = &self.plan {
            plan.carry_out(tcx);
        }
        Compilation::Continue
    }

    fn after_analysis(&mut self, _: &Compiler, tcx: TyCtxt<'_>) -> Compilation {
        if let Some(plan) = &self.plan {
            plan.conclude(tcx);
        }
        Compilation::Continue
    }
}

/// Returns true for a procedural macro or a build script, which is no part of the searched program.
fn runs_while_building(config: &Config) -> bool {
    let is_build_script = |name: &String| name.starts_with("build_script_");
    config.opts.crate_types.contains(&CrateType::ProcMacro)
        || config.opts.crate_name.as_ref().is_some_and(is_build_script)
}

/// Reports to cargo which variables were read, and empties the incremental cache if a gate is active.
///
/// The content of that cache was decided by another pattern, or by none, and reused results are not reported. So each
/// of these compilations starts from nothing: the hash differs from all earlier ones.
fn track(session: &Session, hasher: Option<&mut StableHasher>) {
    for variable in bisection().variables() {
        let value = variable.value.as_deref().map(Symbol::intern);
        session.env_depinfo.borrow_mut().insert((Symbol::intern(&variable.name), value));
    }
    if let Some(hasher) = hasher {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        std::hash::Hash::hash(&(now.as_nanos(), process::id()), hasher);
    }
}

fn replace_common_queries(_: &Session, queries: &mut Providers) {
    QUERIES.get_or_init(|| *queries);
    queries.queries.crate_hash = crate_hash;
    edition::replace_queries(queries);
}

fn replace_queries(session: &Session, queries: &mut Providers) {
    replace_common_queries(session, queries);
    queries.queries.optimized_mir = optimized_mir;
    optimize::replace_queries(queries);
}

/// Returns the hash by which dependent crates detect that this one has changed. The decisions of the pattern are in the
/// machine code and metadata of this crate, so incremental compilations of dependent crates must see them.
fn crate_hash(tcx: TyCtxt<'_>, krate: LocalCrate) -> Svh {
    let hash = (rustc().queries.crate_hash)(tcx, krate).as_u128();
    let mut hasher = StableHasher::new();
    std::hash::Hash::hash(&(hash, bisection().variables()), &mut hasher);
    Svh::new(hasher.finish::<Fingerprint>())
}

/// Returns the body of a function of this crate, ready to become machine code or to be inlined.
fn optimized_mir(tcx: TyCtxt<'_>, function: LocalDefId) -> &Body<'_> {
    optimize::report(tcx, function.to_def_id());
    let body = (rustc().queries.optimized_mir)(tcx, function);
    optimize::report_inlined(tcx, body);
    halve::run(tcx, body)
}
