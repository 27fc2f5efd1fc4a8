//! Events of a search in progress.

use std::{collections::BTreeSet, io, num::NonZeroUsize, path::PathBuf, rc::Rc};

use bisect_core::{
    ChangeId,
    search::{
        Certainty, Culprit, Mode, Order, Outcome, Prefix, Question, Selection, Shared, Trial, TrialId, Unusable,
        Verdict,
    },
};

use super::{
    Named, OtherFailure,
    calibration::BothFail,
    pasting,
    session::{Progress, Session},
    target::{Reproduction, Target},
    text_runs,
    trial_done::{context, distinct, done},
    untested_steps,
};
use crate::{
    axes::{CulpritChanges, Patches},
    output::{
        events::{Event, RunBegins},
        log_end,
    },
    process::{processors::Processors, shell},
    record::{
        SmallestSet,
        change::ChangeRecord,
        conclusion_kind::ConclusionKind,
        culprit::{CulpritRecord, PatchFiles, Replay},
        end::LogEnd,
        headline::headline,
        milliseconds::in_milliseconds,
        noise::CulpritEstimate,
        snippets::Own,
        trial::{TrialContext, TrialRecord},
    },
    report::{content::Report, scan},
    run::{reader::Reader, result::RunResult, spec::RunSpec},
    units::plural,
};

/// Emits that a run begins.
pub(super) fn run<T: Target>(session: &mut Session<'_, '_, '_, '_, T>, spec: &RunSpec) -> io::Result<()> {
    let RunSpec { trial, number: run, .. } = spec;
    let run = *run;
    let is_repeat = session.search.trial_state(trial.id).repeats().is_some();
    let n = (session.lab.jobs.get() == 1 && !is_repeat).then(|| number(session, trial.id));
    session.runs.entry(trial.id).or_default().push(run);
    if session.is_end(trial) {
        session.run_at_end.entry(trial.question).or_insert(run);
    }
    let search = &session.search;
    let pattern = spec.choice.to_string();
    let selected = (search.progress().changes() > 0)
        .then(|| (search.trial_state(trial.id).selected(), search.progress().changes()));
    let progress = session.progress.entry(trial.id).or_default();
    progress.pattern.clone_from(&pattern);
    if progress.started == 0 {
        (progress.start_ms, progress.slot) = (in_milliseconds(session.lab.elapsed()), spec.slot);
    }
    progress.started += 1;
    let nth = progress.started;
    let left = match search.progress() {
        noisy if noisy.is_noisy() => session.trials_left.next(noisy.trials_left(), search.culprits().len()),
        progress => progress.trials_left(),
    };
    let log = session.lab.shown_log(run);
    session.lab.emit(&Event::Run(&RunBegins {
        trial: trial.id,
        number: run,
        n,
        is_repeat,
        log,
        run: (nth, search.trial_state(trial.id).runs()),
        question: trial.question,
        mode: Mode::of(&trial.selection),
        subject: steps_of(session, trial, search.progress().changes()),
        selected,
        tests: session.tests.as_ref().map(|tests| (trial.tests.len(), tests.len())),
        pattern: &pattern,
        left,
        candidates: search.progress().candidates(),
    }))
}

/// Returns the description of a trial of a counter, which takes all steps up to one.
fn steps_of<T: Target>(session: &Session<'_, '_, '_, '_, T>, trial: &Trial, known: usize) -> Option<String> {
    let is_named = match Mode::of(&trial.selection) {
        Mode::Enable => matches!(trial.question, Question::FoundAlone | Question::AllButFound),
        Mode::Disable => {
            matches!(trial.question, Question::Prefix | Question::FoundAlone | Question::AllButFound)
        }
    };
    let limit = trial.selection.counter_limit(known);
    let noun = session.target.terms().change;
    let is_counter = session.target.axis().numbering().order == Order::Counter && is_named && known > 0;
    is_counter.then(|| format!("with {limit} of {}", plural(known, noun)))
}

