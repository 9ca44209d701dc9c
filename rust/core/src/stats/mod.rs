//! Semantic statistics in category space: cost depends on the categories, not on the records.
//!
//! - [`joint`]: counts of values and of pairs of values.
//! - [`distance`]: distance covariance from counts and category distances.
//! - [`marginality`]: the numerical mapping of hierarchical values and the variance of their positions.

pub mod distance;
pub mod joint;
pub mod marginality;
mod products;
