//! How far records are from what is published for them, in the distances of a taxonomy.

use rayon::prelude::*;

use super::Itemsets;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::memory;
use crate::taxonomy::sweep::{LANES, Rows};
use crate::taxonomy::{Measure, Taxonomy};

/// Rows of concepts; the item `i` is `concepts[i]`.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    /// The rows.
    pub sets: &'a Itemsets,
    /// The concept of each item.
    pub concepts: &'a [u32],
}

/// Parts of a distance that are counted: sums of whole numbers are the same in any order.
const UNIT: f64 = (1u64 << 52) as f64;

/// The distance from record i to row `rows[i]`, averaged over the records: the mean over its concepts of the distance
/// to the nearest one of the row, the mean over those of the row of the distance to the nearest one of the record, and of
/// these two the mean. A side without concepts stands for the root.
///
/// Distances are found for some concepts at a time, against all of the other side: O(distinct · (links / 32 + distinct) +
/// pairs of concepts that meet), in parallel.
pub fn best_match(
    taxonomy: &Taxonomy,
    before: Named<'_>,
    after: Named<'_>,
    rows: &[u32],
    measure: &Measure,
    control: &Control,
) -> Result<f64> {
    let n = before.sets.n();
    if rows.len() != n || n == 0 || rows.iter().any(|&row| row as usize >= after.sets.n()) {
        return Err(Error::Parameter("one published row for each record, and one record at least".to_owned()));
    }
    for side in [before, after] {
        let wrong = side.concepts.iter().any(|&c| c as usize >= taxonomy.len());
        if side.concepts.len() != side.sets.n_items() as usize || wrong {
            return Err(Error::Parameter("one concept of the taxonomy for each item".to_owned()));
        }
    }
    memory::require(4 * n, "a semantic error")?;
    let all: Vec<u32> = (0..n as u32).collect();
    control.begin((before.sets.n_items() as usize + after.sets.n_items() as usize + 2) as u64);
    let there = directed(taxonomy, (before, &all), (after, rows), measure, control)?;
    let back = directed(taxonomy, (after, rows), (before, &all), measure, control)?;
    Ok(f64::midpoint(there, back) / n as f64)
}

/// The sum over pairs of rows of the mean distance from the concepts of the first to the nearest of the second.
fn directed(
    taxonomy: &Taxonomy,
    (from, from_rows): (Named<'_>, &[u32]),
    (to, to_rows): (Named<'_>, &[u32]),
    measure: &Measure,
    control: &Control,
) -> Result<f64> {
    // The root is one item more on either side, the one of rows that have none.
    let (sources, targets) = (with_root(from.concepts, taxonomy)?, with_root(to.concepts, taxonomy)?);
    let roots = ([sources.len() as u32 - 1], [targets.len() as u32 - 1]);
    let of = |i: usize| or(from.sets.row(from_rows[i]), &roots.0);
    let met = (0..from_rows.len()).map(|i| of(i).len()).sum();
    memory::require(Lists::needs(sources.len(), met) + 8 * sources.len(), "a semantic error")?;
    let pairs = (0..from_rows.len()).flat_map(|i| of(i).iter().map(move |&item| (item, i as u32)));
    let records = Lists::group(sources.len(), pairs);
    let width = targets.len();
    let measured = Rows::<f64>::new(taxonomy, &sources, &targets, measure, 0)?;
    let sums = (0..sources.len().div_ceil(LANES)).into_par_iter().map_init(Vec::new, |cells: &mut Vec<f64>, block| {
        let items = block * LANES..((block + 1) * LANES).min(sources.len());
        let mut sum = 0u128;
        if items.clone().any(|item| !records.of(item).is_empty()) {
            cells.resize(items.len() * width, 0.0);
            measured.fill(items.start, cells);
            for (item, distances) in items.clone().zip(cells.chunks(width)) {
                for (place, &i) in records.of(item).iter().enumerate() {
                    if place % CHECKED == 0 {
                        control.check()?;
                    }
                    let others = or(to.sets.row(to_rows[i as usize]), &roots.1).iter();
                    let nearest = others.map(|&other| distances[other as usize]).fold(f64::INFINITY, f64::min);
                    sum += (nearest / of(i as usize).len() as f64 * UNIT).round() as u128;
                }
            }
        }
        control.advance(items.len() as u64)?;
        Ok(sum)
    });
    let sum = sums.try_reduce(|| 0, |a, b| Ok(a + b))?;
    Ok(sum as f64 / UNIT)
}

/// Records between two questions whether to stop.
const CHECKED: usize = 1 << 16;

fn or<'a>(row: &'a [u32], root: &'a [u32]) -> &'a [u32] {
    if row.is_empty() { root } else { row }
}

fn with_root(concepts: &[u32], taxonomy: &Taxonomy) -> Result<Vec<u32>> {
    memory::require(4 * (concepts.len() + 1), "a semantic error")?;
    let mut all = Vec::with_capacity(concepts.len() + 1);
    all.extend_from_slice(concepts);
    all.push(taxonomy.root());
    Ok(all)
}
