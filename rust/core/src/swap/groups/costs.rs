//! What it costs to have two tuples in one group.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::Result;
use crate::swap::tuples::Attribute;

/// Squared distances, weighted so that two random records differ by 1 on average in every attribute that varies at all.
pub(super) struct Costs {
    tables: Vec<Table>,
}

struct Table {
    categories: usize,
    cells: Vec<f32>,
}

impl Costs {
    /// Weighs the attributes: by one over the mean squared distance of two random records, or 0 where there is no spread. O(m·(n + d²)).
    pub(super) fn new(attributes: &[Attribute<'_>], control: &Control) -> Result<Self> {
        let tables = attributes.iter().map(|attribute| {
            control.check()?;
            let spread = spread(attribute);
            let weight = if spread > 0.0 { 1.0 / spread } else { 0.0 };
            let cells = attribute.distances.par_iter().map(|&x| (weight * x * x) as f32).collect();
            Ok(Table { categories: attribute.categories, cells })
        });
        Ok(Self { tables: tables.collect::<Result<_>>()? })
    }

    /// Number of attributes.
    pub(super) fn attributes(&self) -> usize {
        self.tables.len()
    }

    /// Number of categories of an attribute.
    pub(super) fn categories(&self, attribute: usize) -> usize {
        self.tables[attribute].categories
    }

    /// Costs between one category of an attribute and all.
    #[inline]
    pub(super) fn row(&self, attribute: usize, category: u32) -> &[f32] {
        let table = &self.tables[attribute];
        &table.cells[category as usize * table.categories..][..table.categories]
    }

    /// Cost between two tuples.
    #[inline]
    pub(super) fn between(&self, a: &[u32], b: &[u32]) -> f32 {
        let pairs = self.tables.iter().zip(a.iter().zip(b));
        pairs.map(|(table, (&x, &y))| table.cells[x as usize * table.categories + y as usize]).sum()
    }
}

/// Mean squared distance between two random records.
fn spread(attribute: &Attribute<'_>) -> f64 {
    let mut counts = vec![0u32; attribute.categories];
    for &code in attribute.codes {
        counts[code as usize] += 1;
    }
    let used: Vec<u32> = (0..attribute.categories as u32).filter(|&c| counts[c as usize] > 0).collect();
    let share = |c: u32| f64::from(counts[c as usize]) / attribute.codes.len() as f64;
    let of_row = |&a: &u32| {
        let row = attribute.row(a);
        share(a) * used.iter().map(|&b| share(b) * row[b as usize].powi(2)).sum::<f64>()
    };
    // Summed up one after another, so that the sum does not depend on threads.
    let rows: Vec<f64> = used.par_iter().map(of_row).collect();
    rows.iter().sum()
}

/// Replaces a list of categories by the distinct ones with their numbers.
pub(super) fn tally(categories: &mut [u32], tally: &mut Vec<(u32, u32)>) {
    categories.sort_unstable();
    tally.clear();
    tally.extend(categories.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as u32)));
}

/// Sum of `value` over all ordered pairs of a group whose categories are given with their numbers.
pub(super) fn pair_sum(counts: &[(u32, u32)], value: impl Fn(u32, u32) -> f64) -> f64 {
    let of_one = |&(a, count): &(u32, u32)| {
        let others = counts.iter().map(|&(b, others)| f64::from(others) * value(a, b));
        f64::from(count) * others.sum::<f64>()
    };
    counts.iter().map(of_one).sum()
}