/// Emits that a trial is answered, once all its runs are judged.
pub(super) fn trial<T: Target>(
    session: &mut Session<'_, '_, '_, '_, T>,
    trial: &Trial,
    runs: &[RunResult],
) -> io::Result<()> {
    let progress = session.progress.entry(trial.id).or_default();
    progress.runs += 1;
    // Single tests are run side by side.
    progress.duration += runs.iter().map(|run| run.duration).max().unwrap_or_default();
    progress.matches = progress.matches.max(distinct(runs));
    if progress.runs < session.search.trial_state(trial.id).runs() && session.search.verdict().is_none() {
        return Ok(());
    }
    let Progress { pattern, runs: times, duration, matches, start_ms, slot, .. } =
        session.progress.remove(&trial.id).unwrap_or_default();
    let context = TrialContext { start_ms, slot, ..context(session, trial) };
    let is_repeat = session.search.trial_state(trial.id).repeats().is_some();
    let n = if is_repeat { 0 } else { number(session, trial.id) };
    let done = TrialRecord { is_repeat, matches, context, ..done(n, pattern, times, duration, runs) };
    session.lab.emit(&Event::Trial(trial.id, &done))?;
    let advice = session.parallelism_hint.as_mut().and_then(|hint| hint.add(done.duration, Processors::now()));
    advice.map_or(Ok(()), |advice| session.lab.emit(&Event::Note(&advice)))
}

/// Returns the number of a trial. Trials are numbered in the order in which they are shown.
fn number<T: Target>(session: &mut Session<'_, '_, '_, '_, T>, id: TrialId) -> usize {
    let numbered = &mut session.lab.numbered;
    *session.numbers.entry(id).or_insert_with(|| {
        *numbered += 1;
        *numbered
    })
}

/// Returns a line with which a run of this trial has reported a change.
pub(super) fn line_with<T: Target>(
    session: &Session<'_, '_, '_, '_, T>,
    trial: TrialId,
    id: ChangeId,
) -> Option<String> {
    let runs = session.runs.get(&trial).into_iter().flatten();
    let mut files = runs.flat_map(|&run| [session.lab.run_dir.log(run), session.lab.run_dir.report_file(run)]);
    files.find_map(|file| scan::line_with(&file, id))
}

/// Returns a trial as the conclusion names it: by its number and its logs.
pub(super) fn name_of<T: Target>(session: &Session<'_, '_, '_, '_, T>, id: TrialId) -> String {
    // A repeated run is no trial of its own: the first one was shown.
    let id = session.search.trial_state(id).repeats().unwrap_or(id);
    let logs = session.runs.get(&id).into_iter().flatten().map(|&run| session.lab.shown_log(run).display().to_string());
    let logs = logs.collect::<Vec<_>>().join(", ");
    match session.numbers.get(&id) {
        Some(n) => format!("trial {n}, log {logs}"),
        None => format!("log {logs}"),
    }
}

/// Returns the end of the log that shows why the target cannot be searched: that of the run without changes, if it
/// fails.
pub(super) fn last_log<T: Target>(session: &Session<'_, '_, '_, '_, T>) -> Option<LogEnd> {
    let question = match session.search.verdict()? {
        Verdict::NoDifference(Outcome::Fail) => Question::AllOff,
        Verdict::Unusable(Unusable::Unresolved(question, _)) => question,
        _ => return None,
    };
    let run = *session.run_at_end.get(&question)?;
    let lines = log_end::last_lines(&session.lab.run_dir.log(run))?;
    Some(LogEnd { path: session.lab.shown_log(run), lines })
}

/// Emits the set of a failing trial if it is the smallest one. A noisy search emits nothing: a single failing run of a
/// flaky target proves nothing.
pub(super) fn smallest<T: Target>(
    session: &mut Session<'_, '_, '_, '_, T>,
    trial: &Trial,
    runs: &[RunResult],
) -> io::Result<()> {
    let failed = || runs.iter().enumerate().filter(|(_, run)| run.outcome == Outcome::Fail);
    let of = session.search.progress().changes();
    if failed().next().is_none() || of == 0 || session.search.progress().is_noisy() {
        return Ok(());
    }
    let changes = session.search.trial_state(trial.id).selected();
    // Several tests leave out different changes, so these do not tell that the next culprit is searched for.
    let left_out = if session.tests.is_some() { &[][..] } else { &trial.selection.excluded };
    if !session.smallest_failure.improves(left_out, changes) {
        return Ok(());
    }
    let tests: Vec<_> = match &session.tests {
        Some(names) => failed().map(|(index, _)| names[trial.tests[index]].clone()).collect(),
        None => failed().flat_map(|(_, run)| run.failed_tests.iter().cloned()).collect(),
    };
    let directory = &session.lab.run_dir.inputs();
    let again = Reproduction {
        selection: &trial.selection,
        tests: &tests,
        directory,
        stem: "smallest",
        reader: Reader::Person,
        hangs: runs.iter().any(RunResult::hung),
    };
    let reproduce = session.lab.repetition.line(session.target.reproduce(&again));
    let mode = Mode::of(&trial.selection);
    session.lab.emit(&Event::Smallest(&SmallestSet { mode, changes, of, tests, reproduce }))
}

