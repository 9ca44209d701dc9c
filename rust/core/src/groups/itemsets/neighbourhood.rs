//! A few neighbouring groups whose records change places.
//!
//! Records are bitmaps over the items that matter here: those that could be in the base of one group and not of another.
//! For each group the counts of items are kept up to date, and masks of the items on the edge of the majority. A change
//! is then weighed up in a few operations on words: the bits that the records flip against the bases as they are, corrected
//! for each item on the edge that the change pushes over it.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha20Rng;

use super::cost::{Costs, Tally};
use crate::control::Control;
use crate::error::Result;
use crate::memory;
use crate::rng::exponential;

/// Partners in another group that are looked at for one record.
const PARTNERS: usize = 64;

/// Records that are tried in a round.
const TRIED: usize = 1 << 12;

/// Groups of which a record tries the one with the nearest base.
const DRAWS: usize = 6;

/// Below this size of a group, an item that nobody holds may be on the edge of its majority, now or after one goes.
const LONELY: usize = 4;

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

/// The edges at which an item stands, a bit for each, by twice its count less the size of the group (within ±4, beyond which
/// nothing changes), for an item that loses and for one that wins a tie.
const STANDS: [[u8; 9]; 2] = [stands(false), stands(true)];

const fn stands(common: bool) -> [u8; 9] {
    const fn set(margin: i32, common: bool) -> bool {
        margin > 0 || (margin == 0 && common)
    }
    let mut places = [0; 9];
    let mut index = 0;
    while index < 9 {
        let margin = index as i32 - 4;
        places[index] = if set(margin, common) {
            1 << Edge::Base as u8
                | (!set(margin - 2, common) as u8) << Edge::Down as u8
                | (!set(margin - 1, common) as u8) << Edge::ComeDown as u8
                | (!set(margin - 1, common) as u8) << Edge::GoDown as u8
        } else {
            (set(margin + 2, common) as u8) << Edge::Up as u8
                | (set(margin + 1, common) as u8) << Edge::ComeUp as u8
                | (set(margin + 1, common) as u8) << Edge::GoUp as u8
        };
        index += 1;
    }
    places
}

/// Items of one word on an edge that an exchange may push them over.
struct Near {
    word: usize,
    /// Held by the record that goes: out of the base that it leaves, into the base to which it comes.
    gone: [u64; 2],
    /// Not held by it: into the base that it leaves, out of the base to which it comes.
    come: [u64; 2],
}

/// Bytes of a neighbourhood that are taken without asking.
const LITTLE: usize = 1 << 17;

/// Bytes of a neighbourhood: for each record its bits and numbers, for each group the items by count, weight and edge, the
/// records by flips, and which labels it has.
fn needs(records: usize, groups: usize, items: usize, labelled: bool) -> usize {
    let words = size_of::<u64>() * items.div_ceil(64);
    let labels = if labelled { records } else { 0 };
    let group = items * (size_of::<u32>() + size_of::<i64>()) + EDGES * words + size_of::<i32>() * records + labels;
    records * (words + 6 * size_of::<u64>()) + groups * group
}

