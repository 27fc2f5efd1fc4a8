//! Outputs of compilers, by the contents of their inputs. The end-to-end tests compile the same crates into hundreds of target
//! directories.
//!
//! A key covers the compiler, its arguments without the directories of outputs, the directory it works in, the variables
//! that cargo and a search set for the crate, files of arguments, and the contents of the crates that it uses. Each entry below a key has the other
//! inputs in the compiler's dep-info (sources, and variables that the code reads), which must be as they were.
//! Compilations with an option that is not known here, or with toggles in macros, are not stored.
//!
//! Most searches compile in temporary directories, whose names are random ([`RandomNames`]). A key does not depend on
//! them, and files that are restored get the new names.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, ExitStatus, Stdio},
};

use xxhash_rust::xxh3::Xxh3;

use crate::random_names::{RandomNames, replace};

/// Stands for the directory of outputs in stored texts.
const OUT_DIR: &str = "\u{1}out-dir\u{1}";

/// The output and the reports of a compiler that has ended.
#[derive(Debug)]
pub(crate) struct Printed {
    /// The bytes on standard output.
    pub(crate) stdout: Vec<u8>,
    /// The bytes on standard error.
    pub(crate) stderr: Vec<u8>,
    /// The reports that bisect-rustc has appended to the file of `BISECT_REPORT`.
    pub(crate) reports: Vec<u8>,
}

/// A compilation whose results can be stored.
#[derive(Debug)]
pub(crate) struct Compilation {
    /// The directory of all entries with the same key.
    entries: PathBuf,
    /// `None` for a question about the compiler.
    out_dir: Option<PathBuf>,
    /// The file of `BISECT_REPORT`, for bisect-rustc.
    report: Option<PathBuf>,
    names: RandomNames,
}

impl Compilation {
    /// Reads the command line of a compiler. Returns `None` if its results cannot be stored.
    ///
    /// `dir` contains `store` and the file `compiler`. `variables` are those of the process.
    pub(crate) fn find(
        dir: &Path,
        rustc: &Path,
        arguments: &[OsString],
        variables: &[(OsString, OsString)],
    ) -> Option<Self> {
        let arguments: Vec<&str> = arguments.iter().map(|argument| argument.to_str()).collect::<Option<_>>()?;
        let mut key = Xxh3::new();
        let mut add = |bytes: &[u8]| {
            key.update(&bytes.len().to_le_bytes());
            key.update(bytes);
        };
        add(rustc.as_os_str().as_encoded_bytes());
        add(&fs::read(dir.join("compiler")).ok()?);
        let store = dir.join("store");
        let is_bisect_rustc = rustc.file_stem() == Some(OsStr::new("bisect-rustc"));
        let dir = std::env::current_dir().ok()?;
        let mut names = RandomNames::default();
        let out_dir = if arguments == ["-vV"] || is_question(&arguments) {
            for argument in &arguments {
                add(argument.as_bytes());
            }
            None
        } else {
            let line = CommandLine::parse(&arguments)?;
            names = RandomNames::in_paths([dir.to_str()?].into_iter().chain(line.paths()));
            add(&names.hidden(dir.as_os_str().as_encoded_bytes()));
            for argument in &line.kept {
                add(&names.hidden(argument.as_bytes()));
            }
            let mut direct = Vec::new();
            for path in &line.externs {
                add(path.file_name()?.as_encoded_bytes());
                direct.push(fs::read(path).ok()?);
            }
            for file in &line.argument_files {
                add(&fs::read(file).ok()?);
            }
            for bytes in &direct {
                add(&hash(&names.hidden(bytes)));
            }
            // A program contains its indirect dependencies, too.
            if line.is_linked {
                for path in line.dependencies.iter().flat_map(|dir| libraries(dir)) {
                    if direct.iter().any(|bytes| is_named_in(bytes, &path)) {
                        add(&hash(&names.hidden(&fs::read(&path).ok()?)));
                    }
                }
            }
            Some(line.out_dir)
        };
        let mut report = None;
        for (name, value) in sorted(variables) {
            match Relevance::of(&name, is_bisect_rustc) {
                Relevance::Forbids => return None,
                Relevance::None => (),
                Relevance::Report => report = Some(PathBuf::from(value)),
                Relevance::Key => {
                    add(name.as_bytes());
                    add(&names.hidden(value.as_encoded_bytes()));
                }
            }
        }
        Some(Self { entries: store.join(format!("{:032x}", key.digest128())), out_dir, report, names })
    }

