//! What can go wrong in the core. The border maps each case onto one Python exception.

/// An error of the core. Concepts are named by index; the border turns them into ids.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Is-a links run in a circle: each concept's parent is the next one, the last one's parent the first.
    #[error("the is-a links run in a circle of {} concepts", .0.len())]
    Cycle(Vec<u32>),
    /// More than one concept has no parent.
    #[error("{} concepts have no parent; a taxonomy has one root", .0.len())]
    Roots(Vec<u32>),
    /// There is no concept at all.
    #[error("a taxonomy needs at least one concept")]
    Empty,
    /// A concept has several parents where a tree is needed.
    #[error("concept {0} has several parents; a tree is needed")]
    NotATree(u32),
    /// A concept is never used, nor anything below it, so its information content is infinite.
    #[error("concept {0} is never used")]
    Unused(u32),
    /// There is no memory for what was asked.
    #[error("no memory for {0} numbers")]
    Memory(usize),
    /// An argument outside its range.
    #[error("{0}")]
    Parameter(String),
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
}

/// Result of a core function.
pub type Result<T> = std::result::Result<T, Error>;
