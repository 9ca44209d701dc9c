//! Bit voting: what is published for a node is the majority of the records that it may stand for.
//!
//! Base: each item by the majority of the preimages. Distance: the items on which they disagree. Threshold: the
//! largest number of items in which a preimage differs from the base. A tie at an item goes to the side that more than
//! half of all records are on, so it tells nothing about the assignment that was chosen.
//!
//! Xue, Karras, Raïssi, Vaidya, Tan: "Anonymizing set-valued data by nonreciprocal recoding", KDD 2012, section 4.

mod counted;
mod packed;
mod ring;

use rayon::prelude::*;

use self::packed::Packed;
use super::Itemsets;
use super::rows::filled;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::{Lists, positions};
use crate::memory::{self, Meter};

/// Nodes or groups that make a part where every one is counted by itself.
const UNITS: usize = 1 << 10;

/// What is published for each node, by its record number, or in the rows that the caller gives to the nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Votes {
    /// The items that most preimages hold.
    pub base: Itemsets,
    /// The items that some preimages hold and others do not.
    pub distance: Itemsets,
    /// Largest number of items in which a preimage differs from the base.
    pub threshold: Vec<u32>,
    /// Error rate of a record, expected over all its nodes, averaged over the records.
    pub error: f64,
}

/// Votes over a ring: the node at position p of `order` stands for the records at positions p − k + 1 to p, cyclic.
///
/// From one position to the next one record enters and one leaves, and only their items are looked at. O(items + size
/// of the result + k · n), in parallel.
pub fn ring(sets: &Itemsets, order: &[u32], k: usize, rows: Option<&[u32]>, control: &Control) -> Result<Votes> {
    if k == 0 || k > sets.n() {
        return Err(Error::Parameter(format!("k = {k}: give 1 to {} for as many records", sets.n())));
    }
    require(sets, order.len().div_ceil(1 << 11), 16 * sets.n_items() as usize + 16 * k)?;
    let position = positions(order, sets.n(), "an order")?;
    control.begin(order.len() as u64);
    let majority = Majority::new(sets);
    // Every part fills its window anew; eight windows keep that below an eighth of the work.
    let part = (8 * k).clamp(1 << 11, 1 << 16).min(ring::longest_part(sets, k)?);
    let meter = Meter::default();
    let parts = (0..order.len().div_ceil(part)).into_par_iter().map_init(
        || ring::Window::new(sets, &majority, k),
        |window, number| {
            let nodes = number * part..((number + 1) * part).min(order.len());
            window.vote(order, nodes, control)?.finish(&meter)
        },
    );
    let parts = parts.collect::<Result<Vec<_>>>()?;
    gather(sets.n_items(), parts, part, position, rows, control)
}

/// Votes over groups: a node stands for all records of its group. O(items + size of the result), in parallel.
pub fn groups(sets: &Itemsets, groups: &Lists, rows: Option<&[u32]>, control: &Control) -> Result<Votes> {
    require(sets, groups.len().div_ceil(UNITS), 4 * sets.n_items() as usize)?;
    let group_of = group_of(sets.n(), groups)?;
    let meter = Meter::default();
    control.begin(sets.n() as u64);
    let majority = Majority::new(sets);
    let parts = (0..groups.len().div_ceil(UNITS)).into_par_iter().map_init(
        || counted::Ballot::new(sets, &majority),
        |ballot, number| {
            let mut part = Part::default();
            for group in number * UNITS..((number + 1) * UNITS).min(groups.len()) {
                let members = groups.of(group);
                // All nodes of a group publish the same, so a member's error is the same wherever it goes.
                part.error += ballot.vote(members, &mut part)?;
                control.advance(members.len() as u64)?;
            }
            part.finish(&meter)
        },
    );
    gather(sets.n_items(), parts.collect::<Result<Vec<_>>>()?, UNITS, group_of, rows, control)
}

/// The group of each record; every record is in one.
fn group_of(n: usize, groups: &Lists) -> Result<Vec<u32>> {
    let wrong = || Error::Parameter(format!("groups have each of the {n} records once"));
    let mut group_of = vec![u32::MAX; n];
    for group in 0..groups.len() {
        for &record in groups.of(group) {
            match group_of.get_mut(record as usize) {
                Some(known) if *known == u32::MAX => *known = group as u32,
                _ => return Err(wrong()),
            }
        }
    }
    if groups.total() == n { Ok(group_of) } else { Err(wrong()) }
}

/// Votes over assignments: node v stands for every record i with `assignments[j][i] == v` for some j. The assignments
/// are disjoint. O(m · items + size of the result), in parallel.
pub fn assignments(
    sets: &Itemsets,
    assignments: &[Vec<u32>],
    rows: Option<&[u32]>,
    control: &Control,
) -> Result<Votes> {
    let (n, m) = (sets.n(), assignments.len());
    if m == 0 {
        return Err(Error::Parameter("at least one assignment is needed".to_owned()));
    }
    memory::require(4 * n * (m + 1), "votes")?;
    let mut preimages = vec![0; n * m];
    for (j, assignment) in assignments.iter().enumerate() {
        control.check()?;
        for (node, record) in positions(assignment, n, "an assignment")?.into_iter().enumerate() {
            preimages[node * m + j] = record;
        }
    }
    require(sets, n.div_ceil(UNITS), 4 * sets.n_items() as usize)?;
    let meter = Meter::default();
    control.begin(n as u64);
    let majority = Majority::new(sets);
    let parts = preimages.par_chunks_mut(UNITS * m).map_init(
        || counted::Ballot::new(sets, &majority),
        |ballot, nodes| {
            let mut part = Part::default();
            for members in nodes.chunks_mut(m) {
                members.sort_unstable();
                if let Some([record, ..]) = members.windows(2).find(|pair| pair[0] == pair[1]) {
                    let message = format!("assignments are disjoint; two of them send record {record} to one node");
                    return Err(Error::Parameter(message));
                }
                part.error += ballot.vote(members, &mut part)? / m as f64;
            }
            control.advance(nodes.len() as u64 / m as u64)?;
            part.finish(&meter)
        },
    );
    let parts = parts.collect::<Result<Vec<_>>>()?;
    gather(sets.n_items(), parts, UNITS, (0..n as u32).collect(), rows, control)
}

