//! Reports in the journal of a search. IDs are one text of hex digits: there may be millions.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
};

use bisect_core::ChangeId;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{
    content::Report,
    scan::{Reports, Source, Text},
    stored_fields::{DIGITS, StoredId, parse},
};

/// The stored form of [`Reports`].
#[derive(Serialize, Deserialize)]
struct StoredReports {
    /// True if text is kept.
    text: bool,
    ids: StoredIds,
    /// The lines about changes that the target reported, if text is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lines: Vec<(StoredId, Vec<String>)>,
    /// The reports that the target did not write itself, if text is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    added: Vec<Report>,
}

/// IDs as hex digits of a fixed width, without separators. `+N;` after an ID stands for the next *N* IDs, which follow it
/// one by one, as the steps of a counter do. *N* has hex digits, too.
struct StoredIds(Vec<ChangeId>);

impl Serialize for StoredIds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::new();
        for run in self.0.chunk_by(|before, id| before.0.checked_add(1) == Some(id.0)) {
            let (first, others) = run.split_first().expect("no run is empty");
            write!(text, "{:0DIGITS$x}", first.0).expect("writing to a string cannot fail");
            if !others.is_empty() {
                write!(text, "+{:x};", others.len()).expect("writing to a string cannot fail");
            }
        }
        text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StoredIds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        ids(&text).map(Self).ok_or_else(|| de::Error::custom("no list of IDs"))
    }
}

/// Parses the text of [`StoredIds`].
fn ids(mut text: &str) -> Option<Vec<ChangeId>> {
    let mut ids = Vec::new();
    while !text.is_empty() {
        let (first, rest) = text.split_at_checked(DIGITS)?;
        let first = parse(first.as_bytes())?;
        let (others, rest) = match rest.strip_prefix('+') {
            Some(rest) => {
                rest.split_once(';').and_then(|(count, rest)| Some((u64::from_str_radix(count, 16).ok()?, rest)))?
            }
            None => (0, rest),
        };
        ids.extend((first.0..=first.0.checked_add(others)?).map(ChangeId));
        text = rest;
    }
    Some(ids)
}

impl Serialize for Reports {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut stored = StoredReports {
            text: self.keep_text,
            ids: StoredIds(self.ids.clone()),
            lines: Vec::new(),
            added: Vec::new(),
        };
        // In the order of the IDs, so that the same reports have the same text.
        for id in &self.ids {
            match self.sources.get(id) {
                Some(Source::Scanned(text)) => stored.lines.push((StoredId(*id), text.lines.clone())),
                Some(Source::Added(report)) => stored.added.push(Report::clone(report)),
                None => {}
            }
        }
        stored.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Reports {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let StoredReports { text: keep_text, ids: StoredIds(ids), lines, added } =
            StoredReports::deserialize(deserializer)?;
        let known: HashSet<_> = ids.iter().copied().collect();
        let scanned = lines.into_iter().map(|(id, lines)| (id.0, Source::Scanned(Text { lines, ..Text::default() })));
        let added = added.into_iter().map(|report| (report.id, Source::Added(Box::new(report))));
        let sources: HashMap<_, _> = scanned.chain(added).collect();
        Ok(Self { keep_text, ids, known, sources })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        process::ReadAlong as _,
        report::{
            content::{Frame, Location},
            kind::{ChangeKind, ShownSource},
        },
    };

    fn restored(reports: &Reports) -> Reports {
        serde_json::from_str(&serde_json::to_string(reports).unwrap()).unwrap()
    }

    #[test]
    fn reports_are_restored_with_their_text() {
        let mut reports = Reports::new(true);
        let mut scanner = reports.scanner();
        scanner.read(b"src/a.rs:3:4 name [bisect-match 0x0123456789abcdef]\n");
        scanner.read(b"  f at src/b.rs:1:2 [bisect-match 0x0123456789abcdef]\nx [bisect-match 0xffffffffffffffff]\n");
        scanner.end();
        let end = Some((9, 1));
        let place = Location { end, ..Location::new("c.rs", 7, None) };
        let kind = ChangeKind { source: ShownSource::Patch, ..ChangeKind::own("invented", "a noun", "a label") };
        reports.add(Report {
            kind,
            location: Some(place.clone()),
            frames: vec![Frame { function: "f".to_owned(), location: Some(place) }],
            form: Some("if let".to_owned()),
            details: vec!["+ é".to_owned()],
            ..Report::with_text(ChangeId(7), "a line".to_owned())
        });
        let back = restored(&reports);
        assert_eq!(back.ids(), reports.ids());
        for &id in reports.ids() {
            assert_eq!(back.get(id), reports.get(id));
            assert!(back.get(id).has_text());
        }
    }

    #[test]
    fn ids_without_text_are_restored() {
        for count in [0, 1, 2, 1000] {
            let descending: Vec<_> = (0..count).map(|i| ChangeId(u64::MAX / 3 - i)).collect();
            let ascending: Vec<_> = descending.iter().rev().copied().collect();
            let last = [u64::MAX - 1, u64::MAX, 0, 1, 5].map(ChangeId).to_vec();
            for ids in [descending, ascending, last] {
                let mut reports = Reports::new(false);
                reports.add_known(ids);
                assert_eq!(restored(&reports).ids(), reports.ids());
            }
        }
    }

    #[test]
    fn damaged_ids_are_refused() {
        let beyond = format!("{}+1;", "f".repeat(DIGITS));
        for ids in ["0", "00000000000000zz", "é00000000000000", "00000000000000000", "0000000000000000+1", &beyond] {
            let text = format!(r#"{{"text":false,"ids":"{ids}"}}"#);
            assert!(serde_json::from_str::<Reports>(&text).is_err(), "{ids}");
        }
    }
}
