//! Paths of files in the words of a command: only with characters that no shell acts upon.
//!
//! The user's words are often a script, and a path that is inserted into it is part of the script: a blank splits it,
//! and `$(…)` is executed. The program cannot add quotes, because it does not know the quotes of the script around the
//! path. So it writes the path in another way, or refuses the search. Runs and lines to paste get the same kind of path,
//! so that such a line does what a run has done.

use std::path::{Path, PathBuf};

use crate::process::shell;

/// The place of the files that replace a placeholder.
#[derive(Debug)]
pub(super) struct InputPaths {
    /// The directory in the run directory, as an absolute path.
    inputs: PathBuf,
    /// The same directory, as the words of the command contain it.
    written: PathBuf,
}

/// A path with characters that a shell acts upon, for a placeholder in a longer word.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{word} is a part of a longer word of the command, and is replaced by a path below `{}`, which a shell would split or expand \
     (blanks, `$`, quotes); name another directory with `--out`, of which the part below the working directory has only \
     letters, digits and _./+:@%-, or make {word} an argument of its own: sh -c '… \"$1\"' sh {word}",
    directory.display()
)]
pub(crate) struct UnsafePath {
    /// The placeholder.
    word: &'static str,
    /// The run directory.
    directory: PathBuf,
}

impl InputPaths {
    /// Returns the place for a command that is run in `root`, and whose words may have the placeholder `word` in longer
    /// words. `inputs` is the absolute path of the directory for files that outlive the search.
    ///
    /// # Errors
    /// If every path of the files has characters that a shell acts upon, and a word contains more than the path.
    pub(super) fn new<'a>(
        root: &Path,
        inputs: &Path,
        word: &'static str,
        mut texts: impl Iterator<Item = &'a String>,
    ) -> Result<Self, UnsafePath> {
        let at = |written: PathBuf| Self { inputs: inputs.to_owned(), written };
        if shell::is_plain(inputs) || !texts.any(|text| text.contains(word) && text != word) {
            // A line to paste quotes a whole word.
            return Ok(at(inputs.to_owned()));
        }
        let below = inputs.strip_prefix(root).ok().filter(|below| shell::is_plain(below));
        let Some(below) = below else {
            let directory = inputs.parent().unwrap_or(inputs).to_owned();
            return Err(UnsafePath { word, directory });
        };
        let is_like_option = below.to_string_lossy().starts_with('-');
        Ok(at(if is_like_option { Path::new(".").join(below) } else { below.to_owned() }))
    }

    /// Returns the directory for the files of a run. `scratch` is the one that is deleted with the run.
    pub(super) fn of_run<'a>(&'a self, scratch: &'a Path) -> &'a Path {
        // A run in another kind of directory would not show what a line to paste does.
        if shell::is_plain(scratch) && shell::is_plain(&self.inputs) { scratch } else { &self.inputs }
    }

    /// Returns a path as the words have it.
    pub(super) fn written(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.inputs).map_or_else(|_| path.to_owned(), |file| self.written.join(file))
    }

    /// Returns a note about a path that depends on the working directory.
    pub(super) fn note(&self, word: &str) -> Option<String> {
        self.written.is_relative().then(|| {
            format!(
                "{word} is replaced by a relative path, because a shell would split or expand the absolute one: the command must \
                 use it before it goes to another directory"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(root: &str, inputs: &str, texts: &[&str]) -> Result<String, String> {
        let texts: Vec<_> = texts.iter().map(|&text| text.to_owned()).collect();
        let paths = InputPaths::new(root.as_ref(), inputs.as_ref(), "LIST", texts.iter());
        let paths = paths.map_err(|error| error.to_string())?;
        let path = paths.written(&Path::new(inputs).join("f.list"));
        assert_eq!(paths.note("LIST").is_some(), path.is_relative());
        Ok(path.display().to_string())
    }

    #[test]
    fn a_longer_word_gets_a_path_that_no_shell_acts_upon() {
        let script = &["grep 3 LIST"][..];
        for (root, inputs, texts, expected) in [
            ("/home/me", "/home/me/o/inputs", script, "/home/me/o/inputs/f.list"),
            ("/home/My Project", "/home/My Project/o/inputs", script, "o/inputs/f.list"),
            ("/home/$(touch pwned)", "/home/$(touch pwned)/o/inputs", script, "o/inputs/f.list"),
            ("/home/ö", "/home/ö/../o/inputs", script, "../o/inputs/f.list"),
            ("/a b", "/a b/-x/inputs", script, "./-x/inputs/f.list"),
            ("/a b", "/o/inputs", script, "/o/inputs/f.list"),
            // A line to paste quotes it.
            ("/a b", "/a b/o/inputs", &["LIST", "x"], "/a b/o/inputs/f.list"),
            ("/a b", "/a b/o/inputs", &["LIST", "--file=LIST"], "o/inputs/f.list"),
        ] {
            assert_eq!(written(root, inputs, texts).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn a_path_that_a_shell_acts_upon_is_refused_in_a_longer_word() {
        for (root, inputs) in [("/home", "/home/a b/inputs"), ("/home/a b", "/home/c;d/inputs"), ("/", "/~x/inputs")] {
            let error = written(root, inputs, &["grep 3 LIST"]).unwrap_err();
            assert!(error.contains("--out") && error.contains("LIST"), "{error}");
        }
    }

    #[test]
    fn runs_have_their_files_where_no_shell_acts_upon_the_path() {
        let of_run = |inputs: &str, scratch: &str| {
            let root = Path::new(inputs).parent().unwrap();
            let paths = InputPaths::new(root, inputs.as_ref(), "LIST", [].into_iter()).unwrap();
            paths.of_run(scratch.as_ref()).display().to_string()
        };
        assert_eq!(of_run("/o/inputs", "/tmp/1"), "/tmp/1");
        assert_eq!(of_run("/o/inputs", "/my tmp/1"), "/o/inputs");
        assert_eq!(of_run("/my o/inputs", "/tmp/1"), "/my o/inputs");
    }
}
