//! Random draws for synthetic data and for errors.

use nominym_core::rng::{Streams, normal, uniform};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::control::run;

/// Independent uniform draws from [0, 1).
#[pyfunction]
pub fn draw_uniform(py: Python<'_>, n: usize, seed: Option<u64>, stream: u32) -> PyResult<Bound<'_, PyArray1<f64>>> {
    let drawn = run(py, None, |control| uniform(n, &Streams::new(seed)?, stream, control))?;
    Ok(drawn.into_pyarray(py))
}

/// Independent draws from the standard normal distribution.
#[pyfunction]
pub fn draw_normal(py: Python<'_>, n: usize, seed: Option<u64>, stream: u32) -> PyResult<Bound<'_, PyArray1<f64>>> {
    let drawn = run(py, None, |control| normal(n, &Streams::new(seed)?, stream, control))?;
    Ok(drawn.into_pyarray(py))
}
