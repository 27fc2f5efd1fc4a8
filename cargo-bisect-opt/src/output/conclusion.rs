//! The conclusion of a search: its exit status, and a sentence with a next step.

use bisect_core::{
    ChangeId,
    search::{
        CarryOver, Effect, Incomplete, Inconsistency, Mode, Order, Outcome, Question, Rank, Reason, Search, TrialId,
        Unusable, Verdict,
    },
};

use super::terms::Terms;
use crate::{
    record::{
        conclusion_kind::ConclusionKind,
        end::End,
        exit_status::Exit,
        noise::{self, NoiseEstimate},
    },
    run::{limit::Limit, numbering::Numbering, repetition::Repetition, target_kind::TargetKind},
    units::plural,
};

/// Facts about the target that its search does not know.
#[derive(Clone, Copy)]
pub(crate) struct TargetFacts<'a> {
    /// The order and the numbers of its changes.
    pub(crate) numbering: Numbering,
    /// Returns a trial as people know it: its number, and its log.
    pub(crate) log: &'a dyn Fn(TrialId) -> String,
    /// Returns a line of a trial's output that reports a change.
    pub(crate) line: &'a dyn Fn(TrialId, ChangeId) -> Option<String>,
    /// The number of executions with every change, all of which passed; 0 if others did not.
    pub(crate) passed: usize,
    /// The kind of the target.
    pub(crate) kind: TargetKind,
    /// The executions of the target in a run, as the user asks for them.
    pub(crate) repetition: Repetition,
    /// See [`Target::terms`](crate::lab::target::Target::terms).
    pub(crate) terms: Terms,
    /// The failure at the end where a search expects that the target passes, if it always fails there.
    pub(crate) usual_failure: Option<&'a str>,
}

/// Returns the estimate for a test, by its number, or for the whole target; none if the search was not noisy.
type Estimates<'a> = dyn Fn(usize) -> Option<NoiseEstimate> + 'a;

/// Returns the status, kind and words of the end of a search, which may be of several tests.
pub(crate) fn conclude(
    search: &Search,
    verdict: &Verdict,
    estimate: &Estimates<'_>,
    tests: Option<&[String]>,
    about: &TargetFacts<'_>,
) -> End {
    let (status, words) = exit_and_words(search, verdict, estimate, tests, about);
    let kind = match tests {
        Some(tests) => ConclusionKind::common(search, tests.len()),
        None => ConclusionKind::of(verdict),
    };
    End { kind, ..End::new(status, words) }
}

fn exit_and_words(
    search: &Search,
    verdict: &Verdict,
    estimate: &Estimates<'_>,
    tests: Option<&[String]>,
    about: &TargetFacts<'_>,
) -> (Exit, String) {
    let culprits = ConclusionKind::culprits_left(search).len();
    match tests {
        Some(tests) if *verdict == Verdict::Incomplete(Incomplete::MaxRuns) => {
            let (exit, words) = incomplete(Incomplete::MaxRuns, culprits);
            (exit, words + &so_far(search, estimate, tests))
        }
        Some(tests) => of_tests(search, estimate, tests, about),
        None => under_noise(search, verdict, estimate(0).as_ref(), culprits, about)
            .unwrap_or_else(|| of_one(search, verdict, culprits, about)),
    }
}

/// The maximum number of tests with a conclusion of their own.
const MAX_SHOWN: usize = 3;

/// Returns the estimates for tests whose noisy search was stopped.
fn so_far(search: &Search, estimate: &Estimates<'_>, tests: &[String]) -> String {
    let is_open = |&test: &usize| search.test(test).verdict() == Some(&Verdict::Incomplete(Incomplete::MaxRuns));
    let words = (0..tests.len()).filter(is_open).filter_map(|test| {
        let estimate = estimate(test)?;
        let likeliest = estimate.likeliest().unwrap_or_else(|| "no change stands out".to_owned());
        Some(format!("\n  {}: so far {}; likeliest next: {likeliest}", tests[test], estimate.rates()))
    });
    words.take(MAX_SHOWN).collect()
}

