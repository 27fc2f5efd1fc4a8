//! The times of all trials in the trace event format of Chrome, which Perfetto reads.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::summary;
use crate::record::{
    CommandRecord,
    trial::{TrialOutcome, TrialRecord},
};

/// The number of the only process.
const PROCESS: usize = 1;
/// The thread that shows searches. Slots follow it.
const SEARCHES: usize = 0;

/// Renders the trials as slices of their slots.
pub(crate) fn render(run: &CommandRecord) -> String {
    let mut slots: BTreeMap<usize, Vec<&TrialRecord>> = BTreeMap::new();
    for trial in &run.trials {
        slots.entry(trial.context.slot).or_default().push(trial);
    }
    let mut events = vec![name("process_name", SEARCHES, "cargo bisect-opt")];
    searches(run, &mut events);
    for (slot, mut trials) in slots {
        let thread = slot + 1;
        events.push(name("thread_name", thread, &format!("slot {slot}")));
        trials.sort_by_key(|trial| trial.context.start_ms);
        let next = trials.iter().skip(1).map(|trial| Some(trial.context.start_ms)).chain([None]);
        events.extend(trials.iter().zip(next).map(|(trial, next)| slice(trial, thread, next)));
    }
    let result = &run.result;
    let trace = json!({
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {
            "command": result.provenance.command_line(),
            "version": result.provenance.driver,
            "conclusion": summary::conclusion(result),
        },
    });
    serde_json::to_string(&trace).expect("all keys are text") + "\n"
}

/// Names the process or a thread.
fn name(event: &str, thread: usize, name: &str) -> Value {
    json!({ "ph": "M", "name": event, "pid": PROCESS, "tid": thread, "args": { "name": name } })
}

/// Adds a slice for each search, from its first run to its last one.
fn searches(run: &CommandRecord, events: &mut Vec<Value>) {
    events.push(name("thread_name", SEARCHES, "searches"));
    for search in &run.result.searches {
        let of_search = || run.trials.iter().filter(|trial| trial.context.search == search.search);
        let start = of_search().map(|trial| trial.context.start_ms).min();
        let end = of_search().map(TrialRecord::end_ms).max();
        let (Some(start), Some(end)) = (start, end) else { continue };
        events.push(json!({
            "ph": "X",
            "name": format!("search {}: {}", search.search, search.axis),
            "cat": "search",
            "pid": PROCESS,
            "tid": SEARCHES,
            "ts": microseconds(start),
            "dur": microseconds(end - start),
            "args": { "target": search.target, "subject": search.subject, "changes": search.changes },
        }));
    }
}

/// Returns the slice of a trial. It ends before the next slice of its slot begins, since slices of a thread that overlap
/// are lost; the time of several runs together can be longer.
fn slice(trial: &TrialRecord, thread: usize, next: Option<u64>) -> Value {
    let context = &trial.context;
    let start = context.start_ms;
    let duration = next.map_or(trial.ms(), |next| trial.ms().min(next.saturating_sub(start)));
    let color = match trial.outcome {
        TrialOutcome::Fail => "terrible",
        TrialOutcome::Pass => "good",
        TrialOutcome::Unresolved => "grey",
    };
    json!({
        "ph": "X",
        "name": format!("{}: {}", trial.title(), trial.outcome.name()),
        "cat": trial.outcome,
        "cname": color,
        "pid": PROCESS,
        "tid": thread,
        "ts": microseconds(start),
        "dur": microseconds(duration),
        "args": {
            "search": context.search,
            "question": context.question,
            "pattern": trial.pattern,
            "matches": trial.matches,
            "changes": context.of,
            "reason": trial.reason,
            "runs": trial.runs,
            "ms": trial.ms(),
            "logs": context.logs,
        },
    })
}

fn microseconds(milliseconds: u64) -> u64 {
    milliseconds.saturating_mul(1000)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{output::page::tests::generated, record::trial::TrialContext};

    #[test]
    fn slices_of_a_slot_do_not_overlap() {
        let trial = |n, slot, start_ms, ms| TrialRecord {
            n,
            is_repeat: false,
            pattern: "y".to_owned(),
            matches: 1,
            outcome: TrialOutcome::Fail,
            reason: String::new(),
            runs: 2,
            duration: Duration::from_millis(ms),
            context: TrialContext { slot, start_ms, search: 1, ..TrialContext::default() },
        };
        // The second trial of slot 0 began while the runs of the first one, together, would still take time.
        let trials = vec![trial(1, 0, 0, 30), trial(2, 1, 1, 9), trial(3, 0, 20, 5)];
        let run = CommandRecord { trials, ..generated(1, 0) };
        let trace: Value = serde_json::from_str(&render(&run)).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let slices: Vec<_> = events.iter().filter(|event| event["ph"] == "X" && event["cat"] == "fail").collect();
        let number = |value: &Value| value.as_u64().unwrap();
        let times = slices.iter().map(|event| [number(&event["tid"]), number(&event["ts"]), number(&event["dur"])]);
        assert_eq!(times.collect::<Vec<_>>(), [[1, 0, 20_000], [1, 20_000, 5_000], [2, 1_000, 9_000]]);
        assert_eq!((&slices[0]["args"]["ms"], &slices[2]["name"]), (&30.into(), &"trial 2: fail".into()));
        let search = events.iter().find(|event| event["cat"] == "search").unwrap();
        assert_eq!((&search["ts"], &search["dur"]), (&0.into(), &30_000.into()), "the search ends with its last run");
        let names: Vec<_> = events.iter().filter(|event| event["ph"] == "M").map(|e| &e["args"]["name"]).collect();
        assert_eq!(names, ["cargo bisect-opt", "searches", "slot 0", "slot 1"]);
    }
}
