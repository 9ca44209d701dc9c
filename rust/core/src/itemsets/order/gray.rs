//! The Gray order of records, without bitmaps.
//!
//! A record is the bitmap of its items, the first column first; its Gray rank is the number whose Gray code this bitmap is.
//! Two bitmaps differ first at some column, after equally many ones: if these are even in number, the bitmap without the
//! item ranks lower, else the one with it. So on sorted lists the order is lexicographic, with a sense that changes at
//! every item, and a list that ends counts as one that goes on with an item behind all others.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::super::Itemsets;
use super::ORDER;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;

/// Records whose keys are sorted at once between two looks at the control handle.
const BUCKET: usize = 1 << 17;

/// Items after which records are compared as they are: keys no longer pay.
const DEEP: usize = 256;

/// The records of a collection in Gray order; equal ones stay in their order. O(items + n·log n) where records differ early.
///
/// `columns` tells the order of the items, most significant first; without it they count as numbered.
pub fn gray_order(sets: &Itemsets, columns: Option<&[u32]>, control: &Control) -> Result<Vec<u32>> {
    control.begin(sets.n() as u64);
    sorted(sets, columns, control)
}

/// The same as a part of longer work: reports a unit for each record.
pub(super) fn sorted(sets: &Itemsets, columns: Option<&[u32]>, control: &Control) -> Result<Vec<u32>> {
    memory::require(needs(sets.n(), columns.map_or(0, <[u32]>::len)), ORDER)?;
    let ranks = columns.map(|columns| ranks(sets.n_items(), columns)).transpose()?;
    let sorter = Sorter { sets, ranks: ranks.as_deref(), control };
    let mut entries: Vec<(u64, u32)> = Vec::with_capacity(sets.n());
    (0..sets.n() as u32)
        .into_par_iter()
        .map(|record| (sorter.key(record, Prefix::default()), record))
        .collect_into_vec(&mut entries);
    sorter.sort(&mut entries, Prefix::default())?;
    Ok(entries.into_iter().map(|(_, record)| record).collect())
}

/// Bytes that the Gray order takes, at most: ranks of items; keys of records, where they are sorted into or runs of equal ones,
/// and the order.
pub(super) fn needs(n: usize, columns: usize) -> usize {
    4 * columns + 68 * n
}

/// Place of each item in the order of columns.
fn ranks(n_items: u32, columns: &[u32]) -> Result<Vec<u32>> {
    let mut ranks = vec![u32::MAX; n_items as usize];
    for (rank, &column) in (0u32..).zip(columns) {
        match ranks.get_mut(column as usize) {
            Some(place) if *place == u32::MAX => *place = rank,
            _ => return Err(Error::Parameter(format!("column {column}: each of the {n_items} items comes once"))),
        }
    }
    if columns.len() == ranks.len() {
        Ok(ranks)
    } else {
        Err(Error::Parameter(format!("{} columns for {n_items} items", columns.len())))
    }
}

/// The items that some records have in common at the start: how many, and the rank above which others come.
#[derive(Clone, Copy, Default)]
struct Prefix {
    depth: usize,
    next: u32,
}

struct Sorter<'a> {
    sets: &'a Itemsets,
    ranks: Option<&'a [u32]>,
    control: &'a Control,
}

