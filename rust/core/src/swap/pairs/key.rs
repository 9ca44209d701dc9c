//! Records in groups, from which they are drawn and taken away.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use super::ids::Ids;
use super::{WHAT, weights};
use crate::error::Result;
use crate::memory;

/// Records by group; those that are left stand first in their group.
pub struct Groups {
    of: Vec<u32>,
    starts: Vec<u32>,
    records: Vec<u32>,
    place: Vec<u32>,
    left: Vec<u32>,
}

impl Groups {
    pub fn new(ids: Ids) -> Result<Self> {
        memory::require(size_of::<u32>() * (2 * ids.of.len() + 3 * ids.count), WHAT)?;
        let mut left = vec![0u32; ids.count];
        for &id in &ids.of {
            left[id as usize] += 1;
        }
        let mut starts = Vec::with_capacity(ids.count);
        left.iter().fold(0, |sum, size| {
            starts.push(sum);
            sum + size
        });
        let mut next = starts.clone();
        let mut records = vec![0; ids.of.len()];
        let mut place = vec![0; ids.of.len()];
        for (record, &id) in (0u32..).zip(&ids.of) {
            let slot = &mut next[id as usize];
            records[*slot as usize] = record;
            place[record as usize] = *slot;
            *slot += 1;
        }
        Ok(Self { of: ids.of, starts, records, place, left })
    }

    /// The groups as numbers of the records.
    pub fn ids(&self) -> Ids {
        Ids { of: self.of.clone(), count: self.left.len() }
    }

    /// The group of a record.
    #[inline]
    pub fn of(&self, record: u32) -> usize {
        self.of[record as usize] as usize
    }

    /// How many records of a group are left.
    #[inline]
    pub fn left(&self, group: usize) -> u64 {
        u64::from(self.left[group])
    }

    /// The records of a group that are left.
    #[inline]
    pub fn records(&self, group: usize) -> &[u32] {
        &self.records[self.starts[group] as usize..][..self.left[group] as usize]
    }

    /// Takes a record away.
    pub fn take(&mut self, record: u32) {
        let group = self.of(record);
        self.left[group] -= 1;
        let (place, end) = (self.place[record as usize], self.starts[group] + self.left[group]);
        let last = self.records[end as usize];
        self.records.swap(place as usize, end as usize);
        self.place[last as usize] = place;
        self.place[record as usize] = end;
    }

    /// Any two records of a group.
    pub fn draw(&self, group: usize, rng: &mut ChaCha20Rng) -> (u32, u32) {
        let records = self.records(group);
        let a = rng.random_range(0..records.len());
        let b = rng.random_range(0..records.len() - 1);
        (records[a], records[b + usize::from(b >= a)])
    }
}

/// Where each of some classes begins, and the end, if `class_of` ascends.
pub fn firsts(class_of: &[u32], classes: usize) -> Vec<u32> {
    (0..=classes).map(|class| class_of.partition_point(|&of| (of as usize) < class) as u32).collect()
}

/// A key in which the records of a pair must differ: classes of records, each in groups that agree in the key.
pub struct Key {
    pub groups: Groups,
    /// First group of each class, and the end.
    first: Vec<u32>,
    /// Sizes of groups and their squares, a tree for each class.
    sizes: Vec<u64>,
    squares: Vec<u64>,
    /// Sum of squares by class.
    equal: Vec<u64>,
}

impl Key {
    /// `ids` number the groups so that those of a class follow each other.
    pub fn new(ids: Ids, classes: &Ids) -> Result<Self> {
        memory::require(Self::needs(ids.of.len(), ids.count, classes.count), WHAT)?;
        let mut class_of = vec![0; ids.count];
        for (&id, &class) in ids.of.iter().zip(&classes.of) {
            class_of[id as usize] = class;
        }
        let first = firsts(&class_of, classes.count);
        let groups = Groups::new(ids)?;
        let mut sizes: Vec<u64> = groups.left.iter().map(|&x| u64::from(x)).collect();
        let mut squares: Vec<u64> = sizes.iter().map(|x| x * x).collect();
        let ranges = || first.windows(2).map(|w| w[0] as usize..w[1] as usize);
        let equal = ranges().map(|range| squares[range].iter().sum()).collect();
        for range in ranges() {
            weights::build(&mut sizes[range.clone()]);
            weights::build(&mut squares[range]);
        }
        Ok(Self { groups, first, sizes, squares, equal })
    }

    /// Bytes for the groups of `n` records, `ids` of them in so many classes.
    fn needs(n: usize, ids: usize, classes: usize) -> usize {
        size_of::<u32>() * (2 * n + 4 * ids + classes) + size_of::<u64>() * (2 * ids + classes)
    }

    /// The groups of a class.
    fn groups_of(&self, class: usize) -> std::ops::Range<usize> {
        self.first[class] as usize..self.first[class + 1] as usize
    }

    /// Twice the number of pairs that differ in this key, in a class of which `size` records are left.
    #[inline]
    pub fn ordered_pairs(&self, class: usize, size: u64) -> u64 {
        size * size - self.equal[class]
    }

    /// Any two records of a class that differ in this key: one draw, whatever the frequencies of its values.
    pub fn draw(&self, class: usize, size: u64, rng: &mut ChaCha20Rng) -> (u32, u32) {
        let range = self.groups_of(class);
        let (sizes, squares) = (&self.sizes[range.clone()], &self.squares[range.clone()]);
        let unit = rng.random_range(0..self.ordered_pairs(class, size));
        // A group of c records makes c·(size − c) ordered pairs with the others.
        let (a, unit) = weights::find(sizes.len(), |node| size * sizes[node] - squares[node], unit);
        let group = self.groups.records(range.start + a);
        let others = size - group.len() as u64;
        let (in_group, mut other) = (unit / others, unit % others);
        if other >= weights::before(sizes, a) {
            other += group.len() as u64;
        }
        let (b, in_other) = weights::find(sizes.len(), |node| sizes[node], other);
        (group[in_group as usize], self.groups.records(range.start + b)[in_other as usize])
    }

    /// Takes a record of a class away.
    pub fn take(&mut self, record: u32, class: usize) {
        let (range, group) = (self.groups_of(class), self.groups.of(record));
        let fewer = 2 * self.groups.left(group) - 1;
        weights::take(&mut self.sizes[range.clone()], group - range.start, 1);
        weights::take(&mut self.squares[range.clone()], group - range.start, fewer);
        self.equal[class] -= fewer;
        self.groups.take(record);
    }
}
