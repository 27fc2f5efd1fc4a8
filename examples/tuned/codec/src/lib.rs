//! Samples of a sensor in few bytes: differences, each with the number of its repetitions.
//!
//! The constants were tuned for long recordings. The old values are still here: the build of the crate chooses.

#![allow(clippy::inline_always, reason = "what is inlined is among what was tuned")]

use bisect_rt::{bisect_attr, bisect_build};

/// The longest run that is coded as one, counted in a byte.
const LONGEST_RUN: usize = if bisect_build!("tuned") { 256 } else { 255 };

/// Bytes reserved for each sample of the input.
const BYTES_A_SAMPLE: usize = if bisect_build!("tuned") { 1 } else { 4 };

/// The number of samples for which decoding reserves memory.
const RUNS_RESERVED: usize = if bisect_build!("tuned") { 1_024 } else { 16 };

/// Bytes of a run of equal differences: their number, and the difference.
const RUN_BYTES: usize = 3;

/// Encodes samples as bytes.
#[must_use]
pub fn encode(samples: &[i16]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(samples.len() * BYTES_A_SAMPLE);
    let mut differences = differences(samples).peekable();
    while let Some(difference) = differences.next() {
        let mut run = 1;
        while run < LONGEST_RUN && differences.next_if_eq(&difference).is_some() {
            run += 1;
        }
        bytes.push(low_byte(run));
        bytes.extend(difference.to_le_bytes());
    }
    bytes
}

/// Decodes bytes to samples. Bytes after the last whole run are ignored.
#[must_use]
pub fn decode(bytes: &[u8]) -> Vec<i16> {
    let mut samples = Vec::with_capacity(RUNS_RESERVED);
    let mut last = 0_i16;
    for run in bytes.chunks_exact(RUN_BYTES) {
        let difference = i16::from_le_bytes([run[1], run[2]]);
        for _ in 0..run[0] {
            last = last.wrapping_add(difference);
            samples.push(last);
        }
    }
    samples
}

#[bisect_attr("tuned", inline(always))]
fn differences(samples: &[i16]) -> impl Iterator<Item = i16> {
    samples.iter().scan(0_i16, |last, &sample| Some(sample.wrapping_sub(std::mem::replace(last, sample))))
}

#[bisect_attr("tuned", inline(always))]
fn low_byte(run: usize) -> u8 {
    run.to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_takes_three_bytes() {
        assert_eq!(encode(&[7, 14, 21, 21]), [3, 7, 0, 1, 0, 0]);
    }

    #[test]
    fn short_recordings_come_back() {
        for samples in [&[][..], &[0], &[5, 5, 5, -5], &[i16::MIN, i16::MAX, 0]] {
            assert_eq!(decode(&encode(samples)), samples);
        }
    }
}
