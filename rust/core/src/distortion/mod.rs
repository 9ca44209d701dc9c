//! How much masking changed joint distributions: Hellinger and total variation distance, entropy, association, and how well
//! the two tables can be told apart.
//!
//! The tables need not have the same number of records: distributions are compared, not counts.
//!
//! Gomatam and Karr (2003), Distortion measures for categorical data swapping, NISS technical report 131. Snoke, Raab,
//! Nowok, Dibben and Slavković (2018), General and specific utility measures for synthetic data, JRSS A 181.

pub mod cells;

use rayon::prelude::*;

use self::cells::{Cells, count};
use crate::coded::Coded;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;
use crate::tuples::{Codes, Tuples};

/// The measures of one joint distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// √(½ Σ(√f − √g)²).
    pub hellinger: f64,
    /// ½ Σ|f − g|.
    pub total_variation: f64,
    /// Entropy after less entropy before, in nats.
    pub entropy: f64,
    /// Of two columns: Cramér's V and Pearson's C before, less those after.
    pub association: Option<(f64, f64)>,
    /// Mean squared error of the propensity score: with N records in both tables, a share c of them after, and b and a records
    /// of a tuple before and after, Σ (b + a)·(a / (b + a) − c)² / N.
    pub propensity: f64,
    /// Tuples that occur before or after.
    pub cells: usize,
}

