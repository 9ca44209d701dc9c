//! Replacement of values under given errors (SNA-1 to SNA-3, thesis algorithms in chapter 6).

use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use super::circles::{Circles, Side};
use super::{Column, Distances, scatter};
use crate::MISSING;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::memory;
use crate::rng::{Stream, Streams};
use crate::taxonomy::sweep::LANES;

/// Cells of reference rows that are kept at a time.
const KEPT: usize = 1 << 27;

/// What errors push away from and pull towards.
#[derive(Debug, Clone, Copy)]
pub enum Reference<'a> {
    /// One concept for all: the mean (SNA-1) or the root (SNA-3).
    Concept(u32),
    /// A concept for each record, or [`MISSING`]: another column's value (SNA-2).
    Each(&'a [u32]),
}

/// A column after noise, and what became of the errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shifted {
    /// Concept of each record, or [`MISSING`].
    pub concepts: Vec<u32>,
    /// Records for which nothing was as far away as the error said.
    pub truncated: u64,
    /// Records for which there was nothing in the direction of the error, which was dropped.
    pub undirected: u64,
}

#[derive(Debug, Default)]
struct Tally {
    truncated: u64,
    undirected: u64,
}

/// Replaces each value by a concept at the smallest distance that is at least the size of its error, farther from the
/// reference where the error is positive and closer where it is negative; ties at random.
///
/// An error of 0 keeps the value. Where nothing reaches the error, the farthest in its direction is taken; where there is
/// nothing in its direction, the direction is dropped. A value that is the reference concept itself has no direction.
/// `place` is that of the column in its table. O(d·V + n log V).
pub fn shift(
    column: Column<'_>,
    errors: &[f64],
    reference: Reference<'_>,
    streams: &Streams,
    place: u32,
    control: &Control,
) -> Result<Shifted> {
    column.check()?;
    if errors.len() != column.codes.len() {
        return Err(Error::Parameter(format!("{} errors for {} records", errors.len(), column.codes.len())));
    }
    if let Some(error) = errors.iter().find(|e| !e.is_finite()) {
        return Err(Error::Parameter(format!("an error of {error}")));
    }
    // References, where each record has one, are listed and sorted.
    let references = if let Reference::Each(each) = reference { 12 * each.len() } else { 8 * column.domain.len() };
    memory::require(column.needs() + references, "noise")?;
    let mut shifted = Shifted { concepts: vec![MISSING; column.codes.len()], truncated: 0, undirected: 0 };
    match reference {
        Reference::Concept(concept) => by_concept(column, errors, concept, streams, place, control, &mut shifted)?,
        Reference::Each(each) => by_record(column, errors, each, streams, place, control, &mut shifted)?,
    }
    Ok(shifted)
}

impl Shifted {
    fn add(&mut self, records: &Lists, found: Vec<Vec<u32>>, tallies: Vec<Tally>) {
        scatter(records, found, &mut self.concepts);
        for tally in tallies {
            self.truncated += tally.truncated;
            self.undirected += tally.undirected;
        }
    }
}

impl Tally {
    /// Takes the candidate in the direction of the error, if there is a direction, or else any; the value itself where it
    /// is alone in its domain.
    fn settle(
        &mut self,
        own: u32,
        has_direction: bool,
        directed: Option<(u32, bool)>,
        any: impl FnOnce() -> Option<(u32, bool)>,
    ) -> u32 {
        self.undirected += u64::from(has_direction && directed.is_none());
        match directed.or_else(any) {
            Some((concept, reaches)) => {
                self.truncated += u64::from(!reaches);
                concept
            }
            None => own,
        }
    }
}

