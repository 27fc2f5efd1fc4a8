//! Tests of gate `drops` on everything that makes temporaries live longer in one edition than in the other.

use std::process::Command;

use crate::{
    edition::{PRELUDE, Workshop, check, crate_of, marked, places, reports},
    harness::{bisect_rustc, only, rustc},
};

/// A deadlock in edition 2021, which `try_lock` turns into a panic.
const LOCK: &str = r#"use std::sync::Mutex;
fn take(queue: &Mutex<Vec<u32>>) -> u32 {
    /*if*/if let Some(x) = queue.lock().unwrap().pop() { x } else { refill(queue) }
}
fn refill(queue: &Mutex<Vec<u32>>) -> u32 {
    let Ok(mut queue) = queue.try_lock() else { panic!("deadlock") };
    queue.push(1);
    7
}
pub fn main() { println!("{}", take(&Mutex::new(vec![]))) }
"#;

/// A borrow that lasts too long in edition 2021.
const CELL: &str = r#"use std::cell::RefCell;
pub fn main() {
    let cell = RefCell::new(vec![1]);
    let write = |n: usize, ()| cell.borrow_mut().push(n);
    write({ /*tail*/cell.borrow().len() }, { cell.borrow_mut().push(2); });
    println!("{cell:?}");
}
"#;

/// A guard that is dropped too early in edition 2024.
const EARLY: &str = r#"use std::cell::Cell;
struct Open<'a>(&'a Cell<bool>);
impl Drop for Open<'_> { fn drop(&mut self) { self.0.set(false) } }
fn open(door: &Cell<bool>) -> Open<'_> { door.set(true); Open(door) }
impl Open<'_> { fn number(&self) -> u32 { 3 } }
fn enter(door: &Cell<bool>, number: u32) { assert!(door.get(), "closed"); println!("{number}") }
pub fn main() { let door = &Cell::new(false); enter(door, { /*tail*/open(door).number() }); }
"#;

