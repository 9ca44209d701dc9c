//! Disjoint groups of like item sets: every member of a group is published as the majority of the group's bits, so a
//! record is as likely to be any one of at least `k` published ones.
//!
//! The error of a group is the sum over its members of flipped bits / max(1, own bits). [`partition`] looks for groups of
//! `k` to `2k - 1` records with the smallest error:
//!
//! 1. an order of the records, in which like ones follow each other, is cut into blocks at least error (`blocks`);
//! 2. then records change places between groups, first by annealing, then wherever it helps (`search`, `crowd`), where
//!    groups meet others that are near by random trees (`tree`).
//!
//! [`diverse`] does the same for groups of at least `l` records with distinct labels, beginning with `labels`.

mod blocks;
mod cost;
mod crowd;
mod labels;
mod search;
mod tree;

use std::time::Duration;

use self::cost::Costs;
use self::search::{Partition, Search};
use super::Itemsets;
use super::rows::positions;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::rng::Streams;

pub use cost::error;

/// Streams of the members that stand for their groups, of the trees, and of the crowds.
const REPRESENTATIVES: u32 = 640;
const TREES: u32 = 641;
const CROWDS: u32 = 642;

/// How much work to put into good groups. Time is proportional to records, their items and passes, and
/// hardly depends on `k`, since of a large group only some members are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Passes of annealing: the more, the better the groups. Zero leaves it out.
    pub annealing: u32,
    /// Passes of descent afterwards, in which only gains count.
    pub descent: u32,
    /// Time after which no pass begins, but for one of descent. Then the result depends on the machine, not on the seed alone.
    pub limit: Option<Duration>,
}

impl Effort {
    /// The order of the records, cut, and nothing else.
    pub const NONE: Self = Self { annealing: 0, descent: 0, limit: None };

    /// What pays for so many records: two hundred passes over some thousands, forty over hundreds of thousands.
    pub fn usual(n: usize) -> Self {
        Self { annealing: (4_000_000 / n.max(1)).clamp(40, 200) as u32, descent: 4, limit: None }
    }

    /// What still helps where time does not matter.
    pub fn long(n: usize) -> Self {
        Self { annealing: (40_000_000 / n.max(1)).clamp(200, 2000) as u32, descent: 4, limit: None }
    }

    fn passes(self) -> u64 {
        u64::from(self.annealing) + u64::from(self.descent)
    }
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
    control.begin(n as u64 * (effort.passes() + 1));
    let costs = Costs::new(sets);
    // Annealing does better from many groups with hardly more than `k` members than from the cheapest ones: members
    // easily change places, but a new group does not come about. Descent alone starts from the cheapest.
    let longest = if effort.annealing > 0 { (k + k / 8 + 1).min(2 * k - 1) } else { 2 * k - 1 };
    let sizes = blocks::cut(order, k, longest, &costs, control)?;
    let mut partition = Partition { records: order.to_vec(), sizes };
    let search = Search { k, labels: None, costs: &costs, streams, control };
    search.improve(&mut partition, effort)?;
    Ok(partition.lists())
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
    control.advance(n as u64)?;
    let costs = Costs::new(sets);
    let sizes = (0..first.len()).map(|group| first.of(group).len() as u32).collect();
    let mut partition = Partition { records: first.into_items(), sizes };
    let search = Search { k: l, labels: Some(labels), costs: &costs, streams, control };
    search.improve(&mut partition, effort)?;
    Ok(partition.lists())
}

/// Fails unless the order has every record once and makes at least one group.
fn check(sets: &Itemsets, order: &[u32], least: usize, name: &str) -> Result<()> {
    let n = sets.n();
    if least == 0 {
        return Err(Error::Parameter(format!("{name} is 0; a group has at least 1 record")));
    }
    if n < least {
        return Err(Error::Parameter(format!(
            "{n} records make no group of {name} = {least}; choose a {name} of at most {n}"
        )));
    }
    positions(order, n, "an order").map(drop)
}
