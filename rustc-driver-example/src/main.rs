//! `bisect-rustc`, to be used in place of `rustc`.

fn main() -> std::process::ExitCode {
    bisect_rustc::main()
}
