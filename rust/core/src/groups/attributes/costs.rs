//! What it costs to have two tuples in one group.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::memory;
use crate::tuples::Attribute;

/// Groups whose costs are summed up by one task.
const BLOCK: usize = 1 << 10;

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
        let cells: usize = attributes.iter().map(|a| size_of::<f32>() * a.distances.len() + 24 * a.categories).sum();
        memory::require(cells, "costs between categories")?;
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

/// Bytes for each member of a group that is being looked at.
const TALLIED: usize = size_of::<u32>() + 2 * size_of::<(u32, u32)>();

/// Replaces a list of categories by the distinct ones with their numbers.
pub(super) fn tally(categories: &mut [u32], tally: &mut Vec<(u32, u32)>) {
    categories.sort_unstable();
    tally.clear();
    tally.extend(categories.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len() as u32)));
}

/// What groups cost: for each, the sum of `cost` over all ordered pairs of its members' categories, divided by its size.
/// O(n log k), and where categories differ O(n·k).
pub(super) fn cost_inside(
    groups: &[&[u32]],
    category: impl Fn(u32) -> u32 + Sync,
    cost: impl Fn(u32, u32) -> f64 + Sync,
) -> f64 {
    let of_block = |block: &[&[u32]]| {
        let (mut categories, mut counts) = (Vec::new(), Vec::new());
        let of_group = |group: &&[u32]| {
            categories.clear();
            categories.extend(group.iter().map(|&member| category(member)));
            tally(&mut categories, &mut counts);
            let to_all = |a: u32| counts.iter().map(|&(b, count)| f64::from(count) * cost(a, b)).sum::<f64>();
            counts.iter().map(|&(a, count)| f64::from(count) * to_all(a)).sum::<f64>() / group.len() as f64
        };
        block.iter().map(of_group).sum::<f64>()
    };
    // Summed up one after another, so that the sum does not depend on threads.
    groups.par_chunks(BLOCK).map(of_block).collect::<Vec<f64>>().iter().sum()
}

/// Expected squared distance between the values of a record before and after a uniform permutation inside its group: the mean
/// over all records, for each attribute.
pub fn expected_cost(groups: &Lists, attributes: &[Attribute<'_>], control: &Control) -> Result<Vec<f64>> {
    let largest = groups.iter().map(<[u32]>::len).max().unwrap_or(0);
    // Where groups begin; of a group for each thread, the categories and how many there are of each.
    let room = 3 * size_of::<&[u32]>() * groups.len() + TALLIED * largest * rayon::current_num_threads();
    memory::require(room, "the expected distances inside groups")?;
    let filled: Vec<&[u32]> = groups.iter().filter(|group| !group.is_empty()).collect();
    let of_attribute = |attribute: &Attribute<'_>| {
        control.check()?;
        if attribute.codes.len() != groups.total() {
            let message = format!("groups of {} records and a column of {}", groups.total(), attribute.codes.len());
            return Err(Error::Parameter(message));
        }
        let code = |record: u32| attribute.codes[record as usize];
        let sum = cost_inside(&filled, code, |a, b| attribute.row(a)[b as usize].powi(2));
        Ok(sum / groups.total() as f64)
    };
    attributes.iter().map(of_attribute).collect()
}
