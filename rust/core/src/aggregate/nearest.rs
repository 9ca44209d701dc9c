//! The candidate nearest to the values of each group, where all of them have to be looked at.

use rayon::prelude::*;

use super::{Contents, tied};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;

/// What needs memory here.
const WHAT: &str = "the means of groups";

/// Candidates that go through the groups side by side.
const WIDTH: usize = 256;

/// What may stand for a group.
pub(super) struct Candidates<'a> {
    pub number: usize,
    /// Values that occur in groups.
    pub values: usize,
    /// Candidates whose distances are filled in at a time.
    pub lanes: usize,
    /// Writes the distances from some candidates, the first and as many as fit, to all values.
    pub fill: &'a (dyn Fn(usize, &mut [f64]) + Sync),
    /// The place of a value in a row of distances.
    pub slot: &'a (dyn Fn(u32) -> usize + Sync),
    /// Whether the first of two candidates that are as near goes before the second, in a group of these values.
    pub prefer: &'a (dyn Fn(u32, u32, &[u32]) -> bool + Sync),
}

/// For each group the candidate with the smallest sum of squared distances to its values; groups of one value are left out.
///
/// O(candidates · all values of groups), a block of candidates at a time, over which the sums of a group are vectors.
pub(super) fn search(contents: Contents<'_>, candidates: &Candidates<'_>, control: &Control) -> Result<Vec<u32>> {
    let (d, width) = (candidates.values, WIDTH.min(candidates.number));
    memory::require(16 * d * width + 20 * contents.len(), WHAT)?;
    let mut best = vec![(f64::INFINITY, u32::MAX); contents.len()];
    let (mut rows, mut squares) = (vec![0.0; d * width], vec![0.0; d * width]);
    control.begin(candidates.number as u64);
    for first in (0..candidates.number).step_by(WIDTH) {
        let width = WIDTH.min(candidates.number - first);
        let rows = &mut rows[..d * width];
        rows.par_chunks_mut(d * candidates.lanes)
            .enumerate()
            .for_each(|(block, cells)| (candidates.fill)(first + block * candidates.lanes, cells));
        control.check()?;
        // Candidates of a value side by side, so that a group adds up vectors.
        let rows = &*rows;
        squares[..d * width].par_chunks_mut(width).enumerate().for_each(|(value, squares)| {
            squares.iter_mut().enumerate().for_each(|(c, square)| *square = rows[c * d + value].powi(2));
        });
        let squares = &squares[..d * width];
        best.par_iter_mut().enumerate().with_min_len(256).try_for_each_init(
            || vec![0.0; width],
            |sums, (group, (least, best))| {
                if group % 256 == 0 {
                    control.check()?;
                }
                let (values, counts) = contents.of(group);
                if values.len() == 1 {
                    return Ok(());
                }
                sums.fill(0.0);
                for (&value, &count) in values.iter().zip(counts) {
                    let at = (candidates.slot)(value) * width;
                    let (row, count) = (&squares[at..at + width], count as f64);
                    sums.iter_mut().zip(row).for_each(|(sum, square)| *sum += count * square);
                }
                for (c, &sum) in (first as u32..).zip(&*sums) {
                    let equal = tied(sum, *least);
                    if (!equal && sum < *least) || (equal && (candidates.prefer)(c, *best, values)) {
                        (*least, *best) = (sum, c);
                    }
                }
                Ok(())
            },
        )?;
        control.advance(width as u64)?;
    }
    Ok(best.into_iter().map(|x| x.1).collect())
}

/// For each group the label with the smallest sum of squared distances to its values, given the distances from each value to
/// all labels, row after row; of equal sums the first label. A value alone is its own, by `own`.
pub fn labels(distances: &[f64], own: &[u32], contents: Contents<'_>, control: &Control) -> Result<Vec<u32>> {
    let d = own.len();
    let number = distances.len().checked_div(d).unwrap_or(0);
    if number * d != distances.len() || own.iter().any(|&label| label as usize >= number) {
        return Err(Error::Parameter(format!("{} distances from {d} values", distances.len())));
    }
    let fill = |first: usize, cells: &mut [f64]| {
        for (label, row) in (first..).zip(cells.chunks_mut(d)) {
            row.iter_mut().enumerate().for_each(|(value, cell)| *cell = distances[value * number + label]);
        }
    };
    let candidates = Candidates {
        number,
        values: d,
        lanes: 32,
        fill: &fill,
        slot: &|value| value as usize,
        prefer: &|a: u32, b: u32, _: &[u32]| a < b,
    };
    let found = search(contents, &candidates, control)?;
    let chosen = |(group, best): (usize, u32)| match contents.of(group).0 {
        [value] => own[*value as usize],
        _ => best,
    };
    Ok(found.into_iter().enumerate().map(chosen).collect())
}
