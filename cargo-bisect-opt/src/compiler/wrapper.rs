//! The driver as cargo's `RUSTC_WRAPPER`: it calls rustc as the [plan] of the package says.
//!
//! Afterwards it adds the plan's variable to the dep-info that rustc has written. So cargo compiles exactly the crates
//! whose plan has changed. The compiler's reports are stored next to the artifacts, since cargo does not start the
//! compiler for a crate that is up to date.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, BufRead, BufReader, BufWriter, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::{ChildStderr, Command, ExitCode, ExitStatus},
};

use serde::{Deserialize, Serialize};

use bisect_core::protocol::names;

use super::{
    cache::{CachedUnit, create_parent},
    passes,
    plan::{self, Counter, Plan},
    stored_path,
    unit::Unit,
};
use crate::process;

/// The configuration of the wrapper, the same for all crates of a search.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WrapperConfig {
    /// The user's own wrapper.
    #[serde(default, with = "stored_path")]
    pub(crate) inner: Option<PathBuf>,
    /// The file to which a line is appended for each crate that is compiled.
    #[serde(default, with = "stored_path")]
    pub(crate) compiled: Option<PathBuf>,
    /// The directory of the [cache](super::cache).
    #[serde(default, with = "stored_path", skip_serializing_if = "Option::is_none")]
    pub(crate) keep: Option<PathBuf>,
}

/// Does the work of a wrapper if this process was started as one. Returns the compiler's status.
pub(crate) fn main() -> Option<ExitCode> {
    let config = env::var(names::OPT_WRAPPER).ok()?;
    let mut words = env::args_os().skip(1);
    let rustc = words.next()?;
    let arguments: Vec<_> = words.collect();
    let compiled = attempt(|| {
        let config: WrapperConfig = serde_json::from_str(&config)?;
        compile(&config, &rustc, &arguments)
    });
    Some(compiled.unwrap_or_else(|why| {
        // Without standard error, the status is all that can be reported.
        let _ = writeln!(io::stderr(), "{FAILURE}of {}: {why}", rustc.display());
        ExitCode::FAILURE
    }))
}

/// The beginning of the line that says why the wrapper itself has failed, and not the compiler.
const FAILURE: &str = "error: cargo bisect-opt, as a wrapper ";

/// Returns the reason why the wrapper itself has failed, if the messages of a build have one. Then the build shows nothing
/// about the crate.
pub(crate) fn own_failure(messages: &[u8]) -> Option<String> {
    let mut lines = messages.split(|&byte| byte == b'\n');
    let line = lines.find(|line| line.starts_with(FAILURE.as_bytes()))?;
    let text = String::from_utf8_lossy(line);
    Some(text.trim_start_matches("error: ").trim_end().to_owned())
}

/// Does the work. A panic is a reason to fail, too: cargo must not show its status as that of the compiler.
fn attempt(work: impl FnOnce() -> io::Result<ExitCode>) -> Result<ExitCode, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|error| error.to_string()),
        Err(_) => Err("it has a defect, which says nothing about the crate: please report the panic above".to_owned()),
    }
}

fn exit_code(status: ExitStatus) -> ExitCode {
    // A signal that ended the compiler becomes a status above 128, as in a shell.
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| signal + 128);
    #[cfg(not(unix))]
    let signal = None;
    let code = status.code().or(signal).and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::from(101), ExitCode::from)
}

/// Returns a command for a program, which must not act as a wrapper itself.
fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_remove(names::OPT_WRAPPER);
    command
}

/// Returns a command for rustc, by the user's own wrapper if there is one.
fn rustc_command(config: &WrapperConfig, rustc: &OsStr) -> Command {
    match &config.inner {
        None => command(rustc),
        Some(inner) => {
            let mut command = command(inner);
            command.arg(rustc);
            command
        }
    }
}

