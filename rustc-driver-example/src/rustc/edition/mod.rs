//! Gates `drops`, `scopes`, `captures`, `into-iter` and `never-type`: expressions with another edition's meaning.
//!
//! Edition 2024 shortened the lives of temporaries in two kinds of places: at the end of a block, and in the condition
//! of an `if let`. rustc decides this only by the edition of the span of that block or `if`, so a single one can be
//! given the other edition. The same is true of the span of a method's name (`into-iter`) and of a type in
//! [`captures`]. In [`never_type`], one decision applies to the whole crate. [`survey`] finds the places that make a
//! difference, by an additional compilation of the crate. [`Plan::carry_out`] then marks the places whose changes are
//! on.

mod body;
mod captures;
mod describe;
mod facts;
mod never_type;
mod origin;
mod place;
mod scopes;
mod survey;
mod syntax;
mod values;

use std::{collections::BTreeSet, env, fmt::Display};

use bisect_core::Field;
use rustc_interface::Config;
use rustc_middle::{ty::TyCtxt, util::Providers};
use rustc_session::{
    EarlyDiagCtxt,
    config::{ErrorOutputType, Options, PrintKind, PrintRequest},
};
use rustc_span::{
    def_id::{LOCAL_CRATE, StableCrateId},
    edition::Edition,
};

use self::{origin::Origin, place::Place, survey::Survey};
use super::bisection;
use crate::{Gate, bisection::any_package_asks_for, key_values};

/// The plan of these gates for a crate.
#[derive(Debug)]
pub(super) struct Plan {
    /// The survey; `None` if the crate does not compile: then the session that follows reports why.
    survey: Option<Survey>,
}

/// Returns the plan for the crate that is about to be compiled; `None` if these gates have nothing to do. If they are
/// requested for a crate of an edition that they do not support, the process ends with an error.
pub(super) fn plan(config: &Config) -> Option<Plan> {
    // The variables of all packages count, because macros of other packages may be expanded in the crate.
    if !any_package_asks_for(&Gate::OF_EDITIONS, env::vars_os()) || only_prints(&config.opts) {
        return None;
    }
    let is_asked = bisection().asks_for(&Gate::OF_EDITIONS);
    let edition = config.opts.edition;
    if is_asked && other(edition).is_none() {
        EarlyDiagCtxt::new(ErrorOutputType::default()).early_fatal(format!(
            "bisect-rustc: the gates of editions are for crates of editions 2021 and 2024, and this one is of {edition}"
        ));
    }
    let survey = survey::run(config);
    let is_empty = survey.as_ref().is_some_and(|survey| survey.places.is_empty() && survey.changes.is_empty());
    (is_asked || !is_empty).then_some(Plan { survey })
}

/// Replaces the queries of the session that follows the survey.
pub(super) fn replace_queries(queries: &mut Providers) {
    queries.queries.registered_tools = origin::registered_tools;
}

/// Returns true if rustc only answers a question and compiles nothing.
fn only_prints(options: &Options) -> bool {
    let is_question = |print: &PrintRequest| !matches!(print.kind, PrintKind::NativeStaticLibs | PrintKind::LinkArgs);
    options.prints.iter().any(is_question)
        || options.describe_lints
        || options.pretty.is_some()
        || options.unstable_opts.link_only
        || !options.unstable_opts.ls.is_empty()
}

/// Returns the edition whose meaning the changes have when they are on.
fn other(edition: Edition) -> Option<Edition> {
    match edition {
        Edition::Edition2021 => Some(Edition::Edition2024),
        Edition::Edition2024 => Some(Edition::Edition2021),
        _ => None,
    }
}

impl Plan {
    /// Reports the changes of an expanded crate, and marks the places of those that are on.
    pub(super) fn carry_out(&self, tcx: TyCtxt<'_>) {
        // Malformed variables are reported by this session, because the survey is silent.
        let origins = origin::all(tcx);
        let Some(survey) = &self.survey else { return };
        for (writer, origin) in origins {
            write_counts(tcx, survey, *writer, origin);
        }
        let mut on = BTreeSet::new();
        for (place, change) in &survey.changes {
            let Origin { name, bisection, .. } = place.origin(tcx);
            let fields = [&[Field::Str(name)], &place.fields()[..]].concat();
            let id = bisection.id(change.gate, name, &fields);
            bisection.report(change.gate, id, || change.description.clone());
            if bisection.is_on(change.gate, id) {
                on.insert(place);
            }
        }
        if bisection().asks_for(&Gate::OF_EDITIONS) {
            syntax::with_tree(tcx, |krate| origin::note(tcx, krate));
        }
        if on.remove(&Place::krate(tcx)) {
            let edition = other(tcx.sess.edition()).expect("others were refused");
            syntax::with_tree(tcx, |krate| never_type::impose(tcx, krate, edition));
        }
        if !on.is_empty() {
            syntax::visit(tcx, &mut |place, _| other(place.origin(tcx).edition).filter(|_| on.contains(place)));
        }
    }

    /// Fails the compilation of a crate that compiles but could not be surveyed, because none of its changes was
    /// decided.
    pub(super) fn conclude(&self, tcx: TyCtxt<'_>) {
        if self.survey.is_none() {
            tcx.dcx().fatal("bisect-rustc: it is not known which places of this crate differ between editions, although it compiles");
        }
    }
}

/// Writes the numbers of places and changes of a crate as a key-value line of verbose output.
fn write_counts(tcx: TyCtxt<'_>, survey: &Survey, writer: StableCrateId, origin: &Origin) {
    let all = survey.places.get(&writer).copied().unwrap_or(0);
    let is_own = writer == tcx.stable_crate_id(LOCAL_CRATE);
    if all == 0 && !is_own {
        return;
    }
    origin.bisection.write_if_verbose(&Gate::OF_EDITIONS, || {
        let of = |gate| {
            let changes = survey.changes.iter().filter(|(place, change)| place.writer == writer && change.gate == gate);
            changes.count()
        };
        let (compiled, edition) = (tcx.crate_name(LOCAL_CRATE), other(origin.edition));
        let counts = [Gate::Drops, Gate::Scopes, Gate::Captures].map(|gate| (gate.name(), of(gate)));
        let mut pairs: Vec<(&str, &dyn Display)> = vec![("crate", &origin.name)];
        if !is_own {
            pairs.push(("expanded-in", &compiled));
        }
        if let Some(edition) = &edition {
            pairs.push(("edition", edition));
        }
        pairs.push(("places", &all));
        pairs.extend(counts.iter().map(|(name, count)| (*name, count as &dyn Display)));
        key_values::format(&pairs)
    });
}
