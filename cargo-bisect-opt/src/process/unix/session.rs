//! A session for each process, without a terminal.
//!
//! So a process that asks for a password, or sets a mode of the terminal, gets an error and is not stopped as a
//! background job.
//!
//! To make a session, the standard library has to fork, and the C library then runs a file that the kernel refuses as a
//! shell script. An executable for another system must not be run as a script. So programs that the kernel might refuse
//! get only a process group. If such a program is stopped, the driver notices.

use std::{
    env,
    ffi::OsStr,
    fs::File,
    io::{self, Read},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use rustix::process::setsid;

use crate::process::find_in_path;

use crate::process::own_executable::own_executable;

/// The beginning of a program, which shows which kernels execute it.
type Header = [u8; 20];

/// Makes the process lead its own session, or at least its own process group.
pub(super) fn prepare(command: &mut Command) {
    if !find(command).and_then(|program| header(&program)).is_some_and(|header| is_executed(&header)) {
        command.process_group(0);
        return;
    }
    // SAFETY: `setsid` is a single system call, which allocates nothing and takes no lock.
    unsafe { command.pre_exec(|| setsid().map(drop).map_err(io::Error::from)) };
}

/// Returns the file of the program that a command starts.
fn find(command: &Command) -> Option<PathBuf> {
    let program = Path::new(command.get_program());
    let directory = command.get_current_dir().unwrap_or(Path::new(""));
    if program.components().count() > 1 || program.is_absolute() {
        return Some(directory.join(program));
    }
    let own = command.get_envs().find(|(name, _)| *name == "PATH");
    let path = own.map_or_else(|| env::var_os("PATH"), |(_, value)| value.map(OsStr::to_owned))?;
    find_in_path(&path, directory, program)
}

fn header(program: &Path) -> Option<Header> {
    let mut header = Header::default();
    let mut file = File::open(program).ok()?;
    let mut filled = 0;
    while filled < header.len() {
        match file.read(&mut header[filled..]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    Some(header)
}

/// Returns whether the kernel executes files with this header: scripts that name an interpreter, and programs for the
/// platform of this executable.
fn is_executed(header: &Header) -> bool {
    static OURS: OnceLock<Option<Header>> = OnceLock::new();
    let ours = OURS.get_or_init(|| self::header(&own_executable().ok()?));
    header.starts_with(b"#!") || ours.is_some_and(|ours| is_like(header, &ours))
}

fn is_like(header: &Header, ours: &Header) -> bool {
    if header.starts_with(b"\x7fELF") {
        // The class and byte order, and the machine.
        return header[..6] == ours[..6] && header[18..] == ours[18..];
    }
    // Mach-O: the kind of file, and the processor.
    header[..8] == ours[..8]
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_header_shows_whether_the_kernel_executes_a_file() {
        let of = |command: &Command| find(command).and_then(|program| header(&program));
        assert!(of(&Command::new("sh")).is_some_and(|header| is_executed(&header)));
        assert!(of(&Command::new(env::current_exe().unwrap())).is_some_and(|header| is_executed(&header)));
        assert_eq!(of(&Command::new("no-such-program-in-path")), None);
        assert_eq!(of(Command::new("sh").env("PATH", "/no-such-directory")), None);

        let dir = tempfile::tempdir().unwrap();
        let ours = header(&env::current_exe().unwrap()).unwrap();
        let mut foreign = ours;
        foreign[18] ^= 1;
        for (text, expected) in
            [(&b"#!/bin/sh\n"[..], true), (b"echo\n", false), (b"", false), (&ours, true), (&foreign, false)]
        {
            std::fs::write(dir.path().join("program"), text).unwrap();
            let header = of(Command::new("./program").current_dir(&dir)).unwrap();
            assert_eq!(is_executed(&header), expected, "{text:?}");
        }
    }

    #[test]
    fn a_process_leads_its_session() {
        let mut command = Command::new("sh");
        command.args(["-c", "exec cut -d' ' -f1,5,6 /proc/self/stat"]);
        if !Path::new("/proc/self/stat").exists() {
            return;
        }
        prepare(&mut command);
        // Other tests reap what they take for orphans, but not under this lock.
        let _leaders = super::super::leaders::lock();
        let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let ids: Vec<_> = output.split_whitespace().collect();
        assert!(ids.len() == 3 && ids.iter().all(|id| *id == ids[0]), "{output}");
    }
}
