//! Processes on Windows, in job objects: a thread reads the output, and ending the job ends all its processes.

use std::{
    io::{self, PipeReader, Read},
    process::Command,
    sync::mpsc::{self, Receiver, SyncSender},
    thread,
    time::{Duration, Instant},
};

use process_wrap::std::{ChildWrapper, CommandWrap, JobObject};

use super::{Capture, Ending, KILL_TIMEOUT, interrupt::Interrupt};

/// The interval of checks whether the process has exited: no wait combines that with the output.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The maximum wait for the end of the output after all processes of the job have ended.
const OUTPUT_TIMEOUT: Duration = Duration::from_millis(500);
/// The size of one read.
const READ_SIZE: usize = 64 << 10;
/// The number of reads that may wait to be handled.
const MAX_PENDING_READS: usize = 16;

/// A process that was started, with its descendants.
#[derive(Debug)]
pub(super) struct ProcessTree {
    child: Box<dyn ChildWrapper>,
}

/// An event that the main loop waits for.
enum PipeEvent {
    Output(Vec<u8>),
    EndOfOutput,
    /// A request to stop was made.
    Wake,
}

impl ProcessTree {
    pub(super) fn spawn(command: Command, _ends_daemons: bool) -> io::Result<Self> {
        Ok(Self { child: CommandWrap::from(command).wrap(JobObject).spawn()? })
    }

    /// Waits until the process has ended or must end. Ends all its descendants.
    pub(super) fn follow(
        mut self,
        reader: PipeReader,
        started: Instant,
        timeout: Option<Duration>,
        interrupt: &Interrupt,
        capture: &mut Capture<'_>,
    ) -> io::Result<(Ending, Duration)> {
        let (sender, events) = mpsc::sync_channel(MAX_PENDING_READS);
        let waker = sender.clone();
        // A full channel wakes the loop as well.
        let _registration = interrupt.on_request(move || drop(waker.try_send(PipeEvent::Wake)));
        // The thread ends with the output. If a process outside the job keeps the pipe open, the thread is abandoned.
        thread::Builder::new().name("output".into()).spawn(move || read(reader, &sender))?;
        // A timeout that overflows is none.
        let deadline = timeout.and_then(|timeout| started.checked_add(timeout));

        let mut ended = false;
        let ending = loop {
            if let Some(status) = self.child.try_wait()? {
                break Ending::Exited(status);
            }
            if interrupt.requested() {
                break Ending::Interrupted;
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                break Ending::TimedOut;
            }
            ended |= take(&events, POLL_INTERVAL, capture);
        };
        let duration = started.elapsed();

        // Processes cannot be asked to end here. An empty job cannot be ended, which is no error.
        let _ = self.child.start_kill();
        let deadline = Instant::now() + KILL_TIMEOUT;
        while self.child.try_wait()?.is_none() && Instant::now() < deadline {
            ended |= take(&events, POLL_INTERVAL, capture);
        }
        let deadline = Instant::now() + OUTPUT_TIMEOUT;
        while !ended && Instant::now() < deadline {
            ended = take(&events, POLL_INTERVAL, capture);
        }
        Ok((ending, duration))
    }
}

fn read(mut output: PipeReader, events: &SyncSender<PipeEvent>) {
    let mut buffer = vec![0; READ_SIZE];
    loop {
        let event = match output.read(&mut buffer) {
            Ok(0) | Err(_) => PipeEvent::EndOfOutput,
            Ok(len) => PipeEvent::Output(buffer[..len].to_vec()),
        };
        let last = matches!(event, PipeEvent::EndOfOutput);
        // If the output stays open, the receiver is dropped first.
        if events.send(event).is_err() || last {
            return;
        }
    }
}

/// Takes one event, if there is one in time. Returns whether it was the end of the output.
fn take(events: &Receiver<PipeEvent>, time: Duration, capture: &mut Capture<'_>) -> bool {
    match events.recv_timeout(time) {
        Ok(PipeEvent::Output(bytes)) => capture.push(&bytes),
        Ok(PipeEvent::EndOfOutput) => return true,
        Ok(PipeEvent::Wake) | Err(_) => {}
    }
    false
}
