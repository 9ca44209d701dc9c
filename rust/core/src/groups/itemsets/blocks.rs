//! What blocks of consecutive records cost.

use super::cost::{Costs, majority};
use crate::control::Control;
use crate::error::Result;
use crate::groups::cut::{self, GroupCosts};
use crate::memory;

/// Sizes of blocks that are told apart; where there are more, blocks begin at every second, third, … record only.
const SIZES: usize = 64;

/// Sizes of the groups into which to cut at least `k` records, each of `k` to `longest`, at the least sum of costs.
/// O(n·min(k, 128)·items of a record).
pub(super) fn cut(order: &[u32], k: usize, longest: usize, costs: &Costs<'_>, control: &Control) -> Result<Vec<u32>> {
    let grain = (k / SIZES).max(1);
    let block = size_of::<(u32, i64)>() * costs.sets.n_items() as usize + longest * size_of::<[Items; 3]>();
    memory::require(block * rayon::current_num_threads(), "cutting an order into groups")?;
    let group_costs = |piece, longest| {
        let order: &[u32] = &order[piece];
        Blocks { order, grain, costs, block: Block::new(costs, longest * grain) }
    };
    cut::cut(order.len(), k, longest, grain, group_costs, control)
}

/// Blocks that grow backwards from their ends.
struct Blocks<'a> {
    order: &'a [u32],
    grain: usize,
    costs: &'a Costs<'a>,
    block: Block,
}

impl GroupCosts for Blocks<'_> {
    type Cost = i128;
    const END: usize = 0;

    fn of_end(&mut self, end: usize, costs: &mut [i128]) {
        for (grain, cost) in self.order[..end * self.grain].rchunks_exact(self.grain).zip(costs) {
            for &record in grain {
                self.block.add(record, self.costs);
            }
            *cost = self.block.cost().into();
        }
        self.block.clear(self.costs);
    }
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
    use crate::rng::{Stream, Streams};

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

    fn random(n: usize, n_items: u32, share: f64, seed: u64) -> Itemsets {
        let mut rng = Streams::new(Some(seed)).unwrap().generator(Stream::Synthetic(0), 0);
        let (mut starts, mut items) = (vec![0], Vec::new());
        for _ in 0..n {
            items.extend((0..n_items).filter(|_| rng.random_bool(share)));
            starts.push(items.len());
        }
        Itemsets::new(n_items, starts, items).unwrap()
    }

    #[test]
    fn growing_blocks_cost_what_measuring_gives() {
        let order: Vec<u32> = (0..60).collect();
        for seed in 0..20 {
            let (sets, grain) = (random(60, 30, 0.05 + 0.04 * seed as f64, seed), 1 + seed as usize % 3);
            let costs = Costs::new(&sets);
            let mut blocks = Blocks { order: &order, grain, costs: &costs, block: Block::new(&costs, 60) };
            for end in 1..=60 / grain {
                let mut found = vec![0; end];
                blocks.of_end(end, &mut found);
                for (size, found) in (1..).zip(found) {
                    assert_eq!(found, cost(&order[(end - size) * grain..end * grain], &costs).into());
                }
            }
        }
    }
}
