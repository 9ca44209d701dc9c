//! Distortion of joint distributions of coded columns.

use nominym_core::coded::Coded;
use nominym_core::distortion::compare;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::control::run;
use crate::error::raise;

/// Hellinger distance, total variation distance, change of entropy, and of V and C where there are two columns.
type Figures = (f64, f64, f64, Option<(f64, f64)>);

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
    if before.len() != categories.len() || after.len() != categories.len() {
        return Err(raise("ParameterError", "one number of categories for each column is needed", vec![]));
    }
    let (before, after) = (coded(&before, &categories)?, coded(&after, &categories)?);
    let found = run(py, progress, |control| compare(&before, &after, &sets, control))?;
    Ok(found.into_iter().map(|c| (c.hellinger, c.total_variation, c.entropy, c.association)).collect())
}

fn coded<'a>(columns: &'a [PyReadonlyArray1<'_, u32>], categories: &[usize]) -> PyResult<Vec<Coded<'a>>> {
    let columns = columns.iter().zip(categories);
    columns.map(|(codes, &categories)| Ok(Coded { codes: codes.as_slice()?, categories })).collect()
}
