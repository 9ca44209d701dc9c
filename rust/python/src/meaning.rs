//! What the categories of a column mean, as it arrives from Python.

use nominym_core::meaning::{Meaning, Tree};
use nominym_core::stats::distance::Distances;
use nominym_core::taxonomy::Measure;
use nominym_core::tuples::Attribute;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::control::guard;
use crate::error::raise;
use crate::taxonomy::Graph;

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

/// Categories that are concepts of any taxonomy, to be measured row by row.
#[pyclass(frozen, module = "nominym._core")]
pub struct ConceptRows {
    graph: Py<Graph>,
    concepts: Vec<u32>,
    measure: Measure,
}

impl ConceptRows {
    pub fn new(graph: Py<Graph>, concepts: Vec<u32>, measure: Measure) -> Self {
        Self { graph, concepts, measure }
    }
}

#[pymethods]
impl ConceptRows {
    /// Number of categories.
    fn __len__(&self) -> usize {
        self.concepts.len()
    }
}

/// Distances for a covariance: all that a column may have, or rows where no matrix fits.
#[derive(FromPyObject)]
pub enum Measured<'py> {
    Rows(Bound<'py, ConceptRows>),
    Given(Given<'py>),
}

impl Measured<'_> {
    pub fn core(&self) -> PyResult<Distances<'_>> {
        Ok(match self {
            Self::Rows(rows) => {
                let ConceptRows { graph, concepts, measure } = rows.get();
                Distances::Rows { taxonomy: graph.get().core(), concepts, measure }
            }
            Self::Given(given) => Distances::Meaning(given.core()?),
        })
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
