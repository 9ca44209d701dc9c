//! Disjoint groups of like item sets: every member of a group is published as the majority of the group's bits, so a
//! record is as likely to be any one of at least `k` published ones.
//!
//! The error of a group is the sum over its members of flipped bits / max(1, own bits). [`partition`] looks for groups of
//! `k` to `2k - 1` records with the smallest error:
//!
//! 1. an order of the records, in which like ones follow each other, is cut into blocks at least error (`blocks`);
//! 2. then records change places between groups, first by annealing, then wherever it helps (`kernel`, `neighbourhood`),
//!    where groups meet others that are near by random trees (`tree`).
//!
//! [`diverse`] does the same for groups of at least `l` records with distinct labels, beginning with `labels`.

mod blocks;
mod cost;
mod kernel;
mod labels;
mod neighbourhood;
mod tree;

use self::cost::Costs;
use self::kernel::ItemsetKernel;
use super::Effort;
use super::cut::longest;
use super::search::{Partition, improve};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::itemsets::Itemsets;
use crate::lists::{Lists, positions};
use crate::memory;
use crate::rng::Streams;

pub use cost::error;

/// What pays for so many records: two hundred passes over some thousands, sixteen over hundreds of thousands, which are dense
/// enough for a good order to find most of what is alike.
pub fn usual_effort(n: usize) -> Effort {
    Effort::new((4_000_000 / n.max(1)).clamp(16, 200) as u32, 4)
}

/// What still helps where time does not matter.
pub fn long_effort(n: usize) -> Effort {
    Effort::new((40_000_000 / n.max(1)).clamp(200, 2000) as u32, 4)
}

/// Finds groups of `k` to `2k - 1` records whose item sets are alike, from an order in which like ones follow each other.
///
/// Memory: some forty bytes a record, and a few bytes for each item that may occur.
pub fn partition(
    sets: &Itemsets,
    order: &[u32],
    k: usize,
    effort: Effort,
    streams: &Streams,
    control: &Control,
) -> Result<Lists> {
    let n = sets.n();
    check(sets, order, k, "k")?;
    memory::require(needs(sets), WHAT)?;
    control.begin(n as u64 * (effort.passes() + 1));
    let costs = Costs::new(sets);
    let sizes = blocks::cut(order, k, longest(k, effort.annealing > 0), &costs, control)?;
    let partition = Partition { members: order.to_vec(), sizes, apart: Vec::new() };
    improved(partition, effort, ItemsetKernel { k, labels: None, costs: &costs, streams, control })
}

/// Finds groups of at least `l` records, all with different labels, whose item sets are alike, from an order in which like
/// ones follow each other. Labels are any numbers. Groups have at most `2l - 1` records.
///
/// Possible, and then always found, if no label is on more than n / l records; else an error that names the label.
pub fn diverse(
    sets: &Itemsets,
    labels: &[u32],
    order: &[u32],
    l: usize,
    effort: Effort,
    streams: &Streams,
    control: &Control,
) -> Result<Lists> {
    let n = sets.n();
    check(sets, order, l, "l")?;
    if labels.len() != n {
        return Err(Error::Parameter(format!("{} labels for {n} records", labels.len())));
    }
    control.begin(n as u64 * (effort.passes() + 1));
    let first = labels::first(labels, order, l, control)?;
    memory::require(needs(sets), WHAT)?;
    control.advance(n as u64)?;
    let costs = Costs::new(sets);
    let sizes = first.iter().map(|group| group.len() as u32).collect();
    let partition = Partition { members: first.into_items(), sizes, apart: Vec::new() };
    improved(partition, effort, ItemsetKernel { k: l, labels: Some(labels), costs: &costs, streams, control })
}

/// What needs memory here.
const WHAT: &str = "groups of like item sets";

/// Bytes for the members of groups, and for counts of items.
fn needs(sets: &Itemsets) -> usize {
    2 * size_of::<u32>() * sets.n() + (size_of::<u32>() + 1) * sets.n_items() as usize
}

fn improved(mut partition: Partition, effort: Effort, mut kernel: ItemsetKernel<'_>) -> Result<Lists> {
    let (k, control) = (kernel.k, kernel.control);
    improve(&mut kernel, &mut partition, k, effort, control)?;
    memory::require(size_of::<u32>() * partition.members.len() + 24 * partition.sizes.len(), WHAT)?;
    let mut lists = Lists::builder(partition.sizes.len(), partition.members.len());
    for group in partition.groups() {
        lists.push(group.iter().copied());
    }
    Ok(lists)
}

/// Fails unless the order has every record once and makes at least one group.
fn check(sets: &Itemsets, order: &[u32], least: usize, name: &str) -> Result<()> {
    let n = sets.n();
    if least == 0 {
        return Err(Error::Parameter(format!("{name} is 0; a group has at least 1 record")));
    }
    if n < least {
        return Err(Error::Parameter(format!(
            "{n} records cannot make a group of {name} = {least}; choose a {name} of at most {n}"
        )));
    }
    memory::require(size_of_val(order), WHAT)?;
    positions(order, n, "an order").map(drop)
}
