//! Dynamic clustering at opposite ends (SRS-2, thesis algorithm 2), on categories instead of records.
//!
//! A reference's cluster is the `k` records nearest to it, swapped or not. Distances depend on categories only, so the
//! cluster of a category never changes: some groups of equally distant categories lie wholly inside, and of one more,
//! the *boundary*, a random part. Records of a category are exchangeable; so the state of the process is the number of
//! unswapped records per category, and a record is drawn only when a value really changes.
//!
//! - Unswapped members of the random part: a hypergeometric number, by definition of drawing without replacement; or
//!   drawn one by one, where the boundary has many more categories than the cluster takes records.
//! - The next reference, the farthest unswapped record: drawn from a list of the farthest categories as it was some time
//!   ago, again if that record has been swapped since; the list is made anew when this happens too often.
//!
//! O(d²) once, and per step the number of categories in the cluster, at most O(k log d): one, where categories have more
//! than `k` records. On a line, O(d log d) once: the nearest are found around a category, the farthest at both ends.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand::seq::index::sample;
use rand_chacha::ChaCha20Rng;

use super::ranked::farthest_from_all;
use super::{STEPS, Swapped, check_k};
use crate::MISSING;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::meaning::Meaning;
use crate::memory::{self, Meter};
use crate::rng::hypergeometric;

/// Draws of records swapped since before the list of farthest categories is made anew.
const TRIALS: usize = 8;

/// Swaps a column of categories that have the given distances.
pub fn swap(
    codes: &[u32],
    meaning: Meaning<'_>,
    counts: &[u64],
    k: usize,
    rng: &mut ChaCha20Rng,
    control: &Control,
) -> Result<Swapped> {
    check_k(k)?;
    memory::require(needs(codes.len(), counts.len(), k), WHAT)?;
    let mut reference = farthest_from_all(meaning, counts, rng)?;
    let records: u64 = counts.iter().sum();
    let mut state = State::new(meaning, counts, k as u64)?;
    let mut exchanges = Exchanges::new(codes, counts);
    let mut result = Swapped::new(codes);
    control.begin(records);
    let mut told = records;
    while state.unswapped.total > 0 {
        if told - state.unswapped.total >= STEPS {
            control.advance(told - state.unswapped.total)?;
            told = state.unswapped.total;
        }
        state.unswapped.take(reference);
        let (candidates, partner) = state.partner(reference, rng)?;
        result.count(candidates as usize);
        if let Some(partner) = partner {
            state.unswapped.take(partner);
            if partner != reference {
                let (a, b) = (exchanges.record(reference, rng), exchanges.record(partner, rng));
                result.codes[a] = partner as u32;
                result.codes[b] = reference as u32;
            }
        }
        if state.unswapped.total > 0 {
            reference = state.farthest(reference, rng)?;
        }
    }
    Ok(result)
}

/// What needs memory here.
const WHAT: &str = "swapping a column";

/// Bytes for so many records of `d` categories, beside clusters and far ends, which are counted as they are found.
fn needs(n: usize, d: usize, k: usize) -> usize {
    let category =
        size_of::<Option<Cluster>>() + size_of::<End>() + size_of::<(Distance, usize)>() * 3 + 2 * size_of::<u64>();
    // On a line, an order of the categories, and where each is in it.
    Swapped::needs(n, k) + Lists::needs(d, n) + (category + 2 * size_of::<u32>()) * d
}

/// Where the process stands: what is unswapped, and what has been worked out about clusters and far ends.
struct State<'a> {
    distances: Distances<'a>,
    counts: &'a [u64],
    k: u64,
    unswapped: Unswapped,
    clusters: Vec<Option<Cluster>>,
    ends: Vec<End>,
    meter: Meter,
}

/// The `k` records nearest to a reference of one category, the reference itself left out.
struct Cluster {
    /// Categories whose records all belong to it.
    inside: Vec<u32>,
    /// Categories at the distance where it ends,
    boundary: Vec<u32>,
    /// the number of their records up to and including each, the reference left out,
    sums: Vec<u64>,
    /// and how many of these belong to it.
    drawn: u64,
}

