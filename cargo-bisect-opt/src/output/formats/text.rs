//! The answer as text for a terminal, with colours.

use std::{
    io::{self, Write},
    path::Path,
    time::SystemTime,
};

use bisect_core::search::Mode;

use crate::{
    output::{
        closing,
        groups::{self, CulpritGroup},
        last_change::in_words,
        source_lines, stack,
        style::{ADDED, BAD, BOLD, DIM, ODD, REMOVED},
    },
    record::{
        CommandRecord, ResultRecord, SmallestSet,
        change::ChangeRecord,
        culprit::{BrokenMoment, CulpritRecord, StopGap, WayBack},
        end::{Answer, Fact},
        headline,
    },
    run::result::Failed,
    units::{grouped, listed, plural},
    vcs::blame::LastChange,
};

/// The maximum number of tests that are named for a culprit.
const MAX_TESTS: usize = 12;
/// The minimum number of culprits of which each place is shown with their number.
const MIN_COUNTED_CULPRITS: usize = 6;

/// Renders the answer as the search has printed it, and its conclusion.
pub(crate) fn render(run: &CommandRecord) -> String {
    let mut out = Vec::new();
    show(&mut out, &run.result).expect("memory takes everything");
    String::from_utf8(out).expect("all parts are text")
}

/// Renders the culprits and what is known about them, without the conclusion.
pub(super) fn of_culprits(result: &ResultRecord) -> String {
    let mut out = Vec::new();
    show_culprits(&mut out, result).expect("memory takes everything");
    String::from_utf8(out).expect("all parts are text")
}

fn show(out: &mut impl Write, result: &ResultRecord) -> io::Result<()> {
    show_culprits(out, result)?;
    if let Some(smallest) = &result.smallest {
        show_smallest(out, smallest)?;
    }
    match &result.end {
        Some(end) => closing::show_conclusion(out, end),
        None => writeln!(out, "{ODD}unfinished{ODD:#}: the search goes on, or was killed"),
    }
}

fn show_culprits(out: &mut impl Write, result: &ResultRecord) -> io::Result<()> {
    let text = AnswerText { root: Path::new(&result.provenance.root), is_verbose: false };
    let (inner, outer): (Vec<_>, Vec<_>) = result.found.iter().partition(|found| found.within.is_some());
    text.searches(out, &outer)?;
    if !result.listed.is_empty() {
        let listed = result.listed.iter().filter_map(|set| outer.iter().copied().find(|found| found.set == *set));
        show_list(out, &listed.collect::<Vec<_>>())?;
    }
    for found in &outer {
        let inside: Vec<_> = inner.iter().copied().filter(|inner| inner.within == Some(found.set)).collect();
        text.searches(out, &inside)?;
        let answers = result.end.iter().flat_map(|end| &end.answers).filter(|answer| answer.set == found.set);
        answers.into_iter().try_for_each(|answer| show_answer(out, answer))?;
    }
    // The record of a culprit within another one may be shown alone.
    let is_alone = |inner: &&CulpritRecord| outer.iter().all(|found| inner.within != Some(found.set));
    text.searches(out, &inner.into_iter().filter(is_alone).collect::<Vec<_>>())
}

/// Shows a list of culprits, one line each. If many of them are at the same places, also shows these.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn show_list(out: &mut impl Write, culprits: &[&CulpritRecord]) -> io::Result<()> {
    writeln!(out, "{BOLD}culprits:{BOLD:#}")?;
    culprits.iter().try_for_each(|found| writeln!(out, "  {:>2}  {}", found.set, groups::one_line(found)))?;
    writeln!(out)?;
    let places = groups::places(culprits);
    if culprits.len() >= MIN_COUNTED_CULPRITS && 2 * places.len() <= culprits.len() {
        writeln!(out, "{BOLD}culprits by place:{BOLD:#}")?;
        places.iter().try_for_each(|(count, place)| writeln!(out, "  {count:>3}  {place}"))?;
        writeln!(out)?;
    }
    Ok(())
}

