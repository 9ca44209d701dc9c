//! Disjoint groups of near records, for swapping that keeps its promise: inside a group every value is as likely to be
//! anybody's, so nobody is found with more than one chance in `k`.
//!
//! A group of `s` records costs the expected sum of squared distances between values before and after a uniform
//! permutation inside it: per attribute, the sum over all ordered pairs divided by `s`. [`partition`] looks for groups of
//! `k` to `2k - 1` records with the smallest sum of costs, attributes weighing the same:
//!
//! 1. tuples with at least `k` copies are set apart: a group of identical records costs nothing;
//! 2. the others are put into an order in which near ones follow each other (`order`),
//! 3. which is cut into groups at least cost by dynamic programming (`cut`);
//! 4. then tuples change places between groups, first by annealing, then wherever it helps (`search`, `crowd`).
//!
//! The groups depend on the tuples as a multiset and on chance, never on the order of the records: identical records
//! are told apart at the end only, by a uniform draw.

mod costs;
mod crowd;
mod cut;
mod order;
mod permute;
mod search;

use rand::seq::SliceRandom;
use rayon::prelude::*;

use self::costs::Costs;
use self::cut::cut;
use self::order::Order;
use self::search::{Partition, Search};
use super::tuples::{Attribute, Tuples};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::rng::Streams;

pub use permute::{expected_cost, permute};

/// Stream of the order that is cut, of the orders of the passes, and of the draw among identical records.
const FIRST_ORDER: u32 = 100;
const ORDERS: u32 = 101;
const IDENTITIES: u32 = 102;
/// Stream of the first attribute's permutation.
const PERMUTATIONS: u32 = 200;
/// Stream of the first pass.
const PASSES: u32 = 1 << 24;

/// How much work to put into good groups. Time is proportional to records, `k` and passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Passes of annealing: the more, the better the groups. Zero leaves it out.
    pub annealing: u32,
    /// Passes of descent afterwards, in which only gains count.
    pub descent: u32,
}

impl Effort {
    /// The order of the records, cut, and nothing else.
    pub const NONE: Self = Self { annealing: 0, descent: 0 };

    /// What pays for so many records: two hundred passes over some thousands, a score over few or over millions.
    pub fn usual(n: usize) -> Self {
        Self { annealing: (1_000_000 / n.max(1)).min(n / 4).clamp(20, 200) as u32, descent: 5 }
    }

    /// What still helps where time does not matter: for about one percent of the error.
    pub fn long(n: usize) -> Self {
        Self { annealing: (10_000_000 / n.max(1)).clamp(100, 1000) as u32, descent: 5 }
    }
}

/// Disjoint groups of records; every record is in exactly one.
#[derive(Debug, Clone)]
pub struct Groups {
    members: Lists,
}

impl Groups {
    /// Number of groups.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Number of records.
    pub fn total(&self) -> usize {
        self.members.total()
    }

    /// Records of a group.
    pub fn of(&self, group: usize) -> &[u32] {
        self.members.of(group)
    }

    /// All groups.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|group| self.of(group))
    }
}

