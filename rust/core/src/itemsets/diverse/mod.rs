//! l-diversity as published: each record is matched with l others, or itself, of different labels, near to it in an order.
//!
//! Section 4.4 of Xue, Karras, Raïssi, Vaidya, Tan: "Anonymizing set-valued data by nonreciprocal recoding", KDD 2012. As there, it is
//! the labels of the l forms that a record may have that differ; nothing is asked of the l records that a form may be.

mod repair;

use std::collections::HashMap;

use super::Itemsets;
use super::assign::{MATCHING, Watch, all_matchings, edges, shuffled};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::positions;
use crate::memory;
use crate::rng::{Stream, Streams};

/// Nobody, or no label.
const NONE: u32 = u32::MAX;

/// Nodes that the walks of a round may look at, for each record. Where labels are scattered along the order they look at some
/// tens; a walk that finds no way would look at all of them, many times.
const LOOKS: u64 = 256;

/// Bytes for each node that walks take, beside their picks; and for each label, at most, while labels are counted.
const NEEDS: usize = 37;
const LABELS: usize = 96;
const WALKS: &str = "matches of different labels";

/// Extracts `l` assignments from the complete graph. All nodes that a record is assigned have different labels.
///
/// Closed walks as in [`super::assign::closed_walk`], but each record picks the nearest node along the order that it may have
/// (Algorithm 2, greedyPick): ahead or behind, and of two equally far along the order the one with the smaller Hamming distance.
///
/// Walks may lead into a corner that none leaves. So they are given up after some time, what they could not match is matched by
/// exchanges (see `repair`), and the assignments are then extracted anew from all matches. Exchanges always succeed, so this
/// ends whenever each label is on at most n/l records; otherwise it is an error. O(n·l²), whatever the labels: what walks may look
/// at grows with n·l, and each look compares with the labels that a record has.
pub fn greedy_walk(
    sets: &Itemsets,
    order: &[u32],
    labels: &[u32],
    l: usize,
    streams: &Streams,
    control: &Control,
) -> Result<Vec<Vec<u32>>> {
    let n = order.len();
    // Matches and their labels, and all assignments in the end; labels, walks and one round.
    let needs =
        n.saturating_mul(12).saturating_mul(l).saturating_add((NEEDS + MATCHING) * n + LABELS * Labels::most(labels));
    if l <= n {
        memory::require(needs, WALKS)?;
    }
    positions(order, sets.n(), "an order")?;
    let labels = Labels::new(order, labels, l)?;
    let mut matches = Matches::new(n, l)?;
    control.begin((n * l) as u64);
    let distance = |a: u32, b: u32| sets.hamming(order[a as usize], order[b as usize]);
    let mut walker = Walker::new(&labels, distance, control);
    let mut complete = true;
    for round in 0..l {
        let starts = shuffled(n, &mut streams.generator(Stream::DiverseRounds, round as u32));
        complete &= walker.round(&mut matches, round, &starts)?;
        control.advance(n as u64)?;
    }
    if !complete {
        repair::repair(&mut matches, &labels, &walker.distance, control)?;
        all_matchings(&mut matches.targets, l, &mut streams.generator(Stream::DiverseExtraction, 0), control)?;
    }
    let assignment = |round: usize| {
        let mut assignment = vec![0; n];
        for (&record, row) in order.iter().zip(matches.targets.chunks_exact(l)) {
            assignment[record as usize] = order[row[round] as usize];
        }
        assignment
    };
    Ok((0..l).map(assignment).collect())
}

/// Labels along an order, numbered from 0 without gaps.
pub(super) struct Labels {
    along: Vec<u32>,
    count: usize,
}

impl Labels {
    /// Takes the labels of records along an order. Fails where one is on more than n/l records.
    pub(super) fn new(order: &[u32], labels: &[u32], l: usize) -> Result<Self> {
        let n = order.len();
        if labels.len() != n {
            return Err(Error::Parameter(format!("{} labels for {n} records", labels.len())));
        }
        if !(1..=n).contains(&l) {
            return Err(Error::Parameter(format!("{n} records: l is between 1 and {n}, not {l}")));
        }
        let mut counts: HashMap<u32, (u32, usize)> = HashMap::new();
        let mut along = Vec::with_capacity(n);
        for &record in order {
            let next = counts.len() as u32;
            let (number, count) = counts.entry(labels[record as usize]).or_insert((next, 0));
            *count += 1;
            along.push(*number);
        }
        let most = counts.iter().map(|(&label, &(_, count))| (count, std::cmp::Reverse(label))).max();
        match most {
            Some((count, std::cmp::Reverse(label))) if count > n / l => Err(Error::Parameter(format!(
                "label {label} is on {count} of {n} records; with l = {l} at most {} are possible",
                n / l
            ))),
            _ => Ok(Self { along, count: counts.len() }),
        }
    }