    /// Puts the files of the entry with the same inputs into their places, and returns what rustc printed; `None` if
    /// there is no such entry.
    ///
    /// # Errors
    /// If a file cannot be copied.
    pub(crate) fn restore(&self) -> io::Result<Option<Printed>> {
        let Ok(entries) = fs::read_dir(&self.entries) else { return Ok(None) };
        for entry in entries {
            let entry = entry?.path();
            let Ok(inputs) = fs::read_to_string(entry.join("inputs")) else { continue };
            let stored = RandomNames::parse(&fs::read_to_string(entry.join("names")).unwrap_or_default());
            let inputs = String::from_utf8_lossy(&self.names.renamed(inputs.into(), &stored)).into_owned();
            if !inputs.lines().all(|line| line.split_once(' ').is_some_and(|(hash, input)| hash == hash_of(input))) {
                continue;
            }
            if let Some(out_dir) = &self.out_dir {
                fs::create_dir_all(out_dir)?;
                for file in fs::read_dir(entry.join("files"))? {
                    let file = file?;
                    let place = out_dir.join(file.file_name());
                    // It may have other hard links.
                    let _ = fs::remove_file(&place);
                    // With its permissions.
                    fs::copy(file.path(), &place)?;
                    if place.extension() == Some(OsStr::new("d")) {
                        fs::write(&place, self.here(fs::read(&place)?, &stored))?;
                    } else if stored != self.names {
                        fs::write(&place, self.names.renamed(fs::read(&place)?, &stored))?;
                    }
                }
            }
            // The search path removes the entries that were not used for the longest time.
            let _ =
                fs::File::options().append(true).open(entry.join("inputs"))?.set_modified(std::time::SystemTime::now());
            let stderr = self.here(fs::read(entry.join("stderr"))?, &stored);
            let reports = self.here(fs::read(entry.join("reports"))?, &stored);
            return Ok(Some(Printed { stdout: fs::read(entry.join("stdout"))?, stderr, reports }));
        }
        Ok(None)
    }

    /// Locks this compilation: another process that compiles the same waits until the returned file is closed.
    ///
    /// # Errors
    /// If the file cannot be made or locked.
    pub(crate) fn lock(&self) -> io::Result<fs::File> {
        let locks = self.store_dir().with_file_name("locks");
        fs::create_dir_all(&locks)?;
        let lock = fs::File::create(locks.join(self.entries.file_name().unwrap_or_default()))?;
        lock.lock()?;
        Ok(lock)
    }

    /// Returns the store: it has a directory for each key.
    fn store_dir(&self) -> &Path {
        self.entries.parent().unwrap_or(&self.entries)
    }

