//! The handle through which a caller watches and stops long work.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Shared by the thread that works and the thread that waits. Both ends only touch atomics, so polling costs
/// next to nothing and works from any thread.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl Control {
    /// A handle for work that has not begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work to stop; it returns [`Error::Stopped`] at its next [`Control::advance`] or [`Control::check`].
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Announces `total` units of work and sets the count of finished ones back to zero.
    pub fn begin(&self, total: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// Reports `units` finished, and fails if the caller asked to stop.
    pub fn advance(&self, units: u64) -> Result<()> {
        self.done.fetch_add(units, Ordering::Relaxed);
        self.check()
    }

    /// Fails if the caller asked to stop.
    pub fn check(&self) -> Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Units finished and units in all.
    pub fn progress(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}
