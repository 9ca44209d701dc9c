//! Assignments: who is published in whose place.
//!
//! A regular graph says which published forms a record may have; an assignment picks one of them for every record, and each
//! form once. An m-regular graph falls apart into m disjoint assignments (König). Of these, only one is ever published.
//!
//! | function | gives | time |
//! |---|---|---|
//! | [`split`] | one assignment | O(n·m), and O(n·log n) more for each odd degree on the way |
//! | [`augment`] | all m | O(n·m·log n) expected |
//! | [`closed_walk`] | all m, as published | quadratic at worst |
//! | [`wmc`] | all m, the baseline of the paper | O(n²·m²) at worst |
//!
//! Every edge is to be published with probability 1/m. [`split`] keeps to that by itself. Of all m assignments one is picked by
//! [`choose`]: the first that a walk extracts prefers some edges to others.

mod augment;
mod closed_walk;
mod split;
mod wmc;

pub use augment::augment;
pub use closed_walk::closed_walk;
pub use split::split;
pub use wmc::wmc;

pub(super) use augment::{NEEDS as MATCHING, all_matchings};

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::{Lists, positions};
use crate::memory;
use crate::rng::{Stream, Streams};

/// Groups that share one generator. Part of the output law for a given seed.
const BLOCK: usize = 1 << 12;

/// Steps of a walk between two looks at the control handle.
const STEPS: u32 = 1 << 16;

/// What needs memory.
const MATCHES: &str = "a graph of matches";

/// Nobody.
const NONE: u32 = u32::MAX;

/// A bipartite graph from n records to n published forms, in which every record and every form has m edges, none twice.
///
/// Inside, records are nodes numbered along an order: neighbours in the graph are then mostly neighbours in memory.
#[derive(Debug, Clone)]
pub struct Graph {
    order: Vec<u32>,
    m: usize,
    /// The edges node after node, or nothing for a ring.
    listed: Option<Vec<u32>>,
}

impl Graph {
    /// The ring of `k` on an order: the record at position p is matched with those at positions p, p+1, …, p+k−1, in a circle. O(n).
    pub fn ring(order: Vec<u32>, k: usize) -> Result<Self> {
        memory::require(4 * order.len(), MATCHES)?;
        positions(&order, order.len(), "an order")?;
        check_degree(order.len(), k)?;
        Ok(Self { order, m: k, listed: None })
    }

    /// A graph given by the forms of each record: those of record i are `targets[i·m..(i+1)·m]`. O(n·m).
    pub fn regular(m: usize, targets: Vec<u32>) -> Result<Self> {
        let n = targets.len().checked_div(m).unwrap_or(0);
        check_degree(n, m)?;
        let message = |what: &str| Error::Parameter(format!("no {m}-regular graph: {what}"));
        if n * m != targets.len() {
            return Err(message(&format!("{} edges are no multiple of {m}", targets.len())));
        }
        if targets.len() >= u32::MAX as usize {
            return Err(too_many(targets.len()));
        }
        memory::require(12 * n, MATCHES)?;
        let mut degrees = vec![0u32; n];
        let mut seen = vec![NONE; n];
        for (record, forms) in (0u32..).zip(targets.chunks_exact(m)) {
            for &form in forms {
                let Some(degree) = degrees.get_mut(form as usize) else {
                    return Err(message(&format!("a record is matched with {form}, and there are {n}")));
                };
                *degree += 1;
                if std::mem::replace(&mut seen[form as usize], record) == record {
                    return Err(message("a record is matched with the same form twice"));
                }
            }
        }
        if degrees.iter().any(|&degree| degree as usize != m) {
            return Err(message("forms are matched with more or fewer records"));
        }
        Ok(Self { order: (0..n as u32).collect(), m, listed: Some(targets) })
    }

    /// The union of disjoint assignments, with nodes along an order. O(n·m).
    pub fn union(assignments: &[Vec<u32>], order: Vec<u32>) -> Result<Self> {
        let (n, m) = (order.len(), assignments.len());
        memory::require(4 * n, MATCHES)?;
        let positions = positions(&order, n, "an order")?;
        let outside =
            |assignment: &Vec<u32>| assignment.len() != n || assignment.iter().any(|&form| form as usize >= n);
        if assignments.iter().any(outside) {
            return Err(Error::Parameter(format!("assignments of {n} records are needed")));
        }
        let mut targets = edges(n, m)?;
        for &record in &order {
            targets.extend(assignments.iter().map(|assignment| positions[assignment[record as usize] as usize]));
        }
        Ok(Self { order, ..Self::regular(m, targets)? })
    }

    /// Number of records.
    pub fn n(&self) -> usize {
        self.order.len()
    }

    /// Edges of each record.
    pub fn m(&self) -> usize {
        self.m
    }

