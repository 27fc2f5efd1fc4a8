//! Gates `drops` and `scopes`: single expressions drop their temporaries where another edition does.
//!
//! Edition 2024 shortened the lives of temporaries in two kinds of places: at the end of a block, and in the condition of an
//! `if let`. rustc decides it by the edition of the span of that block or `if` alone, so that a single one can be given the
//! other edition. [`survey`] finds out which of them make a difference, by compiling the crate once before;
//! [`Plan::carry_out`] then marks those whose changes are on.

mod body;
mod describe;
mod facts;
mod never_type;
mod place;
mod scopes;
mod survey;
mod syntax;
mod values;

use std::collections::BTreeSet;

use bisect_core::Field;
use rustc_interface::Config;
use rustc_middle::ty::TyCtxt;
use rustc_session::{
    EarlyDiagCtxt,
    config::{ErrorOutputType, Options, PrintKind, PrintRequest},
};
use rustc_span::{def_id::LOCAL_CRATE, edition::Edition};

use self::{place::Place, survey::Survey};
use super::bisection;
use crate::Gate;

/// What is to be done with a crate.
#[derive(Debug)]
pub(super) struct Plan {
    /// None if it does not compile: then the session that follows says why.
    survey: Option<Survey>,
    edition: Edition,
}

/// What these gates ask of the crate that is about to be compiled, if anything.
pub(super) fn plan(config: &Config) -> Option<Plan> {
    if !bisection().asks_for(&Gate::OF_EDITIONS) || only_prints(&config.opts) {
        return None;
    }
    let edition = config.opts.edition;
    let Some(_) = other(edition) else {
        EarlyDiagCtxt::new(ErrorOutputType::default()).early_fatal(format!(
            "bisect-rustc: the gates drops and scopes are for crates of editions 2021 and 2024, and this one is of {edition}"
        ));
    };
    Some(Plan { survey: survey::run(config), edition })
}

/// Whether rustc is asked a question, and nothing is compiled.
fn only_prints(options: &Options) -> bool {
    let is_question = |print: &PrintRequest| !matches!(print.kind, PrintKind::NativeStaticLibs | PrintKind::LinkArgs);
    options.prints.iter().any(is_question)
        || options.describe_lints
        || options.pretty.is_some()
        || options.unstable_opts.link_only
        || !options.unstable_opts.ls.is_empty()
}

/// The edition whose meaning changes are on with.
fn other(edition: Edition) -> Option<Edition> {
    match edition {
        Edition::Edition2021 => Some(Edition::Edition2024),
        Edition::Edition2024 => Some(Edition::Edition2021),
        _ => None,
    }
}

impl Plan {
    /// Reports the changes of a crate that was expanded, and marks the places of those that are on.
    pub(super) fn carry_out(&self, tcx: TyCtxt<'_>) {
        let (Some(survey), Some(other)) = (&self.survey, other(self.edition)) else { return };
        let krate = tcx.crate_name(LOCAL_CRATE);
        bisection().tell(&[Gate::Drops, Gate::Scopes], || {
            let of = |gate| survey.changes.values().filter(|change| change.gate == gate).count();
            let (drops, all, scopes) = (of(Gate::Drops), survey.places, of(Gate::Scopes));
            format!(
                "{drops} of {all} places of {krate} drop something elsewhere in edition {other}; \
                 of {scopes} more only the borrow checker can tell"
            )
        });
        let mut on = BTreeSet::new();
        for (place, change) in &survey.changes {
            let fields = [&[Field::Str(krate.as_str())], &place.fields()[..]].concat();
            let id = bisection().id(change.gate, krate.as_str(), &fields);
            bisection().report(change.gate, id, || change.description.clone());
            if bisection().is_on(change.gate, id) {
                on.insert(place);
            }
        }
        if on.remove(&Place::krate()) {
            syntax::with_tree(tcx, |krate| never_type::impose(tcx, krate, other));
        }
        if !on.is_empty() {
            syntax::visit(tcx, &mut |place, _| on.contains(place).then_some(other));
        }
    }

    /// Refuses a crate that compiles, but could not be surveyed: nothing was decided.
    pub(super) fn conclude(&self, tcx: TyCtxt<'_>) {
        if self.survey.is_none() {
            tcx.dcx().fatal("bisect-rustc: it is not known which places of this crate differ between editions, although it compiles");
        }
    }
}