/// Shows the common answer of several searches.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn show_answer(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    writeln!(out, "{BAD}culprit {}{BAD:#}{BOLD}, in short:{BOLD:#}", answer.set)?;
    for Fact { of, text } in &answer.facts {
        writeln!(out, "  {DIM}{of:<10}{DIM:#}{BOLD}{text}{BOLD:#}")?;
    }
    if !answer.advice.is_empty() {
        writeln!(out, "\n{BOLD}next:{BOLD:#}")?;
        answer.advice.iter().try_for_each(|advice| writeln!(out, "  - {advice}"))?;
    }
    writeln!(out)
}

fn show_smallest(out: &mut impl Write, smallest: &SmallestSet) -> io::Result<()> {
    let does = match smallest.mode {
        Mode::Enable => "enabled",
        Mode::Disable => "disabled",
    };
    let of = plural(smallest.of, "change");
    writeln!(out, "{BOLD}the smallest failing set so far:{BOLD:#} {} of {of}, {does}", smallest.changes)?;
    writeln!(out, "\n{BOLD}to reproduce:{BOLD:#}\n  {}\n", smallest.reproduce)
}

/// The text of culprits whose own code is below a directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerText<'a> {
    /// That directory.
    pub(crate) root: &'a Path,
    /// True to show all frames of call stacks, and the code at several places.
    pub(crate) is_verbose: bool,
}