/// Emits the culprits that were found. Which of several tests a culprit breaks is known only at the end: until then, a
/// preliminary event says that there is a culprit.
pub(super) fn culprits<T: Target>(session: &mut Session<'_, '_, '_, '_, T>, at_end: bool) -> io::Result<()> {
    let is_final = session.tests.is_none() || at_end;
    let is_void = unrelated_failures(session).is_some();
    let culprits = if is_void { Vec::new() } else { ConclusionKind::culprits_left(&session.search) };
    let mut found = Vec::new();
    for (index, shared) in culprits.iter().enumerate() {
        let changes: BTreeSet<_> = session.target.axis().numbering().ids(shared.culprit).collect();
        let known = session.emitted.iter().position(|emitted| *emitted == changes);
        if known.is_some() && (session.tests.is_none() || !at_end) {
            continue;
        }
        if !at_end && !text_runs::has_text(session, &changes) {
            continue;
        }
        let number = known.unwrap_or(session.emitted.len());
        if known.is_none() {
            session.emitted.push(changes);
        }
        let names = |tests: &[String]| shared.tests.iter().map(|&test| tests[test].clone()).collect();
        let noise = culprit_estimate(session, index, shared);
        let numbers = &shared.tests;
        let tests = session.tests.as_deref().map(names);
        let number = session.lab.totals.sets + number + 1;
        found.push(named(session, number, (shared.culprit, numbers), noise, tests, is_final));
    }
    found.sort_by_key(|named| named.found.set);
    for named in &mut found {
        Rc::make_mut(&mut named.found).patches = patches(session, named)?;
        session.smallest_failure.forget();
        let found = &named.found;
        session.lab.emit(&if is_final { Event::Found(found) } else { Event::Preliminary(found) })?;
    }
    if is_final {
        session.named.extend(found);
    }
    if at_end { taken_back(session) } else { Ok(()) }
}

/// Writes a culprit as patches into the run directory, if its changes are edits of source files. The answer is complete
/// without these files, so an error is only a note.
fn patches<T: Target>(session: &mut Session<'_, '_, '_, '_, T>, named: &Named) -> io::Result<Option<PatchFiles>> {
    let (set, mode) = (named.found.set, named.found.mode);
    let ids: Vec<_> = named.reports.iter().map(|change| change.id).collect();
    let write = |patches: Patches| {
        let culprit = session.lab.run_dir.write_patch(&format!("culprit-{set}"), &patches.culprit)?;
        let undo = session.lab.run_dir.write_patch(&format!("culprit-{set}-undo"), &patches.undo)?;
        let shown = |path: PathBuf| {
            let path = if patches.top.is_some() { std::path::absolute(path)? } else { path };
            io::Result::Ok(path.display().to_string())
        };
        let (culprit, undo) = (shown(culprit)?, shown(undo)?);
        let top = patches.top.map(|top| top.display().to_string());
        Ok(PatchFiles { culprit, undo, top, versions: patches.versions })
    };
    match session.target.axis().patches(&ids, mode).and_then(|patches| patches.map(write).transpose()) {
        Ok(written) => Ok(written),
        Err(error) => {
            let note = format!("the patches of culprit {set} cannot be written: {error}");
            session.lab.emit(&Event::Note(&note))?;
            Ok(None)
        }
    }
}

/// Emits which culprits are taken back: the target contradicted itself after they were named, and they were not found
/// again, or the verdict is that the changes make no difference.
fn taken_back<T: Target>(session: &mut Session<'_, '_, '_, '_, T>) -> io::Result<()> {
    let is_void = unrelated_failures(session).is_some();
    let culprits = if is_void { Vec::new() } else { ConclusionKind::culprits_left(&session.search) };
    let is_one = |emitted: &BTreeSet<ChangeId>| {
        culprits
            .iter()
            .any(|shared| session.target.axis().numbering().ids(shared.culprit).collect::<BTreeSet<_>>() == *emitted)
    };
    session.named.retain(|named| is_one(&named.changes.iter().copied().collect()));
    let taken_back = session.emitted.iter().enumerate().filter(|(_, emitted)| !is_one(emitted));
    let numbers: Vec<_> = taken_back.map(|(i, _)| session.lab.totals.sets + i + 1).collect();
    if !numbers.is_empty() {
        session.lab.emit(&Event::Withdrawn(&numbers))?;
    }
    numbers.iter().try_for_each(|number| {
        let why = match unrelated_failures(session) {
            Some(_) => "with some of the changes the target passes, so it does not replace one failure by another",
            None => "it was named before the target contradicted itself",
        };
        let note = format!("culprit {number} is withdrawn: {why}");
        session.lab.emit(&Event::Note(&note))
    })
}

