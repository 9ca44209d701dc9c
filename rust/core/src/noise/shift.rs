//! Replacement of values under given errors (SNA-1 to SNA-3, thesis algorithms in chapter 6).

use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use super::branches::{Around, Branches};
use super::circles::{Circles, Row, Side};
use super::{Cells, Column, Distances, scatter};
use crate::MISSING;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::memory;
use crate::rng::{Stream, Streams};
use crate::taxonomy::sweep::LANES;

/// Cells of reference rows that are kept at a time; and how many times as many where they are ranked, of two bytes each.
const KEPT: usize = 1 << 27;
const TOGETHER: usize = 5;

/// Records after which a look is taken at whether to stop.
const OFTEN: usize = 1 << 10;

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
/// `place` is that of the column in its table. O(d·V + n log V); in a tree, for very many categories and measures by depth,
/// O(V + n) times the square of the depth.
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
    let references = if let Reference::Each(each) = reference { 12 * each.len() } else { 4 * column.domain.len() };
    memory::require(column.needs() + references, "noise")?;
    let mut shifted = Shifted { concepts: vec![MISSING; column.codes.len()], truncated: 0, undirected: 0 };
    if let Some(tree) = Branches::of(&column)? {
        along_branches(column, errors, reference, &tree, streams, place, control, &mut shifted)?;
        return Ok(shifted);
    }
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
    /// Takes the candidate in the direction of the error, if there is a direction, or else any; none where the value is alone
    /// in its domain.
    fn settle<T>(
        &mut self,
        has_direction: bool,
        directed: Option<(T, bool)>,
        any: impl FnOnce() -> Option<(T, bool)>,
    ) -> Option<T> {
        self.undirected += u64::from(has_direction && directed.is_none());
        let (chosen, reaches) = directed.or_else(any)?;
        self.truncated += u64::from(!reaches);
        Some(chosen)
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
    let width = column.domain.len();
    let sources = [reference];
    let far = numbers(&Distances::new(column.domain, &sources, |_| 16 * width)?, width);
    let records = column.records();
    let stream = Stream::NoiseChoice { column: place, part: 0 };
    control.begin((column.concepts.len() + records.total()) as u64);
    let work =
        |category: usize, row: Row<'_>, circles: &mut Circles, found: &mut Vec<u32>, tally: &mut Tally| -> Result<()> {
            let own = column.concepts[category];
            let mut rng = streams.generator(stream, category as u32);
            circles.draw(own, row, Some(&far));
            let mut drawn = Vec::with_capacity(records.of(category).len());
            for &record in records.of(category) {
                let error = errors[record as usize];
                drawn.push(if error == 0.0 {
                    None
                } else {
                    let has_direction = own != reference;
                    let side = if error > 0.0 { Side::Farther } else { Side::Closer };
                    let directed = if has_direction { circles.choose(error.abs(), Some(side), &mut rng) } else { None };
                    tally.settle(has_direction, directed, || circles.choose(error.abs(), None, &mut rng))
                });
            }
            circles.collect(drawn.iter().flatten().copied());
            found.extend(drawn.into_iter().map(|drawn| drawn.map_or(own, |drawn| circles.concept(drawn))));
            Ok(())
        };
    let (found, tallies) = column.by_category(&records, 1, control, work)?;
    shifted.add(&records, found, tallies);
    Ok(())
}

/// Categories that a thread works on at a time.
const BLOCK: usize = 64;

