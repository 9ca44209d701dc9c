//! Semantic noise on coded columns.

use nominym_core::noise::exponential::exponential;
use nominym_core::noise::shift::{Reference, shift};
use nominym_core::noise::{Column, Domain};
use nominym_core::rng::Streams;
use nominym_core::taxonomy::Measure;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::array::array;
use crate::control::run;
use crate::error::raise;
use crate::taxonomy::Graph;

/// What may replace a value: a taxonomy or a matrix.
#[derive(FromPyObject)]
pub enum Given<'py> {
    Graph(Py<Graph>),
    Matrix(PyReadonlyArray2<'py, f64>),
}

/// One concept, or one for each record.
#[derive(FromPyObject)]
pub enum Towards<'py> {
    Concept(u32),
    Each(PyReadonlyArray1<'py, u32>),
}

/// Gives `work` the domain that was given.
fn with<T>(
    given: &Given<'_>,
    measure: &str,
    content: Option<&PyReadonlyArray1<'_, f64>>,
    work: impl FnOnce(Domain<'_>) -> PyResult<T>,
) -> PyResult<T> {
    match given {
        Given::Graph(graph) => {
            let graph = graph.get();
            let measure: Measure = graph.measure(measure, content)?;
            work(Domain::Taxonomy(graph.core(), &measure))
        }
        Given::Matrix(cells) => {
            let size = cells.as_array().nrows();
            if cells.as_array().ncols() != size {
                return Err(raise("ParameterError", "a matrix of distances is square", vec![]));
            }
            work(Domain::Matrix(cells.as_slice()?, size))
        }
    }
}

/// Replaces values under given errors: concepts afterwards, errors not reached, errors whose direction was dropped.
#[pyfunction]
#[pyo3(signature = (domain, concepts, codes, errors, reference, measure, content, seed, column, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn shift_values<'py>(
    py: Python<'py>,
    domain: Given<'py>,
    concepts: PyReadonlyArray1<'py, u32>,
    codes: PyReadonlyArray1<'py, u32>,
    errors: PyReadonlyArray1<'py, f64>,
    reference: Towards<'py>,
    measure: &str,
    content: Option<PyReadonlyArray1<'py, f64>>,
    seed: Option<u64>,
    column: u32,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyArray1<u32>>, u64, u64)> {
    let (concepts, codes, errors) = (concepts.as_slice()?, codes.as_slice()?, errors.as_slice()?);
    let reference = match &reference {
        Towards::Concept(concept) => Reference::Concept(*concept),
        Towards::Each(each) => Reference::Each(each.as_slice()?),
    };
    let found = with(&domain, measure, content.as_ref(), |domain| {
        let values = Column { domain, concepts, codes };
        run(py, progress, |control| shift(values, errors, reference, &Streams::new(seed)?, column, control))
    })?;
    Ok((array(py, found.concepts)?, found.truncated, found.undirected))
}

/// Replaces values by the exponential mechanism: concepts afterwards.
#[pyfunction]
#[pyo3(signature = (domain, concepts, codes, epsilon, measure, content, seed, column, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn draw_values<'py>(
    py: Python<'py>,
    domain: Given<'py>,
    concepts: PyReadonlyArray1<'py, u32>,
    codes: PyReadonlyArray1<'py, u32>,
    epsilon: f64,
    measure: &str,
    content: Option<PyReadonlyArray1<'py, f64>>,
    seed: Option<u64>,
    column: u32,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let (concepts, codes) = (concepts.as_slice()?, codes.as_slice()?);
    let found = with(&domain, measure, content.as_ref(), |domain| {
        let values = Column { domain, concepts, codes };
        run(py, progress, |control| exponential(values, epsilon, &Streams::new(seed)?, column, control))
    })?;
    array(py, found)
}
