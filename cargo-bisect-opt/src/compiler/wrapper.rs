//! The driver as cargo's `RUSTC_WRAPPER`: rustc is called with what the [plan] of the package says.
//!
//! After it, the dep-info that rustc has written says which variable that was, so that cargo itself compiles exactly the
//! crates anew whose plan has changed. What the compiler says about its passes is kept beside what it made, since it says
//! nothing where cargo has no reason to start it.

use std::{
    env,
    ffi::OsString,
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode, ExitStatus, Stdio},
};

use serde::{Deserialize, Serialize};

use super::{
    cache::{CachedUnit, create_parent},
    passes,
    plan::{self, Counter, Plan},
    unit::Unit,
};

/// The variable that makes this executable a wrapper, with a [`WrapperConfig`] as its value.
pub(crate) const VARIABLE: &str = "BISECT_OPT_WRAPPER";

/// The variable that says where is kept what the compiler says: beside what it makes.
pub(crate) const STORE: &str = "BISECT_OPT_STORE";

/// What is the same for all crates of a search.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WrapperConfig {
    /// The user's own wrapper.
    pub(crate) inner: Option<PathBuf>,
    /// A line is appended to this file for each crate that is compiled.
    pub(crate) compiled: Option<PathBuf>,
    /// What is compiled is kept in this directory, and what is there is not compiled again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) keep: Option<PathBuf>,
}

/// Does the work of a wrapper, if this process was started as one: the status is the compiler's.
pub(crate) fn main() -> Option<ExitCode> {
    let session = env::var(VARIABLE).ok()?;
    let mut words = env::args_os().skip(1);
    let rustc = words.next()?;
    let words: Vec<_> = words.collect();
    let result = serde_json::from_str(&session)
        .map_err(io::Error::from)
        .and_then(|session: WrapperConfig| compile(&session, &rustc, &words));
    Some(match result {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("error: cargo bisect-opt, as a wrapper of {}: {error}", rustc.display());
            ExitCode::FAILURE
        }
    })
}

fn exit_code(status: ExitStatus) -> ExitCode {
    // That a signal ended the compiler is told as a shell tells it.
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| signal + 128);
    #[cfg(not(unix))]
    let signal = None;
    let code = status.code().or(signal).and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::from(101), ExitCode::from)
}

