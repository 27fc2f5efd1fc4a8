//! The cost of toggles, by the assembly of the functions that contain them.
#![cfg(target_arch = "x86_64")]

use std::{
    fs::{self, File},
    time::SystemTime,
};

use crate::fixture::{Flavour, copy, temporary};

/// Returns the assembly of the fixture's functions.
fn assembly(flavour: Flavour) -> String {
    let path = temporary().join(format!("cost-{flavour:?}.s"));
    if !path.exists() {
        // Cargo does not know this file, and treats the package as up to date without it.
        let source = File::options().append(true).open(copy().join("cost/src/lib.rs")).unwrap();
        source.set_modified(SystemTime::now()).unwrap();
    }
    let emit = format!("--emit=asm={}", path.display());
    let mut cargo = flavour.cargo(&["rustc", "--package", "cost"]);
    let output = cargo.args(["--", "-Ccodegen-units=1", &emit]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(&path).unwrap()
}

/// Returns the instructions of a function, with labels numbered in order.
fn body(assembly: &str, function: &str) -> Vec<String> {
    let start = format!("{function}:");
    let lines = assembly.lines().skip_while(|line| *line != start).skip(1);
    let mut labels: Vec<String> = Vec::new();
    let instructions = lines
        .take_while(|line| !line.starts_with(".Lfunc_end") && !line.contains(".cfi_endproc"))
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty() && (!line.starts_with('.') || line.starts_with(".LBB")))
        .map(|line| {
            let words = line.split([' ', '\t', ',', ':']).filter(|word| word.starts_with(".LBB"));
            words.fold(line.to_owned(), |line, label| {
                let number = labels.iter().position(|other| other == label).unwrap_or_else(|| {
                    labels.push(label.into());
                    labels.len() - 1
                });
                line.replace(label, &format!("L{number}"))
            })
        });
    let body: Vec<_> = instructions.collect();
    assert!(!body.is_empty(), "{function} is in the assembly");
    body
}

#[test]
#[ignore = "slow: CI runs it"]
fn compiled_out_a_toggled_function_is_the_plain_one() {
    let assembly = assembly(Flavour::Off);
    for function in ["sum", "gate", "point"] {
        let aliased = format!("toggled_{function} = plain_{function}");
        let aliased =
            assembly.contains(&aliased) || assembly.contains(&format!(".set toggled_{function}, plain_{function}"));
        if !aliased {
            assert_eq!(body(&assembly, &format!("toggled_{function}")), body(&assembly, &format!("plain_{function}")));
        }
    }
}

#[test]
fn an_inactive_point_is_one_load_and_one_branch() {
    let assembly = assembly(Flavour::Plain);
    let (point, plain) = (way(&assembly, "toggled_point"), way(&assembly, "plain_point"));
    let branches = point.iter().filter(|line| line.starts_with('j')).count();
    assert_eq!(branches, 1, "{point:#?}");
    // The linker can replace a load of an address from the table.
    let loads = point.iter().filter(|line| line.contains('(') && !line.contains("@GOTPCREL")).count();
    assert_eq!(loads, 1, "{point:#?}");
    // The other instructions take the address, and compare.
    assert_eq!(point.len(), plain.len() + 4, "{point:#?} beside {plain:#?}");
}

/// Returns the instructions that run if no branch is taken.
fn way(assembly: &str, function: &str) -> Vec<String> {
    let mut body = body(assembly, function);
    let end = body.iter().position(|line| line.starts_with("ret")).expect("a function returns");
    body.truncate(end + 1);
    body.retain(|line| !line.starts_with('L'));
    body
}