/// Returns how the target fails at both ends, if it does so reliably and in different ways.
pub(super) fn both_fail<T: Target>(session: &Session<'_, '_, '_, '_, T>) -> Option<BothFail> {
    session.target.both_fail().filter(|_| !session.usual_failures.are_flaky())
}

/// Returns how the target fails at both ends, if it does so in different ways and passes in between: then culprits do
/// not replace one failure by the other.
pub(super) fn unrelated_failures<T: Target>(session: &Session<'_, '_, '_, '_, T>) -> Option<BothFail> {
    both_fail(session).filter(|_| passing_between(session).is_some())
}

/// Returns the changes to disable in a search for what repairs the failure without any change, if that failure and the
/// one with every change are unrelated, and if the target can be searched so.
pub(super) fn changes_of_other_failure<T: Target>(session: &Session<'_, '_, '_, '_, T>) -> Option<OtherFailure> {
    let both = unrelated_failures(session)?;
    let selection = passing_between(session)?;
    let mode = Mode::of(selection);
    let disabled = match mode {
        Mode::Enable => &selection.excluded,
        Mode::Disable if selection.prefix == Prefix::NONE => &selection.forced,
        Mode::Disable => return None,
    };
    let changes: Vec<_> = disabled.iter().map(|&rank| session.target.axis().numbering().id(mode, rank)).collect();
    let report = |&id: &ChangeId| session.texts.of(id).cloned().unwrap_or_else(|| Report::new(id));
    let (axis, root) = (session.target.axis(), session.target.root());
    let reports = changes.iter().map(|id| axis.change(report(id), root, mode)).collect();
    Some(OtherFailure { changes, reports, both })
}

/// Returns a selection with which the target passes, although it fails at both ends. If it can be searched with changes
/// that are always disabled, and disabled changes are searched for, a part of a culprit may be such a selection.
fn passing_between<'s, T: Target>(session: &'s Session<'_, '_, '_, '_, T>) -> Option<&'s Selection> {
    let found = session.search.test(0).found().iter();
    let parts = found.filter(|culprit| culprit.mode == Mode::Disable && session.target.can_hold());
    session.usual_failures.gone_with(&parts.map(|culprit| culprit.changes.as_slice()).collect::<Vec<_>>())
}

/// Emits the notes of the target and of the workers.
pub(super) fn notes<T: Target>(session: &mut Session<'_, '_, '_, '_, T>) -> io::Result<()> {
    let notes = [session.target.take_notes(), session.workers.take_notes()].concat();
    notes.iter().try_for_each(|note| session.lab.emit(&Event::Note(note)))
}

/// Returns the estimate for a culprit, by its index among all. Of several tests, it has the least confidence.
fn culprit_estimate<T: Target>(
    session: &Session<'_, '_, '_, '_, T>,
    index: usize,
    shared: &Shared<'_>,
) -> Option<CulpritEstimate> {
    let of = |certainty: Certainty| CulpritEstimate::from(certainty).per_execution(session.lab.repetition);
    let Some(tests) = &session.tests else { return session.search.test(0).certainty(index).map(of) };
    let set = |culprit: &Culprit| session.target.axis().numbering().ids(culprit).collect::<BTreeSet<_>>();
    let of_test = |&test: &usize| {
        let index = session.search.test(test).found().iter().position(|found| set(found) == set(shared.culprit))?;
        let estimate = of(session.search.test(test).certainty(index)?);
        Some(CulpritEstimate { test: Some(tests[test].clone()), ..estimate })
    };
    shared.tests.iter().filter_map(of_test).min_by(|a, b| a.confidence.total_cmp(&b.confidence))
}

