//! The book, executed: each page runs in a home of its own, and what it shows is compared with what its commands print.
//!
//! CONTRIBUTING.md ("Write a page of the book") has the directives of pages. `UPDATE_BOOK=1` records the output anew.
#![cfg(target_os = "linux")]

mod home;
mod links;
mod page;
mod shown;
mod summary;

/// Makes a test for each page, and the list of all pages. CI runs the slow ones.
macro_rules! pages {
    ($($(#[$attribute:meta])* $test:ident: $file:literal,)*) => {
        /// The pages that are executed, in the order of the table of contents.
        const PAGES: &[&str] = &[$($file),*];
        $(
            #[test]
            $(#[$attribute])*
            fn $test() {
                page::execute($file);
            }
        )*
    };
}

pages! {
    index: "index.md",
    #[ignore = "slow: CI runs it"]
    tutorial: "tutorial.md",
    which_test: "which-test.md",
    #[ignore = "slow: CI runs it"]
    which_update: "which-update.md",
    #[ignore = "slow: CI runs it"]
    which_hunk: "which-hunk.md",
    #[ignore = "slow: CI runs it"]
    which_crate: "which-crate.md",
    which_expression: "which-expression.md",
    #[ignore = "slow: CI runs it"]
    which_commit: "which-commit.md",
    which_call: "which-call.md",
    which_moment: "which-moment.md",
    which_feature: "which-feature.md",
    which_variable: "which-variable.md",
    which_line: "which-line.md",
    #[ignore = "slow: CI runs it"]
    annotate: "annotate.md",
    flaky: "flaky.md",
    compiler: "compiler.md",
    parallel: "parallel.md",
    resume: "resume.md",
    #[ignore = "slow: CI runs it"]
    github_action: "github-action.md",
    #[ignore = "slow: CI runs it"]
    editor: "editor.md",
    how_it_works: "how-it-works.md",
    #[ignore = "slow: CI runs it"]
    answer: "answer.md",
    #[ignore = "slow: CI runs it"]
    commands: "commands.md",
    configuration: "configuration.md",
    #[ignore = "slow: CI runs it"]
    exit_statuses: "exit-statuses.md",
    reports: "reports.md",
    json: "json.md",
    protocol: "protocol.md",
    faq: "faq.md",
    looked_for: "looked-for.md",
    limits: "limits.md",
}

#[test]
fn the_table_of_contents_lists_the_pages() {
    summary::check(PAGES);
}

#[test]
fn words_mean_what_the_readme_says() {
    summary::check_words();
}

#[test]
fn links_lead_somewhere() {
    links::check();
}