#[derive(Clone)]
pub(super) struct Neighbourhood {
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

impl Neighbourhood {
    /// A neighbourhood of groups, whose records stand one group after another.
    pub(super) fn new(
        records: &[u32],
        sizes: &[u32],
        k: usize,
        labels: Option<&[u32]>,
        costs: &Costs<'_>,
        tally: &mut Tally,
    ) -> Result<Self> {
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
        let needed = needs(records.len(), sizes.len(), common.len(), labels.is_some());
        if needed > LITTLE {
            let all = costs.sets.n().div_ceil(records.len());
            memory::require(needed * all.min(rayon::current_num_threads()), "neighbourhoods of groups")?;
        }
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
        let mut neighbourhood = Self {
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
            neighbourhood.members.push(Vec::with_capacity(size as usize + 1));
            for record in next..next + size as usize {
                neighbourhood.members[group].push(record);
                neighbourhood.count(record, group, 1);
            }
            next += size as usize;
            // Against an empty base every bit counts; then the base comes in bit by bit.
            for record in 0..records.len() {
                let bits = neighbourhood.row(record).iter().map(|word| word.count_ones());
                neighbourhood.flips[group * records.len() + record] = bits.sum::<u32>() as i32;
            }
            neighbourhood.find_edges(group, None);
        }
        Ok(neighbourhood)
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
        let (counts, held) = (&mut self.counts[group * items..][..items], &mut self.held[group * items..][..items]);
        for (word, &bits) in self.rows[record * self.words..][..self.words].iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let item = word * 64 + bits.trailing_zeros() as usize;
                counts[item] = counts[item].wrapping_add_signed(sign);
                held[item] += weight;
                bits &= bits - 1;
            }
        }
        self.total[group] += weight;
        if sign > 0 {
            self.group[record] = group;
        }
        if self.labels > 0 {
            self.has[group * self.labels + self.label[record] as usize] = sign > 0;
        }
    }

    /// The edges at which an item stands in a group.
    #[inline]
    fn stand(&self, group: usize, item: usize) -> u8 {
        let count = self.counts[group * self.common.len() + item];
        let margin = 2 * i64::from(count) - self.members[group].len() as i64;
        STANDS[usize::from(self.common[item])][(margin.clamp(-4, 4) + 4) as usize]
    }

    /// Finds where the items of a group stand after its size changed, and the flips. A record that went is given, too.
    fn find_edges(&mut self, group: usize, gone: Option<usize>) {
        let size = self.members[group].len();
        for word in 0..self.words {
            // An item that nobody holds is on no edge, and was on none.
            let items = if size < LONELY {
                !0 >> (64 - (self.common.len() - word * 64).min(64))
            } else {
                let holders = self.members[group].iter().chain(&gone);
                holders.fold(0, |items, &record| items | self.rows[record * self.words + word])
            };
            if items != 0 {
                self.update_edges(group, word, items);
            }
        }
    }

    /// Finds where some items of a group stand, and the flips.
    fn update_edges(&mut self, group: usize, word: usize, mut items: u64) {
        let mut edges: [u64; EDGES] = std::array::from_fn(|e| self.edges[(group * EDGES + e) * self.words + word]);
        while items != 0 {
            let bit = items.trailing_zeros();
            let stand = self.stand(group, word * 64 + bit as usize);
            for (place, edge) in edges.iter_mut().enumerate() {
                *edge = *edge & !(1 << bit) | u64::from(stand >> place & 1) << bit;
            }
            items &= items - 1;
        }
        self.put_edges(group, word, edges);
    }

    fn put_edges(&mut self, group: usize, word: usize, edges: [u64; EDGES]) {
        let (n, words) = (self.record.len(), self.words);
        let base = Edge::Base as usize;
        let mut changed = self.edges[(group * EDGES + base) * words + word] ^ edges[base];
        for (place, edge) in edges.into_iter().enumerate() {
            self.edges[(group * EDGES + place) * words + word] = edge;
        }
        while changed != 0 {
            let bit = changed.trailing_zeros();
            let flips = &mut self.flips[group * n..][..n];
            let (differ, agree) = if edges[base] >> bit & 1 == 1 { (-1, 1) } else { (1, -1) };
            for (flips, row) in flips.iter_mut().zip(self.rows[word..].iter().step_by(words)) {
                *flips += if row >> bit & 1 == 1 { differ } else { agree };
            }
            changed &= changed - 1;
        }
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
    fn best(&self, record: usize, to: usize, near: &mut Vec<Near>, rng: &mut ChaCha20Rng) -> Option<Change> {
        let (n, from, weight) = (self.record.len(), self.group[record], self.weight[record]);
        let row = self.row(record);
        let flips = |record: usize, group: usize| i64::from(self.flips[group * n + record]);
        let own = weight * (flips(record, to) - flips(record, from));
        near.clear();
        for (word, &bits) in row.iter().enumerate() {
            let edge = |group: usize, edge: Edge| self.edge(group, edge)[word];
            let gone = [bits & edge(from, Edge::Down), bits & edge(to, Edge::Up)];
            let come = [!bits & edge(from, Edge::Up), !bits & edge(to, Edge::Down)];
            if gone[0] | gone[1] | come[0] | come[1] != 0 {
                near.push(Near { word, gone, come });
            }
        }
        let mut best: Option<Change> = None;
        let mut consider = |back: Option<usize>, difference: i64| {
            if best.is_none_or(|best| difference < best.difference) {
                best = Some(Change { record, to, back, difference });
            }
        };
        let partners = &self.members[to];
        // Of equal ones the first is taken, so from a random one on: where much is equal, search wanders.
        let start = rng.random_range(0..partners.len());
        for &other in partners[start..].iter().chain(&partners[..start]).take(PARTNERS) {
            if !(self.fits(record, to, other) && self.fits(other, from, record)) {
                continue;
            }
            let theirs = self.weight[other];
            let both = weight + theirs;
            let mut difference = own + theirs * (flips(other, from) - flips(other, to));
            let bits = self.row(other);
            for &Near { word, gone, come } in &*near {
                let bits = bits[word];
                difference += self.pushed(from, word, gone[0] & !bits, -1, both);
                difference += self.pushed(to, word, gone[1] & !bits, 1, both);
                difference += self.pushed(from, word, come[0] & bits, 1, both);
                difference += self.pushed(to, word, come[1] & bits, -1, both);
            }
            // An exchange of equal records leads nowhere and would hide those that cost a little.
            if difference != 0 || bits != row || self.label[other] != self.label[record] {
                consider(Some(other), difference);
            }
        }
        if self.members[from].len() > self.k
            && self.members[to].len() < 2 * self.k - 1
            && (self.labels == 0 || !self.has[to * self.labels + self.label[record] as usize])
        {
            consider(None, own + self.pushed_by_move(record, to));
        }
        best
    }

    /// What it adds to the cost that items are pushed into (`sign` 1) or out of (−1) the base of a group by records that come
    /// or go with this weight.
    #[inline]
    fn pushed(&self, group: usize, word: usize, mut items: u64, sign: i64, weight: i64) -> i64 {
        let mut sum = 0;
        while items != 0 {
            let item = word * 64 + items.trailing_zeros() as usize;
            sum += sign * self.excess(group, item) - weight;
            items &= items - 1;
        }
        sum
    }

    /// What bases that follow a move add to its cost.
    fn pushed_by_move(&self, record: usize, to: usize) -> i64 {
        let (from, weight) = (self.group[record], self.weight[record]);
        let of_word = |(word, &bits): (usize, &u64)| {
            let edge = |group: usize, edge: Edge| self.edge(group, edge)[word];
            self.pushed(from, word, bits & edge(from, Edge::GoDown), -1, weight)
                + self.pushed(from, word, !bits & edge(from, Edge::GoUp), 1, weight)
                + self.pushed(to, word, !bits & edge(to, Edge::ComeDown), -1, weight)
                + self.pushed(to, word, bits & edge(to, Edge::ComeUp), 1, weight)
        };
        self.row(record).iter().enumerate().map(of_word).sum()
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
            for word in 0..self.words {
                let differ = self.row(record)[word] ^ self.row(back)[word];
                if differ != 0 {
                    self.update_edges(from, word, differ);
                    self.update_edges(to, word, differ);
                }
            }
        } else {
            self.count(record, to, 1);
            self.members[from].swap_remove(place_from);
            self.members[to].push(record);
            self.find_edges(from, Some(record));
            self.find_edges(to, None);
        }
    }

    /// Another group than that of a record: of some random ones, the one whose base is nearest.
    fn other_group(&self, record: usize, rng: &mut ChaCha20Rng) -> usize {
        let n = self.record.len();
        let draw = |_| {
            let to = rng.random_range(0..self.members.len() - 1);
            to + usize::from(to >= self.group[record])
        };
        (0..DRAWS).map(draw).min_by_key(|&to| self.flips[to * n + record]).unwrap_or(0)
    }

    /// Rounds in which every record (of a very large neighbourhood: some) may go to one other group. A change that costs more is made
    /// the less often, the lower the temperature; at zero, only gains are made.
    pub(super) fn search(
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
        let mut near = Vec::new();
        for _ in 0..rounds {
            for i in 0..n.min(TRIED) {
                // In large groups one change may take milliseconds.
                control.check()?;
                let record = if n > TRIED { rng.random_range(0..n) } else { i };
                let to = self.other_group(record, rng);
                if let Some(change) = self.best(record, to, &mut near, rng)
                    && (change.difference as f64) < temperature * f64::from(exponential(rng.next_u32()))
                {
                    self.make(change);
                }
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

#[cfg(test)]
mod tests;