/// Returns a culprit with its record. Only a final one has a headline, source code and the last change.
fn named<T: Target>(
    session: &Session<'_, '_, '_, '_, T>,
    number: usize,
    (culprit, numbers): (&Culprit, &[usize]),
    noise: Option<CulpritEstimate>,
    tests: Option<Vec<String>>,
    is_final: bool,
) -> Named {
    let runs = &session.confirming_runs[&culprit.confirmed_by];
    let tests = tests.unwrap_or_else(|| runs.iter().flat_map(|run| run.failed_tests.iter().cloned()).collect());
    let mut failures: Vec<_> = runs.iter().flat_map(|run| run.failures.iter().cloned()).collect();
    failures.dedup_by(|a, b| a.is_same(b));
    let needed = culprit.changes.len();
    let ids = session.untested_steps.candidates(session.target.axis().numbering(), numbers, culprit);
    let report = |&id: &ChangeId| session.texts.of(id).cloned().unwrap_or_else(|| Report::new(id));
    let (axis, root, mode) = (session.target.axis(), session.target.root(), culprit.mode);
    let reports: Vec<_> = ids.iter().map(|id| axis.change(report(id), root, mode)).collect();
    let line = session.target.line();
    let words = axis.words(&CulpritChanges { ids: &ids, changes: &reports, mode, line: &line });
    let special = if ids.len() > needed {
        Some(untested_steps::headline(session.target.terms().change, ids.len(), culprit.mode))
    } else if session.untested_steps.fails_before(session.target.axis().numbering().order, numbers, culprit) {
        Some(untested_steps::headline_of_another(session.target.terms().change))
    } else if let Some(both) = both_fail(session) {
        Some(both.headline(session.target.terms().change, needed))
    } else {
        words.headline
    };
    let (repetition, hangs) = (session.lab.repetition, runs.iter().any(RunResult::hung));
    let line = |selection: &Selection, stem: &str, reader, hangs| {
        let directory = &session.lab.run_dir.inputs();
        session.target.reproduce(&Reproduction { selection, tests: &tests, directory, stem, reader, hangs })
    };
    let times = noise.as_ref().map_or(NonZeroUsize::MIN, CulpritEstimate::executions_that_show_it);
    let (selection, stem) = (culprit.selection(), format!("culprit-{number}"));
    let mut others = culprit.selection_of_others();
    if ids.len() > needed {
        others.excluded = ids.iter().map(|&id| session.target.axis().numbering().rank(culprit.mode, id)).collect();
    }
    let replay = Replay {
        culprit: repetition.line(line(&selection, &stem, Reader::Replay, false)),
        others: repetition.line(line(&others, &format!("{stem}-others"), Reader::Replay, false)),
    };
    let for_person = |selection: &Selection, stem: &str| line(selection, stem, Reader::Person, hangs);
    let replaces = both_fail(session).map(|both| both.usual);
    let passing = match replaces {
        Some(_) => Vec::new(),
        None => session.passing.beside(session.steps(&selection), numbers, &others),
    };
    // Each line is made when it is tried, and has files of its own: those of an earlier one may be printed.
    let sorted = |state: &Selection| {
        let mut state = state.clone();
        state.excluded.sort_unstable();
        state
    };
    let passes = passing.iter().enumerate().map(|(index, state)| {
        let is_of_others = sorted(state) == sorted(&others);
        let end = if is_of_others { "others".to_owned() } else { format!("passes-{}", index + 1) };
        for_person(state, &format!("{stem}-{end}"))
    });
    // If a run with exactly these changes gave no result, another one has confirmed the culprit.
    let confirmed = &session.search.trial(culprit.confirmed_by).selection;
    let company = (sorted(confirmed) != sorted(&selection)).then_some((confirmed, format!("{stem}-fails-2")));
    let is_line = |line: &String| !shell::is_refusal(line);
    let exact = for_person(&selection, &stem);
    let company = company.iter().map(|(state, stem)| for_person(state, stem)).filter(is_line);
    let mut passes = passes.filter(is_line);
    let repeated = |line: String| repetition.line_that_shows(times, line);
    let (reproduce, passes, pasted) = if is_final {
        pasting::chosen(session, [exact].into_iter().chain(company), passes, repeated)
    } else {
        (repeated(exact), passes.next().map(repeated), None)
    };
    let inside = session.lab.next_steps.inside_of_commits(&reports);
    let next = words.next_step.into_iter().chain(inside).reduce(|all, more| format!("{all}\n{more}"));
    let own = is_final.then(|| Own::new(root));
    let found = CulpritRecord {
        set: number,
        search: session.lab.searches,
        mode,
        confirmed: true,
        headline: own.as_ref().map(|own| headline(own, mode, &reports, &tests, special)).unwrap_or_default(),
        changes: reports.iter().map(|report| ChangeRecord::new(report, own.as_ref())).collect(),
        last_change: own.as_ref().and_then(|_| session.target.last_change(reports.first()?)),
        tests,
        is_of_tests: session.tests.is_some(),
        failures,
        reproduce,
        passes,
        short: words.short_line,
        pasted,
        replaces,
        replay,
        stop_gap: words.stop_gap.filter(|_| mode == Mode::Enable),
        patches: None,
        next,
        noise,
        moment: None,
        within: session.lab.parent_culprit,
    };
    let changes = session.target.axis().numbering().ids(culprit).collect();
    Named { changes, reports, found: Rc::new(found) }
}
