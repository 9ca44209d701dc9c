//! What memory is free.

use std::path::Path;

use nominym_core::memory::free_under;
use pyo3::prelude::*;

/// Bytes that can still be had, or None where the system does not say. Files of the system are looked up below `root`.
#[pyfunction]
#[pyo3(signature = (root="/"))]
pub fn free_memory(root: &str) -> Option<u64> {
    free_under(Path::new(root))
}
