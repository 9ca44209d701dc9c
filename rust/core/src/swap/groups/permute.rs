//! Random permutations inside groups, and what they cost.

use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::costs::{pair_sum, tally};
use super::{Groups, PERMUTATIONS};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::rng::Streams;
use crate::swap::tuples::Attribute;

/// Groups that share one generator. Part of the output law for a given seed.
const BLOCK: usize = 1 << 12;

/// Permutes the codes inside every group, uniformly: each attribute by itself, or all by one permutation (`joint`). Gives the
/// codes of each attribute afterwards. O(n·m).
pub fn permute(
    groups: &Groups,
    attributes: &[Attribute<'_>],
    joint: bool,
    streams: &Streams,
    control: &Control,
) -> Result<Vec<Vec<u32>>> {
    check(groups, attributes)?;
    control.begin((groups.total() * attributes.len()) as u64);
    let mut sources = Vec::new();
    let mut permuted = Vec::with_capacity(attributes.len());
    for (stream, attribute) in (PERMUTATIONS..).zip(attributes) {
        if !joint || sources.is_empty() {
            sources = shuffled(groups, stream, streams, control)?;
        }
        let mut codes = attribute.codes.to_vec();
        for (block, sources) in sources.iter().enumerate() {
            let records = block_of(groups, block).flatten();
            for (&record, &source) in records.zip(sources) {
                codes[record as usize] = attribute.codes[source as usize];
            }
            control.advance(sources.len() as u64)?;
        }
        permuted.push(codes);
    }
    Ok(permuted)
}

/// Expected squared distance between the values of a record before and after [`permute`]: the mean over all records, for
/// each attribute. O(n·m·log k), and where values differ O(n·m·k).
pub fn expected_cost(groups: &Groups, attributes: &[Attribute<'_>], control: &Control) -> Result<Vec<f64>> {
    check(groups, attributes)?;
    control.begin((groups.total() * attributes.len()) as u64);
    let of_block = |attribute: &Attribute<'_>, block| {
        let mut counts = Vec::new();
        let mut sum = 0.0;
        for group in block_of(groups, block) {
            let mut codes: Vec<u32> = group.iter().map(|&record| attribute.codes[record as usize]).collect();
            tally(&mut codes, &mut counts);
            let squared = |a: u32, b: u32| attribute.row(a)[b as usize].powi(2);
            sum += pair_sum(&counts, squared) / group.len() as f64;
            control.advance(group.len() as u64)?;
        }
        Ok(sum)
    };
    let of_attribute = |attribute| {
        let blocks = (0..groups.len().div_ceil(BLOCK)).into_par_iter();
        let sums: Vec<f64> = blocks.map(|block| of_block(attribute, block)).collect::<Result<_>>()?;
        Ok(sums.iter().sum::<f64>() / groups.total() as f64)
    };
    attributes.iter().map(of_attribute).collect()
}

fn check(groups: &Groups, attributes: &[Attribute<'_>]) -> Result<()> {
    match attributes.iter().find(|a| a.codes.len() != groups.total()) {
        Some(other) => {
            let message = format!("groups of {} records and a column of {}", groups.total(), other.codes.len());
            Err(Error::Parameter(message))
        }
        None => Ok(()),
    }
}

/// The groups of a block.
fn block_of(groups: &Groups, block: usize) -> impl Iterator<Item = &[u32]> {
    (block * BLOCK..groups.len().min((block + 1) * BLOCK)).map(|group| groups.of(group))
}

/// The records of each block, group after group, shuffled inside groups.
fn shuffled(groups: &Groups, stream: u32, streams: &Streams, control: &Control) -> Result<Vec<Vec<u32>>> {
    let of_block = |block| {
        control.check()?;
        let mut rng = streams.generator(stream, block as u32);
        let mut records = Vec::new();
        for group in block_of(groups, block) {
            let start = records.len();
            records.extend_from_slice(group);
            records[start..].shuffle(&mut rng);
        }
        Ok(records)
    };
    (0..groups.len().div_ceil(BLOCK)).into_par_iter().map(of_block).collect()
}
