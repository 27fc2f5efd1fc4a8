//! Diffs as texts, and the lines that they change.

use super::*;

/// The files and their lines, as `name 3-4 7`, or `name *` for all lines.
fn lines(text: &[u8]) -> Result<Vec<String>, DiffError> {
    let show = |lines: Lines| match lines {
        Lines::Whole => " *".to_owned(),
        Lines::Ranges(ranges) => {
            let ranges = ranges.iter().map(|range| format!(" {}-{}", range.start(), range.end()));
            ranges.collect::<Vec<_>>().concat()
        }
    };
    let files = parse(text)?;
    Ok(files.into_iter().map(|(path, lines)| format!("{}{}", path.display(), show(lines))).collect())
}

/// A diff of one file, which is called `f` before and after.
fn of_f(hunks: &str) -> String {
    format!("diff --git a/f b/f\nindex 1234567..89abcde 100644\n--- a/f\n+++ b/f\n{hunks}")
}

#[test]
fn hunks_give_changed_lines() {
    for (hunks, expected) in [
        ("", None),
        ("@@ -3 +3 @@ fn f() {\n-a\n+b\n", Some("f 3-3")),
        ("@@ -3,2 +3,3 @@\n-a\n-b\n+c\n+d\n+e\n", Some("f 3-5")),
        // New lines only: after line 3 of the old file.
        ("@@ -3,0 +4,2 @@\n+a\n+b\n", Some("f 4-5")),
        ("@@ -0,0 +1 @@\n+a\n", Some("f 1-1")),
        // Removed lines: after line 3, from the top, and all.
        ("@@ -4,2 +3,0 @@\n-a\n-b\n", Some("f 3-4")),
        ("@@ -1 +0,0 @@\n-a\n", Some("f 1-1")),
        // Several hunks, with and without lines between them.
        ("@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-a\n+b\n", Some("f 1-1 9-9")),
        ("@@ -1 +1 @@\n-a\n+b\n@@ -2,0 +2 @@\n+b\n@@ -8 +8,0 @@\n-a\n", Some("f 1-2 8-9")),
        ("@@ -3 +2,0 @@\n-a\n@@ -5 +3,2 @@\n-a\n+b\n+c\n", Some("f 2-4")),
        // Without a line break at the end, before and after.
        ("@@ -3 +3 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", Some("f 3-3")),
        // Lines that look like something else.
        (
            "@@ -3,2 +3,2 @@\n--- a/g\n-@@ -1 +1 @@\n+++ b/g\n+diff --git a/g b/g\n@@ -8 +8 @@\n-\n+\r\n",
            Some("f 3-4 8-8"),
        ),
        // With unchanged lines, one of them empty.
        ("@@ -1,6 +1,5 @@\n a\n-b\n+c\n\n-d\n \n e\n", Some("f 2-4")),
        ("@@ -1,3 +1,3 @@\n+a\n b\n c\n-d\n", Some("f 1-1 3-4")),
        ("@@ -4294967295 +4294967295 @@\n-a\n+b\n", Some("f 4294967295-4294967295")),
        ("@@ -4294967295 +4294967295,0 @@\n-a\n", Some("f 4294967294-4294967295")),
    ] {
        let expected: Vec<_> = expected.into_iter().collect();
        assert_eq!(lines(of_f(hunks).as_bytes()).unwrap(), expected, "{hunks}");
    }
}

#[test]
fn names_are_decoded() {
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    for (head, expected) in [
        // The tab is git's, for names with blanks.
        ("diff --git a/a b/c b/a b/c\n--- a/a b/c\t\n+++ b/a b/c\t\n", "a b/c 1-1"),
        ("diff --git a/x/y b/x/y\nold mode 100644\nnew mode 100755\n--- a/x/y\n+++ b/x/y\n", "x/y 1-1"),
        ("diff --git \"a/f\\303\\266\" \"b/f\\303\\266\"\n--- \"a/f\\303\\266\"\n+++ \"b/f\\303\\266\"\n", "fö 1-1"),
        ("diff --git \"a/\\\" \\t\" \"b/\\\" \\t\"\n--- \"a/\\\" \\t\"\t\n+++ \"b/\\\" \\t\"\t\n", "\" \t 1-1"),
        (
            "diff --git \"a/\\a\\b\\n\\v\\f\\r\\\\\" b/x\nsimilarity index 90%\nrename from \"\\a\\b\\n\\v\\f\\r\\\\\"\n\
             rename to x\n--- \"a/\\a\\b\\n\\v\\f\\r\\\\\"\n+++ b/x\n",
            "x 1-1",
        ),
        (
            "diff --git a/x \"b/\\a\\b\\n\\v\\f\\r\\\\\"\nrename to \"\\a\\b\\n\\v\\f\\r\\\\\"\n--- a/x\n+++ \"b/\\a\\b\\n\\v\\f\\r\\\\\"\n",
            "\u{7}\u{8}\n\u{b}\u{c}\r\\ 1-1",
        ),
        ("diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n", "n 1-1"),
        // Other lines that git prints before it.
        ("warning: odd\n* Unmerged path z\ndiff --git a/n b/n\n--- a/n\n+++ b/n\n", "n 1-1"),
    ] {
        assert_eq!(lines(format!("{head}{hunk}").as_bytes()).unwrap(), [expected], "{head}");
    }
}