impl Cluster {
    fn boundary_records(&self) -> u64 {
        self.sums.last().copied().unwrap_or(0)
    }

    /// Whether drawing the members of the boundary one by one is less work than counting all it has.
    fn is_wide(&self) -> bool {
        self.boundary.len() as u64 > 8 * self.drawn
    }
}

/// Bytes of a category at the boundary of a cluster, and at a far end.
const CLUSTERED: usize = size_of::<u32>() + size_of::<u64>();
const ENDED: usize = 2 * size_of::<u32>();

/// The farthest unswapped categories from one category, and how many unswapped records they had when listed.
#[derive(Clone, Default)]
struct End {
    categories: Vec<u32>,
    /// Records up to and including each category.
    sums: Vec<u32>,
}

impl End {
    fn new(categories: Vec<u32>, unswapped: &Unswapped) -> Self {
        let mut sum = 0;
        let sums = categories.iter().map(|&c| {
            sum += unswapped.count[c as usize] as u32;
            sum
        });
        Self { sums: sums.collect(), categories }
    }

    /// A uniform record of the list, or nobody where that one has been swapped since.
    ///
    /// Records of a category are exchangeable: the first ones of the list may stand for those still unswapped.
    fn draw(&self, unswapped: &Unswapped, rng: &mut ChaCha20Rng) -> Option<usize> {
        let record = rng.random_range(0..*self.sums.last()?);
        let place = self.sums.partition_point(|&sum| sum <= record);
        let before = if place == 0 { 0 } else { self.sums[place - 1] };
        let category = self.categories[place] as usize;
        (u64::from(record - before) < unswapped.count[category]).then_some(category)
    }
}

impl<'a> State<'a> {
    fn new(meaning: Meaning<'a>, counts: &'a [u64], k: u64) -> Result<Self> {
        let d = counts.len();
        let clusters = (0..d).map(|_| None).collect();
        Ok(Self {
            distances: Distances::new(meaning)?,
            counts,
            k,
            unswapped: Unswapped::new(counts),
            clusters,
            ends: vec![End::default(); d],
            meter: Meter::default(),
        })
    }

    /// Draws a partner for a reference (which is taken already): how many candidates there were, and the category.
    fn partner(&mut self, reference: usize, rng: &mut ChaCha20Rng) -> Result<(u64, Option<usize>)> {
        if self.clusters[reference].is_none() {
            self.clusters[reference] = Some(self.cluster(reference)?);
        }
        let Some(cluster) = &self.clusters[reference] else { return Ok((0, None)) };
        let inside: u64 = self.unswapped.of(&cluster.inside);
        let (drawn, from_boundary) = if cluster.is_wide() {
            let members = self.unswapped.drawn(cluster, rng);
            (members.len() as u64, members.choose(rng).copied())
        } else {
            let unswapped: u64 = self.unswapped.of(&cluster.boundary);
            let drawn = hypergeometric(cluster.boundary_records(), unswapped, cluster.drawn, rng);
            // Which of the unswapped records are drawn is random: each is as likely to be the partner.
            let nth = if drawn > 0 { rng.random_range(0..unswapped) } else { 0 };
            (drawn, (drawn > 0).then(|| self.unswapped.nth(&cluster.boundary, nth)))
        };
        let candidates = inside + drawn;
        if candidates == 0 {
            return Ok((0, None));
        }
        let nth = rng.random_range(0..candidates);
        let partner = if nth < inside { Some(self.unswapped.nth(&cluster.inside, nth)) } else { from_boundary };
        Ok((candidates, partner))
    }

