//! The box office of a small theatre: people ask for seats, and get them or others.

pub mod evening;
pub mod hall;
pub mod office;

/// The wishes of an evening.
pub const EVENING: &str = include_str!("../data/evening.txt");
