//! Completes matches that walks have left open.
//!
//! Each node is matched with at most l others, all of different labels, and at most l nodes are matched with it. A node is *short* if it
//! is matched with fewer, and *open* if fewer are matched with it; both lack the same number in all. A label is open if one of its nodes is.
//!
//! 1. While a short node has no match of some open label, it gets a node of that label.
//! 2. Then every short node has matches of all open labels. Take a short node s and an open label d. Fewer than l times the nodes of
//!    label d are matches of label d, and these are at most n, so some node t has none; it is not short. So t has l matches and s fewer,
//!    hence t has a match x whose label s has not. Let t give x to s, and take an open node of label d instead.
//!
//! Each step makes one match more and none fewer, so in the end nothing is short. In the second part labels never open, and
//! the label of x is not open, so that short nodes still have matches of all open labels: the first part need not be done again.

use std::collections::{BTreeMap, BTreeSet};

use super::{Labels, Matches, NONE, WALKS};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;

/// Open labels that a short node chooses from. The nearest node is taken; more labels would take longer and find nearer ones.
const CHOICE: usize = 64;

/// Bytes of a number in a set, of which a node of its tree may be half empty, and of a label with a set of its own.
const IN_SET: usize = 24;
const OF_LABEL: usize = 192;

/// Completes the matches. O(n·l + s·(l + log n)) with s matches missing, and O(n·l²) more where exchanges are needed.
pub(super) fn repair(
    matches: &mut Matches,
    labels: &Labels,
    distance: &impl Fn(u32, u32) -> u32,
    control: &Control,
) -> Result<()> {
    let n = labels.along.len() as u32;
    let mut open = Open::new(matches, labels)?;
    let mut short = Vec::new();
    for node in 0..n {
        for _ in 0..missing(matches, node) {
            control.check()?;
            if let Some(target) = open.nearest(node, |label| !matches.has(node, label)) {
                open.take(target, labels);
                fill(matches, node, NONE, target, labels);
            } else {
                memory::room(&mut short, 1, WALKS)?;
                short.push(node);
            }
        }
    }
    // At most l − 1 labels are open now, if any.
    memory::require(IN_SET * n as usize * open.labels.len(), WALKS)?;
    let mut without: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for &label in open.labels.keys() {
        control.check()?;
        without.insert(label, (0..n).filter(|&node| !matches.has(node, label)).collect());
    }
    for node in short {
        control.check()?;
        let giver = without.iter().filter(|(label, _)| open.labels.contains_key(label));
        let giver = giver.filter_map(|(&label, nodes)| Some((nearest(nodes, node, n)?, label)));
        let Some((giver, label)) = giver.min_by_key(|&(giver, _)| gap(giver, node, n)) else { return Err(broken()) };
        let gifts = matches.targets_of(giver).iter().copied();
        let gifts = gifts.filter(|&target| target != NONE && !matches.has(node, labels.at(target)));
        let Some(gift) = gifts.min_by_key(|&target| (distance(node, target), target)) else { return Err(broken()) };
        let Some(target) = open.nearest(giver, |open| open == label) else { return Err(broken()) };
        open.take(target, labels);
        fill(matches, giver, gift, target, labels);
        fill(matches, node, NONE, gift, labels);
        without.entry(label).or_default().remove(&giver);
    }
    Ok(())
}

/// The proof above says that this does not happen; if it did, an error is better than a release without protection.
fn broken() -> Error {
    Error::Parameter("no assignment with different labels was found".to_owned())
}

fn missing(matches: &Matches, node: u32) -> usize {
    matches.targets_of(node).iter().filter(|&&target| target == NONE).count()
}

/// Replaces one match of a node by another.
fn fill(matches: &mut Matches, node: u32, old: u32, new: u32, labels: &Labels) {
    if let Some(round) = matches.targets_of(node).iter().position(|&target| target == old) {
        matches.set(node, round, new, labels);
    }
}

/// Open nodes of each open label.
struct Open {
    n: u32,
    labels: BTreeMap<u32, BTreeSet<u32>>,
    /// How many matches each node still takes.
    room: Vec<u32>,
}

impl Open {
    fn new(matches: &Matches, labels: &Labels) -> Result<Self> {
        let n = labels.along.len();
        memory::require(4 * n, WALKS)?;
        let mut room = vec![matches.l as u32; n];
        for &target in matches.targets.iter().filter(|&&target| target != NONE) {
            room[target as usize] -= 1;
        }
        let nodes = room.iter().filter(|&&room| room > 0).count();
        memory::require(IN_SET * nodes + OF_LABEL * labels.count().min(nodes), WALKS)?;
        let mut open: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for node in (0..n as u32).filter(|&node| room[node as usize] > 0) {
            open.entry(labels.at(node)).or_default().insert(node);
        }
        Ok(Self { n: n as u32, labels: open, room })
    }

    /// The open node nearest along the order, among the first labels that are wanted.
    fn nearest(&self, node: u32, wanted: impl Fn(u32) -> bool) -> Option<u32> {
        let labels = self.labels.iter().filter(|(label, _)| wanted(**label)).take(CHOICE);
        let nodes = labels.filter_map(|(_, nodes)| nearest(nodes, node, self.n));
        nodes.min_by_key(|&target| (gap(node, target, self.n), target))
    }

    fn take(&mut self, node: u32, labels: &Labels) {
        self.room[node as usize] -= 1;
        if self.room[node as usize] > 0 {
            return;
        }
        let label = labels.at(node);
        if let Some(nodes) = self.labels.get_mut(&label) {
            nodes.remove(&node);
            if nodes.is_empty() {
                self.labels.remove(&label);
            }
        }
    }
}

/// Steps between two positions in a circle.
fn gap(a: u32, b: u32, n: u32) -> u32 {
    let steps = a.abs_diff(b);
    steps.min(n - steps)
}

/// The nearest of some positions in a circle.
fn nearest(positions: &BTreeSet<u32>, to: u32, n: u32) -> Option<u32> {
    let after = positions.range(to..).next().or_else(|| positions.first());
    let before = positions.range(..to).next_back().or_else(|| positions.last());
    after.into_iter().chain(before).copied().min_by_key(|&position| gap(position, to, n))
}