    /// Stores what rustc made and printed.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub(crate) fn store(&self, printed: &Printed) -> io::Result<()> {
        fs::create_dir_all(&self.entries)?;
        let new = tempfile::Builder::new().prefix("new").tempdir_in(self.store_dir())?;
        let files = new.path().join("files");
        fs::create_dir(&files)?;
        let mut inputs = String::new();
        if let Some(out_dir) = &self.out_dir {
            let Some(made) = artifacts(&printed.stderr) else { return Ok(()) };
            for path in made {
                let Some(name) = path.file_name().filter(|_| path.parent() == Some(out_dir)) else { return Ok(()) };
                if path.extension() == Some(OsStr::new("d")) {
                    let text = fs::read_to_string(&path)?;
                    let Some(read) = inputs_of(&text) else { return Ok(()) };
                    let lines: Vec<_> = read.into_iter().map(|input| format!("{} {input}", hash_of(&input))).collect();
                    inputs = lines.join("\n");
                    fs::write(files.join(name), self.anywhere(text.as_bytes()))?;
                } else {
                    fs::copy(&path, files.join(name))?;
                }
            }
            if inputs.is_empty() {
                return Ok(());
            }
        }
        fs::write(new.path().join("stdout"), &printed.stdout)?;
        fs::write(new.path().join("stderr"), self.anywhere(&printed.stderr))?;
        fs::write(new.path().join("reports"), self.anywhere(&printed.reports))?;
        fs::write(new.path().join("inputs"), &inputs)?;
        fs::write(new.path().join("names"), self.names.to_string())?;
        let entry = self.entries.join(hex(&self.names.hidden(inputs.as_bytes())));
        // Another process may have stored the same.
        if fs::rename(new.path(), entry).is_ok() {
            let _ = new.keep();
        }
        Ok(())
    }

    /// Runs the compiler. Passes its output on as it comes, and its reports when it has ended. Returns its status and
    /// output.
    ///
    /// # Errors
    /// If it cannot be started, its output cannot be read or passed on, or a file of reports cannot be made, read or
    /// written.
    pub(crate) fn run(&self, rustc: &Path, arguments: &[OsString]) -> io::Result<(ExitStatus, Printed)> {
        let mut command = Command::new(rustc);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        // If this process is ended, the file stays, and tests expect the directory for temporary files to be empty.
        let reports = self.report.as_ref().map(|_| tempfile::NamedTempFile::new_in(self.store_dir())).transpose()?;
        if let Some(reports) = &reports {
            command.env("BISECT_REPORT", reports.path());
        }
        let mut child = command.spawn()?;
        let (stdout, stderr) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
        let (stdout, stderr) = std::thread::scope(|scope| {
            let stdout = scope.spawn(|| pass_on(stdout, io::stdout()));
            let stderr = pass_on(stderr, io::stderr());
            (stdout.join().expect("this thread does not panic"), stderr)
        });
        let status = child.wait()?;
        let reports = reports.map_or_else(|| Ok(Vec::new()), |reports| fs::read(reports.path()))?;
        let printed = Printed { stdout: stdout?, stderr: stderr?, reports };
        self.report(&printed.reports)?;
        Ok((status, printed))
    }

    /// Appends reports to the file of `BISECT_REPORT`.
    ///
    /// # Errors
    /// If the file is not there, or cannot be written.
    pub(crate) fn report(&self, reports: &[u8]) -> io::Result<()> {
        let Some(file) = self.report.as_ref().filter(|_| !reports.is_empty()) else { return Ok(()) };
        fs::File::options().append(true).open(file)?.write_all(reports)
    }

    fn anywhere(&self, text: &[u8]) -> Vec<u8> {
        self.out_dir.as_ref().map_or_else(|| text.to_owned(), |dir| replace(text, &dir.to_string_lossy(), OUT_DIR))
    }

    fn here(&self, text: Vec<u8>, stored: &RandomNames) -> Vec<u8> {
        let text = self.names.renamed(text, stored);
        self.out_dir.as_ref().map_or_else(|| text.clone(), |dir| replace(&text, OUT_DIR, &dir.to_string_lossy()))
    }
}

/// Returns whether these arguments are cargo's question about a target.
fn is_question(arguments: &[&str]) -> bool {
    let answers = ["sysroot", "host-tuple"];
    matches!(arguments, ["-", "--crate-name", "___", ..])
        || matches!(arguments, ["--print", what] if answers.contains(what))
}

/// The arguments of a compilation.
#[derive(Debug, Default)]
struct CommandLine {
    /// Those that do not name a directory of outputs, a compiled crate or a file of arguments.
    kept: Vec<String>,
    externs: Vec<PathBuf>,
    dependencies: Vec<PathBuf>,
    /// Files that `-C llvm-args=@FILE` names.
    argument_files: Vec<PathBuf>,
    out_dir: PathBuf,
    is_linked: bool,
}

