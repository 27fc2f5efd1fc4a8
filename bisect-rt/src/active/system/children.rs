//! The processes that a supervisor has to wait for, and its own end.

use std::{
    cell::{Cell, RefCell},
    ffi::c_int,
    fmt, io,
    mem::MaybeUninit,
    ptr,
};

use super::{exit, pipe::Reader};

/// The way in which a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Status(i32),
    Signal(i32),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "exit status {status}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
        }
    }
}

/// The children of this process. It adopts orphans among its descendants, so there may be any number.
#[derive(Debug)]
pub(crate) struct Children {
    /// The descriptor of a file that can be read when a child has ended, or when this process was sent SIGTERM.
    signals: c_int,
    /// True once this process was sent SIGTERM.
    got_sigterm: Cell<bool>,
    /// The children that have ended, and whose end was not returned yet.
    ended: RefCell<Vec<(i32, Ended)>>,
}

/// Makes this process the parent of its descendants whose parents end.
pub(crate) fn adopt_orphans() -> io::Result<()> {
    // SAFETY: it has no preconditions.
    let result = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

impl Children {
    /// Begins to wait for children. A write to a pipe without a reader is an error from now on, and no signal.
    pub(crate) fn new() -> io::Result<Self> {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the set is initialized before it is used.
        let signals = unsafe {
            libc::signal(libc::SIGPIPE, libc::SIG_IGN);
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
            libc::sigaddset(set.as_mut_ptr(), libc::SIGTERM);
            libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), ptr::null_mut());
            // The parent may have passed on that children are ignored.
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
        };
        if signals < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { signals, got_sigterm: Cell::new(false), ended: RefCell::default() })
    }

    /// Waits until there is a message, a child has ended, or this process was sent SIGTERM.
    pub(crate) fn wait_for_event(&self, messages: &Reader) {
        // This finds a child that ended before the signal was blocked.
        if self.reap() {
            return;
        }
        messages.wait_for_message_or(self.signals);
        self.drain();
        self.reap();
    }

    /// Returns true once this process was sent SIGTERM. The signal is blocked and read here, so it does not end the
    /// process.
    pub(crate) fn got_sigterm(&self) -> bool {
        self.drain();
        self.got_sigterm.get()
    }

    /// Returns the way in which a child has ended, once it has.
    pub(crate) fn ended(&self, child: i32) -> Option<Ended> {
        self.reap();
        let mut all = self.ended.borrow_mut();
        let at = all.iter().position(|&(other, _)| other == child)?;
        Some(all.swap_remove(at).1)
    }

    /// Kills a child, and waits for its end.
    pub(crate) fn kill(&self, child: i32) {
        if self.ended(child).is_some() {
            return;
        }
        // SAFETY: the child was not waited for, so the number is still its own.
        unsafe { libc::kill(child, libc::SIGKILL) };
        self.await_end(child);
    }

    /// Waits for the end of a child.
    pub(crate) fn await_end(&self, child: i32) {
        if self.ended(child).is_some() {
            return;
        }
        let mut status = 0;
        // SAFETY: the status is written to.
        while unsafe { libc::waitpid(child, &raw mut status, 0) } < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }

    /// Waits for the children that have ended. Returns true if there were any.
    fn reap(&self) -> bool {
        let before = self.ended.borrow().len();
        let mut status = 0;
        loop {
            // SAFETY: the status is written to.
            let child = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
            if child <= 0 {
                return self.ended.borrow().len() > before;
            }
            let ended = if libc::WIFSIGNALED(status) {
                Ended::Signal(libc::WTERMSIG(status))
            } else {
                Ended::Status(libc::WEXITSTATUS(status))
            };
            self.ended.borrow_mut().push((child, ended));
        }
    }

    /// Takes the pending signals.
    fn drain(&self) {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::uninit();
        // SAFETY: the size is that of the buffer; the file does not block.
        while unsafe { libc::read(self.signals, info.as_mut_ptr().cast(), size_of_val(&info)) } > 0 {
            // SAFETY: the kernel writes whole entries.
            let signal = unsafe { info.assume_init_ref() }.ssi_signo;
            if signal == libc::SIGTERM.cast_unsigned() {
                self.got_sigterm.set(true);
            }
        }
    }
}

/// Ends this process as another one has ended.
pub(crate) fn end_like(ended: Ended) -> ! {
    let signal = match ended {
        Ended::Status(status) => exit::at_once(status),
        Ended::Signal(signal) => signal,
    };
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    let mut set = MaybeUninit::uninit();
    // SAFETY: the set is initialized before it is used. The other process has left a memory dump, if one is wanted.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
        libc::sigfillset(set.as_mut_ptr());
        libc::sigprocmask(libc::SIG_UNBLOCK, set.as_ptr(), ptr::null_mut());
    }
    exit::at_once(128 + signal)
}
