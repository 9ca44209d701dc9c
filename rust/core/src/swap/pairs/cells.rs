//! Counting partners that differ in several keys at once, by inclusion and exclusion.

use super::ids::Ids;
use super::key::Key;
use crate::coded::Coded;
use crate::control::Control;
use crate::error::{Error, Result};

/// Keys beyond this number make too many subsets.
pub const MOST_KEYS: usize = 8;

/// How many records are left of each combination of some of the keys, for all subsets of keys.
pub struct Cells {
    /// The cell of each record: records in one class that agree in all keys.
    of: Vec<u32>,
    /// By cell, for every subset of keys that is not empty, where its count stands.
    at: Vec<u32>,
    counts: Vec<u32>,
    subsets: usize,
}

impl Cells {
    pub fn new(classes: &Ids, keys: &[Key], control: &Control) -> Result<Self> {
        let columns: Vec<Ids> = keys.iter().map(|key| key.groups.ids()).collect();
        let cells = columns.iter().fold(classes.clone(), |ids, key| ids.refined(key.column()));
        control.check()?;
        let subsets = (1 << keys.len()) - 1;
        let room = cells.count * subsets;
        if u32::try_from(room).is_err() {
            return Err(Error::Memory(room));
        }
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
            let chosen = (0..keys.len()).filter(|key| subset >> key & 1 == 1);
            let column = |key: usize| Coded { codes: &values[key], categories: columns[key].count };
            let ids = chosen.fold(class_of.clone(), |ids, key| ids.refined(column(key)));
            let start = counts.len();
            counts.resize(start + ids.count, 0);
            for (cell, &id) in ids.of.iter().enumerate() {
                let place = start + id as usize;
                counts[place] += sizes[cell];
                at[cell * subsets + subset - 1] = place as u32;
            }
        }
        Ok(Self { of: cells.of, at, counts, subsets })
    }

    fn places(&self, record: u32) -> &[u32] {
        &self.at[self.of[record as usize] as usize * self.subsets..][..self.subsets]
    }

    /// How many of the `size` records left in a record's class differ from it in every key.
    pub fn partners(&self, record: u32, size: u64) -> u64 {
        let mut found = size as i64;
        for (subset, &place) in (1u32..).zip(self.places(record)) {
            let count = i64::from(self.counts[place as usize]);
            found += if subset.count_ones() % 2 == 1 { -count } else { count };
        }
        found as u64
    }

    /// Takes a record away.
    pub fn take(&mut self, record: u32) {
        let start = self.of[record as usize] as usize * self.subsets;
        for &place in &self.at[start..start + self.subsets] {
            self.counts[place as usize] -= 1;
        }
    }
}
