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
//!
//! With [`Constraint`]s, records are told apart by their values too, and every step keeps all constraints: what is set apart,
//! what is left, the first groups (`constraints` instead of `cut`), and every change that is made.

mod apart;
mod constraints;
mod costs;
mod cut;
mod kernel;
mod neighbourhood;
mod order;

use rand::seq::SliceRandom;
use rayon::prelude::*;

use self::apart::set_apart;
use self::constraints::{Divider, coded};
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
use crate::memory;
use crate::rng::{Stream, Streams};
use crate::tuples::{Attribute, Codes, Tuples};

pub use constraints::Constraint;
pub use costs::expected_cost;

/// Records that are divided into groups by themselves where there are constraints.
const PART: usize = 1 << 13;

/// What pays for so many records: four hundred passes over some thousands, a score over few or over millions.
pub fn usual_effort(n: usize) -> Effort {
    Effort::new((1_000_000 / n.max(1)).min(n / 2).clamp(20, 400) as u32, 5)
}

/// What still helps where time does not matter: for about one percent of the error.
pub fn long_effort(n: usize) -> Effort {
    Effort::new((10_000_000 / n.max(1)).clamp(100, 1000) as u32, 5)
}

/// Finds disjoint groups of `k` to `2k - 1` records that are near each other, and larger ones of identical records.
///
/// Every group keeps all constraints. Where one asks for more than `k` records, its share stands for `k`; and groups are
/// larger where constraints leave no other way. Possible, and then always found, if no value is on more of all records than
/// its share; else an error that names the value.
///
/// Memory: of matrices, the distances once more in single precision; and some forty bytes a record, with constraints about a
/// hundred.
pub fn partition(
    attributes: &[Attribute<'_>],
    constraints: &[Constraint<'_>],
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
        return Err(Error::Parameter(format!("{n} records cannot make a group of k = {k}; choose a k of at most {n}")));
    }
    control.begin(n as u64 * (effort.passes() + 3));
    let coded = coded(constraints, n, streams, control)?;
    let values: Vec<Codes<'_>> = coded.iter().map(|c| (&c.values[..], c.distinct)).collect();
    let tuples = Tuples::beside(attributes, &values, control)?;
    control.advance(n as u64)?;
    let costs = Costs::new(attributes, control)?;
    let shares: Vec<usize> = coded.iter().map(|c| c.share).collect();
    drop(coded);
    let k = shares.iter().fold(k, |k, &share| k.max(share));
    let (tuples, costs, shares) = (&tuples, &costs, &shares);
    let mut kernel = TupleKernel { k, tuples, shares, costs, weights: Vec::new(), streams, control };
    let mut partition = if shares.is_empty() {
        // Where members of large groups rest, sizes stay as they are.
        first(&kernel, longest(k, effort.annealing > 0 && kernel.nobody_rests()))?
    } else {
        constrained(&kernel)?
    };
    control.advance((n - partition.members.len()) as u64)?;
    improve(&mut kernel, &mut partition, k, effort, control)?;
    let groups = identify(&partition, &kernel)?;
    control.advance(n as u64)?;
    Ok(groups)
}

/// What needs memory here.
const WHAT: &str = "groups of near records";

/// Bytes of a tuple that is perhaps set apart.
const RUN: usize = 64;

/// The copies of each tuple that are not apart, in an order in which near ones follow each other.
fn ordered(kernel: &TupleKernel<'_>, apart: &[u32]) -> Result<Vec<u32>> {
    let TupleKernel { tuples, costs, streams, control, .. } = *kernel;
    let copies = |tuple: u32| tuples.records(tuple as usize).len() - apart[tuple as usize] as usize;
    let (mut distinct, mut total) = (0, 0);
    for copies in (0..tuples.len() as u32).map(copies).filter(|&copies| copies > 0) {
        (distinct, total) = (distinct + 1, total + copies);
    }
    memory::require(size_of::<u32>() * total + 3 * size_of::<(u64, u32)>() * distinct + Order::needs(costs), WHAT)?;
    let order = Order::new(costs, &mut streams.generator(Stream::FirstOrder, 0));
    let all = (0..tuples.len() as u32).into_par_iter();
    let mut keyed: Vec<(u64, u32)> =
        all.filter(|&t| copies(t) > 0).map(|t| (order.key(tuples.codes(t as usize)), t)).collect();
    control.check()?;
    keyed.par_sort_unstable();
    let mut ordered = Vec::with_capacity(total);
    ordered.extend(keyed.iter().flat_map(|&(_, tuple)| std::iter::repeat_n(tuple, copies(tuple))));
    Ok(ordered)
}

/// Groups of up to `longest` by order and cut.
fn first(kernel: &TupleKernel<'_>, longest: usize) -> Result<Partition> {
    let TupleKernel { k, tuples, costs, control, .. } = *kernel;
    memory::require(size_of::<u32>() * tuples.len(), WHAT)?;
    let copies = (0..tuples.len()).map(|t| tuples.records(t).len());
    let apart: Vec<u32> = copies.map(|copies| if copies < k { 0 } else { copies as u32 }).collect();
    let mut partition = Partition { members: ordered(kernel, &apart)?, sizes: Vec::new(), apart };
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

/// Groups that keep all constraints: those apart, and the others by division of the order.
fn constrained(kernel: &TupleKernel<'_>) -> Result<Partition> {
    let TupleKernel { k, shares, control, .. } = *kernel;
    memory::require(RUN * kernel.tuples.len(), WHAT)?;
    let apart = set_apart(kernel)?;
    let sequence = ordered(kernel, &apart)?;
    let part = (2 * PART.max(k)).min(sequence.len());
    let parts = (sequence.len() / PART.max(k)).clamp(1, rayon::current_num_threads());
    memory::require(
        Divider::needs(sequence.len(), shares.len()).max(parts * Divider::needs(part, shares.len())),
        WHAT,
    )?;
    let divider = |members: &[u32]| Divider::new(shares, members.iter().map(|&member| kernel.values(member)));
    // Into large parts first, which share the work out and do not depend on threads.
    let mut places: Vec<u32> = (0..sequence.len() as u32).collect();
    let mut parts = Vec::new();
    if !places.is_empty() {
        divider(&sequence).split(&mut places, k, PART, &mut parts, control)?;
    }
    let mut members: Vec<u32> = places.iter().map(|&place| sequence[place as usize]).collect();
    let mut rest = &mut members[..];
    let parts: Vec<&mut [u32]> =
        parts.iter().map(|&size| rest.split_off_mut(..size as usize).unwrap_or_default()).collect();
    let sizes = parts.into_par_iter().map(|part| {
        let (mut places, mut sizes): (Vec<u32>, _) = ((0..part.len() as u32).collect(), Vec::new());
        divider(part).split(&mut places, k, 0, &mut sizes, control)?;
        let own = part.to_vec();
        part.iter_mut().zip(places).for_each(|(member, place)| *member = own[place as usize]);
        control.advance(part.len() as u64)?;
        Ok(sizes)
    });
    let sizes = sizes.collect::<Result<Vec<_>>>()?.concat();
    Ok(Partition { members, sizes, apart })
}

/// Draws which of the records of a tuple go where.
fn identify(partition: &Partition, kernel: &TupleKernel<'_>) -> Result<Lists> {
    let TupleKernel { tuples, streams, .. } = *kernel;
    // The records of each tuple and of each group; groups, also those apart.
    let groups = partition.sizes.len() + partition.groups_apart(kernel);
    let records = size_of::<usize>() * (tuples.total() + tuples.len());
    memory::require(records + 3 * size_of::<(u32, &[u32])>() * groups, WHAT)?;
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
    for (first, apart) in partition.alike(kernel) {
        let copies = (first..).zip(apart).flat_map(|(tuple, &copies)| std::iter::repeat_n(tuple, copies as usize));
        members.push(copies.map(|tuple| take(&tuple)));
    }
    Ok(members)
}