/// Finds groups of `k` to `2k - 1` records that are near each other, and larger ones of identical records.
///
/// Memory: the distances once more in single precision, and some forty bytes a record.
pub fn partition(
    attributes: &[Attribute<'_>],
    k: usize,
    effort: Effort,
    streams: &Streams,
    control: &Control,
) -> Result<Groups> {
    let n = attributes.first().map_or(0, |a| a.codes.len());
    if k < 2 {
        return Err(Error::Parameter(format!("k is {k}; a group needs at least 2 records to hide one among others")));
    }
    if n < k && !attributes.is_empty() {
        return Err(Error::Parameter(format!("{n} records make no group of k = {k}; choose a k of at most {n}")));
    }
    let passes = u64::from(effort.annealing) + u64::from(effort.descent);
    control.begin(n as u64 * (passes + 3));
    let tuples = Tuples::new(attributes, control)?;
    control.advance(n as u64)?;
    let costs = Costs::new(attributes, control)?;
    let search = Search { k, tuples: &tuples, costs: &costs, streams, control };
    let mut partition =
        first(&search, if effort.annealing > 0 && search.whole_crowds() { k + k / 8 + 1 } else { 2 * k - 1 })?;
    control.advance(n as u64)?;
    search.improve(&mut partition, effort.annealing, effort.descent)?;
    let groups = identify(&partition, &tuples, streams);
    control.advance(n as u64)?;
    Ok(groups)
}

/// Groups by order and cut.
///
/// `longest` is the largest size of a group. Annealing does better from many groups with hardly more than `k` members than
/// from the cheapest ones: members easily change places, but a new group does not come about. Descent alone starts from the
/// cheapest, so that it can only gain; and so do large groups, whose sizes stay as they are.
fn first(search: &Search<'_>, longest: usize) -> Result<Partition> {
    let Search { k, tuples, costs, .. } = *search;
    let copies = |tuple: u32| tuples.records(tuple as usize).len();
    let order = Order::new(costs, &mut search.streams.generator(FIRST_ORDER, 0));
    let all = (0..tuples.len() as u32).into_par_iter();
    let mut keyed: Vec<(u64, u32)> =
        all.filter(|&t| copies(t) < k).map(|t| (order.key(tuples.codes(t as usize)), t)).collect();
    search.control.check()?;
    keyed.par_sort_unstable();
    let members: Vec<u32> = keyed.iter().flat_map(|&(_, tuple)| std::iter::repeat_n(tuple, copies(tuple))).collect();
    let apart = (0..tuples.len() as u32).map(|t| if copies(t) < k { 0 } else { copies(t) as u32 }).collect();
    let mut partition = Partition { members, sizes: Vec::new(), apart };
    if partition.members.len() >= k {
        partition.sizes = cut(&partition.members, k, longest.min(2 * k - 1), tuples, costs, search.control)?;
    } else if !partition.members.is_empty() {
        complete(&mut partition, search);
    }
    Ok(partition)
}

/// Makes one group of too few tuples by adding copies of the nearest frequent one.
fn complete(partition: &mut Partition, search: &Search<'_>) {
    let Search { k, tuples, costs, .. } = *search;
    let cost = |&frequent: &usize| {
        let own = tuples.codes(frequent);
        partition.members.iter().map(|&t| f64::from(costs.between(own, tuples.codes(t as usize)))).sum::<f64>()
    };
    let frequent = (0..tuples.len()).filter(|&t| partition.apart[t] > 0);
    let Some(nearest) = frequent.min_by(|a, b| cost(a).total_cmp(&cost(b))) else { return };
    let apart = partition.apart[nearest] as usize;
    let missing = k - partition.members.len();
    let taken = if apart < missing + k { apart } else { missing };
    partition.apart[nearest] -= taken as u32;
    partition.members.resize(partition.members.len() + taken, nearest as u32);
    partition.sizes = vec![partition.members.len() as u32];
}

/// Draws which of the records of a tuple go where.
fn identify(partition: &Partition, tuples: &Tuples, streams: &Streams) -> Groups {
    let mut rng = streams.generator(IDENTITIES, 0);
    let mut records: Vec<u32> = Vec::with_capacity(tuples.total());
    let mut next = Vec::with_capacity(tuples.len());
    for tuple in 0..tuples.len() {
        let start = records.len();
        next.push(start);
        records.extend_from_slice(tuples.records(tuple));
        records[start..].shuffle(&mut rng);
    }
    let mut take = |&tuple: &u32| {
        next[tuple as usize] += 1;
        records[next[tuple as usize] - 1]
    };
    let mut members = Lists::builder(partition.sizes.len(), tuples.total());
    for group in partition.groups() {
        members.push(group.iter().map(&mut take));
    }
    for (tuple, &apart) in (0u32..).zip(&partition.apart).filter(|(_, apart)| **apart > 0) {
        members.push((0..apart).map(|_| take(&tuple)));
    }
    Groups { members }
}
