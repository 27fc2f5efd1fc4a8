//! The variables in a file: what `env -0` or `env` prints, or lines KEY=value.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt,
    path::Path,
};

use super::{is_secret, quote};

/// The beginning of the value with which bash exports a function, and its last line.
const FUNCTION: [&[u8]; 2] = [b"() {", b"}"];
/// The maximum number of characters of a record in a message.
const MAX_QUOTED: usize = 60;

/// The variables of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dump {
    pub(super) form: Form,
    /// The variables, by their names.
    pub(super) entries: BTreeMap<OsString, DumpedVariable>,
}

/// A variable of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DumpedVariable {
    pub(super) value: OsString,
    /// The first line, from 1, of a file with lines.
    pub(super) line: Option<u32>,
    /// The first record and the last one, from 1.
    records: [usize; 2],
}

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A NUL ends each variable.
    Nul,
    /// A line break ends each variable.
    Lines,
    /// A carriage return and a line break end each variable.
    WindowsLines,
}

/// The reason why a file cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DumpError {
    /// The number of the line, or of the variable that a NUL ends.
    number: usize,
    form: Form,
    /// Its text; `None` if it may be a part of a secret.
    text: Option<String>,
    what: &'static str,
}

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, form, text, what } = self;
        let unit = if *form == Form::Nul { "variable" } else { "line" };
        let text = text.as_ref().map(|text| format!(" (`{text}`)")).unwrap_or_default();
        write!(f, "{unit} {number}{text} {what}")
    }
}

const NO_VARIABLE: &str = "is not KEY=value: write the file with `env -0 > FILE`";
const NO_END: &str = "begins a function of bash that does not end: write the file with `env -0 > FILE`";
const NO_TEXT: &str = "is not UTF-8: write the file in UTF-8";

impl Dump {
    /// Reads the variables of a file. The last value of a repeated variable counts.
    ///
    /// # Errors
    /// If the file cannot be divided into variables.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, DumpError> {
        if bytes.contains(&0) {
            let records = bytes.strip_suffix(b"\0").unwrap_or(bytes).split(|&byte| byte == 0).collect();
            return DumpReader { form: Form::Nul, records, at: 0 }.read();
        }
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let lines: Vec<_> = bytes.split(|&byte| byte == b'\n').collect();
        // The last line may lack its end.
        let ended = lines.split_last().map_or(&[][..], |(_, ended)| ended);
        let is_of_windows = !ended.is_empty() && ended.iter().all(|line| line.ends_with(b"\r"));
        let form = if is_of_windows { Form::WindowsLines } else { Form::Lines };
        let records =
            lines.into_iter().map(|line| if is_of_windows { line.strip_suffix(b"\r").unwrap_or(line) } else { line });
        DumpReader { form, records: records.collect(), at: 0 }.read()
    }
}

/// A reader of a file. A record is a line, or text up to a NUL.
struct DumpReader<'a> {
    form: Form,
    records: Vec<&'a [u8]>,
    /// The index of the next record.
    at: usize,
}

