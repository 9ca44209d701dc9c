//! Taxonomies: concepts with is-a links, and the distances between them.
//!
//! - [`graph`]: the immutable structure, checked at construction.
//! - [`measure`]: the formulas, one table for all measures.
//! - [`information`]: information content from structure or from counts.
//! - [`closure`]: the part of a taxonomy that some values need, in an order made for sweeping.
//! - [`sweep`]: the kernels; one pass over the closure gives the rows of 32 sources at once.
//! - [`shared`]: the kernel of the measure by shared subsumers.
//! - [`distance`]: matrices, rows, sums and pairs of distances, built on the kernels.

pub mod closure;
pub mod distance;
pub mod graph;
pub mod information;
pub mod measure;
mod shared;
pub mod sweep;

pub use graph::Taxonomy;
pub use measure::Measure;
