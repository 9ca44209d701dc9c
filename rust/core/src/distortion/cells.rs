//! How often tuples of categories occur, before and after; only those that do occur are kept.

use rayon::prelude::*;

use crate::coded::Coded;
use crate::control::Control;
use crate::error::Result;
use crate::memory::{self, Meter};

/// Up to this many possible tuples are counted in a full table; a pass over the records fills as many cells.
const DENSE: u64 = 1 << 22;

/// Records whose tuples are numbered at a time, so that they stay near.
const BLOCK: usize = 1 << 12;

/// Records that are sorted at a time.
const PIECE: usize = 1 << 19;

/// The tuples that occur before or after, in ascending order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cells {
    /// Number of the tuple. For up to two columns it is made of their categories, the first one above.
    pub keys: Vec<u64>,
    /// Records with this tuple before.
    pub before: Vec<u32>,
    /// Records with this tuple after.
    pub after: Vec<u32>,
}

/// What needs memory here.
const WHAT: &str = "counting tuples of values";

impl Cells {
    fn with_room(cells: usize) -> Result<Self> {
        memory::require((size_of::<u64>() + 2 * size_of::<u32>()) * cells, WHAT)?;
        let [before, after] = [(); 2].map(|()| Vec::with_capacity(cells));
        Ok(Self { keys: Vec::with_capacity(cells), before, after })
    }

    fn push(&mut self, key: u64, before: u32, after: u32) {
        self.keys.push(key);
        self.before.push(before);
        self.after.push(after);
    }
}

