//! A language of whole numbers, an interpreter for it, and an optimizer that rewrites expressions.
//!
//! The optimizer asks before each application of a rule: [`gate`] is all that a compiler needs to be searched by
//! `cargo bisect-opt exec`.

pub mod gate;
pub mod interpret;
pub mod parse;
pub mod rewrite;
pub mod tree;
