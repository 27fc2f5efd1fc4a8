//! A change that is decided while compiling, and its tests.

use bisect_rt::bisect_build;

/// A change with its own name.
pub const SAFE: bool = bisect_build!("safe");

#[cfg(test)]
mod tests {
    #[test]
    fn fails_if_the_second_is_fast() {
        assert!(!low::FAST[1]);
    }

    #[test]
    fn fails_if_not_safe() {
        assert!(super::SAFE);
    }
}
