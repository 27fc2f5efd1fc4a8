//! Job objects: a thread reads the output, and ending the job ends everything that was started in it.

use std::{
    io::{self, PipeReader, Read},
    process::Command,
    sync::mpsc::{self, Receiver, SyncSender},
    thread,
    time::{Duration, Instant},
};

use process_wrap::std::{ChildWrapper, CommandWrap, JobObject};

use super::{Capture, Ending, KILLED, interrupt::Interrupt};

/// How often to see whether the process has exited; nothing that can be waited for together with the output tells.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// How long to wait for the end of the output once everything in the job has ended: it comes with the last process.
const REST: Duration = Duration::from_millis(500);
/// Bytes that one read takes.
const READ: usize = 64 << 10;
/// Reads that may be ahead of us.
const AHEAD: usize = 16;

/// A process that has been started, and everything that it will start.
#[derive(Debug)]
pub(super) struct ProcessTree {
    child: Box<dyn ChildWrapper>,
}

/// What is waited for.
enum PipeEvent {
    Output(Vec<u8>),
    EndOfOutput,
    /// Something else is to be looked at.
    Wake,
}

impl ProcessTree {
    pub(super) fn spawn(command: Command) -> io::Result<Self> {
        Ok(Self { child: CommandWrap::from(command).wrap(JobObject).spawn()? })
    }

    /// Waits until it has ended or must end, and leaves nothing of it behind.
    pub(super) fn follow(
        mut self,
        reader: PipeReader,
        started: Instant,
        timeout: Option<Duration>,
        interrupt: &Interrupt,
        capture: &mut Capture<'_>,
    ) -> io::Result<(Ending, Duration)> {
        let (sender, events) = mpsc::sync_channel(AHEAD);
        let waker = sender.clone();
        // A full channel wakes us as well.
        let _registration = interrupt.on_request(move || drop(waker.try_send(PipeEvent::Wake)));
        // The thread ends with the output. If something outside of the job keeps that open, it is left alone.
        thread::Builder::new().name("output".into()).spawn(move || read(reader, &sender))?;
        // A timeout beyond the end of time is none.
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
            ended |= take(&events, LOOK_AGAIN, capture);
        };
        let duration = started.elapsed();

        // Nobody can be asked to end here, only made to. A job in which nobody is left cannot be ended; that is no error.
        let _ = self.child.start_kill();
        let deadline = Instant::now() + KILLED;
        while self.child.try_wait()?.is_none() && Instant::now() < deadline {
            ended |= take(&events, LOOK_AGAIN, capture);
        }
        let deadline = Instant::now() + REST;
        while !ended && Instant::now() < deadline {
            ended = take(&events, LOOK_AGAIN, capture);
        }
        Ok((ending, duration))
    }
}

fn read(mut output: PipeReader, events: &SyncSender<PipeEvent>) {
    let mut buffer = vec![0; READ];
    loop {
        let event = match output.read(&mut buffer) {
            Ok(0) | Err(_) => PipeEvent::EndOfOutput,
            Ok(len) => PipeEvent::Output(buffer[..len].to_vec()),
        };
        let last = matches!(event, PipeEvent::EndOfOutput);
        // The receiver goes away first if the output stays open.
        if events.send(event).is_err() || last {
            return;
        }
    }
}

/// Takes one event, if there is one in time. The result is whether it was the end of the output.
fn take(events: &Receiver<PipeEvent>, time: Duration, capture: &mut Capture<'_>) -> bool {
    match events.recv_timeout(time) {
        Ok(PipeEvent::Output(bytes)) => capture.push(&bytes),
        Ok(PipeEvent::EndOfOutput) => return true,
        Ok(PipeEvent::Wake) | Err(_) => {}
    }
    false
}
