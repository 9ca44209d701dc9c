//! The smallest distances from each tuple of a batch, where there are so few tuples that all are looked at.
//!
//! Each lane keeps as many distances as records are wanted, ascending: the last of them is its limit. A distance is put
//! among them by two instructions for each, and for all lanes at once, which takes less than a heap for each lane. A
//! tuple that is near enough for some lane is kept with its distances: which of them are wanted is known in the end.

use super::lanes::{LANES, NONE, Vector};

/// Records wanted up to which this takes less than a heap.
pub(crate) const MOST: usize = 32;

/// What has been found for a batch.
#[derive(Default)]
pub(crate) struct Smallest {
    /// The distances, ascending; less than any in idle lanes.
    distances: Vec<Vector>,
    /// Tuples that were near enough for some lane when they were looked at, and their distances.
    pub near: Vec<(u32, Vector)>,
}

impl Smallest {
    /// Begins a batch with limits that exceed all distances, but in idle lanes, and so many records wanted.
    pub fn restart(&mut self, limits: &Vector, wanted: usize) {
        self.distances.clear();
        self.distances.resize(wanted, limits.map(|limit| if limit == NONE { NONE } else { i16::MAX }));
        self.near.clear();
    }

    /// The distance of the last record wanted, or the largest that there is.
    #[inline]
    pub fn limits(&self) -> Vector {
        self.distances.last().copied().unwrap_or([NONE; LANES])
    }

    /// Adds a tuple with some records.
    #[inline]
    pub fn add(&mut self, tuple: u32, distances: Vector, records: u32) {
        self.near.push((tuple, distances));
        for _ in 0..self.distances.len().min(records as usize) {
            self.put(&distances);
        }
    }

    /// Puts a distance for each lane among the smallest.
    #[inline]
    fn put(&mut self, new: &Vector) {
        // What is farther moves on by one.
        let mut before = [NONE; LANES];
        for kept in &mut self.distances {
            let old = *kept;
            for lane in 0..LANES {
                kept[lane] = old[lane].min(new[lane]).max(before[lane]);
            }
            before = old;
        }
    }
}
