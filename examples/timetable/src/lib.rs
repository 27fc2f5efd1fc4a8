//! Departures of a station: read from text, searched by time, and printed as a board.

// The patch `tidy.patch` does what these lints ask for.
#![allow(clippy::all, clippy::pedantic)]

pub mod board;
pub mod clock;
pub mod plan;
