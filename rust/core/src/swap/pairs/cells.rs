//! Counting partners that differ in several keys at once, by inclusion and exclusion.

use std::ops::Range;

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use super::ids::Ids;
use super::key::{Groups, Key, firsts};
use super::{STEPS, WHAT, lost};
use crate::coded::Coded;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;

/// Keys beyond this number make too many subsets.
pub const MOST_KEYS: usize = 8;

/// How many records are left of each combination of some of the keys, for all subsets of keys.
pub struct Cells {
    /// Records by cell: those of one class that agree in all keys.
    groups: Groups,
    /// First cell of each class, and the end.
    first: Vec<u32>,
    /// By key, the value of each cell.
    values: Vec<Vec<u32>>,
    /// By cell, for every subset of keys that is not empty, where its count stands.
    at: Vec<u32>,
    counts: Vec<u32>,
    subsets: usize,
}

impl Cells {
    pub fn new(classes: &Ids, keys: &[Key], control: &Control) -> Result<Self> {
        let n = classes.of.len();
        memory::require(size_of::<u32>() * n * (keys.len() + 1), WHAT)?;
        let columns: Vec<Ids> = keys.iter().map(|key| key.groups.ids()).collect();
        let mut cells = classes.clone();
        for key in &columns {
            cells = cells.refined(key.column())?;
            control.check()?;
        }
        let subsets = (1 << keys.len()) - 1;
        let room = cells.count * subsets;
        if u32::try_from(room).is_err() {
            return Err(Error::Size(format!("{room} combinations of keys are more than 2^32")));
        }
        let cell = size_of::<usize>() + size_of::<u32>() * (7 + keys.len() + subsets);
        memory::require(cell * cells.count, WHAT)?;
        // What is the same for all records of a cell is looked up in any of them.
        let mut member = vec![0; cells.count];
        for (record, &cell) in cells.of.iter().enumerate() {
            member[cell as usize] = record;
        }
        let gather = |of: &[u32]| member.iter().map(|&record| of[record]).collect::<Vec<u32>>();
        let class_of = Ids { of: gather(&classes.of), count: classes.count };
        let values: Vec<Vec<u32>> = columns.iter().map(|key| gather(&key.of)).collect();
        let mut sizes = vec![0u32; cells.count];
        for &cell in &cells.of {
            sizes[cell as usize] += 1;
        }
        let mut at = vec![0; room];
        let mut counts: Vec<u32> = Vec::new();
        for subset in 1..=subsets {
            control.check()?;
            let mut chosen = (0..keys.len()).filter(|key| subset >> key & 1 == 1);
            let column = |key: usize| Coded { codes: &values[key], categories: columns[key].count };
            let ids = chosen.try_fold(class_of.clone(), |ids, key| ids.refined(column(key)))?;
            let start = counts.len();
            memory::room(&mut counts, ids.count, WHAT)?;
            counts.resize(start + ids.count, 0);
            for (cell, &id) in ids.of.iter().enumerate() {
                let place = start + id as usize;
                counts[place] += sizes[cell];
                at[cell * subsets + subset - 1] = place as u32;
            }
        }
        let first = firsts(&class_of.of, classes.count);
        Ok(Self { groups: Groups::new(cells)?, first, values, at, counts, subsets })
    }

    fn of_class(&self, class: usize) -> Range<usize> {
        self.first[class] as usize..self.first[class + 1] as usize
    }

    /// How many of the `size` records left in a record's class differ from it in every key.
    pub fn partners(&self, record: u32, size: u64) -> u64 {
        self.partners_of(self.groups.of(record), size)
    }

    fn partners_of(&self, cell: usize, size: u64) -> u64 {
        let mut found = size as i64;
        for (subset, &place) in (1u32..).zip(&self.at[cell * self.subsets..][..self.subsets]) {
            let count = i64::from(self.counts[place as usize]);
            found += if subset.count_ones() % 2 == 1 { -count } else { count };
        }
        found as u64
    }

    /// Takes a record away.
    pub fn take(&mut self, record: u32) {
        let start = self.groups.of(record) * self.subsets;
        for &place in &self.at[start..start + self.subsets] {
            self.counts[place as usize] -= 1;
        }
        self.groups.take(record);
    }

    /// What [`Cells::draw`] costs in a class, in draws of a pair from one key.
    pub fn cost(&self, class: usize) -> u64 {
        1 + (self.of_class(class).len() * self.subsets) as u64 / 64
    }

    /// One of the feasible pairs of a class, by going through its cells: the first record by the number of its partners,
    /// then one of these.
    pub fn draw(&self, class: usize, size: u64, rng: &mut ChaCha20Rng, control: &Control) -> Result<(u32, u32)> {
        let range = self.of_class(class);
        memory::require(size_of::<u64>() * range.len(), WHAT)?;
        let mut weights = Vec::with_capacity(range.len());
        for cell in range.clone() {
            if (weights.len() as u64).is_multiple_of(STEPS) {
                control.check()?;
            }
            let left = self.groups.left(cell);
            weights.push(if left == 0 { 0 } else { left * self.partners_of(cell, size) });
        }
        let mut unit = rng.random_range(0..weights.iter().sum::<u64>().max(1));
        for (a, weight) in range.clone().zip(weights) {
            if unit >= weight {
                unit -= weight;
                continue;
            }
            let partners = weight / self.groups.left(a);
            let (in_cell, mut other) = (unit / partners, unit % partners);
            for b in range.filter(|&b| self.values.iter().all(|of| of[a] != of[b])) {
                if other < self.groups.left(b) {
                    return Ok((self.groups.records(a)[in_cell as usize], self.groups.records(b)[other as usize]));
                }
                other -= self.groups.left(b);
            }
            break;
        }
        Err(lost())
    }
}
