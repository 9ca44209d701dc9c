//! How often values, and pairs of values, occur.

use rayon::prelude::*;

use crate::MISSING;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::memory::{self, Meter};

/// Records that one thread counts before it looks at the control handle.
const CHUNK: usize = 1 << 18;
/// Codes that one thread counts alone.
pub const FEW: usize = 1 << 14;

/// Up to this many cells, one full table a thread is small; beyond, records are first grouped by their first value.
const DENSE: usize = 1 << 22;

/// Pairs of values that occur, with their counts, ordered by both codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joint {
    /// Code in the first column.
    pub x: Vec<u32>,
    /// Code in the second column.
    pub y: Vec<u32>,
    /// Records with this pair.
    pub count: Vec<u64>,
    /// Categories of the first and of the second column.
    pub categories: (usize, usize),
}

impl Joint {
    /// Counts the pairs of two columns; pairs with a missing value are left out.
    ///
    /// O(n + pairs that occur).
    pub fn new(x: &[u32], y: &[u32], categories: (usize, usize), control: &Control) -> Result<Self> {
        if x.len() != y.len() {
            return Err(Error::Parameter(format!("columns of {} and {} records", x.len(), y.len())));
        }
        check(x, categories.0)?;
        check(y, categories.1)?;
        control.begin(x.len() as u64);
        let (dx, dy) = categories;
        let cell = |x: u32, y: u32| x as usize * dy + y as usize;
        let known = |&(&x, &y): &(&u32, &u32)| x != MISSING && y != MISSING;
        let chunks = || x.par_chunks(CHUNK).zip(y.par_chunks(CHUNK));
        let cells: Vec<(u64, u64)> = if dx.saturating_mul(dy) <= DENSE {
            memory::require(tables(dx * dy, x.len().div_ceil(CHUNK)), WHAT)?;
            let table = chunks()
                .try_fold(
                    || vec![0u64; dx * dy],
                    |mut table, (x, y)| {
                        x.iter().zip(y).filter(known).for_each(|(&x, &y)| table[cell(x, y)] += 1);
                        control.advance(x.len() as u64).map(|()| table)
                    },
                )
                .try_reduce(|| vec![0; dx * dy], |a, b| Ok(add(a, &b)))?;
            let filled = table.iter().filter(|&&count| count > 0).count();
            memory::require(size_of::<(u64, u64)>() * filled, WHAT)?;
            let mut cells = Vec::with_capacity(filled);
            cells.extend((0..).zip(table).filter(|&(_, count)| count > 0));
            cells
        } else {
            grouped(x, y, categories, control)?
        };
        memory::require(size_of::<(u64, u64)>() * cells.len(), WHAT)?;
        Ok(Self {
            x: cells.iter().map(|c| (c.0 / dy as u64) as u32).collect(),
            y: cells.iter().map(|c| (c.0 % dy as u64) as u32).collect(),
            count: cells.iter().map(|c| c.1).collect(),
            categories,
        })
    }

    /// The same pairs, the second column first.
    pub(super) fn turned(&self) -> Result<Self> {
        memory::require(24 * self.x.len(), WHAT)?;
        let mut order: Vec<u32> = (0..self.x.len() as u32).collect();
        order.par_sort_unstable_by_key(|&i| (self.y[i as usize], self.x[i as usize]));
        Ok(Self {
            x: order.iter().map(|&i| self.y[i as usize]).collect(),
            y: order.iter().map(|&i| self.x[i as usize]).collect(),
            count: order.iter().map(|&i| self.count[i as usize]).collect(),
            categories: (self.categories.1, self.categories.0),
        })
    }

    /// Records counted.
    pub fn records(&self) -> u64 {
        self.count.iter().sum()
    }

    /// Counts of the first column's and of the second column's values.
    pub fn margins(&self) -> (Vec<u64>, Vec<u64>) {
        let mut margins = (vec![0; self.categories.0], vec![0; self.categories.1]);
        for ((&x, &y), &count) in self.x.iter().zip(&self.y).zip(&self.count) {
            margins.0[x as usize] += count;
            margins.1[y as usize] += count;
        }
        margins
    }
}

/// Counts pairs where a full table would be large: groups the records by their first value, then counts each group.
fn grouped(x: &[u32], y: &[u32], (dx, dy): (usize, usize), control: &Control) -> Result<Vec<(u64, u64)>> {
    let known = x.iter().copied().zip(y.iter().copied()).filter(|&(x, y)| x != MISSING && y != MISSING);
    let lists = 4 * size_of::<Vec<(u64, u64)>>() * dx;
    let tables = size_of::<u64>() * dy * rayon::current_num_threads().min(dx);
    memory::require(Lists::needs(dx, x.len()) + lists + tables, WHAT)?;
    let second = Lists::group(dx, known);
    control.check()?;
    let meter = Meter::beside(tables);
    let groups: Result<Vec<Vec<(u64, u64)>>> = (0..dx)
        .into_par_iter()
        .map_init(
            || vec![0u64; dy],
            |table, x| {
                let group = second.of(x);
                let mut found: Vec<u32> = Vec::new();
                for &y in group {
                    if table[y as usize] == 0 {
                        found.push(y);
                    }
                    table[y as usize] += 1;
                }
                found.sort_unstable();
                control.advance(group.len() as u64)?;
                meter.keep(size_of::<(u64, u64)>() * found.len(), WHAT)?;
                let cell = |y: u32| (x * dy + y as usize) as u64;
                Ok(found.into_iter().map(|y| (cell(y), std::mem::take(&mut table[y as usize]))).collect())
            },
        )
        .collect();
    let groups = groups?;
    memory::require(size_of::<(u64, u64)>() * groups.iter().map(Vec::len).sum::<usize>(), WHAT)?;
    Ok(groups.concat())
}

/// Counts of a column's values; missing ones are left out.
pub fn counts(codes: &[u32], categories: usize, control: &Control) -> Result<Vec<u64>> {
    check(codes, categories)?;
    let chunk = CHUNK.max(categories);
    memory::require(tables(categories, codes.len().div_ceil(chunk)), WHAT)?;
    control.begin(codes.len() as u64);
    let add_chunk = |mut table: Vec<u64>, codes: &[u32]| {
        codes.iter().filter(|&&c| c != MISSING).for_each(|&c| table[c as usize] += 1);
        control.advance(codes.len() as u64).map(|()| table)
    };
    // To tell other threads takes longer than to count few codes.
    if codes.len() <= FEW {
        return add_chunk(vec![0; categories], codes);
    }
    codes
        .par_chunks(chunk)
        .try_fold(|| vec![0u64; categories], add_chunk)
        .try_reduce(|| vec![0; categories], |a, b| Ok(add(a, &b)))
}

/// What needs memory here.
const WHAT: &str = "counting values";

/// Bytes of the tables of so many cells that threads fill at once. Each fills one for some chunks and adds it to another.
fn tables(cells: usize, chunks: usize) -> usize {
    size_of::<u64>() * cells * (2 * chunks.min(2 * rayon::current_num_threads()) + 1)
}

fn add(mut a: Vec<u64>, b: &[u64]) -> Vec<u64> {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    a
}

fn check(codes: &[u32], categories: usize) -> Result<()> {
    let is_wrong = |c: &&u32| **c != MISSING && **c as usize >= categories;
    let wrong = if codes.len() <= FEW { codes.iter().find(is_wrong) } else { codes.par_iter().find_any(is_wrong) };
    match wrong {
        Some(code) => Err(Error::Parameter(format!("code {code} in a column of {categories} categories"))),
        None => Ok(()),
    }
}
