//! Processes on Unix: each leads a process group and, if possible, its own session.
//!
//! So no terminal can stop a process. One thread waits for the output, the exit, the interrupt and the deadline at
//! once.
//!
//! The system may reuse the ID of a process once it is reaped. So the leader of the group is reaped last: until then
//! its ID, which is also that of the group, is not reused, and the group can be signalled safely. Processes that have
//! left the group are signalled through descriptors, which always name the same process (see [`family`]).

#[cfg(target_os = "linux")]
#[path = "unix/linux.rs"]
mod family;
#[cfg(not(target_os = "linux"))]
#[path = "unix/posix.rs"]
mod family;
pub(crate) mod guard;
mod leaders;
pub(crate) mod pipes;
mod session;

use std::{
    collections::BTreeSet,
    io::{self, PipeReader, Read, Write},
    os::fd::{AsFd, OwnedFd},
    process::{Child, Command},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, ioctl_fionbio, ioctl_fionread},
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};

use super::{Capture, Ending, GRACE_PERIOD, KILL_TIMEOUT, interrupt::Interrupt};
use family::{Family, Member, POLL_INTERVAL, Scope};
use guard::Guarded;

/// The size of one read: the capacity of a pipe.
const READ_SIZE: usize = 64 << 10;
/// The interval of checks whether a process was stopped: no event announces that.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// The delay of a wait on a busy machine. A longer one means that this process was stopped itself.
const MAX_WAIT_DELAY: Duration = Duration::from_secs(1);
/// The time that a process may be stopped: an attaching debugger stops it, too.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// A process that was started, with its descendants.
#[derive(Debug)]
pub(super) struct ProcessTree {
    child: Child,
    family: Family,
    /// True if its descendants in sessions of their own end with it, too.
    ends_daemons: bool,
    _guarded: Guarded,
}

impl ProcessTree {
    pub(super) fn spawn(mut command: Command, ends_daemons: bool) -> io::Result<Self> {
        session::prepare(&mut command);
        let mark = family::prepare(&mut command);
        let guarded = Guarded::new(mark.text());
        let child = leaders::spawn(&mut command)?;
        let leader = Pid::from_child(&child);
        guarded.leads(leader);
        Ok(Self { child, family: Family::new(leader, mark), ends_daemons, _guarded: guarded })
    }

    /// Waits until the process has ended or must end. Ends all its descendants.
    pub(super) fn follow(
        self,
        reader: PipeReader,
        started: Instant,
        timeout: Option<Duration>,
        interrupt: &Interrupt,
        capture: &mut Capture<'_>,
    ) -> io::Result<(Ending, Duration)> {
        let leader = self.family.leader();
        let followed = Follower::new(&self.family, reader, interrupt, capture).and_then(|mut follower| {
            // A timeout that overflows is none.
            let deadline = timeout.and_then(|timeout| started.checked_add(timeout));
            let ending = follower.until_it_ends(deadline)?;
            let duration = started.elapsed();
            let is_group = ending.is_none() && !self.ends_daemons;
            follower.end(if is_group { Scope::Group } else { Scope::Descendants })?;
            follower.take_rest()?;
            Ok((ending, duration))
        });
        if !matches!(followed, Ok((None, _))) {
            // Processes that could not be seen or waited for.
            let _ = kill_process_group(leader, Signal::KILL);
        }
        let status = leaders::reap(self.child);
        family::reap_orphans();
        let (ending, duration) = followed?;
        Ok((ending.map_or_else(|| status.map(Ending::Exited), Ok)?, duration))
    }
}

/// Sends a signal to the groups of all processes that are not yet reaped.
pub(super) fn signal_all(signal: Signal) {
    signal_each(&leaders::lock(), signal);
}

/// Kills the groups of all processes that are not yet reaped. Does nothing while another thread starts or reaps one.
pub(super) fn kill_all() {
    if let Some(leaders) = leaders::try_lock() {
        signal_each(&leaders, Signal::KILL);
    }
}

fn signal_each(leaders: &BTreeSet<i32>, signal: Signal) {
    for &leader in leaders {
        // The guard must be able to act at any time.
        if let Some(group) = Pid::from_raw(leader).filter(|&group| !guard::is_guard(group)) {
            // An empty group is no error.
            let _ = kill_process_group(group, signal);
        }
    }
}

/// The state of waiting for one process.
struct Follower<'a, 'b> {
    family: &'a Family,
    interrupt: &'a Interrupt,
    capture: &'a mut Capture<'b>,
    /// A descriptor that is readable once the leader has exited.
    exit: OwnedFd,
    exited: bool,
    /// The time since which it is known to be stopped.
    stopped: Option<Instant>,
    /// The time for which this process, and the child with it, was stopped.
    paused: Duration,
    /// The output, until all writers have closed it.
    output: Option<PipeReader>,
    /// A pipe that gets a byte at each request to stop.
    wake: PipeReader,
    _registration: crate::process::interrupt::Registration<'a>,
    buffer: Box<[u8]>,
}

