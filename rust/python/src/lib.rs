//! The border: converts, releases the interpreter, maps errors. No algorithm lives here.

mod control;
mod error;
mod rng;
mod stats;
mod taxonomy;

/// The compiled core of nominym.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::rng::{draw_categories, draw_uniform};
    #[pymodule_export]
    use super::stats::{Marginality, counts, covariance_squared, digits, joint};
    #[pymodule_export]
    use super::taxonomy::Graph;
}