fn by_concept(
    column: Column<'_>,
    errors: &[f64],
    reference: u32,
    streams: &Streams,
    place: u32,
    control: &Control,
    shifted: &mut Shifted,
) -> Result<()> {
    column.domain.check(&[reference])?;
    let mut far = vec![0.0; column.domain.len()];
    Distances::new(column.domain, &[reference], 0)?.fill(0, far.len(), &mut far);
    let records = column.records();
    let stream = Stream::NoiseChoice { column: place, part: 0 };
    control.begin((column.concepts.len() + records.total()) as u64);
    let work = |category: usize,
                row: &[f64],
                members: &[u32],
                rng: &mut ChaCha20Rng,
                found: &mut Vec<u32>,
                tally: &mut Tally| {
        let own = column.concepts[category];
        let mut circles = Circles::default();
        circles.draw(own, row, |c| side(far[c as usize], far[own as usize]));
        for &record in members {
            let error = errors[record as usize];
            found.push(if error == 0.0 {
                own
            } else {
                let side = if error > 0.0 { Side::Farther } else { Side::Closer };
                let has_direction = own != reference;
                let directed = if has_direction { circles.choose(error.abs(), Some(side), rng) } else { None };
                tally.settle(own, has_direction, directed, || circles.choose(error.abs(), None, rng))
            });
        }
    };
    let (found, tallies) = column.by_category(&records, streams, stream, control, work)?;
    shifted.add(&records, found, tallies);
    Ok(())
}

/// References are taken a part at a time, as many as have room; the records of each part go through all categories.
fn by_record(
    column: Column<'_>,
    errors: &[f64],
    references: &[u32],
    streams: &Streams,
    place: u32,
    control: &Control,
    shifted: &mut Shifted,
) -> Result<()> {
    let v = column.domain.len();
    if references.len() != errors.len() {
        return Err(Error::Parameter(format!("{} references for {} records", references.len(), errors.len())));
    }
    column.domain.check(references)?;
    let mut distinct: Vec<u32> = references.iter().copied().filter(|&c| c != MISSING).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let part = (KEPT / v).max(LANES);
    let parts = distinct.len().div_ceil(part).max(1);
    control.begin((parts * column.concepts.len() + column.codes.len()) as u64);
    for number in 0..parts {
        let some = &distinct[number * part..distinct.len().min((number + 1) * part)];
        let rows = Distances::new(column.domain, some, 8 * some.len() * (v + 1) + column.needs())?;
        let mut far = vec![0.0; some.len() * v];
        far.par_chunks_mut(LANES * v).enumerate().try_for_each(|(block, cells)| {
            rows.fill(block * LANES, v, cells);
            control.check()
        })?;
        drop(rows);
        let farthest: Vec<f64> = far.chunks(v).map(|row| row.iter().copied().fold(0.0, f64::max)).collect();
        // Records without a reference go with the first part.
        let here = |record: usize| match references[record] {
            MISSING => number == 0,
            c => some.binary_search(&c).is_ok(),
        };
        let known = (0u32..).zip(column.codes).filter(|&(i, &c)| c != MISSING && here(i as usize));
        let records = Lists::group(column.concepts.len(), known.map(|(i, &c)| (c, i)));
        let work = |category: usize,
                    row: &[f64],
                    members: &[u32],
                    rng: &mut ChaCha20Rng,
                    found: &mut Vec<u32>,
                    tally: &mut Tally| {
            let own = column.concepts[category];
            let mut circles = Circles::default();
            circles.draw(own, row, |_| Side::Level);
            for &record in members {
                let error = errors[record as usize];
                if error == 0.0 {
                    found.push(own);
                    continue;
                }
                let place = some.binary_search(&references[record as usize]).ok();
                let directed = place.and_then(|place| {
                    let far = &far[place * v..][..v];
                    let now = far[own as usize];
                    // Nothing is closer than no distance, nor farther than the farthest.
                    if (error < 0.0 && now == 0.0) || (error > 0.0 && now == farthest[place]) {
                        return None;
                    }
                    let wanted = if error > 0.0 { Side::Farther } else { Side::Closer };
                    circles.choose_by(error.abs(), |c| side(far[c as usize], now) == wanted, rng)
                });
                found.push(tally.settle(own, place.is_some(), directed, || circles.choose(error.abs(), None, rng)));
            }
        };
        // A generator for each category of each part.
        let stream = Stream::NoiseChoice { column: place, part: number as u32 };
        let (found, tallies) = column.by_category(&records, streams, stream, control, work)?;
        shifted.add(&records, found, tallies);
    }
    Ok(())
}

fn side(candidate: f64, now: f64) -> Side {
    if candidate < now {
        Side::Closer
    } else if candidate > now {
        Side::Farther
    } else {
        Side::Level
    }
}