fn compile(session: &WrapperConfig, rustc: &OsString, words: &[OsString]) -> io::Result<ExitCode> {
    let starts = |program: &OsString| {
        let mut command = Command::new(program);
        // Whatever is started from here is no wrapper any more.
        command.env_remove(VARIABLE);
        command
    };
    let by_inner = || match &session.inner {
        None => starts(rustc),
        Some(inner) => {
            let mut command = starts(&inner.clone().into_os_string());
            command.arg(rustc);
            command
        }
    };
    let package = [env::var("CARGO_PKG_NAME").ok(), env::var("CARGO_PKG_VERSION").ok()];
    let (Some(unit), [Some(name), Some(version)]) = (Unit::of(words), package) else {
        // Cargo asks rustc what it is.
        return by_inner().args(words).status().map(exit_code);
    };
    let count_it = || match &session.compiled {
        Some(compiled) => {
            let mut file = fs_err::OpenOptions::new().create(true).append(true).open(compiled)?;
            file.write_all(format!("{name} {}\n", unit.name).as_bytes())
        }
        None => Ok(()),
    };
    if unit.runs_while_compiling {
        count_it()?;
        return by_inner().args(words).status().map(exit_code);
    }
    let variable = plan::variable(plan::PREFIX, &name, &version);
    let value = env::var(&variable).ok();
    let of_driver = env::var(plan::variable(plan::BISECT_RUSTC_PREFIX, &name, &version)).unwrap_or_default();
    let values = [value.as_deref().unwrap_or_default(), &of_driver];
    let plan: Plan = value.as_deref().map_or_else(|| Ok(Plan::default()), serde_json::from_str)?;
    let told = env::var_os(STORE).map(|store| plan::told(Path::new(&store), &variable, values));
    let file = |directory: &Path| directory.join(unit.file_name());
    // Of the driver, while it compiles and when it has.
    let reports =
        plan.bisect_rustc.as_ref().and(told.as_deref()).map(|told| (file(&plan::unfinished(told)), file(told)));
    let kept = reports.as_ref().map(|(_, finished)| finished.as_path());
    let reuse = session.keep.as_ref().and_then(|keep| CachedUnit::of(keep, &unit, words, values, kept));
    if let Some(reuse) = &reuse
        && reuse.restore()?
    {
        return Ok(ExitCode::SUCCESS);
    }
    count_it()?;
    let mut command = match &plan.bisect_rustc {
        // It may not be what the user's wrapper is made for.
        Some(driver) => starts(&driver.clone().into_os_string()),
        None => by_inner(),
    };
    command.args(words).args(&plan.flags);
    if plan.unstable {
        // For this crate only, and it changes nothing else in it.
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    if let Some((unfinished, _)) = &reports {
        create(unfinished)?;
        command.env("BISECT_REPORT", unfinished);
    }
    if !plan.left_out.is_empty() {
        let file = unit.directory.join(format!("{}.left-out", unit.stem));
        command.args(passes::leave_out(&plan.left_out, &file)?);
        // See `count`.
        command.env("CARGO_BISECT_OPT_LEFT_OUT", plan.left_out.join(","));
    }
    let status = match &plan.counter {
        Some(counter) => count(&mut command, counter, &unit, told.as_deref().map(file).as_deref())?,
        None => command.status()?,
    };
    if status.success() {
        track(&unit.dep_info(), &variable, value.as_deref())?;
        if let Some((unfinished, finished)) = &reports {
            create_parent(finished)?;
            fs_err::rename(unfinished, finished)?;
        }
        reuse.iter().try_for_each(CachedUnit::keep)?;
    }
    Ok(exit_code(status))
}

fn create(path: &Path) -> io::Result<fs_err::File> {
    create_parent(path)?;
    fs_err::File::create(path)
}

/// Runs rustc with a limit for one of its counters, and keeps what it says about that from the eyes of the user.
fn count(command: &mut Command, counter: &Counter, unit: &Unit, told: Option<&Path>) -> io::Result<ExitStatus> {
    let limit = if counter.lists { None } else { Some(counter.limits.get(&unit.name).copied().unwrap_or(0)) };
    let file = unit.directory.join(format!("{}.limit", unit.stem));
    command.args(passes::flags(counter.of, limit, Some(&file))?);
    // A cache of the user's (sccache) does not look into the file, but at all variables that begin so.
    command.env("CARGO_BISECT_OPT_LIMIT", limit.map_or(String::new(), |limit| limit.to_string()));
    if counter.of == plan::CounterKind::Mir {
        // See `Plan::unstable`.
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let mut list = match told.filter(|_| counter.lists) {
        Some(told) => Some(BufWriter::new(create(told)?)),
        None => None,
    };
    let mut lines = BufReader::new(child.stderr.take().expect("it was piped"));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        if line.starts_with(passes::PREFIX) {
            list.iter_mut().try_for_each(|list| list.write_all(&line))?;
        } else {
            io::stderr().write_all(&line)?;
        }
        line.clear();
        if lines.buffer().is_empty() {
            // If what comes next never comes, and this process is ended, the list is there.
            list.iter_mut().try_for_each(Write::flush)?;
        }
    }
    list.iter_mut().try_for_each(Write::flush)?;
    child.wait()
}

/// Adds to what rustc says the crate depends on that it depends on this variable.
fn track(dep_info: &Path, variable: &str, value: Option<&str>) -> io::Result<()> {
    if !dep_info.is_file() {
        return Ok(());
    }
    let value = value.map(|value| {
        // As rustc writes them.
        format!("={}", value.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r"))
    });
    let mut file = fs_err::OpenOptions::new().append(true).open(dep_info)?;
    file.write_all(format!("\n# env-dep:{variable}{}\n", value.unwrap_or_default()).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_added_behind_rustcs() {
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
