//! A few neighbouring groups whose records change places.
//!
//! Records are bitmaps over the items that matter here: those that could be in the base of one group and not of another.
//! For each group the counts of items are kept up to date, and masks of the items on the edge of the majority. A change
//! is then weighed up in a few operations on words: the bits that the records flip against the bases as they are, corrected
//! for each item on the edge that the change pushes over it.

use std::f32::consts::LN_2;

use rand::{Rng, RngExt};
use rand_chacha::ChaCha20Rng;

use super::cost::{Costs, Tally, majority};
use crate::control::Control;
use crate::error::Result;

/// Partners in another group that are looked at for one record.
const PARTNERS: usize = 64;

/// Records that are tried in a round.
const TRIED: usize = 1 << 12;

/// Rounds of descent before groups are mixed again.
const DESCENTS: usize = 20;

/// No label: the record goes with all others.
const NONE: u32 = u32::MAX;

/// A record goes to another group, and another one, if any, comes back.
#[derive(Clone, Copy)]
struct Change {
    record: usize,
    to: usize,
    back: Option<usize>,
    difference: i64,
}

/// Items of one group on the edge of the majority, as bitmaps one after another.
#[derive(Clone, Copy)]
enum Edge {
    /// The base.
    Base,
    /// Leaves, or enters, the base if one more record holds it, the size being the same.
    Down,
    Up,
    /// Leaves the base if a record without it comes; enters it if one with it comes.
    ComeDown,
    ComeUp,
    /// Leaves the base if a record with it goes; enters it if one without it goes.
    GoDown,
    GoUp,
}

const EDGES: usize = 7;

#[derive(Clone)]
pub(super) struct Crowd {
    k: usize,
    words: usize,
    /// Items that matter, by number here.
    common: Vec<bool>,
    /// Of each record here: its number, its weight, its label, its bits.
    record: Vec<u32>,
    weight: Vec<i64>,
    label: Vec<u32>,
    rows: Vec<u64>,
    /// Of each record, its group; of each group, its records and whether it has a label.
    group: Vec<usize>,
    members: Vec<Vec<usize>>,
    labels: usize,
    has: Vec<bool>,
    /// Of each group, the sum of weights; by item, the number and the weight of the records that hold it.
    total: Vec<i64>,
    counts: Vec<u32>,
    held: Vec<i64>,
    edges: Vec<u64>,
    /// Of each group, by record, the bits that differ from the base.
    flips: Vec<i32>,
}

impl Crowd {
    /// A crowd of groups, whose records stand one group after another.
    pub(super) fn new(
        records: &[u32],
        sizes: &[u32],
        k: usize,
        labels: Option<&[u32]>,
        costs: &Costs<'_>,
        tally: &mut Tally,
    ) -> Self {
        for &record in records {
            tally.add(costs.sets.row(record));
        }
        // An item is in no base if not even all records that hold it make half of a group, and in every base if those
        // that do not hold it make less. What it costs does not depend on the groups then.
        let matters = |count: usize| 2 * count >= k && 2 * (records.len() - count) >= k;
        let mut common = Vec::new();
        for index in 0..tally.items().len() {
            let item = tally.items()[index];
            let number = if matters(tally.get(item) as usize) {
                common.push(costs.common(item));
                common.len() as u32
            } else {
                0
            };
            tally.put(item, number);
        }
        let words = common.len().div_ceil(64);
        let mut rows = vec![0; records.len() * words];
        for (index, &record) in records.iter().enumerate() {
            let row = &mut rows[index * words..][..words];
            for &item in costs.sets.row(record) {
                let number = tally.get(item) as usize;
                if number > 0 {
                    row[(number - 1) / 64] |= 1 << ((number - 1) % 64);
                }
            }
        }
        tally.clear();
        let mut distinct: Vec<u32> = labels.map_or(Vec::new(), |l| records.iter().map(|&r| l[r as usize]).collect());
        distinct.sort_unstable();
        distinct.dedup();
        let code = |label: u32| distinct.partition_point(|&other| other < label) as u32;
        let groups = sizes.len();
        let mut crowd = Self {
            k,
            words,
            record: records.to_vec(),
            weight: records.iter().map(|&record| costs.weight(record)).collect(),
            label: records.iter().map(|&record| labels.map_or(NONE, |l| code(l[record as usize]))).collect(),
            rows,
            group: vec![0; records.len()],
            members: Vec::with_capacity(groups),
            labels: distinct.len(),
            has: vec![false; groups * distinct.len()],
            total: vec![0; groups],
            counts: vec![0; groups * common.len()],
            held: vec![0; groups * common.len()],
            edges: vec![0; groups * words * EDGES],
            flips: vec![0; groups * records.len()],
            common,
        };
        let mut next = 0;
        for (group, &size) in sizes.iter().enumerate() {
            crowd.members.push(Vec::with_capacity(size as usize + 1));
            for record in next..next + size as usize {
                crowd.members[group].push(record);
                crowd.count(record, group, 1);
            }
            next += size as usize;
            crowd.find_edges(group);
        }
        crowd
    }

