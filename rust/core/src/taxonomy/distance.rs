//! Matrices, sums and pairs of distances.

use rayon::prelude::*;

use super::graph::Taxonomy;
use super::measure::Measure;
use super::sweep::{Cell, LANES, Rows};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;

/// Fills `out` with the distances of all pairs of `values`, row after row. O(values · (links above them / 32 + values)).
///
/// Both halves are computed. A cell costs one load from a table in the cache; turning the upper half over into the lower
/// one, which walks through memory by columns, takes by itself longer than computing both.
pub fn matrix<F: Cell>(
    taxonomy: &Taxonomy,
    values: &[u32],
    measure: &Measure,
    out: &mut [F],
    control: &Control,
) -> Result<()> {
    let d = values.len();
    if out.len() != d * d {
        return Err(Error::Parameter(format!("room for {} cells, but {d} values have {}", out.len(), d * d)));
    }
    if d == 0 {
        return Ok(());
    }
    let rows = Rows::new(taxonomy, values, values, measure, 0)?;
    control.begin(d as u64);
    out.par_chunks_mut(LANES * d).enumerate().try_for_each(|(block, cells)| {
        rows.fill(block * LANES, cells);
        control.advance((cells.len() / d) as u64)
    })
}

/// The distance of each pair `(a[i], b[i])`. O(distinct a · (links / 32 + distinct b)), no matrix is kept.
pub fn pairs(taxonomy: &Taxonomy, a: &[u32], b: &[u32], measure: &Measure, control: &Control) -> Result<Vec<f64>> {
    // Both lists once more, and where each pair stands.
    memory::require(20 * a.len(), "distances of pairs")?;
    let distinct = |concepts: &[u32]| {
        let mut list = concepts.to_vec();
        list.sort_unstable();
        list.dedup();
        list
    };
    let (sources, targets) = (distinct(a), distinct(b));
    let place = |list: &[u32], c: u32| list.partition_point(|&x| x < c);
    let mut asked: Vec<(u32, u32, u32)> =
        (0..a.len()).map(|i| (place(&sources, a[i]) as u32, place(&targets, b[i]) as u32, i as u32)).collect();
    asked.sort_unstable();
    // The distances where they are found, and where they belong.
    let rows = Rows::<f64>::new(taxonomy, &sources, &targets, measure, 16 * a.len())?;
    control.begin(asked.len() as u64);
    let blocks: Vec<_> = asked.chunk_by(|x, y| x.0 as usize / LANES == y.0 as usize / LANES).collect();
    let found: Result<Vec<Vec<f64>>> = blocks
        .par_iter()
        .map_init(Vec::new, |cells: &mut Vec<f64>, block| {
            let first = block[0].0 as usize / LANES * LANES;
            let lanes = LANES.min(sources.len() - first);
            cells.resize(lanes * targets.len(), 0.0);
            rows.fill(first, cells);
            control.advance(block.len() as u64)?;
            Ok(block.iter().map(|&(s, t, _)| cells[(s as usize - first) * targets.len() + t as usize]).collect())
        })
        .collect();
    let mut out = vec![0.0; a.len()];
    for (&(_, _, i), distance) in asked.iter().zip(found?.into_iter().flatten()) {
        out[i as usize] = distance;
    }
    Ok(out)
}

/// For every concept of the taxonomy, the sum of its distances to `values`, each taken `counts` times.
#[derive(Debug)]
pub struct Sums {
    /// In units of `unit`: integers, so that neither threads nor the order of addition can change a tie.
    fixed: Vec<u128>,
    unit: f64,
    records: u128,
}

