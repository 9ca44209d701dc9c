//! Random draws for synthetic data.

use nominym_core::rng::{Streams, categories, uniform};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::control::run;

/// Independent draws of categories with probabilities proportional to the weights.
#[pyfunction]
pub fn draw_categories<'py>(
    py: Python<'py>,
    weights: PyReadonlyArray1<'py, f64>,
    n: usize,
    seed: Option<u64>,
    stream: u32,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let weights = weights.as_slice()?;
    let drawn = run(py, None, |control| categories(weights, n, &Streams::new(seed)?, stream, control))?;
    Ok(drawn.into_pyarray(py))
}

/// Independent uniform draws from [0, 1).
#[pyfunction]
pub fn draw_uniform(py: Python<'_>, n: usize, seed: Option<u64>, stream: u32) -> PyResult<Bound<'_, PyArray1<f64>>> {
    let drawn = run(py, None, |control| uniform(n, &Streams::new(seed)?, stream, control))?;
    Ok(drawn.into_pyarray(py))
}
