//! The cost of a dependency on the runtime: packages, processor time of a clean build, and size of a stripped program.
//!
//! A program with one toggle is compared with a program without toggles. The table is Markdown, for BENCHMARKS.md.
//! Processor time is that of cargo and all its descendants, as `time` of bash prints it: the least of several builds.
//! Ends with status 1 if packages or bytes exceed their bounds. `ONLY=sizes` leaves out the times.

use std::{
    env, fs,
    path::Path,
    process::{Command, ExitCode},
};

use bisect_tests::harness::{Scratch, run, scrubbed};

/// The number of builds, of which the quickest counts.
const BUILDS: usize = 3;

/// A program with a toggle, and the options of its build.
struct Variant {
    name: &'static str,
    features: &'static str,
    by: &'static str,
    rustflags: &'static str,
    bounds: Bounds,
}

/// The most that a toggle may cost.
struct Bounds {
    packages: usize,
    /// The processor time of a debug build, on the machine of BENCHMARKS.md. It is printed and not enforced.
    seconds: f64,
    /// The bytes that are added to the stripped program.
    bytes: u64,
}

const VARIANTS: [Variant; 3] = [
    Variant {
        name: "as by default",
        features: "",
        by: "stack",
        rustflags: "",
        bounds: Bounds { packages: 21, seconds: 19.0, bytes: 420_000 },
    },
    Variant {
        name: "without stacks",
        features: ", default-features = false",
        by: "caller",
        rustflags: "",
        bounds: Bounds { packages: 11, seconds: 8.0, bytes: 150_000 },
    },
    Variant {
        name: "`--cfg bisect_off`",
        features: "",
        by: "stack",
        rustflags: "--cfg bisect_off",
        bounds: Bounds { packages: 6, seconds: 8.0, bytes: 0 },
    },
];

fn main() -> ExitCode {
    if !env::args().any(|argument| argument == "--bench") {
        println!("measured by `cargo bench` only");
        return ExitCode::SUCCESS;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let plain = Program::new(root, None);
    let plain_bytes = plain.stripped_bytes();
    println!("Decides what the runtime may depend on: a program with one toggle, built from nothing. *Added*: bytes");
    println!("of the stripped program (release) beside one without a toggle, which has {plain_bytes}. *≤* is a bound;");
    println!("that on time is not enforced.\n");
    println!("| | packages | ≤ | processor time, debug | ≤ | release | added | ≤ |\n|:--|--:|--:|--:|--:|--:|--:|--:|");
    let only_sizes = env::var_os("ONLY").is_some_and(|only| only == "sizes");
    let mut within = true;
    for variant in VARIANTS {
        let program = Program::new(root, Some(&variant));
        let packages = program.packages();
        let [debug, release] = ["", "--release"]
            .map(|profile| if only_sizes { "-".to_owned() } else { format!("{:.1} s", program.seconds(profile)) });
        let added = program.stripped_bytes().saturating_sub(plain_bytes);
        let Bounds { packages: most_packages, seconds: most_seconds, bytes: most_bytes } = variant.bounds;
        println!(
            "| {} | {packages} | {most_packages} | {debug} | {most_seconds:.0} s | {release} | {added} | {most_bytes} |",
            variant.name
        );
        within &= packages <= most_packages && added <= most_bytes;
    }
    if within { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A package in a folder of its own.
struct Program {
    folder: Scratch,
    rustflags: &'static str,
}

impl Program {
    fn new(root: &Path, variant: Option<&Variant>) -> Self {
        let folder = Scratch::new();
        fs::create_dir(folder.dir().join("src")).expect("a new folder");
        let dependency = variant.map_or(String::new(), |variant| {
            let path = root.join("bisect-rt").display().to_string();
            format!("[dependencies]\nbisect-rt = {{ path = {path:?}{} }}\n", variant.features)
        });
        let manifest = format!("[package]\nname = \"program\"\nedition = \"2024\"\n[workspace]\n{dependency}");
        let toggle = variant
            .map_or(String::new(), |variant| format!("#[bisect_rt::bisect_toggle(\"gate\", by = {:?})]\n", variant.by));
        folder.write("Cargo.toml", &manifest);
        folder.write(
            "src/main.rs",
            &format!("{toggle}fn gate() -> bool {{ true }}\nfn main() {{ println!(\"{{}}\", gate()) }}\n"),
        );
        fs::copy(root.join("Cargo.lock"), folder.dir().join("Cargo.lock")).expect("copied");
        Self { folder, rustflags: variant.map_or("", |variant| variant.rustflags) }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = scrubbed(Path::new(program), self.folder.dir());
        command.env("RUSTFLAGS", self.rustflags).env("CARGO_TARGET_DIR", self.folder.dir().join("target"));
        command
    }

    /// Counts the packages beside the program, including those that run at compile time.
    fn packages(&self) -> usize {
        let mut cargo = self.command("cargo");
        cargo.args(["tree", "--offline", "--edges", "normal,build", "--prefix", "none", "--no-dedupe"]);
        let finished = run(&mut cargo).expect_status(0);
        let mut packages: Vec<_> = finished.stdout.lines().skip(1).collect();
        packages.sort_unstable();
        packages.dedup();
        packages.len()
    }

    /// Returns the least processor time of several clean builds, in seconds.
    fn seconds(&self, profile: &str) -> f64 {
        let script = format!("rm -rf target && TIMEFORMAT='%U %S' && time cargo build --offline --quiet {profile}");
        let seconds = (0..BUILDS).map(|_| {
            let mut bash = self.command("bash");
            let finished = run(bash.args(["-c", &script])).expect_status(0);
            let times = finished.stderr.lines().last().expect("bash says the times");
            times.split(' ').map(|time| time.parse::<f64>().expect("seconds")).sum()
        });
        seconds.fold(f64::INFINITY, f64::min)
    }

    fn stripped_bytes(&self) -> u64 {
        let mut bash = self.command("bash");
        bash.args(["-c", "cargo build --offline --quiet --release && strip -o stripped target/release/program"]);
        let _ = run(&mut bash).expect_status(0);
        fs::metadata(self.folder.dir().join("stripped")).expect("it was made").len()
    }
}