/// The same in a tree, where branches are counted instead of concepts.
#[allow(clippy::too_many_arguments)]
fn along_branches(
    column: Column<'_>,
    errors: &[f64],
    reference: Reference<'_>,
    tree: &Branches,
    streams: &Streams,
    place: u32,
    control: &Control,
    shifted: &mut Shifted,
) -> Result<()> {
    match reference {
        Reference::Concept(concept) => column.domain.check(&[concept])?,
        Reference::Each(each) => check_each(column, errors, each)?,
    }
    let reference_of = |record: u32| match reference {
        Reference::Concept(concept) => concept,
        Reference::Each(each) => each[record as usize],
    };
    let records = column.records();
    let stream = Stream::NoiseChoice { column: place, part: 0 };
    control.begin((column.concepts.len() + records.total()) as u64);
    let work = |around: &mut Around, (block, concepts): (usize, &[u32])| {
        let (mut found, mut tally) = (Vec::new(), Tally::default());
        let mut order: Vec<u32> = Vec::new();
        for (category, &own) in (block * BLOCK..).zip(concepts) {
            let members = records.of(category);
            if members.is_empty() {
                continue;
            }
            let mut rng = streams.generator(stream, category as u32);
            let first = found.len();
            found.resize(first + members.len(), own);
            // Records with the same reference come one after another.
            order.clear();
            order.extend(0..members.len() as u32);
            order.sort_by_key(|&i| reference_of(members[i as usize]));
            let mut known = None;
            for (done, &i) in order.iter().enumerate() {
                if done % OFTEN == 0 {
                    control.check()?;
                }
                let record = members[i as usize];
                let error = errors[record as usize];
                if error == 0.0 {
                    continue;
                }
                let given = Some(reference_of(record)).filter(|&c| c != MISSING);
                if known != Some(given) {
                    around.draw(tree, own, given);
                    known = Some(given);
                }
                // A value that is the reference for all has no direction.
                let has_direction = given.is_some_and(|c| c != own || matches!(reference, Reference::Each(_)));
                let side = if error > 0.0 { Side::Farther } else { Side::Closer };
                let directed =
                    if has_direction { around.choose(tree, error.abs(), Some(side), &mut rng) } else { None };
                let chosen = tally.settle(has_direction, directed, || around.choose(tree, error.abs(), None, &mut rng));
                found[first + i as usize] = chosen.unwrap_or(own);
            }
            control.advance(1 + members.len() as u64)?;
        }
        Ok((found, tally))
    };
    let blocks = column.concepts.par_chunks(BLOCK).enumerate().map_init(Around::default, work);
    let (found, tallies) = blocks.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    shifted.add(&records, found, tallies);
    Ok(())
}

/// Numbers in the order of the distances in the first row.
fn numbers(rows: &Distances<'_>, width: usize) -> Vec<u32> {
    let mut cells = Cells::default();
    rows.fill(0, 1, width, &mut cells);
    match rows.row(0, 0, width, &cells) {
        Row::Ranked(row, _) => row.iter().map(|&rank| u32::from(rank)).collect(),
        Row::Measured(row) => {
            let mut distinct = row.to_vec();
            distinct.sort_unstable_by(f64::total_cmp);
            distinct.dedup();
            row.iter().map(|x| distinct.partition_point(|other| other < x) as u32).collect()
        }
    }
}

/// References are taken some parts at a time, as many as have room; the records of these go through all categories.
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
    check_each(column, errors, references)?;
    let mut distinct: Vec<u32> = references.iter().copied().filter(|&c| c != MISSING).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let part = (KEPT / v).max(LANES);
    let parts = distinct.len().div_ceil(part).max(1);
    let mut first = 0;
    while first < parts {
        let rest = &distinct[first * part..];
        let some = &rest[..rest.len().min(TOGETHER * part)];
        let rows = Distances::new(column.domain, some, |ranked| {
            let cells = if ranked.is_some() { 2 * some.len() } else { 8 * some.len().min(part) };
            cells * (v + 1)
        })?;
        let together = if matches!(rows, Distances::Ranked(..)) { TOGETHER } else { 1 };
        if first == 0 {
            control.begin((parts.div_ceil(together) * column.concepts.len() + column.codes.len()) as u64);
        }
        let pushed = Pushed { errors, references, some: &some[..some.len().min(together * part)], part, first };
        let draws = |category: u32, number: u32| {
            streams.generator(Stream::NoiseChoice { column: place, part: number }, category)
        };
        match rows {
            Distances::Ranked(rows, _) => {
                let far = pushed.far(v, control, |first, cells| rows.fill(first, cells))?;
                drop(rows);
                pushed.shift(column, &far, draws, control, shifted)?;
            }
            Distances::Measured(rows) => {
                let far = pushed.far(v, control, |first, cells| rows.fill(first, cells))?;
                drop(rows);
                pushed.shift(column, &far, draws, control, shifted)?;
            }
            Distances::Given(cells, _) => {
                let far = pushed.far(v, control, |first, out| {
                    for (row, &source) in out.chunks_mut(v).zip(&pushed.some[first..]) {
                        row.copy_from_slice(&cells[source as usize * v..][..v]);
                    }
                })?;
                pushed.shift(column, &far, draws, control, shifted)?;
            }
        }
        first += together;
    }
    Ok(())
}

