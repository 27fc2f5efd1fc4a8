//! The tables: crates, their rooms, the owners of crate names, limits, and permitted deviations.

/// A crate and its rooms.
#[derive(Debug)]
pub(crate) struct House {
    /// The name in paths of other crates.
    pub(crate) name: &'static str,
    /// The folder of its sources, from the root of the repository.
    pub(crate) src: &'static str,
    /// The crates of this repository that it may name.
    pub(crate) may_use: &'static [&'static str],
    /// Rooms from the top floor down: each imports only from rooms below it. A room is a folder `room/`, with its
    /// `room.rs` if it has one, or a single file `room.rs`. A file belongs to the room with the longest name that fits;
    /// the crate's root file is above all rooms.
    pub(crate) rooms: &'static [&'static str],
}

/// All crates that users get. Tests, benches and examples import what they like.
pub(crate) const HOUSES: &[House] = &[
    House {
        name: "cargo_bisect_opt",
        src: "cargo-bisect-opt/src/",
        may_use: &["bisect_core"],
        rooms: &[
            "commands", "targets", "lab", "axes", "output", "record", "cargo", "compiler", "run", "vcs", "report",
            "process", "stderr", "hidden", "units",
        ],
    },
    House {
        name: "bisect_core",
        src: "bisect-core/src/",
        may_use: &[],
        rooms: &[
            "search",
            "search/suite",
            "search/unsplit",
            "search/proposer",
            "search/test",
            "search/sequential",
            "search/noisy",
            "search/ledger",
            "search/model",
            "search/posterior",
            "search/tuning",
            "moments",
            "protocol",
        ],
    },
    House {
        name: "bisect_rt",
        src: "bisect-rt/src/",
        may_use: &["bisect_core", "bisect_macros"],
        rooms: &["macros", "private0", "counts", "active", "active/system"],
    },
    House { name: "bisect_macros", src: "bisect-macros/src/", may_use: &[], rooms: &[] },
    House {
        name: "bisect_rustc",
        src: "rustc-driver-example/src/",
        may_use: &["bisect_core"],
        rooms: &["rustc", "bisection", "report", "key_values", "settings", "gate", "invocation"],
    },
];

/// A crate, or a path of the standard library, that only some rooms of the driver may name.
#[derive(Debug)]
pub(crate) struct Owned {
    /// The first names of the path.
    pub(crate) path: &'static [&'static str],
    pub(crate) rooms: &'static [&'static str],
}

pub(crate) const OWNED: &[Owned] = &[
    Owned { path: &["anstream"], rooms: &["output"] },
    Owned { path: &["anstyle"], rooms: &["output"] },
    Owned { path: &["console"], rooms: &["output"] },
    Owned { path: &["indicatif"], rooms: &["output"] },
    Owned { path: &["annotate_snippets"], rooms: &["output"] },
    Owned { path: &["std", "io", "IsTerminal"], rooms: &["output"] },
    Owned { path: &["cargo_metadata"], rooms: &["cargo", "compiler"] },
    Owned { path: &["cargo_config2"], rooms: &["cargo", "compiler"] },
    Owned { path: &["clap"], rooms: &["commands"] },
    Owned { path: &["clap_complete"], rooms: &["commands"] },
    Owned { path: &["clap_mangen"], rooms: &["commands"] },
    Owned { path: &["rustix"], rooms: &["process"] },
    Owned { path: &["signal_hook"], rooms: &["process"] },
    Owned { path: &["ctrlc"], rooms: &["process"] },
    Owned { path: &["process_wrap"], rooms: &["process"] },
];

/// The crate that [`OWNED`] applies to, and the only one of its rooms that starts processes.
pub(crate) const DRIVER: &str = "cargo_bisect_opt";
pub(crate) const SPAWNING_ROOM: &str = "process";

/// The file that contains the names of environment variables as literals.
pub(crate) const VARIABLE_NAMES: &str = "bisect-core/src/protocol/names.rs";

pub(crate) const MOST_LINES: usize = 600;
pub(crate) const MOST_PUBLIC_METHODS: usize = 20;
pub(crate) const MOST_IMPL_FILES: usize = 2;
/// The traits that every axis or target implements, and the number of their methods.
pub(crate) const MOST_TRAIT_METHODS: &[(&str, usize)] = &[("Axis", 16), ("Target", 10)];
pub(crate) const WIDEST_PURPOSE: usize = 120;
pub(crate) const WIDEST_MARKDOWN: usize = 100;

/// A permanent deviation, and the reason.
#[derive(Debug)]
pub(crate) struct Permit {
    pub(crate) rule: &'static str,
    pub(crate) place: &'static str,
    pub(crate) why: &'static str,
}

pub(crate) const PERMITS: &[Permit] = &[
    Permit {
        rule: "floors",
        place: "bisect-rt/src/macros.rs",
        why: "`macro_export` puts macros at the root of a crate, through which they call each other",
    },
    Permit {
        rule: "floors",
        place: "bisect-rt/src/macros/build_time.rs",
        why: "`macro_export` puts macros at the root of a crate, through which they call each other",
    },
    Permit {
        rule: "owners",
        place: "cargo-bisect-opt/src/process/plain_text.rs",
        why: "it removes escape sequences from captured output, and knows no terminal",
    },
    Permit {
        rule: "variable-names",
        place: "bisect-macros/src/variable.rs",
        why: "the macros depend on nothing of ours, or every annotated program would build it twice",
    },
    Permit {
        rule: "variable-names",
        place: "rustc-driver-example/src/invocation.rs",
        why: "`env!` takes literals only; the build script sets these variables, and nobody else reads them",
    },
];
