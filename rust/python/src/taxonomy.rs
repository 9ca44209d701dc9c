//! Taxonomies by index; ids and labels stay on the Python side.

use nominym_core::error::Error;
use nominym_core::memory::require;
use nominym_core::taxonomy::distance;
use nominym_core::taxonomy::information::Information;
use nominym_core::taxonomy::{Measure, Taxonomy};
use numpy::{PyArray1, PyReadonlyArray1, PyReadwriteArray2};
use pyo3::prelude::*;

use crate::array::{array, array_of, copied};
use crate::control::{guard, run};
use crate::error::raise;
use crate::meaning;

type Column<'py, T> = Bound<'py, PyArray1<T>>;
type Concepts<'py> = PyReadonlyArray1<'py, u32>;

/// A matrix to be filled: single precision to keep, double for statistics.
#[derive(FromPyObject)]
enum Cells<'py> {
    Single(PyReadwriteArray2<'py, f32>),
    Double(PyReadwriteArray2<'py, f64>),
}

/// The structure of a taxonomy: concepts are numbers, in the order of their ids.
#[pyclass(frozen, module = "nominym._core")]
pub struct Graph {
    core: Taxonomy,
}

impl Graph {
    pub fn core(&self) -> &Taxonomy {
        &self.core
    }

    /// The concepts in an array, each checked to be one.
    pub fn concepts<'a>(&self, array: &'a Concepts<'_>) -> PyResult<&'a [u32]> {
        let concepts = array.as_slice()?;
        concepts.iter().try_for_each(|&c| self.check(c))?;
        Ok(concepts)
    }

    fn check(&self, concept: u32) -> PyResult<()> {
        if (concept as usize) < self.core.len() {
            return Ok(());
        }
        let message = format!("no concept {concept}: there are {}", self.core.len());
        Err(raise("ParameterError", &message, vec![]))
    }

    pub fn measure(&self, name: &str, content: Option<&PyReadonlyArray1<'_, f64>>) -> PyResult<Measure> {
        let content = || {
            let content = content.ok_or_else(|| {
                raise("ParameterError", &format!("measure {name:?} needs information content"), vec![])
            })?;
            let content = content.as_slice()?;
            guard(|| Information::given(&self.core, copied(content)?))
        };
        Ok(match name {
            "path" => Measure::Path,
            "leacock-chodorow" => Measure::LeacockChodorow,
            "wu-palmer" => Measure::WuPalmer,
            "taxonomic-feature" => Measure::TaxonomicFeature,
            "resnik" => Measure::Resnik(content()?),
            "lin" => Measure::Lin(content()?),
            "jiang-conrath" => Measure::JiangConrath(content()?),
            _ => return Err(raise("ParameterError", &format!("there is no measure {name:?}"), vec![])),
        })
    }
}

#[pymethods]
impl Graph {
    #[new]
    fn new(py: Python<'_>, n: usize, child: Concepts<'_>, parent: Concepts<'_>) -> PyResult<Self> {
        let (child, parent) = (child.as_slice()?, parent.as_slice()?);
        Ok(Self { core: run(py, None, |_| Taxonomy::new(n, child, parent))? })
    }

    fn __len__(&self) -> usize {
        self.core.len()
    }

    #[getter]
    fn root(&self) -> u32 {
        self.core.root()
    }

    #[getter]
    fn links(&self) -> usize {
        self.core.links()
    }

    #[getter]
    fn is_tree(&self) -> bool {
        self.core.is_tree()
    }

    fn depth(&self, concept: u32) -> PyResult<u32> {
        self.check(concept)?;
        Ok(self.core.depth(concept))
    }

    fn parents<'py>(&self, py: Python<'py>, concept: u32) -> PyResult<Column<'py, u32>> {
        self.check(concept)?;
        array_of(py, self.core.parents(concept))
    }

    fn children<'py>(&self, py: Python<'py>, concept: u32) -> PyResult<Column<'py, u32>> {
        self.check(concept)?;
        array_of(py, self.core.children(concept))
    }

    /// The concept and everything above it, nearest first.
    fn subsumers<'py>(&self, py: Python<'py>, concept: u32) -> PyResult<Column<'py, u32>> {
        self.check(concept)?;
        array(py, guard(|| self.core.subsumers(concept))?)
    }

    /// The concept and everything below it.
    fn subtree<'py>(&self, py: Python<'py>, concept: u32) -> PyResult<Column<'py, u32>> {
        self.check(concept)?;
        array(py, guard(|| self.core.subtree(concept))?)
    }

    fn lcs(&self, py: Python<'_>, concepts: Concepts<'_>) -> PyResult<u32> {
        let concepts = self.concepts(&concepts)?;
        run(py, None, |control| self.core.lcs(concepts, control))
    }

    /// The part below a concept, and the concepts it keeps.
    fn restrict<'py>(&self, py: Python<'py>, concept: u32) -> PyResult<(Self, Column<'py, u32>)> {
        self.check(concept)?;
        let (core, kept) = run(py, None, |_| self.core.restrict(concept))?;
        Ok((Self { core }, array(py, kept)?))
    }

    /// Categories that are concepts, 2^32 - 1 for what is missing, to be measured without a matrix.
    #[pyo3(signature = (concepts, measure, content=None, progress=None))]
    fn placed<'py>(
        &self,
        py: Python<'py>,
        concepts: Concepts<'py>,
        measure: &str,
        content: Option<PyReadonlyArray1<'py, f64>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<meaning::Concepts> {
        let concepts = concepts.as_slice()?;
        concepts.iter().filter(|&&c| c != nominym_core::MISSING).try_for_each(|&c| self.check(c))?;
        let measure = self.measure(measure, content.as_ref())?;
        run(py, progress, |control| meaning::Concepts::new(&self.core, concepts, &measure, control))
    }

    /// Categories that are concepts of this taxonomy, to be measured row by row where no matrix fits.
    #[pyo3(signature = (concepts, measure, content=None))]
    fn rows(
        slf: Bound<'_, Self>,
        concepts: Concepts<'_>,
        measure: &str,
        content: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<meaning::ConceptRows> {
        let graph = slf.get();
        let concepts = graph.concepts(&concepts)?;
        let measure = graph.measure(measure, content.as_ref())?;
        Ok(meaning::ConceptRows::new(slf.clone().unbind(), guard(|| copied(concepts))?, measure))
    }

    /// The tree of first parents.
    fn first_parents(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Self { core: run(py, None, |_| self.core.first_parents())? })
    }

    /// All links, as children and parents in step; the parents of a child are in their order.
    fn edges<'py>(&self, py: Python<'py>) -> PyResult<(Column<'py, u32>, Column<'py, u32>)> {
        let (child, parent) = run(py, None, |_| {
            let links = self.core.links();
            require(2 * size_of::<u32>() * links, "the links of a taxonomy")?;
            let (mut child, mut parent) = (Vec::with_capacity(links), Vec::with_capacity(links));
            for concept in 0..self.core.len() as u32 {
                let parents = self.core.parents(concept);
                child.resize(child.len() + parents.len(), concept);
                parent.extend_from_slice(parents);
            }
            Ok((child, parent))
        })?;
        Ok((array(py, child)?, array(py, parent)?))
    }

    /// Information content of every concept: "seco", "zhou" (with weight k), "sanchez", or "corpus" (with counts).
    #[pyo3(signature = (kind, k=0.5, counts=None))]
    fn information<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        k: f64,
        counts: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Column<'py, f64>> {
        let counts = counts.as_ref().map(|c| c.as_slice()).transpose()?;
        let found = run(py, None, |control| match (kind, counts) {
            ("zhou", _) => Information::zhou(&self.core, k, control),
            ("sanchez", _) => Information::sanchez(&self.core, control),
            ("corpus", Some(counts)) => Information::corpus(&self.core, counts, control),
            ("seco", _) => Information::seco(&self.core, control),
            _ => Err(Error::Parameter(format!("there is no information content {kind:?}"))),
        })?;
        array(py, found.of)
    }

    /// Distances of pairs of concepts.
    #[pyo3(signature = (a, b, measure, content=None, progress=None))]
    fn pairs<'py>(
        &self,
        py: Python<'py>,
        a: Concepts<'py>,
        b: Concepts<'py>,
        measure: &str,
        content: Option<PyReadonlyArray1<'py, f64>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Column<'py, f64>> {
        let (a, b) = (self.concepts(&a)?, self.concepts(&b)?);
        if a.len() != b.len() {
            return Err(raise("ParameterError", "pairs need lists of one length", vec![]));
        }
        let measure = self.measure(measure, content.as_ref())?;
        let found = run(py, progress, |control| distance::pairs(&self.core, a, b, &measure, control))?;
        array(py, found)
    }

    /// Fills a square matrix, float32 or float64, with the distances of all pairs of concepts.
    #[pyo3(signature = (concepts, measure, out, content=None, progress=None))]
    fn matrix<'py>(
        &self,
        py: Python<'py>,
        concepts: Concepts<'py>,
        measure: &str,
        out: Cells<'py>,
        content: Option<PyReadonlyArray1<'py, f64>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let concepts = self.concepts(&concepts)?;
        let measure = self.measure(measure, content.as_ref())?;
        match out {
            Cells::Single(mut out) => {
                let out = out.as_slice_mut()?;
                run(py, progress, |control| distance::matrix(&self.core, concepts, &measure, out, control))
            }
            Cells::Double(mut out) => {
                let out = out.as_slice_mut()?;
                run(py, progress, |control| distance::matrix(&self.core, concepts, &measure, out, control))
            }
        }
    }

    /// The concept with the smallest sum of distances to some concepts, each taken a number of times.
    #[pyo3(signature = (concepts, counts, measure, content=None, progress=None))]
    fn mean<'py>(
        &self,
        py: Python<'py>,
        concepts: Concepts<'py>,
        counts: PyReadonlyArray1<'py, u64>,
        measure: &str,
        content: Option<PyReadonlyArray1<'py, f64>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<u32> {
        let concepts = self.concepts(&concepts)?;
        let counts = counts.as_slice()?;
        if counts.len() != concepts.len() {
            return Err(raise("ParameterError", "one count for each concept is needed", vec![]));
        }
        let measure = self.measure(measure, content.as_ref())?;
        run(py, progress, |control| nominym_core::meaning::mean(&self.core, concepts, counts, &measure, control))
    }
}
