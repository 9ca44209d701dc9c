//! How often tuples of categories occur, before and after; only those that do occur are kept.

use rayon::prelude::*;

use crate::coded::Coded;
use crate::control::Control;
use crate::error::Result;

/// Up to this many possible tuples are counted in a full table; a pass over the records fills as many cells.
const DENSE: u64 = 1 << 22;

/// Records whose tuples are numbered at a time, so that they stay near.
const BLOCK: usize = 1 << 12;

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

impl Cells {
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
    let n = before[0].codes.len() as u64;
    control.begin(2 * n * sets.len() as u64);
    let (dense, sparse): (Vec<usize>, Vec<usize>) = (0..sets.len()).partition(|&set| sizes[set] <= DENSE);
    let mut rest = &dense[..];
    while !rest.is_empty() {
        let mut room = DENSE;
        let fits = |set: &&usize| room.checked_sub(sizes[**set]).map(|left| room = left).is_some();
        let (batch, others) = rest.split_at(rest.iter().take_while(fits).count());
        let chosen: Vec<(&[usize], usize)> = batch.iter().map(|&set| (&sets[set][..], sizes[set] as usize)).collect();
        let tables = [fill(before, &chosen, control)?, fill(after, &chosen, control)?];
        let mut start = 0;
        for (&set, &(_, size)) in batch.iter().zip(&chosen) {
            let mut cells = Cells::default();
            let [b, a] = [&tables[0][start..start + size], &tables[1][start..start + size]];
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
        control.advance(2 * n)?;
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
    let n = before[0].codes.len();
    let (mut b, mut a) = (vec![0u64; n], vec![0u64; n]);
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
    for keys in [&mut b, &mut a] {
        control.check()?;
        keys.par_sort_unstable();
    }
    control.check()?;
    let mut runs = [&b, &a].map(|keys| keys.chunk_by(|x, y| x == y).map(|run| (run[0], run.len() as u32)).peekable());
    let mut cells = Cells::default();
    loop {
        let [b, a] = &mut runs;
        let next = [b.peek(), a.peek()].into_iter().flatten().map(|run| run.0).min();
        let Some(key) = next else { return Ok(cells) };
        let [before, after] = [b, a].map(|runs| runs.next_if(|run| run.0 == key).map_or(0, |run| run.1));
        cells.push(key, before, after);
    }
}

/// Replaces numbers by their ranks among the distinct ones of both lists, and gives the number of these.
fn renumber(b: &mut [u64], a: &mut [u64], control: &Control) -> Result<u64> {
    let mut distinct = [&*b, &*a].concat();
    distinct.par_sort_unstable();
    control.check()?;
    distinct.dedup();
    for keys in [b, a] {
        keys.par_iter_mut().for_each(|key| *key = distinct.partition_point(|d| d < key) as u64);
        control.check()?;
    }
    Ok(distinct.len() as u64)
}
