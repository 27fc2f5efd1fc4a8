//! The mistakes in one use of a macro, which are reported together.

use syn::Error;

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    /// Adds a mistake.
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            none => *none = Some(error),
        }
    }

    /// Returns true if there is no mistake yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the value of `result`. Returns `None` for an error, and adds it.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Returns all mistakes as an error, if there are any.
    pub(crate) fn finish(self) -> syn::Result<()> {
        self.and(Ok(()))
    }

    /// Returns `result` if there is no mistake yet. Otherwise returns all mistakes, with that of `result`.
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
