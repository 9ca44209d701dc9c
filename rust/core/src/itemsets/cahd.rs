//! Groups along an order, the baseline: CAHD for l-diversity, blocks for k-anonymity.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Itemsets;
use super::diverse::Labels;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::{Lists, positions};
use crate::memory;

/// Groups of at least `l` records, all with different labels, along an order. O(n·(alpha·log(labels) + l)), and alpha·n
/// distances.
///
/// CAHD of Ghinita, Tao, Kalnis: "On the anonymization of sparse high-dimensional data", ICDE 2008, for records that all have a
/// label. The first record left of the order is joined by those nearest to it among the first of the order that may: of each other
/// label the first left, `alpha` of them for each place. With an `alpha` of 1 the order alone decides.
///
/// Where each label is on at most n/l records, this always ends. There are g = ⌊n/l⌋ groups, larger ones first, of ⌈n/g⌉ or ⌊n/g⌋ records.
/// A label left on as many records as there are groups to come must be in each of them, and is taken first. With r groups to
/// come, s records left and each label on at most r of them: no more than s/r labels are on r records, so that they fit into
/// the group, which has ⌈s/r⌉ places; and there are at least s/r labels, enough to fill it. Afterwards each label is on at most
/// r−1 records.
pub fn cahd(
    sets: &Itemsets,
    order: &[u32],
    labels: &[u32],
    l: usize,
    alpha: usize,
    control: &Control,
) -> Result<Lists> {
    let labelled = Labels::most(labels);
    // Positions, along the order and by label; groups; and queues of labels.
    memory::require(28 * order.len() + QUEUES * labelled + 56 * (order.len() / l.max(1)), "groups along an order")?;
    positions(order, sets.n(), "an order")?;
    if alpha == 0 {
        return Err(Error::Parameter("at least one candidate for each place is needed".to_owned()));
    }
    let labels = Labels::new(order, labels, l)?;
    let n = order.len();
    control.begin(n as u64);
    let mut queues = Queues::new(&labels, n / l);
    let mut groups = Lists::builder(n / l, n);
    let mut left = n;
    let distance = |a: u32, b: u32| sets.hamming(order[a as usize], order[b as usize]);
    for to_come in (1..=n / l).rev() {
        let size = left.div_ceil(to_come);
        let group = queues.group(size, to_come, size.saturating_mul(alpha), distance);
        groups.push(group.into_iter().map(|position| order[position as usize]));
        left -= size;
        control.advance(size as u64)?;
    }
    Ok(groups)
}

/// Groups of `k` consecutive records of an order; the last has what is left over as well. O(n).
pub fn blocks(order: &[u32], k: usize) -> Result<Lists> {
    let n = order.len();
    memory::require(12 * n, "groups along an order")?;
    positions(order, n, "an order")?;
    if !(1..=n).contains(&k) {
        return Err(Error::Parameter(format!("{n} records: groups of 1 to {n} are possible, not of {k}")));
    }
    let mut groups = Lists::builder(n / k, n);
    for group in 0..n / k {
        let end = if group + 1 == n / k { n } else { (group + 1) * k };
        groups.push(order[group * k..end].iter().copied());
    }
    Ok(groups)
}

/// Bytes for each label, at most, that queues and the choice of a group take.
const QUEUES: usize = 224;

/// What is left of the order, label by label.
struct Queues {
    /// The positions of each label, the first last.
    positions: Vec<Vec<u32>>,
    /// The first position of each label and the label, nearest first.
    heads: BinaryHeap<Reverse<(u32, u32)>>,
    /// Labels by how many positions they had when they were put here. One that has fewer when it is looked up moves on.
    by_count: Vec<Vec<u32>>,
    /// Labels that must be in each group to come.
    forced: Vec<u32>,
    /// Whether a label is among these.
    is_forced: Vec<bool>,
}

impl Queues {
    fn new(labels: &Labels, groups: usize) -> Self {
        let mut positions = vec![Vec::new(); labels.count()];
        for (position, &label) in labels.along().iter().enumerate().rev() {
            positions[label as usize].push(position as u32);
        }
        let mut by_count = vec![Vec::new(); groups + 1];
        let mut heads = BinaryHeap::with_capacity(positions.len());
        for (label, queue) in (0u32..).zip(&positions) {
            by_count[queue.len()].push(label);
            heads.extend(queue.last().map(|&first| Reverse((first, label))));
        }
        let is_forced = vec![false; positions.len()];
        Self { positions, heads, by_count, forced: Vec::new(), is_forced }
    }

    /// Takes the next group from the queues.
    fn group(
        &mut self,
        size: usize,
        to_come: usize,
        candidates: usize,
        distance: impl Fn(u32, u32) -> u32,
    ) -> Vec<u32> {
        for label in std::mem::take(&mut self.by_count[to_come]) {
            let count = self.positions[label as usize].len();
            if count == to_come {
                self.is_forced[label as usize] = true;
                self.forced.push(label);
            } else {
                self.by_count[count].push(label);
            }
        }
        // Forced labels leave the heads when they come up: they are taken by themselves.
        let mut free = Vec::new();
        while free.len() < candidates {
            let Some(Reverse(head)) = self.heads.pop() else { break };
            if !self.is_forced[head.1 as usize] {
                free.push(head);
            }
        }
        let forced = self.forced.iter().map(|&label| (self.positions[label as usize].last().copied(), label));
        let mut group: Vec<(u32, u32)> = forced.filter_map(|(first, label)| Some((first?, label))).collect();
        let seed = group.iter().chain(&free).map(|head| head.0).min().unwrap_or(0);
        let nearness = |head: &(u32, u32)| (distance(seed, head.0), head.0);
        free.sort_by_cached_key(nearness);
        // The first left is the nearest to itself, and of copies the first.
        let rest = free.split_off(size - group.len());
        group.append(&mut free);
        self.heads.extend(rest.into_iter().map(Reverse));
        for &(_, label) in &group {
            let queue = &mut self.positions[label as usize];
            queue.pop();
            if !self.is_forced[label as usize] {
                self.heads.extend(queue.last().map(|&first| Reverse((first, label))));
            }
        }
        group.sort_unstable();
        group.into_iter().map(|(position, _)| position).collect()
    }
}