impl Sorter<'_> {
    /// Items told by one key: as many as fit.
    fn width(&self) -> usize {
        if self.sets.n_items() < 1 << 16 { 4 } else { 2 }
    }

    /// The next few items after the prefix, as a number that orders as they do.
    fn key(&self, record: u32, prefix: Prefix) -> u64 {
        let (end, width) = (self.sets.n_items(), self.width());
        let items = self.smallest(record, prefix);
        items[..width].iter().enumerate().fold(0, |key, (i, &item)| {
            // With an even number of items before, the later item ranks lower.
            let digit = if i % 2 == 0 { end - item } else { item };
            (key << (64 / width)) | u64::from(digit)
        })
    }

    /// Ranks of the first items after the prefix; the number of items where there are no more. Widths and depths are even.
    fn smallest(&self, record: u32, prefix: Prefix) -> [u32; 4] {
        let row = self.sets.row(record);
        let mut first = [self.sets.n_items(); 4];
        let Some(ranks) = self.ranks else {
            for (slot, &item) in first.iter_mut().zip(row.get(prefix.depth..).unwrap_or_default()) {
                *slot = item;
            }
            return first;
        };
        for &item in row {
            let mut rank = ranks[item as usize];
            if rank >= prefix.next && rank < first[3] {
                for slot in &mut first {
                    if rank < *slot {
                        std::mem::swap(&mut rank, slot);
                    }
                }
            }
        }
        first
    }

    /// Sorts records with a common prefix by their keys, and those with the same key by what follows.
    fn sort(&self, entries: &mut [(u64, u32)], prefix: Prefix) -> Result<()> {
        if entries.len() > BUCKET {
            self.split(entries, prefix)
        } else {
            entries.sort_unstable();
            self.finish(entries, prefix)
        }
    }

    /// Divides many records by a sample of their keys, then sorts the parts.
    fn split(&self, entries: &mut [(u64, u32)], prefix: Prefix) -> Result<()> {
        let parts = entries.len().div_ceil(BUCKET / 2);
        let mut sample: Vec<u64> = entries.iter().step_by(entries.len() / (parts * 32)).map(|&(key, _)| key).collect();
        sample.sort_unstable();
        let mut bounds: Vec<u64> = sample.iter().copied().skip(32).step_by(32).collect();
        bounds.dedup();
        // Keys equal to a bound get a part of their own: as many as there may be, they need no sorting.
        let part = |key: u64| match bounds.binary_search(&key) {
            Ok(place) => 2 * place + 1,
            Err(place) => 2 * place,
        };
        let mut starts = vec![0; 2 * bounds.len() + 2];
        for &(key, _) in &*entries {
            starts[part(key) + 1] += 1;
        }
        self.control.check()?;
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut sorted = vec![(0, 0); entries.len()];
        for &entry in &*entries {
            let slot = &mut next[part(entry.0)];
            sorted[*slot] = entry;
            *slot += 1;
        }
        self.control.check()?;
        entries.copy_from_slice(&sorted);
        drop(sorted);
        let mut rest = entries;
        let mut pieces = Vec::with_capacity(starts.len());
        for sizes in starts.windows(2) {
            let (piece, others) = rest.split_at_mut(sizes[1] - sizes[0]);
            pieces.push(piece);
            rest = others;
        }
        pieces.into_par_iter().enumerate().try_for_each(|(part, piece)| {
            if part % 2 == 0 {
                piece.sort_unstable();
            }
            self.finish(piece, prefix)
        })
    }

    /// Sorts records with the same key by what follows. They come in the order of their keys, equal ones in their own order.
    fn finish(&self, entries: &mut [(u64, u32)], prefix: Prefix) -> Result<()> {
        let runs: Vec<&mut [(u64, u32)]> = entries.chunk_by_mut(|a, b| a.0 == b.0).collect();
        runs.into_par_iter().with_min_len(64).try_for_each(|run| {
            let items = if run.len() > 1 { self.smallest(run[0].1, prefix) } else { [self.sets.n_items(); 4] };
            let last = items[self.width() - 1];
            if last == self.sets.n_items() {
                return self.control.advance(run.len() as u64); // alone, or equal to the end
            }
            let prefix = Prefix { depth: prefix.depth + self.width(), next: last + 1 };
            if prefix.depth >= DEEP {
                self.compare(run, prefix)?;
                return self.control.advance(run.len() as u64);
            }
            run.par_iter_mut().with_min_len(1 << 10).for_each(|entry| entry.0 = self.key(entry.1, prefix));
            self.sort(run, prefix)
        })
    }

    /// Sorts records with a common prefix by all their other items.
    fn compare(&self, run: &mut [(u64, u32)], prefix: Prefix) -> Result<()> {
        // Other threads may do the same at this moment.
        let items: usize = run.iter().map(|&(_, record)| self.sets.row(record).len() - prefix.depth).sum();
        memory::require(rayon::current_num_threads() * (4 * items + 64 * run.len()), ORDER)?;
        let rest = |&(_, record): &(u64, u32)| {
            let row = self.sets.row(record);
            let Some(ranks) = self.ranks else { return (row[prefix.depth..].to_vec(), record) };
            let mut rest = Vec::with_capacity(row.len() - prefix.depth);
            rest.extend(row.iter().map(|&i| ranks[i as usize]).filter(|&r| r >= prefix.next));
            rest.sort_unstable();
            (rest, record)
        };
        let mut rests: Vec<(Vec<u32>, u32)> = run.iter().map(rest).collect();
        rests.sort_by(|(a, _), (b, _)| compare(a, b));
        for (entry, (_, record)) in run.iter_mut().zip(rests) {
            entry.1 = record;
        }
        Ok(())
    }
}

