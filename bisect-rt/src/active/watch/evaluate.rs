//! The evaluation of a condition: true, false, or a panic, which is caught.

use std::{
    any::Any,
    panic::{self, AssertUnwindSafe, PanicHookInfo},
    sync::Mutex,
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
    let hook = (!thread::panicking()).then(panic::take_hook);
    if hook.is_some() {
        panic::set_hook(Box::new(|info| drop(remember(Some(of_hook(info))))));
    }
    let result = panic::catch_unwind(AssertUnwindSafe(condition));
    if let Some(hook) = hook {
        panic::set_hook(hook);
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
    use super::*;

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
    }
}
