//! A compiler that does not compile the same twice. The tests put a copy in front of `PATH` as `rustc`, and have another one
//! with the name `bisect-rustc`: each stands for the real compiler of its name. Beside a copy, `toolchain` links to the
//! directory of the real compiler, `store` has the outputs of all compilers, and the file `compiler` identifies the real one.

mod compilation;
mod random_names;

use std::{
    env,
    ffi::OsString,
    io::{self, Write as _},
    path::Path,
    process::{Command, ExitCode, ExitStatus},
};

use compilation::Compilation;

fn main() -> io::Result<ExitCode> {
    let exe = env::current_exe()?;
    let dir = exe.parent().unwrap_or(Path::new("/"));
    let name = exe.file_name().unwrap_or_default();
    let rustc = dir.join("toolchain").join(name).canonicalize()?;
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let variables: Vec<_> = env::vars_os().collect();
    let Some(compilation) = Compilation::find(dir, &rustc, &arguments, &variables) else {
        return become_rustc(&rustc, &arguments);
    };
    if pass_on_restored(&compilation)? {
        return Ok(ExitCode::SUCCESS);
    }
    // Tests that run at the same time often need the same crates.
    let _alone = compilation.lock()?;
    if pass_on_restored(&compilation)? {
        return Ok(ExitCode::SUCCESS);
    }
    let (status, printed) = compilation.run(&rustc, &arguments)?;
    if status.success() {
        compilation.store(&printed)?;
    }
    end_like(status)
}

/// Restores a stored result, prints what the compiler has printed and appends its reports. Returns true if there was one.
fn pass_on_restored(compilation: &Compilation) -> io::Result<bool> {
    let Some(printed) = compilation.restore()? else { return Ok(false) };
    io::stderr().write_all(&printed.stderr)?;
    io::stdout().write_all(&printed.stdout)?;
    compilation.report(&printed.reports)?;
    Ok(true)
}

/// Replaces this process by rustc.
#[cfg(unix)]
fn become_rustc(rustc: &Path, arguments: &[OsString]) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    Err(Command::new(rustc).args(arguments).exec())
}

#[cfg(not(unix))]
fn become_rustc(rustc: &Path, arguments: &[OsString]) -> io::Result<ExitCode> {
    end_like(Command::new(rustc).args(arguments).status()?)
}

/// Ends as another process did: by the same signal, if it was one.
fn end_like(status: ExitStatus) -> io::Result<ExitCode> {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        use rustix::process::{Signal, getpid, kill_process};
        if let Some(signal) = Signal::from_named_raw(signal) {
            // Rust handles the first SIGSEGV: it looks for a stack overflow, and then leaves the signal to the system.
            for _ in 0..2 {
                kill_process(getpid(), signal)?;
            }
        }
    }
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
