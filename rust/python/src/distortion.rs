//! Distortion of joint distributions of coded columns.

use nominym_core::coded::Coded;
use nominym_core::distortion::{compare, distinct};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::array::array;
use crate::control::run;
use crate::error::raise;

/// Hellinger distance, total variation distance, change of entropy, and of V and C where there are two columns; mean squared
/// error of the propensity score, and the number of tuples that occur.
type Figures = (f64, f64, f64, Option<(f64, f64)>, f64, usize);

type Column<'py> = Bound<'py, PyArray1<u32>>;

/// The measures for each set of columns; both tables have the same categories, a missing value is one more.
#[pyfunction]
#[pyo3(signature = (before, after, categories, sets, progress=None))]
pub fn distortions<'py>(
    py: Python<'py>,
    before: Vec<PyReadonlyArray1<'py, u32>>,
    after: Vec<PyReadonlyArray1<'py, u32>>,
    categories: Vec<usize>,
    sets: Vec<Vec<usize>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Figures>> {
    let (before, after) = (coded(&before, &categories)?, coded(&after, &categories)?);
    let found = run(py, progress, |control| compare(&before, &after, &sets, control))?;
    let figures = found.into_iter();
    Ok(figures.map(|c| (c.hellinger, c.total_variation, c.entropy, c.association, c.propensity, c.cells)).collect())
}

/// The distinct tuples of two tables: the category of each column in them, and their records before and after.
#[pyfunction]
#[pyo3(signature = (before, after, categories, progress=None))]
pub fn distinct_tuples<'py>(
    py: Python<'py>,
    before: Vec<PyReadonlyArray1<'py, u32>>,
    after: Vec<PyReadonlyArray1<'py, u32>>,
    categories: Vec<usize>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Vec<Column<'py>>, Column<'py>, Column<'py>)> {
    let (before, after) = (coded(&before, &categories)?, coded(&after, &categories)?);
    let found = run(py, progress, |control| distinct(&before, &after, control))?;
    let codes = found.codes.into_iter().map(|codes| array(py, codes)).collect::<PyResult<_>>()?;
    Ok((codes, array(py, found.before)?, array(py, found.after)?))
}

fn coded<'a>(columns: &'a [PyReadonlyArray1<'_, u32>], categories: &[usize]) -> PyResult<Vec<Coded<'a>>> {
    if columns.len() != categories.len() {
        return Err(raise("ParameterError", "one number of categories for each column is needed", vec![]));
    }
    let columns = columns.iter().zip(categories);
    columns.map(|(codes, &categories)| Ok(Coded { codes: codes.as_slice()?, categories })).collect()
}
