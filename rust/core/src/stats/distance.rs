//! Distance covariance (Székely, Rizzo and Bakirov 2007) over semantic distances, thesis equations 4.20–4.25.
//!
//! The definition sums over all pairs of records. Distances depend on a record only through its categories, so the
//! sum over pairs of records is a sum over pairs of *distinct value pairs*, weighted by counts:
//! `Σ N(x,y)·N(x',y')·δA(x,x')·δB(y,y')`. What it costs, with `P` distinct pairs, whatever the number of records:
//!
//! - Both on lines, in trees, or equal or not: O(P log P) and the levels of the trees, see [`super::products`].
//! - Else O(P·(dx + dy)): rows of distances are made a few at a time, and used at once. O(dy) memory a thread.

use rayon::prelude::*;

use super::joint::Joint;
use super::products::{self, GROUPED, Point};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::meaning::{Meaning, Sums};
use crate::memory;
use crate::taxonomy::sweep::{self, Rows};
use crate::taxonomy::{Measure, Taxonomy};

/// Categories of the first column that are worked on side by side, one vector register or two.
const LANES: usize = 8;

/// What needs memory here.
const WHAT: &str = "a covariance of distances";

/// Distances between the categories of a column.
#[derive(Debug, Clone, Copy)]
pub enum Distances<'a> {
    /// Any two of them at once.
    Meaning(Meaning<'a>),
    /// Those of concepts of a taxonomy, row by row, where no matrix of them fits.
    Rows {
        /// The taxonomy,
        taxonomy: &'a Taxonomy,
        /// the concept of each category,
        concepts: &'a [u32],
        /// and the measure.
        measure: &'a Measure,
    },
}

impl Distances<'_> {
    /// Number of categories.
    pub fn categories(self) -> usize {
        match self {
            Self::Meaning(meaning) => meaning.categories(),
            Self::Rows { concepts, .. } => concepts.len(),
        }
    }
}

/// A column, ready for sums.
enum Side<'a> {
    Known(Sums<'a>),
    Swept(Rows<f64>, usize),
}

impl<'a> Side<'a> {
    fn new(distances: Distances<'a>) -> Result<Self> {
        Ok(match distances {
            Distances::Meaning(meaning) => Self::Known(Sums::new(meaning)?),
            Distances::Rows { taxonomy, concepts, measure } => {
                Self::Swept(Rows::new(taxonomy, concepts, concepts, measure, 0)?, concepts.len())
            }
        })
    }

    fn categories(&self) -> usize {
        match self {
            Self::Known(sums) => sums.meaning().categories(),
            Self::Swept(_, categories) => *categories,
        }
    }

    /// Whether sums go through rows of distances.
    fn by_rows(&self) -> bool {
        if let Self::Known(sums) = self { sums.by_pairs() } else { true }
    }

    /// Bytes that a thread takes to sum up distances to so many categories.
    fn needs(&self, weighted: usize) -> usize {
        match self {
            Self::Known(sums) => sums.needs(weighted),
            Self::Swept(_, d) => size_of::<f64>() * sweep::LANES.min(*d) * d,
        }
    }

    /// For each category, the sum of its distances to some, each times its weight.
    fn sums(&self, weights: &[(u32, f64)], rows: &mut Vec<f64>, sums: &mut [f64]) {
        match self {
            Self::Known(known) => match known.meaning() {
                // Row after row, which the processor reads ahead.
                Meaning::Matrix { distances, categories } => {
                    sums.fill(0.0);
                    for &(c, weight) in weights {
                        add(weight, &distances[c as usize * categories..][..categories], sums);
                    }
                }
                _ => known.fill(weights, sums),
            },
            Self::Swept(swept, d) => {
                sums.fill(0.0);
                for some in weights.chunks(sweep::LANES) {
                    rows.resize(some.len() * d, 0.0);
                    swept.fill_some(some.iter().map(|w| w.0 as usize), rows);
                    some.iter().zip(rows.chunks(*d)).for_each(|(&(_, weight), row)| add(weight, row, sums));
                }
            }
        }
    }

