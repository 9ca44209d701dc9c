//! What a ring on an order costs.

use rayon::prelude::*;

use super::super::Itemsets;
use super::ORDER;
use crate::control::Control;
use crate::error::Result;
use crate::memory;

/// Places that a thread takes at once.
const BLOCK: usize = 1 << 13;

/// Expected error rate of the ring of `k` on an order: the mean, over all edges from a record to a node, of the bits that
/// differ between the record and the vote of the node's records, as a share of the record's items.
///
/// Votes change with one record that enters and one that leaves: O(items), whatever the `k`.
pub(super) fn expected_error(sets: &Itemsets, order: &[u32], k: usize, control: &Control) -> Result<f64> {
    let n = order.len();
    let k = k.clamp(1, n.max(1));
    let threads = rayon::current_num_threads().min(n.div_ceil(BLOCK));
    memory::require((5 + threads * size_of::<(u32, f64)>()) * sets.n_items() as usize, ORDER)?;
    let common = sets.common();
    let blocks: Vec<f64> = (0..n.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let mut vote = Vote::new(k, &common);
            let (start, end) = (block * BLOCK, ((block + 1) * BLOCK).min(n));
            // Node p has the records at p − k + 1, …, p.
            let at = |place: usize| sets.row(order[place % n]);
            for place in start + n + 1 - k..start + n {
                vote.enter(at(place));
            }
            let mut sum = 0.0;
            for place in start..end {
                vote.enter(at(place + n));
                sum += vote.cost();
                vote.leave(at(place + n + 1 - k));
            }
            control.check()?;
            Ok(sum)
        })
        .collect::<Result<_>>()?;
    Ok(blocks.iter().sum::<f64>() / (n * k).max(1) as f64)
}

/// A majority vote of records, with what it costs them.
///
/// A record r of weight w = 1/|r| differs from the base B in |r| + |B| − 2·|r ∩ B| bits; summed up over all records, the last
/// term needs only the weight of the holders of each item of the base.
struct Vote<'a> {
    k: usize,
    common: &'a [bool],
    /// Of each item: how many hold it, and their weight.
    items: Vec<(u32, f64)>,
    base: usize,
    /// Weight of all records; number of those that are not empty; weight of the holders of each item of the base, in all.
    weight: f64,
    whole: f64,
    agreed: f64,
}

impl<'a> Vote<'a> {
    fn new(k: usize, common: &'a [bool]) -> Self {
        Self { k, common, items: vec![(0, 0.0); common.len()], base: 0, weight: 0.0, whole: 0.0, agreed: 0.0 }
    }

    fn in_base(&self, item: u32) -> bool {
        let held = 2 * self.items[item as usize].0 as usize;
        held > self.k || held == self.k && self.common[item as usize]
    }

    fn enter(&mut self, row: &[u32]) {
        self.change(row, 1.0);
    }

    fn leave(&mut self, row: &[u32]) {
        self.change(row, -1.0);
    }

    fn change(&mut self, row: &[u32], sign: f64) {
        let weight = sign / row.len().max(1) as f64;
        self.weight += weight;
        self.whole += weight * row.len() as f64;
        for &item in row {
            if self.in_base(item) {
                self.base -= 1;
                self.agreed -= self.items[item as usize].1;
            }
            let (held, weights) = &mut self.items[item as usize];
            *held = held.wrapping_add_signed(sign as i32);
            *weights = if *held == 0 { 0.0 } else { *weights + weight };
            if self.in_base(item) {
                self.base += 1;
                self.agreed += self.items[item as usize].1;
            }
        }
    }

    fn cost(&self) -> f64 {
        self.whole + self.base as f64 * self.weight - 2.0 * self.agreed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By the definition, bit by bit.
    fn naive(sets: &Itemsets, order: &[u32], k: usize) -> f64 {
        let n = order.len();
        let mut sum = 0.0;
        for place in 0..n {
            let held: Vec<&[u32]> = (0..k).map(|back| sets.row(order[(place + n - back) % n])).collect();
            for item in 0..sets.n_items() {
                let votes = held.iter().filter(|row| row.contains(&item)).count();
                let all = sets.rows().filter(|row| row.contains(&item)).count();
                let set = 2 * votes > k || 2 * votes == k && 2 * all > n;
                let wrong = held.iter().filter(|row| row.contains(&item) != set);
                sum += wrong.map(|row| 1.0 / row.len().max(1) as f64).sum::<f64>();
            }
        }
        sum / (n * k) as f64
    }

    proptest! {
        #[test]
        fn error_is_as_defined(
            rows in prop::collection::vec(prop::collection::btree_set(0u32..7, 0..6), 1..20),
            k in 1usize..9,
        ) {
            let starts = std::iter::once(0).chain(rows.iter().scan(0, |sum, row| {
                *sum += row.len();
                Some(*sum)
            }));
            let sets = Itemsets::new(7, starts.collect(), rows.iter().flatten().copied().collect()).unwrap();
            let order: Vec<u32> = (0..sets.n() as u32).rev().collect();
            let k = k.min(sets.n());
            let error = expected_error(&sets, &order, k, &Control::new()).unwrap();
            prop_assert!((error - naive(&sets, &order, k)).abs() < 1e-12);
        }
    }
}