impl CommandLine {
    /// Returns `None` if an argument is not known here, or if one that is needed is missing.
    fn parse(arguments: &[&str]) -> Option<Self> {
        let mut line = Self::default();
        let mut words = arguments.iter().copied();
        while let Some(word) = words.next() {
            // `--name=value` is `--name value`.
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value)),
                _ if word.len() > 2 && word.starts_with('-') && !word.starts_with("--") => {
                    (word.get(..2)?, Some(word.get(2..)?))
                }
                _ => (word, None),
            };
            if ["--test", "--verbose"].contains(&name) || is_source(name) {
                line.is_linked |= name == "--test";
                line.kept.push(word.to_owned());
                continue;
            }
            let value = joined.or_else(|| words.next())?;
            match name {
                "--out-dir" => line.out_dir = value.into(),
                "-L" => line.dependencies.push(value.strip_prefix("dependency=")?.into()),
                "-C" if value.starts_with("incremental=") => line.kept.push("incremental".to_owned()),
                "-C" if value.starts_with("llvm-args=@") => {
                    line.kept.push("llvm-args".to_owned());
                    line.argument_files.push(value.trim_start_matches("llvm-args=@").into());
                }
                "-Z" if ["mir-opt-bisect-limit=", "mir-enable-passes="].iter().any(|name| value.starts_with(name)) => {
                    line.kept.extend([name.to_owned(), value.to_owned()]);
                }
                "-C" if is_plain(value) => line.kept.extend([name.to_owned(), value.to_owned()]),
                "--extern" => match value.split_once('=') {
                    Some((name, path)) => {
                        line.kept.push(name.to_owned());
                        line.externs.push(path.into());
                    }
                    // `proc_macro` is a crate of the compiler.
                    None => line.kept.push(value.to_owned()),
                },
                "--crate-type" => {
                    line.is_linked |= !["lib", "rlib"].contains(&value);
                    line.kept.push(value.to_owned());
                }
                "--emit" if value.split(',').all(|kind| ["dep-info", "metadata", "link"].contains(&kind)) => {
                    line.kept.push(value.to_owned());
                }
                "--crate-name" | "--edition" | "--error-format" | "--json" | "--cfg" | "--check-cfg"
                | "--cap-lints" | "--diagnostic-width" | "--target" | "--warn" | "--allow" | "--deny" | "--forbid"
                | "-A" | "-W" | "-D" | "-F" => {
                    line.kept.extend([name.to_owned(), value.to_owned()]);
                }
                _ => return None,
            }
        }
        let reports_artifacts = line.kept.iter().any(|word| word.contains("artifacts"));
        (reports_artifacts && line.out_dir.is_absolute()).then_some(line)
    }

    /// Returns the words that may contain a path, in an order that is the same each time.
    fn paths(&self) -> impl Iterator<Item = &str> {
        let dirs = self.externs.iter().chain(&self.dependencies).chain([&self.out_dir]);
        self.kept.iter().map(String::as_str).chain(dirs.filter_map(|path| path.to_str()))
    }
}

fn is_source(word: &str) -> bool {
    !word.starts_with('-') && Path::new(word).extension() == Some(OsStr::new("rs"))
}

/// Returns whether an option of `-C` names neither a file nor this machine.
fn is_plain(option: &str) -> bool {
    let known = [
        "codegen-units",
        "debug-assertions",
        "debuginfo",
        "embed-bitcode",
        "extra-filename",
        "force-frame-pointers",
        "inline-threshold",
        "linker-plugin-lto",
        "llvm-args",
        "lto",
        "metadata",
        "no-prepopulate-passes",
        "opt-level",
        "overflow-checks",
        "panic",
        "prefer-dynamic",
        "split-debuginfo",
        "strip",
        "symbol-mangling-version",
        "target-feature",
    ];
    known.contains(&option.split('=').next().unwrap_or_default()) && !option.contains('/')
}

/// The part that a variable has in a compilation.
#[derive(Clone, Copy, Debug)]
enum Relevance {
    Key,
    /// Not, except where the code reads it: then it is in the dep-info.
    None,
    /// Names the file of reports.
    Report,
    /// Toggles in macros act and report while a crate is compiled.
    Forbids,
}

