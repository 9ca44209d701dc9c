//! Orders of records in which near ones follow each other.
//!
//! * [`gray_order`]: sorted by Gray rank;
//! * [`gray_tsp_order`]: cut into segments, and the path through each made shorter (section 4.1 of the paper);
//! * [`best_order`]: for a ring of given size, with the smallest error that is found with some work.

mod best;
mod error;
mod gray;
mod neighbours;
mod paths;
mod refine;
mod segments;
mod tour;
mod whole;

use rayon::prelude::*;

use super::Itemsets;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;
use crate::rng::Streams;

pub use self::best::{best_order, tree_order};
pub use self::gray::gray_order;

/// What needs memory.
const ORDER: &str = "an order of records";

/// Largest size of a segment that a caller may ask for: distances of all its pairs are kept.
const LONGEST: usize = 1 << 12;

/// Sum of the distances between consecutive records of an order, and back to the first if `cyclic`. O(items).
pub fn tour_length(sets: &Itemsets, order: &[u32], cyclic: bool) -> u64 {
    let pairs = order.par_windows(2).with_min_len(1 << 10);
    let path: u64 = pairs.map(|pair| u64::from(sets.hamming(pair[0], pair[1]))).sum();
    match order {
        [first, .., last] if cyclic => path + u64::from(sets.hamming(*last, *first)),
        _ => path,
    }
}

/// The Gray-TSP order of the paper: records in Gray order, cut into segments of `segment.0` to `segment.1` records where
/// the distances at the cuts sum up to the least, and in each segment the shortest path between its first and its last
/// record that is found in the time. O(items + n·segment).
///
/// Fewer records than `segment.0` are one segment; where no sizes in the range sum up to the whole, the upper bound is
/// raised to the smallest that allows it.
pub fn gray_tsp_order(
    sets: &Itemsets,
    segment: (usize, usize),
    streams: &Streams,
    control: &Control,
) -> Result<Vec<u32>> {
    if segment.1 > LONGEST {
        return Err(Error::Parameter(format!("segments of up to {} records; at most {LONGEST}", segment.1)));
    }
    let mut order = gray_order(sets, None, control)?;
    // Distances between neighbours, sums up to each record, and where segments begin and end.
    memory::require(20 * order.len() + 64 * (order.len() / segment.0.max(1)), ORDER)?;
    let pairs = order.par_windows(2).with_min_len(1 << 10);
    let gaps: Vec<u32> = pairs.map(|pair| sets.hamming(pair[0], pair[1])).collect();
    let cuts = segments::segments(order.len(), &gaps, segment)?;
    control.begin(order.len() as u64);
    paths::shorten(sets, &mut order, &cuts, streams, control)?;
    Ok(order)
}
