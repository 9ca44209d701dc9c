//! Orders, graphs and assignments of set-valued records.

use std::time::Duration;

use nominym_core::error::{Error, Result};
use nominym_core::groups::{Effort, itemsets as groups};
use nominym_core::itemsets::assign::{self, Graph};
use nominym_core::itemsets::{cahd, diverse, order};
use nominym_core::lists::Lists;
use nominym_core::memory::require;
use nominym_core::rng::Streams;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::array::{array, array_of, copied, rows};
use crate::control::{guard, run};
use crate::groups::numbered;
use crate::itemsets::Sets;

type Column<'py> = Bound<'py, PyArray1<u32>>;
type Numbers<'py> = PyReadonlyArray1<'py, u32>;
/// All assignments, one a row, and the number of the one that was drawn; or that one alone.
type Drawn<'py> = (Option<(Bound<'py, PyArray2<u32>>, usize)>, Column<'py>);

/// Candidates that CAHD looks at for each place in a group, as its authors do.
const CANDIDATES: usize = 3;

/// The Gray order of the records.
#[pyfunction]
#[pyo3(signature = (sets, columns=None, progress=None))]
pub fn order_gray<'py>(
    py: Python<'py>,
    sets: &Sets,
    columns: Option<Numbers<'py>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Column<'py>> {
    let columns = columns.as_ref().map(|columns| columns.as_slice()).transpose()?;
    array(py, run(py, progress, |control| order::gray_order(sets.core(), columns, control))?)
}

/// The Gray order with a short path in each segment.
#[pyfunction]
#[pyo3(signature = (sets, shortest, longest, seed, progress=None))]
pub fn order_gray_tsp<'py>(
    py: Python<'py>,
    sets: &Sets,
    shortest: usize,
    longest: usize,
    seed: Option<u64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Column<'py>> {
    let found = run(py, progress, |control| {
        order::gray_tsp_order(sets.core(), (shortest, longest), &Streams::new(seed)?, control)
    })?;
    array(py, found)
}

/// An order with a small expected error for rings of `k`.
#[pyfunction]
#[pyo3(signature = (sets, k, seed, progress=None))]
pub fn order_best<'py>(
    py: Python<'py>,
    sets: &Sets,
    k: usize,
    seed: Option<u64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Column<'py>> {
    let found = run(py, progress, |control| order::best_order(sets.core(), k, &Streams::new(seed)?, control))?;
    array(py, found)
}

/// An order in which like records follow each other, cluster by cluster.
#[pyfunction]
#[pyo3(signature = (sets, seed, progress=None))]
pub fn order_tree<'py>(
    py: Python<'py>,
    sets: &Sets,
    seed: Option<u64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Column<'py>> {
    let found = run(py, progress, |control| order::tree_order(sets.core(), &Streams::new(seed)?, control))?;
    array(py, found)
}

/// Sum of the distances between consecutive records of an order.
#[pyfunction]
pub fn tour_length(py: Python<'_>, sets: &Sets, order: Numbers<'_>, cyclic: bool) -> PyResult<u64> {
    let order = order.as_slice()?;
    run(py, None, |_| Ok(order::tour_length(sets.core(), order, cyclic)))
}

/// Draws an assignment from a ring of `k` along an order.
#[pyfunction]
#[pyo3(signature = (order, k, method, seed, progress=None))]
pub fn assign_ring<'py>(
    py: Python<'py>,
    order: Numbers<'py>,
    k: usize,
    method: &str,
    seed: Option<u64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Drawn<'py>> {
    let order = order.as_slice()?;
    draw(py, method, seed, progress, || Graph::ring(copied(order)?, k))
}

/// Matches each record with nodes of `l` different labels, near to it in an order: disjoint assignments, one a row.
#[pyfunction]
#[pyo3(signature = (sets, order, labels, l, seed, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn match_diverse<'py>(
    py: Python<'py>,
    sets: &Sets,
    order: Numbers<'py>,
    labels: Numbers<'py>,
    l: usize,
    seed: Option<u64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let (order, labels) = (order.as_slice()?, labels.as_slice()?);
    let found = run(py, progress, |control| {
        diverse::greedy_walk(sets.core(), order, labels, l, &Streams::new(seed)?, control)
    })?;
    table(py, &found)
}

