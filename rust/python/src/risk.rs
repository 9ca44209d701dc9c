//! Attacks on releases of coded columns.

use nominym_core::error::{Error, Result};
use nominym_core::risk::linkage::{Known, Linked, Sides, link};
use nominym_core::risk::{classes, sample};
use nominym_core::rng::Streams;
use nominym_core::tuples::Codes;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::array::array;
use crate::control::run;
use crate::meaning::Given;

type Column<'py, T> = Bound<'py, PyArray1<T>>;
type Numbers<'py> = PyReadonlyArray1<'py, u32>;

/// Mean distance, number of the nearest rows, and how many of these are the target's own, for each target.
type Nearest<'py> = (Column<'py, f64>, Column<'py, u32>, Column<'py, u32>);

/// Links targets with the nearest rows of a release by columns with the same categories. Only rows with the cell of the
/// target come into question, if there are cells: those of the targets and those of the rows.
#[pyfunction]
#[pyo3(signature = (targets, release, distances, owner, owner_of_row, progress=None, cells=None))]
#[allow(clippy::too_many_arguments)]
pub fn link_records<'py>(
    py: Python<'py>,
    targets: Vec<Numbers<'py>>,
    release: Vec<Numbers<'py>>,
    distances: Vec<Given<'py>>,
    owner: Numbers<'py>,
    owner_of_row: Numbers<'py>,
    progress: Option<&Bound<'py, PyAny>>,
    cells: Option<(Numbers<'py>, Numbers<'py>)>,
) -> PyResult<Nearest<'py>> {
    let columns = targets.iter().zip(&release).zip(&distances);
    let known = columns.map(|((targets, release), distances)| {
        let meaning = distances.core()?;
        Ok(Known { targets: targets.as_slice()?, release: release.as_slice()?, meaning })
    });
    let known = known.collect::<PyResult<Vec<_>>>()?;
    let owners = Sides { targets: owner.as_slice()?, release: owner_of_row.as_slice()? };
    let cells = match &cells {
        Some((targets, release)) => Some(Sides { targets: targets.as_slice()?, release: release.as_slice()? }),
        None => None,
    };
    let same = (targets.len(), targets.len()) == (release.len(), distances.len());
    let Linked { distance, ties, hits } = run(py, progress, |control| -> Result<Linked> {
        if !same {
            return Err(Error::Parameter("targets, release and distances for each column are needed".into()));
        }
        link(&known, owners, cells, control)
    })?;
    Ok((array(py, distance)?, array(py, ties)?, array(py, hits)?))
}

/// Sizes of the classes of records with equal tuples, and how many classes have each; codes and number of categories.
#[pyfunction]
#[pyo3(signature = (columns, progress=None))]
pub fn class_sizes<'py>(
    py: Python<'py>,
    columns: Vec<(Numbers<'py>, usize)>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Column<'py, u32>, Column<'py, u64>)> {
    let columns = columns.iter().map(|(codes, categories)| Ok((codes.as_slice()?, *categories)));
    let columns = columns.collect::<PyResult<Vec<Codes<'_>>>>()?;
    let (sizes, counts): (Vec<_>, Vec<_>) =
        run(py, progress, |control| classes::sizes(&columns, control))?.into_iter().unzip();
    Ok((array(py, sizes)?, array(py, counts)?))
}

/// Some of `n` records, drawn without replacement, in ascending order.
#[pyfunction]
pub fn draw_sample(py: Python<'_>, n: u32, size: u32, seed: Option<u64>) -> PyResult<Column<'_, u32>> {
    array(py, run(py, None, |_| sample::draw(n, size, &Streams::new(seed)?))?)
}
