//! Random numbers for noise and for synthetic data.

use nominym_core::rng::{Stream, Streams, normal, uniform};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::array::array;
use crate::control::run;

type Drawn<'py> = PyResult<Bound<'py, PyArray1<f64>>>;

fn draw_from(py: Python<'_>, n: usize, seed: Option<u64>, stream: Stream) -> Drawn<'_> {
    array(py, run(py, None, |control| uniform(n, &Streams::new(seed)?, stream, control))?)
}

/// Independent draws from the standard normal distribution, for the errors of a column.
#[pyfunction]
pub fn draw_normal(py: Python<'_>, n: usize, seed: Option<u64>, column: u32) -> Drawn<'_> {
    let stream = Stream::NoiseNormal(column);
    array(py, run(py, None, |control| normal(n, &Streams::new(seed)?, stream, control))?)
}

/// Independent uniform draws from [0, 1), for the spread of the errors of a column.
#[pyfunction]
pub fn draw_spread(py: Python<'_>, n: usize, seed: Option<u64>, column: u32) -> Drawn<'_> {
    draw_from(py, n, seed, Stream::NoiseSpread(column))
}

/// Independent uniform draws from [0, 1), for the choice of new values of a column.
#[pyfunction]
pub fn draw_uniform(py: Python<'_>, n: usize, seed: Option<u64>, column: u32) -> Drawn<'_> {
    draw_from(py, n, seed, Stream::NoiseChoice { column, part: 0 })
}

/// Independent uniform draws from [0, 1), for one part of a synthetic dataset.
#[pyfunction]
pub fn draw_synthetic(py: Python<'_>, n: usize, seed: Option<u64>, part: u32) -> Drawn<'_> {
    draw_from(py, n, seed, Stream::Synthetic(part))
}