/// Fails unless there is a reference for each record.
fn check_each(column: Column<'_>, errors: &[f64], references: &[u32]) -> Result<()> {
    if references.len() != errors.len() {
        return Err(Error::Parameter(format!("{} references for {} records", references.len(), errors.len())));
    }
    column.domain.check(references)
}

/// What records are pushed away from, where each has a reference of its own.
struct Pushed<'a> {
    errors: &'a [f64],
    references: &'a [u32],
    /// The references whose records are looked at, ascending.
    some: &'a [u32],
    /// Their records share a generator for each category, so many at a time.
    part: usize,
    /// The number of the first part.
    first: usize,
}

impl Pushed<'_> {
    /// How far every concept is from each reference.
    fn far<T: Copy + Default + Send>(
        &self,
        v: usize,
        control: &Control,
        fill: impl Fn(usize, &mut [T]) + Sync,
    ) -> Result<Vec<T>> {
        let mut far = vec![T::default(); self.some.len() * v];
        far.par_chunks_mut(LANES * v).enumerate().try_for_each(|(block, cells)| {
            fill(block * LANES, cells);
            control.check()
        })?;
        Ok(far)
    }

    fn shift<T: Copy + Default + PartialOrd + Send + Sync>(
        &self,
        column: Column<'_>,
        far: &[T],
        draws: impl Fn(u32, u32) -> ChaCha20Rng + Sync,
        control: &Control,
        shifted: &mut Shifted,
    ) -> Result<()> {
        let v = column.domain.len();
        let lists = self.some.len().div_ceil(self.part).max(1);
        memory::require(
            Lists::needs(lists * column.concepts.len(), column.codes.len()) + 8 * self.some.len(),
            "noise",
        )?;
        let most = |row: &[T]| row.iter().copied().fold(T::default(), |a, b| if b > a { b } else { a });
        let farthest: Vec<T> = far.chunks(v).map(most).collect();
        // Records without a reference go with the first part.
        let list_of = |(record, &code): (u32, &u32)| {
            let part = match self.references[record as usize] {
                _ if code == MISSING => None,
                MISSING => (self.first == 0).then_some(0),
                reference => self.some.binary_search(&reference).ok().map(|place| place / self.part),
            };
            part.map(|part| (code * lists as u32 + part as u32, record))
        };
        let known = (0u32..).zip(column.codes).filter_map(list_of);
        let records = Lists::group(lists * column.concepts.len(), known);
        let work = |category: usize, row: Row<'_>, circles: &mut Circles, found: &mut Vec<u32>, tally: &mut Tally| {
            let own = column.concepts[category];
            circles.draw(own, row, None);
            circles.collect_all();
            for list in 0..lists {
                let mut rng = draws(category as u32, (self.first + list) as u32);
                for (done, &record) in records.of(category * lists + list).iter().enumerate() {
                    if done % OFTEN == 0 {
                        control.check()?;
                    }
                    let error = self.errors[record as usize];
                    if error == 0.0 {
                        found.push(own);
                        continue;
                    }
                    let place = self.some.binary_search(&self.references[record as usize]).ok();
                    let directed = place.and_then(|place| {
                        let far = &far[place * v..][..v];
                        let now = far[own as usize];
                        // Nothing is closer than no distance, nor farther than the farthest.
                        if error < 0.0 && now == T::default() || error > 0.0 && now == farthest[place] {
                            None
                        } else if error > 0.0 {
                            circles.choose_by(error.abs(), |c| far[c as usize] > now, &mut rng)
                        } else {
                            circles.choose_by(error.abs(), |c| far[c as usize] < now, &mut rng)
                        }
                    });
                    let any = || {
                        circles.choose(error.abs(), None, &mut rng).map(|(x, reaches)| (circles.concept(x), reaches))
                    };
                    found.push(tally.settle(place.is_some(), directed, any).unwrap_or(own));
                }
            }
            Ok(())
        };
        let (found, tallies) = column.by_category(&records, lists, control, work)?;
        shifted.add(&records, found, tallies);
        Ok(())
    }
}
