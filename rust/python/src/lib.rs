//! The border: converts, releases the interpreter, maps errors. No algorithm lives here.

// Arrays arrive as handles that hold a borrow for the length of the call; taking them by reference is not possible.
#![allow(clippy::needless_pass_by_value)]

mod aggregate;
mod array;
mod attacks;
mod control;
mod distortion;
mod error;
mod groups;
mod itemsets;
mod meaning;
mod memory;
mod noise;
mod recode;
mod risk;
mod rng;
mod stats;
mod swap;
mod taxonomy;

/// The compiled core of nominym.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::aggregate::{common_concepts, cut_line, mean_concepts, mean_labels, vote_cells};
    #[pymodule_export]
    use super::attacks::{attack_bundles, attack_informed, attack_matching, attack_recoding};
    #[pymodule_export]
    use super::control::set_threads;
    #[pymodule_export]
    use super::distortion::{distinct_tuples, distortions};
    #[pymodule_export]
    use super::groups::{expected_squares, group_records, permute_groups};
    #[pymodule_export]
    use super::itemsets::{
        Sets, count_compatible, count_queries, draw_queries, error_rate, semantic_error, shuffle_rows,
        vote_assignments, vote_groups, vote_ring,
    };
    #[pymodule_export]
    use super::meaning::{ConceptRows, Concepts, category_distances};
    #[pymodule_export]
    use super::memory::free_memory;
    #[pymodule_export]
    use super::noise::{draw_values, shift_values};
    #[pymodule_export]
    use super::recode::{
        assign_groups, assign_matches, assign_ring, group_alike, group_along, match_diverse, order_best, order_gray,
        order_gray_tsp, order_tree, tour_length,
    };
    #[pymodule_export]
    use super::risk::{class_sizes, draw_sample, link_records};
    #[pymodule_export]
    use super::rng::{draw_normal, draw_spread, draw_synthetic, draw_uniform};
    #[pymodule_export]
    use super::stats::{Marginality, counts, covariance_squared, digits, joint};
    #[pymodule_export]
    use super::swap::{
        draw_pairs, ranks_by_frequency, swap_dynamic, swap_fixed, swap_random, swap_ranked, swap_records,
    };
    #[pymodule_export]
    use super::taxonomy::Graph;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::control::set_panic_hook();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