impl Sums {
    /// O(values · (links / 32 + concepts)) time; O(concepts) memory per thread.
    pub fn new(
        taxonomy: &Taxonomy,
        values: &[u32],
        counts: &[u64],
        measure: &Measure,
        control: &Control,
    ) -> Result<Self> {
        let scale = scale(taxonomy, measure);
        // A thread adds up into sums of its own. Where it has taken work from others, it keeps some for each time that the work
        // was halved.
        let halvings = values.len().div_ceil(LANES).next_power_of_two().ilog2() as usize;
        let threads = rayon::current_num_threads().min(values.len().div_ceil(LANES));
        let sums = 16 * (1 + threads * (2 + halvings)) * taxonomy.len();
        memory::require(4 * taxonomy.len(), "sums of distances")?;
        let targets: Vec<u32> = (0..taxonomy.len() as u32).collect();
        let rows = Rows::<f64>::new(taxonomy, values, &targets, measure, sums)?;
        let width = targets.len();
        control.begin(values.len() as u64);
        let none = || vec![0u128; width];
        let fixed = counts
            .par_chunks(LANES)
            .enumerate()
            .try_fold(
                || (none(), Vec::new()),
                |(mut sums, mut cells), (block, counts)| {
                    cells.resize(counts.len() * width, 0.0);
                    rows.fill(block * LANES, &mut cells);
                    for (row, &count) in cells.chunks(width).zip(counts) {
                        for (sum, &distance) in sums.iter_mut().zip(row) {
                            // Truncating what is not negative rounds it, without the call that `round` is on older processors.
                            *sum += u128::from(count) * ((distance * scale + 0.5) as i64 as u128);
                        }
                    }
                    control.advance(counts.len() as u64)?;
                    Ok((sums, cells))
                },
            )
            .map(|folded| folded.map(|(sums, _)| sums))
            .try_reduce(none, |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                Ok(a)
            })?;
        let records = counts.iter().map(|&c| u128::from(c)).sum();
        Ok(Self { fixed, unit: 1.0 / scale, records })
    }

    /// The sum of one concept.
    pub fn of(&self, concept: u32) -> f64 {
        self.fixed[concept as usize] as f64 * self.unit
    }

    /// The concept with the smallest sum; equal sums: the lower index.
    ///
    /// A distance is less than one unit off (rounded as a float, then to the unit), so equal sums differ by less
    /// than two units a record. Sums that really differ do so by far more: they are fractions with denominators
    /// of the size of the taxonomy's depth.
    pub fn smallest(&self) -> u32 {
        let least = self.fixed.iter().min().copied().unwrap_or(0);
        self.fixed.iter().position(|&s| s - least <= 2 * self.records).unwrap_or(0) as u32
    }

    /// The same for some concepts only, by their place among them. O(some · (links / 32 + values)).
    pub(crate) fn of_some(
        taxonomy: &Taxonomy,
        some: &[u32],
        (values, counts): (&[u32], &[u64]),
        measure: &Measure,
        control: &Control,
    ) -> Result<Self> {
        let scale = scale(taxonomy, measure);
        let rows = Rows::<f64>::new(taxonomy, some, values, measure, 16 * some.len())?;
        let width = values.len();
        let mut fixed = vec![0; some.len()];
        control.begin(some.len() as u64);
        fixed.par_chunks_mut(LANES).enumerate().try_for_each_init(
            Vec::new,
            |cells: &mut Vec<f64>, (block, sums)| {
                cells.resize(sums.len() * width, 0.0);
                rows.fill(block * LANES, cells);
                for (sum, row) in sums.iter_mut().zip(cells.chunks(width)) {
                    let terms =
                        row.iter().zip(counts).map(|(&x, &n)| u128::from(n) * ((x * scale + 0.5) as i64 as u128));
                    *sum = terms.sum();
                }
                control.advance(sums.len() as u64)
            },
        )?;
        let records = counts.iter().map(|&c| u128::from(c)).sum();
        Ok(Self { fixed, unit: 1.0 / scale, records })
    }
}

/// Units in a distance of 1: as fine as a float resolves the largest distance; finer digits would be noise.
fn scale(taxonomy: &Taxonomy, measure: &Measure) -> f64 {
    let largest = measure.max(taxonomy.max_depth()).max(1.0);
    2f64.powi(52 - largest.log2().ceil() as i32)
}