/// Programs with temporaries of all kinds, with their places marked.
const ALL_KINDS: [(&str, &str); 29] = [
    ("lock", LOCK),
    ("cell", CELL),
    ("guard", EARLY),
    ("order of a log", "fn f() -> u32 { let _a = noisy(1); /*tail*/noisy(2).get() } pub fn main() { f(); }"),
    (
        "nested blocks",
        "pub fn main() { say({ let _a = noisy(1); /*tail*/{ let _b = noisy(2); /*tail*/noisy(3).get() } }); }",
    ),
    (
        "nested if let",
        "pub fn main() { /*if*/if let Some(_) = noisy(1).some().filter(|_| false) {} else /*if*/if let Some(x) = noisy(2).none() { say(x); } \
             else { let _a = noisy(3); if let Some(x) = noisy(4).some() { say(x); } say(5); }; say(6); }",
    ),
    ("parentheses", "pub fn main() { say(((/*if*/if let Some(x) = noisy(1).none() { x } else { say(2) }))); }"),
    ("async fn", "async fn f() -> u32 { let _a = noisy(1); /*tail*/noisy(2).get() } pub fn main() { run(f()); }"),
    (
        "async block",
        "pub fn main() { run(async { let _a = noisy(1); std::future::ready(say(2)).await; /*tail*/noisy(3).get() }); }",
    ),
    (
        "a temporary across an await",
        "async fn g(_: u32) -> u32 { say(1) } pub fn main() { run(async { let _a = noisy(2); /*tail*/g(noisy(3).get()).await }); }",
    ),
    ("closure", "pub fn main() { let f = |n| { let _a = noisy(n); /*tail*/noisy(2).get() }; f(1); }"),
    (
        "const block",
        "pub fn main() { let f = const { fn f() -> u32 { let _a = noisy(1); /*tail*/noisy(2).get() } f as fn() -> u32 }; f(); }",
    ),
    (
        "let else",
        "fn f() -> u32 { let Some(x) = ({ let _a = noisy(1); /*tail*/noisy(2).some() }) else { return 0 }; \
             let Some(y) = noisy(3).none() else { let _b = noisy(4); /*tail*/return { /*tail*/noisy(5).get() } }; y } pub fn main() { f(); }",
    ),
    (
        "while let",
        "pub fn main() { let mut n = 0; while let Some(x) = { n += 1; /*tail*/noisy(n).some().filter(|&x| x < 3) } { say(x); } }",
    ),
    ("plain while let", "pub fn main() { let mut n = 0; while let 0 | 1 = noisy(n).get() { n += 1; } say(n); }"),
    (
        "match guard",
        "pub fn main() { match say(1) { n if { /*tail*/noisy(n).get() == 2 } & (say(3) == 3) => {} n if noisy(n).get() == 1 => { say(4); } _ => {} } }",
    ),
    (
        "generics",
        "fn f<T>(x: fn() -> T, g: fn(&T) -> u32) -> u32 { let _a = noisy(1); /*tail*/g(&x()) } pub fn main() { f(|| noisy(2), Noisy::get); }",
    ),
    (
        "impl Trait",
        "fn f(n: u32) -> impl Fn() -> u32 { let a = noisy(n); move || a.get() } \
             pub fn main() { let _z = { let _a = noisy(1); /*tail*/f(2)() }; say(3); }",
    ),
    ("loop", "pub fn main() { loop { let _a = noisy(1); if { /*tail*/noisy(2).get() } == say(2) { break } } }"),
    (
        "value of a loop",
        "pub fn main() { say(loop { let _a = noisy(1); /*tail*/break { let _b = noisy(2); /*tail*/noisy(3).get() } }); }",
    ),
    ("unsafe block", "pub fn main() { say(unsafe { let _a = noisy(1); /*tail*/noisy(2).get() }); }"),
    (
        "labeled block",
        "pub fn main() { say('a: { let _a = noisy(1); if say(2) == 3 { break 'a 4 } /*tail*/noisy(5).get() }); }",
    ),
    ("for", "pub fn main() { for i in { let _a = noisy(1); /*tail*/noisy(3).some() } { say(i); } }"),
    (
        "question mark",
        "fn f() -> Option<u32> { let _a = noisy(1); /*tail*/Some(noisy(noisy(2).some()?).none()?) } pub fn main() { f(); }",
    ),
    (
        "formatting",
        "fn f(to: &mut String) -> std::fmt::Result { use std::fmt::Write; let _a = noisy(1); /*tail*/write!(to, \"{}\", noisy(2).get()) } pub fn main() { f(&mut String::new()); }",
    ),
    ("pinned", "fn f() -> u32 { let _a = noisy(1); /*tail*/std::pin::pin!(noisy(2)).get() } pub fn main() { f(); }"),
    (
        "boxed",
        "fn f() -> u32 { let _a: Box<dyn std::any::Any> = Box::new(noisy(1)); /*tail*/Box::new(noisy(2)).get() } pub fn main() { f(); }",
    ),
    (
        "shared owners",
        "use std::rc::Rc; fn f(x: &Rc<u32>) -> usize { 0 } \
             pub fn main() { let one = Rc::new(1u32); let n = |_, n| println!(\"{n}\"); n({ /*tail*/Rc::clone(&one).count_ones() }, Rc::strong_count(&one)); }",
    ),
    (
        "a panic drops what is moved otherwise",
        "fn f(x: u32, a: Noisy) {} fn g() -> u32 { panic!() } \
             fn h() { let a = noisy(1); /*tail*/f(noisy(2).get() + g(), a) } pub fn main() { std::panic::catch_unwind(h); }",
    ),
];

#[test]
fn two_expressions_fail_only_together() {
    let program = r#"
use std::cell::Cell;
struct Count<'a>(&'a Cell<u32>);
impl Drop for Count<'_> { fn drop(&mut self) { self.0.set(self.0.get() - 1) } }
fn count(n: &Cell<u32>) -> Count<'_> { n.set(n.get() + 1); Count(n) }
impl Count<'_> { fn get(&self) -> u32 { self.0.get() } }
pub fn main() {
    let n = &Cell::new(0);
    let check = |_, _| assert!(n.get() > 0, "nobody is left");
    check({ /*tail*/count(n).get() }, { /*tail*/count(n).get() });
}
"#;
    let source = format!("{PRELUDE}{program}");
    let workshop = Workshop::new(&source);
    let fails = |pattern: &str| workshop.with("2021", pattern).0 != workshop.truth("2021");
    let found = places(&reports(&workshop.with("2021", "drops=vn").1));
    assert_eq!(found.keys().cloned().collect::<Vec<_>>(), marked(&source));
    assert!(found.values().all(|&id| !fails(&format!("drops={}", only(id)))));
    assert!(fails("drops=y"));
    assert_eq!(workshop.with("2021", "drops=y").0, workshop.truth("2024"));
}

