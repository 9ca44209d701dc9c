//! Classes: the records that share a tuple, and so cannot be told apart by it.

use std::collections::BTreeMap;

use crate::control::Control;
use crate::error::Result;
use crate::tuples::{Codes, Tuples};

/// How many classes there are of each size, by size. O(n log n).
pub fn sizes(columns: &[Codes<'_>], control: &Control) -> Result<Vec<(u32, u64)>> {
    let found = Tuples::of(columns, control)?;
    let mut classes = BTreeMap::new();
    for tuple in 0..found.len() {
        *classes.entry(found.records(tuple).len() as u32).or_insert(0) += 1;
    }
    Ok(classes.into_iter().collect())
}
