//! What the categories of a column mean, as it arrives from Python.

use nominym_core::meaning::{Meaning, Tree};
use nominym_core::tuples::Attribute;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::array::array;
use crate::control::guard;
use crate::error::raise;

/// Categories that are concepts of a tree.
#[pyclass(frozen, module = "nominym._core")]
pub struct Concepts {
    core: Tree,
}

impl Concepts {
    pub fn new(core: Tree) -> Self {
        Self { core }
    }
}

#[pymethods]
impl Concepts {
    /// Number of categories.
    fn __len__(&self) -> usize {
        self.core.categories()
    }
}

/// A square matrix of distances; positions on a line, NaN for what is missing; numbers that are equal or not; concepts.
#[derive(FromPyObject)]
pub enum Given<'py> {
    Matrix(PyReadonlyArray2<'py, f64>),
    Line(PyReadonlyArray1<'py, f64>),
    Equality(PyReadonlyArray1<'py, u32>),
    Tree(Bound<'py, Concepts>),
}

impl Given<'_> {
    pub fn core(&self) -> PyResult<Meaning<'_>> {
        match self {
            Self::Matrix(matrix) => {
                let (cells, rows) = (matrix.as_slice()?, matrix.as_array().nrows());
                guard(|| Meaning::matrix(cells, rows))
            }
            Self::Line(positions) => {
                let positions = positions.as_slice()?;
                guard(|| Meaning::line(positions))
            }
            Self::Equality(numbers) => Ok(Meaning::Equality(numbers.as_slice()?)),
            Self::Tree(tree) => Ok(Meaning::Tree(&tree.get().core)),
        }
    }
}

/// The distances of pairs of categories.
#[pyfunction]
pub fn category_distances<'py>(
    py: Python<'py>,
    distances: Given<'py>,
    a: PyReadonlyArray1<'py, u32>,
    b: PyReadonlyArray1<'py, u32>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (meaning, a, b) = (distances.core()?, a.as_slice()?, b.as_slice()?);
    array(py, guard(|| meaning.pairs(a, b))?)
}

/// Columns that are masked together.
pub fn attributes<'a>(
    codes: &'a [PyReadonlyArray1<'_, u32>],
    meanings: &'a [Given<'_>],
    missing: impl Iterator<Item = Option<u32>>,
) -> PyResult<Vec<Attribute<'a>>> {
    if codes.len() != meanings.len() {
        return Err(raise("ParameterError", "codes and distances for each column are needed", vec![]));
    }
    let columns = codes.iter().zip(meanings).zip(missing);
    columns
        .map(|((codes, meaning), missing)| {
            Ok(Attribute { codes: codes.as_slice()?, meaning: meaning.core()?, missing })
        })
        .collect()
}
