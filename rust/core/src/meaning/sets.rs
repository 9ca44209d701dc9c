//! Sets, each a category of a column: two are as far apart as the items are many that only one has, of those that either
//! has. Where items are concepts, sets are closed under ancestors beforehand.

use rand::RngExt;
use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::itemsets::Itemsets;
use crate::memory;
use crate::rng::{Stream, Streams};

/// Pairs of records whose mean squared distance stands for that of all pairs where sets are many.
const SAMPLED: usize = 1 << 18;

/// Distances that one thread finds between two questions whether to stop.
const PART: usize = 1 << 14;

/// Categories that are sets, and one for what is missing if there is such; the last.
#[derive(Debug, Clone, Copy)]
pub struct Sets<'a> {
    /// The sets.
    pub sets: &'a Itemsets,
    /// Whether there is one category more, for what is missing: at distance 1 of all sets, which no two of them exceed.
    pub missing: bool,
}

impl Sets<'_> {
    /// Number of categories.
    pub fn categories(self) -> usize {
        self.sets.n() + usize::from(self.missing)
    }

    /// The distance of two categories. O(items of both).
    #[inline]
    pub fn distance(self, a: u32, b: u32) -> f64 {
        let last = self.sets.n() as u32;
        if a == b {
            0.0
        } else if a >= last || b >= last {
            1.0
        } else {
            between(self.sets, a, b)
        }
    }

    /// Calls back with the distance of each member of a crowd from those before it: `found(i, j, distance)` for j < i.
    ///
    /// Members that share an item are counted item by item, so the work is that of what pairs share: O(items · log items +
    /// n² + shared items of all pairs).
    pub fn crowd(self, crowd: &[u32], mut found: impl FnMut(usize, usize, f64)) {
        let (n, last) = (crowd.len(), self.sets.n() as u32);
        let row = |member: usize| if crowd[member] < last { self.sets.row(crowd[member]) } else { &[] };
        let held = |member: usize| row(member).iter().map(move |&item| u64::from(item) << 32 | member as u64);
        let mut holders: Vec<u64> = (0..n).flat_map(held).collect();
        holders.sort_unstable();
        let mut shared = vec![0u32; n * n];
        for holding in holders.chunk_by(|a, b| a >> 32 == b >> 32) {
            for (place, &i) in holding.iter().enumerate() {
                let counts = &mut shared[(i as u32) as usize * n..][..n];
                holding[..place].iter().for_each(|&j| counts[(j as u32) as usize] += 1);
            }
        }
        for i in 1..n {
            for j in 0..i {
                let distance = if crowd[i] == crowd[j] {
                    0.0
                } else if crowd[i] >= last || crowd[j] >= last {
                    1.0
                } else {
                    of_shared(row(i).len(), row(j).len(), shared[i * n + j])
                };
                found(i, j, distance);
            }
        }
    }

    /// Bytes that a crowd of so many takes: who holds each item, in a list that has grown, and what pairs share.
    pub fn crowd_needs(self, members: usize) -> usize {
        let longest = self.sets.rows().map(<[u32]>::len).max().unwrap_or(0);
        4 * members * members + 24 * members * longest
    }

    /// Mean squared distance between two random records, given the categories and how often each occurs: over all pairs of
    /// categories where these are few, else over some hundred thousand pairs of records, always the same.
    pub fn spread(self, counted: &[(u32, u64)], control: &Control) -> Result<f64> {
        let records: u64 = counted.iter().map(|x| x.1).sum();
        let n = records as f64;
        if counted.len().pow(2) <= 2 * SAMPLED {
            let to_before = |i: usize, a: u32| {
                counted[..i].iter().map(|&(b, n)| n as f64 * self.distance(a, b).powi(2)).sum::<f64>()
            };
            let rows = counted.iter().enumerate().map(|(i, &(a, n))| n as f64 * to_before(i, a));
            return Ok(2.0 * rows.sum::<f64>() / n / n);
        }
        // A weight of columns against each other; the draw tells nothing of anybody, so it may be known. Who is drawn depends on
        // how often each set occurs and never on where: groups must not depend on the order of the records.
        memory::require(8 * counted.len(), "the spread of a column")?;
        let mut rng = Streams::new(Some(0))?.generator(Stream::Synthetic(0), 0);
        let ends: Vec<u64> = counted
            .iter()
            .scan(0, |end, &(_, count)| {
                *end += count;
                Some(*end)
            })
            .collect();
        let mut sum = 0.0;
        for pair in 0..SAMPLED {
            if pair.is_multiple_of(PART) {
                control.check()?;
            }
            let mut any = || {
                let record = rng.random_range(0..records);
                counted[ends.partition_point(|&end| end <= record)].0
            };
            sum += self.distance(any(), any()).powi(2);
        }
        Ok(sum / SAMPLED as f64)
    }
}

/// Items that only one of two sets has over those that either has; 0 for two empty ones. O(items of both).
#[inline]
fn between(sets: &Itemsets, a: u32, b: u32) -> f64 {
    let (first, second) = (sets.row(a).len(), sets.row(b).len());
    of_shared(first, second, ((first + second) as u32 - sets.hamming(a, b)) / 2)
}

#[inline]
fn of_shared(first: usize, second: usize, shared: u32) -> f64 {
    let united = (first + second) as u32 - shared;
    if united == 0 { 0.0 } else { f64::from(united - shared) / f64::from(united) }
}