/// The advice is to execute the target this many times more often in a run.
const MORE_EXECUTIONS: usize = 5;

/// Returns the conclusion of a noisy search, if it differs from that of other searches.
fn under_noise(
    search: &Search,
    verdict: &Verdict,
    estimate: Option<&NoiseEstimate>,
    found: usize,
    about: &TargetFacts<'_>,
) -> Option<(Exit, String)> {
    let estimate = estimate?;
    let (runs, rates) = (plural(search.progress().runs(), "run"), estimate.rates());
    let low = estimate.low_probability_of_nothing();
    Some(match verdict {
        Verdict::Inconsistent(Inconsistency::Noise) => (
            Exit::Inconsistent,
            format!(
                "{} flaky, and {}none of the changes makes a difference: it fails {}, whatever is enabled ({runs}). A small \
                 difference would show with {}a workload that fails more often (--repeat {}), or without failures of other \
                 kinds (--fail-when)",
                if estimate.test.is_some() { "it is" } else { "the target is" },
                low.as_ref().map(|low| format!("probably ({low}) ")).unwrap_or_default(),
                estimate.rate_if_nothing(),
                if low.is_some() { "more runs, with " } else { "" },
                MORE_EXECUTIONS * about.repetition.times(),
            ),
        ),
        Verdict::Incomplete(Incomplete::MaxRuns) => {
            let likeliest = estimate.likeliest().unwrap_or_else(|| "no change stands out".to_owned());
            let culprits = plural(found, "culprit");
            (Exit::Limit, format!("{}. So far {rates}; likeliest next: {likeliest}", at_limit(Limit::Runs, &culprits)))
        }
        Verdict::Complete => {
            let culprits = plural(found, "culprit");
            let rest =
                if estimate.never_fails_without() { "passes" } else { "fails no more often than with no change" };
            let sure =
                estimate.low_confidence_in_rest().map(|sure| format!(" (confidence {sure})")).unwrap_or_default();
            (
                Exit::Found,
                format!(
                    "found {culprits}; {} the target {rest}{sure}",
                    without_culprits(direction(search, 0), found, about)
                ),
            )
        }
        _ => return None,
    })
}

/// The conclusion for a test that failed only in a run of all tests.
const ALONE: &str = "it passes when run alone: it depends on other tests, or is flaky. To search with all \
                     tests in one process, use --all-tests";

/// Returns the common conclusion for all tests, with the worst of their statuses.
fn of_tests(search: &Search, estimate: &Estimates<'_>, tests: &[String], about: &TargetFacts<'_>) -> (Exit, String) {
    let mut status = Exit::Found;
    let (mut unexplained, mut may_be_more) = (Vec::new(), false);
    for (i, test) in tests.iter().enumerate() {
        let Some(verdict) = search.test(i).verdict() else { continue };
        if matches!(verdict, Verdict::Complete | Verdict::Incomplete(Incomplete::MaxSets)) {
            may_be_more |= *verdict != Verdict::Complete;
            continue;
        }
        let (exit, words) = match verdict {
            Verdict::NoDifference(Outcome::Pass) => (Exit::Nothing, ALONE.to_owned()),
            verdict => {
                let found = search.test(i).found().len();
                under_noise(search, verdict, estimate(i).as_ref(), found, about)
                    .unwrap_or_else(|| of_one(search, verdict, found, about))
            }
        };
        status = worse(status, exit);
        unexplained.push(format!("\n  {test}: {words}"));
    }
    if may_be_more || status == Exit::Nothing && !search.culprits().is_empty() {
        status = worse(status, Exit::Limit);
    }
    let culprits = plural(ConclusionKind::culprits_left(search).len(), "culprit");
    let mut words = format!("found {culprits} for {}", plural(tests.len(), "test"));
    if may_be_more {
        status = worse(status, Exit::Limit);
        words += ", as many for each as --max allows; there may be more";
    }
    if unexplained.is_empty() {
        let are_repaired = (0..tests.len()).all(|test| direction(search, test) == Mode::Disable);
        let with = if are_repaired { "with these alone" } else { "with everything else" };
        let rest = if (0..tests.len()).filter_map(estimate).all(|estimate| estimate.never_fails_without()) {
            "pass"
        } else {
            "fail no more often than with nothing"
        };
        let rest = if may_be_more { String::new() } else { format!("; {with} they {rest}") };
        return (status, words + &rest);
    }
    let left = unexplained.len().saturating_sub(MAX_SHOWN);
    unexplained.truncate(MAX_SHOWN);
    if left > 0 {
        unexplained.push(format!("\n  and so on for {}", plural(left, "more test")));
    }
    words += ", but not every failure is explained:";
    words.extend(unexplained);
    (status, words)
}

