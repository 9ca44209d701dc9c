//! Records drawn without replacement.

use rand::seq::index;

use crate::error::{Error, Result};
use crate::rng::{Stream, Streams};

/// `size` of `n` records, every set of so many as likely as any other, in ascending order. O(n) at most.
pub fn draw(n: u32, size: u32, streams: &Streams) -> Result<Vec<u32>> {
    if size > n {
        return Err(Error::Parameter(format!("a sample of {size} from {n} records")));
    }
    let drawn = index::sample(&mut streams.generator(Stream::Sample, 0), n as usize, size as usize);
    let mut records: Vec<u32> = drawn.iter().map(|record| record as u32).collect();
    records.sort_unstable();
    Ok(records)
}
