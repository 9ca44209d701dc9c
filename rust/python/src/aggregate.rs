//! What stands for the values of groups.

use nominym_core::aggregate::{self, Contents, concepts, labels, line};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::array::array;
use crate::control::{guard, run};
use crate::itemsets::Sets;
use crate::taxonomy::Graph;

type Column<'py> = Bound<'py, PyArray1<u32>>;
type Numbers<'py> = PyReadonlyArray1<'py, u32>;
/// Where the values of each group begin, the values, and the records of each.
type Cells<'py> = (PyReadonlyArray1<'py, u64>, Numbers<'py>, PyReadonlyArray1<'py, u64>);

fn contents<'a>(cells: &'a Cells<'_>, most: usize) -> PyResult<Contents<'a>> {
    let (starts, values, counts) = (cells.0.as_slice()?, cells.1.as_slice()?, cells.2.as_slice()?);
    guard(|| Contents::new(starts, values, counts, most))
}

/// The concept of least squared distance to those in each group.
#[pyfunction]
#[pyo3(signature = (graph, cells, measure, content=None, progress=None))]
pub fn mean_concepts<'py>(
    py: Python<'py>,
    graph: &Graph,
    cells: Cells<'py>,
    measure: &str,
    content: Option<PyReadonlyArray1<'py, f64>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Column<'py>> {
    let contents = contents(&cells, graph.core().len())?;
    let measure = graph.measure(measure, content.as_ref())?;
    array(py, run(py, progress, |control| concepts::means(graph.core(), contents, &measure, control))?)
}

/// The least common subsumer of the concepts in each group.
#[pyfunction]
#[pyo3(signature = (graph, cells, progress=None))]
pub fn common_concepts<'py>(
    py: Python<'py>,
    graph: &Graph,
    cells: Cells<'py>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Column<'py>> {
    let contents = contents(&cells, graph.core().len())?;
    array(py, run(py, progress, |control| concepts::subsumers(graph.core(), contents, control))?)
}

/// The label of least squared distance to the values in each group, given the distances from each value, a row, to all labels,
/// and the label that each value is.
#[pyfunction]
#[pyo3(signature = (distances, own, cells, progress=None))]
pub fn mean_labels<'py>(
    py: Python<'py>,
    distances: PyReadonlyArray2<'py, f64>,
    own: Numbers<'py>,
    cells: Cells<'py>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Column<'py>> {
    let (distances, own) = (distances.as_slice()?, own.as_slice()?);
    let contents = contents(&cells, own.len())?;
    array(py, run(py, progress, |control| labels(distances, own, contents, control))?)
}

/// The items that more than half of the sets in each group have, ties by `common`, or without it all of them.
#[pyfunction]
#[pyo3(signature = (sets, cells, common=None, progress=None))]
pub fn vote_cells<'py>(
    py: Python<'py>,
    sets: &Sets,
    cells: Cells<'py>,
    common: Option<PyReadonlyArray1<'py, bool>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Sets> {
    let contents = contents(&cells, sets.core().n())?;
    let common = common.as_ref().map(|common| common.as_slice()).transpose()?;
    run(py, progress, |control| aggregate::sets::votes(sets.core(), contents, common, control)).map(Sets::new)
}

/// The sizes of the best groups of at least `k` numbers in ascending order.
#[pyfunction]
#[pyo3(signature = (numbers, k, progress=None))]
pub fn cut_line<'py>(
    py: Python<'py>,
    numbers: PyReadonlyArray1<'py, f64>,
    k: usize,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Column<'py>> {
    let numbers = numbers.as_slice()?;
    array(py, run(py, progress, |control| line::cut(numbers, k, control))?)
}
