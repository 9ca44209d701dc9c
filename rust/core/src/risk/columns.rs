//! What attacks ask of the columns they are given.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;
use crate::tuples::{Codes, Tuples};

/// Fails unless every column has `n` codes, each below its number of categories.
pub(super) fn check(columns: &[Codes<'_>], n: usize) -> Result<()> {
    for &(codes, categories) in columns {
        if codes.len() != n {
            return Err(Error::Parameter(format!("a column of {} records where others have {n}", codes.len())));
        }
        below(codes, categories, "code")?;
    }
    Ok(())
}

/// Fails unless every number is below a limit.
pub(super) fn below(numbers: &[u32], limit: usize, what: &str) -> Result<()> {
    match numbers.par_iter().find_any(|&&number| number as usize >= limit) {
        Some(number) => Err(Error::Parameter(format!("{what} {number}, but there are {limit}"))),
        None => Ok(()),
    }
}

/// The distinct tuples of a table, and which one each record has.
pub(super) fn numbered(columns: &[Codes<'_>], control: &Control) -> Result<(Tuples, Vec<u32>)> {
    let tuples = Tuples::of(columns, control)?;
    memory::require(size_of::<u32>() * tuples.total(), "the distinct tuples of a table")?;
    let mut tuple_of = vec![0; tuples.total()];
    for tuple in 0..tuples.len() {
        for &record in tuples.records(tuple) {
            tuple_of[record as usize] = tuple as u32;
        }
    }
    Ok((tuples, tuple_of))
}
