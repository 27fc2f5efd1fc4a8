//! A copy of the process that waits at a good moment, and sends copies of itself to later moments.

use std::io;

use super::{
    OWN_COUNT, count_in,
    messages::{self, Message, Order},
};
use crate::active::{
    report,
    system::{
        exit,
        forks::{self, Side},
        open_files::OpenFiles,
    },
};

/// Leaves a copy of this process at a moment, as the checkpoint. `is_whole` is true if the copy has all threads of the
/// process. Returns `None` in this process. Later, it returns in each copy of the checkpoint, with an order.
pub(super) fn leave(moment: u64, is_whole: bool) -> io::Result<Option<Order>> {
    // The copy could not do this: this process goes on meanwhile, and moves the positions that both share.
    let files = OpenFiles::remember(report::file_number());
    match forks::fork_orphan(|process| Message::Checkpoint { moment, process, is_whole }.send())? {
        Side::Original => Ok(None),
        Side::Copy => {
            OWN_COUNT.store(moment, std::sync::atomic::Ordering::Relaxed);
            count_in(&OWN_COUNT);
            Ok(Some(wait_for_orders(&files)))
        }
    }
}

/// Announces that this process becomes the checkpoint.
pub(super) fn announce_self(moment: u64, is_whole: bool) {
    Message::Checkpoint { moment, process: std::process::id().cast_signed(), is_whole }.send();
}

/// Waits here as the checkpoint, like a copy that was left.
pub(super) fn stay() -> Order {
    wait_for_orders(&OpenFiles::remember(report::file_number()))
}

/// Waits as the checkpoint. Only copies of this process return, each with an order.
///
/// The output of a copy is discarded, because the program itself has printed it. So is what the copy writes to files
/// that are open for writing only. It reads open files from the positions that they had at the checkpoint.
fn wait_for_orders(files: &OpenFiles) -> Order {
    loop {
        let Some(order) = messages::next_order() else { exit::at_once(0) };
        match forks::fork_orphan(|process| Message::Worker { process }.send()) {
            Ok(Side::Original) => {}
            Ok(Side::Copy) => {
                files.go_back();
                return order;
            }
            Err(error) => Message::NoWorker { errno: error.raw_os_error().unwrap_or(0) }.send(),
        }
    }
}