/// Counts the tuples of each set of columns, and hands the counts of a set over as soon as they are there.
pub fn count(
    before: &[Coded<'_>],
    after: &[Coded<'_>],
    sets: &[Vec<usize>],
    control: &Control,
    mut counted: impl FnMut(usize, Cells),
) -> Result<()> {
    let possible = |set: &Vec<usize>| {
        set.iter().try_fold(1u64, |product, &column| product.checked_mul(before[column].levels())).unwrap_or(u64::MAX)
    };
    let sizes: Vec<u64> = sets.iter().map(possible).collect();
    let records = [before, after].map(|columns| columns[0].codes.len());
    let both = (records[0] + records[1]) as u64;
    control.begin(both * sets.len() as u64);
    let (dense, sparse): (Vec<usize>, Vec<usize>) = (0..sets.len()).partition(|&set| sizes[set] <= DENSE);
    let mut rest = &dense[..];
    while !rest.is_empty() {
        let mut room = DENSE;
        let fits = |set: &&usize| room.checked_sub(sizes[**set]).map(|left| room = left).is_some();
        let (batch, others) = rest.split_at(rest.iter().take_while(fits).count());
        let chosen: Vec<(&[usize], usize)> = batch.iter().map(|&set| (&sets[set][..], sizes[set] as usize)).collect();
        let cells: usize = chosen.iter().map(|&(_, size)| size).sum();
        let parts = records[0].max(records[1]).div_ceil(BLOCK).min(rayon::current_num_threads());
        memory::require(size_of::<u32>() * cells * (parts + 1), WHAT)?;
        let tables = [fill(before, &chosen, control)?, fill(after, &chosen, control)?];
        let mut start = 0;
        for (&set, &(_, size)) in batch.iter().zip(&chosen) {
            let [b, a] = [&tables[0][start..start + size], &tables[1][start..start + size]];
            let mut cells = Cells::with_room(b.iter().zip(a).filter(|(b, a)| **b > 0 || **a > 0).count())?;
            for (key, (&b, &a)) in (0u64..).zip(b.iter().zip(a)) {
                if b > 0 || a > 0 {
                    cells.push(key, b, a);
                }
            }
            start += size;
            counted(set, cells);
        }
        rest = others;
    }
    for set in sparse {
        counted(set, sorted(before, after, &sets[set], control)?);
        control.advance(both)?;
    }
    Ok(())
}

/// Counts the tuples of several sets in one pass, each thread in tables of its own.
fn fill(columns: &[Coded<'_>], sets: &[(&[usize], usize)], control: &Control) -> Result<Vec<u32>> {
    let n = columns[0].codes.len();
    let cells: usize = sets.iter().map(|&(_, size)| size).sum();
    let part = n.div_ceil(rayon::current_num_threads()).max(BLOCK);
    let starts: Vec<usize> = (0..n).step_by(part).collect();
    starts
        .into_par_iter()
        .map(|start| {
            let mut tables = vec![0u32; cells];
            let mut places = vec![0u32; BLOCK];
            for from in (start..n.min(start + part)).step_by(BLOCK) {
                let rows = from..n.min(start + part).min(from + BLOCK);
                let places = &mut places[..rows.len()];
                let mut table = &mut tables[..];
                for &(set, size) in sets {
                    places.fill(0);
                    for &column in set {
                        let column = columns[column];
                        let levels = column.levels() as u32;
                        for (place, &code) in places.iter_mut().zip(&column.codes[rows.clone()]) {
                            *place = *place * levels + column.level(code);
                        }
                    }
                    let (own, others) = table.split_at_mut(size);
                    for &place in &*places {
                        own[place as usize] += 1;
                    }
                    table = others;
                }
                control.advance((rows.len() * sets.len()) as u64)?;
            }
            Ok(tables)
        })
        .try_reduce(Vec::new, |mut a, b| {
            if a.is_empty() {
                return Ok(b);
            }
            a.iter_mut().zip(&b).for_each(|(a, b)| *a += b);
            Ok(a)
        })
}

/// Counts the tuples of one set by sorting.
fn sorted(before: &[Coded<'_>], after: &[Coded<'_>], set: &[usize], control: &Control) -> Result<Cells> {
    let records = [before, after].map(|columns| columns[0].codes.len());
    memory::require(size_of::<u64>() * (records[0] + records[1]), WHAT)?;
    let [mut b, mut a] = records.map(|n| vec![0u64; n]);
    let mut range = 1u64;
    for &column in set {
        control.check()?;
        let levels = before[column].levels();
        if range.checked_mul(levels).is_none() {
            range = renumber(&mut b, &mut a, control)?;
        }
        range *= levels;
        for (keys, columns) in [(&mut b, before), (&mut a, after)] {
            let column = columns[column];
            let codes = keys.par_iter_mut().zip(column.codes);
            codes.for_each(|(key, &code)| *key = *key * levels + u64::from(column.level(code)));
        }
    }
    let found = runs(&mut b, &mut a, control)?;
    let mut cells = Cells::with_room(found.len())?;
    for (key, before, after) in found {
        cells.push(key, before, after);
    }
    Ok(cells)
}

/// A number, and how often it occurs before and after.
type Run = (u64, u32, u32);

/// The distinct numbers of two lists with their counts, ascending. The lists are sorted piece by piece, so that the control
/// handle is looked at in between; pieces are merged when equal numbers have become one.
fn runs(b: &mut [u64], a: &mut [u64], control: &Control) -> Result<Vec<Run>> {
    let meter = Meter::default();
    let pieces = |keys, before, after| <[u64]>::par_chunks_mut(keys, PIECE).map(move |piece| (piece, before, after));
    pieces(b, 1, 0)
        .chain(pieces(a, 0, 1))
        .map(|(piece, before, after)| {
            control.check()?;
            counted(piece, before, after, &meter)
        })
        .try_reduce(Vec::new, |x, y| {
            control.check()?;
            Ok(merged(x, y))
        })
}

/// Sorts numbers and counts the distinct ones.
fn counted(keys: &mut [u64], before: u32, after: u32, meter: &Meter) -> Result<Vec<Run>> {
    keys.sort_unstable();
    let equal = keys.chunk_by(|x, y| x == y);
    let distinct = equal.clone().count();
    // As much again for what they are merged to.
    meter.keep(2 * size_of::<Run>() * distinct, WHAT)?;
    let mut runs = Vec::with_capacity(distinct);
    runs.extend(equal.map(|run| (run[0], before * run.len() as u32, after * run.len() as u32)));
    Ok(runs)
}

fn merged(x: Vec<Run>, y: Vec<Run>) -> Vec<Run> {
    if x.is_empty() || y.is_empty() {
        return if x.is_empty() { y } else { x };
    }
    let mut found: Vec<Run> = Vec::with_capacity(x.len() + y.len());
    let (mut x, mut y) = (x.into_iter().peekable(), y.into_iter().peekable());
    while let Some(key) = [x.peek(), y.peek()].into_iter().flatten().map(|run| run.0).min() {
        let [p, q] = [&mut x, &mut y].map(|runs| runs.next_if(|run| run.0 == key).unwrap_or_default());
        found.push((key, p.1 + q.1, p.2 + q.2));
    }
    found
}

/// Replaces numbers by their ranks among the distinct ones of both lists, and gives the number of these.
fn renumber(b: &mut [u64], a: &mut [u64], control: &Control) -> Result<u64> {
    memory::require(size_of_val(b) + size_of_val(a), WHAT)?;
    let found = runs(&mut b.to_vec(), &mut a.to_vec(), control)?;
    memory::require(size_of::<u64>() * found.len(), WHAT)?;
    let distinct: Vec<u64> = found.iter().map(|run| run.0).collect();
    for keys in [b, a] {
        control.check()?;
        keys.par_iter_mut().for_each(|key| *key = distinct.partition_point(|d| d < key) as u64);
    }
    Ok(distinct.len() as u64)
}
