//! Distance-based record linkage: an intruder who knows some values of a person takes the nearest row of the release.
//!
//! Near is what has the smallest mean of semantic distances over the known columns; of equally near rows any is taken,
//! so a person whose own row is one of `t` is found with a probability of 1/t.
//!
//! Targets with the same values look for the same rows, and rows with the same values are found together: both sides
//! are distinct tuples with the number of their records. The nearest tuples are found by the pruned search of
//! [`crate::search`], sixteen targets at once that are near each other, in parallel. Whether a target's own row is among
//! them is told by its distance alone.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::search::hierarchy::Hierarchy;
use crate::search::lanes::LANES;
use crate::search::scale::{self, Distance, Space};
use crate::search::tree::Tree;
use crate::search::{Found, Index, Room};
use crate::tuples::{Attribute, Codes, Tuples};

/// Tuples of the release in a leaf of their tree.
const LEAF: usize = 64;
/// Targets that one thread takes at a time.
const CHUNK: usize = 16 * LANES;

/// A column that an intruder knows, with the same categories on both sides; a missing value is one of them.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Category of each target.
    pub targets: &'a [u32],
    /// Category of each row of the release.
    pub release: &'a [u32],
    /// Square matrix of distances between categories, row after row: symmetric, not negative, 0 on the diagonal.
    pub distances: &'a [f64],
    /// Number of categories.
    pub categories: usize,
}

/// The targets for whom equally many rows are nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tied {
    /// Number of nearest rows.
    pub rows: u32,
    /// Targets who have so many.
    pub targets: u64,
    /// Those among them whose own row is one of the nearest.
    pub hits: u64,
}

