//! Semantic statistics over coded columns.

use nominym_core::control::Control;
use nominym_core::stats::distance;
use nominym_core::stats::joint::{self as core_joint, Joint};
use nominym_core::stats::marginality;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::array::{array, array_of, copied};
use crate::control::{guard, run};
use crate::meaning::Measured;
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
    let found = if codes.len() <= core_joint::FEW {
        guard(|| core_joint::counts(codes, categories, &Control::new()))?
    } else {
        run(py, progress, |control| core_joint::counts(codes, categories, control))?
    };
    array(py, found)
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
    Ok((array(py, found.x)?, array(py, found.y)?, array(py, found.count)?))
}

/// Mean product of double-centred distances, from the occurring pairs (ordered as `joint` gives them).
#[pyfunction]
#[pyo3(signature = (x, y, count, a, b, progress=None))]
pub fn covariance_squared<'py>(
    py: Python<'py>,
    x: PyReadonlyArray1<'py, u32>,
    y: PyReadonlyArray1<'py, u32>,
    count: PyReadonlyArray1<'py, u64>,
    a: Measured<'py>,
    b: Measured<'py>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<f64> {
    let (a, b) = (a.core()?, b.core()?);
    let categories = (a.categories(), b.categories());
    let (x, y, count) = (x.as_slice()?, y.as_slice()?, count.as_slice()?);
    run(py, progress, |control| {
        let joint = Joint { x: copied(x)?, y: copied(y)?, count: copied(count)?, categories };
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
    fn of<'py>(&self, py: Python<'py>) -> PyResult<Column<'py, f64>> {
        array_of(py, &self.core.of)
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
        array(py, found)
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
