//! Rows under construction, in a quarter of the room: the steps from item to item, most of them one byte.

use crate::error::Result;
use crate::memory;

/// What needs memory.
const ROWS: &str = "votes";
/// Bytes of a step, at most.
const STEP: usize = 5;

/// Rows that are written one after another, and read in any order.
#[derive(Default)]
pub(super) struct Packed {
    /// The last row, or the one that is being made.
    row: Vec<u32>,
    spare: Vec<u32>,
    sizes: Vec<u32>,
    ends: Vec<usize>,
    steps: Vec<u8>,
}

impl Packed {
    /// Begins a row with no items.
    pub fn begin(&mut self) {
        self.row.clear();
    }

    /// Puts an item behind the others of the row.
    pub fn push(&mut self, item: u32) -> Result<()> {
        memory::room(&mut self.row, 1, ROWS)?;
        self.row.push(item);
        Ok(())
    }

    /// Ends a row. Steps are written seven bits to a byte, the lowest first; the highest bit says that more follow.
    pub fn close(&mut self) -> Result<()> {
        memory::room(&mut self.steps, STEP * self.row.len(), ROWS)?;
        memory::room(&mut self.sizes, 1, ROWS)?;
        memory::room(&mut self.ends, 1, ROWS)?;
        let mut before = 0;
        for &item in &self.row {
            let mut step = item - before;
            before = item;
            while step >= 0x80 {
                self.steps.push(step as u8 | 0x80);
                step >>= 7;
            }
            self.steps.push(step as u8);
        }
        self.sizes.push(self.row.len() as u32);
        self.ends.push(self.steps.len());
        Ok(())
    }

    /// Appends the last row once more, with some items put in that it lacks, or taken out that it has.
    pub fn push_changed(&mut self, changes: &[u32]) -> Result<()> {
        self.spare.clear();
        memory::room(&mut self.spare, self.row.len() + changes.len(), ROWS)?;
        let mut left = &self.row[..];
        for &item in changes {
            let (same, rest) = left.split_at(left.partition_point(|&other| other < item));
            self.spare.extend_from_slice(same);
            left = if rest.first() == Some(&item) {
                &rest[1..]
            } else {
                self.spare.push(item);
                rest
            };
        }
        self.spare.extend_from_slice(left);
        std::mem::swap(&mut self.row, &mut self.spare);
        self.close()
    }

    /// Gives back what only more rows would need, and tells how many bytes are left.
    pub fn finish(&mut self) -> usize {
        (self.row, self.spare) = (vec![], vec![]);
        self.steps.shrink_to_fit();
        self.steps.len() + 4 * self.sizes.capacity() + 8 * self.ends.capacity()
    }

    /// Number of items of the last row.
    pub fn last_size(&self) -> u32 {
        self.row.len() as u32
    }

    /// Number of items of a row.
    pub fn size(&self, row: usize) -> usize {
        self.sizes[row] as usize
    }

    /// Writes the items of a row into a slice of its size.
    pub fn unpack(&self, row: usize, out: &mut [u32]) {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        let mut steps = self.steps[start..self.ends[row]].iter();
        let mut item = 0;
        for place in out {
            let mut shift = 0;
            for &byte in steps.by_ref() {
                item += u32::from(byte & 0x7f) << shift;
                if byte < 0x80 {
                    break;
                }
                shift += 7;
            }
            *place = item;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn item() -> impl Strategy<Value = u32> {
        prop_oneof![0u32..300, 0u32..70_000, any::<u32>()]
    }

    proptest! {
        #[test]
        fn rows_come_back(
            first in prop::collection::btree_set(item(), 0..40),
            changes in prop::collection::vec(prop::collection::btree_set(item(), 0..6), 0..20),
        ) {
            let mut packed = Packed::default();
            packed.begin();
            for &item in &first {
                packed.push(item).unwrap();
            }
            packed.close().unwrap();
            let mut rows: Vec<BTreeSet<u32>> = vec![first];
            for changes in changes {
                packed.push_changed(&changes.iter().copied().collect::<Vec<_>>()).unwrap();
                rows.push(rows[rows.len() - 1].symmetric_difference(&changes).copied().collect());
            }
            for (i, row) in rows.iter().enumerate().rev() {
                let mut out = vec![0; packed.size(i)];
                packed.unpack(i, &mut out);
                prop_assert_eq!(&out, &row.iter().copied().collect::<Vec<_>>());
            }
            prop_assert_eq!(packed.last_size() as usize, rows[rows.len() - 1].len());
        }
    }
}
