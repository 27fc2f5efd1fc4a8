//! The source file in the call stacks of simulated searches. It is never compiled.

fn main() {
    amber();
}

fn amber() {
    toggle();
}
