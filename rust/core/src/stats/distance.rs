//! Distance covariance (Székely, Rizzo and Bakirov 2007) over semantic distances, thesis equations 4.20–4.25.
//!
//! The definition sums over all pairs of records. Distances depend on a record only through its categories, so the
//! sum over pairs of records is a sum over pairs of *distinct value pairs*, weighted by counts:
//! `Σ N(x,y)·N(x',y')·δA(x,x')·δB(y,y')`. With `P` distinct pairs it costs O(P·(dx + dy)) and O(dy) memory a thread,
//! whatever the number of records.

use rayon::prelude::*;

use super::joint::Joint;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;

/// Categories of the first column that are worked on side by side, one vector register or two.
const LANES: usize = 8;

/// A square matrix of distances between the categories of a column.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    cells: &'a [f64],
    size: usize,
}

impl<'a> Matrix<'a> {
    /// A matrix of `size` × `size` cells, row after row.
    pub fn new(cells: &'a [f64], size: usize) -> Result<Self> {
        if cells.len() == size * size {
            Ok(Self { cells, size })
        } else {
            Err(Error::Parameter(format!("{} distances for {size} categories", cells.len())))
        }
    }

    fn row(&self, i: usize) -> &'a [f64] {
        &self.cells[i * self.size..][..self.size]
    }

    /// Mean distance of each category to all records, and the mean of those over all records.
    fn means(&self, counts: &[u64], records: f64) -> (Vec<f64>, f64) {
        let mean = |values: &[f64]| values.iter().zip(counts).map(|(v, &c)| v * c as f64).sum::<f64>() / records;
        let of: Vec<f64> = (0..self.size).into_par_iter().map(|i| mean(self.row(i))).collect();
        let all = mean(&of);
        (of, all)
    }
}

/// Bytes for sums and counts of the values of both columns, for the pairs, and for the lanes of each thread.
fn needs(joint: &Joint) -> usize {
    let (a, b) = joint.categories;
    let threads = rayon::current_num_threads();
    size_of::<u64>() * (8 * a + 2 * b + (LANES + 1) * b * threads) + size_of::<(u32, f64)>() * joint.x.len()
}

/// Mean product of the double-centred distances of two columns: the square of `sdCov`, before clipping at zero.
///
/// Sums are taken per block of categories and added in order, so threads cannot change the last digit.
pub fn covariance_squared(joint: &Joint, a: Matrix<'_>, b: Matrix<'_>, control: &Control) -> Result<f64> {
    if (a.size, b.size) != joint.categories {
        return Err(Error::Parameter(format!(
            "matrices of {} and {} categories for columns of {} and {}",
            a.size, b.size, joint.categories.0, joint.categories.1
        )));
    }
    let records = joint.records() as f64;
    if records == 0.0 {
        return Err(Error::Parameter("no record has both values".into()));
    }
    memory::require(needs(joint), "a covariance of distances")?;
    let margins = joint.margins();
    let (mean_a, all_a) = a.means(&margins.0, records);
    let (mean_b, all_b) = b.means(&margins.1, records);
    let starts: Vec<usize> = (0..=a.size).map(|x| joint.x.partition_point(|&c| (c as usize) < x)).collect();
    let entries: Vec<(u32, f64)> = joint.y.iter().zip(&joint.count).map(|(&y, &c)| (y, c as f64)).collect();
    let present: Vec<usize> = (0..a.size).filter(|&x| starts[x] < starts[x + 1]).collect();
    let entries_of = |x: usize| &entries[starts[x]..starts[x + 1]];
    control.begin(present.len() as u64);
    let blocks: Vec<usize> = (0..present.len()).step_by(LANES).collect();
    let sums: Result<Vec<f64>> = blocks
        .par_iter()
        .with_max_len(1)
        .map_init(
            || (vec![[0.0; LANES]; b.size], vec![0.0; b.size]),
            |(towards, line), &first| {
                let lanes = &present[first..present.len().min(first + LANES)];
                for (lane, &x) in lanes.iter().enumerate() {
                    // Σ_y N(x,y)·δB(y,y') for every y'.
                    let weight: f64 = entries_of(x).iter().map(|e| e.1).sum();
                    let level: f64 = entries_of(x).iter().map(|&(y, c)| c * mean_b[y as usize]).sum();
                    line.fill(weight * all_b - level);
                    for &(y, count) in entries_of(x) {
                        line.iter_mut().zip(b.row(y as usize)).for_each(|(l, d)| *l += count * d);
                    }
                    for ((cell, &sum), &mean) in towards.iter_mut().zip(&*line).zip(&mean_b) {
                        cell[lane] = sum - weight * mean;
                    }
                }
                let mut total = 0.0;
                for (place, &other) in present.iter().enumerate().skip(first) {
                    let mut product = [0.0; LANES];
                    for &(y, count) in entries_of(other) {
                        let cell = &towards[y as usize];
                        product.iter_mut().zip(cell).for_each(|(p, c)| *p += count * c);
                    }
                    for (lane, &x) in lanes.iter().enumerate().take_while(|(lane, _)| first + lane <= place) {
                        // Both orders of a pair are one term, counted twice.
                        let times = if other == x { 1.0 } else { 2.0 };
                        let centred = a.row(x)[other] - mean_a[x] - mean_a[other] + all_a;
                        total += times * centred * product[lane];
                    }
                }
                control.advance(lanes.len() as u64).map(|()| total)
            },
        )
        .collect();
    Ok(sums?.into_iter().sum::<f64>() / (records * records))
}
