//! Attacks that know more: the groups, the whole table, recodings, linked rows.

use nominym_core::error::{Error, Result};
use nominym_core::risk::matching::Column as Known;
use nominym_core::risk::recoding::Anchor;
use nominym_core::risk::{bundles, informed, matching, recoding};
use nominym_core::rng::Streams;
use nominym_core::tuples::Codes;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::array::array;
use crate::control::run;
use crate::meaning::Given;

type Column<'py, T> = Bound<'py, PyArray1<T>>;
type Numbers<'py> = PyReadonlyArray1<'py, u32>;

/// Codes and number of categories.
type Coded<'py> = (Numbers<'py>, usize);

/// Largest posterior, that of the own row, and the probability of a right guess, by record.
type Beliefs<'py> = (Column<'py, f64>, Column<'py, f64>, Column<'py, f64>);

fn codes<'a>(columns: &'a [Coded<'_>]) -> PyResult<Vec<Codes<'a>>> {
    columns.iter().map(|(codes, categories)| Ok((codes.as_slice()?, *categories))).collect()
}

fn slice<'a>(numbers: Option<&'a Numbers<'_>>) -> PyResult<Option<&'a [u32]>> {
    Ok(numbers.map(PyReadonlyArray1::as_slice).transpose()?)
}

/// Posterior probabilities of the best row and of the own row, and of a right guess, for each record of the groups.
#[pyfunction]
#[pyo3(signature = (masked, kept, group_of, progress=None, sampled=None))]
pub fn attack_informed<'py>(
    py: Python<'py>,
    masked: Vec<Coded<'py>>,
    kept: Vec<Coded<'py>>,
    group_of: Numbers<'py>,
    progress: Option<&Bound<'py, PyAny>>,
    sampled: Option<Numbers<'py>>,
) -> PyResult<Beliefs<'py>> {
    let (masked, kept, group_of) = (codes(&masked)?, codes(&kept)?, group_of.as_slice()?);
    let sampled = slice(sampled.as_ref())?;
    let found = run(py, progress, |control| informed::attack(&masked, &kept, group_of, sampled, control))?;
    Ok((array(py, found.best)?, array(py, found.own)?, array(py, found.hit)?))
}

/// People and the rows that the best matching of all of them gives each.
#[pyfunction]
#[pyo3(signature = (before, after, distances, size, seed, progress=None, group_of=None, cells=None, targets=None))]
#[allow(clippy::too_many_arguments)]
pub fn attack_matching<'py>(
    py: Python<'py>,
    before: Vec<Numbers<'py>>,
    after: Vec<Numbers<'py>>,
    distances: Vec<Given<'py>>,
    size: usize,
    seed: Option<u64>,
    progress: Option<&Bound<'py, PyAny>>,
    group_of: Option<Numbers<'py>>,
    cells: Option<Numbers<'py>>,
    targets: Option<Numbers<'py>>,
) -> PyResult<(Column<'py, u32>, Column<'py, u32>)> {
    let columns = before.iter().zip(&after).zip(&distances).map(|((before, after), distances)| {
        let meaning = distances.core()?;
        Ok(Known { before: before.as_slice()?, after: after.as_slice()?, meaning })
    });
    let columns = columns.collect::<PyResult<Vec<_>>>()?;
    let pools = [group_of.as_ref(), cells.as_ref()].into_iter().flatten().map(PyReadonlyArray1::as_slice);
    let pools = pools.collect::<std::result::Result<Vec<_>, _>>()?;
    let targets = slice(targets.as_ref())?;
    let same = (before.len(), before.len()) == (after.len(), distances.len());
    let found = run(py, progress, |control| -> Result<matching::Matched> {
        if !same {
            return Err(Error::Parameter("before, after and distances for each column are needed".into()));
        }
        matching::attack(&columns, &pools, size, targets, &Streams::new(seed)?, control)
    })?;
    Ok((array(py, found.people)?, array(py, found.rows)?))
}

/// The category before that each category after of renamed columns is taken to be; 2^32 - 1 for none.
#[pyfunction]
#[pyo3(signature = (before, after, anchors, seed, progress=None))]
pub fn attack_recoding<'py>(
    py: Python<'py>,
    before: Vec<Coded<'py>>,
    after: Vec<Coded<'py>>,
    anchors: Vec<(Numbers<'py>, Numbers<'py>, usize)>,
    seed: Option<u64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Column<'py, u32>>> {
    let (before, after) = (codes(&before)?, codes(&after)?);
    let anchors = anchors.iter().map(|(before, after, categories)| {
        Ok(Anchor { before: before.as_slice()?, after: after.as_slice()?, categories: *categories })
    });
    let anchors = anchors.collect::<PyResult<Vec<_>>>()?;
    let found =
        run(py, progress, |control| recoding::attack(&before, &after, &anchors, &Streams::new(seed)?, control))?;
    found.into_iter().map(|names| array(py, names)).collect()
}

/// How many units of a release are nearest to each target unit by all their rows, and whether the true one is among them.
#[pyfunction]
#[pyo3(signature = (before, after, unit_before, unit_after, units, targets=None, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn attack_bundles<'py>(
    py: Python<'py>,
    before: Vec<Coded<'py>>,
    after: Vec<Coded<'py>>,
    unit_before: Numbers<'py>,
    unit_after: Numbers<'py>,
    units: usize,
    targets: Option<Numbers<'py>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Column<'py, u32>, Column<'py, u32>)> {
    let (before, after) = (codes(&before)?, codes(&after)?);
    let unit_of = (unit_before.as_slice()?, unit_after.as_slice()?);
    let targets = slice(targets.as_ref())?;
    let found = run(py, progress, |control| bundles::attack(&before, &after, unit_of, units, targets, control))?;
    Ok((array(py, found.ties)?, array(py, found.hits)?))
}
