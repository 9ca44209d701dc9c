//! Coded columns of which a missing value is a category of its own.

use rayon::prelude::*;

use crate::MISSING;
use crate::error::{Error, Result};

/// A column of codes below `categories`, or [`MISSING`].
#[derive(Debug, Clone, Copy)]
pub struct Coded<'a> {
    /// Category of each record.
    pub codes: &'a [u32],
    /// Number of categories, the missing one not counted.
    pub categories: usize,
}

impl Coded<'_> {
    /// Number of categories with the one for what is missing.
    #[inline]
    pub fn levels(&self) -> u64 {
        self.categories as u64 + 1
    }

    /// The category of a code: its own, or the last one for what is missing.
    #[inline]
    pub fn level(&self, code: u32) -> u32 {
        code.min(self.categories as u32)
    }

    /// Fails unless there are `n` records, all with a code that there is.
    pub fn check(&self, n: usize) -> Result<()> {
        let fail = |message: String| Err(Error::Parameter(message));
        if self.codes.len() != n {
            return fail(format!("columns of {n} and {} records", self.codes.len()));
        }
        if n > u32::MAX as usize || self.categories >= u32::MAX as usize {
            return fail(format!("{n} records of {} categories are more than 2^32", self.categories));
        }
        match self.codes.par_iter().find_any(|&&c| c != MISSING && c as usize >= self.categories) {
            Some(code) => fail(format!("code {code} in a column of {} categories", self.categories)),
            None => Ok(()),
        }
    }
}
