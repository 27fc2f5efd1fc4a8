//! Patches: the difference between two trees as changes that can be applied one by one.
//!
//! [`trees`] reads both trees from git, [`Patch`] divides their difference into parts, and [`overlay`] writes any
//! selection of these parts into a work tree.

mod aligned;
mod conversions;
pub(crate) mod finer;
mod items;
mod lines;
pub(crate) mod overlay;
mod parts;
pub(crate) mod trees;

pub(crate) use conversions::has_attributes;
pub(crate) use items::Items;
pub(crate) use parts::{Composition, Origin, Patch, PatchPart, Piece};
