//! The algorithms of nominym, without Python: taxonomies, semantic distances and semantic statistics.
//!
//! Everything here works on `u32` codes. A column is coded once, outside; distances, sums and searches are per
//! category, and each record is touched a constant number of times.

pub mod aggregate;
pub mod coded;
pub mod control;
pub mod distortion;
pub mod error;
pub mod groups;
pub mod itemsets;
pub mod lists;
pub mod meaning;
pub mod memory;
pub mod noise;
pub mod risk;
pub mod rng;
mod search;
pub mod stats;
pub mod swap;
pub mod taxonomy;
pub mod tuples;

/// The code of a missing value in a coded column.
pub const MISSING: u32 = u32::MAX;
