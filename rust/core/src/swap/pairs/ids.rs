//! Tuples of categories as consecutive numbers.

use rayon::prelude::*;

use super::WHAT;
use crate::coded::Coded;
use crate::error::Result;
use crate::memory;

/// Up to this many possible tuples, a table of all of them is small.
const DENSE: u64 = 1 << 22;

/// A number for each record: records have the same one if they agree in some columns.
#[derive(Debug, Clone)]
pub struct Ids {
    /// Number of each record.
    pub of: Vec<u32>,
    /// How many numbers there are.
    pub count: usize,
}

impl Ids {
    /// One number for all of `n` records.
    pub fn one(n: usize) -> Self {
        Self { of: vec![0; n], count: usize::from(n > 0) }
    }

    /// Tells records apart by one more column. Numbers are in the order of (number so far, category), so what was one
    /// number becomes a range of numbers. O(n), or O(n log n) where far more tuples are possible than there are records.
    pub fn refined(&self, column: Coded<'_>) -> Result<Self> {
        let levels = column.levels();
        let key = |(&id, &code): (&u32, &u32)| u64::from(id) * levels + u64::from(column.level(code));
        let possible = self.count as u64 * levels;
        if possible <= DENSE.max(4 * self.of.len() as u64) {
            memory::require(size_of::<u32>() * (possible as usize + self.of.len()), WHAT)?;
            let mut number = vec![0u32; possible as usize];
            for pair in self.of.iter().zip(column.codes) {
                number[key(pair) as usize] = 1;
            }
            let mut count = 0;
            for cell in &mut number {
                count += std::mem::replace(cell, count);
            }
            let of = self.of.par_iter().zip(column.codes).map(|pair| number[key(pair) as usize]).collect();
            return Ok(Self { of, count: count as usize });
        }
        memory::require((2 * size_of::<u64>() + size_of::<u32>()) * self.of.len(), WHAT)?;
        let keys: Vec<u64> = self.of.par_iter().zip(column.codes).map(key).collect();
        let mut distinct = keys.clone();
        distinct.par_sort_unstable();
        distinct.dedup();
        let of = keys.par_iter().map(|key| distinct.partition_point(|d| d < key) as u32).collect();
        Ok(Self { of, count: distinct.len() })
    }

    /// The same numbers as a column, to tell apart by.
    pub fn column(&self) -> Coded<'_> {
        Coded { codes: &self.of, categories: self.count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MISSING;

    #[test]
    fn numbers_are_consecutive_and_nested() {
        let ids = Ids::one(5).refined(Coded { codes: &[2, 0, MISSING, 2, 0], categories: 3 }).unwrap();
        assert_eq!((&ids.of[..], ids.count), (&[1, 0, 2, 1, 0][..], 3));
        let ids = ids.refined(Coded { codes: &[0, 1, 0, 1, 1], categories: 2 }).unwrap();
        assert_eq!((&ids.of[..], ids.count), (&[1, 0, 3, 2, 0][..], 4));
        assert_eq!(Ids::one(0).refined(Coded { codes: &[], categories: 2 }).unwrap().count, 0);
    }

    #[test]
    fn sorting_numbers_like_the_table() {
        let codes: Vec<u32> = (0..50u32).map(|i| i * i % 13).collect();
        let table = Ids::one(50).refined(Coded { codes: &codes, categories: 13 }).unwrap();
        let sorted = Ids::one(50).refined(Coded { codes: &codes, categories: 1 << 30 }).unwrap();
        assert_eq!((table.of, table.count), (sorted.of, sorted.count));
    }
}
