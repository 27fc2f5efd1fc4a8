//! The search for crates: first without link-time optimization, then with another good side where it is needed.

use std::{io, sync::Arc};

use bisect_core::search::{Mode, Outcome, Unusable, Verdict};

use super::{
    CodegenSearches,
    passing_profile::{self, GoodSide, OwnOutcome, PassingProfile},
};
use crate::{
    axes::{compilation::Compilation, crates::Crates},
    cargo::profiles::CHECKS,
    lab::{Lab, Searched},
    output::events::Event,
    record::exit_status::Exit,
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

/// The search of a target that fails in one profile and passes in another.
enum BetweenProfiles {
    Searched(Box<CrateSearch>),
    /// It does not fail in the one profile, or fails with all settings of the other one, too: the compilation with these.
    Nothing(Arc<Compilation>),
    /// The user wants to stop, or no run is left.
    Stopped,
}

impl CrateSearch {
    /// Searches for crates.
    ///
    /// # Errors
    /// If an event cannot be emitted.
    pub(super) fn run(drill: &CodegenSearches, lab: &mut Lab<'_>) -> io::Result<Self> {
        if let Some(passing) = &drill.good_profile {
            return match Self::between_profiles(drill, passing, lab)? {
                BetweenProfiles::Searched(search) => Ok(*search),
                BetweenProfiles::Nothing(whole) => Self::of(drill, &whole, lab),
                // The search stops before its first run.
                BetweenProfiles::Stopped => Self::of(drill, &drill.compilation, lab),
            };
        }
        // A target that passes with everything is searched in the profile in which it fails.
        let asked = lab.options.direction;
        let is_one_way = asked.is_none() && drill.has_default_good && !drill.is_in_dev_profile();
        lab.options.direction = if is_one_way { Some(Mode::Enable) } else { asked };
        let search = Self::by_optimization(drill, lab)?;
        lab.options.direction = asked;
        if !drill.has_default_good {
            return Ok(search);
        }
        let failing = search.target.fail_both_ways();
        match &search.searched.verdict {
            Some(Verdict::NoDifference(Outcome::Fail)) => {
                let compilation = &search.compilation;
                let dev = PassingProfile::new(drill, "dev");
                let side = PassingProfile { compilation, keys: &CHECKS, failing, ..dev };
                return match side.find(lab)? {
                    GoodSide::Found(compilation) => Self::of(drill, &compilation, lab),
                    GoodSide::Nothing => Ok(search),
                    GoodSide::Stopped => Ok(search.stopped("dev", lab.interrupt.requested(), lab.limit())),
                };
            }
            Some(Verdict::NoDifference(Outcome::Pass) | Verdict::Unusable(Unusable::Reversed(_))) if is_one_way => {
                return Self::in_dev_profile(drill, search, lab);
            }
            _ => {}
        }
        if search.searched.end.status == Exit::Found && !failing.is_empty() {
            lab.emit(&Event::Note(&passing_profile::note_about_the_rest(&failing)))?;
        }
        Ok(search)
    }

    /// Searches the other way round, after a search in which the target passed with every crate: it may fail in the dev
    /// profile.
    fn in_dev_profile(drill: &CodegenSearches, search: Self, lab: &mut Lab<'_>) -> io::Result<Self> {
        let passing = &drill.compilation.profile;
        let of_dev = drill.in_profile("dev");
        match Self::between_profiles(&of_dev, passing, lab)? {
            BetweenProfiles::Searched(search) => Ok(*search),
            // It fails only with the good options.
            BetweenProfiles::Nothing(_)
                if matches!(search.searched.verdict, Some(Verdict::Unusable(Unusable::Reversed(_)))) =>
            {
                Self::by_optimization(drill, lab)
            }
            BetweenProfiles::Nothing(_) => Ok(search),
            BetweenProfiles::Stopped => Ok(search.stopped(passing, lab.interrupt.requested(), lab.limit())),
        }
    }

    /// Searches with the settings of the profile `passing`, in which the target passes, as good options.
    fn between_profiles(drill: &CodegenSearches, passing: &str, lab: &mut Lab<'_>) -> io::Result<BetweenProfiles> {
        let without_lto = Self::without_lto(drill, lab)?;
        let mut compilations = without_lto.iter().chain([&drill.compilation]);
        let side = loop {
            let Some(compilation) = compilations.next() else {
                return Ok(BetweenProfiles::Nothing(PassingProfile::new(drill, passing).whole().into()));
            };
            let side = PassingProfile { compilation, ..PassingProfile::new(drill, passing) };
            match side.as_it_stands(lab)? {
                OwnOutcome::Fails(failing) => break PassingProfile { failing, ..side },
                OwnOutcome::DoesNotFail => {}
                OwnOutcome::Stopped => return Ok(BetweenProfiles::Stopped),
            }
        };
        Ok(match side.find(lab)? {
            GoodSide::Found(compilation) => BetweenProfiles::Searched(Box::new(Self::of(drill, &compilation, lab)?)),
            GoodSide::Nothing => BetweenProfiles::Nothing(side.whole().into()),
            GoodSide::Stopped => BetweenProfiles::Stopped,
        })
    }

    /// Searches with the options as they are. Link-time optimization optimizes everything again when a crate is linked:
    /// this is slow, and uses the options of the crate that is linked. So it is off in the first search.
    fn by_optimization(drill: &CodegenSearches, lab: &mut Lab<'_>) -> io::Result<Self> {
        if let Some(without) = Self::without_lto(drill, lab)? {
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

    /// Returns the compilation without link-time optimization, if the profile has it, and says so.
    fn without_lto(drill: &CodegenSearches, lab: &mut Lab<'_>) -> io::Result<Option<Arc<Compilation>>> {
        let project = &drill.project;
        if !project.profiles().has_lto(&project.profile().name, passing_profile::variable) {
            return Ok(None);
        }
        lab.emit(&Event::Note("first without link-time optimization: `lto = false` in the profile"))?;
        let settings = vec![format!("profile.{}.lto=false", drill.compilation.profile)];
        Ok(Some(Arc::new(drill.compilation.with_settings(settings))))
    }

    fn of(drill: &CodegenSearches, compilation: &Arc<Compilation>, lab: &mut Lab<'_>) -> io::Result<Self> {
        let level = Box::new(Crates::new(compilation.clone()));
        let mut target = ProjectTarget::new(drill.settings.clone(), drill.project.clone(), level, None);
        let searched = lab.search(&mut target)?;
        Ok(Self { compilation: compilation.clone(), target, searched })
    }

    /// Returns the same search, stopped by the user or at a limit.
    fn stopped(mut self, profile: &str, is_interrupted: bool, limit: Limit) -> Self {
        let end = &mut self.searched.end;
        (end.status, end.words) = if is_interrupted {
            (Exit::Interrupted, format!("interrupted; the settings of the {profile} profile were not all tried"))
        } else {
            let more = limit.more();
            let words = format!(
                "stopped at {limit}, before the settings of the {profile} profile were all tried: allow {more}"
            );
            (Exit::Limit, words)
        };
        self
    }
}