/// Links every target with its nearest rows of the release; `own` is the row that truly belongs to each target.
///
/// With T distinct tuples of the release and U of the targets: O(n log n) to find them and to build the tree, then for each
/// of the U between log T and T steps.
pub fn link(known: &[Known<'_>], own: &[u32], control: &Control) -> Result<Vec<Tied>> {
    let (targets, release) = sides(known, own, control)?;
    let (spaces, renumbered) = spaces(known, [&targets, &release], control)?;
    let mut hierarchies = Vec::with_capacity(spaces.len());
    for space in &spaces {
        control.check()?;
        hierarchies.push(Hierarchy::by_distance(space));
    }
    let codes = |tuples: &Tuples, order: &[u32]| -> Vec<Vec<u32>> {
        let column = |a: usize| order.iter().map(|&t| renumbered[a][tuples.codes(t as usize)[a] as usize]).collect();
        (0..known.len()).map(column).collect()
    };
    let grown = |tuples: &Tuples, leaf: usize| {
        let all: Vec<u32> = (0..tuples.len() as u32).collect();
        Tree::watched(&hierarchies, &codes(tuples, &all), all, leaf, control)
    };
    // The tree of the targets only puts near ones together.
    let (tree, near) = rayon::join(|| grown(&release, LEAF), || grown(&targets, LANES));
    let (tree, near) = (tree?, near?.order);
    let mut starts = Vec::with_capacity(release.len() + 1);
    starts.push(0);
    let mut end = 0;
    for &tuple in &tree.order {
        end += release.records(tuple as usize).len() as u32;
        starts.push(end);
    }
    control.check()?;
    let index = Index::new(&spaces, &hierarchies, &tree, &codes(&release, &tree.order), &starts);
    let from = codes(&targets, &near);
    let categories = index.categories(&from);
    let between = &Between { known, spaces: &spaces, renumbered: &renumbered, from: &from };
    control.begin(own.len() as u64);
    let chunks = near.par_chunks(CHUNK).enumerate().map_init(Room::<Least>::default, |room, (chunk, tuples)| {
        let mut tied = BTreeMap::new();
        for (batch, tuples) in tuples.chunks(LANES).enumerate() {
            let first = chunk * CHUNK + batch * LANES;
            // Somebody's own row is no nearer than the nearest: so far and no farther has to be searched.
            let own_rows = |lane: usize| {
                let records = targets.records(tuples[lane] as usize).iter();
                records.map(move |&record| between.distance(first + lane, own[record as usize]))
            };
            for (lane, least) in room.lanes[..tuples.len()].iter_mut().enumerate() {
                *least = Least { distance: own_rows(lane).min().unwrap_or(Distance::MAX), rows: 0 };
            }
            index.begin(categories[first * known.len()..].chunks_exact(known.len()).take(tuples.len()), room);
            index.search(room, control)?;
            let mut done = 0;
            for (lane, least) in room.lanes[..tuples.len()].iter().enumerate() {
                let hits = own_rows(lane).filter(|&distance| distance == least.distance).count() as u64;
                let records = targets.records(tuples[lane] as usize).len() as u64;
                let found: &mut (u64, u64) = tied.entry(least.rows).or_default();
                *found = (found.0 + records, found.1 + hits);
                done += records;
            }
            control.advance(done)?;
        }
        Ok(tied)
    });
    let all: Result<BTreeMap<u32, (u64, u64)>> = chunks.try_reduce(BTreeMap::new, |mut all, tied| {
        for (rows, (targets, hits)) in tied {
            let found = all.entry(rows).or_default();
            *found = (found.0 + targets, found.1 + hits);
        }
        Ok(all)
    });
    Ok(all?.into_iter().map(|(rows, (targets, hits))| Tied { rows, targets, hits }).collect())
}

/// The distinct tuples of both sides, everything checked.
fn sides(known: &[Known<'_>], own: &[u32], control: &Control) -> Result<(Tuples, Tuples)> {
    let fail = |message: String| Err(Error::Parameter(message));
    for column in known {
        if column.distances.len() != column.categories * column.categories {
            return fail(format!("{} distances for {} categories", column.distances.len(), column.categories));
        }
    }
    let columns: Vec<Codes<'_>> = known.iter().map(|k| (k.release, k.categories)).collect();
    let release = Tuples::of(&columns, control)?;
    let columns: Vec<Codes<'_>> = known.iter().map(|k| (k.targets, k.categories)).collect();
    let targets = Tuples::of(&columns, control)?;
    if release.total() == 0 {
        return fail("the release has no rows".into());
    }
    if own.len() != targets.total() {
        return fail(format!("{} own rows for {} targets", own.len(), targets.total()));
    }
    if let Some(row) = own.iter().find(|&&row| row as usize >= release.total()) {
        return fail(format!("row {row}, but there are {}", release.total()));
    }
    Ok((targets, release))
}

/// Distances between the categories that occur on either side, and how these are numbered there.
fn spaces(known: &[Known<'_>], sides: [&Tuples; 2], control: &Control) -> Result<(Vec<Space>, Vec<Vec<u32>>)> {
    let mut counts: Vec<Vec<u64>> = known.iter().map(|k| vec![0; k.categories]).collect();
    for tuples in sides {
        for tuple in 0..tuples.len() {
            for (counts, &code) in counts.iter_mut().zip(tuples.codes(tuple)) {
                counts[code as usize] += tuples.records(tuple).len() as u64;
            }
        }
    }
    let each = known.iter();
    let attributes: Vec<Attribute<'_>> = each
        .map(|&Known { release, distances, categories, .. }| Attribute {
            codes: release,
            distances,
            categories,
            missing: None,
        })
        .collect();
    let spaces = scale::spaces(&attributes, counts, control)?;
    let renumbered = spaces.iter().zip(known).map(|(space, k)| space.renumbered(k.categories)).collect();
    Ok((spaces, renumbered))
}

/// Distances from targets to single rows.
struct Between<'a> {
    known: &'a [Known<'a>],
    spaces: &'a [Space],
    /// Number of each code in the spaces.
    renumbered: &'a [Vec<u32>],
    /// Categories of the distinct targets, by attribute.
    from: &'a [Vec<u32>],
}

impl Between<'_> {
    /// The distance from a distinct target to a row.
    fn distance(&self, target: usize, row: u32) -> Distance {
        let columns = self.known.iter().zip(self.spaces).zip(self.renumbered).zip(self.from);
        columns
            .map(|(((known, space), renumbered), from)| {
                let to = renumbered[known.release[row as usize] as usize];
                space.row(from[target])[to as usize]
            })
            .sum()
    }
}

/// The smallest distance known so far, and how many rows have been found at it.
#[derive(Default)]
struct Least {
    distance: Distance,
    rows: u32,
}

impl Found for Least {
    #[inline]
    fn limit(&self) -> Distance {
        self.distance
    }

    #[inline]
    fn take(&mut self, distance: Distance, (start, end): (u32, u32)) {
        if distance < self.distance {
            (self.distance, self.rows) = (distance, 0);
        }
        self.rows += end - start;
    }
}