#[test]
fn places_of_all_kinds() {
    check(&crate_of(&ALL_KINDS));
}

#[test]
fn the_code_is_that_of_the_other_edition_with_its_debug_information() {
    let workshop = Workshop::new(&crate_of(&ALL_KINDS));
    for (edition, other) in [("2021", "2024"), ("2024", "2021")] {
        let object = |compiler: &mut Command, edition| workshop.object(compiler, edition, &["-g"]);
        let on = object(bisect_rustc().env("BISECT_PATTERN", "drops=on;scopes=on"), edition);
        assert!(on == object(&mut rustc(), other), "{edition}");
        let off = object(bisect_rustc().env("BISECT_PATTERN", "drops=n;scopes=n"), edition);
        assert!(off == object(&mut rustc(), edition), "{edition}");
        assert!(on != off);
    }
}

#[test]
fn places_where_nothing_is_dropped_elsewhere_are_left_out() {
    let programs = [
        // There are no variables, and nothing happens after the end of the block.
        "fn f() -> u32 { noisy(1).get() } pub fn main() { f(); let x = { noisy(2).get() }; let y = (1, &{ noisy(3).get() }); { noisy(4).get() }; }",
        // The values of the variables were moved, or their destructors are not observable.
        "fn f() -> u32 { let a = noisy(1); drop(a); let b = vec![1]; let c = String::new(); noisy(2).get() } pub fn main() { f(); }",
        // The value itself is no temporary.
        "fn f() -> Noisy { let _a = noisy(1); noisy(2) } fn g() -> Noisy { let _b = noisy(3); if true { noisy(4) } else { noisy(5) } } pub fn main() { f(); g(); }",
        // The temporary lives as long as the variable.
        "pub fn main() { let x = { let _a = noisy(1); &noisy(2) }; say(3); }",
        // The destructors of the temporaries are not observable.
        "fn f() -> usize { let _a = noisy(1); vec![1].len() + String::from(\"x\").len() } pub fn main() { f(); }",
        // The value was moved into the pattern.
        "fn f() -> Option<Noisy> { None } pub fn main() { if let Some(x) = f() { say(1); } else { say(2); } }",
        "fn f() -> (Option<Noisy>, u32) { (None, 1) } pub fn main() { if let (Some(x), _) = f() { say(x.0); } else { say(2); } }",
        "fn f<T>(f: impl FnOnce(T) -> Option<T>, x: T) { if let Some(x) = f(x) { say(1); } else { say(2); } } pub fn main() { f(Some, noisy(1)); }",
        // Nothing happens in `else`.
        "fn f() -> u32 { if let Some(x) = noisy(1).some() { say(x) } else { 0 } } pub fn main() { f(); if let Some(_) = noisy(2).none() {} }",
    ];
    check(&crate_of(&programs.map(|program| ("left out", program))));
}

#[test]
fn a_macro_of_the_crate_is_one_place_wherever_it_is_called() {
    let program = r"
macro_rules! twice { ($n:expr) => {{ let _a = noisy($n); /*tail*/noisy(9).get() }} }
macro_rules! given { ($e:expr) => { say($e) } }
pub fn main() {
    twice!(1); twice!(2);
    twice!(3);
    twice!(4);
    given!({ let _b = noisy(5); /*tail*/noisy(6).get() });
    assert!({ let _c = noisy(7); /*tail*/noisy(8).get() == 8 });
}
";
    let source = format!("{PRELUDE}{program}");
    check(&source);
    let workshop = Workshop::new(&source);
    let all = reports(&workshop.with("2021", "drops=vn").1);
    let report = all.values().find(|lines| lines.len() > 7).unwrap();
    let first = PRELUDE.lines().count() + 5;
    let calls = [(first, 5), (first, 16), (first + 1, 5)];
    assert_eq!(
        report[7..10],
        calls.map(|(line, column)| format!("    expanded from twice! at program.rs:{line}:{column}"))
    );
    assert_eq!(report[10..], ["    and from 1 more calls"]);
}

