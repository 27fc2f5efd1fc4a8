//! `--debugger`: a debugger that starts the target, and stops where the runtime raises `SIGTRAP`.

use std::path::Path;

/// The command for gdb after the program has stopped: it selects the frame that called the runtime.
const IN_GDB: &str = r#"python exec("""
def select():
    frame, user = gdb.newest_frame(), None
    for _ in range(100):
        if frame is None: break
        caller = frame.older()
        if 'bisect_rt::' in (frame.name() or ''): user = caller
        frame = caller
    if user:
        user.select()
        gdb.execute('frame')
try: select()
except gdb.error: print('The program ended before it reached the decision.')
""")"#;

/// The same for lldb, which takes a command of one line only.
const IN_LLDB: &str = concat!(
    r"script exec('",
    r"thread = lldb.debugger.GetSelectedTarget().process.GetSelectedThread()\n",
    r"ours = [frame.idx for frame in thread.frames[:100] if \'bisect_rt::\' in (frame.GetFunctionName() or \'\')]\n",
    r"ended = \'The program ended before it reached the decision.\'\n",
    r"lldb.debugger.HandleCommand(\'frame select %d\' % (ours[-1] + 1)) if ours else print(ended)\n",
    r"')",
);

/// A debugger, with the user's options for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Debugger {
    words: Vec<String>,
}

/// A reason why the value of `--debugger` is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DebuggerError {
    /// The text is no list of words.
    #[error("write a command, for example `--debugger gdb` or `--debugger 'gdb -batch -ex backtrace'`")]
    Words,
    /// A debugger that we cannot control.
    #[error("`{0}` is not known, so it cannot be stopped at the decision: use gdb, rust-gdb, lldb or rust-lldb")]
    Unknown(String),
}

impl Debugger {
    /// Splits a text into words as a shell does.
    ///
    /// # Errors
    /// If the text is no command, or the command is not known.
    pub(crate) fn parse(text: &str) -> Result<Self, DebuggerError> {
        let mut words = shlex::split(text).unwrap_or_default().into_iter();
        let program = words.next().ok_or(DebuggerError::Words)?;
        let name = Path::new(&program).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (ours, end): (&[&str], _) = match name.trim_start_matches("rust-") {
            "gdb" => (&["-q", "-ex", "run", "-ex", IN_GDB], "--args"),
            "lldb" => (&["-o", "run", "-o", IN_LLDB], "--"),
            _ => return Err(DebuggerError::Unknown(program)),
        };
        let ours = ours.iter().map(|&word| word.to_owned());
        Ok(Self { words: [program].into_iter().chain(ours).chain(words).chain([end.to_owned()]).collect() })
    }

    /// Returns the words that come before the words of the program.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_options_come_after_ours() {
        let gdb = Debugger::parse("/usr/bin/rust-gdb -batch -ex 'info locals'").unwrap();
        let words: Vec<_> = gdb.words().iter().filter(|word| **word != IN_GDB).collect();
        let ours = ["/usr/bin/rust-gdb", "-q", "-ex", "run", "-ex"];
        assert_eq!(words, [&ours[..], &["-batch", "-ex", "info locals", "--args"]].concat());
        assert_eq!(Debugger::parse("lldb").unwrap().words().last().unwrap(), "--");
    }

    #[test]
    fn other_programs_are_refused() {
        for (text, error) in [
            ("", "write a command, for example `--debugger gdb`"),
            ("gdb 'x", "write a command, for example `--debugger gdb`"),
            (
                "valgrind -q",
                "`valgrind` is not known, so it cannot be stopped at the decision: use gdb, rust-gdb, lldb or rust-lldb",
            ),
        ] {
            assert!(Debugger::parse(text).unwrap_err().to_string().starts_with(error), "{text}");
        }
    }
}
