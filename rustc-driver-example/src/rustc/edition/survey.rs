//! The survey: which places make a difference.
//!
//! That is known only when there is MIR, but the syntax tree has to be marked long before. So there are two sessions: a
//! first one, in which all places are of edition 2021, where temporaries live longest. It tells no one anything, writes
//! nothing and ends when all bodies are built. What it finds does not depend on the pattern.

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

/// What is known of a crate.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// How many places each crate has written.
    pub(super) places: BTreeMap<StableCrateId, usize>,
    /// Those that make a difference.
    pub(super) changes: BTreeMap<Place, Change>,
}

/// A place that makes a difference.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) gate: Gate,
    pub(super) description: Description,
}

/// The places of the crate that is surveyed, as met in its syntax tree, and what its bodies show of them.
static PLACES: Mutex<BTreeMap<Place, Facts>> = Mutex::new(BTreeMap::new());

fn places() -> MutexGuard<'static, BTreeMap<Place, Facts>> {
    // Threads of the compiler may panic; what they leave here is whole.
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds what was found out about a place, if it is one of those that are asked about.
fn learn(place: &Place, fact: Fact) {
    if let Some(facts) = places().get_mut(place) {
        facts.learn(fact);
    }
}

/// Surveys the crate that is about to be compiled. None if it has errors.
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
    // What the other session keeps between compilations is not touched, and it says what there is to say.
    config.opts.incremental = None;
    never_type::listen(&mut config);
    // Errors end a session in an unwinding that is not a panic.
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
        // Not what types depend on: it may not compile any more.
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
    // What lints refuse, the other session refuses too.
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

/// The MIR of a body as it is written, before anything is made of it: it is looked at before anybody can take it away.
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
