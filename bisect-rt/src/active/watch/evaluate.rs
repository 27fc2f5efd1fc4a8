//! The evaluation of a condition: true, false, or a panic, which is caught.

use std::{
    any::Any,
    panic::{self, AssertUnwindSafe, PanicHookInfo},
    sync::{Arc, Mutex},
    thread,
};

use bisect_core::moments::MomentVerdict;

/// The value of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) verdict: MomentVerdict,
    /// The place and the message of a panic.
    pub(super) panic: Option<String>,
}

/// The place and the message of the last panic in an evaluation.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Evaluates a condition. A panic in it counts as false, and prints nothing.
pub(super) fn evaluate(condition: impl FnOnce() -> bool) -> Value {
    // While the thread unwinds, the hook cannot be replaced.
    let of_program = (!thread::panicking()).then(replace_hook);
    let result = panic::catch_unwind(AssertUnwindSafe(condition));
    if let Some(of_program) = of_program {
        restore_hook(of_program);
    }
    let panic = remember(None);
    match result {
        Ok(true) => Value { verdict: MomentVerdict::Good, panic: None },
        Ok(false) => Value { verdict: MomentVerdict::Bad, panic: None },
        Err(payload) => {
            Value { verdict: MomentVerdict::Bad, panic: Some(panic.unwrap_or_else(|| message(&*payload).to_owned())) }
        }
    }
}

/// The panic hook of the program.
struct OfProgram(Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>);

/// Remembers the panics of this thread from now on. Those of other threads are passed on to the program's own hook.
fn replace_hook() -> Arc<OfProgram> {
    let of_program = Arc::new(OfProgram(panic::take_hook()));
    let (of_others, evaluating) = (of_program.clone(), thread::current().id());
    panic::set_hook(Box::new(move |info| {
        if thread::current().id() == evaluating { drop(remember(Some(of_hook(info)))) } else { (of_others.0)(info) }
    }));
    of_program
}

fn restore_hook(of_program: Arc<OfProgram>) {
    drop(panic::take_hook());
    // `take_hook` waits until no thread runs the hook, so this is the last reference.
    if let Some(OfProgram(hook)) = Arc::into_inner(of_program) {
        panic::set_hook(hook);
    }
}

/// Replaces the last panic, and returns it.
fn remember(panic: Option<String>) -> Option<String> {
    let mut last = PANIC.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    std::mem::replace(&mut last, panic)
}

fn of_hook(info: &PanicHookInfo<'_>) -> String {
    let message = message(info.payload());
    info.location().map_or_else(|| message.to_owned(), |location| format!("{location}: {message}"))
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;

    static OTHERS: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn a_panic_is_false_and_its_message_is_known() {
        assert_eq!(evaluate(|| true), Value { verdict: MomentVerdict::Good, panic: None });
        assert_eq!(evaluate(|| false), Value { verdict: MomentVerdict::Bad, panic: None });
        let line = line!() + 1;
        let value = evaluate(|| panic!("at {}", 7));
        assert_eq!(value.verdict, MomentVerdict::Bad);
        let panic = value.panic.unwrap();
        assert!(panic.contains(&format!("evaluate.rs:{line}:")) && panic.ends_with(": at 7"), "{panic}");
        let panic = evaluate(|| panic::panic_any(7)).panic.unwrap();
        assert!(panic.ends_with(": a panic without a message"), "{panic}");

        // A panic of another thread is the program's own.
        let of_tests = panic::take_hook();
        panic::set_hook(Box::new(|info| {
            let is_ours = message(info.payload()) == "elsewhere";
            OTHERS.fetch_add(usize::from(is_ours), Relaxed);
        }));
        let good = Value { verdict: MomentVerdict::Good, panic: None };
        for evaluations in 1..=3 {
            assert_eq!(evaluate(|| thread::spawn(|| panic!("elsewhere")).join().is_err()), good);
            assert_eq!(OTHERS.load(Relaxed), evaluations);
        }
        panic::set_hook(of_tests);
    }
}
