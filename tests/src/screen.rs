//! A process on a pseudo-terminal, and the screen that it draws.

use std::{
    fs::File,
    io::{Read, Write},
    num::NonZero,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

use rustix::{
    fs::OFlags,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};
use vt100::Parser;

use crate::harness::wait_until;

/// A process whose standard streams are a terminal.
#[derive(Debug)]
pub struct OnScreen {
    child: Child,
    keyboard: File,
    shown: Arc<Mutex<Shown>>,
    reader: Option<JoinHandle<()>>,
}

/// The screen of a terminal.
struct Shown {
    parser: Parser,
    /// All that was written.
    bytes: Vec<u8>,
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shown").field("contents", &self.parser.screen().contents()).finish_non_exhaustive()
    }
}

impl OnScreen {
    /// Starts a command as the leader of a session on a new terminal, so that keys interrupt it.
    ///
    /// # Panics
    /// If there is no terminal, or the command cannot be started.
    #[must_use]
    pub fn start(command: &Command, rows: u16, columns: u16) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&terminal).and_then(|()| unlockpt(&terminal)).expect("the terminal can be opened");
        tcsetwinsize(&terminal, size(rows, columns)).expect("a terminal has a size");
        let name = ptsname(&terminal, Vec::new()).expect("the terminal has a name");
        let stream = || -> Stdio {
            let name = Path::new(name.to_str().expect("it is ASCII"));
            rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, rustix::fs::Mode::empty())
                .expect("the terminal can be opened")
                .into()
        };
        // It makes its standard input the terminal of a new session.
        let mut session = Command::new("setsid");
        session.arg("--ctty").arg(command.get_program()).args(command.get_args());
        session.current_dir(command.get_current_dir().unwrap_or(Path::new(".")));
        session.env("TERM", "xterm-256color").env_remove("CI");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => session.env(name, value),
                None => session.env_remove(name),
            };
        }
        let child = session.stdin(stream()).stdout(stream()).stderr(stream()).spawn().expect("setsid can be started");
        // The command has the only other handles of the terminal, which ends with it.
        drop(session);
        let keyboard = File::from(terminal);
        let shown =
            Arc::new(Mutex::new(Shown { parser: Parser::new(cells(rows), cells(columns), 1000), bytes: Vec::new() }));
        let (mut output, drawn) = (keyboard.try_clone().expect("a handle can be cloned"), shown.clone());
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            // At the end of the last process on it, a terminal is unreadable on Linux.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                let mut shown = drawn.lock().unwrap_or_else(PoisonError::into_inner);
                shown.parser.process(&bytes[..count]);
                shown.bytes.extend_from_slice(&bytes[..count]);
            }
        });
        Self { child, keyboard, shown, reader: Some(reader) }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the text on the screen.
    #[must_use]
    pub fn text(&self) -> String {
        self.shown().parser.screen().contents()
    }

    /// Returns all that was written to the terminal.
    #[must_use]
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.shown().bytes).into_owned()
    }

    /// Returns true if the cursor is visible, at the beginning of a line.
    #[must_use]
    pub fn has_free_cursor(&self) -> bool {
        let shown = self.shown();
        let screen = shown.parser.screen();
        !screen.hide_cursor() && screen.cursor_position().1 == 0
    }

    /// Waits until the text on the screen satisfies a condition, and returns it.
    ///
    /// # Panics
    /// If it does not for a long time.
    #[track_caller]
    pub fn wait_for(&self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let mut text = String::new();
        wait_until(what, || {
            text = self.text();
            is_there(&text)
        });
        text
    }

    /// Presses keys.
    ///
    /// # Panics
    /// If the terminal is gone.
    pub fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Sends a signal (`TSTP`) to the process.
    ///
    /// # Panics
    /// If the signal cannot be sent.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status();
        assert!(status.expect("kill can be started").success());
    }

    /// Changes the size of the terminal.
    ///
    /// # Panics
    /// If the terminal is gone.
    pub fn resize(&self, rows: u16, columns: u16) {
        let mut shown = self.shown();
        shown.parser.screen_mut().set_size(cells(rows), cells(columns));
        tcsetwinsize(&self.keyboard, size(rows, columns)).expect("a terminal has a size");
    }

    /// Waits for the end of the process and of its output.
    ///
    /// # Panics
    /// If it cannot be waited for.
    pub fn finish(&mut self) -> ExitStatus {
        let status = self.child.wait().expect("our child can be waited for");
        self.reader.take().map(JoinHandle::join).expect("it is called once").expect("the reader does not panic");
        status
    }
}

fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).expect("a terminal has a size")
}

fn size(rows: u16, columns: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}