    #[inline]
    fn row(&self, record: usize) -> &[u64] {
        &self.rows[record * self.words..][..self.words]
    }

    #[inline]
    fn edge(&self, group: usize, edge: Edge) -> &[u64] {
        &self.edges[(group * EDGES + edge as usize) * self.words..][..self.words]
    }

    /// What it costs more to have an item in the base of a group.
    #[inline]
    fn excess(&self, group: usize, item: usize) -> i64 {
        self.total[group] - 2 * self.held[group * self.common.len() + item]
    }

    /// Counts a record in (`sign` 1) or out (−1) of a group.
    fn count(&mut self, record: usize, group: usize, sign: i32) {
        let (items, weight) = (self.common.len(), i64::from(sign) * self.weight[record]);
        let row = &self.rows[record * self.words..][..self.words];
        each_bit(row.iter().copied(), |item| {
            self.counts[group * items + item] = self.counts[group * items + item].wrapping_add_signed(sign);
            self.held[group * items + item] += weight;
        });
        self.total[group] += weight;
        if sign > 0 {
            self.group[record] = group;
        }
        if self.labels > 0 {
            self.has[group * self.labels + self.label[record] as usize] = sign > 0;
        }
    }

    /// Finds the base, all edges and all flips of a group.
    fn find_edges(&mut self, group: usize) {
        for item in 0..self.common.len() {
            self.find_edge(group, item);
        }
        let n = self.record.len();
        for record in 0..n {
            let differ = self.row(record).iter().zip(self.edge(group, Edge::Base)).map(|(a, b)| (a ^ b).count_ones());
            self.flips[group * n + record] = differ.sum::<u32>() as i32;
        }
    }

    /// Finds where an item stands in a group. True if it entered or left the base.
    fn find_edge(&mut self, group: usize, item: usize) -> bool {
        let size = self.members[group].len();
        let count = self.counts[group * self.common.len() + item] as usize;
        let set = |count: usize, size: usize| majority(count, size, self.common[item]);
        let now = set(count, size);
        let places = if now {
            // In the base there is at least one record that holds it.
            let (down, come, go) = (!set(count - 1, size), !set(count, size + 1), !set(count - 1, size - 1));
            [true, down, false, come, false, go, false]
        } else {
            let (up, come, go) = (set(count + 1, size), set(count + 1, size + 1), set(count, size.max(1) - 1));
            [false, false, up, false, come, false, go]
        };
        let (word, bit) = (item / 64, item % 64);
        let edges = &mut self.edges[group * EDGES * self.words..][..EDGES * self.words];
        let before = edges[word] >> bit & 1 == 1;
        for (edge, place) in edges.chunks_exact_mut(self.words).zip(places) {
            edge[word] = edge[word] & !(1 << bit) | u64::from(place) << bit;
        }
        before != now
    }