    /// Finds the cluster of a category: the distance at which it ends, then the categories within and at it.
    fn cluster(&self, reference: usize) -> Result<Cluster> {
        let near = self.distances.near(reference as u32, self.counts, self.k);
        let distance = |c: u32| self.distances.meaning.distance(reference as u32, c);
        let others = |c: usize| self.counts[c] - u64::from(c == reference);
        // The nearest categories so far, the farthest of them on top, and the number of their records.
        let mut nearest: BinaryHeap<(Distance, usize)> = BinaryHeap::new();
        let (mut records, mut end) = (0, f64::INFINITY);
        for &c in near {
            let (distance, c) = (distance(c), c as usize);
            if distance < end && self.counts[c] > 0 {
                nearest.push((Distance(distance), c));
                records += others(c);
                while let Some(&(Distance(top), c)) = nearest.peek() {
                    if records - others(c) < self.k {
                        end = if records >= self.k { top } else { f64::INFINITY };
                        break;
                    }
                    records -= others(c);
                    nearest.pop();
                }
            }
        }
        let inside: Vec<u32> =
            nearest.iter().filter(|(distance, _)| distance.0 < end).map(|&(_, c)| c as u32).collect();
        let taken: u64 = inside.iter().map(|&c| others(c as usize)).sum();
        let at_end = |c: &&u32| distance(**c) == end && self.counts[**c as usize] > 0;
        let ties = near.iter().filter(at_end).count();
        self.meter.keep(size_of::<u32>() * inside.capacity() + CLUSTERED * ties, WHAT)?;
        let mut boundary = Vec::with_capacity(ties);
        boundary.extend(near.iter().filter(at_end));
        let mut sum = 0;
        let sums = boundary.iter().map(|&c| {
            sum += others(c as usize);
            sum
        });
        let sums: Vec<u64> = sums.collect();
        Ok(Cluster { drawn: (self.k - taken.min(self.k)).min(sum), inside, boundary, sums })
    }

    /// Draws one of the unswapped records that are farthest from a category; its category.
    fn farthest(&mut self, from: usize, rng: &mut ChaCha20Rng) -> Result<usize> {
        loop {
            if let Some(category) = (0..TRIALS).find_map(|_| self.ends[from].draw(&self.unswapped, rng)) {
                return Ok(category);
            }
            let alive = |&c: &u32| self.unswapped.count[c as usize] > 0;
            let mut left: Vec<u32> = self.ends[from].categories.iter().copied().filter(alive).collect();
            if left.is_empty() {
                // Nobody is left at that distance; the next smaller one follows.
                let mut level = f64::NEG_INFINITY;
                let meaning = self.distances.meaning;
                for c in self.distances.far(from as u32, &self.unswapped) {
                    let distance = meaning.distance(from as u32, c);
                    if distance >= level && self.unswapped.count[c as usize] > 0 {
                        if distance > level {
                            level = distance;
                            left.clear();
                        }
                        left.push(c);
                    }
                }
            }
            let known = self.ends[from].categories.capacity();
            self.meter.keep(ENDED * left.capacity().saturating_sub(known), WHAT)?;
            self.ends[from] = End::new(left, &self.unswapped);
        }
    }
}

/// Where the categories are that may be nearest to one, or farthest from it.
struct Distances<'a> {
    meaning: Meaning<'a>,
    /// All categories; those of a line in the order of their positions,
    order: Vec<u32>,
    /// and the place of each in it.
    place: Vec<u32>,
    /// On a line, places between which all unswapped records are.
    open: Range<usize>,
}

impl<'a> Distances<'a> {
    fn new(meaning: Meaning<'a>) -> Result<Self> {
        let d = meaning.categories();
        let mut order: Vec<u32> = (0..d as u32).collect();
        let mut place = Vec::new();
        if let Meaning::Line { positions, .. } = meaning {
            if positions.iter().any(|at| at.is_nan()) {
                return Err(Error::Parameter("a value without a position on the line".into()));
            }
            order.sort_unstable_by(|&a, &b| positions[a as usize].total_cmp(&positions[b as usize]));
            place = vec![0; d];
            (0..).zip(&order).for_each(|(i, &c)| place[c as usize] = i);
        }
        Ok(Self { meaning, order, place, open: 0..d })
    }

    /// Categories among which are all that are as near to one as the `k`th of the others' records.
    fn near(&self, category: u32, counts: &[u64], k: u64) -> &[u32] {
        let Some(&place) = self.place.get(category as usize) else { return &self.order };
        // On either side until there are enough, and all at the same distance as the last.
        let reach = |side: &mut dyn Iterator<Item = &u32>| {
            let (mut records, mut last, mut reached) = (0, 0.0, 0);
            for &c in side {
                let distance = self.meaning.distance(category, c);
                if records >= k && distance > last {
                    break;
                }
                (records, last, reached) = (records + counts[c as usize], distance, reached + 1);
            }
            reached
        };
        let place = place as usize;
        let below = reach(&mut self.order[..place].iter().rev());
        let above = reach(&mut self.order[place + 1..].iter());
        &self.order[place - below..=place + above]
    }

