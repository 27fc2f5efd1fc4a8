//! The answer of a search on standard output.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use super::{
    events::{Answer, CulpritGroup, Event, Fact, Found, PatchFiles, Sink, StopGap},
    groups, headline,
    snippets::{self, Own},
    stack,
    style::{ADDED, BAD, BOLD, DIM, ODD, REMOVED},
    terminal,
};
use crate::{
    report::{content::Report, kind::ShownSource},
    units::{age_in_words, listed, plural},
    vcs::blame::{BlamedCommit, LastChange},
};

/// The maximum number of tests that are named for a culprit.
const MAX_TESTS: usize = 12;

/// The answer, on standard output or, as a substitute, on standard error.
#[derive(Debug)]
pub(crate) struct Results {
    root: PathBuf,
    is_beside_trace: bool,
    is_verbose: bool,
}

impl Results {
    /// Creates results on standard output. The user's own code is below `root`.
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), is_beside_trace: false, is_verbose: false }
    }

    /// Shows all frames of call stacks, and the source lines of several.
    #[must_use]
    pub(crate) fn verbose(self, is_verbose: bool) -> Self {
        Self { is_verbose, ..self }
    }

    /// Creates results on standard error, after the trace.
    pub(crate) fn beside_trace(root: &Path) -> Self {
        Self { is_beside_trace: true, ..Self::new(root) }
    }

    /// Shows an event on this terminal.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn show(&self, out: &mut impl Write, event: &Event<'_>) -> io::Result<()> {
        match event {
            // These come together, as groups.
            Event::Found(found) if found.is_of_tests => {}
            Event::Found(found) => self.found(out, found)?,
            Event::Groups(groups) => groups.iter().try_for_each(|group| self.group(out, group))?,
            Event::List(culprits) => {
                writeln!(out, "{BOLD}culprits:{BOLD:#}")?;
                culprits
                    .iter()
                    .try_for_each(|found| writeln!(out, "  {:>2}  {}", found.set, groups::one_line(found)))?;
                writeln!(out)?;
            }
            Event::Answer(answer) => show_answer(out, answer)?,
            // Beside the trace, the trace shows it.
            Event::OutputLost(note) if !self.is_beside_trace => writeln!(out, "{ODD}note{ODD:#}: {note}")?,
            _ => return Ok(()),
        }
        out.flush()
    }

    fn found(&self, out: &mut impl Write, found: &Found) -> io::Result<()> {
        let headline = headline::headline(&Own::new(&self.root), found);
        match found.within {
            None => writeln!(out, "{BAD}culprit {}{BAD:#}{BOLD}: {headline}{BOLD:#}", found.set)?,
            Some(whole) => writeln!(out, "{BAD}in culprit {whole}{BAD:#}{BOLD}: {headline}{BOLD:#}")?,
        }
        self.changes(out, &found.changes, found.last_change.as_ref())?;
        if let Some(moments) = &found.moments {
            moments.show_remarks(out)?;
            moments.show_last_good(out)?;
            for good in &moments.last_good {
                // Most conditions break where they held before.
                let is_same =
                    found.changes.iter().all(|bad| (&bad.location, &bad.frames) == (&good.location, &good.frames));
                if is_same {
                    writeln!(out, "  with the same call stack")?;
                    good.details.iter().try_for_each(|line| writeln!(out, "    {line}"))?;
                } else {
                    self.change(out, good, None, None)?;
                }
            }
        }
        show_tests(out, found)?;
        writeln!(out)?;
        show_commands(out, found)?;
        writeln!(out)?;
        if let Some(PatchFiles { culprit, undo, versions: (old, new) }) = &found.patches {
            writeln!(out, "{BOLD}as patches:{BOLD:#}")?;
            writeln!(out, "  git apply {undo}  {DIM}# on {new}: undoes the culprit{DIM:#}")?;
            writeln!(out, "  git apply {culprit}  {DIM}# on {old}: makes the target fail{DIM:#}\n")?;
        }
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

    /// Shows culprits that differ only in the test that reaches them.
    fn group(&self, out: &mut impl Write, group: &CulpritGroup) -> io::Result<()> {
        let [first, ..] = group.culprits.as_slice() else { return Ok(()) };
        if group.culprits.len() == 1 {
            return self.found(out, first);
        }
        let numbers = listed(group.culprits.iter().map(|found| found.set.to_string()));
        let headline = headline::headline_of_group(&Own::new(&self.root), first, &group.shared);
        writeln!(out, "{BAD}culprits {numbers}{BAD:#}{BOLD}, each on its own: {headline}{BOLD:#}")?;
        writeln!(out, "{DIM}They differ only in the test that the call comes from.{DIM:#}")?;
        self.changes(out, &group.shared, None)?;
        for found in &group.culprits {
            let ids: Vec<_> = found.changes.iter().map(|change| change.id.to_string()).collect();
            writeln!(out, "\n{BOLD}culprit {}{BOLD:#}  {DIM}{}{DIM:#}", found.set, ids.join(" + "))?;
            show_tests(out, found)?;
            show_commands(out, found)?;
        }
        writeln!(out)
    }

    /// Shows changes. `last_change` is about the decisive place of the first one.
    fn changes(
        &self,
        out: &mut impl Write,
        changes: &[Report],
        mut last_change: Option<&LastChange>,
    ) -> io::Result<()> {
        for (i, change) in changes.iter().enumerate() {
            writeln!(out)?;
            self.change(out, change, (changes.len() > 1).then_some(i + 1), last_change.take())?;
        }
        Ok(())
    }

    fn change(
        &self,
        out: &mut impl Write,
        change: &Report,
        number: Option<usize>,
        last_change: Option<&LastChange>,
    ) -> io::Result<()> {
        let own = Own::new(&self.root);
        let snippets = snippets::snippets(&own, change, self.is_verbose);
        let (decisive, others) = snippets.split_at(snippets.len().min(1));
        decisive.iter().try_for_each(|snippet| writeln!(out, "{snippet}"))?;
        if let Some(last_change) = last_change {
            writeln!(out, "{DIM}{}{DIM:#}", in_words(last_change, SystemTime::now()))?;
        }
        others.iter().try_for_each(|snippet| writeln!(out, "{snippet}"))?;
        if !snippets.is_empty() || last_change.is_some() {
            writeln!(out)?;
        }
        let number = number.map(|n| format!("{n}. ")).unwrap_or_default();
        let name = if change.name.is_empty() { String::new() } else { format!(" `{}`", change.name) };
        let noun = change.kind.noun;
        let noun = if name.is_empty() { noun.trim_end_matches(" of") } else { noun };
        let location = change.location.as_ref().filter(|location| location.line.is_some());
        let place = location.map(|location| format!(" at {location}")).unwrap_or_default();
        let package = change.package.as_ref().map(|package| format!(" of {package}")).unwrap_or_default();
        let place = package + &place;
        writeln!(out, "{number}{noun}{BOLD}{name}{BOLD:#}{place}  {DIM}{}{DIM:#}", change.id)?;
        stack::show(out, &own, &change.frames, self.is_verbose)?;
        // A report in an unknown form is shown as it is.
        let is_unknown = change.name.is_empty() && change.frames.is_empty();
        let details = if is_unknown { &change.text } else { &change.details };
        let is_patch = change.kind.source == ShownSource::Patch;
        details.iter().try_for_each(|line| match line.as_bytes().first() {
            Some(b'+') if is_patch => writeln!(out, "    {ADDED}{line}{ADDED:#}"),
            Some(b'-') if is_patch => writeln!(out, "    {REMOVED}{line}{REMOVED:#}"),
            _ => writeln!(out, "    {line}"),
        })
    }
}