impl DumpReader<'_> {
    fn read(mut self) -> Result<Dump, DumpError> {
        let (mut entries, mut follows_secret) = (BTreeMap::new(), false);
        let has_lines = self.form != Form::Nul;
        while let Some(&record) = self.records.get(self.at) {
            let first = self.at;
            self.at += 1;
            if has_lines && (record.is_empty() || record.starts_with(b"#")) {
                continue;
            }
            let (number, form) = (first + 1, self.form);
            let error =
                |what| DumpError { number, form, text: (!follows_secret).then(|| shown(record)).flatten(), what };
            let name = if has_lines { variable_name(record) } else { name_before_sign(record) };
            let name = name.ok_or_else(|| error(NO_VARIABLE))?;
            let mut value = record[name.len() + 1..].to_vec();
            // A function may end with its first line. Then a variable follows, or nothing.
            let ends_here = value.ends_with(FUNCTION[1])
                && self.records.get(self.at).is_none_or(|next| variable_name(next).is_some());
            if has_lines && value.starts_with(FUNCTION[0]) && !ends_here {
                self.read_function(&mut value).ok_or_else(|| error(NO_END))?;
            }
            let (name, value) = text(name).zip(text(&value)).ok_or_else(|| error(NO_TEXT))?;
            follows_secret = is_secret(&name);
            let line = has_lines.then(|| u32::try_from(first + 1).ok()).flatten();
            entries.insert(name, DumpedVariable { value, line, records: [first + 1, self.at] });
        }
        Ok(Dump { form: self.form, entries })
    }

    /// Adds the next lines to the value of a function, up to its last one; `None` if there is no last one.
    fn read_function(&mut self, value: &mut Vec<u8>) -> Option<()> {
        loop {
            let line = *self.records.get(self.at)?;
            self.at += 1;
            value.push(b'\n');
            value.extend_from_slice(line);
            if line == FUNCTION[1] {
                return Some(());
            }
        }
    }
}

/// Returns what comes before the first `=`, unless it is empty.
fn name_before_sign(record: &[u8]) -> Option<&[u8]> {
    let end = record.iter().position(|&byte| byte == b'=')?;
    (end > 0).then(|| &record[..end])
}

/// Returns the name with which a line begins, if it is KEY=value. Few lines of text look so.
fn variable_name(line: &[u8]) -> Option<&[u8]> {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_%().-".contains(byte);
    name_before_sign(line).filter(|name| name.first().is_some_and(is_letter) && name.iter().all(is_of_name))
}