    /// How many different labels there may be: they are mostly numbered without gaps.
    pub(super) fn most(labels: &[u32]) -> usize {
        labels.iter().max().map_or(0, |&largest| labels.len().min(largest as usize + 1))
    }

    /// The label at each position.
    pub(super) fn along(&self) -> &[u32] {
        &self.along
    }

    /// Number of different labels.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    #[inline]
    fn at(&self, position: u32) -> u32 {
        self.along[position as usize]
    }
}

/// What each position is matched with, so far.
struct Matches {
    l: usize,
    /// Positions; row after row, one for each round.
    targets: Vec<u32>,
    /// Their labels.
    labels: Vec<u32>,
}

impl Matches {
    fn new(n: usize, l: usize) -> Result<Self> {
        let (mut targets, mut labels) = (edges(n, l)?, edges(n, l)?);
        targets.resize(n * l, NONE);
        labels.resize(n * l, NONE);
        Ok(Self { l, targets, labels })
    }

    fn set(&mut self, node: u32, round: usize, target: u32, labels: &Labels) {
        let cell = node as usize * self.l + round;
        (self.targets[cell], self.labels[cell]) = (target, labels.at(target));
    }

    fn targets_of(&self, node: u32) -> &[u32] {
        &self.targets[node as usize * self.l..][..self.l]
    }

    #[inline]
    fn has(&self, node: u32, label: u32) -> bool {
        self.labels[node as usize * self.l..][..self.l].contains(&label)
    }
}

/// Closed walks along an order.
struct Walker<'a, D> {
    labels: &'a Labels,
    distance: D,
    /// From each position, steps ahead and steps behind to one of another label.
    runs: [Vec<u32>; 2],
    /// The last walk that came to each node.
    visited: Vec<u32>,
    /// The last walk that left each node, and its last pick there.
    left: Vec<(u32, u32)>,
    /// The picks of this walk: which node, and the pick before from the same one.
    picks: Vec<(u32, u32)>,
    walk: u32,
    /// Nodes that this walk may still look at.
    looks: u64,
    watch: Watch<'a>,
}

impl<'a, D: Fn(u32, u32) -> u32> Walker<'a, D> {
    fn new(labels: &'a Labels, distance: D, control: &'a Control) -> Self {
        let n = labels.along.len();
        let (visited, left) = (vec![0; n], vec![(0, 0); n]);
        let (runs, watch) = (runs(&labels.along), Watch::new(control));
        let (picks, walk, looks) = (Vec::new(), 0, 0);
        Self { labels, distance, runs, visited, left, picks, walk, looks, watch }
    }

    /// One assignment more, and whether it is complete.
    fn round(&mut self, matches: &mut Matches, round: usize, starts: &[u32]) -> Result<bool> {
        let n = starts.len();
        let mut mates: Vec<u32> = (0..n as u32).collect();
        let mut covered = vec![false; n];
        self.visited.fill(0);
        self.left.fill((0, NONE));
        self.walk = 0;
        let mut looks = LOOKS * n as u64;
        for &start in starts {
            if covered[start as usize] {
                continue;
            }
            // One walk without a way does not use up what others need.
            self.looks = looks / 2;
            let closed = self.closes(start, matches, &mates)?;
            looks -= looks / 2 - self.looks;
            if !closed {
                continue;
            }
            let mut node = start;
            loop {
                covered[node as usize] = true;
                let next = self.picks[self.left[node as usize].1 as usize].0;
                let mate = std::mem::replace(&mut mates[next as usize], node);
                if next == start {
                    break;
                }
                node = mate;
            }
        }
        let mut complete = true;
        for (target, &node) in (0u32..).zip(&mates) {
            if covered[node as usize] {
                matches.set(node, round, target, self.labels);
            } else {
                complete = false;
            }
        }
        Ok(complete)
    }

