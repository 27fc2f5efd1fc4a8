//! What is searched, and how a program or the compiler is told of a selection.

use std::{collections::BTreeSet, ffi::OsString, path::Path};

use bisect_core::Pattern;

use crate::{
    axes::Level,
    cargo::{BuildOverrides, CargoError, toggles::Toggle, variables},
    run::lost_reports::said_by_the_runtime,
    units::plural,
};

/// Names of toggles in the first line of a search, at most.
const SHOWN: usize = 6;
/// Stands for the pattern in `--rustflags`.
const PATTERN: &str = "PATTERN";
/// The exit status of a program whose runtime refuses its variables.
const REFUSED: i32 = 2;

/// What is searched.
#[derive(Debug)]
pub(crate) enum Axis {
    /// Toggles that are decided at run time, by name; empty: all of them.
    RunTime(Vec<String>),
    /// Toggles that are decided while compiling, by name.
    BuildTime(Vec<String>),
    /// Whatever the compiler makes of these flags.
    Flags(String),
    /// How things are compiled.
    Codegen(Box<dyn Level>),
}

/// Checks what the user gave as `--rustflags`.
///
/// # Errors
/// If it cannot be used.
pub(crate) fn check_flags(text: &str, toggles: &[String]) -> Result<String, CargoError> {
    if !text.contains(PATTERN) {
        return Err(CargoError::Usage(
            "the word PATTERN must stand in --rustflags, where the compiler expects the pattern; \
             for example: --rustflags -Zmy-pass=PATTERN"
                .to_owned(),
        ));
    }
    if !toggles.is_empty() {
        return Err(CargoError::Usage("--toggle and --rustflags cannot be searched together".to_owned()));
    }
    Ok(text.to_owned())
}

impl Axis {
    /// As the JSON names it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Axis::RunTime(_) | Axis::BuildTime(_) => "toggles",
            Axis::Flags(_) => "rustflags",
            Axis::Codegen(level) => level.name(),
        }
    }

    /// What is searched, for people; of these toggles, if it is toggles.
    pub(crate) fn subject(&self, toggles: &BTreeSet<Toggle>) -> String {
        let (wanted, when) = match self {
            Axis::Codegen(level) => return level.subject(),
            Axis::Flags(text) => return format!("what the compiler reports for {text}"),
            Axis::RunTime(names) => (names, "run"),
            Axis::BuildTime(names) => (names, "build"),
        };
        let is_searched = |toggle: &&Toggle| {
            let is_of_axis = toggle.build.is_some() == (when == "build");
            is_of_axis && (wanted.is_empty() || wanted.contains(&toggle.name))
        };
        let names: BTreeSet<_> = toggles.iter().filter(is_searched).map(|toggle| toggle.name.as_str()).collect();
        let count = plural(names.len(), &format!("{when}-time toggle"));
        let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
        let more = if names.len() > SHOWN { ", …" } else { "" };
        format!("{count} ({shown}{more})")
    }

    /// Whether each run begins with a build.
    pub(crate) fn builds(&self) -> bool {
        !matches!(self, Axis::RunTime(_))
    }

    /// What the build of this selection has beyond the user's arguments; `None` if there is no such build.
    pub(crate) fn build_with(
        &self,
        toggles: &BTreeSet<Toggle>,
        pattern: &Pattern,
        report_file: &Path,
    ) -> Option<BuildOverrides> {
        Some(match self {
            Axis::Codegen(level) => return level.build_with(pattern),
            Axis::RunTime(_) => BuildOverrides::default(),
            Axis::BuildTime(names) => {
                let values = variables::values(toggles, names, pattern).into_iter();
                BuildOverrides {
                    variables: values.map(|(name, value)| (name, value.into())).collect(),
                    ..BuildOverrides::default()
                }
            }
            Axis::Flags(_) => BuildOverrides {
                variables: [("BISECT_REPORT".to_owned(), OsString::from(report_file))].into(),
                flags: self.flags(pattern),
                ..BuildOverrides::default()
            },
        })
    }

    /// The flags for the compiler.
    pub(crate) fn flags(&self, pattern: &Pattern) -> Vec<String> {
        let Axis::Flags(text) = self else { return Vec::new() };
        text.replace(PATTERN, &pattern.to_string()).split_whitespace().map(str::to_owned).collect()
    }

    /// `BISECT_PATTERN` for the program. Where toggles are decided while compiling, it makes the program say what is
    /// compiled in.
    pub(crate) fn run_with(&self, pattern: &Pattern) -> Option<String> {
        match self {
            Axis::Flags(_) | Axis::Codegen(_) => None,
            Axis::RunTime(names) if names.is_empty() => Some(pattern.to_string()),
            Axis::RunTime(names) | Axis::BuildTime(names) => {
                Some(names.iter().map(|name| format!("{name}={pattern}")).collect::<Vec<_>>().join(";"))
            }
        }
    }
}

/// What the runtime said when it stopped the program before `main`, if it did.
pub(crate) fn refusal(code: Option<i32>, output: &[u8]) -> Option<String> {
    if code != Some(REFUSED) {
        return None;
    }
    said_by_the_runtime(output, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn what_programs_are_told() {
        let pattern = "x12".parse().unwrap();
        for (axis, expected) in [
            (Axis::RunTime(Vec::new()), Some("x12")),
            (Axis::RunTime(names(&["a", "b"])), Some("a=x12;b=x12")),
            (Axis::BuildTime(names(&["a"])), Some("a=x12")),
            (Axis::Flags("-Zx=PATTERN".to_owned()), None),
        ] {
            assert_eq!(axis.run_with(&pattern).as_deref(), expected, "{axis:?}");
        }
    }

    #[test]
    fn what_the_compiler_is_told() {
        let axis = Axis::Flags("--cfg x -Zpass=vPATTERN,PATTERN".to_owned());
        let with = axis.build_with(&BTreeSet::new(), &"y-01".parse().unwrap(), Path::new("r")).unwrap();
        assert_eq!(with.flags, ["--cfg", "x", "-Zpass=v-01,-01"]);
        assert_eq!(with.variables, [("BISECT_REPORT".to_owned(), "r".into())].into());
    }

    #[test]
    fn flags_without_a_pattern_or_with_toggles_are_refused() {
        assert!(check_flags("-Zx=PATTERN", &[]).is_ok());
        assert!(check_flags("-Zx=pattern", &[]).unwrap_err().is_usage());
        assert!(check_flags("-Zx=PATTERN", &names(&["a"])).unwrap_err().is_usage());
    }

    #[test]
    fn a_refusal_is_told_from_a_failure() {
        let output = b"x\nbisect-rt: BISECT_PATTERN=\"+\": a term is missing\n";
        assert_eq!(refusal(Some(2), output).unwrap(), "BISECT_PATTERN=\"+\": a term is missing");
        assert_eq!(refusal(Some(101), output), None);
        assert_eq!(refusal(None, output), None);
        assert_eq!(refusal(Some(2), b"usage: bisect-rt: x"), None);
    }
}