/// Mean over the records of the items in which record i differs from row `rows[i]` of `published`, by the size of the
/// record, or 1 for an empty one. O(items of both), in parallel.
pub fn error_rate(sets: &Itemsets, published: &Itemsets, rows: &[u32], control: &Control) -> Result<f64> {
    if rows.len() != sets.n() || sets.n() == 0 || rows.iter().any(|&row| row as usize >= published.n()) {
        return Err(Error::Parameter("one published row for each record, and one record at least".to_owned()));
    }
    control.begin(sets.n() as u64);
    let sums = rows.par_chunks(UNITS).enumerate().map(|(part, rows)| {
        let records = (part * UNITS) as u32..;
        control.advance(rows.len() as u64)?;
        Ok(records.zip(rows).map(|(i, &row)| flipped(sets.row(i), published.row(row))).sum::<f64>())
    });
    // Parts are added in their order, whoever was first.
    Ok(sums.collect::<Result<Vec<f64>>>()?.iter().sum::<f64>() / sets.n() as f64)
}

/// Error weight of a record that is published as another row.
fn flipped(record: &[u32], row: &[u32]) -> f64 {
    let (mut i, mut shared) = (0, 0);
    for &item in record {
        while i < row.len() && row[i] < item {
            i += 1;
        }
        shared += usize::from(row.get(i) == Some(&item));
    }
    (record.len() + row.len() - 2 * shared) as f64 / record.len().max(1) as f64
}

/// How an item is decided.
struct Majority {
    /// Items that more than half of all records hold.
    common: Vec<bool>,
}

impl Majority {
    fn new(sets: &Itemsets) -> Self {
        Self { common: sets.common() }
    }

    /// How many of `voters` have to hold `item` for it to be set.
    #[inline]
    fn need(&self, item: u32, voters: u32) -> u32 {
        voters / 2 + 1 - u32::from(voters.is_multiple_of(2) && self.common[item as usize])
    }
}

/// The votes of some positions, groups or nodes in turn, and the sum of the expected errors at them.
#[derive(Default)]
struct Part {
    base: Packed,
    distance: Packed,
    threshold: Vec<u32>,
    error: f64,
}

impl Part {
    /// Counts what is kept of a part that is done.
    fn finish(mut self, meter: &Meter) -> Result<Self> {
        let kept = self.base.finish() + self.distance.finish() + 4 * self.threshold.capacity();
        meter.keep(kept, "votes")?;
        Ok(self)
    }
}

/// Asks for what votes take beside their results: which items are common, the rows of records, and a number of bytes for each
/// thread that has work.
fn require(sets: &Itemsets, parts: usize, each: usize) -> Result<()> {
    let threads = rayon::current_num_threads().min(parts);
    memory::require(5 * sets.n_items() as usize + 16 * sets.n() + threads * each, "votes")
}

/// Brings the votes of parts of `size` units each to their rows; `unit[v]` is where the vote of record v stands, and
/// `rows[v]` is its row, if not v.
fn gather(
    n_items: u32,
    mut parts: Vec<Part>,
    size: usize,
    mut unit: Vec<u32>,
    rows: Option<&[u32]>,
    control: &Control,
) -> Result<Votes> {
    if let Some(rows) = rows {
        let records = positions(rows, unit.len(), "a list of rows")?;
        unit = records.into_iter().map(|record| unit[record as usize]).collect();
    }
    let place = |v: usize| (unit[v] as usize / size, unit[v] as usize % size);
    // Parts are added in their order, whoever was first.
    let error = parts.iter().map(|part| part.error).sum::<f64>() / unit.len().max(1) as f64;
    let unpacked = |parts: &[Part], rows: fn(&Part) -> &Packed| {
        let of = |v| {
            let (part, i) = place(v);
            (rows(&parts[part]), i)
        };
        let size = |v| {
            let (rows, i) = of(v);
            rows.size(i)
        };
        let fill = |v, room: &mut [u32]| {
            let (rows, i) = of(v);
            rows.unpack(i, room);
        };
        filled(n_items, unit.len(), size, fill, control)
    };
    let base = unpacked(&parts, |part| &part.base)?;
    // Room for the other.
    for part in &mut parts {
        part.base = Packed::default();
    }
    let distance = unpacked(&parts, |part| &part.distance)?;
    let threshold = (0..unit.len()).map(|v| {
        let (part, i) = place(v);
        parts[part].threshold[i]
    });
    Ok(Votes { base, distance, threshold: threshold.collect(), error })
}
