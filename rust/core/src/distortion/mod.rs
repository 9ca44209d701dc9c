//! How much masking changed joint distributions: Hellinger and total variation distance, entropy, association.
//!
//! Gomatam and Karr (2003), Distortion measures for categorical data swapping, NISS technical report 131.

pub mod cells;

use rayon::prelude::*;

use self::cells::{Cells, count};
use crate::coded::Coded;
use crate::control::Control;
use crate::error::{Error, Result};

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
    let n = before.first().map_or(0, |column| column.codes.len());
    if n == 0 || before.len() != after.len() {
        return Err(Error::Parameter("the same columns before and after are needed, of one record at least".into()));
    }
    before.iter().chain(after).try_for_each(|column| column.check(n))?;
    if before.iter().zip(after).any(|(b, a)| b.categories != a.categories) {
        return Err(Error::Parameter("a column has other categories before than after".into()));
    }
    if sets.iter().any(Vec::is_empty) || sets.iter().flatten().any(|&column| column >= before.len()) {
        return Err(Error::Parameter(format!("sets of columns are made of numbers below {}", before.len())));
    }
    let mut changes = vec![None; sets.len()];
    count(before, after, sets, control, |set, cells| {
        let levels = (sets[set].len() == 2).then(|| before[sets[set][1]].levels());
        changes[set] = Some(change(&cells, n as f64, levels));
    })?;
    changes.into_iter().collect::<Option<_>>().ok_or_else(|| Error::Parameter("a set was not counted".into()))
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

fn change(cells: &Cells, n: f64, levels: Option<u64>) -> Change {
    let apart: u64 = cells.before.iter().zip(&cells.after).map(|(&b, &a)| u64::from(b.abs_diff(a))).sum();
    let times_log = |count: f64| if count > 0.0 { count * count.ln() } else { 0.0 };
    Change {
        hellinger: (sum(cells, |b, a| (b.sqrt() - a.sqrt()).powi(2)) / (2.0 * n)).sqrt(),
        total_variation: apart as f64 / (2.0 * n),
        // With f = b/n, the entropy is ln n − Σ b ln b / n.
        entropy: sum(cells, |b, a| times_log(b) - times_log(a)) / n,
        association: levels.map(|levels| {
            let (before, after) = (associated(cells, &cells.before, levels), associated(cells, &cells.after, levels));
            (before.0 - after.0, before.1 - after.1)
        }),
    }
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
