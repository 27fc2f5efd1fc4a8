//! Tests of the gates of editions on code from macros of other crates: it has the edition of those crates, wherever it
//! is expanded.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use bisect_core::ChangeId;
use tempfile::TempDir;

use crate::{
    edition::reports,
    harness::{Ran, bisect_rustc, clean, only, rustc},
};

/// A library of macros. All but `same` have a place that makes a difference where it is expanded, and one of them is
/// expanded here, too.
const MACROS: &str = "
#[macro_export] macro_rules! pop_or {
    ($cell:expr, $else:expr) => {
        if let Some(x) = $cell.borrow_mut().pop() { x } else { $else }
    };
}
#[macro_export] macro_rules! length {
    ($cell:expr) => { { $cell.borrow().len() } };
}
#[macro_export] macro_rules! values {
    ($values:expr) => { $values.into_iter() };
}
#[macro_export] macro_rules! same {
    ($same:expr) => { $same };
}
pub fn is_free(cell: &std::cell::RefCell<Vec<usize>>) -> usize {
    pop_or!(cell, usize::from(cell.try_borrow().is_ok()))
}
";

/// A program that expands the macros. It has a place of its own, which it gives to `same`.
const PROGRAM: &str = "
use std::{any::type_name, cell::RefCell};
fn say(n: usize, is_free: bool) { println!(\"{n} {is_free}\"); }
fn name<T>(_: &T) -> &'static str { type_name::<T>() }
fn main() {
    let cell = RefCell::new(Vec::<usize>::new());
    println!(\"{} {}\", middle::is_free(&cell), middle::pop_or!(cell, usize::from(cell.try_borrow().is_ok())));
    say(middle::length!(cell), cell.try_borrow_mut().is_ok());
    say(middle::same!({ cell.borrow().len() }), cell.try_borrow_mut().is_ok());
    let boxed: Box<[u8]> = Box::new([1]);
    println!(\"{}\", name(&middle::values!(boxed).next()));
}
";

const ALL: &str = "drops=on;scopes=on;captures=on;into-iter=on";
const NONE: &str = "drops=n;scopes=n;captures=n;into-iter=n";
const PACKAGE: &str = "BISECT_RUSTC_my_macros_0_1_0";
const OF_PROGRAM: &str = "BISECT_RUSTC_program_0_1_0";

/// Three crates in a row, and the reports on the first and the last.
struct Crates {
    folder: TempDir,
    reports: [String; 2],
}

impl Crates {
    /// Compiles the crates of these editions, with these variables.
    fn compile(compiler: fn() -> Command, [macros, program]: [&str; 2], variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("macros/lib.rs", "mod inner; pub use inner::is_free;"),
            ("macros/inner.rs", MACROS),
            ("middle/lib.rs", "pub use macros::*;"),
            ("app/main.rs", PROGRAM),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let compile = |package: &str, source: &str, edition: &str, args: &[&str]| {
            let mut command = compiler();
            command.current_dir(&folder).arg(source).args(["-Awarnings", "-L.", "--edition", edition]).args(args);
            command.env("CARGO_PKG_NAME", package).env("CARGO_PKG_VERSION", "0.1.0");
            Ran::of(command.envs(variables.iter().copied())).stderr
        };
        let macros = compile("my-macros", "macros/lib.rs", macros, &["--crate-name=macros", "--crate-type=lib"]);
        compile("middle", "middle/lib.rs", "2021", &["--crate-name=middle", "--crate-type=lib", "--extern=macros"]);
        let program =
            compile("program", "app/main.rs", program, &["--crate-name=program", "--extern=middle", "--emit=link,obj"]);
        Self { folder, reports: [macros, program] }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn printed(&self) -> String {
        Ran::of(&mut clean(self.path().join("program"))).text().to_owned()
    }

    fn object(&self) -> Vec<u8> {
        fs::read(self.path().join("program.o")).unwrap()
    }

    fn changes(&self) -> [BTreeMap<ChangeId, Vec<String>>; 2] {
        self.reports.each_ref().map(|text| reports(text))
    }
}

#[test]
fn with_all_changes_on_macros_write_what_they_write_in_the_other_edition() {
    for (edition, other) in [("2021", "2024"), ("2024", "2021")] {
        for (program, pattern) in [("2018", ALL), ("2024", ALL), ("2021", ALL), ("2021", NONE), ("2021", "")] {
            let truth = Crates::compile(rustc, [if pattern == ALL { other } else { edition }, program], &[]);
            let crates = Crates::compile(bisect_rustc, [edition, program], &[(PACKAGE, pattern)]);
            assert_eq!(crates.printed(), truth.printed(), "{edition} {program} {pattern}");
            assert!(crates.object() == truth.object(), "{edition} {program} {pattern}");
        }
    }
}

#[test]
fn what_a_macro_writes_is_one_change_of_its_package_in_all_crates() {
    let crates = Crates::compile(bisect_rustc, ["2021", "2021"], &[(PACKAGE, "drops=vn;into-iter=vn")]);
    for (text, counts) in crates.reports.iter().zip([
        "bisect-rustc: crate=macros edition=2024 places=4 drops=1 scopes=2 captures=0",
        "bisect-rustc: crate=macros expanded-in=program edition=2024 places=4 drops=2 scopes=1 captures=0",
    ]) {
        assert!(text.lines().any(|line| line == counts), "{counts}\n{text}");
    }
    let [here, there] = crates.changes();
    let first =
        |reports: &BTreeMap<_, Vec<String>>| reports.values().map(|lines| lines[0].clone()).collect::<BTreeSet<_>>();
    assert_eq!(first(&here), ["macros/inner.rs:4:9 drops"].map(str::to_owned).into());
    let all = ["macros/inner.rs:4:9 drops", "macros/inner.rs:8:25 drops", "macros/inner.rs:11:25 into-iter"];
    assert_eq!(first(&there), all.map(str::to_owned).into());
    assert!(here.keys().all(|id| there.contains_key(id)), "{here:?} {there:?}");
    let package = ChangeId::of(&["my-macros", "0.1.0"].map(bisect_core::Field::Str));
    assert!(there.keys().all(|&id| id.in_crate(package) == id), "{there:?}");
    let length = &there.iter().find(|(_, lines)| lines[0].contains("8:25")).unwrap();
    assert_eq!(
        length.1[1..],
        [
            "  program::main at macros/inner.rs:8:25",
            r#"    expression="tail of a block" start=8:25 end=8:45"#,
            "    dropped earlier: Ref<'_, Vec<usize>> (macros/inner.rs:8:25)",
            "    to keep it: declare `let t;` before the statement that the block is in; at its end, assign `t = $cell.borrow();` and use `t`",
            "    to mend it: in the block, before its end: `let t = $cell.borrow();`, and use `t`",
            "    expanded from middle::length! at app/main.rs:8:9",
        ]
    );
    let one = Crates::compile(bisect_rustc, ["2021", "2021"], &[(PACKAGE, &format!("drops={}", only(*length.0)))]);
    let [own, one] = [crates.printed(), one.printed()];
    let same: Vec<_> = own.lines().zip(one.lines()).map(|(own, one)| own == one).collect();
    assert_eq!(same, [true, false, true, true], "only the line that is about the length");
}

#[test]
fn what_is_given_to_a_macro_is_of_the_crate_that_calls_it() {
    let crates = Crates::compile(bisect_rustc, ["2021", "2021"], &[(OF_PROGRAM, "drops=vy")]);
    let [here, there] = crates.changes();
    assert_eq!(here.len(), 0);
    let places: Vec<_> = there.values().map(|lines| lines[0].as_str()).collect();
    assert_eq!(places, ["app/main.rs:9:25 drops"]);
}

#[test]
fn the_advice_for_an_argument_of_a_macro_is_about_its_call() {
    let values = "
macro_rules! tail { ($head:expr) => { { $head } }; }
macro_rules! first { ($head:expr) => { if let Some(x) = $head { x } else { 0 } }; }
macro_rules! inner { ($head:expr) => { { $head } }; }
macro_rules! around { ($head:expr) => { inner!($head) }; }
fn main() {
    let cell = std::cell::RefCell::new(vec![1]);
    println!(\"{} {}\", tail!(cell.borrow().len()), cell.try_borrow_mut().is_ok());
    println!(\"{} {}\", first!(cell.borrow().first().copied()), cell.try_borrow_mut().is_ok());
    println!(\"{} {}\", around!(cell.borrow().len()), cell.try_borrow_mut().is_ok());
}
";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("main.rs"), values).unwrap();
    let mut command = bisect_rustc();
    command.current_dir(&folder).args(["main.rs", "--edition=2021"]).env("BISECT_PATTERN", "drops=vn");
    let ran = Ran::of(&mut command).stderr;
    for name in ["tail", "first", "around"] {
        for advice in [
            format!("to keep it: before the call of {name}!: `let t = cell.borrow();`, and use `t` in the call"),
            format!("to mend it: in the call of {name}!, pass a block that uses `t`: `{{ let t = cell.borrow(); … }}`"),
        ] {
            assert!(ran.contains(&advice), "{advice}\n{ran}");
        }
    }
}

#[test]
fn a_variable_of_another_package_that_has_no_meaning_is_named() {
    let crates = Crates::compile(bisect_rustc, ["2021", "2021"], &[(PACKAGE, "drops=n")]);
    for value in ["drops=q", "nogate=y"] {
        let mut command = bisect_rustc();
        command.current_dir(crates.path()).args(["app/main.rs", "-L.", "--edition=2021", "--extern=middle"]);
        // The variable of a third package makes the compiler survey the crate.
        command.env(PACKAGE, value).env("BISECT_RUSTC_other_1_0_0", "drops=n");
        let ran = Ran::any(&mut command);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        let start = format!("error: bisect-rustc: {PACKAGE}=\"{value}\": ");
        assert!(ran.stderr.starts_with(&start) && ran.stderr.matches("bisect-rustc").count() == 1, "{}", ran.stderr);
    }
}
