//! Arrays that Python gets: made without a copy, and only where there is memory for them.

use nominym_core::error::Result;
use nominym_core::memory::require;
use numpy::{Element, IntoPyArray, PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::error::exception;

/// Numbers that fit into memory that is there anyway.
const FEW: usize = 1 << 12;

/// A vector of the core as an array. Its numbers are not copied, but objects around them are made, which must not fail: what
/// makes them does not expect it.
pub fn array<T: Element>(py: Python<'_>, values: Vec<T>) -> PyResult<Bound<'_, PyArray1<T>>> {
    require(0, "a result").map_err(|e| exception(&e))?;
    Ok(values.into_pyarray(py))
}

/// An array of numbers that the core keeps. A few are handed out without a trial, which would take longer than they do.
pub fn array_of<'py, T: Element + Copy>(py: Python<'py>, values: &[T]) -> PyResult<Bound<'py, PyArray1<T>>> {
    let values = if values.len() < FEW { values.to_vec() } else { copied(values).map_err(|e| exception(&e))? };
    Ok(values.into_pyarray(py))
}

/// A copy of numbers.
pub fn copied<T: Copy>(values: &[T]) -> Result<Vec<T>> {
    require(size_of_val(values), "a copy of a column")?;
    Ok(values.to_vec())
}

/// The rows of a table.
pub fn rows(table: &PyReadonlyArray2<'_, u32>) -> PyResult<Vec<Vec<u32>>> {
    let table = table.as_array();
    require(size_of::<u32>() * table.len(), "a copy of a table").map_err(|e| exception(&e))?;
    Ok(table.rows().into_iter().map(|row| row.to_vec()).collect())
}
