//! Toggles that are decided at run time.

use bisect_rt::{bisect_point, bisect_toggle};

/// Returns true if the new way is taken: one site.
pub fn new_way() -> bool {
    bisect_point!("way")
}

/// Returns true if the shield is up: another site.
pub fn shield() -> bool {
    bisect_point!("shield")
}

/// Returns twice as much, decided by call stack.
#[bisect_toggle("double", off = same)]
pub fn double(x: u32) -> u32 {
    x * 2
}

fn same(x: u32) -> u32 {
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes() {}

    #[test]
    fn fails_if_way_is_on() {
        println!("failures:\n    tests::passes\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored");
        assert!(!new_way());
    }

    #[test]
    fn fails_if_shield_is_off() {
        assert!(shield());
    }

    #[test]
    fn fails_if_both_calls_are_doubled() {
        let (a, b) = (double(1), double(10));
        assert_ne!((a, b), (2, 20), "both");
    }

    #[test]
    fn broken_anyway() {
        panic!("as always");
    }

    #[test]
    #[ignore = "takes for ever"]
    fn takes_for_ever() {
        loop {
            std::thread::park();
        }
    }
}
