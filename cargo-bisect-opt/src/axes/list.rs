//! Lines of a file as changes: a command gets a file with the enabled lines, or gets them as arguments.

use std::{
    ffi::OsString,
    io::{self, Read},
    ops::Range,
    path::{Path, PathBuf},
};

use bisect_core::search::Mode;

use super::{
    Application, Axis, CulpritChanges, CulpritWords, Files, Placeholder, Words,
    command_spec::{Asked, AxisError, CommandSpec, OptionSpec, Prepared},
    facts::AxisFacts,
    headlines,
};
use crate::{
    output::terms::Terms,
    process::{machine_fault::patiently, own_file, shell},
    report::{
        content::{Location, Report},
        kind::ChangeKind,
    },
    run::{
        error::RunError,
        numbering::{Numbering, id, position},
        spec::Choice,
    },
    units::plural,
};

/// `cargo bisect-opt list`.
pub(super) const COMMAND: CommandSpec = CommandSpec {
    name: "list",
    about: "Find the lines of a file that make a command fail",
    details: "LIST is replaced by a file that holds the chosen lines, in their order.",
    usage: "cargo bisect-opt list [OPTIONS] --items FILE [VAR=value]... COMMAND [ARGS]...",
    options: &[
        OptionSpec {
            name: ITEMS,
            value: Some("FILE"),
            is_required: true,
            help: "The file whose lines are searched (`-`: standard input)",
            details: "",
        },
        OptionSpec {
            name: AS_ARGS,
            value: None,
            is_required: false,
            help: "Replace LIST by one argument for each chosen line",
            details: "Without LIST, they follow the other arguments.",
        },
    ],
    prepare: |asked| List::prepare(asked).map(Prepared::from),
};

const ITEMS: &str = "items";
const AS_ARGS: &str = "as-args";
/// The maximum number of characters of a line in the name of a change.
const SHOWN: usize = 200;

/// The terms of this axis. A run reports all lines that it has; an empty list is refused before the first run.
const TERMS: Terms =
    Terms { axis: "list", change: "line", reported: None, if_none_reported: Some("the list is empty") };
/// A line of the file.
const KIND: ChangeKind = ChangeKind::own("item", "line", "this line");

/// Lines of a file as changes, in the order of the file.
#[derive(Debug)]
struct List {
    /// The file; `-`: standard input.
    file: PathBuf,
    bytes: Vec<u8>,
    /// The position of each line, with its line break.
    lines: Vec<Range<usize>>,
    as_args: bool,
}

impl List {
    /// Reads the file.
    ///
    /// # Errors
    /// If the file cannot be read, has no lines, or has a line that cannot be an argument but has to be one.
    fn prepare(asked: &Asked) -> Result<Self, AxisError> {
        let file = PathBuf::from(asked.value(ITEMS).unwrap_or_default());
        let mut bytes = Vec::new();
        if file.as_os_str() == "-" {
            let read = io::stdin().lock().read_to_end(&mut bytes);
            read.map_err(|error| {
                AxisError::Usage(format!("standard input cannot be read: {error}; name the file with --items FILE"))
            })?;
        } else {
            bytes = patiently(|| fs_err::read(&file)).map_err(|error| {
                AxisError::Usage(format!("--items: {error}; name a file with one item on each line"))
            })?;
        }
        Self::new(file, bytes, asked.has(AS_ARGS))
    }

    fn new(file: PathBuf, bytes: Vec<u8>, as_args: bool) -> Result<Self, AxisError> {
        let mut lines = Vec::new();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &bytes).map(|at| at + 1).chain([bytes.len()]) {
            if start < end {
                lines.push(start..end);
            }
            start = end;
        }
        let list = Self { file, bytes, lines, as_args };
        if list.lines.is_empty() {
            return Err(AxisError::Nothing(format!("`{}` has no lines, so there is nothing to search", list.name())));
        }
        let zero = (0..list.lines.len()).find(|&i| as_args && list.text(i).contains(&0));
        if let Some(i) = zero {
            return Err(AxisError::Usage(format!(
                "line {} of `{}` contains a zero byte, which no argument can: leave out --as-args",
                i + 1,
                list.name()
            )));
        }
        Ok(list)
    }

    fn name(&self) -> String {
        if self.file.as_os_str() == "-" { "standard input".to_owned() } else { self.file.display().to_string() }
    }

    /// Returns the bytes of a line without its line break.
    fn text(&self, i: usize) -> &[u8] {
        let line = &self.bytes[self.lines[i].clone()];
        line.strip_suffix(b"\n").unwrap_or(line)
    }

    /// Returns the indices of the enabled lines.
    fn enabled(&self, choice: &Choice) -> impl Iterator<Item = usize> {
        (0..self.lines.len()).filter(|&i| choice.enables(id(i)))
    }

    /// Writes a file with the enabled lines, byte for byte. Returns its path.
    fn write(&self, choice: &Choice, files: &Files<'_>) -> io::Result<PathBuf> {
        fs_err::create_dir_all(files.directory)?;
        let mut path = files.directory.join(files.stem);
        // A command may depend on the extension. The path may become a part of a shell script.
        let extension = self.file.extension().filter(|extension| shell::is_plain(Path::new(extension)));
        path.set_extension(extension.unwrap_or("list".as_ref()));
        let mut text = Vec::new();
        for i in self.enabled(choice) {
            text.extend_from_slice(&self.bytes[self.lines[i].clone()]);
        }
        own_file::write(&path, text)?;
        Ok(path)
    }
}