    /// Mean distance of each category to all records, and the mean of those over all records.
    fn means(&self, counts: &[u64], records: f64, control: &Control) -> Result<(Vec<f64>, f64)> {
        let d = counts.len();
        let mean = |values: &[f64]| values.iter().zip(counts).map(|(v, &c)| v * c as f64).sum::<f64>() / records;
        let of: Vec<f64> = match self {
            Self::Known(sums) => match sums.meaning() {
                Meaning::Matrix { distances, .. } => distances.par_chunks(d.max(1)).map(mean).collect(),
                _ => means(sums, counts, records)?,
            },
            Self::Swept(rows, _) => {
                let mut of = vec![0.0; d];
                of.par_chunks_mut(sweep::LANES).enumerate().try_for_each(|(block, of)| {
                    let mut cells = vec![0.0; of.len() * d];
                    rows.fill(block * sweep::LANES, &mut cells);
                    of.iter_mut().zip(cells.chunks(d)).for_each(|(sum, row)| *sum = mean(row));
                    control.check()
                })?;
                of
            }
        };
        control.check()?;
        let all = mean(&of);
        Ok((of, all))
    }
}

/// Mean distance of each category to all records.
fn means(sums: &Sums<'_>, counts: &[u64], records: f64) -> Result<Vec<f64>> {
    let d = counts.len();
    memory::require(24 * d + sums.needs(d), WHAT)?;
    let mut weights = Vec::with_capacity(d);
    weights.extend((0..).zip(counts).filter(|w| *w.1 > 0).map(|(c, &count)| (c, count as f64)));
    let mut of = vec![0.0; d];
    sums.fill(&weights, &mut of);
    for sum in &mut of {
        *sum /= records;
    }
    Ok(of)
}

fn add(weight: f64, row: &[f64], sums: &mut [f64]) {
    sums.iter_mut().zip(row).for_each(|(sum, distance)| *sum += weight * distance);
}

/// Mean product of the double-centred distances of two columns: the square of `sdCov`, before clipping at zero.
pub fn covariance_squared(joint: &Joint, a: Distances<'_>, b: Distances<'_>, control: &Control) -> Result<f64> {
    if (a.categories(), b.categories()) != joint.categories {
        return Err(Error::Parameter(format!(
            "matrices of {} and {} categories for columns of {} and {}",
            a.categories(),
            b.categories(),
            joint.categories.0,
            joint.categories.1
        )));
    }
    if joint.records() == 0 {
        return Err(Error::Parameter("no record has both values".into()));
    }
    let (a, b) = (Side::new(a)?, Side::new(b)?);
    if let (Side::Known(first), Side::Known(second)) = (&a, &b)
        && let Some(found) = without_rows(joint, first, second, control)?
    {
        return Ok(found);
    }
    // Of the first column each category takes a walk through all pairs; of the second, rows for each pair, or one sum.
    let work = |a: &Side<'_>, b: &Side<'_>| {
        let (dx, dy, pairs) = (a.categories() as f64, b.categories() as f64, joint.x.len() as f64);
        dx * pairs + dy * if b.by_rows() { pairs } else { 16.0 * dx }
    };
    if work(&b, &a) < work(&a, &b) {
        by_rows(&joint.turned()?, &b, &a, control)
    } else {
        by_rows(joint, &a, &b, control)
    }
}

