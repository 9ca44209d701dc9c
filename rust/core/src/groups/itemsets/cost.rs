//! What a group of records costs: the bits that its majority flips, each as a share of the record's own bits.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Result;
use crate::itemsets::Itemsets;
use crate::lists::Lists;

/// The weight of a record with one item. Weights are whole numbers, so that sums do not depend on their order. All numbers
/// up to 20 divide it, so that ties between short records are ties.
pub(super) const UNIT: i64 = 232_792_560;

/// Groups whose costs are summed up by one task.
const GROUPS: usize = 1 << 10;

/// Records with the weights of their bits and the items that win a tie.
pub(super) struct Costs<'a> {
    pub(super) sets: &'a Itemsets,
    /// Whether more than half of all records hold an item.
    common: Vec<bool>,
}

/// Counts of the items of some records; shared by many groups so as not to be allocated for each.
#[derive(Default)]
pub(super) struct Tally {
    counts: Vec<u32>,
    /// Items with a count.
    items: Vec<u32>,
}

impl Tally {
    /// Counts the items of one record more.
    pub(super) fn add(&mut self, row: &[u32]) {
        if let Some(&last) = row.last()
            && last as usize >= self.counts.len()
        {
            self.counts.resize(last as usize + 1, 0);
        }
        for &item in row {
            let count = &mut self.counts[item as usize];
            if *count == 0 {
                self.items.push(item);
            }
            *count += 1;
        }
    }

    /// The items counted so far, as they came.
    pub(super) fn items(&self) -> &[u32] {
        &self.items
    }

    /// The count of an item, or what was put in its place.
    #[inline]
    pub(super) fn get(&self, item: u32) -> u32 {
        self.counts[item as usize]
    }

    /// Replaces the count of an item that was counted.
    pub(super) fn put(&mut self, item: u32, value: u32) {
        self.counts[item as usize] = value;
    }

    /// Forgets everything. O(items counted).
    pub(super) fn clear(&mut self) {
        for &item in &self.items {
            self.counts[item as usize] = 0;
        }
        self.items.clear();
    }
}

impl<'a> Costs<'a> {
    /// O(items).
    pub(super) fn new(sets: &'a Itemsets) -> Self {
        Self { sets, common: sets.common() }
    }

    /// The cost of one flipped bit of a record.
    #[inline]
    pub(super) fn weight(&self, record: u32) -> i64 {
        UNIT / self.sets.row(record).len().max(1) as i64
    }

    /// Whether more than half of all records hold the item: then it is set where a vote is tied.
    #[inline]
    pub(super) fn common(&self, item: u32) -> bool {
        self.common[item as usize]
    }

    /// The flipped bits of each record of a group.
    fn flips(&self, group: &[u32], tally: &mut Tally, mut each: impl FnMut(u32, usize)) {
        for &record in group {
            tally.add(self.sets.row(record));
        }
        let base = |item: u32| majority(tally.get(item) as usize, group.len(), self.common(item));
        let set = tally.items().iter().filter(|&&item| base(item)).count();
        for &record in group {
            let row = self.sets.row(record);
            let shared = row.iter().filter(|&&item| base(item)).count();
            each(record, set + row.len() - 2 * shared);
        }
        tally.clear();
    }

    /// Cost of all groups.
    pub(super) fn total(&self, groups: &[&[u32]], control: &Control) -> Result<i128> {
        let parts = groups.par_chunks(GROUPS).map(|groups| {
            let mut tally = Tally::default();
            let mut sum = 0;
            for group in groups {
                self.flips(group, &mut tally, |record, flips| sum += i128::from(self.weight(record)) * flips as i128);
                control.check()?;
            }
            Ok(sum)
        });
        parts.try_reduce(|| 0, |a, b| Ok(a + b))
    }
}

/// Whether an item is set in the base of a group of `size`, of which `count` hold it.
#[inline]
pub(super) fn majority(count: usize, size: usize, common: bool) -> bool {
    2 * count > size || (2 * count == size && common)
}

/// The mean over all grouped records of flipped bits / max(1, own bits), where every group shows the majority of its
/// members' bits. O(items).
pub fn error(sets: &Itemsets, groups: &Lists) -> f64 {
    let costs = Costs::new(sets);
    let mut tally = Tally::default();
    let mut sum = 0.0;
    for group in 0..groups.len() {
        costs.flips(groups.of(group), &mut tally, |record, flips| {
            sum += flips as f64 / sets.row(record).len().max(1) as f64;
        });
    }
    sum / groups.total().max(1) as f64
}
