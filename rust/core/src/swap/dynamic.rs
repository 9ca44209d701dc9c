//! Dynamic clustering at opposite ends (SRS-2, thesis algorithm 2), on categories instead of records.
//!
//! A reference's cluster is the `k` records nearest to it, swapped or not. Distances depend on categories only, so the
//! cluster of a category never changes: some groups of equally distant categories lie wholly inside, and of one more,
//! the *boundary*, a random part. Records of a category are exchangeable; so the state of the process is the number of
//! unswapped records per category, and a record is drawn only when a value really changes.
//!
//! - Unswapped members of the random part: a hypergeometric number, by definition of drawing without replacement.
//! - The next reference, the farthest unswapped record: drawn from a list of the farthest categories as it was some time
//!   ago, again if that record has been swapped since; the list is made anew when this happens too often.
//!
//! O(d²) once, and per step the number of categories in the cluster: one, where categories have more than `k` records.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use super::ranked::farthest_from_all;
use super::{STEPS, Swapped, check_k};
use crate::MISSING;
use crate::control::Control;
use crate::error::Result;
use crate::lists::Lists;
use crate::rng::hypergeometric;

/// Draws of records swapped since before the list of farthest categories is made anew.
const TRIALS: usize = 8;

/// Swaps a column of categories with the given square matrix of distances.
pub fn swap(
    codes: &[u32],
    distances: &[f64],
    counts: &[u64],
    k: usize,
    rng: &mut ChaCha20Rng,
    control: &Control,
) -> Result<Swapped> {
    check_k(k)?;
    let mut reference = farthest_from_all(distances, counts, rng)?;
    let records: u64 = counts.iter().sum();
    let mut state = State::new(distances, counts, k as u64);
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
        let (candidates, partner) = state.partner(reference, rng);
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
            reference = state.farthest(reference, rng);
        }
    }
    Ok(result)
}

/// Where the process stands: what is unswapped, and what has been worked out about clusters and far ends.
struct State<'a> {
    distances: &'a [f64],
    counts: &'a [u64],
    k: u64,
    unswapped: Unswapped,
    clusters: Vec<Option<Cluster>>,
    ends: Vec<End>,
}

/// The `k` records nearest to a reference of one category, the reference itself left out.
struct Cluster {
    /// Categories whose records all belong to it.
    inside: Vec<u32>,
    /// Categories at the distance where it ends,
    boundary: Vec<u32>,
    /// the number of their records,
    boundary_records: u64,
    /// and how many of these belong to it.
    drawn: u64,
}

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
    fn new(distances: &'a [f64], counts: &'a [u64], k: u64) -> Self {
        let d = counts.len();
        let clusters = (0..d).map(|_| None).collect();
        Self { distances, counts, k, unswapped: Unswapped::new(counts), clusters, ends: vec![End::default(); d] }
    }

    fn row(&self, category: usize) -> &'a [f64] {
        &self.distances[category * self.counts.len()..][..self.counts.len()]
    }

    /// Draws a partner for a reference (which is taken already): how many candidates there were, and the category.
    fn partner(&mut self, reference: usize, rng: &mut ChaCha20Rng) -> (u64, Option<usize>) {
        if self.clusters[reference].is_none() {
            self.clusters[reference] = Some(self.cluster(reference));
        }
        let Some(cluster) = &self.clusters[reference] else { return (0, None) };
        let inside: u64 = self.unswapped.of(&cluster.inside);
        let boundary: u64 = self.unswapped.of(&cluster.boundary);
        let drawn = hypergeometric(cluster.boundary_records, boundary, cluster.drawn, rng);
        let candidates = inside + drawn;
        if candidates == 0 {
            return (0, None);
        }
        let nth = rng.random_range(0..candidates);
        let partner = if nth < inside {
            self.unswapped.nth(&cluster.inside, nth)
        } else {
            // Which of the boundary's unswapped records are drawn is random: each is as likely to be the partner.
            self.unswapped.nth(&cluster.boundary, rng.random_range(0..boundary))
        };
        (candidates, Some(partner))
    }

    /// Finds the cluster of a category, one group of equal distances after another.
    fn cluster(&self, reference: usize) -> Cluster {
        let row = self.row(reference);
        let mut cluster = Cluster { inside: Vec::new(), boundary: Vec::new(), boundary_records: 0, drawn: 0 };
        let mut wanted = self.k;
        let mut reached = -1.0;
        while wanted > 0 {
            let beyond = row.iter().zip(self.counts).filter(|&(&x, &n)| n > 0 && x > reached).map(|(&x, _)| x);
            let next = beyond.fold(f64::INFINITY, f64::min);
            if next == f64::INFINITY {
                break; // fewer records than k
            }
            reached = next;
            let group = (0..row.len()).filter(|&c| self.counts[c] > 0 && row[c] == next).map(|c| c as u32);
            let group: Vec<u32> = group.collect();
            let own = u64::from(row[reference] == next);
            let records = group.iter().map(|&c| self.counts[c as usize]).sum::<u64>() - own;
            if records <= wanted {
                wanted -= records;
                cluster.inside.extend(group);
            } else {
                (cluster.boundary, cluster.boundary_records, cluster.drawn) = (group, records, wanted);
                wanted = 0;
            }
        }
        cluster
    }

    /// Draws one of the unswapped records that are farthest from a category; its category.
    fn farthest(&mut self, from: usize, rng: &mut ChaCha20Rng) -> usize {
        loop {
            if let Some(category) = (0..TRIALS).find_map(|_| self.ends[from].draw(&self.unswapped, rng)) {
                return category;
            }
            let alive = |&c: &u32| self.unswapped.count[c as usize] > 0;
            let mut left: Vec<u32> = self.ends[from].categories.iter().copied().filter(alive).collect();
            if left.is_empty() {
                // Nobody is left at that distance; the next smaller one follows.
                let row = self.row(from);
                let all = || (0..row.len() as u32).filter(alive);
                let level = all().map(|c| row[c as usize]).fold(f64::NEG_INFINITY, f64::max);
                left = all().filter(|&c| row[c as usize] == level).collect();
            }
            self.ends[from] = End::new(left, &self.unswapped);
        }
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