/// The same where both are on lines or in nested groups; nothing where rows are less work.
///
/// Squared, it is Σ a·b / n² − 2 Σ a̅·b̅ / n + the product of the overall means: over pairs of records, and over records with
/// the mean distance of each.
fn without_rows(joint: &Joint, a: &Sums<'_>, b: &Sums<'_>, control: &Control) -> Result<Option<f64>> {
    if a.by_pairs() || b.by_pairs() {
        return Ok(None);
    }
    if let (Some(first), Some(second)) = (a.nested(), b.nested()) {
        let pairs = joint.x.len() as f64;
        let cells = (first.classes() as f64 * second.classes() as f64).min(pairs);
        if cells * cells > 4.0 * pairs * (joint.categories.0 + joint.categories.1) as f64 {
            return Ok(None);
        }
    }
    let (pairs, records) = (joint.x.len(), joint.records() as f64);
    memory::require(8 * (joint.categories.0 + joint.categories.1), WHAT)?;
    let margins = joint.margins();
    let (mean_a, mean_b) = (means(a, &margins.0, records)?, means(b, &margins.1, records)?);
    let mean = |of: &[f64], counts: &[u64]| of.iter().zip(counts).map(|(m, &c)| m * c as f64).sum::<f64>() / records;
    let (all_a, all_b) = (mean(&mean_a, &margins.0), mean(&mean_b, &margins.1));
    control.check()?;
    memory::require(GROUPED * pairs, WHAT)?;
    let points = || joint.x.iter().zip(&joint.y).zip(&joint.count).map(|((&x, &y), &n)| (x, y, n as f64));
    let apart: f64 = points().map(|(x, y, n)| n * mean_a[x as usize] * mean_b[y as usize]).sum();
    drop((mean_a, mean_b));
    let products = products(points(), a, b, control)?;
    Ok(Some(products / (records * records) - 2.0 * apart / records + all_a * all_b))
}

/// The sum of the products of both distances over all pairs of records.
fn products(
    points: impl Iterator<Item = (u32, u32, f64)>,
    a: &Sums<'_>,
    b: &Sums<'_>,
    control: &Control,
) -> Result<f64> {
    let mut points: Vec<Point> = points.map(|(x, y, count)| Point { x, y, count }).collect();
    let turned = |points: &[Point]| points.iter().map(|p| (p.y, p.x, p.count)).collect::<Vec<_>>().into_iter();
    match (a.nested(), a.meaning(), b.nested(), b.meaning()) {
        (Some(a), _, Some(b), _) => products::of_groups(&mut points, a, b, control),
        (Some(_), _, None, _) => {
            let others = turned(&points);
            drop(points);
            products(others, b, a, control)
        }
        (None, Meaning::Line { positions, gap }, nested, other) => {
            // What is missing comes last.
            points.par_sort_by_key(|p| positions[p.x as usize].is_nan());
            let known = points.partition_point(|p| !positions[p.x as usize].is_nan());
            let mut sum = 0.0;
            if known < points.len() {
                let (some, none) = points.split_at(known);
                sum += gap * (total(&points, b)? - total(some, b)? - total(none, b)?);
                points.truncate(known);
            }
            match (nested, other) {
                (Some(b), _) => Ok(sum + products::along_groups(&mut points, positions, b, control)?),
                (None, Meaning::Line { positions: other, gap }) => {
                    points.par_sort_by_key(|p| other[p.y as usize].is_nan());
                    let known = points.partition_point(|p| !other[p.y as usize].is_nan());
                    if known < points.len() {
                        let (some, none) = points.split_at(known);
                        let turn = |points: &[Point]| {
                            let turned: Vec<Point> =
                                points.iter().map(|p| Point { x: p.y, y: p.x, count: p.count }).collect();
                            total(&turned, a)
                        };
                        sum += gap * (turn(&points)? - turn(some)? - turn(none)?);
                        points.truncate(known);
                    }
                    let at = |p: &Point| [positions[p.x as usize], other[p.y as usize], p.count];
                    let mut points: Vec<[f64; 3]> = points.iter().map(at).collect();
                    Ok(sum + if points.is_empty() { 0.0 } else { products::of_lines(&mut points, control)? })
                }
                _ => unreachable!("sums by pairs have been sent away"),
            }
        }
        _ => unreachable!("sums by pairs have been sent away"),
    }
}