    /// Finds where some items stand, and updates the flips.
    fn update(&mut self, group: usize, items: impl Iterator<Item = u64>) {
        let (n, words) = (self.record.len(), self.words);
        each_bit(items, |item| {
            if self.find_edge(group, item) {
                let set = self.edge(group, Edge::Base)[item / 64] >> (item % 64) & 1;
                let flips = &mut self.flips[group * n..][..n];
                for (flips, word) in flips.iter_mut().zip(self.rows[item / 64..].iter().step_by(words)) {
                    let differs = (word >> (item % 64) & 1) ^ set;
                    *flips += 2 * differs as i32 - 1;
                }
            }
        });
    }

    /// Whether a record may be in a group with the labels of its members, one of them left out.
    #[inline]
    fn fits(&self, record: usize, group: usize, without: usize) -> bool {
        self.labels == 0
            || self.label[record] == self.label[without]
            || !self.has[group * self.labels + self.label[record] as usize]
    }

    /// The best way to bring a record to another group: in exchange for one of some of its members, from a random one on; or
    /// alone, where sizes allow it.
    fn best(&self, record: usize, to: usize, rng: &mut ChaCha20Rng) -> Option<Change> {
        let (n, from, weight) = (self.record.len(), self.group[record], self.weight[record]);
        let row = self.row(record);
        let flips = |record: usize, group: usize| i64::from(self.flips[group * n + record]);
        let own = weight * (flips(record, to) - flips(record, from));
        let (down_from, up_from) = (self.edge(from, Edge::Down), self.edge(from, Edge::Up));
        let (down_to, up_to) = (self.edge(to, Edge::Down), self.edge(to, Edge::Up));
        let mut best: Option<Change> = None;
        let mut consider = |back: Option<usize>, difference: i64| {
            if best.is_none_or(|best| difference < best.difference) {
                best = Some(Change { record, to, back, difference });
            }
        };
        let partners = &self.members[to];
        let start = if partners.len() > PARTNERS { rng.random_range(0..partners.len()) } else { 0 };
        for &other in partners[start..].iter().chain(&partners[..start]).take(PARTNERS) {
            if !(self.fits(record, to, other) && self.fits(other, from, record)) {
                continue;
            }
            let theirs = self.weight[other];
            let both = weight + theirs;
            let mut difference = own + theirs * (flips(other, from) - flips(other, to));
            for (word, &bits) in self.row(other).iter().enumerate() {
                let (gone, come) = (row[word] & !bits, bits & !row[word]);
                let near = |edge: u64, group: usize, sign: i64| {
                    let mut sum = 0;
                    let mut edge = edge;
                    while edge != 0 {
                        let item = word * 64 + edge.trailing_zeros() as usize;
                        sum += sign * self.excess(group, item) - both;
                        edge &= edge - 1;
                    }
                    sum
                };
                difference += near(gone & down_from[word], from, -1) + near(come & up_from[word], from, 1);
                difference += near(come & down_to[word], to, -1) + near(gone & up_to[word], to, 1);
            }
            consider(Some(other), difference);
        }
        if self.members[from].len() > self.k
            && self.members[to].len() < 2 * self.k - 1
            && (self.labels == 0 || !self.has[to * self.labels + self.label[record] as usize])
        {
            consider(None, own + self.correction_of_move(record, to));
        }
        best
    }

    /// What bases that follow a move add to its cost.
    fn correction_of_move(&self, record: usize, to: usize) -> i64 {
        let (from, weight) = (self.group[record], self.weight[record]);
        let mut sum = 0;
        for (group, down_with, down, up_with, up) in
            [(from, true, Edge::GoDown, false, Edge::GoUp), (to, false, Edge::ComeDown, true, Edge::ComeUp)]
        {
            for (edge, with, sign) in [(down, down_with, -1), (up, up_with, 1)] {
                let bits = self.row(record).iter().zip(self.edge(group, edge));
                let bits = bits.map(|(&row, &edge)| if with { row & edge } else { !row & edge });
                each_bit(bits, |item| sum += sign * self.excess(group, item) - weight);
            }
        }
        sum
    }