/// Returns the beginning of a record for a message; `None` if it may have the value of a secret.
fn shown(record: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(record);
    let beginning: String = text.chars().take(MAX_QUOTED).collect();
    (!is_secret(OsStr::new(&*text))).then(|| beginning.escape_debug().to_string())
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere, not all bytes can be in a variable")]
fn text(bytes: &[u8]) -> Option<OsString> {
    use std::os::unix::ffi::OsStringExt;
    Some(OsString::from_vec(bytes.to_vec()))
}

#[cfg(not(unix))]
fn text(bytes: &[u8]) -> Option<OsString> {
    String::from_utf8(bytes.to_vec()).ok().map(OsString::from)
}

impl Form {
    /// Returns the word of a shell that reads the value of an entry from the file at this path.
    pub(super) fn word(self, path: &Path, entry: &DumpedVariable) -> String {
        let [first, last] = entry.records;
        let path = quote(path);
        let records = if first == last { format!("{first}p") } else { format!("{first},{last}p") };
        let value = "sed '1s/^[^=]*=//'";
        match self {
            Self::Lines => format!("\"$(sed -n {records} {path} | {value})\""),
            Self::WindowsLines => format!("\"$(tr -d '\\r' < {path} | sed -n {records} | {value})\""),
            // In between, the line breaks of values are another character.
            Self::Nul => {
                format!("\"$(tr '\\0\\n' '\\n\\1' < {path} | sed -n {records} | {value} | tr '\\1' '\\n')\"")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the variables of a file as `NAME=value`, with the numbers of their lines.
    fn parsed(bytes: &[u8]) -> Result<Vec<String>, String> {
        let dump = Dump::parse(bytes).map_err(|error| error.to_string())?;
        let entries = dump.entries.into_iter().map(|(name, DumpedVariable { value, line, .. })| {
            let line = line.map(|line| format!("{line}: ")).unwrap_or_default();
            format!("{line}{}={}", name.display(), value.display())
        });
        Ok(entries.collect())
    }

    #[test]
    fn the_forms_that_env_prints_are_read() {
        for (text, expected) in [
            ("A=1\0B=x=y\nz\0", &["A=1", "B=x=y\nz"][..]),
            ("A=1\0#=2", &["#=2", "A=1"]),
            ("A=1\nB=x=y\n", &["1: A=1", "2: B=x=y"]),
            ("A=1", &["1: A=1"]),
            ("A=1\nA=2\n", &["2: A=2"]),
            ("\n# of CI\nA=\n\n", &["3: A="]),
            ("A=1\r\n\r\nB=2\r\n", &["1: A=1", "3: B=2"]),
            ("A=1\r\nB=2", &["1: A=1", "2: B=2"]),
            ("A=1\nB=2\r\n", &["1: A=1", "2: B=2\r"]),
            (
                "BASH_FUNC_f%%=() {  if a; then\n b=c\n fi\n}\nZ=1\n",
                &["1: BASH_FUNC_f%%=() {  if a; then\n b=c\n fi\n}", "5: Z=1"],
            ),
            ("BASH_FUNC_f%%=() { :; }\nZ=1\n", &["1: BASH_FUNC_f%%=() { :; }", "2: Z=1"]),
            ("BASH_FUNC_f%%=() {  echo ${HOME}\n}\nZ=1\n", &["1: BASH_FUNC_f%%=() {  echo ${HOME}\n}", "3: Z=1"]),
            ("ProgramFiles(x86)=C:\\x\n", &["1: ProgramFiles(x86)=C:\\x"]),
            ("", &[]),
        ] {
            assert_eq!(parsed(text.as_bytes()).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_divided_is_refused_with_the_line() {
        for (text, expected) in [
            ("A=1\nsecond line\n", "line 2 (`second line`) is not KEY=value: write the file with `env -0 > FILE`"),
            ("declare -x A=\"1\"\n", "line 1 (`declare -x A=\\\"1\\\"`) is not KEY=value"),
            ("=1\n", "line 1 (`=1`) is not KEY=value"),
            ("A=1\0B\0", "variable 2 (`B`) is not KEY=value"),
            (
                "A=1\nBASH_FUNC_f%%=() {  x\n y\n",
                "line 2 (`BASH_FUNC_f%%=() {  x`) begins a function of bash that does not end",
            ),
            ("API_KEY=-----BEGIN\nhunter2\n", "line 2 is not KEY=value"),
            ("export API_KEY=hunter2\n", "line 1 is not KEY=value"),
            ("\u{feff}API_KEY=hunter2\n", "line 1 is not KEY=value"),
        ] {
            let error = parsed(text.as_bytes()).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn values_have_any_bytes_but_nul() {
        use std::os::unix::ffi::OsStrExt;
        let dump = Dump::parse(b"A=\xff\xc3\n").unwrap();
        assert_eq!(dump.entries[&OsString::from("A")].value.as_bytes(), b"\xff\xc3");
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_each_value_from_the_file() {
        let values = ["x=y", " a\tb 'c' \"d\" $e `f` \\", "", "() {  if a; then\n b=c\n fi\n}"];
        for form in [Form::Nul, Form::Lines, Form::WindowsLines] {
            let end = match form {
                Form::Nul => "\0",
                Form::Lines => "\n",
                Form::WindowsLines => "\r\n",
            };
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("it's a file");
            let names = ["A", "B", "C", "BASH_FUNC_f%%"];
            let lines = names.iter().zip(values).map(|(name, value)| format!("{name}={value}"));
            let text: String = lines
                .map(|line| if form == Form::WindowsLines { line.replace('\n', end) } else { line } + end)
                .collect();
            fs_err::write(&path, text).unwrap();
            let dump = Dump::parse(&fs_err::read(&path).unwrap()).unwrap();
            assert_eq!(dump.form, form);
            for (name, value) in names.into_iter().zip(values) {
                let word = form.word(&path, &dump.entries[&OsString::from(name)]);
                let output =
                    std::process::Command::new("sh").args(["-c", &format!("printf %s {word}")]).output().unwrap();
                assert_eq!(String::from_utf8(output.stdout).unwrap(), value, "{word}");
            }
        }
    }
}
