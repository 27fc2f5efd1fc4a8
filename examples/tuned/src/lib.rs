//! Recordings of a sensor, kept in blocks, so that a part can be read without the rest.

#![allow(clippy::inline_always, reason = "what is inlined is among what was tuned")]

use bisect_rt::{bisect_attr, bisect_build};

/// Samples in a block.
const BLOCK: usize = if bisect_build!("tuned") { 4_096 } else { 512 };

/// Blocks reserved for at the start.
const BLOCKS_RESERVED: usize = if bisect_build!("tuned") { 64 } else { 1 };

/// A recording in memory.
#[derive(Debug)]
pub struct Recording {
    blocks: Vec<Vec<u8>>,
    open: Vec<i16>,
}

impl Default for Recording {
    fn default() -> Self {
        Self { blocks: Vec::with_capacity(BLOCKS_RESERVED), open: Vec::with_capacity(BLOCK) }
    }
}

impl Recording {
    /// Adds a sample.
    #[bisect_attr("tuned", inline(always))]
    pub fn push(&mut self, sample: i16) {
        self.open.push(sample);
        if self.open.len() == BLOCK {
            self.close_block();
        }
    }

    #[bisect_attr("tuned", cold)]
    fn close_block(&mut self) {
        self.blocks.push(tuned_codec::encode(&self.open));
        self.open.clear();
    }

    /// Returns all samples, in order.
    #[must_use]
    pub fn samples(&self) -> Vec<i16> {
        let closed = self.blocks.iter().flat_map(|block| tuned_codec::decode(block));
        closed.chain(self.open.iter().copied()).collect()
    }

    /// Returns the number of bytes in the closed blocks.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.blocks.iter().map(Vec::len).sum()
    }
}
