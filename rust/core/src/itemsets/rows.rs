//! Whole sets of rows: brought into order, chosen, shuffled.

use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::Itemsets;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;
use crate::rng::{Stream, Streams};

/// Rows that one thread takes at a time.
const ROWS: usize = 1 << 12;

/// Sorts every row, and tells the first that holds an item twice, with that item. O(items · log of a row's length).
pub fn sort(starts: &[usize], items: &mut [u32], control: &Control) -> Result<Option<(usize, u32)>> {
    let end = items.len();
    if starts.first() != Some(&0) || starts.last() != Some(&end) || starts.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err(Error::Parameter("rows begin at 0, go up and end with the last item".to_owned()));
    }
    control.begin(starts.len() as u64 - 1);
    let repeats = blocks(starts, items).into_par_iter().map(|block| {
        let mut repeat = None;
        for (i, pair) in block.starts.windows(2).enumerate() {
            let row = &mut block.items[pair[0] - block.starts[0]..pair[1] - block.starts[0]];
            if row.windows(2).any(|pair| pair[0] >= pair[1]) {
                row.sort_unstable();
                let twice = row.windows(2).find(|pair| pair[0] == pair[1]);
                repeat = repeat.or(twice.map(|pair| (block.first + i, pair[0])));
            }
        }
        control.advance(block.starts.len() as u64 - 1)?;
        Ok(repeat)
    });
    // Blocks are in order, so the first of the first block is the first of all.
    Ok(repeats.collect::<Result<Vec<_>>>()?.into_iter().flatten().next())
}

/// Some rows in turn, and the room for their items.
pub(super) struct Block<'a> {
    /// Number of the first row.
    pub first: usize,
    /// Where the rows begin, counted from the beginning of all, and the end of the last.
    pub starts: &'a [usize],
    /// The items of these rows.
    pub items: &'a mut [u32],
}

/// Shares rows out so that threads can fill them at once.
pub(super) fn blocks<'a>(starts: &'a [usize], items: &'a mut [u32]) -> Vec<Block<'a>> {
    let mut left = items;
    let rows = starts.len() - 1;
    (0..rows.div_ceil(ROWS))
        .map(|block| {
            let first = block * ROWS;
            let starts = &starts[first..=(first + ROWS).min(rows)];
            let (items, rest) = std::mem::take(&mut left).split_at_mut(starts[starts.len() - 1] - starts[0]);
            left = rest;
            Block { first, starts, items }
        })
        .collect()
}

/// Flat rows, each of the `size` given for it and written by `fill`. O(items).
pub(super) fn filled(
    n_items: u32,
    rows: usize,
    size: impl Fn(usize) -> usize,
    fill: impl Fn(usize, &mut [u32]) + Sync,
    control: &Control,
) -> Result<Itemsets> {
    memory::require(8 * (rows + 1), "rows of items")?;
    let mut starts = Vec::with_capacity(rows + 1);
    starts.push(0);
    let mut end = 0;
    for i in 0..rows {
        end += size(i);
        starts.push(end);
    }
    memory::require(4 * end, "rows of items")?;
    let mut items = vec![0; end];
    blocks(&starts, &mut items).into_par_iter().try_for_each(|block| {
        let start = block.starts[0];
        for (i, ends) in (block.first..).zip(block.starts.windows(2)) {
            fill(i, &mut block.items[ends[0] - start..ends[1] - start]);
        }
        control.check()
    })?;
    Ok(Itemsets { n_items, starts, items })
}

impl Itemsets {
    /// The records with these numbers, in this order. O(their items).
    pub fn select(&self, rows: &[u32], control: &Control) -> Result<Self> {
        if let Some(&wrong) = rows.iter().find(|&&row| row as usize >= self.n()) {
            return Err(Error::Parameter(format!("no record {wrong}: there are {}", self.n())));
        }
        let row = |i: usize| self.row(rows[i]);
        filled(self.n_items, rows.len(), |i| row(i).len(), |i, room| room.copy_from_slice(row(i)), control)
    }
}

/// A uniformly random order of `n` rows: the record at place `i` gets the row `result[i]`. O(n).
pub fn shuffled(n: u32, streams: &Streams) -> Result<Vec<u32>> {
    memory::require(4 * n as usize, "an order of rows")?;
    let mut rows: Vec<u32> = (0..n).collect();
    rows.shuffle(&mut streams.generator(Stream::Shuffle, 0));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_come_out_in_order(rows in prop::collection::vec(prop::collection::hash_set(0u32..50, 0..9), 0..40)) {
            let mut starts = vec![0];
            starts.extend(rows.iter().scan(0, |end, row| { *end += row.len(); Some(*end) }));
            let mut items: Vec<u32> = rows.iter().flatten().copied().collect();
            prop_assert_eq!(sort(&starts, &mut items, &Control::new()).unwrap(), None);
            let sets = Itemsets::new(50, starts, items).unwrap();
            let some: Vec<u32> = (0..rows.len() as u32).rev().chain(0..rows.len().min(3) as u32).collect();
            let chosen = sets.select(&some, &Control::new()).unwrap();
            prop_assert_eq!(&Itemsets::new(50, chosen.starts.clone(), chosen.items.clone()).unwrap(), &chosen);
            for (place, &i) in (0..).zip(&some) {
                prop_assert_eq!(chosen.row(place), sets.row(i));
            }
        }
    }

    #[test]
    fn the_first_repeat_is_told() {
        let starts: Vec<usize> = (0..=10_000).map(|i| 3 * i).collect();
        let mut items: Vec<u32> = (0..30_000).map(|i| 5 - i % 3).collect();
        (items[3 * 9_000], items[3 * 9_500]) = (3, 4);
        assert_eq!(sort(&starts, &mut items, &Control::new()).unwrap(), Some((9_000, 3)));
        assert!(sort(&[0, 2, 1, 2], &mut [1, 2], &Control::new()).is_err());
        assert!(Itemsets::new(1, vec![0, 1], vec![0]).unwrap().select(&[1], &Control::new()).is_err());
    }

    #[test]
    fn every_order_is_as_likely_as_any_other() {
        // 24 orders, 4,800 draws: chi-square with 23 degrees of freedom is above 49.7 once in a thousand.
        let mut times = std::collections::HashMap::new();
        for seed in 0..4_800 {
            *times.entry(shuffled(4, &Streams::new(Some(seed)).unwrap()).unwrap()).or_insert(0.0) += 1.0;
        }
        assert_eq!(times.len(), 24);
        let chi_square: f64 = times.values().map(|t: &f64| (t - 200.0).powi(2) / 200.0).sum();
        assert!(chi_square < 49.7, "{chi_square}");
    }
}
