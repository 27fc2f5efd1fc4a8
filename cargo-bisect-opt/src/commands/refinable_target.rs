//! A target that further searches use: the same tests or command, searched by another axis.

use std::io;

use crate::{
    axes::Axis,
    lab::target::Target,
    targets::{command::CommandTarget, project::ProjectTarget},
};

/// A target that another axis can search, too.
pub(super) trait RefinableTarget: Target + Sized {
    /// Returns the same target for these failing tests, searched by another axis as one failure.
    fn beside(&self, tests: &[String], axis: Box<dyn Axis>) -> io::Result<Self>;

    /// Returns the same target for these failing tests, searched by another axis, of which each test may have its own
    /// culprit.
    fn inside(&self, tests: &[String], axis: Box<dyn Axis>) -> io::Result<Self> {
        self.beside(tests, axis)
    }
}

impl RefinableTarget for ProjectTarget {
    fn beside(&self, tests: &[String], axis: Box<dyn Axis>) -> io::Result<Self> {
        Ok(self.narrowed(tests, axis))
    }

    fn inside(&self, tests: &[String], axis: Box<dyn Axis>) -> io::Result<Self> {
        Ok(self.inside(tests, axis))
    }
}

impl RefinableTarget for CommandTarget {
    fn beside(&self, _: &[String], axis: Box<dyn Axis>) -> io::Result<Self> {
        self.searched_by(axis).map_err(io::Error::other)
    }
}
