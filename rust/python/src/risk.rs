//! Attacks on releases of coded columns.

use nominym_core::error::{Error, Result};
use nominym_core::risk::linkage::{Known, Tied, link};
use nominym_core::risk::{classes, sample};
use nominym_core::rng::Streams;
use nominym_core::tuples::Codes;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::control::run;

type Column<'py, T> = Bound<'py, PyArray1<T>>;
type Numbers<'py> = PyReadonlyArray1<'py, u32>;
type Distances<'py> = PyReadonlyArray2<'py, f64>;

/// Numbers of nearest rows, how many targets have each, and how many of these have their own row among them.
type Linked<'py> = (Column<'py, u32>, Column<'py, u64>, Column<'py, u64>);

/// Links targets with the nearest rows of a release by columns with the same categories; `own` are their true rows.
#[pyfunction]
#[pyo3(signature = (targets, release, distances, own, progress=None))]
pub fn link_records<'py>(
    py: Python<'py>,
    targets: Vec<Numbers<'py>>,
    release: Vec<Numbers<'py>>,
    distances: Vec<Distances<'py>>,
    own: Numbers<'py>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Linked<'py>> {
    let columns = targets.iter().zip(&release).zip(&distances);
    let known = columns.map(|((targets, release), distances)| {
        let (targets, release, categories) = (targets.as_slice()?, release.as_slice()?, distances.as_array().nrows());
        Ok(Known { targets, release, distances: distances.as_slice()?, categories })
    });
    let known = known.collect::<PyResult<Vec<_>>>()?;
    let own = own.as_slice()?;
    let same = (targets.len(), targets.len()) == (release.len(), distances.len());
    let tied = run(py, progress, |control| -> Result<Vec<Tied>> {
        if !same {
            return Err(Error::Parameter("targets, release and distances for each column are needed".into()));
        }
        link(&known, own, control)
    })?;
    Ok((
        tied.iter().map(|t| t.rows).collect::<Vec<_>>().into_pyarray(py),
        tied.iter().map(|t| t.targets).collect::<Vec<_>>().into_pyarray(py),
        tied.iter().map(|t| t.hits).collect::<Vec<_>>().into_pyarray(py),
    ))
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
    Ok((sizes.into_pyarray(py), counts.into_pyarray(py)))
}

/// Some of `n` records, drawn without replacement, in ascending order.
#[pyfunction]
pub fn draw_sample(py: Python<'_>, n: u32, size: u32, seed: Option<u64>) -> PyResult<Column<'_, u32>> {
    Ok(run(py, None, |_| sample::draw(n, size, &Streams::new(seed)?))?.into_pyarray(py))
}