fn compile(config: &WrapperConfig, rustc: &OsStr, arguments: &[OsString]) -> io::Result<ExitCode> {
    let package = [env::var("CARGO_PKG_NAME").ok(), env::var("CARGO_PKG_VERSION").ok()];
    let unchanged = || {
        let mut command = rustc_command(config, rustc);
        process::take_over(command.args(arguments)).map(exit_code)
    };
    let (Some(unit), [Some(name), Some(version)]) = (Unit::parse(arguments), package) else {
        // Cargo queries rustc's version and configuration.
        return unchanged();
    };
    if unit.runs_while_compiling {
        count_compiled(config, &name, &unit)?;
        return unchanged();
    }
    let variable = names::of_package(names::CODEGEN_PACKAGE, &name, &version);
    let value = env::var(&variable).ok();
    let of_bisect_rustc = env::var(names::of_package(names::RUSTC_PACKAGE, &name, &version)).unwrap_or_default();
    let values = [value.as_deref().unwrap_or_default(), &of_bisect_rustc];
    let plan: Plan = value.as_deref().map_or_else(|| Ok(Plan::default()), serde_json::from_str)?;
    let reports_dir =
        env::var_os(names::OPT_STORE).map(|store| plan::reports_dir(Path::new(&store), &variable, values));
    let file = |directory: &Path| directory.join(unit.file_name());
    // The report files of bisect-rustc: while it compiles, and after it succeeded.
    let reports = plan.bisect_rustc.as_ref().and(reports_dir.as_deref());
    let reports = reports.map(|directory| (file(&plan::partial_dir(directory)), file(directory)));
    let finished = reports.as_ref().map(|(_, finished)| finished.as_path());
    let find_cached = |directory: &PathBuf| CachedUnit::find(directory, &unit, arguments, values, finished);
    let cached = config.keep.as_ref().and_then(find_cached);
    if let Some(cached) = &cached
        && cached.restore()?
    {
        return Ok(ExitCode::SUCCESS);
    }
    count_compiled(config, &name, &unit)?;
    let mut command = match &plan.bisect_rustc {
        // The user's wrapper may not support it.
        Some(bisect_rustc) => command(bisect_rustc),
        None => rustc_command(config, rustc),
    };
    command.args(arguments).args(&plan.flags);
    if plan.unstable {
        // For this crate only, in which it changes nothing else.
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    if let Some((partial, _)) = &reports {
        create(partial)?;
        command.env(names::REPORT, partial);
    }
    if !plan.left_out.is_empty() {
        let file = unit.directory.join(format!("{}.left-out", unit.stem));
        command.args(passes::leave_out(&plan.left_out, &file)?);
        // See `count_passes`.
        command.env("CARGO_BISECT_OPT_LEFT_OUT", plan.left_out.join(","));
    }
    let status = match &plan.counter {
        Some(counter) => count_passes(&mut command, counter, &unit, reports_dir.as_deref().map(file).as_deref())?,
        None => process::take_over(&mut command)?,
    };
    if status.success() {
        track(&unit.dep_info(), &variable, value.as_deref())?;
        if let Some((partial, finished)) = &reports {
            create_parent(finished)?;
            fs_err::rename(partial, finished)?;
        }
        cached.iter().try_for_each(CachedUnit::store)?;
    }
    Ok(exit_code(status))
}

/// Records that a unit of a package is compiled.
fn count_compiled(config: &WrapperConfig, package: &str, unit: &Unit) -> io::Result<()> {
    let Some(compiled) = &config.compiled else { return Ok(()) };
    let mut file = fs_err::OpenOptions::new().create(true).append(true).open(compiled)?;
    file.write_all(format!("{package} {}\n", unit.name).as_bytes())
}

fn create(path: &Path) -> io::Result<fs_err::File> {
    create_parent(path)?;
    fs_err::File::create(path)
}

/// Runs rustc with a limit for one of its counters, or with a list of the counted passes in `list`. Hides the
/// compiler's messages about the counter from the user.
fn count_passes(command: &mut Command, counter: &Counter, unit: &Unit, list: Option<&Path>) -> io::Result<ExitStatus> {
    let limit = if counter.lists { None } else { Some(counter.limits.get(&unit.name).copied().unwrap_or(0)) };
    let file = unit.directory.join(format!("{}.limit", unit.stem));
    command.args(passes::flags(counter.of, limit, Some(&file))?);
    // A compiler cache of the user (sccache) does not read the file, but all variables with this prefix.
    command.env("CARGO_BISECT_OPT_LIMIT", limit.map_or(String::new(), |limit| limit.to_string()));
    if counter.of == plan::CounterKind::Mir {
        // See `Plan::unstable`.
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    process::take_over_except_stderr(command, |stderr| split_messages(stderr, list.filter(|_| counter.lists)))
}

/// Writes messages about counters to the file `list`, if there is one, and all others to standard error.
fn split_messages(mut stderr: BufReader<ChildStderr>, list: Option<&Path>) -> io::Result<()> {
    let mut list = match list {
        Some(list) => Some(BufWriter::new(create(list)?)),
        None => None,
    };
    let mut line = Vec::new();
    while stderr.read_until(b'\n', &mut line)? > 0 {
        if line.starts_with(passes::PREFIX) {
            list.iter_mut().try_for_each(|list| list.write_all(&line))?;
        } else {
            io::stderr().write_all(&line)?;
        }
        line.clear();
        if stderr.buffer().is_empty() {
            // If the compiler hangs and this process is ended, the list is complete up to here.
            list.iter_mut().try_for_each(Write::flush)?;
        }
    }
    list.iter_mut().try_for_each(Write::flush)
}

/// Adds a variable to the dependencies in rustc's dep-info file.
fn track(dep_info: &Path, variable: &str, value: Option<&str>) -> io::Result<()> {
    if !dep_info.is_file() {
        return Ok(());
    }
    let value = value.map(|value| {
        // Escaped as rustc does it.
        format!("={}", value.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r"))
    });
    let mut file = fs_err::OpenOptions::new().append(true).open(dep_info)?;
    file.write_all(format!("\n# env-dep:{variable}{}\n", value.unwrap_or_default()).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_the_wrapper_is_none_of_the_compiler() {
        let defect = attempt(|| panic!("a test of panics")).unwrap_err();
        assert!(defect.contains("it has a defect, which says nothing about the crate"), "{defect}");
        let refused = attempt(|| Err(io::Error::from_raw_os_error(28))).unwrap_err();
        assert!(attempt(|| Ok(ExitCode::SUCCESS)).is_ok());
        for why in [defect, refused] {
            let messages =
                format!("   Compiling a v0.1.0\n{FAILURE}of /bin/rustc: {why}\nerror: could not compile `a`\n");
            let expected = format!("cargo bisect-opt, as a wrapper of /bin/rustc: {why}");
            assert_eq!(own_failure(messages.as_bytes()), Some(expected));
        }
        assert_eq!(own_failure(b"error: could not compile `a` (lib) due to 1 previous error\n"), None);
    }

    #[test]
    fn dependencies_are_added_after_those_of_rustc() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.d");
        track(&path, "V", None).unwrap();
        assert!(!path.exists(), "where rustc wrote none there is none");
        fs_err::write(&path, "x: src/lib.rs\n").unwrap();
        track(&path, "V", None).unwrap();
        track(&path, "W", Some("a\\b\nc")).unwrap();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "x: src/lib.rs\n\n# env-dep:V\n\n# env-dep:W=a\\\\b\\nc\n");
    }
}
