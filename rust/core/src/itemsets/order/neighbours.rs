//! The nearest records of each record, nearly.
//!
//! Two near records are soon neighbours in some Gray order if columns are drawn at random: the first columns that differ
//! tear them apart, and near records differ in few. What is still missing is mostly near to what is found already (Dong,
//! Moses, Li: "Efficient k-nearest neighbor graph construction for generic similarity measures", WWW 2011).

use rayon::prelude::*;

use super::super::distance::Packed;
use crate::control::Control;
use crate::error::Result;

/// Records for which all pairs are compared.
pub(super) const ALL_PAIRS: usize = 1 << 11;
/// Places before and behind a record in an order at which neighbours are looked for. The order counts as closed, so that the
/// first and the last records, often the same in all orders, find as many.
const WINDOW: usize = 8;
/// Records that a thread takes at once.
const BLOCK: usize = 1 << 10;
/// No neighbour yet.
const NONE: (u32, u32) = (u32::MAX, u32::MAX);

/// Equally many neighbours of each node, the nearest first.
pub(super) struct Neighbours {
    width: usize,
    nodes: Vec<u32>,
    distances: Vec<u32>,
}

impl Neighbours {
    /// Neighbours of a node, and how far they are.
    #[inline]
    pub(super) fn of(&self, node: u32) -> (&[u32], &[u32]) {
        let range = node as usize * self.width..(node as usize + 1) * self.width;
        (&self.nodes[range.clone()], &self.distances[range])
    }

    /// How many pairs there are, at most.
    pub(super) fn most_pairs(&self) -> usize {
        self.nodes.len()
    }

    /// Every pair once with its distance, also where only one is among the other's neighbours.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        let n = self.nodes.len() / self.width.max(1);
        (0..n as u32).flat_map(move |a| {
            let (nodes, distances) = self.of(a);
            let all = nodes.iter().zip(distances).map(move |(&b, &distance)| (a, b, distance));
            all.filter(|&(a, b, _)| a < b || !self.of(b).0.contains(&a))
        })
    }

    /// The `width` nearest of `n` nodes by comparing all pairs. O(n²).
    pub(super) fn exact(
        n: usize,
        width: usize,
        distance: impl Fn(u32, u32) -> u32 + Sync,
        control: &Control,
    ) -> Result<Self> {
        let width = width.min(n.saturating_sub(1));
        let mut table = Table { width, entries: vec![NONE; n * width] };
        table.entries.par_chunks_mut(width.max(1)).enumerate().try_for_each(|(a, best)| {
            let a = a as u32;
            for b in (0..n as u32).filter(|&b| b != a) {
                insert(best, (distance(a, b), b));
            }
            control.check()
        })?;
        Ok(table.finish())
    }

    /// The `width` (at most 16) nearest, nearly: from the windows of some orders of the records, then among the neighbours of neighbours,
    /// as often as told. O(n) distances for each order and round.
    pub(super) fn near(
        packed: &Packed<'_>,
        width: usize,
        orders: &[Vec<u32>],
        rounds: usize,
        control: &Control,
    ) -> Result<Self> {
        let n = packed.len();
        if n <= ALL_PAIRS {
            return Self::exact(n, width, |a, b| packed.hamming(a, b), control);
        }
        let mut table = Table { width: width.min(2 * WINDOW), entries: vec![NONE; n * width.min(2 * WINDOW)] };
        for order in orders {
            table.look_along(order, packed, control)?;
        }
        for _ in 0..rounds {
            table = table.look_around(packed, control)?;
        }
        Ok(table.finish())
    }
}

/// Neighbours found so far, as (distance, node).
struct Table {
    width: usize,
    entries: Vec<(u32, u32)>,
}

impl Table {
    fn of(&self, node: u32) -> &[(u32, u32)] {
        &self.entries[node as usize * self.width..][..self.width]
    }

    /// Takes up neighbours from the window around each record in an order.
    fn look_along(&mut self, order: &[u32], packed: &Packed<'_>, control: &Control) -> Result<()> {
        let n = order.len();
        let mut places = vec![0u32; n];
        for (place, &record) in (0u32..).zip(order) {
            places[record as usize] = place;
        }
        let mut ahead = vec![[u32::MAX; WINDOW]; n];
        ahead.par_chunks_mut(BLOCK).enumerate().try_for_each(|(block, chunk)| {
            for (place, distances) in (block * BLOCK..).zip(chunk) {
                for (ahead, distance) in (1..).zip(distances) {
                    *distance = packed.hamming(order[place], order[(place + ahead) % n]);
                }
            }
            control.check()
        })?;
        self.entries.par_chunks_mut(self.width * BLOCK).enumerate().try_for_each(|(block, chunk)| {
            for (record, best) in (block * BLOCK..).zip(chunk.chunks_exact_mut(self.width)) {
                let place = places[record] as usize;
                for step in 1..=WINDOW {
                    let (next, last) = ((place + step) % n, (place + n - step) % n);
                    insert(best, (ahead[place][step - 1], order[next]));
                    insert(best, (ahead[last][step - 1], order[last]));
                }
            }
            control.check()
        })
    }