#[test]
fn files_without_lines() {
    for (text, expected) in [
        ("", &[] as &[&str]),
        ("diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", &[]),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", &[]),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", &[]),
        ("diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n", &[]),
        ("diff --git a/x y b/x y\nindex 1..2 100644\nBinary files a/x y and b/x y differ\n", &["x y *"]),
        ("diff --git \"a/\\001\" \"b/\\001\"\nBinary files \"a/\\001\" and \"b/\\001\" differ\n", &["\u{1} *"]),
        ("diff --git a/x b/y\nrename from x\nrename to y\nBinary files a/x and b/y differ\n", &["y *"]),
        ("diff --git a/x b/x\ndeleted file mode 100644\nBinary files a/x and /dev/null differ\n", &[]),
        (
            "diff --git a/x b/x\nBinary files a/x and b/x differ\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
            &["x *", "y 1-1"],
        ),
    ] {
        assert_eq!(lines(text.as_bytes()).unwrap(), expected, "{text}");
    }
}

#[cfg(unix)]
#[test]
fn names_and_lines_of_any_bytes() {
    use std::os::unix::ffi::OsStrExt;

    let text = b"diff --git \"a/\\377\" \"b/\\377\"\n--- \"a/\\377\"\n+++ \"b/\\377\"\n@@ -1 +1 @@\n-\xfe\n+\xff\0\n";
    let files = parse(text).unwrap();
    assert_eq!(files[0].0.as_os_str().as_bytes(), b"\xff");
    assert!(files[0].1.meet(1..=1));
}

#[test]
fn malformed_diffs_are_errors() {
    const NO_FILE: &str = "no `diff --git` line before it";
    let head = "diff --git a/f b/f\n--- a/f\n+++ b/f\n";
    for (text, line, reason) in [
        ("+++ b/f\n", 1, NO_FILE),
        ("@@ -1 +1 @@\n-a\n+b\n", 1, NO_FILE),
        ("Binary files a/f and b/f differ\n", 1, NO_FILE),
        ("diff --git a/f b/f\n+++ f\n", 2, "a name without the prefix `b/`"),
        ("diff --git a/f b/f\n+++ \"b/f\n", 2, "an unterminated quoted name"),
        ("diff --git a/f b/f\n+++ \"b/f\\\"\n", 2, "an unterminated quoted name"),
        ("diff --git a/f b/f\n+++ \"b/\\q\"\n", 2, "an unknown escape in a name"),
        ("diff --git a/f b/f\n+++ \"b/\\30\"\n", 2, "an octal escape without three digits"),
        ("diff --git a/f b/f\n+++ \"b/\\400\"\n", 2, "an unknown escape in a name"),
        ("diff --git a/f b/f\nrename to \"x\n", 2, "an unterminated quoted name"),
        (&format!("{head}@@ -1 @@\n-a\n+b\n"), 4, "malformed header of a hunk"),
        (&format!("{head}@@ -1 +x @@\n-a\n+b\n"), 4, "malformed header of a hunk"),
        (&format!("{head}@@ -1 ++1 @@\n-a\n+b\n"), 4, "malformed header of a hunk"),
        (&format!("{head}@@ -1 +1,-1 @@\n-a\n+b\n"), 4, "malformed header of a hunk"),
        (&format!("{head}@@ -1 +4294967296 @@\n-a\n+b\n"), 4, "malformed header of a hunk"),
        (&format!("{head}@@@ -1 -1 +1 @@@\n--a\n++b\n"), 4, "malformed header of a hunk"),
        (&format!("{head}@@ -1 +1 @@\n-a\n"), 6, "more lines than the header of the hunk says"),
        (&format!("{head}@@ -1 +1 @@\n-a\n-b\n"), 6, "more lines than the header of the hunk says"),
        (&format!("{head}@@ -1 +1 @@\n+a\n b\n"), 6, "more lines than the header of the hunk says"),
        (&format!("{head}@@ -1 +1 @@\n-a\nb\n"), 6, "not a line of a hunk"),
        (&format!("{head}@@ -1 +1 @@\n-a"), 6, "the hunk ends too early"),
    ] {
        let error = parse(text.as_bytes()).unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
        let place = format!("cannot parse line {line} of the output of `git diff`: {reason}; leave out `--since`");
        assert!(error.to_string().starts_with(&place), "{text}: {error}");
    }
}

#[test]
fn lines_are_found_among_ranges() {
    let ranges = Lines::Ranges(vec![2..=3, 7..=7, 9..=12]);
    let found: Vec<_> = (0..15).filter(|&line| ranges.meet(line..=line)).collect();
    assert_eq!(found, [2, 3, 7, 9, 10, 11, 12]);
    assert!(!Lines::Ranges(Vec::new()).meet(1..=1) && Lines::Whole.meet(1..=1));
}