impl<'a, 'b> Follower<'a, 'b> {
    fn new(
        family: &'a Family,
        output: PipeReader,
        interrupt: &'a Interrupt,
        capture: &'a mut Capture<'b>,
    ) -> io::Result<Self> {
        let exit = family::watch_exit(family.leader()).or_else(|_| watch_exit_by_thread(family.leader()))?;
        let (wake, waker) = io::pipe()?;
        // A byte wakes the waiting thread. If the pipe is full, it has bytes to wake it.
        ioctl_fionbio(&waker, true)?;
        ioctl_fionbio(&wake, true)?;
        ioctl_fionbio(&output, true)?;
        let registration = interrupt.on_request(move || drop((&waker).write(&[0])));
        Ok(Self {
            family,
            interrupt,
            capture,
            exit,
            exited: false,
            stopped: None,
            paused: Duration::ZERO,
            output: Some(output),
            wake,
            _registration: registration,
            buffer: vec![0; READ_SIZE].into_boxed_slice(),
        })
    }

    /// Waits for the leader. Returns `None` if it has exited, else the reason to end it.
    fn until_it_ends(&mut self, deadline: Option<Instant>) -> io::Result<Option<Ending>> {
        let mut stop_check = Instant::now() + STOP_CHECK_INTERVAL;
        loop {
            if self.exited {
                return Ok(None);
            }
            if self.interrupt.requested() {
                return Ok(Some(Ending::Interrupted));
            }
            let deadline = deadline.and_then(|deadline| deadline.checked_add(self.paused));
            let now = Instant::now();
            let is_late = deadline.is_some_and(|deadline| deadline <= now);
            // `stop_signal` is a system call, so it is not made for each line of output.
            if is_late || stop_check <= now {
                stop_check = now + STOP_CHECK_INTERVAL;
                if let Some(signal) = self.stop_signal()
                    && (is_late || self.stopped.get_or_insert(now).elapsed() >= STOP_TIMEOUT)
                {
                    return Ok(Some(Ending::Stopped(signal)));
                }
            }
            if is_late {
                return Ok(Some(Ending::TimedOut));
            }
            let until = deadline.map_or(stop_check, |deadline| deadline.min(stop_check));
            self.wait(Some(until), &mut [])?;
            // Runs must not time out while the user has stopped this process by Ctrl-Z.
            self.paused += Some(until.elapsed()).filter(|&late| late > MAX_WAIT_DELAY).unwrap_or_default();
        }
    }