    fn make(&mut self, change: Change) {
        let Change { record, to, back, .. } = change;
        let from = self.group[record];
        let place = |members: &[usize], record| members.iter().position(|&other| other == record);
        let Some(place_from) = place(&self.members[from], record) else { return };
        self.count(record, from, -1);
        if let Some(back) = back {
            let Some(place_to) = place(&self.members[to], back) else { return };
            self.count(back, to, -1);
            self.count(record, to, 1);
            self.count(back, from, 1);
            self.members[from][place_from] = back;
            self.members[to][place_to] = record;
            let differ: Vec<u64> = self.row(record).iter().zip(self.row(back)).map(|(a, b)| a ^ b).collect();
            self.update(from, differ.iter().copied());
            self.update(to, differ.iter().copied());
        } else {
            self.count(record, to, 1);
            self.members[from].swap_remove(place_from);
            self.members[to].push(record);
            let all = |items: usize| (0..items.div_ceil(64)).map(move |word| !0 >> (64 - (items - word * 64).min(64)));
            self.update(from, all(self.common.len()));
            self.update(to, all(self.common.len()));
        }
    }

    /// Another group than that of a record, at random.
    fn other_group(&self, record: usize, rng: &mut ChaCha20Rng) -> usize {
        let to = rng.random_range(0..self.members.len() - 1);
        to + usize::from(to >= self.group[record])
    }

    /// Rounds in which every record (of a very large crowd: some) may go to one other group. A change that costs more is made
    /// the less often, the lower the temperature.
    pub(super) fn anneal(
        &mut self,
        rounds: usize,
        temperature: f64,
        rng: &mut ChaCha20Rng,
        control: &Control,
    ) -> Result<()> {
        let n = self.record.len();
        if self.members.len() < 2 {
            return Ok(());
        }
        for _ in 0..rounds {
            for i in 0..n.min(TRIED) {
                let record = if n > TRIED { rng.random_range(0..n) } else { i };
                let to = self.other_group(record, rng);
                if let Some(change) = self.best(record, to, rng)
                    && (change.difference as f64) < temperature * f64::from(exponential(rng.next_u32()))
                {
                    self.make(change);
                }
            }
            control.check()?;
        }
        Ok(())
    }

    /// Rounds in which records go to other groups wherever that costs less, until nothing does.
    pub(super) fn descend(&mut self, rng: &mut ChaCha20Rng, control: &Control) -> Result<()> {
        for _ in 0..DESCENTS {
            let mut settled = true;
            for record in 0..self.record.len() {
                for to in 0..self.members.len() {
                    if to != self.group[record]
                        && let Some(change) = self.best(record, to, rng)
                        && change.difference < 0
                    {
                        self.make(change);
                        settled = false;
                    }
                }
                control.check()?;
            }
            if settled {
                break;
            }
        }
        Ok(())
    }

    /// Writes the records group after group, and the sizes of the groups.
    pub(super) fn write(&self, records: &mut [u32], sizes: &mut [u32]) {
        for (record, &member) in records.iter_mut().zip(self.members.iter().flatten()) {
            *record = self.record[member];
        }
        for (size, members) in sizes.iter_mut().zip(&self.members) {
            *size = members.len() as u32;
        }
    }
}

/// Calls for each set bit of a bitmap.
#[inline]
fn each_bit(words: impl Iterator<Item = u64>, mut call: impl FnMut(usize)) {
    for (index, mut word) in words.enumerate() {
        while word != 0 {
            call(index * 64 + word.trailing_zeros() as usize);
            word &= word - 1;
        }
    }
}

/// An exponential random number, about, from random bits: the logarithm is taken as linear between powers of two, which
/// every machine computes alike.
fn exponential(random: u32) -> f32 {
    let zeros = random.leading_zeros();
    let fraction = (u64::from(random) << (zeros + 1)) as u32;
    LN_2 * (zeros as f32 + 1.0 - fraction as f32 / (u32::MAX as f32 + 1.0))
}
