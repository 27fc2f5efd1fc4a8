//! All mistakes of one use, so that the user sees them in one go.

use syn::Error;

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    /// Adds one more.
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            none => *none = Some(error),
        }
    }

    /// Returns whether there is none yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The value of `result`, or `None` and its error kept.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// `Err` if there was any mistake.
    pub(crate) fn finish(self) -> syn::Result<()> {
        self.and(Ok(()))
    }

    /// `result`, unless there was a mistake before it.
    pub(crate) fn and<T>(self, result: syn::Result<T>) -> syn::Result<T> {
        match (self.0, result) {
            (None, result) => result,
            (Some(first), Ok(_)) => Err(first),
            (Some(mut first), Err(last)) => {
                first.combine(last);
                Err(first)
            }
        }
    }
}
