//! The survey: a session before the actual one that finds the places that make a difference.
//!
//! Only MIR shows which places these are, but the syntax tree has to be marked long before. So there are two sessions.
//! In the survey, all scopes of temporaries are of edition 2021, where temporaries live longest. The survey prints
//! nothing, writes nothing and ends when all bodies are built. Its result does not depend on the pattern.

use std::{
    collections::BTreeMap,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustc_interface::Config;
use rustc_middle::{ty::TyCtxt, util::Providers};
use rustc_session::{Session, config::Input};
use rustc_span::{
    def_id::{LocalDefId, StableCrateId},
    edition::Edition,
};

use super::{
    super::rustc,
    body, captures, describe,
    facts::{Fact, Facts},
    never_type, origin,
    place::Place,
    syntax,
};
use crate::{Description, Gate};

/// The result of the survey of a crate.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The number of places in the text of each crate: all scopes of temporaries, and each `impl Trait` that makes a
    /// difference.
    pub(super) places: BTreeMap<StableCrateId, usize>,
    /// The places that make a difference.
    pub(super) changes: BTreeMap<Place, Change>,
}

/// The gate and the description of a place that makes a difference.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) gate: Gate,
    pub(super) description: Description,
}

/// The places that were found in the syntax tree of the surveyed crate, and the facts that its bodies reveal.
static PLACES: Mutex<BTreeMap<Place, Facts>> = Mutex::new(BTreeMap::new());

fn places() -> MutexGuard<'static, BTreeMap<Place, Facts>> {
    // Threads of the compiler may panic, but they leave a valid map.
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a fact about a place, if the survey includes that place.
fn learn(place: &Place, fact: Fact) {
    if let Some(facts) = places().get_mut(place) {
        facts.learn(fact);
    }
}

/// Surveys the crate that is about to be compiled. Returns `None` if the crate has errors.
pub(super) fn run(config: &Config) -> Option<Survey> {
    let mut config = Config {
        opts: config.opts.clone(),
        crate_cfg: config.crate_cfg.clone(),
        crate_check_cfg: config.crate_check_cfg.clone(),
        input: match &config.input {
            Input::File(path) => Input::File(path.clone()),
            Input::Str { name, input } => Input::Str { name: name.clone(), input: input.clone() },
        },
        output_dir: config.output_dir.clone(),
        output_file: config.output_file.clone(),
        ice_file: config.ice_file.clone(),
        file_loader: None,
        lint_caps: config.lint_caps.clone(),
        psess_created: None,
        track_state: None,
        register_lints: None,
        override_queries: Some(replace_queries),
        extra_symbols: config.extra_symbols.clone(),
        make_codegen_backend: None,
        using_internal_features: config.using_internal_features,
    };
    // The incremental cache belongs to the second session, which also prints the diagnostics.
    config.opts.incremental = None;
    never_type::listen(&mut config);
    // A fatal error ends a session by unwinding, but not by a panic.
    let survey = rustc_driver::catch_fatal_errors(|| {
        rustc_interface::run_compiler(config, |compiler| {
            let krate = rustc_interface::parse(&compiler.sess);
            rustc_interface::create_and_enter_global_ctxt(compiler, krate, survey)
        })
    });
    survey.ok().flatten()
}

fn survey(tcx: TyCtxt<'_>) -> Option<Survey> {
    let _ = tcx.resolver_for_lowering();
    if origin::all(tcx).is_empty() {
        return Some(Survey::default());
    }
    let mut found = BTreeMap::<Place, Facts>::new();
    syntax::visit(tcx, &mut |place, met| {
        found.entry(place.clone()).or_default().meet(tcx, met);
        // Places that affect types keep their edition: with the other one, the crate may not compile.
        let is_later = place.kind.is_scope() && place.origin(tcx).edition != Edition::Edition2021;
        is_later.then_some(Edition::Edition2021)
    });
    *places() = found;
    tcx.force_delayed_owners_lowering();
    rustc_hir_analysis::check_crate(tcx);
    tcx.par_hir_body_owners(|def| {
        if !tcx.is_trivial_const(def) {
            let _ = tcx.mir_promoted(def);
        }
    });
    for (place, function, captures) in captures::all(tcx) {
        learn(&place, describe::capturing(tcx, function, &captures));
    }
    // Errors of lints do not count, because the second session has them, too.
    tcx.dcx().has_errors_excluding_lint_errors().is_none().then(|| conclude(tcx))
}

fn conclude(tcx: TyCtxt<'_>) -> Survey {
    let found = mem::take(&mut *places());
    let mut survey = Survey::default();
    for (place, facts) in found {
        let gate = facts.gate();
        if place.kind.is_scope() || gate == Some(Gate::Captures) {
            *survey.places.entry(place.writer).or_default() += 1;
        }
        if let Some(gate) = gate {
            let description = facts.describe(place.kind, place.origin(tcx).edition);
            survey.changes.insert(place, Change { gate, description });
        }
    }
    let krate = Place::krate(tcx);
    let never_types = never_type::found(tcx);
    if !never_types.is_empty() && origin::all(tcx).contains_key(&krate.writer) {
        let description = describe::krate(tcx, &never_types);
        survey.changes.insert(krate, Change { gate: Gate::NeverType, description });
    }
    survey
}

fn replace_queries(_: &Session, queries: &mut Providers) {
    super::super::QUERIES.get_or_init(|| *queries);
    queries.queries.mir_promoted = mir_promoted;
}

type Promoted<'tcx> = (
    &'tcx rustc_data_structures::steal::Steal<rustc_middle::mir::Body<'tcx>>,
    &'tcx rustc_data_structures::steal::Steal<
        rustc_index::IndexVec<rustc_middle::mir::Promoted, rustc_middle::mir::Body<'tcx>>,
    >,
);

/// Returns the MIR of a body as it is written. Its facts are collected here, before another query can steal it.
fn mir_promoted(tcx: TyCtxt<'_>, def: LocalDefId) -> Promoted<'_> {
    let built = (rustc().queries.mir_promoted)(tcx, def);
    let body = built.0.borrow();
    if body.tainted_by_errors.is_none() {
        for (place, fact) in body::facts(tcx, def, &body) {
            learn(&place, fact);
        }
    }
    drop(body);
    built
}
