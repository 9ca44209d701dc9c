//! What can go wrong in the core. The border maps each case onto one Python exception.

/// An error of the core. Concepts are named by index; the border turns them into ids.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Is-a links form a cycle: each concept's parent is the next one, the last one's parent the first.
    #[error("the is-a links form a cycle of {} concepts", .0.len())]
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
    /// There is not enough memory for what was asked.
    #[error("{what} needs {}, {}", size(*.needed), .free.map_or("more than is available".into(), |f| format!("{} are free", size(f))))]
    Memory {
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are free, if the system says so.
        free: Option<u64>,
        /// What needs them.
        what: String,
    },
    /// More of something than can be numbered.
    #[error("{0}")]
    Size(String),
    /// An argument outside its range.
    #[error("{0}")]
    Parameter(String),
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
}

/// Result of a core function.
pub type Result<T> = std::result::Result<T, Error>;

/// A number of bytes, to be read.
fn size(bytes: u64) -> String {
    let mib = bytes as f64 / f64::from(1 << 20);
    if mib < 1024.0 { format!("{mib:.1} MiB") } else { format!("{:.1} GiB", mib / 1024.0) }
}