/// Compares the joint distributions of some sets of columns, before and after.
///
/// O(n·columns) for each set of which few tuples are possible (all of these in one pass), O(n·(columns + log n)) for others.
pub fn compare(
    before: &[Coded<'_>],
    after: &[Coded<'_>],
    sets: &[Vec<usize>],
    control: &Control,
) -> Result<Vec<Change>> {
    let records = check(before, after)?;
    if sets.iter().any(Vec::is_empty) || sets.iter().flatten().any(|&column| column >= before.len()) {
        return Err(Error::Parameter(format!("sets of columns are made of numbers below {}", before.len())));
    }
    let mut changes = vec![None; sets.len()];
    count(before, after, sets, control, |set, cells| {
        let levels = (sets[set].len() == 2).then(|| before[sets[set][1]].levels());
        changes[set] = Some(change(&cells, records, levels));
    })?;
    changes.into_iter().collect::<Option<_>>().ok_or_else(|| Error::Parameter("a set was not counted".into()))
}

/// Checks that two tables have the same columns, and gives their numbers of records.
fn check(before: &[Coded<'_>], after: &[Coded<'_>]) -> Result<[usize; 2]> {
    let records = [before, after].map(|columns| columns.first().map_or(0, |column| column.codes.len()));
    if records.contains(&0) || before.len() != after.len() {
        return Err(Error::Parameter("the same columns before and after are needed, with at least one record".into()));
    }
    for (columns, n) in [(before, records[0]), (after, records[1])] {
        columns.iter().try_for_each(|column| column.check(n))?;
    }
    if before.iter().zip(after).any(|(b, a)| b.categories != a.categories) {
        return Err(Error::Parameter("a column has other categories before than after".into()));
    }
    Ok(records)
}

/// The distinct tuples of two tables, in lexicographic order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Distinct {
    /// For each column, its category in each tuple; what is missing is the last category.
    pub codes: Vec<Vec<u32>>,
    /// Records with each tuple before.
    pub before: Vec<u32>,
    /// Records with each tuple after.
    pub after: Vec<u32>,
}

/// Finds the distinct tuples of all columns, however many tuples are possible. O(n log n).
pub fn distinct(before: &[Coded<'_>], after: &[Coded<'_>], control: &Control) -> Result<Distinct> {
    const WHAT: &str = "the distinct tuples of two tables";
    let [first, second] = check(before, after)?;
    memory::require(size_of::<u32>() * before.len() * (first + second), WHAT)?;
    let mut joined = Vec::with_capacity(before.len());
    for (b, a) in before.iter().zip(after) {
        control.check()?;
        joined.push(b.codes.iter().chain(a.codes).map(|&code| b.level(code)).collect::<Vec<u32>>());
    }
    let columns: Vec<Codes<'_>> =
        joined.iter().zip(before).map(|(codes, column)| (&codes[..], column.levels() as usize)).collect();
    let found = Tuples::of(&columns, control)?;
    memory::require(size_of::<u32>() * found.len() * (before.len() + 2), WHAT)?;
    let codes = (0..before.len()).map(|column| (0..found.len()).map(|tuple| found.codes(tuple)[column]).collect());
    let codes = codes.collect();
    // The records of a tuple are in ascending order, those before come first.
    let old = |tuple| found.records(tuple).partition_point(|&record| (record as usize) < first);
    let before = (0..found.len()).map(|tuple| old(tuple) as u32).collect();
    let after = (0..found.len()).map(|tuple| (found.records(tuple).len() - old(tuple)) as u32).collect();
    Ok(Distinct { codes, before, after })
}

/// Cells that are added up at a time: the same ones whatever the number of threads.
const BLOCK: usize = 1 << 14;

fn sum(cells: &Cells, term: impl Fn(f64, f64) -> f64 + Sync) -> f64 {
    let blocks: Vec<f64> = cells
        .before
        .par_chunks(BLOCK)
        .zip(cells.after.par_chunks(BLOCK))
        .map(|(before, after)| before.iter().zip(after).map(|(&b, &a)| term(f64::from(b), f64::from(a))).sum())
        .collect();
    blocks.iter().sum()
}

fn change(cells: &Cells, records: [usize; 2], levels: Option<u64>) -> Change {
    let [n, m] = records.map(|records| records as f64);
    // As fractions of a common denominator, so that equal shares differ by exactly 0.
    let common = divisor(records[0] as u64, records[1] as u64);
    let [by, of] = records.map(|records| records as u64 / common);
    let pairs = cells.before.iter().zip(&cells.after);
    let apart: u128 = pairs.map(|(&b, &a)| u128::from((u64::from(b) * of).abs_diff(u64::from(a) * by))).sum();
    let times_log = |count: f64| if count > 0.0 { count * count.ln() } else { 0.0 };
    let (ratio, root) = (n / m, (n / m).sqrt());
    let (share, other) = (n / (n + m), m / (n + m));
    Change {
        hellinger: (sum(cells, |b, a| (b.sqrt() - a.sqrt() * root).powi(2)) / (2.0 * n)).sqrt(),
        total_variation: apart as f64 / (2.0 * n * of as f64),
        // With f = b/n, the entropy is ln n − Σ b ln b / n.
        entropy: sum(cells, |b, a| times_log(b) - times_log(a) * ratio) / n + (m / n).ln(),
        association: levels.map(|levels| {
            let (before, after) = (associated(cells, &cells.before, levels), associated(cells, &cells.after, levels));
            (before.0 - after.0, before.1 - after.1)
        }),
        propensity: sum(cells, |b, a| (a * share - b * other).powi(2) / (a + b)) / (n + m),
        cells: cells.keys.len(),
    }
}

/// The greatest common divisor.
fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Cramér's V and Pearson's C of two columns; 0 where one of them has a single value, which nothing can go with.
fn associated(cells: &Cells, counts: &[u32], levels: u64) -> (f64, f64) {
    let place = |key: u64| ((key / levels) as usize, (key % levels) as usize);
    let rows = cells.keys.last().map_or(0, |&key| place(key).0 + 1);
    let mut margins = (vec![0u64; rows], vec![0u64; levels as usize]);
    for (&key, &count) in cells.keys.iter().zip(counts) {
        let (row, column) = place(key);
        margins.0[row] += u64::from(count);
        margins.1[column] += u64::from(count);
    }
    let present = |margin: &[u64]| margin.iter().filter(|&&count| count > 0).count();
    let least = present(&margins.0).min(present(&margins.1));
    if least < 2 {
        return (0.0, 0.0);
    }
    let share = |(&key, &count): (&u64, &u32)| {
        let (row, column) = place(key);
        let product = margins.0[row] as f64 * margins.1[column] as f64;
        if count > 0 { f64::from(count).powi(2) / product } else { 0.0 }
    };
    // χ²/n; rounding must not take it below 0.
    let chi = (cells.keys.iter().zip(counts).map(share).sum::<f64>() - 1.0).max(0.0);
    ((chi / (least - 1) as f64).sqrt(), (chi / (chi + 1.0)).sqrt())
}
