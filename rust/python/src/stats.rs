//! Semantic statistics over coded columns.

use nominym_core::stats::distance::{self, Matrix};
use nominym_core::stats::joint::{self as core_joint, Joint};
use nominym_core::stats::marginality;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::control::run;
use crate::taxonomy::Graph;

type Column<'py, T> = Bound<'py, PyArray1<T>>;

/// Counts of the values of a coded column.
#[pyfunction]
#[pyo3(signature = (codes, categories, progress=None))]
pub fn counts<'py>(
    py: Python<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    categories: usize,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Column<'py, u64>> {
    let codes = codes.as_slice()?;
    Ok(run(py, progress, |control| core_joint::counts(codes, categories, control))?.into_pyarray(py))
}

/// Pairs of values of two coded columns that occur: codes of both and counts.
#[pyfunction]
#[pyo3(signature = (x, y, categories, progress=None))]
pub fn joint<'py>(
    py: Python<'py>,
    x: PyReadonlyArray1<'py, u32>,
    y: PyReadonlyArray1<'py, u32>,
    categories: (usize, usize),
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Column<'py, u32>, Column<'py, u32>, Column<'py, u64>)> {
    let (x, y) = (x.as_slice()?, y.as_slice()?);
    let found = run(py, progress, |control| Joint::new(x, y, categories, control))?;
    Ok((found.x.into_pyarray(py), found.y.into_pyarray(py), found.count.into_pyarray(py)))
}

/// Mean product of double-centred distances, from the occurring pairs (ordered as `joint` gives them).
#[pyfunction]
#[pyo3(signature = (x, y, count, a, b, progress=None))]
pub fn covariance_squared<'py>(
    py: Python<'py>,
    x: PyReadonlyArray1<'py, u32>,
    y: PyReadonlyArray1<'py, u32>,
    count: PyReadonlyArray1<'py, u64>,
    a: PyReadonlyArray2<'py, f64>,
    b: PyReadonlyArray2<'py, f64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<f64> {
    let categories = (a.as_array().nrows(), b.as_array().nrows());
    let (a, b) = (a.as_slice()?, b.as_slice()?);
    let joint =
        Joint { x: x.as_slice()?.to_vec(), y: y.as_slice()?.to_vec(), count: count.as_slice()?.to_vec(), categories };
    run(py, progress, |control| {
        let (a, b) = (Matrix::new(a, categories.0)?, Matrix::new(b, categories.1)?);
        distance::covariance_squared(&joint, a, b, control)
    })
}

/// Marginality of a sample in a tree.
#[pyclass(frozen, module = "nominym._core")]
pub struct Marginality {
    core: marginality::Marginality,
    graph: Py<Graph>,
}

#[pymethods]
impl Marginality {
    #[new]
    fn new(py: Python<'_>, graph: Py<Graph>, counts: PyReadonlyArray1<'_, u64>) -> PyResult<Self> {
        let (tree, counts) = (graph.get().core(), counts.as_slice()?);
        let core = run(py, None, |_| marginality::Marginality::new(tree, counts))?;
        Ok(Self { core, graph })
    }

    /// By concept.
    #[getter]
    fn of<'py>(&self, py: Python<'py>) -> Column<'py, f64> {
        PyArray1::from_slice(py, &self.core.of)
    }

    /// Weighted path lengths of pairs of concepts.
    #[pyo3(signature = (a, b, progress=None))]
    fn distances<'py>(
        &self,
        py: Python<'py>,
        a: PyReadonlyArray1<'py, u32>,
        b: PyReadonlyArray1<'py, u32>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Column<'py, f64>> {
        let graph = self.graph.get();
        let (a, b) = (graph.concepts(&a)?, graph.concepts(&b)?);
        let found = run(py, progress, |control| self.core.distances(graph.core(), a, b, control))?;
        Ok(found.into_pyarray(py))
    }
}

/// Base, number of values, and the sums of digits.
type DigitSums = (u64, u64, Vec<(u128, u128)>);

/// Base, number of values, and per position (least significant first) sum and sum of squares of label digits.
#[pyfunction]
pub fn digits(py: Python<'_>, graph: &Graph, counts: PyReadonlyArray1<'_, u64>) -> PyResult<DigitSums> {
    let (tree, counts) = (graph.core(), counts.as_slice()?);
    let found = run(py, None, |_| marginality::digits(tree, counts))?;
    Ok((found.base, found.records, found.sums))
}
