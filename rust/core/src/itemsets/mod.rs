//! Set-valued data: transactions over named items, and their nonreciprocal recoding.
//!
//! Xue, Karras, Raïssi, Vaidya, Tan: "Anonymizing set-valued data by nonreciprocal recoding", KDD 2012.

pub mod assign;
pub mod best_match;
pub mod cahd;
pub mod closure;
pub mod compatible;
pub mod distance;
pub mod diverse;
pub mod order;
pub mod query;
pub mod rows;
pub mod text;
pub mod vote;

use crate::error::{Error, Result};
use crate::memory;

/// Records that are sets of items, row after row in two flat arrays. Items are numbers below `n_items`; their
/// names stay outside.
///
/// Rows are lists, not bitmaps, because a million baskets over ten million articles have no room as bitmaps; what
/// needs bits packs them itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Itemsets {
    n_items: u32,
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Itemsets {
    /// Records from flat rows: row i is `items[starts[i]..starts[i + 1]]`, strictly increasing. O(items).
    pub fn new(n_items: u32, starts: Vec<usize>, items: Vec<u32>) -> Result<Self> {
        let whole = starts.first() == Some(&0) && starts.last() == Some(&items.len());
        if !whole || starts.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(Error::Parameter("rows begin at 0, go up and end with the last item".to_owned()));
        }
        if starts.len() > u32::MAX as usize {
            return Err(Error::Parameter(format!("{} records: at most 2^32 − 2", starts.len() - 1)));
        }
        let sets = Self { n_items, starts, items };
        for (i, row) in sets.rows().enumerate() {
            if row.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(Error::Parameter(format!("row {i}: items are in order, each once")));
            }
            if row.last().is_some_and(|&item| item >= n_items) {
                return Err(Error::Parameter(format!("row {i}: there are {n_items} items")));
            }
        }
        Ok(sets)
    }

    /// Number of records.
    pub fn n(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of items that a record may hold.
    pub fn n_items(&self) -> u32 {
        self.n_items
    }

    /// The items of record `i`, in increasing order.
    #[inline]
    pub fn row(&self, i: u32) -> &[u32] {
        &self.items[self.starts[i as usize]..self.starts[i as usize + 1]]
    }

    /// All records in turn.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.starts.windows(2).map(|pair| &self.items[pair[0]..pair[1]])
    }

    /// Where rows begin, and the end of the last.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The items of all rows.
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// How many records hold each item. O(items).
    pub fn frequencies(&self) -> Result<Vec<u32>> {
        memory::require(4 * self.n_items as usize, "the frequencies of items")?;
        Ok(self.counts())
    }

    fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.n_items as usize];
        for &item in &self.items {
            counts[item as usize] += 1;
        }
        counts
    }

    /// Which items more than half of all records hold: those that a tied vote sets. O(items), and five bytes an item.
    pub(crate) fn common(&self) -> Vec<bool> {
        self.counts().into_iter().map(|count| 2 * u64::from(count) > self.n() as u64).collect()
    }

    /// Number of items that only one of two records holds. O(length of both).
    pub fn hamming(&self, a: u32, b: u32) -> u32 {
        let (a, b) = (self.row(a), self.row(b));
        let (mut i, mut j, mut shared) = (0, 0, 0);
        while i < a.len() && j < b.len() {
            shared += u32::from(a[i] == b[j]);
            let (next_a, next_b) = (a[i] <= b[j], b[j] <= a[i]);
            i += usize::from(next_a);
            j += usize::from(next_b);
        }
        (a.len() + b.len()) as u32 - 2 * shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_distances() {
        let sets = Itemsets::new(4, vec![0, 2, 4, 4], vec![0, 1, 1, 2]).unwrap();
        assert_eq!((sets.n(), sets.n_items(), sets.row(1)), (3, 4, &[1, 2][..]));
        assert_eq!([sets.hamming(0, 1), sets.hamming(0, 2), sets.hamming(1, 1)], [2, 2, 0]);
        assert_eq!(sets.frequencies().unwrap(), [1, 2, 1, 0]);
    }

    #[test]
    fn rows_that_are_no_sets_are_refused() {
        for (starts, items) in [
            (vec![], vec![]),
            (vec![1], vec![]),
            (vec![0, 2], vec![1]),
            (vec![0, 2], vec![1, 1]),
            (vec![0, 2], vec![2, 1]),
            (vec![0, 1], vec![4]),
            (vec![0, 2, 1, 2], vec![0, 1]),
        ] {
            assert!(Itemsets::new(4, starts, items).is_err());
        }
    }
}