/// The sum of the distances in the second column over all pairs of some records.
fn total(points: &[Point], b: &Sums<'_>) -> Result<f64> {
    let d = b.meaning().categories();
    memory::require(16 * points.len() + 8 * d + b.needs(points.len().min(d)), WHAT)?;
    let weights: Vec<(u32, f64)> = points.iter().map(|p| (p.y, p.count)).collect();
    let mut sums = vec![0.0; d];
    b.fill(&weights, &mut sums);
    Ok(weights.iter().map(|&(y, count)| count * sums[y as usize]).sum())
}

/// Row by row. Sums are taken per block of categories and added in order, so threads cannot change the last digit.
fn by_rows(joint: &Joint, a: &Side<'_>, b: &Side<'_>, control: &Control) -> Result<f64> {
    let (dx, dy) = joint.categories;
    let records = joint.records() as f64;
    let threads = rayon::current_num_threads();
    memory::require(
        size_of::<u64>() * (dx + dy) + (8 + a.needs(dx)) * dx.min(1) * threads.min(dx.div_ceil(sweep::LANES)),
        WHAT,
    )?;
    let margins = joint.margins();
    let (mean_a, all_a) = a.means(&margins.0, records, control)?;
    let (mean_b, all_b) = b.means(&margins.1, records, control)?;
    let starts: Vec<usize> = (0..=dx).map(|x| joint.x.partition_point(|&c| (c as usize) < x)).collect();
    let most = starts.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
    let own = if matches!(a, Side::Swept(..)) { LANES * dx } else { 0 };
    let each = size_of::<f64>() * ((LANES + 1) * dy + own) + b.needs(most);
    memory::require(size_of::<(u32, f64)>() * joint.x.len() + 16 * dx + each * threads.min(dx.div_ceil(LANES)), WHAT)?;
    let entries: Vec<(u32, f64)> = joint.y.iter().zip(&joint.count).map(|(&y, &c)| (y, c as f64)).collect();
    let present: Vec<usize> = (0..dx).filter(|&x| starts[x] < starts[x + 1]).collect();
    let entries_of = |x: usize| &entries[starts[x]..starts[x + 1]];
    control.begin(present.len() as u64);
    let blocks: Vec<usize> = (0..present.len()).step_by(LANES).collect();
    let sums: Result<Vec<f64>> = blocks
        .par_iter()
        .with_max_len(1)
        .map_init(
            || (vec![[0.0; LANES]; dy], vec![0.0; dy], Vec::new(), vec![0.0; own]),
            |(towards, line, rows, own), &first| {
                let lanes = &present[first..present.len().min(first + LANES)];
                for (lane, &x) in lanes.iter().enumerate() {
                    // Σ_y N(x,y)·δB(y,y') for every y'.
                    let weight: f64 = entries_of(x).iter().map(|e| e.1).sum();
                    let level: f64 = entries_of(x).iter().map(|&(y, c)| c * mean_b[y as usize]).sum();
                    b.sums(entries_of(x), rows, line);
                    for ((cell, &sum), &mean) in towards.iter_mut().zip(&*line).zip(&mean_b) {
                        cell[lane] = sum + (weight * all_b - level) - weight * mean;
                    }
                }
                if let Side::Swept(swept, _) = a {
                    swept.fill_some(lanes.iter().copied(), &mut own[..lanes.len() * dx]);
                }
                let distance = |lane: usize, x: usize, other: usize| match a {
                    Side::Known(sums) => sums.meaning().distance(x as u32, other as u32),
                    Side::Swept(..) => own[lane * dx + other],
                };
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
                        let centred = distance(lane, x, other) - mean_a[x] - mean_a[other] + all_a;
                        total += times * centred * product[lane];
                    }
                }
                control.advance(lanes.len() as u64).map(|()| total)
            },
        )
        .collect();
    Ok(sums?.into_iter().sum::<f64>() / (records * records))
}
