//! Microaggregation: what stands for all values of a group, once groups are formed.
//!
//! [`concepts`] finds the semantic mean of the concepts in each group and what subsumes them all, [`labels`] the label
//! nearest to those in each group, [`sets`] what most, or all, of the sets in each group have, and [`line`] the groups
//! themselves where one number is all that is masked. All work on the contents of groups, in which equal values are
//! counted once; nothing depends on the order of the records.

pub mod concepts;
pub mod line;
mod nearest;
pub mod sets;

pub use nearest::labels;

use crate::error::{Error, Result};

/// What is in each group: different values, and how many records have each.
#[derive(Debug, Clone, Copy)]
pub struct Contents<'a> {
    starts: &'a [u64],
    values: &'a [u32],
    counts: &'a [u64],
}

impl<'a> Contents<'a> {
    /// Group `i` has the values from `starts[i]` to `starts[i + 1]`; all are below `most`, and no group is empty.
    pub fn new(starts: &'a [u64], values: &'a [u32], counts: &'a [u64], most: usize) -> Result<Self> {
        let whole = starts.first() == Some(&0) && starts.last() == Some(&(values.len() as u64));
        if !whole || starts.windows(2).any(|pair| pair[0] >= pair[1]) || counts.len() != values.len() {
            return Err(Error::Parameter("groups begin at 0, have a value each and end with the last".to_owned()));
        }
        if counts.contains(&0) {
            return Err(Error::Parameter("a value of a group that no record has".to_owned()));
        }
        match values.iter().find(|&&value| value as usize >= most) {
            Some(value) => Err(Error::Parameter(format!("value {value}, but there are {most}"))),
            None => Ok(Self { starts, values, counts }),
        }
    }

    /// Number of groups.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        self.starts.len() - 1
    }

    /// The values of a group, and the records of each.
    #[inline]
    fn of(self, group: usize) -> (&'a [u32], &'a [u64]) {
        let at = self.starts[group] as usize..self.starts[group + 1] as usize;
        (&self.values[at.clone()], &self.counts[at])
    }
}

/// Whether two sums of squared distances are equal but for rounding.
#[inline]
fn tied(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.min(b) + 1e-15
}