    /// Walks from a node until it comes back, or until there is no way on.
    fn closes(&mut self, start: u32, matches: &Matches, mates: &[u32]) -> Result<bool> {
        self.walk += 1;
        self.picks.clear();
        let mut node = start;
        loop {
            if self.left[node as usize].0 != self.walk {
                self.left[node as usize] = (self.walk, NONE);
            }
            let Some(next) = self.pick(node, matches)? else { return Ok(false) };
            let before = std::mem::replace(&mut self.left[node as usize].1, self.picks.len() as u32);
            memory::room(&mut self.picks, 1, WALKS)?;
            self.picks.push((next, before));
            self.visited[next as usize] = self.walk;
            if next == start {
                return Ok(true);
            }
            node = mates[next as usize];
        }
    }

    /// The nearest node not visited that may be matched, or else the nearest that may.
    fn pick(&mut self, node: u32, matches: &Matches) -> Result<Option<u32>> {
        let mut last_resort = None;
        let mut ahead = self.next::<true>(node, 0, matches)?;
        let mut behind = self.next::<false>(node, 1, matches)?;
        loop {
            let (step, next) = match (ahead, behind) {
                (None, None) => return Ok(last_resort),
                (Some((step, next)), None) | (None, Some((step, next))) => (step, next),
                (Some((i, a)), Some((j, b))) if i == j => {
                    let rank = |next| (self.visited[next as usize] == self.walk, (self.distance)(node, next));
                    (i, if rank(b) < rank(a) { b } else { a })
                }
                (Some(a), Some(b)) => a.min(b),
            };
            if self.visited[next as usize] != self.walk {
                return Ok(Some(next));
            }
            last_resort = last_resort.or(Some(next));
            if ahead.is_some_and(|(i, _)| i == step) {
                ahead = self.next::<true>(node, step + 1, matches)?;
            }
            if behind.is_some_and(|(i, _)| i == step) {
                behind = self.next::<false>(node, step + 1, matches)?;
            }
            if self.looks == 0 {
                return Ok(None);
            }
        }
    }

    /// The next node that may be matched with this one, at least so many steps ahead or behind.
    #[inline]
    fn next<const AHEAD: bool>(&mut self, node: u32, least: u32, matches: &Matches) -> Result<Option<(u32, u32)>> {
        let n = self.visited.len() as u32;
        let mut steps = least;
        while steps <= n / 2 && self.looks > 0 {
            self.watch.step()?;
            self.looks -= 1;
            let next = if AHEAD { forward(node, steps, n) } else { forward(node, n - steps, n) };
            if matches.has(node, self.labels.at(next)) {
                steps += self.runs[usize::from(!AHEAD)][next as usize];
            } else if self.taken(node, next) {
                steps += 1;
            } else {
                return Ok(Some((steps, next)));
            }
        }
        Ok(None)
    }

    /// Whether this walk has gone from a node to another already.
    fn taken(&self, node: u32, next: u32) -> bool {
        if self.visited[next as usize] != self.walk {
            return false;
        }
        let mut pick = self.left[node as usize].1;
        while let Some(&(to, before)) = self.picks.get(pick as usize) {
            if to == next {
                return true;
            }
            pick = before;
        }
        false
    }
}

/// The position some steps on in a circle of `n`.
#[inline]
fn forward(position: u32, steps: u32, n: u32) -> u32 {
    let rest = n - position;
    if steps < rest { position + steps } else { steps - rest }
}

/// Steps in a circle from each position to the next of another label, ahead and behind; n where there is no other.
fn runs(labels: &[u32]) -> [Vec<u32>; 2] {
    let n = labels.len();
    let mut runs = [vec![n as u32; n], vec![n as u32; n]];
    let Some(first) = (0..n).find(|&p| labels[p] != labels[(p + n - 1) % n]) else { return runs };
    for step in 0..n {
        // Behind: along the circle from the beginning of a run. Ahead: against it, from the end of one.
        let (p, q) = ((first + step) % n, (first + 2 * n - 1 - step) % n);
        let (before, after) = ((p + n - 1) % n, (q + 1) % n);
        runs[1][p] = if labels[p] == labels[before] { runs[1][before] + 1 } else { 1 };
        runs[0][q] = if labels[q] == labels[after] { runs[0][after] + 1 } else { 1 };
    }
    runs
}
