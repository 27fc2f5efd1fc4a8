//! A process that outlives the driver for a moment: should that be killed, the runs that it leaves are ended.
//!
//! The guard is our own executable once more. It reads from a pipe which runs begin and end; when the pipe is closed, the
//! driver has ended, and runs that have not ended yet are orphans. Daemons of runs that have ended are left alone.

use std::{
    collections::BTreeMap,
    env,
    io::{self, BufRead, Write},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    sync::{Mutex, OnceLock, PoisonError},
};

use rustix::{
    io::ioctl_fionbio,
    process::{Pid, Signal},
};

use super::{family, leaders};

/// Makes this executable a guard.
const VARIABLE: &str = "BISECT_OPT_GUARD";

static GUARD: OnceLock<Option<Mutex<Child>>> = OnceLock::new();

/// Starts a guard for this process. Where that is impossible there is none.
pub(crate) fn start() {
    GUARD.get_or_init(|| spawn().ok().map(Mutex::new));
}

fn spawn() -> io::Result<Child> {
    let mut command = Command::new(env::current_exe()?);
    // What ends the driver's group, or its terminal, does not end the guard; and it keeps no directory busy.
    command.env_clear().env(VARIABLE, "1").current_dir("/").process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = leaders::spawn(&mut command)?;
    if let Some(pipe) = &child.stdin {
        // A guard that does not listen must not hold up anything.
        ioctl_fionbio(pipe, true)?;
    }
    Ok(child)
}

/// Whether this process is the guard of ours.
pub(super) fn is_it(process: Pid) -> bool {
    let guard = GUARD.get().and_then(Option::as_ref);
    guard.is_some_and(|guard| Pid::from_child(&guard.lock().unwrap_or_else(PoisonError::into_inner)) == process)
}

/// A run that is guarded.
#[derive(Debug)]
pub(super) struct Guarded(String);

impl Guarded {
    /// From now on, those who carry `mark`, which no other run has, are ended if we are killed.
    pub(super) fn new(mark: &str) -> Self {
        // Before the first of them is there.
        tell(&format!("+{mark}\n"));
        Self(mark.to_owned())
    }

    /// And so is the group of this process.
    pub(super) fn leads(&self, leader: Pid) {
        tell(&format!("{} {}\n", leaders::raw(leader), self.0));
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        tell(&format!("-{}\n", self.0));
    }
}

fn tell(line: &str) {
    let Some(guard) = GUARD.get().and_then(Option::as_ref) else { return };
    let mut guard = guard.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pipe) = &mut guard.stdin {
        // Without a guard it is as it is on systems where none can be started.
        let _ = pipe.write_all(line.as_bytes());
    }
}

/// Whether this process is a guard; then it has done its work.
pub(crate) fn main() -> bool {
    if env::var_os(VARIABLE).is_none() {
        return false;
    }
    let mut families: Vec<_> = read(io::stdin().lock()).into_iter().collect();
    let mut signal = Signal::TERM;
    let mut deadline = std::time::Instant::now() + super::GRACE;
    while !families.is_empty() {
        families.retain(|(mark, leader)| family::end_orphans(*leader, mark, signal));
        if deadline <= std::time::Instant::now() {
            if signal == Signal::KILL {
                // Someone hangs in the kernel, or is not ours to kill.
                break;
            }
            signal = Signal::KILL;
            deadline += super::KILLED;
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    true
}

/// How often to see who is gone.
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_millis(20);

/// The runs that have begun and not ended when the pipe is closed, by their marks, with their leaders.
fn read(pipe: impl BufRead) -> BTreeMap<String, Option<Pid>> {
    let mut runs = BTreeMap::new();
    for line in pipe.lines().map_while(Result::ok) {
        if let Some(mark) = line.strip_prefix('+') {
            runs.insert(mark.to_owned(), None);
        } else if let Some(mark) = line.strip_prefix('-') {
            runs.remove(mark);
        } else if let Some((leader, mark)) = line.split_once(' ')
            && let Some(run) = runs.get_mut(mark)
        {
            *run = leader.parse().ok().and_then(Pid::from_raw);
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_ended_is_left() {
        let text = b"+X=0\n12 X=0\n+X=1\n13 X=1\n-X=0\n+X=2\n99 X=9\n-X=8\nnoise\n+X=3\nx X=3\n";
        let expected = [("X=1", Pid::from_raw(13)), ("X=2", None), ("X=3", None)];
        assert_eq!(read(&text[..]), expected.map(|(mark, leader)| (mark.to_owned(), leader)).into());
    }
}