fn worse(a: Exit, b: Exit) -> Exit {
    const FROM_GOOD_TO_BAD: [Exit; 5] = [Exit::Found, Exit::Nothing, Exit::Limit, Exit::Unusable, Exit::Inconsistent];
    let rank = |exit| FROM_GOOD_TO_BAD.iter().position(|&other| other == exit);
    if rank(a) >= rank(b) { a } else { b }
}

/// Returns the direction in which the culprits of a test break it.
fn direction(search: &Search, test: usize) -> Mode {
    search.test(test).found().first().map(|culprit| culprit.mode).unwrap_or_default()
}

/// Returns the words for the run that shows that the culprits explain everything: of all else that can be enabled, or
/// where disabled changes break the target, of the culprits alone.
fn without_culprits(mode: Mode, found: usize, about: &TargetFacts<'_>) -> &'static str {
    match (mode, about.numbering.order) {
        (Mode::Enable, Order::Counter) => "with everything before it",
        (Mode::Enable, Order::ByHash | Order::Given) => "with everything else",
        (Mode::Disable, Order::Counter) => "with it and everything before it",
        (Mode::Disable, Order::ByHash | Order::Given) if found == 1 => "with it alone",
        (Mode::Disable, Order::ByHash | Order::Given) => "with them alone",
    }
}

/// Returns the conclusion of one search that found this many culprits.
fn of_one(search: &Search, verdict: &Verdict, found: usize, about: &TargetFacts<'_>) -> (Exit, String) {
    let culprits = plural(found, "culprit");
    match verdict {
        Verdict::Complete => {
            let does = about.usual_failure.map_or("passes".to_owned(), |usual| format!("fails by {usual}"));
            let without = without_culprits(direction(search, 0), found, about);
            (Exit::Found, format!("found {culprits}; {without} the target {does}"))
        }
        Verdict::Incomplete(Incomplete::Unresolved(reason)) if found > 0 && about.numbering.order == Order::Counter => {
            let (change, why) = (about.terms.change, unresolved(*reason));
            (
                Exit::Limit,
                format!("found {culprits}, a range: its earlier {change}s could not be tested, because runs {why}"),
            )
        }
        Verdict::Incomplete(why) => incomplete(*why, found),
        Verdict::NoDifference(outcome) => (Exit::Nothing, no_difference(*outcome, search, about)),
        Verdict::Unusable(why) => (Exit::Unusable, unusable(why, search, about)),
        Verdict::Inconsistent(how) => {
            let so_far = if found > 0 { format!("; found {culprits} before that") } else { String::new() };
            (Exit::Inconsistent, inconsistent(how, search, about) + &so_far)
        }
    }
}

/// Returns the end of a search that a limit of the command has ended.
pub(crate) fn stopped_at(limit: Limit, search: &Search) -> End {
    let culprits = plural(ConclusionKind::culprits_left(search).len(), "culprit");
    End::new(Exit::Limit, at_limit(limit, &culprits))
}

fn at_limit(limit: Limit, culprits: &str) -> String {
    format!("stopped at {limit} with {culprits} found: allow {} for the rest of the search", limit.more())
}

fn incomplete(why: Incomplete, found: usize) -> (Exit, String) {
    let culprits = plural(found, "culprit");
    match why {
        Incomplete::MaxSets => (Exit::Limit, format!("found {culprits}, as many as --max allows; there may be more")),
        Incomplete::MaxSetSize if found > 0 => {
            (Exit::Limit, format!("found {culprits}; larger sets exist, but --max-set excludes them"))
        }
        Incomplete::MaxSetSize => {
            (Exit::Limit, "every failing set has more changes than --max-set allows: raise it".to_owned())
        }
        Incomplete::MaxRuns => (Exit::Limit, at_limit(Limit::Runs, &culprits)),
        Incomplete::Unresolved(reason) => {
            let words = format!("found {culprits}; the rest is unresolved, because runs {}", unresolved(reason));
            (if found > 0 { Exit::Limit } else { Exit::Unusable }, words)
        }
    }
}

fn no_difference(outcome: Outcome, search: &Search, about: &TargetFacts<'_>) -> String {
    let both = match outcome {
        Outcome::Fail => "the target fails with every change enabled and with every change disabled",
        Outcome::Pass | Outcome::Unresolved(_) => {
            "the target passes with every change enabled and with every change disabled"
        }
    };
    let if_none_reported = about.terms.if_none_reported.filter(|_| search.progress().changes() == 0);
    let hint = match (outcome, if_none_reported) {
        (_, Some(hint)) => hint,
        (Outcome::Fail, None) => match about.kind {
            TargetKind::Build => "the cause is something else; see the messages of the compiler in the logs",
            TargetKind::Program => {
                "the cause is something else, or another test; narrow the target down to one that passes"
            }
            TargetKind::Command => "the cause is something else; see the output of the command in the logs",
        },
        (_, None) => match about.kind {
            TargetKind::Build => {
                "check that this is the build that fails for you, with the same features, profile and toolchain"
            }
            TargetKind::Program => {
                "check that this is what fails for you, with the same command, features and profile (documentation tests \
                 are not run)"
            }
            TargetKind::Command => "check that this is the command that fails for you, in the same environment",
        },
    };
    let in_runs = match (about.passed, outcome) {
        _ if search.progress().is_noisy() => format!(", in {}", plural(search.progress().runs(), "run")),
        (passed @ 2.., Outcome::Pass) if about.kind != TargetKind::Build => {
            format!(", in {} with every change ({})", plural(passed, "execution"), noise::excluded(passed))
        }
        _ => String::new(),
    };
    let longer = if search.progress().is_noisy() {
        ""
    } else {
        "; if it fails only sometimes, --confidence 0.99 makes more runs"
    };
    format!("nothing to find: {both}{in_runs}; {hint}{longer}")
}

fn unusable(why: &Unusable, search: &Search, about: &TargetFacts<'_>) -> String {
    let log = about.log;
    match why {
        Unusable::Unresolved(question, reason) => {
            let with = if *question == Question::AllOn { "every change enabled" } else { "every change disabled" };
            let breaks_build = (*question, *reason) == (Question::AllOn, Reason::Build);
            let hint = if breaks_build { "; to find what breaks the build, search with `build` instead" } else { "" };
            format!("the target cannot be used: with {with}, its run {}{hint}", unresolved(*reason))
        }
        Unusable::NoReports => "the target cannot be used: it passes and fails, but reported no change; \
             does it get the pattern, and do its reports get through?"
            .to_owned(),
        Unusable::Reversed(Mode::Enable) => {
            let change = about.terms.change;
            format!(
                "the target fails with every {change} and passes without any {change}, so nothing repairs it: to find the \
                 {change} that makes it fail, leave out --repaired"
            )
        }
        Unusable::Reversed(Mode::Disable) => {
            let change = about.terms.change;
            format!(
                "the target passes with every {change} and fails without any {change}, but only a {change} that makes it \
                 fail can be searched for: let it fail where it passes, and pass where it fails"
            )
        }
        Unusable::Unasked { trial, ignores_pattern: true, .. } => {
            let pattern = about.numbering.choice(&search.trial(*trial).selection);
            format!(
                "the target ignores the pattern: given `{pattern}` it reported all its changes ({}); does it read the \
                 pattern afresh in every run, or is its output cached?",
                log(*trial)
            )
        }
        Unusable::Unasked { trial, changes, .. } => {
            let pattern = about.numbering.choice(&search.trial(*trial).selection);
            let id = about.numbering.id(Mode::of(&search.trial(*trial).selection), changes[0]);
            let line = (about.line)(*trial, id);
            let line = line.map(|line| format!("; the line is: {line}")).unwrap_or_default();
            format!(
                "the target cannot be used: given `{pattern}` it reported {}, which the pattern leaves out ({}){line}",
                id,
                log(*trial)
            )
        }
    }
}

fn inconsistent(how: &Inconsistency, search: &Search, about: &TargetFacts<'_>) -> String {
    const ADVICE: &str = "does a run leave state for the next one, or is the target flaky? Try --confidence 0.99";
    let log = about.log;
    match how {
        Inconsistency::Noise => format!("the target fails sometimes, whatever is enabled; {ADVICE}"),
        Inconsistency::CarryOver(carry_over) => {
            let mode = search.test(0).estimate().map(|estimate| estimate.mode).unwrap_or_default();
            let id = |change| about.numbering.id(mode, change);
            format!("a run leaves state for the next one: {}. {LEFTOVER}", rule(id, carry_over))
        }
        Inconsistency::Runs(trial) => {
            format!(
                "the target is inconsistent: runs with the same changes ended differently ({}); {ADVICE}",
                log(*trial)
            )
        }
        Inconsistency::Unexplained(trial) => format!(
            "the target is inconsistent: it failed, but the changes that it reported do not explain that ({}); {ADVICE}",
            log(*trial)
        ),
        Inconsistency::NotConfirmed(trial, changes) => format!(
            "the target is inconsistent: the search led to {}, but it does not fail with exactly this set ({}); {ADVICE}",
            plural(changes.len(), "change"),
            log(*trial)
        ),
        Inconsistency::BaseFails(trial, _) => format!(
            "the target is inconsistent: a set that passed at first no longer passes ({}); {ADVICE}",
            log(*trial)
        ),
        Inconsistency::Endless => {
            format!(
                "the target is inconsistent: its runs report more and more changes, and it fails with all of them; {ADVICE}"
            )
        }
    }
}

/// Advice for a target whose runs depend on each other.
const LEFTOVER: &str = "Look for files, ports, databases or caches that a run creates and the next one finds; each run has \
                        an empty TMPDIR of its own, and {slot} or BISECT_SLOT make names that no parallel run has";

/// Returns the rule that outcomes follow instead of the changes.
fn rule(id: impl Fn(Rank) -> ChangeId, carry_over: &CarryOver) -> String {
    let ends = |effect: &Effect| match effect {
        Effect::Fails => "fails",
        Effect::Passes => "passes",
    };
    match carry_over {
        CarryOver::Cycle(cycle) if *cycle == [true, false] || *cycle == [false, true] => {
            "every other run fails, whatever is enabled".to_owned()
        }
        CarryOver::Cycle(cycle) => {
            let outcomes: Vec<_> = cycle.iter().map(|&failed| if failed { "fail" } else { "pass" }).collect();
            format!("the outcomes repeat, whatever is enabled: {}", outcomes.join(", "))
        }
        CarryOver::Change(change, effect) => {
            format!("a run {} if the run before it had change {} enabled", ends(effect), id(*change))
        }
        CarryOver::Many(effect) => format!("a run {} if the run before it had many changes enabled", ends(effect)),
    }
}

fn unresolved(reason: Reason) -> &'static str {
    match reason {
        Reason::Build => "did not build",
        Reason::Spawn => "could not be started",
        Reason::Timeout => "took too long",
        Reason::Environment => {
            "failed because of the environment (killed, disk full, address in use, too many processes: see the logs)"
        }
        _ => "gave no result (skipped, or failed in a way that does not count: see --fail-when and --same-failure)",
    }
}
