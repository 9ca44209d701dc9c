//! The cheapest way to cut an order of records into blocks.

use std::ops::RangeInclusive;

use rayon::prelude::*;

use super::cost::{Costs, majority};
use crate::control::Control;
use crate::error::Result;

/// Records that are cut by themselves: pieces share the work out and do not depend on threads.
const PIECE: usize = 1 << 14;

/// Sizes of blocks that are told apart; where there are more, blocks begin at every second, third, … record only.
const SIZES: usize = 64;

/// Sizes of the blocks into which to cut at least `k` records, each of `k` to `longest`, at the least sum of costs.
///
/// Dynamic programming over the ends of blocks. Long orders are first cut into pieces, and from `k = 128` on blocks begin
/// at some records only; where the sizes do not fit a piece, it is cut evenly. O(n·min(k, 128)·items of a record).
pub(super) fn cut(order: &[u32], k: usize, longest: usize, costs: &Costs<'_>, control: &Control) -> Result<Vec<u32>> {
    let grain = (k / SIZES).max(1);
    let pieces = (order.len() / PIECE.max(16 * k)).max(1);
    let bound = |piece: usize| order.len() * piece / pieces;
    let sizes = (0..pieces).into_par_iter().map(|piece| {
        let part = &order[bound(piece)..bound(piece + 1)];
        // What is left over at the end must fit into the last block.
        let allowed = k.div_ceil(grain)..=(longest + 1 - grain) / grain;
        let Some(mut sizes) = cheapest(part, grain, allowed, costs, control)? else { return Ok(even(part.len(), k)) };
        if let Some(last) = sizes.last_mut() {
            *last += (part.len() % grain) as u32;
        }
        control.advance(part.len() as u64)?;
        Ok(sizes)
    });
    Ok(sizes.collect::<Result<Vec<_>>>()?.concat())
}

/// As many blocks as there can be, of sizes as equal as can be.
pub(super) fn even(n: usize, k: usize) -> Vec<u32> {
    let groups = n / k;
    (0..groups).map(|g| (n * (g + 1) / groups - n * g / groups) as u32).collect()
}

/// The cheapest sizes, which are multiples of `grain` (`allowed` says which), or nothing where they cannot sum up to the
/// whole (less what is left over).
fn cheapest(
    order: &[u32],
    grain: usize,
    allowed: RangeInclusive<usize>,
    costs: &Costs<'_>,
    control: &Control,
) -> Result<Option<Vec<u32>>> {
    let steps = order.len() / grain;
    // The least cost of blocks up to each possible end, and the size of the last of them.
    let mut best = vec![(i128::MAX, 0u32); steps + 1];
    best[0].0 = 0;
    let mut block = Block::new(costs, *allowed.end() * grain);
    for start in 0..steps {
        control.check()?;
        let before = best[start].0;
        if before == i128::MAX || steps - start < *allowed.start() {
            continue;
        }
        for (size, records) in (1..=*allowed.end()).zip(order[start * grain..].chunks_exact(grain)) {
            for &record in records {
                block.add(record, costs);
            }
            let total = before + i128::from(block.cost());
            // Starts go up, so of equal cuts the one with the shorter block is kept: more groups leave more to the search.
            if allowed.contains(&size) && total <= best[start + size].0 {
                best[start + size] = (total, (size * grain) as u32);
            }
        }
        block.clear(costs);
    }
    if best[steps].0 == i128::MAX {
        return Ok(None);
    }
    let mut sizes = Vec::new();
    let mut end = steps;
    while end > 0 {
        sizes.push(best[end].1);
        end -= best[end].1 as usize / grain;
    }
    sizes.reverse();
    Ok(Some(sizes))
}

/// Items with one count.
#[derive(Clone, Copy, Default)]
struct Items {
    number: i64,
    weight: i64,
}

/// A block that grows record by record; a record costs O(its items).
///
/// An item j with count c and weight `w_j` (that of the records which hold it) costs `w_j`, or the weight of all records less
/// `w_j` if it is in the base. So it is enough to know how many items are in the base and what they weigh. As the block grows,
/// items on the edge of the majority fall out of the base; they are found by their count.
struct Block {
    /// Count and weight of each item.
    items: Vec<(u32, i64)>,
    /// Items by count, the common ones apart.
    by_count: [Vec<Items>; 2],
    base: Items,
    /// Weight of the items of all records, one by one; and of the records.
    held: i64,
    weight: i64,
    records: Vec<u32>,
}

impl Block {
    fn new(costs: &Costs<'_>, longest: usize) -> Self {
        let by_count = [(); 2].map(|()| vec![Items::default(); longest + 2]);
        let items = vec![(0, 0); costs.sets.n_items() as usize];
        Self { items, by_count, base: Items::default(), held: 0, weight: 0, records: Vec::with_capacity(longest) }
    }

