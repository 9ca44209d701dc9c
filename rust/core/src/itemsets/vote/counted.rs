//! Votes counted afresh for each group or node.

use super::{Majority, Part};
use crate::error::Result;
use crate::itemsets::Itemsets;
use crate::memory;

/// Counts for one vote after another.
pub(super) struct Ballot<'a> {
    sets: &'a Itemsets,
    majority: &'a Majority,
    /// Votes for each item; zero between two votes.
    count: Vec<u32>,
    /// Items with a vote.
    named: Vec<u32>,
}

impl<'a> Ballot<'a> {
    pub fn new(sets: &'a Itemsets, majority: &'a Majority) -> Self {
        Self { sets, majority, count: vec![0; sets.n_items() as usize], named: vec![] }
    }

    /// Appends what some records vote for, and gives the sum of their errors. O(their items).
    pub fn vote(&mut self, members: &[u32], part: &mut Part) -> Result<f64> {
        let voters = members.len() as u32;
        for &member in members {
            let row = self.sets.row(member);
            memory::room(&mut self.named, row.len(), "votes")?;
            for &item in row {
                let count = &mut self.count[item as usize];
                if *count == 0 {
                    self.named.push(item);
                }
                *count += 1;
            }
        }
        self.named.sort_unstable();
        part.base.begin();
        part.distance.begin();
        for &item in &self.named {
            let count = self.count[item as usize];
            if count >= self.majority.need(item, voters) {
                part.base.push(item)?;
            }
            if count < voters {
                part.distance.push(item)?;
            }
        }
        part.base.close()?;
        part.distance.close()?;
        let (mut threshold, mut error) = (0, 0.0);
        for &member in members {
            let row = self.sets.row(member);
            let held = |&&item: &&u32| self.count[item as usize] >= self.majority.need(item, voters);
            let shared = row.iter().filter(held).count() as u32;
            let flipped = part.base.last_size() + row.len() as u32 - 2 * shared;
            threshold = threshold.max(flipped);
            error += f64::from(flipped) / row.len().max(1) as f64;
        }
        part.threshold.push(threshold);
        for &item in &self.named {
            self.count[item as usize] = 0;
        }
        self.named.clear();
        Ok(error)
    }
}