impl AnswerText<'_> {
    /// Shows culprits, those of several tests in groups for each search.
    fn searches(self, out: &mut impl Write, culprits: &[&CulpritRecord]) -> io::Result<()> {
        for of_search in culprits.chunk_by(|a, b| a.search == b.search) {
            of_search.iter().filter(|found| !found.is_of_tests).try_for_each(|found| self.culprit(out, found))?;
            self.groups(out, of_search.iter().copied().filter(|found| found.is_of_tests))?;
        }
        Ok(())
    }

    /// Shows culprits in groups that differ only in the test that reaches them.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(crate) fn groups<'c>(
        self,
        out: &mut impl Write,
        culprits: impl IntoIterator<Item = &'c CulpritRecord>,
    ) -> io::Result<()> {
        groups::groups(culprits).iter().try_for_each(|group| self.group(out, group))
    }

    /// Shows a culprit.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn culprit(self, out: &mut impl Write, found: &CulpritRecord) -> io::Result<()> {
        let headline = &found.headline;
        match found.within {
            None => writeln!(out, "{BAD}culprit {}{BAD:#}{BOLD}: {headline}{BOLD:#}", found.set)?,
            Some(whole) => writeln!(out, "{BAD}in culprit {whole}{BAD:#}{BOLD}: {headline}{BOLD:#}")?,
        }
        self.changes(out, &found.changes, found.last_change.as_ref())?;
        if let Some(moment) = &found.moment {
            self.moment(out, found, moment)?;
        }
        show_tests(out, found)?;
        writeln!(out)?;
        if let Some(patches) = &found.patches {
            writeln!(out, "{BOLD}as patches:{BOLD:#}")?;
            for (command, comment) in patches.commands(found.mode) {
                writeln!(out, "  {command}  {DIM}{comment}{DIM:#}")?;
            }
            writeln!(out)?;
        }
        show_commands(out, found)?;
        writeln!(out)?;
        if let Some(next) = &found.next {
            writeln!(out, "{BOLD}next:{BOLD:#}")?;
            next.lines().try_for_each(|line| writeln!(out, "  {line}"))?;
            writeln!(out)?;
        }
        if let Some(StopGap { place, text }) = &found.stop_gap {
            writeln!(out, "{BOLD}workaround{BOLD:#}, {place}:")?;
            text.lines().try_for_each(|line| writeln!(out, "  {line}"))?;
            writeln!(out)?;
        }
        Ok(())
    }

    fn group(self, out: &mut impl Write, group: &CulpritGroup<'_>) -> io::Result<()> {
        let [first, ..] = group.culprits.as_slice() else { return Ok(()) };
        if group.culprits.len() == 1 {
            return self.culprit(out, first);
        }
        let numbers = listed(group.culprits.iter().map(|found| found.set.to_string()));
        let headline = headline::of_group(&first.headline, &first.tests);
        writeln!(out, "{BAD}culprits {numbers}{BAD:#}{BOLD}, each on its own: {headline}{BOLD:#}")?;
        writeln!(out, "{DIM}They differ only in the test that the call comes from.{DIM:#}")?;
        self.changes(out, &group.shared, None)?;
        for found in &group.culprits {
            let ids: Vec<_> = found.changes.iter().map(|change| change.id.as_str()).collect();
            writeln!(out, "\n{BOLD}culprit {}{BOLD:#}  {DIM}{}{DIM:#}", found.set, ids.join(" + "))?;
            show_tests(out, found)?;
            show_commands(out, found)?;
        }
        writeln!(out)
    }

    /// Shows changes. `last_change` is about the decisive place of the first one.
    fn changes(
        self,
        out: &mut impl Write,
        changes: &[ChangeRecord],
        mut last_change: Option<&LastChange>,
    ) -> io::Result<()> {
        for (i, change) in changes.iter().enumerate() {
            writeln!(out)?;
            self.change(out, change, (changes.len() > 1).then_some(i + 1), last_change.take())?;
        }
        Ok(())
    }

    fn change(
        self,
        out: &mut impl Write,
        change: &ChangeRecord,
        number: Option<usize>,
        last_change: Option<&LastChange>,
    ) -> io::Result<()> {
        let (decisive, others) = change.source.split_at(change.source.len().min(1));
        decisive.iter().try_for_each(|place| writeln!(out, "{}", source_lines::render(place)))?;
        if let Some(last_change) = last_change {
            writeln!(out, "{DIM}{}{DIM:#}", in_words(last_change, SystemTime::now()))?;
        }
        if self.is_verbose {
            others.iter().try_for_each(|place| writeln!(out, "{}", source_lines::render(place)))?;
        }
        if !decisive.is_empty() || last_change.is_some() {
            writeln!(out)?;
        }
        let number = number.map(|n| format!("{n}. ")).unwrap_or_default();
        // The name of a step is the noun and its number, and the noun is written before the name.
        let number_of_step = change.name.strip_prefix(change.noun.as_str()).filter(|rest| rest.starts_with(' '));
        let name = match number_of_step {
            _ if change.name.is_empty() => String::new(),
            Some(number) => number.to_owned(),
            None => format!(" `{}`", change.name),
        };
        let noun = if name.is_empty() { change.noun.trim_end_matches(" of") } else { &change.noun };
        let location = change.location().filter(|location| location.line.is_some());
        let place = location.map(|location| format!(" at {location}")).unwrap_or_default();
        let package = change.package.as_ref().map(|package| format!(" of {package}")).unwrap_or_default();
        let place = package + &place;
        writeln!(out, "{number}{noun}{BOLD}{name}{BOLD:#}{place}  {DIM}{}{DIM:#}", change.id)?;
        stack::show(out, self.root, &change.frames, self.is_verbose)?;
        // A report in an unknown form is shown as it is.
        let is_unknown = change.name.is_empty() && change.frames.is_empty();
        let details = if is_unknown { &change.text } else { &change.details };
        details.iter().try_for_each(|line| match line.as_bytes().first() {
            Some(b'+') if change.is_patch => writeln!(out, "    {ADDED}{line}{ADDED:#}"),
            Some(b'-') if change.is_patch => writeln!(out, "    {REMOVED}{line}{REMOVED:#}"),
            _ => writeln!(out, "    {line}"),
        })
    }

    fn moment(self, out: &mut impl Write, found: &CulpritRecord, moment: &BrokenMoment) -> io::Result<()> {
        if let Some(failure) = &moment.failure {
            writeln!(out, "\n{BOLD}the condition counts as false:{BOLD:#} its evaluation {failure}")?;
        }
        if moment.was_false_before {
            let text = "the condition was false before, and became true; there may be other changes to false";
            writeln!(out, "\n{BOLD}one of several changes:{BOLD:#} {text}")?;
        }
        let evaluations = plural(moment.evaluations, "time");
        let good = match moment.last_good.first().and_then(|good| number_of(&good.id)) {
            Some(number) => format!("last good moment, {}", grouped(number)),
            None => "no good moment before: it is false at the first one, and wherever it was evaluated".to_owned(),
        };
        let by = match moment.by {
            WayBack::Copies => "in copies of one process",
            WayBack::Reruns => "in repeated runs",
        };
        writeln!(out, "\n{BOLD}{good}{BOLD:#} (the condition was evaluated {evaluations}, {by})")?;
        for good in &moment.last_good {
            // Most conditions break where they held before.
            let place = |change: &ChangeRecord| (change.location(), change.frames.clone());
            if found.changes.iter().all(|bad| place(bad) == place(good)) {
                writeln!(out, "  with the same call stack")?;
                good.details.iter().try_for_each(|line| writeln!(out, "    {line}"))?;
            } else {
                self.change(out, good, None, None)?;
            }
        }
        Ok(())
    }
}