/// Shows the command lines that run the target with the culprit, and in the neighbouring state that passes.
fn show_commands(out: &mut impl Write, found: &Found) -> io::Result<()> {
    let title = if found.moments.is_some() { "to reproduce" } else { "fails" };
    writeln!(out, "{BOLD}{title}:{BOLD:#}\n  {}", found.reproduce)?;
    let Some(passes) = &found.passes else { return Ok(()) };
    writeln!(out, "{BOLD}passes:{BOLD:#}\n  {passes}")
}

/// Returns who changed a line last, and when.
fn in_words(last_change: &LastChange, now: SystemTime) -> String {
    let Some(BlamedCommit { hash, subject, author, time, is_oldest }) = &last_change.commit else {
        return "this line is not committed yet".to_owned();
    };
    let short = hash.get(..8).unwrap_or(hash);
    let age = now.duration_since(SystemTime::UNIX_EPOCH + Duration::from_secs(*time)).unwrap_or_default();
    let when = if *is_oldest { "last changed in or before" } else { "last changed in" };
    format!("{when} {short} \"{subject}\" by {author}, {} ago", age_in_words(age))
}

/// Shows the tests that a culprit breaks, and the confidence in it.
fn show_tests(out: &mut impl Write, found: &Found) -> io::Result<()> {
    match found.tests.as_slice() {
        [] => match found.failures.as_slice() {
            [] => {}
            [failed, ..] => writeln!(out, "\n{BOLD}it fails:{BOLD:#} {}", failed.how)?,
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
fn how(found: &Found, test: &str) -> String {
    let failed = found.failures.iter().filter(|failed| failed.test.as_deref().is_none_or(|name| name == test));
    let how: Vec<_> = failed.map(|failed| failed.how.as_str()).collect();
    if how.is_empty() { String::new() } else { format!(" ({})", how.join(", ")) }
}

fn show_answer(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
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

impl Sink for Results {
    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        if self.is_beside_trace {
            self.show(&mut terminal::stderr(), event)
        } else {
            self.show(&mut terminal::stdout(), event)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_change_is_one_line() {
        let commit = |is_oldest| BlamedCommit {
            hash: "1a2b3c4d5e6f".to_owned(),
            subject: "board: sort faster".to_owned(),
            author: "Ann Other".to_owned(),
            time: 1_700_000_000,
            is_oldest,
        };
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + 22 * 24 * 3600);
        let words = |commit, now| in_words(&LastChange { commit }, now);
        let shown = "1a2b3c4d \"board: sort faster\" by Ann Other, ";
        assert_eq!(words(Some(commit(false)), now), format!("last changed in {shown}3 weeks ago"));
        let earlier = SystemTime::UNIX_EPOCH;
        assert_eq!(words(Some(commit(true)), earlier), format!("last changed in or before {shown}a moment ago"));
        assert_eq!(words(None, now), "this line is not committed yet");
    }
}