    fn add(&mut self, record: u32, costs: &Costs<'_>) {
        let (row, weight, size) = (costs.sets.row(record), costs.weight(record), self.records.len());
        // Items that held exactly half of an even size with the help of the tie rule, or one more than half of an odd one.
        let falling = self.by_count[usize::from(size % 2 == 0)][size.div_ceil(2)];
        if size > 0 {
            self.base.subtract(falling.number, falling.weight);
        }
        for &item in row {
            let common = costs.common(item);
            let (count, held) = &mut self.items[item as usize];
            let by_count = &mut self.by_count[usize::from(common)];
            if *count > 0 {
                by_count[*count as usize].subtract(1, *held);
                if majority(*count as usize, size + 1, common) {
                    self.base.subtract(1, *held);
                }
            }
            *count += 1;
            *held += weight;
            by_count[*count as usize].subtract(-1, -*held);
            if majority(*count as usize, size + 1, common) {
                self.base.subtract(-1, -*held);
            }
        }
        self.held += weight * row.len() as i64;
        self.weight += weight;
        self.records.push(record);
    }

    fn cost(&self) -> i64 {
        self.held + self.weight * self.base.number - 2 * self.base.weight
    }

    fn clear(&mut self, costs: &Costs<'_>) {
        for &record in &self.records {
            for &item in costs.sets.row(record) {
                self.items[item as usize] = (0, 0);
            }
        }
        let counts = self.records.len() + 1;
        for by_count in &mut self.by_count {
            by_count[..counts].fill(Items::default());
        }
        (self.base, self.held, self.weight) = (Items::default(), 0, 0);
        self.records.clear();
    }
}

impl Items {
    #[inline]
    fn subtract(&mut self, number: i64, weight: i64) {
        self.number -= number;
        self.weight -= weight;
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::itemsets::Itemsets;
    use crate::rng::Streams;

    /// The cost of a block, bit by bit over all items.
    fn cost(block: &[u32], costs: &Costs<'_>) -> i64 {
        let mut sum = 0;
        for item in 0..costs.sets.n_items() {
            let holds = |&&record: &&u32| costs.sets.row(record).contains(&item);
            let set = majority(block.iter().filter(holds).count(), block.len(), costs.common(item));
            sum += block.iter().filter(|record| holds(record) != set).map(|&record| costs.weight(record)).sum::<i64>();
        }
        sum
    }

    /// The smallest cost over all ways to cut, tried one after another.
    fn brute_force(order: &[u32], allowed: &RangeInclusive<usize>, costs: &Costs<'_>) -> i64 {
        if order.is_empty() {
            return 0;
        }
        let sizes = allowed.clone().filter(|&size| size <= order.len());
        let rest = |size: usize| brute_force(&order[size..], allowed, costs);
        sizes.map(|size| cost(&order[..size], costs).saturating_add(rest(size))).min().unwrap_or(i64::MAX / 2)
    }

    fn random(n: usize, n_items: u32, share: f64, seed: u64) -> Itemsets {
        let mut rng = Streams::new(Some(seed)).unwrap().generator(0, 0);
        let (mut starts, mut items) = (vec![0], Vec::new());
        for _ in 0..n {
            items.extend((0..n_items).filter(|_| rng.random_bool(share)));
            starts.push(items.len());
        }
        Itemsets::new(n_items, starts, items).unwrap()
    }

    #[test]
    fn no_cut_is_cheaper() {
        let mut rng = Streams::new(Some(1)).unwrap().generator(0, 0);
        let control = Control::new();
        for case in 0..300 {
            let n = rng.random_range(1..18);
            let sets = random(n, rng.random_range(1..9), rng.random_range(0.1..0.8), case);
            let costs = Costs::new(&sets);
            let order: Vec<u32> = (0..n as u32).collect();
            let k = rng.random_range(1..=n.min(6));
            let longest = rng.random_range(k..2 * k);
            let sizes = cut(&order, k, longest, &costs, &control).unwrap();
            let mut found = 0;
            let mut rest = &order[..];
            for &size in &sizes {
                found += cost(&rest[..size as usize], &costs);
                rest = &rest[size as usize..];
            }
            assert!(rest.is_empty());
            let best = brute_force(&order, &(k..=longest), &costs);
            if best >= i64::MAX / 2 {
                assert!(sizes.iter().all(|&size| (k..2 * k).contains(&(size as usize))), "case {case}: {sizes:?}");
            } else {
                assert_eq!(found, best, "case {case}: {sizes:?}");
            }
        }
    }

    #[test]
    fn growing_block_costs_what_measuring_gives() {
        for seed in 0..20 {
            let sets = random(60, 30, 0.05 + 0.04 * seed as f64, seed);
            let costs = Costs::new(&sets);
            let mut block = Block::new(&costs, 60);
            for _ in 0..2 {
                for record in 0..60 {
                    block.add(record, &costs);
                    let records: Vec<u32> = (0..=record).collect();
                    assert_eq!(block.cost(), cost(&records, &costs));
                }
                block.clear(&costs);
            }
        }
    }

    #[test]
    fn pieces_and_coarse_cuts_have_allowed_sizes() {
        let sets = random(50_000, 6, 0.3, 1);
        let costs = Costs::new(&sets);
        let order: Vec<u32> = (0..50_000).collect();
        for (k, longest) in [(1, 1), (2, 3), (9, 11), (513, 1025), (777, 900), (24_000, 30_000), (50_000, 99_999)] {
            let sizes = cut(&order, k, longest, &costs, &Control::new()).unwrap();
            assert_eq!(sizes.iter().sum::<u32>(), 50_000);
            assert!(sizes.iter().all(|&size| (k..2 * k).contains(&(size as usize))), "{k}: {sizes:?}");
        }
    }
}
