//! Records as tuples of categories: what methods that look at several columns at once work on.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::meaning::Meaning;
use crate::memory;

/// A column that is swapped together with others.
#[derive(Debug, Clone, Copy)]
pub struct Attribute<'a> {
    /// Category of each record. A missing value is a category of its own here, so that it has distances too.
    pub codes: &'a [u32],
    /// How far categories are from each other.
    pub meaning: Meaning<'a>,
    /// The category that stands for a missing value, if there is one.
    pub missing: Option<u32>,
}

impl Attribute<'_> {
    /// Number of categories.
    pub fn categories(&self) -> usize {
        self.meaning.categories()
    }
}

/// Category of each record, and the number of categories.
pub type Codes<'a> = (&'a [u32], usize);

/// The distinct tuples of a table, in lexicographic order of their categories, each with its records.
#[derive(Debug, Clone)]
pub struct Tuples {
    /// Categories of each tuple, tuple after tuple.
    codes: Vec<u32>,
    attributes: usize,
    /// Records of each tuple, ascending.
    records: Lists,
}

impl Tuples {
    /// Finds the distinct tuples: one sort of the records. O(n log n).
    pub fn new(attributes: &[Attribute<'_>], control: &Control) -> Result<Self> {
        Self::beside(attributes, &[], control)
    }

    /// The same with further columns after the attributes, which tell tuples apart and have no distances.
    pub fn beside(attributes: &[Attribute<'_>], further: &[Codes<'_>], control: &Control) -> Result<Self> {
        let own = attributes.iter().map(|a| (a.codes, a.categories()));
        let columns: Vec<Codes<'_>> = own.chain(further.iter().copied()).collect();
        Self::of(&columns, control)
    }

    /// The same for columns whose distances play no part.
    pub fn of(columns: &[Codes<'_>], control: &Control) -> Result<Self> {
        let n = check(columns)?;
        memory::require(Self::needs(n), "the distinct tuples of a table")?;
        // Records are sorted as numbers: the tuple above, the record below.
        let bits = u64::BITS - (n as u64).leading_zeros();
        let room = u64::MAX >> bits;
        let mut range: u64 = 1;
        let mut keys = vec![0u64; n];
        for &(codes, categories) in columns {
            control.check()?;
            let categories = categories as u64;
            if range.checked_mul(categories).is_none_or(|r| r > room) {
                range = densify(&mut keys);
            }
            range *= categories;
            keys.par_iter_mut().zip(codes).for_each(|(key, &c)| *key = *key * categories + u64::from(c));
        }
        if range > room {
            densify(&mut keys);
        }
        keys.par_iter_mut().enumerate().for_each(|(record, key)| *key = *key << bits | record as u64);
        control.check()?;
        keys.par_sort_unstable();
        control.check()?;
        let mask = (1 << bits) - 1;
        let distinct = keys.chunk_by(|a, b| a >> bits == b >> bits);
        let count = distinct.clone().count();
        memory::require(size_of::<u32>() * (n + count * (columns.len() + 1)), "the distinct tuples of a table")?;
        let mut codes = Vec::with_capacity(count * columns.len());
        let mut records = Lists::builder(count, n);
        for equal in distinct {
            let first = (equal[0] & mask) as usize;
            codes.extend(columns.iter().map(|(codes, _)| codes[first]));
            records.push(equal.iter().map(|key| (key & mask) as u32));
        }
        Ok(Self { codes, attributes: columns.len(), records })
    }

    /// Bytes that `n` records take until their tuples are counted: a number each, and once more where columns make too many
    /// tuples for one number.
    pub(crate) fn needs(n: usize) -> usize {
        2 * size_of::<u64>() * n
    }

    /// Number of distinct tuples.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Number of records.
    pub fn total(&self) -> usize {
        self.records.total()
    }

    /// Categories of a tuple.
    #[inline]
    pub fn codes(&self, tuple: usize) -> &[u32] {
        &self.codes[tuple * self.attributes..][..self.attributes]
    }

    /// Records of a tuple, ascending.
    #[inline]
    pub fn records(&self, tuple: usize) -> &[u32] {
        self.records.of(tuple)
    }
}

/// Replaces numbers by their ranks among the distinct ones, and gives the number of these.
fn densify(keys: &mut [u64]) -> u64 {
    let mut distinct = keys.to_vec();
    distinct.par_sort_unstable();
    distinct.dedup();
    keys.par_iter_mut().for_each(|key| *key = distinct.partition_point(|d| d < key) as u64);
    distinct.len() as u64
}

/// Checks that columns fit together, and gives the number of records.
fn check(columns: &[Codes<'_>]) -> Result<usize> {
    let fail = |message: String| Err(Error::Parameter(message));
    let Some((first, _)) = columns.first() else { return fail("no column at all".into()) };
    let n = first.len();
    if u32::try_from(n).is_err() {
        return fail(format!("{n} records are more than 2^32"));
    }
    for &(codes, categories) in columns {
        if codes.len() != n {
            return fail(format!("columns of {n} and {} records", codes.len()));
        }
        if let Some(&code) = codes.par_iter().find_any(|&&c| c as usize >= categories) {
            return fail(format!("code {code}, but there are {categories} categories"));
        }
    }
    Ok(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuples(columns: &[Vec<u32>], categories: usize) -> Tuples {
        let numbers = vec![0; categories];
        let attribute = |codes| Attribute { codes, meaning: Meaning::Equality(&numbers), missing: None };
        Tuples::new(&columns.iter().map(|c| attribute(c)).collect::<Vec<_>>(), &Control::new()).unwrap()
    }

    #[test]
    fn distinct_in_order_with_their_records() {
        let found = tuples(&[vec![1, 0, 1, 0], vec![2, 1, 2, 0]], 3);
        let all: Vec<(&[u32], &[u32])> = (0..found.len()).map(|t| (found.codes(t), found.records(t))).collect();
        assert_eq!(all, [(&[0, 0][..], &[3][..]), (&[0, 1], &[1]), (&[1, 2], &[0, 2])]);
        assert_eq!(found.total(), 4);
    }

    #[test]
    fn many_columns_do_not_overflow() {
        let columns: Vec<Vec<u32>> = (0..40).map(|a| (0..100).map(|i| (i * (a + 3) / 7) % 50).collect()).collect();
        let found = tuples(&columns, 50);
        let mut naive: Vec<Vec<u32>> = (0..100).map(|i| columns.iter().map(|c| c[i]).collect()).collect();
        naive.sort();
        naive.dedup();
        assert_eq!((0..found.len()).map(|t| found.codes(t).to_vec()).collect::<Vec<_>>(), naive);
    }
}