/// The distances of pairs of sets. O(their items), in parallel.
pub fn pairs(sets: &Itemsets, a: &[u32], b: &[u32], control: &Control) -> Result<Vec<f64>> {
    if a.len() != b.len() || a.iter().chain(b).any(|&set| set as usize >= sets.n()) {
        return Err(Error::Parameter(format!("pairs of the {} sets are needed", sets.n())));
    }
    memory::require(8 * a.len(), "distances of sets")?;
    let mut found = vec![0.0; a.len()];
    control.begin(a.len() as u64);
    found.par_chunks_mut(PART).zip(a.par_chunks(PART).zip(b.par_chunks(PART))).try_for_each(|(cells, (a, b))| {
        for (cell, (&a, &b)) in cells.iter_mut().zip(a.iter().zip(b)) {
            *cell = between(sets, a, b);
        }
        control.advance(cells.len() as u64)
    })?;
    Ok(found)
}

/// The distances from some sets to others, row after row. O(their items), in parallel.
pub fn block(sets: &Itemsets, a: &[u32], b: &[u32], control: &Control) -> Result<Vec<f64>> {
    if a.iter().chain(b).any(|&set| set as usize >= sets.n()) {
        return Err(Error::Parameter(format!("numbers of the {} sets are needed", sets.n())));
    }
    memory::require(8 * a.len() * b.len(), "distances of sets")?;
    let mut found = vec![0.0; a.len() * b.len()];
    control.begin(a.len() as u64);
    if !b.is_empty() {
        found.par_chunks_mut(b.len()).zip(a).try_for_each(|(cells, &a)| {
            cells.iter_mut().zip(b).for_each(|(cell, &b)| *cell = between(sets, a, b));
            control.advance(1)
        })?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn itemsets(rows: &[BTreeSet<u32>]) -> Itemsets {
        let mut starts = vec![0];
        starts.extend(rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        Itemsets::new(12, starts, rows.iter().flatten().copied().collect()).unwrap()
    }

    proptest! {
        #[test]
        fn distances_are_the_definition(
            rows in prop::collection::vec(prop::collection::btree_set(0u32..12, 0..8), 1..12), missing: bool,
        ) {
            let sets = itemsets(&rows);
            let meaning = Sets { sets: &sets, missing };
            let d = meaning.categories();
            let naive = |a: usize, b: usize| match (rows.get(a), rows.get(b)) {
                (Some(a), Some(b)) => {
                    let differ = a.symmetric_difference(b).count() as f64;
                    if differ > 0.0 { differ / a.union(b).count() as f64 } else { 0.0 }
                }
                _ => f64::from(u8::from(a != b)),
            };
            let all: Vec<u32> = (0..d as u32).chain(0..d as u32).collect();
            meaning.crowd(&all, |i, j, distance| assert_eq!(distance, naive(i % d, j % d)));
            for a in 0..d {
                for b in 0..d {
                    prop_assert_eq!(meaning.distance(a as u32, b as u32), naive(a, b));
                }
            }
            let n = rows.len();
            let some: Vec<u32> = (0..n as u32).collect();
            let cells = block(&sets, &some, &some, &Control::new()).unwrap();
            prop_assert!((0..n * n).all(|cell| cells[cell] == naive(cell / n, cell % n)));
            let turned: Vec<u32> = (0..n as u32).rev().collect();
            let found = pairs(&sets, &some, &turned, &Control::new()).unwrap();
            prop_assert!((0..n).all(|i| found[i] == naive(i, n - 1 - i)));
        }
    }

    #[test]
    fn a_sample_tells_the_spread() {
        let mut rng = Streams::new(Some(1)).unwrap().generator(Stream::Synthetic(1), 0);
        let rows: Vec<BTreeSet<u32>> =
            (0..900).map(|_| (0..5).map(|_| rng.random_range(0..12)).collect::<BTreeSet<u32>>()).collect();
        let sets = itemsets(&rows);
        let meaning = Sets { sets: &sets, missing: false };
        let codes: Vec<u32> = (0..900).collect();
        let counted: Vec<(u32, u64)> = codes.iter().map(|&code| (code, 1)).collect();
        let squares: f64 = codes.iter().flat_map(|&a| codes.iter().map(move |&b| meaning.distance(a, b).powi(2))).sum();
        let found = meaning.spread(&counted, &Control::new()).unwrap();
        assert!((found / (squares / 810_000.0) - 1.0).abs() < 0.01, "{found}");
        let few = meaning.spread(&counted[..50], &Control::new()).unwrap();
        let some = &codes[..50];
        let squares: f64 = some.iter().flat_map(|&a| some.iter().map(move |&b| meaning.distance(a, b).powi(2))).sum();
        assert!((few - squares / 2500.0).abs() < 1e-12);
    }

    #[test]
    fn strangers_are_refused() {
        let sets = itemsets(&[BTreeSet::from([1]), BTreeSet::new()]);
        assert!(pairs(&sets, &[0], &[2], &Control::new()).is_err());
        assert!(pairs(&sets, &[0], &[], &Control::new()).is_err());
        assert!(block(&sets, &[0], &[2], &Control::new()).is_err());
        assert!(block(&sets, &[0], &[], &Control::new()).unwrap().is_empty());
    }
}