/// Shows the command lines that run the target with the culprit, and in the neighbouring state that passes.
fn show_commands(out: &mut impl Write, found: &CulpritRecord) -> io::Result<()> {
    let title = if found.moment.is_some() { "to reproduce" } else { "fails" };
    let [about_failing, about_passing] = found.remarks();
    writeln!(out, "{BOLD}{title}:{BOLD:#}{about_failing}\n  {}", found.reproduce)?;
    if let Some(passes) = &found.passes {
        writeln!(out, "{BOLD}passes:{BOLD:#}{about_passing}\n  {passes}")?;
    }
    let Some(short) = &found.short else { return Ok(()) };
    writeln!(out, "{BOLD}for an issue:{BOLD:#}\n  {short}")
}

/// Returns the number of a moment, which is its ID.
fn number_of(id: &str) -> Option<u64> {
    u64::from_str_radix(id.strip_prefix("0x")?, 16).ok()
}

/// Shows the tests that a culprit breaks, and the confidence in it.
fn show_tests(out: &mut impl Write, found: &CulpritRecord) -> io::Result<()> {
    match found.tests.as_slice() {
        [] => match found.failures.as_slice() {
            [] => {}
            [failed, ..] => writeln!(out, "\n{BOLD}it fails:{BOLD:#} {}", failed.describe())?,
        },
        [test] => writeln!(out, "\n{BOLD}it fails:{BOLD:#} {test}{}", how(found, test))?,
        tests => {
            let more = tests.len().saturating_sub(MAX_TESTS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let shown: Vec<_> = tests.iter().take(MAX_TESTS).map(|test| test.clone() + &how(found, test)).collect();
            let shown = shown.join(", ");
            writeln!(out, "\n{BOLD}these {} fail:{BOLD:#} {shown}{more}", plural(tests.len(), "test"))?;
        }
    }
    if let Some(noise) = &found.noise {
        let test = noise.test.as_ref().filter(|_| found.tests.len() > 1);
        let of = test.map(|test| format!("{test}: ")).unwrap_or_default();
        writeln!(out, "\n{BOLD}confidence:{BOLD:#} {of}{}", noise.describe())?;
    }
    Ok(())
}

/// Returns how a test fails with a culprit, in parentheses, if that is known.
fn how(found: &CulpritRecord, test: &str) -> String {
    let failed = found.failures.iter().filter(|failed| failed.test.as_deref().is_none_or(|name| name == test));
    let how: Vec<_> = failed.map(Failed::describe).collect();
    if how.is_empty() { String::new() } else { format!(" ({})", how.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows a list of culprits in these functions.
    fn list(functions: &[&str]) -> String {
        let culprit = |(set, name): (usize, &&str)| {
            let changes = vec![ChangeRecord { name: (*name).to_owned(), ..ChangeRecord::default() }];
            CulpritRecord { set, changes, ..CulpritRecord::default() }
        };
        let culprits: Vec<_> = (1..).zip(functions).map(culprit).collect();
        let mut out = Vec::new();
        show_list(&mut out, &culprits.iter().collect::<Vec<_>>()).unwrap();
        crate::output::terminal::without_colors(&String::from_utf8(out).unwrap())
    }

    #[test]
    fn places_of_many_culprits_are_counted() {
        let few = list(&["print", "parse", "parse", "parse", "parse"]);
        assert!(few.ends_with("   5  parse\n\n"), "{few}");
        let many = list(&["print", "parse", "parse", "parse", "parse", "parse"]);
        assert!(many.ends_with("   6  parse\n\nculprits by place:\n    5  parse\n    1  print\n\n"), "{many}");
        let scattered = list(&["print", "parse", "parse", "lex", "lex", "check"]);
        assert!(scattered.ends_with("   6  check\n\n"), "{scattered}");
    }
}
