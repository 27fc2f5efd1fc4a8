//! Tests of reports, in reads of any size, with any bytes around them.

use std::io::Write;

use super::*;

fn ids(reports: &Reports) -> Vec<u64> {
    reports.ids().iter().map(|id| id.0).collect()
}

/// Returns the reports in a stream that comes in reads of `size` bytes.
fn scanned(stream: &[u8], size: usize) -> Reports {
    let mut reports = Reports::new(true);
    let mut scanner = reports.scanner();
    stream.chunks(size).for_each(|bytes| scanner.read(bytes));
    scanner.end();
    reports
}

#[test]
fn each_change_once_in_order_with_its_lines() {
    let mut reports = Reports::new(true);
    for line in [
        "no report",
        "src/a.rs:1:1 sort [bisect-match 0x2]",
        "  f at src/a.rs:3:4 [bisect-match 0x2]",
        "[bisect-match 0x1]",
        "[bisect-match 0xg] [bisect-match",
        "  g at src/b.rs:3:4 [bisect-match 0x2]\r\n",
        "[bisect-match 0x1] after",
        // The function calls itself.
        "  f at src/a.rs:3:4 [bisect-match 0x2]",
        // Another process reports the same.
        "src/a.rs:1:1 sort [bisect-match 0x2]",
        "  f at src/a.rs:3:4 [bisect-match 0x2]",
        "[bisect-match 0x1] after",
    ] {
        reports.scan(line.as_bytes());
    }
    assert_eq!(ids(&reports), [2, 1]);
    assert_eq!(reports.len(), 2);
    let frames = ["src/a.rs:1:1 sort", "  f at src/a.rs:3:4", "  g at src/b.rs:3:4", "  f at src/a.rs:3:4"];
    assert_eq!(reports.get(ChangeId(2)).text, frames);
    assert_eq!(reports.get(ChangeId(1)).text, ["after"]);
    assert_eq!(reports.get(ChangeId(3)).text, [""; 0]);
}

/// The output of Go's runtime for a function that calls itself.
const GO: &str = "\
[bisect-match 0xff3a673cb61c22c3]main.walk()
[bisect-match 0xff3a673cb61c22c3]\t/src/recursion/main.go:13
[bisect-match 0xff3a673cb61c22c3]main.walk()
[bisect-match 0xff3a673cb61c22c3]\t/src/recursion/main.go:15
[bisect-match 0xff3a673cb61c22c3]main.walk()
[bisect-match 0xff3a673cb61c22c3]\t/src/recursion/main.go:15
[bisect-match 0xff3a673cb61c22c3]main.main()
[bisect-match 0xff3a673cb61c22c3]\t/src/recursion/main.go:25
[bisect-match 0xff3a673cb61c22c3]
";

#[test]
fn a_recursive_stack_of_go_keeps_all_frames() {
    let id = ChangeId(0xff3a_673c_b61c_22c3);
    let expected: Vec<_> = GO.lines().map(|line| &line["[bisect-match 0xff3a673cb61c22c3]".len()..]).collect();
    let expected = &expected[..8];
    // One process prints it, or several do, whose reports may come between others.
    let other = "[bisect-match 0x1]main.main()\n[bisect-match 0x1]\t/src/main.go:9\n[bisect-match 0x1]\n";
    for stream in [GO.to_owned(), GO.repeat(3), [GO, other, GO].concat()] {
        for size in [1, 50, stream.len()] {
            assert_eq!(scanned(stream.as_bytes(), size).get(id).text, expected, "{stream}");
        }
    }
    // Another binary may have the same change on another stack.
    let deeper = GO.replace("main.main()", "main.run()");
    assert_eq!(scanned([GO, &deeper, GO, &deeper].concat().as_bytes(), 64).get(id).text.len(), 16);
}

#[test]
fn text_is_kept_only_if_wanted() {
    let mut reports = Reports::new(false);
    reports.scan(b"a [bisect-match 0x2]");
    assert_eq!(ids(&reports), [2]);
    assert_eq!(reports.get(ChangeId(2)).text, [""; 0]);
}

#[test]
fn the_text_is_that_of_the_protocol() {
    for line in ["a [bisect-match 0xa] b", "a[bisect-match 0xa] b", "  [bisect-match 0xa]  b", "[bisect-match 101]x"] {
        let (id, before, after) = marker::cut(line.as_bytes()).unwrap();
        let mut reports = Reports::new(true);
        reports.scan(line.as_bytes());
        let text = String::from_utf8([before, after].concat()).unwrap();
        assert_eq!(reports.get(id).text, [text], "{line}");
    }
}

#[test]
fn reads_may_end_anywhere() {
    let binary = [b"[bisect-match ".as_slice(), &[b'1'; 64], b"]"].concat();
    let stream = [
        b"one [bisect-match 0x1]\n\n\xff\xfe [bisect-match 0x2] \xff\n[bisect-match [bisect-match 0x3]\n".as_slice(),
        b"no marker [bisect-match 0xZZ] [bisect-match\n0x4]\ntwo [bisect-match 0x5][bisect-match 0x6]\n",
        &binary,
        b"\nlast, without a line break [bisect-match 0x7]",
    ]
    .concat();
    let whole = scanned(&stream, stream.len());
    assert_eq!(ids(&whole), [1, 2, 3, 5, 6, u64::MAX, 7]);
    assert_eq!(whole.get(ChangeId(2)).text, ["\u{fffd}\u{fffd} \u{fffd}"]);
    for size in 1..stream.len() {
        let reports = scanned(&stream, size);
        assert_eq!(ids(&reports), ids(&whole), "reads of {size} bytes");
        assert!(whole.ids().iter().all(|&id| reports.get(id).text == whole.get(id).text), "reads of {size} bytes");
    }
}

#[test]
fn a_line_without_end_is_scanned_in_bounded_memory() {
    // A marker at any place around the end of the first read is neither lost nor seen twice.
    const READ: usize = 64;
    let marker = b"[bisect-match 0x77]";
    for distance in 0..2 * marker.len() {
        let mut stream = vec![b'x'; LINE + READ - distance];
        stream.extend_from_slice(marker);
        stream.resize(3 * LINE, b'y');
        let mut reports = Reports::new(true);
        let mut scanner = reports.scanner();
        for bytes in stream.chunks(READ) {
            scanner.read(bytes);
            assert!(scanner.partial.len() <= LINE);
        }
        scanner.end();
        assert_eq!(ids(&reports), [0x77], "{distance} bytes before the end of the piece");
        let text = reports.get(ChangeId(0x77)).text;
        assert_eq!(text.len(), 1);
        assert!(text[0].len() <= 2 * CONTEXT);
    }
}

#[test]
fn the_lines_of_one_change_are_bounded() {
    let mut reports = Reports::new(true);
    for i in 0..10 * LINES {
        reports.scan(format!("{i} [bisect-match 0x1]").as_bytes());
    }
    assert_eq!(reports.get(ChangeId(1)).text.len(), LINES);
    assert_eq!(reports.get(ChangeId(1)).text[0], "0");
}

#[test]
fn files_and_streams_add_up() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"[bisect-match 0x1]\nunfinished [bisect-match 0x2]\nand [bisect-mat").unwrap();
    let mut reports = Reports::new(false);
    reports.scan(b"[bisect-match 0x3]");
    reports.read_file(file.path()).unwrap();
    assert_eq!(ids(&reports), [3, 1, 2]);
    let missing = file.path().with_extension("missing");
    let error = reports.read_file(&missing).unwrap_err();
    assert!(error.to_string().contains(missing.to_str().unwrap()), "{error}");
}
