//! The measured programs: those of fixture `costs`, built as cargo does and as the driver does.

use std::{env, path::PathBuf, process::Command};

use bisect_tests::harness::{Fixture, fixtures_target_dir, run, scrubbed};

/// A way to build the programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flavour {
    /// The driver's way: with frame pointers.
    FramePointers,
    /// Cargo's way: stacks are captured by the unwinder.
    Plain,
}

impl Flavour {
    /// Both flavours, first the one that searches use.
    pub(crate) const ALL: [Self; 2] = [Self::FramePointers, Self::Plain];

    /// Returns the name of the way in which stacks are captured.
    pub(crate) fn capture(self) -> &'static str {
        match self {
            Self::FramePointers => "frame pointers",
            Self::Plain => "unwinder",
        }
    }

    /// Builds the programs in all flavours.
    pub(crate) fn build_all() {
        let fixture = Fixture::new("costs");
        for flavour in Self::ALL {
            let mut cargo = fixture.cargo(["build", "--release", "--quiet", "--target-dir"]);
            cargo.arg(flavour.target_dir());
            if flavour == Self::FramePointers {
                cargo.env("RUSTFLAGS", "-Cforce-frame-pointers=yes --cfg bisect_frame_pointers");
            }
            let _ = run(&mut cargo).expect_status(0);
        }
    }

    /// Returns the path of a program; [`Self::build_all`] must have built it.
    pub(crate) fn program(self, name: &str) -> PathBuf {
        self.target_dir().join("release").join(name).with_extension(env::consts::EXE_EXTENSION)
    }

    /// Returns a command that runs a program without bisecting it.
    pub(crate) fn command(self, name: &str) -> Command {
        scrubbed(&self.program(name), &self.target_dir())
    }

    fn target_dir(self) -> PathBuf {
        fixtures_target_dir().join(match self {
            Self::FramePointers => "costs-frame-pointers",
            Self::Plain => "costs",
        })
    }
}