    /// Categories among which are all that have unswapped records as far from one as any.
    fn far(&mut self, category: u32, unswapped: &Unswapped) -> impl Iterator<Item = u32> {
        let all = 0..self.order.len();
        let (low, high) = if self.place.is_empty() {
            (all, 0..0)
        } else {
            let empty = |place: usize| unswapped.count[self.order[place] as usize] == 0;
            while self.open.len() > 1 && empty(self.open.start) {
                self.open.start += 1;
            }
            while self.open.len() > 1 && empty(self.open.end - 1) {
                self.open.end -= 1;
            }
            let distance = |place: usize| self.meaning.distance(category, self.order[place]);
            let Range { start, end } = self.open;
            let low = (start..end).take_while(|&place| distance(place) == distance(start)).count();
            let high = (start + low..end).rev().take_while(|&place| distance(place) == distance(end - 1)).count();
            (start..start + low, end - high..end)
        };
        low.chain(high).map(|place| self.order[place])
    }
}

/// A distance as something that can be compared; distances are never NaN.
#[derive(PartialEq)]
struct Distance(f64);

impl Eq for Distance {}

impl PartialOrd for Distance {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Distance {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Numbers of unswapped records by category.
struct Unswapped {
    count: Vec<u64>,
    total: u64,
}

impl Unswapped {
    fn new(counts: &[u64]) -> Self {
        Self { count: counts.to_vec(), total: counts.iter().sum() }
    }

    fn take(&mut self, category: usize) {
        self.count[category] -= 1;
        self.total -= 1;
    }

    /// Unswapped records of some categories.
    fn of(&self, categories: &[u32]) -> u64 {
        categories.iter().map(|&c| self.count[c as usize]).sum()
    }

    /// Draws the members that a cluster takes from its boundary; the categories of those that are unswapped.
    ///
    /// Records of a category are exchangeable: its first ones may stand for those still unswapped.
    fn drawn(&self, cluster: &Cluster, rng: &mut ChaCha20Rng) -> Vec<usize> {
        let members = sample(rng, cluster.boundary_records() as usize, cluster.drawn as usize);
        let place = |record: u64| cluster.sums.partition_point(|&sum| sum <= record);
        let open = members.iter().filter_map(|record| {
            let place = place(record as u64);
            let before = if place == 0 { 0 } else { cluster.sums[place - 1] };
            let category = cluster.boundary[place] as usize;
            (record as u64 - before < self.count[category]).then_some(category)
        });
        open.collect()
    }

    /// The category of the `nth` unswapped record of some categories.
    fn nth(&self, categories: &[u32], mut nth: u64) -> usize {
        for &c in categories {
            if nth < self.count[c as usize] {
                return c as usize;
            }
            nth -= self.count[c as usize];
        }
        unreachable!("fewer unswapped records than counted")
    }
}

/// Records by category, drawn without replacement when a value really changes.
///
/// Swaps inside a category change nothing and draw nobody: the records they would have used are, by exchangeability,
/// any that are left over.
struct Exchanges {
    records: Lists,
    left: Vec<usize>,
}

impl Exchanges {
    fn new(codes: &[u32], counts: &[u64]) -> Self {
        let known = (0u32..).zip(codes).filter(|&(_, &c)| c != MISSING).map(|(i, &c)| (c, i));
        let records = Lists::group(counts.len(), known);
        let left = (0..records.len()).map(|category| records.of(category).len()).collect();
        Self { records, left }
    }

    fn record(&mut self, category: usize, rng: &mut ChaCha20Rng) -> usize {
        let records = self.records.of_mut(category);
        let last = self.left[category] - 1;
        records.swap(rng.random_range(0..=last), last);
        self.left[category] = last;
        records[last] as usize
    }
}
