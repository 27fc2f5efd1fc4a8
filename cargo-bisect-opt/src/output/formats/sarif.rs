//! The answer in SARIF 2.1.0, which code scanning and editors read.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::summary::{self, DecisivePlace};
use crate::record::{
    CommandRecord, ResultRecord,
    change::{ChangeRecord, StackFrame},
    culprit::{CulpritRecord, ModeName},
};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The name of the directory that relative paths begin at.
const ROOT: &str = "ROOT";

/// Renders the answer: a result for each culprit, with a rule for each axis.
pub(crate) fn render(run: &CommandRecord) -> String {
    let result = &run.result;
    let searched: BTreeSet<_> = result.searches.iter().map(|search| search.axis.as_str()).collect();
    let searched: Vec<_> = searched.into_iter().collect();
    let rules = searched.iter().map(|axis| {
        let text = format!("A search among {axis} found what makes the target fail");
        json!({ "id": rule(axis), "shortDescription": { "text": text }, "defaultConfiguration": { "level": "error" } })
    });
    let provenance = &result.provenance;
    let mut invocation = json!({
        "commandLine": provenance.command_line(),
        "executionSuccessful": result.end.is_some(),
        "toolExecutionNotifications": [{
            "level": "note",
            "message": { "text": summary::conclusion(result) },
        }],
    });
    if let Some(end) = &result.end {
        invocation["exitCode"] = end.status.code().into();
    }
    let mut driver = json!({ "name": "cargo-bisect-opt", "rules": rules.collect::<Vec<_>>() });
    if !provenance.driver.is_empty() {
        driver["version"] = provenance.driver.clone().into();
    }
    let mut sarif = json!({
        "tool": { "driver": driver },
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": result.found.iter().map(|found| culprit(result, &searched, found)).collect::<Vec<_>>(),
    });
    if !provenance.root.is_empty() {
        sarif["originalUriBaseIds"] = json!({ ROOT: { "uri": format!("{}/", file_uri(&provenance.root)) } });
    }
    let sarif = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [sarif] });
    serde_json::to_string_pretty(&sarif).expect("all keys are text") + "\n"
}

fn rule(axis: &str) -> String {
    format!("bisect-opt/{axis}")
}

fn culprit(result: &ResultRecord, searched: &[&str], found: &CulpritRecord) -> Value {
    let search = result.searches.iter().find(|search| search.search == found.search).or(result.start.as_ref());
    let axis = search.map_or("", |search| &search.axis);
    let mode = ModeName::serialize(&found.mode, serde_json::value::Serializer).expect("a name is text");
    let mut properties = json!({ "set": found.set, "mode": mode, "tests": found.tests, "reproduce": found.reproduce });
    if let Some(noise) = &found.noise {
        properties["confidence"] = noise.confidence.into();
    }
    let ids: Vec<_> = found.changes.iter().map(|change| change.id.as_str()).collect();
    let text = format!("{}\n\nTo reproduce: {}", summary::message(found), found.reproduce);
    let mut shown = json!({
        "ruleId": rule(axis),
        "level": "error",
        "message": { "text": text },
        "locations": found.changes.iter().filter_map(location_of_change).collect::<Vec<_>>(),
        "partialFingerprints": { "changes/v1": ids.join("+") },
        "properties": properties,
    });
    if let Some(index) = searched.iter().position(|other| *other == axis) {
        shown["ruleIndex"] = index.into();
    }
    let flows: Vec<_> = found.changes.iter().filter_map(|change| code_flow(result, change)).collect();
    if !flows.is_empty() {
        shown["codeFlows"] = flows.into();
    }
    shown
}

fn location_of_change(change: &ChangeRecord) -> Option<Value> {
    let place = summary::decisive_place(change)?;
    let DecisivePlace { file, from, to, source, function } = place;
    let mut region = json!({ "startLine": from.0, "startColumn": from.1, "endLine": to.0, "endColumn": to.1 });
    if let Some(source) = source {
        let lines = source.lines.iter().zip(source.first_line..);
        let lines: Vec<_> =
            lines.filter(|&(_, number)| (from.0..=to.0).contains(&number)).map(|(line, _)| line.as_str()).collect();
        region["snippet"] = json!({ "text": lines.join("\n") });
    }
    let mut location = json!({ "physicalLocation": { "artifactLocation": artifact(file), "region": region } });
    if let Some(function) = function {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": function, "kind": "function" }]);
    }
    Some(location)
}

/// Returns the call stack of a change as a flow: the outermost call comes first.
fn code_flow(result: &ResultRecord, change: &ChangeRecord) -> Option<Value> {
    if change.frames.is_empty() {
        return None;
    }
    let calls = change.frames.iter().rev().enumerate();
    let steps: Vec<_> = calls.map(|(depth, frame)| json!({ "location": location_of_frame(result, frame), "nestingLevel": depth, "importance": if frame.own { "essential" } else { "unimportant" } })).collect();
    Some(json!({ "threadFlows": [{ "locations": steps }] }))
}

fn location_of_frame(result: &ResultRecord, frame: &StackFrame) -> Value {
    let mut location = json!({
        "message": { "text": frame.function },
        "logicalLocations": [{ "fullyQualifiedName": frame.function, "kind": "function" }],
    });
    if let (Some(file), Some(line)) = (&frame.file, frame.line.filter(|&line| line > 0)) {
        let mut region = json!({ "startLine": line });
        if let Some(column) = frame.column.filter(|&column| column > 0) {
            region["startColumn"] = column.into();
        }
        let artifact = artifact(result.provenance.shorten(file));
        location["physicalLocation"] = json!({ "artifactLocation": artifact, "region": region });
    }
    location
}

/// Returns a file: relative to the root of the search, or absolute.
fn artifact(file: &str) -> Value {
    if file.starts_with('/') || file.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/") {
        return json!({ "uri": file_uri(file) });
    }
    json!({ "uri": percent_encoded(&file.replace('\\', "/")), "uriBaseId": ROOT })
}

/// Returns the URI of an absolute path.
fn file_uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("file://{slash}{}", percent_encoded(&path))
}

/// Returns a path in which each character that has a meaning in a URI is encoded, except for slashes.
fn percent_encoded(path: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    path.bytes().map(encoded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_uris() {
        assert_eq!(artifact("src/a b#c.rs"), json!({ "uri": "src/a%20b%23c.rs", "uriBaseId": ROOT }));
        assert_eq!(artifact("/rustc/é.rs"), json!({ "uri": "file:///rustc/%C3%A9.rs" }));
        assert_eq!(artifact("C:\\x\\y.rs"), json!({ "uri": "file:///C%3A/x/y.rs" }));
    }
}