/// Draws an assignment from the matches of all assignments of a table, of records that stand in an order.
#[pyfunction]
#[pyo3(signature = (assignments, order, method, seed, progress=None))]
pub fn assign_matches<'py>(
    py: Python<'py>,
    assignments: PyReadonlyArray2<'py, u32>,
    order: Numbers<'py>,
    method: &str,
    seed: Option<u64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Drawn<'py>> {
    let order = order.as_slice()?;
    let assignments = rows(&assignments)?;
    draw(py, method, seed, progress, || Graph::union(&assignments, copied(order)?))
}

/// Draws an assignment from a graph; all assignments, where the method extracts them.
fn draw<'py>(
    py: Python<'py>,
    method: &str,
    seed: Option<u64>,
    progress: Option<&Bound<'py, PyAny>>,
    graph: impl FnOnce() -> Result<Graph> + Send,
) -> PyResult<Drawn<'py>> {
    let (all, chosen) = run(py, progress, |control| {
        let (graph, streams) = (graph()?, Streams::new(seed)?);
        let all = match method {
            "split" => return Ok((vec![assign::split(&graph, &streams, control)?], None)),
            "augment" => assign::augment(&graph, &streams, control)?,
            "closed-walk" => assign::closed_walk(&graph, &streams, control)?,
            "wmc" => assign::wmc(&graph, &streams, control)?,
            other => return Err(Error::Parameter(format!("no method {other:?}"))),
        };
        let chosen = assign::choose(all.len(), &streams)?;
        Ok((all, Some(chosen)))
    })?;
    let drawn = array_of(py, &all[chosen.unwrap_or(0)])?;
    let everything = chosen.map(|chosen| Ok::<_, PyErr>((table(py, &all)?, chosen))).transpose()?;
    Ok((everything, drawn))
}

/// Assignments as the rows of an array.
fn table<'py>(py: Python<'py>, assignments: &[Vec<u32>]) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let shape = (assignments.len(), assignments.first().map_or(0, Vec::len));
    let cells = guard(|| {
        require(size_of::<u32>() * shape.0 * shape.1, "a table of assignments")?;
        Ok(assignments.concat())
    })?;
    array(py, cells)?.reshape(shape)
}

/// Groups of `least` or more records that are alike, with different labels if there are labels; the group of each record.
#[pyfunction]
#[pyo3(signature = (sets, order, least, labels, effort, limit, seed, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn group_alike<'py>(
    py: Python<'py>,
    sets: &Sets,
    order: Numbers<'py>,
    least: usize,
    labels: Option<Numbers<'py>>,
    effort: &str,
    limit: Option<f64>,
    seed: Option<u64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Column<'py>> {
    let order = order.as_slice()?;
    let labels = labels.as_ref().map(|labels| labels.as_slice()).transpose()?;
    let core = sets.core();
    let found = run(py, progress, |control| {
        let mut effort = match effort {
            "none" => Effort::NONE,
            "usual" => groups::usual_effort(core.n()),
            "long" => groups::long_effort(core.n()),
            other => return Err(Error::Parameter(format!("no effort {other:?}"))),
        };
        effort.limit =
            limit.map(Duration::try_from_secs_f64).transpose().map_err(|e| Error::Parameter(e.to_string()))?;
        let streams = Streams::new(seed)?;
        match labels {
            Some(labels) => numbered(&groups::diverse(core, labels, order, least, effort, &streams, control)?),
            None => numbered(&groups::partition(core, order, least, effort, &streams, control)?),
        }
    })?;
    array(py, found)
}

/// Groups of consecutive records, as the baseline CAHD forms them; the group of each record.
#[pyfunction]
#[pyo3(signature = (sets, order, least, labels, progress=None))]
pub fn group_along<'py>(
    py: Python<'py>,
    sets: &Sets,
    order: Numbers<'py>,
    least: usize,
    labels: Option<Numbers<'py>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Column<'py>> {
    let order = order.as_slice()?;
    let labels = labels.as_ref().map(|labels| labels.as_slice()).transpose()?;
    let found = run(py, progress, |control| match labels {
        Some(labels) => numbered(&cahd::cahd(sets.core(), order, labels, least, CANDIDATES, control)?),
        None => numbered(&cahd::blocks(order, least)?),
    })?;
    array(py, found)
}

/// Draws an assignment that stays inside groups, given as the group of each record.
#[pyfunction]
#[pyo3(signature = (group_of, seed, progress=None))]
pub fn assign_groups<'py>(
    py: Python<'py>,
    group_of: Numbers<'py>,
    seed: Option<u64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Column<'py>> {
    let group_of = group_of.as_slice()?;
    let drawn = run(py, progress, |control| {
        assign::within(&Lists::by_group(group_of, None)?, group_of.len(), &Streams::new(seed)?, control)
    })?;
    array(py, drawn)
}