impl Relevance {
    fn of(name: &str, is_bisect_rustc: bool) -> Self {
        let of_crate = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CRATE_NAME", "CARGO_BIN_NAME", "CARGO_PRIMARY_PACKAGE"];
        match name {
            "BISECT_REPORT" if is_bisect_rustc => Self::Report,
            "BISECT_PATTERN" | "BISECT_REPORT" => Self::Forbids,
            _ if is_bisect_rustc && name.starts_with("BISECT_RUSTC") => Self::Key,
            _ if name.starts_with("RUSTC_") => Self::Key,
            _ if of_crate.iter().any(|prefix| name.starts_with(prefix)) => Self::Key,
            _ => Self::None,
        }
    }
}

fn sorted(variables: &[(OsString, OsString)]) -> BTreeMap<String, &OsString> {
    variables.iter().map(|(name, value)| (name.to_string_lossy().into_owned(), value)).collect()
}

/// Returns the paths that rustc said it has written; `None` if it did not say so, as it does for JSON messages.
fn artifacts(stderr: &[u8]) -> Option<Vec<PathBuf>> {
    let text = str::from_utf8(stderr).ok()?;
    let artifact = |line: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(PathBuf::from(message["artifact"].as_str()?))
    };
    let mut paths: Vec<_> = text.lines().filter_map(artifact).collect();
    paths.sort();
    paths.dedup();
    (!paths.is_empty()).then_some(paths)
}

/// Returns the inputs in a dep-info: paths of sources, and variables as `NAME=value`.
fn inputs_of(dep_info: &str) -> Option<Vec<String>> {
    let variables =
        dep_info.lines().filter_map(|line| line.strip_prefix("# env-dep:")).map(|text| format!("env {text}"));
    // Each source is a rule of its own, without a recipe.
    let sources = dep_info.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.strip_suffix(':'));
    let sources: Vec<_> = sources.map(|name| format!("file {}", name.replace("\\ ", " "))).collect();
    (!sources.is_empty()).then(|| sources.into_iter().chain(variables).collect())
}

/// Returns a hash of what an input is now.
fn hash_of(input: &str) -> String {
    match input.split_once(' ') {
        Some(("env", variable)) => {
            let (name, value) = variable.split_once('=').map_or((variable, None), |(name, value)| (name, Some(value)));
            let now = std::env::var(name).ok();
            if now.as_deref() == value { "same".to_owned() } else { "other".to_owned() }
        }
        Some((_, path)) => fs::read(path).map_or_else(|_| "missing".to_owned(), |bytes| hex(&bytes)),
        None => String::new(),
    }
}

/// Returns whether the metadata of a compiled crate names another one: it contains the end of its file's name, which
/// cargo makes unique.
fn is_named_in(metadata: &[u8], library: &Path) -> bool {
    let stem = library.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let unique = stem.rfind('-').map(|dash| &stem.as_bytes()[dash..]);
    unique.is_none_or(|unique| memchr::memmem::find(metadata, unique).is_some())
}

fn hash(bytes: &[u8]) -> [u8; 16] {
    xxhash_rust::xxh3::xxh3_128(bytes).to_le_bytes()
}

fn hex(bytes: &[u8]) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(bytes))
}

/// Returns the compiled crates in a directory that a program may be linked with.
fn libraries(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_library = |path: &PathBuf| path.extension().is_some_and(|end| end == "rlib" || end == "so");
    let mut paths: Vec<_> = entries.filter(is_library).collect();
    paths.sort();
    paths
}

fn pass_on(mut from: impl io::Read, mut to: impl io::Write) -> io::Result<Vec<u8>> {
    let (mut all, mut buffer) = (Vec::new(), [0; 1 << 13]);
    loop {
        let length = from.read(&mut buffer)?;
        if length == 0 {
            return Ok(all);
        }
        all.extend(&buffer[..length]);
        to.write_all(&buffer[..length])?;
        to.flush()?;
    }
}
