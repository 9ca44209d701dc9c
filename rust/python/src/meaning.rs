//! What the categories of a column mean, as it arrives from Python.

use nominym_core::control::Control;
use nominym_core::error::Result;
use nominym_core::meaning::{self, Dag, Meaning, Tree};
use nominym_core::stats::distance::Distances;
use nominym_core::taxonomy::{Measure, Taxonomy};
use nominym_core::tuples::Attribute;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::array::array;
use crate::control::guard;
use crate::error::raise;
use crate::itemsets::Sets;
use crate::taxonomy::Graph;

/// Categories that are concepts of a taxonomy.
#[pyclass(frozen, module = "nominym._core")]
pub struct Concepts {
    core: Placed,
}

enum Placed {
    Tree(Tree),
    Dag(Dag),
}

impl Concepts {
    pub fn new(taxonomy: &Taxonomy, concepts: &[u32], measure: &Measure, control: &Control) -> Result<Self> {
        let core = if taxonomy.is_tree() {
            Placed::Tree(Tree::new(taxonomy, concepts, measure)?)
        } else {
            Placed::Dag(Dag::new(taxonomy, concepts, measure, control)?)
        };
        Ok(Self { core })
    }

    fn meaning(&self) -> Meaning<'_> {
        match &self.core {
            Placed::Tree(tree) => Meaning::Tree(tree),
            Placed::Dag(dag) => Meaning::Dag(dag),
        }
    }
}

#[pymethods]
impl Concepts {
    /// Number of categories.
    fn __len__(&self) -> usize {
        self.meaning().categories()
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

/// A square matrix of distances; positions on a line, NaN for what is missing; numbers that are equal or not; concepts; sets,
/// and whether what is missing is one category more.
#[derive(FromPyObject)]
pub enum Given<'py> {
    Matrix(PyReadonlyArray2<'py, f64>),
    Line(PyReadonlyArray1<'py, f64>),
    Equality(PyReadonlyArray1<'py, u32>),
    Concepts(Bound<'py, Concepts>),
    Sets((Bound<'py, Sets>, bool)),
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
            Self::Concepts(concepts) => Ok(concepts.get().meaning()),
            Self::Sets((sets, missing)) => {
                Ok(Meaning::Sets(meaning::Sets { sets: sets.get().core(), missing: *missing }))
            }
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
