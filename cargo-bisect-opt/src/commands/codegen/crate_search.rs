//! The search for crates: without link-time optimization first, and with another good side if the default one fails.

use std::{io, sync::Arc};

use bisect_core::search::{Outcome, Verdict};

use super::{
    Drill,
    dev_side::{self, DevSide, GoodSide},
};
use crate::{
    axes::{compilation::Compilation, crates::Crates},
    lab::{Lab, Searched},
    output::{events::Event, exit_status::Exit},
    run::limit::Limit,
    targets::project::ProjectTarget,
};

/// The result of the search.
pub(super) struct CrateSearch {
    /// The compilation that was searched.
    pub(super) compilation: Arc<Compilation>,
    /// The target that was searched.
    pub(super) target: ProjectTarget,
    /// The culprits.
    pub(super) searched: Searched,
}

impl CrateSearch {
    /// Searches for crates.
    ///
    /// # Errors
    /// If an event cannot be emitted.
    pub(super) fn run(drill: &Drill, lab: &mut Lab<'_>) -> io::Result<Self> {
        let search = Self::by_optimization(drill, lab)?;
        if !drill.has_default_good {
            return Ok(search);
        }
        let failing = search.target.fail_both_ways();
        if search.searched.verdict == Some(Verdict::NoDifference(Outcome::Fail)) {
            let side = DevSide { drill, compilation: &search.compilation, profiles: drill.project.profiles(), failing };
            return match side.find(lab)? {
                GoodSide::Found(compilation) => Self::of(drill, &compilation, lab),
                GoodSide::Nothing => Ok(search),
                GoodSide::Stopped => Ok(search.stopped(lab.interrupt.requested(), lab.limit())),
            };
        }
        if search.searched.end.status == Exit::Found && !failing.is_empty() {
            lab.emit(&Event::Note(&dev_side::note_about_the_rest(&failing)))?;
        }
        Ok(search)
    }

    /// Searches with the options as they are. Link-time optimization optimizes everything again when a crate is linked:
    /// this is slow, and uses the options of the crate that is linked. So it is off in the first search.
    fn by_optimization(drill: &Drill, lab: &mut Lab<'_>) -> io::Result<Self> {
        let project = &drill.project;
        if project.profiles().has_lto(&project.profile(), dev_side::variable) {
            lab.emit(&Event::Note("first without link-time optimization: `lto = false` in the profile"))?;
            let settings = vec![format!("profile.{}.lto=false", drill.compilation.profile)];
            let without = Arc::new(drill.compilation.with_settings(settings));
            let done = Self::of(drill, &without, lab)?;
            if done.searched.verdict != Some(Verdict::NoDifference(Outcome::Pass)) {
                return Ok(done);
            }
            lab.emit(&Event::Note(
                "without link-time optimization it passes, so once more with it. Crates are then optimized with the options of \
                 the one that links them, so that one is among the culprits",
            ))?;
        }
        Self::of(drill, &drill.compilation, lab)
    }

    fn of(drill: &Drill, compilation: &Arc<Compilation>, lab: &mut Lab<'_>) -> io::Result<Self> {
        let level = Box::new(Crates::new(compilation.clone()));
        let mut target = ProjectTarget::new(drill.settings.clone(), drill.project.clone(), level, None);
        let searched = lab.search(&mut target)?;
        Ok(Self { compilation: compilation.clone(), target, searched })
    }

    /// Returns the same search, stopped by the user or at a limit.
    fn stopped(mut self, is_interrupted: bool, limit: Limit) -> Self {
        let end = &mut self.searched.end;
        if is_interrupted {
            (end.status, end.words) =
                (Exit::Interrupted, "interrupted; the settings of the dev profile were not all tried".to_owned());
        } else {
            let more = limit.more();
            let words =
                format!("stopped at {limit}, before the settings of the dev profile were all tried: allow {more}");
            (end.status, end.words) = (Exit::Limit, words);
        }
        self
    }
}
