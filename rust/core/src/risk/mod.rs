//! The attack, run: what an intruder who knows people finds of them in a release.
//!
//! - [`linkage`]: distance-based record linkage, exact, on distinct tuples.
//! - [`bundles`]: rows that share a kept value, linked together.
//! - [`classes`]: how many records share a tuple.
//! - [`informed`]: who knows the groups, and how kept columns go with masked ones.
//! - [`matching`]: the one-to-one assignment of all people to rows.
//! - [`recoding`]: categories that were renamed, known again by how often they occur and with what.
//! - [`sample`]: the people who are looked for, where not all are.
//!
//! Only numbers of people come out, never who they are. Possible worlds of set-valued records are counted by
//! [`crate::itemsets::compatible`].

mod assignment;
pub mod bundles;
pub mod classes;
mod columns;
pub mod informed;
pub mod linkage;
pub mod matching;
pub mod recoding;
pub mod sample;
