//! Records drawn without replacement.

use rand::seq::index;

use crate::error::{Error, Result};
use crate::memory;
use crate::rng::{Stream, Streams};

/// One of so many, or fewer, are drawn by way of a hash table.
const FEW: u32 = 400;

/// Bytes of a number there, and in the list that it is put into.
const DRAWN: usize = 24;

/// `size` of `n` records, every set of so many as likely as any other, in ascending order. O(n) at most.
pub fn draw(n: u32, size: u32, streams: &Streams) -> Result<Vec<u32>> {
    if size > n {
        return Err(Error::Parameter(format!("a sample of {size} from {n} records")));
    }
    // All numbers in a list or, where few are drawn from many, those in a hash table; and the records.
    let drawing = if n / FEW < size { size_of::<u32>() * n as usize } else { DRAWN * size as usize };
    memory::require(drawing + size_of::<u32>() * size as usize, "a sample")?;
    let drawn = index::sample(&mut streams.generator(Stream::Sample, 0), n as usize, size as usize);
    let mut records: Vec<u32> = drawn.iter().map(|record| record as u32).collect();
    records.sort_unstable();
    Ok(records)
}
