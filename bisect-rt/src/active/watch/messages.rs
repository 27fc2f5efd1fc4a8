//! The connection between a supervisor and the copies of its program: a pipe for each direction, and shared memory.

use std::{
    io,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use bisect_core::moments::MomentVerdict;

use crate::active::system::{
    pipe::{Pipe, Reader, WORDS, Writer},
    shared,
};

/// The memory that the supervisor and its program share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The number of moments that the program has passed.
    pub(super) count: AtomicU64,
    /// The moment at which a process evaluates the condition now; 0 for none.
    pub(super) evaluated: AtomicU64,
}

/// The ends of the program and its copies.
#[derive(Debug)]
struct Connection {
    messages: Writer,
    orders: Reader,
    shared: &'static Shared,
}

/// The ends of the supervisor.
#[derive(Debug)]
pub(super) struct Ends {
    pub(super) messages: Reader,
    pub(super) orders: Writer,
    pub(super) shared: &'static Shared,
}

static CONNECTION: OnceLock<Connection> = OnceLock::new();

/// Both sides, before they are in different processes.
#[derive(Debug)]
pub(super) struct BothEnds {
    messages: Pipe,
    orders: Pipe,
    shared: &'static Shared,
}

impl BothEnds {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { messages: Pipe::new()?, orders: Pipe::new()?, shared: shared::leak(Shared::default())? })
    }

    /// Keeps the supervisor's ends.
    pub(super) fn into_supervisors(self) -> Ends {
        self.messages.writer.close();
        self.orders.reader.close();
        Ends { messages: self.messages.reader, orders: self.orders.writer, shared: self.shared }
    }

    /// Keeps the program's ends.
    pub(super) fn into_programs(self) {
        self.messages.reader.close();
        self.orders.writer.close();
        super::count_in(&self.shared.count);
        let connection = Connection { messages: self.messages.writer, orders: self.orders.reader, shared: self.shared };
        // Only the start of the process calls this, once.
        let _ = CONNECTION.set(connection);
    }
}

/// A message to the supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// The condition was evaluated.
    Probed { moment: u64, verdict: MomentVerdict },
    /// A copy of the process waits at a good moment. If it is not whole, it lacks a thread.
    Checkpoint { moment: u64, process: i32, is_whole: bool },
    /// A copy of the checkpoint went on, as ordered.
    Worker { process: i32 },
    /// The checkpoint could not be copied, for this error of the system.
    NoWorker { errno: i32 },
    /// The program ends at the decisive moment.
    Stopped,
}

/// An order of the supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// The moment to evaluate.
    pub(super) to: u64,
    /// Both moments are described, and this one is evaluated to confirm it.
    pub(super) describes: bool,
}

impl Message {
    pub(super) fn send(self) {
        if let Some(connection) = CONNECTION.get() {
            connection.messages.write(self.encode());
        }
    }

    fn encode(self) -> [u64; WORDS] {
        let of_process = |process: i32| u64::from(process.cast_unsigned());
        match self {
            Self::Probed { moment, verdict } => [1, moment, u64::from(verdict == MomentVerdict::Good)],
            Self::Checkpoint { moment, process, is_whole } => {
                [if is_whole { 2 } else { 6 }, moment, of_process(process)]
            }
            Self::Worker { process } => [3, 0, of_process(process)],
            Self::NoWorker { errno } => [4, 0, of_process(errno)],
            Self::Stopped => [5, 0, 0],
        }
    }

    fn decode([kind, moment, value]: [u64; WORDS]) -> Option<Self> {
        let number = u32::try_from(value).ok().map(u32::cast_signed);
        match kind {
            1 => Some(Self::Probed {
                moment,
                verdict: if value == 1 { MomentVerdict::Good } else { MomentVerdict::Bad },
            }),
            2 | 6 => Some(Self::Checkpoint { moment, process: number?, is_whole: kind == 2 }),
            3 => Some(Self::Worker { process: number? }),
            4 => Some(Self::NoWorker { errno: number? }),
            5 => Some(Self::Stopped),
            _ => None,
        }
    }
}

impl Ends {
    /// Returns the next message, if one is there.
    pub(super) fn message(&self) -> Option<Message> {
        Message::decode(self.messages.read_if_there()?)
    }

    /// Sends an order to the checkpoint.
    pub(super) fn order(&self, order: Order) {
        self.orders.write([order.to, u64::from(order.describes), 0]);
    }
}

/// Waits for an order. Returns `None` once the supervisor has ended.
pub(super) fn next_order() -> Option<Order> {
    let [to, describes, _] = CONNECTION.get()?.orders.read()?;
    Some(Order { to, describes: describes == 1 })
}

/// Tells the supervisor that a crash from now on is a crash of the evaluation at this moment.
pub(super) fn begin_evaluation(moment: u64) {
    if let Some(connection) = CONNECTION.get() {
        connection.shared.evaluated.store(moment, Relaxed);
    }
}

/// Tells the supervisor that the evaluation is over.
pub(super) fn end_evaluation() {
    begin_evaluation(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_they_were_sent() {
        for message in [
            Message::Probed { moment: 7, verdict: MomentVerdict::Good },
            Message::Probed { moment: u64::MAX, verdict: MomentVerdict::Bad },
            Message::Checkpoint { moment: 8, process: 4_000_000, is_whole: true },
            Message::Checkpoint { moment: 8, process: 4_000_000, is_whole: false },
            Message::Worker { process: 2 },
            Message::NoWorker { errno: 11 },
            Message::Stopped,
        ] {
            assert_eq!(Message::decode(message.encode()), Some(message));
        }
        assert_eq!(Message::decode([0, 0, 0]), None);
        assert_eq!(Message::decode([2, 1, u64::MAX]), None);
    }
}