    /// The nearest among neighbours and neighbours of neighbours.
    fn look_around(&self, packed: &Packed<'_>, control: &Control) -> Result<Self> {
        let mut next = Self { width: self.width, entries: self.entries.clone() };
        next.entries.par_chunks_mut(self.width * BLOCK).enumerate().try_for_each(|(block, chunk)| {
            let mut candidates = Vec::new();
            for (record, best) in (block * BLOCK..).zip(chunk.chunks_exact_mut(self.width)) {
                let record = record as u32;
                candidates.clear();
                for &(_, neighbour) in self.of(record) {
                    candidates.extend(self.of(neighbour).iter().map(|&(_, other)| other));
                }
                candidates.sort_unstable();
                candidates.dedup();
                for &other in &candidates {
                    if other != record && self.of(record).iter().all(|&(_, known)| known != other) {
                        insert(best, (packed.hamming(record, other), other));
                    }
                }
            }
            control.check()
        })?;
        Ok(next)
    }

    fn finish(self) -> Neighbours {
        let (distances, nodes) = self.entries.into_iter().unzip();
        Neighbours { width: self.width, nodes, distances }
    }
}

/// Puts a neighbour into its place if it is nearer than the last one and not there yet.
#[inline]
fn insert(best: &mut [(u32, u32)], new: (u32, u32)) {
    let Some(last) = best.len().checked_sub(1) else { return };
    if new >= best[last] || best.contains(&new) {
        return;
    }
    let mut place = last;
    while place > 0 && best[place - 1] > new {
        best[place] = best[place - 1];
        place -= 1;
    }
    best[place] = new;
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand::seq::SliceRandom;

    use super::super::super::Itemsets;
    use super::super::gray::gray_order;
    use super::*;
    use crate::rng::{Stream, Streams};

    #[test]
    fn near_ones_are_almost_nearest() {
        let mut rng = Streams::new(Some(8)).unwrap().generator(Stream::Synthetic(0), 0);
        let n = 3000u32;
        // Noisy copies of some prototypes.
        let prototypes: Vec<Vec<bool>> =
            (0..40).map(|_| (0..60).map(|_| rng.random_range(0..4) == 0).collect()).collect();
        let (mut starts, mut items) = (vec![0], Vec::new());
        for _ in 0..n {
            let prototype = &prototypes[rng.random_range(0..40)];
            items.extend((0..60u32).filter(|&i| prototype[i as usize] != (rng.random_range(0..12) == 0)));
            starts.push(items.len());
        }
        let sets = Itemsets::new(60, starts, items).unwrap();
        let control = Control::new();
        let mut columns: Vec<u32> = (0..60).collect();
        let mut random = || {
            columns.shuffle(&mut rng);
            gray_order(&sets, Some(&columns), &control).unwrap()
        };
        let orders: Vec<Vec<u32>> = (0..6).map(|_| random()).collect();
        let records: Vec<u32> = (0..n).collect();
        let packed = Packed::new(&sets, &records, &control).unwrap();
        let near = Neighbours::near(&packed, 10, &orders, 2, &control).unwrap();
        let exact = Neighbours::exact(n as usize, 10, |a, b| packed.hamming(a, b), &control).unwrap();
        for record in 0..n {
            let (nodes, distances) = near.of(record);
            assert!(nodes.iter().zip(distances).all(|(&b, &d)| b != record && packed.hamming(record, b) == d));
            assert!(distances.is_sorted());
            let mut different = nodes.to_vec();
            different.sort_unstable();
            different.dedup();
            assert_eq!(different.len(), 10);
        }
        let sum = |neighbours: &Neighbours| neighbours.distances.iter().map(|&d| f64::from(d)).sum::<f64>();
        assert!(sum(&near) < 1.05 * sum(&exact), "{} against {}", sum(&near), sum(&exact));
        let pairs: Vec<(u32, u32)> = near.pairs().map(|(a, b, _)| (a.min(b), a.max(b))).collect();
        let mut different = pairs.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), pairs.len());
        assert!((0..n).all(|a| near.of(a).0.iter().all(|&b| different.binary_search(&(a.min(b), a.max(b))).is_ok())));
    }
}