/// Gray order of two sorted lists.
fn compare(a: &[u32], b: &[u32]) -> Ordering {
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let ascending = match (a.get(same), b.get(same)) {
        (Some(x), Some(y)) => x.cmp(y),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    if same % 2 == 0 { ascending.reverse() } else { ascending }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: bits from the most significant column on, each summed up (modulo 2) with all before it.
    fn rank(row: &[u32], columns: &[u32]) -> Vec<bool> {
        let bits = columns.iter().map(|column| row.contains(column));
        bits.scan(false, |sum, bit| {
            *sum ^= bit;
            Some(*sum)
        })
        .collect()
    }

    fn check(sets: &Itemsets, columns: &[u32]) {
        let given: Vec<u32> = (0..sets.n_items()).collect();
        for (order, columns) in [
            (gray_order(sets, None, &Control::new()).unwrap(), &given[..]),
            (gray_order(sets, Some(columns), &Control::new()).unwrap(), columns),
        ] {
            let mut expected: Vec<u32> = (0..sets.n() as u32).collect();
            expected.sort_by_cached_key(|&record| rank(sets.row(record), columns));
            assert_eq!(order, expected);
        }
    }

    fn sets(n_items: u32, rows: impl Iterator<Item = Vec<u32>>) -> Itemsets {
        let (mut starts, mut items) = (vec![0], Vec::new());
        for row in rows {
            items.extend(row);
            starts.push(items.len());
        }
        Itemsets::new(n_items, starts, items).unwrap()
    }

    proptest! {
        #[test]
        fn order_is_that_of_prefix_sums(
            rows in prop::collection::vec(prop::collection::btree_set(0u32..14, 0..14), 0..120),
            columns in Just((0..14).collect::<Vec<u32>>()).prop_shuffle(),
        ) {
            check(&sets(14, rows.into_iter().map(|row| row.into_iter().collect())), &columns);
        }
    }

    #[test]
    fn many_equal_and_long_records() {
        let columns: Vec<u32> = (0..600).map(|i| i * 7 % 600).collect();
        let row = |i: u32| (0..600).filter(|&c| c < 500 && c % 97 != 3 || (i * i / 7 + c * i) % 5 == 1).collect();
        check(&sets(600, (0..200).map(|i| row(i / 2))), &columns);
    }

    #[test]
    fn many_items_and_many_records() {
        let n_items = 1 << 17;
        let mut columns: Vec<u32> = (0..n_items).rev().collect();
        columns.swap(0, 5);
        let row = |i: u32| vec![i % 3, 10 + i * 7 % 101, n_items - 1 - i % 20];
        let all = sets(n_items, (0..300_000).map(row));
        for columns in [None, Some(&columns[..])] {
            let order = gray_order(&all, columns, &Control::new()).unwrap();
            let place = |item: u32| columns.map_or(item, |c| c.iter().position(|&x| x == item).unwrap() as u32);
            let places: Vec<u32> = (0..n_items).filter(|&i| i < 120 || i > n_items - 30).map(place).collect();
            let key = |record: u32| {
                let at = |i: u32| if i < 120 { i } else { i - (n_items - 30 + 1) + 120 };
                let mut key: Vec<u32> = all.row(record).iter().map(|&i| places[at(i) as usize]).collect();
                key.sort_unstable();
                key
            };
            for pair in order.windows(2) {
                let below = compare(&key(pair[0]), &key(pair[1]));
                assert!(below == Ordering::Less || below == Ordering::Equal && pair[0] < pair[1]);
            }
        }
    }

    #[test]
    fn columns_that_are_no_permutation_are_refused() {
        let all = sets(3, std::iter::once(vec![0, 2]));
        for columns in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 2]] {
            assert!(gray_order(&all, Some(columns), &Control::new()).is_err());
        }
    }

    #[test]
    fn stops_when_asked() {
        let control = Control::new();
        control.stop();
        let all = sets(3, (0..10).map(|i| vec![i % 3]));
        assert_eq!(gray_order(&all, None, &control), Err(Error::Stopped));
    }
}
