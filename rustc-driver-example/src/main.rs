//! The executable `bisect-rustc`, which replaces `rustc`.

fn main() -> std::process::ExitCode {
    bisect_rustc::main()
}
