//! Disjoint groups of near records: what is done inside a group is a step of its own, elsewhere.
//!
//! There is one search, and two kernels that know what a group costs:
//!
//! - [`attributes`]: records of nominal, ordered and numeric columns, by squared distances;
//! - [`itemsets`]: records that are sets of items, by the bits that the majority of a group flips.
//!
//! Both begin with an order in which near records follow each other, cut into groups at least cost (`cut`); then members
//! change places between groups, first by annealing, then wherever it helps (`search`).

pub mod attributes;
mod cut;
pub mod itemsets;
mod search;

use std::time::Duration;

/// How much work to put into good groups. Time is proportional to records and passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Passes of annealing: the more, the better the groups. Zero leaves it out.
    pub annealing: u32,
    /// Passes of descent afterwards, in which only gains count.
    pub descent: u32,
    /// Time after which no pass begins, but for one of descent. Then the result depends on the machine, not on the seed alone.
    pub limit: Option<Duration>,
}

impl Effort {
    /// The order of the records, cut, and nothing else.
    pub const NONE: Self = Self::new(0, 0);

    /// So many passes of annealing and of descent, however long they take.
    pub const fn new(annealing: u32, descent: u32) -> Self {
        Self { annealing, descent, limit: None }
    }

    fn passes(self) -> u64 {
        u64::from(self.annealing) + u64::from(self.descent)
    }
}
