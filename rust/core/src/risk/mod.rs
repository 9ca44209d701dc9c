//! The attack, run: what an intruder who knows people finds of them in a release.
//!
//! - [`linkage`]: distance-based record linkage, exact, on distinct tuples.
//! - [`classes`]: how many records share a tuple.
//! - [`sample`]: the people who are looked for, where not all are.
//!
//! Only numbers of people come out, never who they are. Possible worlds of set-valued records are counted by
//! [`crate::itemsets::compatible`].

pub mod classes;
pub mod linkage;
pub mod sample;
