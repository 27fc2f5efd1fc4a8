//! The option for the profile among the user's words: `--release`, `-r`, `--profile`, and `--cargo-profile` of nextest.

use std::ffi::{OsStr, OsString};

use super::{
    arguments::{Arguments, Subcommand},
    option,
};

/// Returns the same arguments with another profile; without an option for it if that is the default.
pub(super) fn with_profile(arguments: &Arguments, subcommand: Subcommand, name: &str) -> Arguments {
    let own: Vec<OsString> = match name {
        "test" if subcommand.is_test() => Vec::new(),
        "dev" => Vec::new(),
        "release" => vec!["--release".into()],
        _ if subcommand == Subcommand::Nextest => vec!["--cargo-profile".into(), name.into()],
        _ => vec!["--profile".into(), name.into()],
    };
    let words = replaced(subcommand, &arguments.typed, &own);
    Arguments { directory: arguments.directory.clone(), ..Arguments::parse(subcommand, &words) }
}

/// Returns these words with other options for the profile.
fn replaced(subcommand: Subcommand, words: &[OsString], profile: &[OsString]) -> Vec<OsString> {
    // The option `--profile` of nextest selects its own settings.
    let of_profile = if subcommand == Subcommand::Nextest { "--cargo-profile" } else { "--profile" };
    option::replaced(subcommand == Subcommand::Run, words, profile, |name, own, rest| {
        let is_attached = own.len() > 1 || own[0].to_string_lossy().contains('=');
        match name {
            "--release" => Vec::new(),
            _ if name == of_profile => {
                // The table of cargo's options does not have that of nextest.
                if !is_attached {
                    rest.next();
                }
                Vec::new()
            }
            _ => without_release(&own[0]).into_iter().chain(own.into_iter().skip(1)).collect(),
        }
    })
}

/// Returns an option without `r` in a cluster of letters; `None` if nothing is left.
fn without_release(option: &OsStr) -> Option<OsString> {
    let text = option.to_string_lossy();
    let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).map_or("", |letters| letters);
    if letters.is_empty() {
        return Some(option.to_owned());
    }
    // The letters after one with a value are the value.
    let with_value = |letter: char| option::value_of(&format!("-{letter}")) != option::Value::None;
    let flags = letters.find(with_value).unwrap_or(letters.len());
    if !letters[..flags].contains('r') {
        return Some(option.to_owned());
    }
    let kept = letters[..flags].replace('r', "") + &letters[flags..];
    (!kept.is_empty()).then(|| format!("-{kept}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(Into::into).collect()
    }

    #[test]
    fn another_profile_replaces_the_option() {
        for (subcommand, line, profile, expected) in [
            (Subcommand::Test, "--release -p a", "dev", "-p a"),
            (Subcommand::Test, "--profile slow name", "test", "name"),
            (Subcommand::Test, "-qr --features=x", "slow", "--profile slow -q --features=x"),
            (Subcommand::Test, "--profile=slow", "release", "--release"),
            (Subcommand::Run, "-r prog --release", "dev", "prog --release"),
            (Subcommand::Build, "", "test", "--profile test"),
            (Subcommand::Nextest, "--release --profile ci", "slow", "--cargo-profile slow --profile ci"),
            (Subcommand::Nextest, "--cargo-profile x -p a", "dev", "-p a"),
        ] {
            let arguments = with_profile(&Arguments::parse(subcommand, &words(line)), subcommand, profile);
            assert_eq!(arguments.typed, words(expected), "{line} {profile}");
        }
        let there = Arguments::parse(Subcommand::Test, &words("-C dir -r"));
        let there = with_profile(&there, Subcommand::Test, "dev");
        assert_eq!((there.directory, there.release), (Some("dir".into()), false));
    }
}
