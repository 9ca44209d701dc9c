//! Random permutations inside disjoint groups of records.

use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::memory;
use crate::rng::{Stream, Streams};

/// Groups that share one generator. Part of the output law for a given seed.
const BLOCK: usize = 1 << 12;

/// Permutes the codes inside every group, uniformly: each column by itself, or all by one permutation (`joint`). Gives the
/// codes of each column afterwards. Every record is in one group; a group may be empty. O(n·m).
pub fn permute(
    groups: &Lists,
    columns: &[&[u32]],
    joint: bool,
    streams: &Streams,
    control: &Control,
) -> Result<Vec<Vec<u32>>> {
    let n = groups.total();
    if let Some(other) = columns.iter().find(|codes| codes.len() != n) {
        return Err(Error::Parameter(format!("groups of {n} records and a column of {}", other.len())));
    }
    memory::require(needs(n, groups.len(), columns.len()), "permuting inside groups")?;
    control.begin((n * columns.len()) as u64);
    let mut sources = Vec::new();
    let mut permuted = Vec::with_capacity(columns.len());
    for (column, codes) in (0..).zip(columns) {
        if !joint || sources.is_empty() {
            sources.clear();
            sources = shuffled(groups, Stream::Permutation(column), streams, control)?;
        }
        let mut after = codes.to_vec();
        for (block, sources) in sources.iter().enumerate() {
            let records = block_of(groups, block).flatten();
            for (&record, &source) in records.zip(sources) {
                after[record as usize] = codes[source as usize];
            }
            control.advance(sources.len() as u64)?;
        }
        permuted.push(after);
    }
    Ok(permuted)
}

/// Bytes for the columns and for one permutation in blocks.
fn needs(n: usize, groups: usize, columns: usize) -> usize {
    size_of::<u32>() * n * (columns + 1) + 4 * size_of::<Vec<u32>>() * groups.div_ceil(BLOCK)
}

/// The groups of a block.
fn block_of(groups: &Lists, block: usize) -> impl Iterator<Item = &[u32]> {
    (block * BLOCK..groups.len().min((block + 1) * BLOCK)).map(|group| groups.of(group))
}

/// The records of each block, group after group, shuffled inside groups.
fn shuffled(groups: &Lists, stream: Stream, streams: &Streams, control: &Control) -> Result<Vec<Vec<u32>>> {
    let of_block = |block| {
        control.check()?;
        let mut rng = streams.generator(stream, block as u32);
        let mut records = Vec::with_capacity(block_of(groups, block).map(<[u32]>::len).sum());
        for group in block_of(groups, block) {
            let start = records.len();
            records.extend_from_slice(group);
            records[start..].shuffle(&mut rng);
        }
        Ok(records)
    };
    (0..groups.len().div_ceil(BLOCK)).into_par_iter().map(of_block).collect()
}
