//! All tests of the core in one program: it is compiled and linked once.

mod attacks;
mod common;
mod distortion;
mod groups;
mod groups_constrained;
mod itemsets_assign;
mod itemsets_concepts;
mod itemsets_diverse;
mod itemsets_groups;
mod itemsets_orders;
mod itemsets_votes;
mod modules;
mod pairs;
mod records;
mod risk;
mod stats;
mod swap;
mod taxonomy;
