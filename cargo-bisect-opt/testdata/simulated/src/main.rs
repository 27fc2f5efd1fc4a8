//! What the call stacks of simulated searches refer to. It is never compiled.

fn main() {
    amber();
}

fn amber() {
    toggle();
}
