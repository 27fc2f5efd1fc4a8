//! Processes, and their results.

use std::{
    collections::BTreeMap,
    io::Read,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::Value;

/// The time limit of a search. No search of these tests takes nearly as long unless it is stuck.
const STUCK: Duration = Duration::from_secs(1200);

/// Parts of an answer, for people and as JSON, with a line that did not do what it says when it was run.
const FALSE_LINES: [&str; 7] = [
    "(but it passed when it was run)",
    "(but it failed when it was run)",
    "(but it gave no result when it was run)",
    r#""pasted":{"reproduce":"pass""#,
    r#""pasted":{"reproduce":"unresolved""#,
    r#""pasted":{"reproduce":"fail","passes":"fail""#,
    r#""pasted":{"reproduce":"fail","passes":"unresolved""#,
];

/// A process that has ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The exit status; `None` if a signal ended the process.
    pub status: Option<i32>,
    /// The text on standard output.
    pub stdout: String,
    /// The text on standard error.
    pub stderr: String,
}

impl Finished {
    /// Returns the objects that `--json` writes, one a line.
    ///
    /// # Panics
    /// If standard output holds anything else.
    #[must_use]
    pub fn events(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}\n{self}"));
        self.stdout.lines().map(parse).collect()
    }

    /// Returns the events of one kind.
    #[must_use]
    pub fn events_of(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["event"] == kind).collect()
    }

    /// Returns the first line of each change's text, for each culprit in the order in which they were found.
    ///
    /// # Panics
    /// If an event is not as documented.
    #[must_use]
    pub fn culprits(&self) -> Vec<Vec<String>> {
        let first_line = |change: &Value| change["text"][0].as_str().unwrap_or_default().to_owned();
        let set = |found: &Value| {
            let mut changes: Vec<_> = found["changes"].as_array().expect("changes").iter().map(first_line).collect();
            changes.sort();
            changes
        };
        self.events_of("found").iter().map(set).collect()
    }

    /// Returns the tests that the standard harness printed, and true for those that passed.
    #[must_use]
    pub fn test_results(&self) -> BTreeMap<String, bool> {
        let result = |line: &str| {
            let (test, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
            Some((test.to_owned(), result == "ok"))
        };
        self.stdout.lines().filter_map(result).collect()
    }

    /// Returns this value if the status is as expected.
    ///
    /// # Panics
    /// If it is another one; the message contains all output.
    #[must_use]
    #[track_caller]
    pub fn expect_status(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{self}");
        self
    }

    /// Checks that standard error contains these facts, which a user needs.
    ///
    /// # Panics
    /// If one is missing.
    #[track_caller]
    pub fn expect_message(&self, facts: &[&str]) {
        for fact in facts {
            assert!(self.stderr.contains(fact), "{fact:?} is not on standard error\n{self}");
        }
    }
}

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { status, stdout, stderr } = self;
        write!(f, "status {status:?}\n--- standard output\n{stdout}\n--- standard error\n{stderr}\n---")
    }
}

/// Returns `why` as an error unless a condition holds, for tests that go on with the next case.
///
/// # Errors
/// If the condition does not hold.
pub fn expect(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

/// Runs a command to its end.
///
/// # Panics
/// If it cannot be started, or is stuck.
#[must_use]
#[track_caller]
pub fn run(command: &mut Command) -> Finished {
    Running::start(command).finish()
}

/// A process that was started.
#[derive(Debug)]
pub struct Running {
    child: Child,
    output: [mpsc::Receiver<Vec<u8>>; 2],
}

impl Running {
    /// Starts a command, with no standard input.
    ///
    /// # Panics
    /// If it cannot be started.
    #[must_use]
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let output = [read(child.stdout.take().expect("piped")), read(child.stderr.take().expect("piped"))];
        Self { child, output }
    }

    /// Returns the process ID.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns true if the process has ended.
    ///
    /// # Panics
    /// If the system cannot tell.
    #[must_use]
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("our child can be waited for").is_some()
    }

    /// Sends a signal (`INT`) to the process.
    ///
    /// # Panics
    /// If the signal cannot be sent.
    #[track_caller]
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").arg(format!("-{name}")).arg(self.id().to_string()).status();
        assert!(status.expect("kill can be started").success());
    }

    /// Waits for the end of the process.
    ///
    /// # Panics
    /// If it is stuck; then the process is killed. If it has printed a line for pasting that does not do what it says: the
    /// driver runs each of them before.
    #[must_use]
    #[track_caller]
    pub fn finish(self) -> Finished {
        let finished = self.finish_with_any_line();
        let is_false = |line: &&str| FALSE_LINES.iter().any(|words| line.contains(words));
        let false_line = finished.stdout.lines().chain(finished.stderr.lines()).find(is_false);
        assert_eq!(false_line, None, "a line for pasting does not hold: {finished}");
        finished
    }

    /// Waits for the end of the process, whose target does not do the same each time.
    ///
    /// # Panics
    /// If it is stuck; then the process is killed.
    #[must_use]
    #[track_caller]
    pub fn finish_with_any_line(mut self) -> Finished {
        let texts = self.output.each_ref().map(|output| output.recv_timeout(STUCK));
        let [Ok(stdout), Ok(stderr)] = texts else {
            let _ = self.child.kill();
            panic!("stuck: {:?} of its output was left open", texts.map(|text| text.is_err()));
        };
        let status = self.child.wait().expect("our child can be waited for");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Finished { status: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }
}

fn read(mut pipe: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

/// Waits until a condition holds.
///
/// # Panics
/// If it does not hold for a long time.
#[track_caller]
pub fn wait_until(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..120_000 {
        if so() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("waited in vain: {what}");
}