    /// Returns the signal that has stopped the process, if it is stopped now.
    fn stop_signal(&mut self) -> Option<i32> {
        let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.family.leader()), options).ok().flatten();
        let signal = status.and_then(|status| status.stopping_signal());
        if signal.is_none() {
            self.stopped = None;
        }
        signal
    }

    /// Ends the remaining processes by SIGTERM, and kills those that remain after the grace period.
    fn end(&mut self, scope: Scope) -> io::Result<()> {
        let mut signal = Signal::TERM;
        let mut deadline = Instant::now() + GRACE_PERIOD;
        loop {
            // Each round finds the processes that were started during the last one.
            let mut members = self.family.members(scope);
            if self.exited && members.is_empty() {
                return Ok(());
            }
            if signal == Signal::TERM && (self.interrupt.is_urgent() || deadline <= Instant::now()) {
                signal = Signal::KILL;
                deadline = Instant::now() + KILL_TIMEOUT;
            }
            // The leader is not reaped, so the ID is still that of its group. An empty group is no error.
            let _ = kill_process_group(self.family.leader(), signal);
            for member in &members {
                member.signal(signal);
            }
            // A stopped process gets the signal only once it continues.
            let _ = kill_process_group(self.family.leader(), Signal::CONT);
            while !(self.exited && members.iter().all(Member::is_gone)) {
                let is_urgent = signal == Signal::TERM && self.interrupt.is_urgent();
                if is_urgent || deadline <= Instant::now() {
                    break;
                }
                self.wait(Some(deadline), &mut members)?;
            }
            members.iter().for_each(Member::reap);
            if signal == Signal::KILL && deadline <= Instant::now() {
                // A process hangs in the kernel, or may not be killed.
                return Ok(());
            }
        }
    }

    /// Reads the remaining bytes in the pipe, and no more: any remaining writer does not belong to the run.
    fn take_rest(&mut self) -> io::Result<()> {
        let Some(output) = &self.output else { return Ok(()) };
        let mut left = usize::try_from(ioctl_fionread(output)?).unwrap_or(usize::MAX);
        while left > 0 {
            let taken = self.read(left)?;
            if taken == 0 {
                break;
            }
            left -= taken;
        }
        Ok(())
    }

    /// Waits for the next events, at most until `deadline`, and records them.
    fn wait(&mut self, deadline: Option<Instant>, members: &mut [Member]) -> io::Result<()> {
        let timeout = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let timeout = timeout.into_iter().chain(POLL_INTERVAL.filter(|_| !members.is_empty())).min();
        // A timeout that overflows is none.
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());

        // A source that stays ready is polled only until that is recorded; else this loop would spin.
        let exit = (!self.exited).then(|| self.exit.as_fd());
        let output = self.output.as_ref().map(PipeReader::as_fd);
        let sources = [Some(self.wake.as_fd()), exit, output].into_iter().chain(members.iter().map(Member::fd));
        let mut fds: Vec<_> = sources.flatten().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty()).collect::<Vec<_>>().into_iter();
        let mut is_ready = || ready.next().unwrap_or(false);

        if is_ready() {
            let _ = self.wake.read(&mut self.buffer);
        }
        let has_output = output.is_some();
        self.exited = exit.is_none() || is_ready();
        let has_output = has_output && is_ready();
        members.iter_mut().filter(|member| member.fd().is_some()).for_each(|member| member.set_gone(is_ready()));
        if has_output {
            self.read(READ_SIZE)?;
        }
        Ok(())
    }

    /// Reads at most `max` bytes of the output. Returns their number; 0 if there are none now.
    fn read(&mut self, max: usize) -> io::Result<usize> {
        let Some(output) = &mut self.output else { return Ok(0) };
        let max = max.min(self.buffer.len());
        match output.read(&mut self.buffer[..max]) {
            Ok(0) => self.output = None,
            Ok(len) => {
                self.capture.push(&self.buffer[..len]);
                return Ok(len);
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        Ok(0)
    }
}

/// Returns a pipe that is closed when the leader has exited, for systems without process descriptors. Does not reap it.
fn watch_exit_by_thread(leader: Pid) -> io::Result<OwnedFd> {
    let (reader, writer) = io::pipe()?;
    thread::Builder::new().name("exit".into()).spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while waitid(WaitId::Pid(leader), options).is_err_and(|error| error == Errno::INTR) {}
        drop(writer);
    })?;
    Ok(reader.into())
}

#[cfg(test)]
mod tests {
    use std::{io::PipeWriter, process::Stdio};

    use super::*;

    #[test]
    fn a_thread_can_watch_where_descriptors_cannot() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut child = leaders::spawn(Command::new("cat").stdin(reader).stdout(writer.try_clone().unwrap())).unwrap();
        let mut exit = PipeReader::from(watch_exit_by_thread(Pid::from_child(&child)).unwrap());
        writer.write_all(b"x").unwrap();
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        assert_eq!(exit.read(&mut [0]).unwrap(), 0);
        assert!(!leaders::reap(child).unwrap().success());
    }

    /// Follows a process whose output is not captured.
    fn follow(mut command: Command, test: impl FnOnce(&mut Follower<'_, '_>, &Interrupt, &mut PipeWriter)) -> Vec<u8> {
        let (interrupt, log) = (Interrupt::default(), tempfile::NamedTempFile::new().unwrap());
        let mut capture = Capture::new(log.path(), false, READ_SIZE, None);
        let (reader, mut writer) = io::pipe().unwrap();
        command.stdin(Stdio::null());
        let tree = ProcessTree::spawn(command, false).unwrap();
        let mut follower = Follower::new(&tree.family, reader, &interrupt, &mut capture).unwrap();
        test(&mut follower, &interrupt, &mut writer);
        drop(follower);
        leaders::reap(tree.child).unwrap();
        capture.finish().unwrap().0
    }

    #[test]
    fn the_rest_is_what_is_in_the_pipe_now() {
        let output = follow(Command::new("true"), |follower, _, writer| {
            assert_eq!(follower.until_it_ends(None).unwrap(), None);
            // Another writer exists, so the pipe is not at its end.
            writer.write_all(b"what is left").unwrap();
            follower.take_rest().unwrap();
        });
        assert_eq!(output, b"what is left");
    }

    #[test]
    fn a_second_request_kills_at_once() {
        let (mut reader, writer) = io::pipe().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "trap 'echo asked; exit' TERM; echo .; while :; do :; done"]).stdout(writer);
        follow(command, |follower, interrupt, _| {
            reader.read_exact(&mut [0; 2]).unwrap();
            interrupt.raise();
            interrupt.raise();
            follower.end(Scope::Descendants).unwrap();
        });
        let mut rest = String::new();
        reader.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
    }
}
