//! Swapping: values of a column change places; in rank swapping, near ones with near ones.
//!
//! - [`ranked`]: swapping along a ranking of the records (SRS-1, numerical and distributional rank swapping, random).
//! - [`dynamic`]: swapping inside clusters built around every reference (SRS-2), on counts of categories.
//! - [`records`]: the same on whole records of several columns (SRS-3), on their distinct tuples.
//! - [`permute`]: permutations inside disjoint groups of records, for a guarantee.
//! - [`pairs`]: random pairs under constraints, for categorical data swapping, which asks for no meaning.
//!
//! All keep the values of a column as they are and only give them to other records, so counts, mean and variance
//! cannot change.

pub mod dynamic;
pub mod pairs;
pub mod permute;
pub mod ranked;
pub mod records;

use crate::error::{Error, Result};

/// A swapped column, and what the swapping came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swapped {
    /// The code that each record has afterwards.
    pub codes: Vec<u32>,
    /// How many references had 0, 1, 2, … candidates to swap with; those with 0 kept their value.
    pub candidates: Vec<u64>,
}

impl Swapped {
    fn new(codes: &[u32]) -> Self {
        Self { codes: codes.to_vec(), candidates: Vec::new() }
    }

    /// Bytes that the result for `n` records takes.
    fn needs(n: usize, k: usize) -> usize {
        size_of::<u32>() * n + size_of::<u64>() * 2 * (k.min(n) + 1)
    }

    fn count(&mut self, candidates: usize) {
        if self.candidates.len() <= candidates {
            self.candidates.resize(candidates + 1, 0);
        }
        self.candidates[candidates] += 1;
    }
}

/// Steps between two looks at the control handle.
const STEPS: u64 = 1 << 14;

fn check_k(k: usize) -> Result<()> {
    if k == 0 {
        Err(Error::Parameter("k is 0; a value needs at least one candidate to swap with".into()))
    } else {
        Ok(())
    }
}