impl Axis for List {
    fn facts(&self) -> AxisFacts {
        let placeholder = Placeholder {
            word: "LIST",
            is_required: !self.as_args,
            is_path: !self.as_args,
            usage: "the word LIST must stand in the value of a variable or in an argument, where the command expects the \
                    file with the chosen lines; for example: cargo bisect-opt list --items FILE ./check LIST",
        };
        AxisFacts { placeholder: Some(placeholder), ..AxisFacts::of_known_changes(TERMS) }
    }

    fn subject(&self) -> Option<String> {
        Some(format!("{} of {}", plural(self.lines.len(), "line"), self.name()))
    }

    fn words(&self, culprit: &CulpritChanges<'_>) -> CulpritWords {
        CulpritWords {
            headline: Some(headlines::of_parts(TERMS.change, culprit.ids.len(), culprit.mode)),
            ..CulpritWords::default()
        }
    }

    fn numbering(&self) -> Numbering {
        Numbering::of_list(self.lines.len())
    }

    fn apply(&self, choice: &Choice, files: &Files<'_>) -> Result<Application, RunError> {
        let words = if self.as_args {
            Words::Arguments(self.enabled(choice).map(|i| argument(self.text(i))).collect())
        } else {
            Words::File(self.write(choice, files)?)
        };
        Ok(Application { words: Some(words), ..Application::default() })
    }

    fn change(&self, report: Report, _: &Path, _: Mode) -> Report {
        let i = position(report.id).unwrap_or(usize::MAX);
        let text = if i < self.lines.len() { self.text(i) } else { &[] };
        let name: String = String::from_utf8_lossy(text).trim_end().chars().take(SHOWN).collect();
        let line = u32::try_from(i + 1).ok();
        let location = Location { file: self.name(), line, column: None, end: None };
        Report { kind: KIND, location: Some(location), text: vec![name.clone()], name, ..report }
    }
}

#[cfg(unix)]
fn argument(text: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStrExt;

    std::ffi::OsStr::from_bytes(text).to_owned()
}

#[cfg(not(unix))]
fn argument(text: &[u8]) -> OsString {
    String::from_utf8_lossy(text).into_owned().into()
}

#[cfg(test)]
mod tests {
    use bisect_core::{
        ChangeId,
        search::{Order, Prefix, Rank, Selection},
    };

    use super::*;
    use crate::{axes::AfterBuild, report::scan::Reports};

    fn list(text: &[u8], as_args: bool) -> Result<List, AxisError> {
        List::new("items.txt".into(), text.to_vec(), as_args)
    }

    /// Returns the choice of the first lines of a list.
    fn first(count: u64) -> Choice {
        Choice::of(Order::Given, &Selection { prefix: Prefix::Below(Rank(count)), ..Selection::all() })
    }

    #[test]
    fn lines_are_kept_byte_for_byte() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files { directory: dir.path(), stem: "x", report_file: None };
        for (text, count, expected) in [
            (&b"a\nb\n"[..], 1, &b"a\n"[..]),
            (b"a\nb", 2, b"a\nb"),
            (b"a\na\n\n\xff\r\nb\n", 4, b"a\na\n\n\xff\r\n"),
            (b"\n\n", 1, b"\n"),
        ] {
            let list = list(text, false).unwrap();
            let Some(Words::File(path)) = list.apply(&first(count), &files).unwrap().words else { panic!("a file") };
            assert_eq!(path, dir.path().join("x.txt"));
            assert_eq!(fs_err::read(path).unwrap(), expected);
        }
    }

    #[test]
    fn an_extension_that_a_shell_acts_upon_is_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files { directory: dir.path(), stem: "x", report_file: None };
        for (file, expected) in [("l.csv", "x.csv"), ("l", "x.list"), ("l.a b", "x.list"), ("l.$(touch y)", "x.list")] {
            let list = List::new(file.into(), b"a\n".to_vec(), false).unwrap();
            let Some(Words::File(path)) = list.apply(&first(1), &files).unwrap().words else { panic!("a file") };
            assert_eq!(path, dir.path().join(expected));
        }
    }

    #[cfg(unix)]
    #[test]
    fn each_line_is_one_argument() {
        use std::os::unix::ffi::OsStringExt;
        let files = Files { directory: Path::new("/nowhere"), stem: "x", report_file: None };
        let list = list(b"a b\n\n$c\xff\nd", true).unwrap();
        let Some(Words::Arguments(words)) = list.apply(&first(4), &files).unwrap().words else { panic!("arguments") };
        let words: Vec<_> = words.into_iter().map(OsString::into_vec).collect();
        assert_eq!(words, [&b"a b"[..], b"", b"$c\xff", b"d"]);
    }

    #[test]
    fn what_cannot_be_searched_is_refused() {
        assert!(matches!(list(b"", false), Err(AxisError::Nothing(_))));
        assert!(list(b"a\0\n", false).is_ok());
        let Err(AxisError::Usage(error)) = list(b"b\na\0\n", true) else { panic!("it cannot be an argument") };
        assert!(error.starts_with("line 2 of `items.txt`"), "{error}");
    }

    #[test]
    fn what_is_selected_is_reported_and_described() {
        let list = list(b"one\ntwo\nthree\n", false).unwrap();
        let mut reports = Reports::new(false);
        let built = AfterBuild { artifacts: None, log: Path::new("") };
        let off = Choice::of(Order::Given, &Selection { inverted: true, ..Selection::all() });
        list.collect(&off, &built, &mut reports).unwrap();
        assert_eq!(reports.len(), 3, "what is disabled is selected");
        let change = list.change(Report::new(ChangeId(1)), Path::new(""), Mode::Enable);
        assert_eq!((change.name.as_str(), change.location.unwrap().line), ("two", Some(2)));
    }
}