    /// The edges node after node, for a method that takes so many bytes for each node, at most, before it publishes all columns.
    fn targets_for(&self, each: usize) -> Result<Vec<u32>> {
        let (edges, n) = (self.n().saturating_mul(self.m), self.n());
        memory::require(
            edges.saturating_mul(4).saturating_add((each * n).max(edges.saturating_mul(4) + 24 * self.m)),
            MATCHES,
        )?;
        self.targets()
    }

    /// The edges node after node.
    fn targets(&self) -> Result<Vec<u32>> {
        let n = self.n();
        let mut targets = edges(n, self.m)?;
        if let Some(listed) = &self.listed {
            targets.extend_from_slice(listed);
        } else {
            for node in 0..n {
                targets.extend((node..node + self.m).map(|next| if next < n { next } else { next - n } as u32));
            }
        }
        Ok(targets)
    }

    /// An assignment of nodes as one of records.
    fn publish(&self, matched: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut assignment = vec![0; self.n()];
        for (&record, node) in self.order.iter().zip(matched) {
            assignment[record as usize] = self.order[node as usize];
        }
        assignment
    }

    /// The assignments that a method left in the columns of its edges, the first in the last column.
    fn publish_columns(&self, targets: &[u32]) -> Vec<Vec<u32>> {
        let column = |c: usize| self.publish(targets.iter().skip(c).step_by(self.m).copied());
        (0..self.m).into_par_iter().rev().map(column).collect()
    }
}

/// One of `m` assignments, each with the same probability.
pub fn choose(m: usize, streams: &Streams) -> Result<usize> {
    if m == 0 {
        return Err(Error::Parameter("no assignment to choose from".to_owned()));
    }
    Ok(streams.generator(Stream::ChosenAssignment, 0).random_range(0..m))
}

/// A uniform permutation inside every group: each member gets each node of its group with probability 1/size. O(n).
pub fn within(groups: &Lists, n: usize, streams: &Streams, control: &Control) -> Result<Vec<u32>> {
    memory::require(4 * n + 4 * groups.total(), "an assignment inside groups")?;
    control.begin(n as u64);
    let of_block = |block: usize| {
        let mut rng = streams.generator(Stream::WithinGroups, block as u32);
        let own = block * BLOCK..groups.len().min((block + 1) * BLOCK);
        let mut nodes = Vec::with_capacity(own.clone().map(|group| groups.of(group).len()).sum());
        for group in own {
            let start = nodes.len();
            nodes.extend_from_slice(groups.of(group));
            nodes[start..].shuffle(&mut rng);
        }
        control.advance(nodes.len() as u64)?;
        Ok(nodes)
    };
    let blocks: Vec<Vec<u32>> =
        (0..groups.len().div_ceil(BLOCK)).into_par_iter().map(of_block).collect::<Result<_>>()?;
    let members = (0..groups.len()).flat_map(|group| groups.of(group));
    let mut assignment = vec![NONE; n];
    for (&member, node) in members.zip(blocks.into_iter().flatten()) {
        match assignment.get_mut(member as usize) {
            Some(slot) if *slot == NONE => *slot = node,
            _ => return Err(Error::Parameter(format!("groups hold each of {n} records once, not {member}"))),
        }
    }
    match assignment.iter().position(|&node| node == NONE) {
        Some(record) => Err(Error::Parameter(format!("record {record} is in no group"))),
        None => Ok(assignment),
    }
}

fn check_degree(n: usize, m: usize) -> Result<()> {
    if (1..=n).contains(&m) {
        return Ok(());
    }
    Err(Error::Parameter(format!("{n} records: between 1 and {n} matches for each are possible, not {m}")))
}

/// Room for the edges of `n` nodes. Edges are numbered in 32 bits.
pub(super) fn edges(n: usize, m: usize) -> Result<Vec<u32>> {
    let count = n.saturating_mul(m);
    if count >= u32::MAX as usize {
        return Err(too_many(count));
    }
    memory::require(4 * count, MATCHES)?;
    Ok(Vec::with_capacity(count))
}

fn too_many(edges: usize) -> Error {
    Error::Size(format!("a graph of {edges} matches is more than 2^32"))
}

/// Nodes in random order.
pub(super) fn shuffled(n: usize, rng: &mut ChaCha20Rng) -> Vec<u32> {
    let mut nodes: Vec<u32> = (0..n as u32).collect();
    nodes.shuffle(rng);
    nodes
}

/// Looks at the control handle now and then. The length of a walk is not known beforehand.
pub(super) struct Watch<'a> {
    control: &'a Control,
    steps: u32,
}

impl<'a> Watch<'a> {
    pub(super) fn new(control: &'a Control) -> Self {
        Self { control, steps: 0 }
    }

    /// One step more.
    #[inline]
    pub(super) fn step(&mut self) -> Result<()> {
        self.steps += 1;
        if self.steps < STEPS {
            return Ok(());
        }
        self.steps = 0;
        self.control.check()
    }
}