#[test]
fn chains_of_conditions_are_places_of_edition_2024() {
    let program = r"
fn f() { /*if*/if let Some(x) = noisy(1).some() && let Some(y) = noisy(x + 1).none() { say(y); } else { say(3); } }
pub fn main() { f() }
";
    let source = format!("{PRELUDE}{program}");
    let workshop = Workshop::new(&source);
    let (off, stderr) = workshop.with("2024", "drops=vn");
    assert_eq!(off, workshop.truth("2024"));
    assert_eq!(off, "+ 1\n+ 2\n- 2\n- 1\nsay 3\nstatus Some(0)\n");
    assert_eq!(places(&reports(&stderr)).into_keys().collect::<Vec<_>>(), marked(&source));
    assert_eq!(workshop.with("2024", "drops=on").0, "+ 1\n+ 2\nsay 3\n- 2\n- 1\nstatus Some(0)\n");
}

#[test]
fn edited_as_advised_it_means_the_same_in_both_editions() {
    for (edition, original, advice, edited) in [
        (
            "2021",
            "fn f() -> u32 { let _a = noisy(1); noisy(2).get() } fn main() { f(); }",
            "declare `let t;` first in the block; at its end, assign `t = noisy(2);` and use `t`",
            "fn f() -> u32 { let t; let _a = noisy(1); t = noisy(2); t.get() } fn main() { f(); }",
        ),
        (
            "2021",
            "fn main() { say({ let _a = noisy(1); noisy(2).get() }); }",
            "declare `let t;` before the statement that the block is in; at its end, assign `t = noisy(2);` and use `t`",
            "fn main() { let t; say({ let _a = noisy(1); t = noisy(2); t.get() }); }",
        ),
        (
            "2021",
            "fn main() { if let Some(x) = noisy(1).none() { say(x); } else { say(2); } }",
            "match noisy(1).none() { Some(x) => { … } _ => { … } }",
            "fn main() { match noisy(1).none() { Some(x) => { say(x); } _ => { say(2); } } }",
        ),
        (
            "2024",
            "fn f() -> u32 { let _a = noisy(1); noisy(2).get() } fn main() { f(); }",
            "in the block, before its end: `let t = noisy(2);`, and use `t`",
            "fn f() -> u32 { let _a = noisy(1); let t = noisy(2); t.get() } fn main() { f(); }",
        ),
        (
            "2024",
            "fn main() { if let Some(x) = noisy(1).none() { say(x); } else { say(2); } }",
            "before the `if`: `let t = noisy(1);`; use `t`, and begin the `else` with `drop(t);`",
            "fn main() { let t = noisy(1); if let Some(x) = t.none() { say(x); } else { drop(t); say(2); } }",
        ),
        (
            "2024",
            "fn f() { let _a = noisy(1); if let Some(x) = noisy(2).some() { say(x); } } fn main() { f(); }",
            "put `;` behind it, or `{ …; }` around it",
            "fn f() { let _a = noisy(1); if let Some(x) = noisy(2).some() { say(x); }; } fn main() { f(); }",
        ),
        (
            "2024",
            "fn f() { let _a = noisy(1); if let Some(x) = noisy(2).some() && let Some(_) = noisy(x).some() { say(x); } } fn main() { f(); }",
            "put `;` behind it, or `{ …; }` around it",
            "fn f() { let _a = noisy(1); if let Some(x) = noisy(2).some() { if let Some(_) = noisy(x).some() { say(x); }; }; } fn main() { f(); }",
        ),
        (
            "2024",
            "fn main() { if let Some(x) = noisy(1).some() && let Some(y) = noisy(x).none() { say(y); } else { say(3); } }",
            "before the `if`, find out in a block of its own whether the conditions hold: `let t = { …; };`",
            "fn main() { let t = { let a = noisy(1); let t = match a.some() { Some(x) => noisy(x).none(), None => None }; t }; \
             if let Some(y) = t { say(y); } else { say(3); } }",
        ),
    ] {
        // Edition 2021 has no chains of conditions.
        let is_of_both = !original.contains(" && let ");
        let [original, edited] = [original, edited].map(|program| Workshop::new(&format!("{PRELUDE}{program}")));
        let (_, stderr) = original.with(edition, "drops=vn");
        assert!(stderr.contains(&format!("    to keep it: {advice} [")), "{stderr}");
        for other in ["2021", "2024"] {
            assert_eq!(edited.truth(other), original.truth(edition), "{advice}");
        }
        // The edit that keeps the meaning of one edition gives it to the other one.
        if is_of_both {
            let (_, stderr) = original.with(if edition == "2021" { "2024" } else { "2021" }, "drops=vn");
            assert!(stderr.contains(&format!("    to mend it: {advice} [")), "{stderr}");
        }
    }
}
