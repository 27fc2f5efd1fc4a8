//! The threads of this process, as the kernel lists them.

use std::fs;

/// The other threads of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    /// There are none.
    None,
    /// The main thread, which waits. The test harness of the standard library runs each test in a thread beside it,
    /// also with `--test-threads=1`. A copy of the process lacks that thread, which is only needed when the test is
    /// over.
    WaitingMain,
    /// This number of threads, which a copy of the process would lack.
    InTheWay(usize),
}

/// Returns the other threads. If the list cannot be read, there may be one.
pub(crate) fn others() -> Others {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return Others::InTheWay(1) };
    let (main, this) = (std::process::id(), thread_id());
    let others: Vec<_> = tasks
        .flatten()
        .filter_map(|task| task.file_name().to_str()?.parse::<u32>().ok())
        .filter(|&task| task != this)
        .collect();
    match others.as_slice() {
        [] => Others::None,
        [other] if *other == main && comes_to_wait(main) => Others::WaitingMain,
        others => Others::InTheWay(others.len()),
    }
}

/// Returns true if a thread waits, or comes to wait soon: it may have started this one just now.
fn comes_to_wait(thread: u32) -> bool {
    (0..MOST_CHECKS).any(|_| {
        waits(thread) || {
            // On a busy machine it may get no processor for a while.
            // SAFETY: it has no preconditions.
            unsafe { libc::usleep(PAUSE) };
            false
        }
    })
}

/// The number of checks after which a thread is considered busy.
const MOST_CHECKS: usize = 300;

/// Microseconds between two checks.
const PAUSE: libc::useconds_t = 200;

/// Returns true if a thread sleeps in the system call by which threads wait for each other.
fn waits(thread: u32) -> bool {
    let call = fs::read_to_string(format!("/proc/self/task/{thread}/syscall"));
    call.is_ok_and(|call| call.split(' ').next() == Some(&libc::SYS_futex.to_string()))
}

fn thread_id() -> u32 {
    // SAFETY: it has no preconditions.
    let id = unsafe { libc::syscall(libc::SYS_gettid) };
    u32::try_from(id).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "there is no such list")]
    fn another_thread_is_in_the_way() {
        let (end, ended) = channel::<()>();
        let thread = std::thread::spawn(move || ended.recv());
        assert_ne!(others(), Others::None);
        drop(end);
        assert!(thread.join().unwrap().is_err());
    }
}
