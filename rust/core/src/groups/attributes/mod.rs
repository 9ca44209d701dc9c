//! Disjoint groups of records that are near by their attributes.
//!
//! A group of `s` records costs the expected sum of squared distances between values before and after a uniform
//! permutation inside it: per attribute, the sum over all ordered pairs divided by `s`. [`partition`] looks for groups of
//! `k` to `2k - 1` records with the smallest sum of costs, attributes weighing the same:
//!
//! 1. tuples with at least `k` copies are set apart: a group of identical records costs nothing;
//! 2. the others are put into an order in which near ones follow each other (`order`),
//! 3. which is cut into groups at least cost by dynamic programming (`cut`);
//! 4. then tuples change places between groups, first by annealing, then wherever it helps (`kernel`, `neighbourhood`).
//!
//! The groups depend on the tuples as a multiset and on chance, never on the order of the records: identical records
//! are told apart at the end only, by a uniform draw.

mod costs;
mod cut;
mod kernel;
mod neighbourhood;
mod order;

use rand::seq::SliceRandom;
use rayon::prelude::*;

use self::costs::Costs;
use self::cut::cut;
use self::kernel::TupleKernel;
use self::order::Order;
use super::Effort;
use super::cut::longest;
use super::search::{Partition, improve};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::rng::{Stream, Streams};
use crate::tuples::{Attribute, Tuples};

pub use costs::expected_cost;

/// What pays for so many records: two hundred passes over some thousands, a score over few or over millions.
pub fn usual_effort(n: usize) -> Effort {
    Effort::new((1_000_000 / n.max(1)).min(n / 4).clamp(20, 200) as u32, 5)
}

/// What still helps where time does not matter: for about one percent of the error.
pub fn long_effort(n: usize) -> Effort {
    Effort::new((10_000_000 / n.max(1)).clamp(100, 1000) as u32, 5)
}

/// Finds disjoint groups of `k` to `2k - 1` records that are near each other, and larger ones of identical records.
///
/// Memory: the distances once more in single precision, and some forty bytes a record.
pub fn partition(
    attributes: &[Attribute<'_>],
    k: usize,
    effort: Effort,
    streams: &Streams,
    control: &Control,
) -> Result<Lists> {
    let n = attributes.first().map_or(0, |a| a.codes.len());
    if k < 2 {
        return Err(Error::Parameter(format!("k is {k}; a group needs at least 2 records to hide one among others")));
    }
    if n < k && !attributes.is_empty() {
        return Err(Error::Parameter(format!("{n} records make no group of k = {k}; choose a k of at most {n}")));
    }
    control.begin(n as u64 * (effort.passes() + 3));
    let tuples = Tuples::new(attributes, control)?;
    control.advance(n as u64)?;
    let costs = Costs::new(attributes, control)?;
    let mut kernel = TupleKernel { k, tuples: &tuples, costs: &costs, weights: Vec::new(), streams, control };
    // Where members of large groups rest, sizes stay as they are.
    let mut partition = first(&kernel, longest(k, effort.annealing > 0 && kernel.nobody_rests()))?;
    control.advance((n - partition.members.len()) as u64)?;
    improve(&mut kernel, &mut partition, k, effort, control)?;
    let groups = identify(&partition, &tuples, streams);
    control.advance(n as u64)?;
    Ok(groups)
}

/// Groups of up to `longest` by order and cut.
fn first(kernel: &TupleKernel<'_>, longest: usize) -> Result<Partition> {
    let TupleKernel { k, tuples, costs, streams, control, .. } = *kernel;
    let copies = |tuple: u32| tuples.records(tuple as usize).len();
    let order = Order::new(costs, &mut streams.generator(Stream::FirstOrder, 0));
    let all = (0..tuples.len() as u32).into_par_iter();
    let mut keyed: Vec<(u64, u32)> =
        all.filter(|&t| copies(t) < k).map(|t| (order.key(tuples.codes(t as usize)), t)).collect();
    control.check()?;
    keyed.par_sort_unstable();
    let members: Vec<u32> = keyed.iter().flat_map(|&(_, tuple)| std::iter::repeat_n(tuple, copies(tuple))).collect();
    let apart = (0..tuples.len() as u32).map(|t| if copies(t) < k { 0 } else { copies(t) as u32 }).collect();
    let mut partition = Partition { members, sizes: Vec::new(), apart };
    if partition.members.len() >= k {
        partition.sizes = cut(&partition.members, k, longest, tuples, costs, control)?;
    } else if !partition.members.is_empty() {
        complete(&mut partition, kernel);
    }
    Ok(partition)
}

/// Makes one group of too few tuples by adding copies of the nearest frequent one.
fn complete(partition: &mut Partition, kernel: &TupleKernel<'_>) {
    let TupleKernel { k, tuples, costs, .. } = *kernel;
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
fn identify(partition: &Partition, tuples: &Tuples, streams: &Streams) -> Lists {
    let mut rng = streams.generator(Stream::Identities, 0);
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
    members
}
