//! Set-valued records by number; names of items stay on the Python side.

use nominym_core::itemsets::best_match::{Named, best_match};
use nominym_core::itemsets::closure::Concepts;
use nominym_core::itemsets::compatible::{self, Published};
use nominym_core::itemsets::vote::{self, Votes};
use nominym_core::itemsets::{Itemsets, query, rows, text};
use nominym_core::lists::Lists;
use nominym_core::meaning::sets;
use nominym_core::memory::require;
use nominym_core::rng::Streams;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::array::{array, array_of, copied, rows as rows_of};
use crate::control::{guard, run};
use crate::error::raise;
use crate::taxonomy::Graph;

type Column<'py, T> = Bound<'py, PyArray1<T>>;
type Numbers<'py> = PyReadonlyArray1<'py, u32>;

/// Records that are sets of items. Items are numbers; the records cannot be changed.
#[pyclass(frozen, module = "nominym._core")]
pub struct Sets {
    core: Itemsets,
}

impl Sets {
    pub fn new(core: Itemsets) -> Self {
        Self { core }
    }

    /// The records, for the functions of other modules.
    pub fn core(&self) -> &Itemsets {
        &self.core
    }
}

/// The records, or the first row that holds an item twice, and that item.
#[derive(IntoPyObject)]
pub enum Made {
    Sets(Sets),
    Repeat((usize, u32)),
}

#[pymethods]
impl Sets {
    /// Rows in any order of items: row i is `items[starts[i]:starts[i + 1]]`.
    #[staticmethod]
    fn make(py: Python<'_>, n_items: u32, starts: PyReadonlyArray1<'_, u64>, items: Numbers<'_>) -> PyResult<Made> {
        let (starts, items) = (starts.as_slice()?, items.as_slice()?);
        run(py, None, |control| {
            require(size_of_val(starts), "item sets")?;
            let starts: Vec<usize> = starts.iter().map(|&start| start as usize).collect();
            let mut items = copied(items)?;
            if let Some(repeat) = rows::sort(&starts, &mut items, control)? {
                return Ok(Made::Repeat(repeat));
            }
            Ok(Made::Sets(Self { core: Itemsets::new(n_items, starts, items)? }))
        })
    }

    /// Rows from text, one a line, and the item numbers that occur in it.
    #[staticmethod]
    #[pyo3(signature = (data, progress=None))]
    fn parse<'py>(
        py: Python<'py>,
        data: &Bound<'py, PyBytes>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Self, Column<'py, u32>)> {
        let data = data.as_bytes();
        let (core, ids) = run(py, progress, |control| text::parse(data, control))?;
        Ok((Self { core }, array(py, ids)?))
    }

    fn __len__(&self) -> usize {
        self.core.n()
    }

    #[getter]
    fn n_items(&self) -> u32 {
        self.core.n_items()
    }

    /// The items of one record.
    fn row<'py>(&self, py: Python<'py>, i: u32) -> PyResult<Column<'py, u32>> {
        if i as usize >= self.core.n() {
            return Err(raise("ParameterError", &format!("no record {i}: there are {}", self.core.n()), vec![]));
        }
        array_of(py, self.core.row(i))
    }

    /// Where rows begin, and the end of the last.
    fn starts<'py>(&self, py: Python<'py>) -> PyResult<Column<'py, u64>> {
        let starts = self.core.starts();
        let starts = guard(|| {
            require(size_of_val(starts), "item sets")?;
            Ok(starts.iter().map(|&start| start as u64).collect())
        })?;
        array(py, starts)
    }

    /// The items of all rows.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Column<'py, u32>> {
        array_of(py, self.core.items())
    }

    /// How many records hold each item.
    fn frequencies<'py>(&self, py: Python<'py>) -> PyResult<Column<'py, u32>> {
        array(py, guard(|| self.core.frequencies())?)
    }

    fn equals(&self, other: &Self) -> bool {
        self.core == other.core
    }

    /// The records with these numbers, in this order.
    fn select(&self, py: Python<'_>, rows: Numbers<'_>) -> PyResult<Self> {
        let rows = rows.as_slice()?;
        Ok(Self { core: run(py, None, |control| self.core.select(rows, control))? })
    }

    /// The records with all concepts above their items but the root, or with their lowest concepts alone; and the concept
    /// of each new item. `concepts` has one for each item; those of items that no record holds do not matter.
    #[pyo3(signature = (graph, concepts, lowest=false, progress=None))]
    fn over_concepts<'py>(
        &self,
        py: Python<'py>,
        graph: &Graph,
        concepts: Numbers<'py>,
        lowest: bool,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Self, Column<'py, u32>)> {
        let concepts = concepts.as_slice()?;
        let (core, found) = run(py, progress, |control| {
            let known = Concepts::new(graph.core(), &self.core, concepts)?;
            let core = if lowest { known.lowest(&self.core, control) } else { known.closed(&self.core, control) };
            Ok((core?, known.concepts))
        })?;
        Ok((Self { core }, array(py, found)?))
    }

    /// Distances of pairs of records: items that only one has over those that either has.
    #[pyo3(signature = (a, b, progress=None))]
    fn pairs<'py>(
        &self,
        py: Python<'py>,
        a: Numbers<'py>,
        b: Numbers<'py>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Column<'py, f64>> {
        let (a, b) = (a.as_slice()?, b.as_slice()?);
        array(py, run(py, progress, |control| sets::pairs(&self.core, a, b, control))?)
    }

    /// Distances from some records to others, row after row.
    #[pyo3(signature = (a, b, progress=None))]
    fn block<'py>(
        &self,
        py: Python<'py>,
        a: Numbers<'py>,
        b: Numbers<'py>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Column<'py, f64>> {
        let (a, b) = (a.as_slice()?, b.as_slice()?);
        array(py, run(py, progress, |control| sets::block(&self.core, a, b, control))?)
    }

    /// The lines of rows from `first` up to `end`; with distance and threshold, those of a release.
    #[pyo3(signature = (names, first, end, distance=None, threshold=None, labels=None))]
    #[allow(clippy::too_many_arguments)]
    fn write<'py>(
        &self,
        py: Python<'py>,
        names: Vec<String>,
        first: u32,
        end: u32,
        distance: Option<&Self>,
        threshold: Option<Numbers<'py>>,
        labels: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let threshold = threshold.as_ref().map(|t| t.as_slice()).transpose()?;
        let margin = distance.zip(threshold).map(|(distance, threshold)| text::Margin {
            distance: &distance.core,
            threshold,
            labels: labels.as_deref(),
        });
        let lines = guard(|| text::write(&self.core, &names, margin.as_ref(), first..end))?;
        PyBytes::new_with(py, lines.len(), |bytes| {
            bytes.copy_from_slice(&lines);
            Ok(())
        })
    }
}

/// Base, distance and threshold of each node, in the rows given to the nodes, and the expected error rate.
type Voted<'py> = (Sets, Sets, Column<'py, u32>, f64);

fn voted(py: Python<'_>, votes: Votes) -> PyResult<Voted<'_>> {
    Ok((Sets { core: votes.base }, Sets { core: votes.distance }, array(py, votes.threshold)?, votes.error))
}

/// Votes over a ring of `k` along an order.
#[pyfunction]
#[pyo3(signature = (sets, order, k, rows, progress=None))]
pub fn vote_ring<'py>(
    py: Python<'py>,
    sets: &Sets,
    order: Numbers<'py>,
    k: usize,
    rows: Numbers<'py>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Voted<'py>> {
    let (order, rows) = (order.as_slice()?, rows.as_slice()?);
    voted(py, run(py, progress, |control| vote::ring(&sets.core, order, k, Some(rows), control))?)
}

/// Votes over groups, given as the group number of each record.
#[pyfunction]
#[pyo3(signature = (sets, group_of, rows, progress=None))]
pub fn vote_groups<'py>(
    py: Python<'py>,
    sets: &Sets,
    group_of: Numbers<'py>,
    rows: Numbers<'py>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Voted<'py>> {
    let (group_of, rows) = (group_of.as_slice()?, rows.as_slice()?);
    let votes =
        run(py, progress, |control| vote::groups(&sets.core, &Lists::by_group(group_of, None)?, Some(rows), control))?;
    voted(py, votes)
}

/// Votes over disjoint assignments, one a row.
#[pyfunction]
#[pyo3(signature = (sets, assignments, rows, progress=None))]
pub fn vote_assignments<'py>(
    py: Python<'py>,
    sets: &Sets,
    assignments: PyReadonlyArray2<'py, u32>,
    rows: Numbers<'py>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Voted<'py>> {
    let rows = rows.as_slice()?;
    let assignments = rows_of(&assignments)?;
    voted(py, run(py, progress, |control| vote::assignments(&sets.core, &assignments, Some(rows), control))?)
}

/// Mean share of items in which record i differs from the published row `rows[i]`.
#[pyfunction]
#[pyo3(signature = (sets, published, rows, progress=None))]
pub fn error_rate<'py>(
    py: Python<'py>,
    sets: &Sets,
    published: &Sets,
    rows: Numbers<'py>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<f64> {
    let rows = rows.as_slice()?;
    run(py, progress, |control| vote::error_rate(&sets.core, &published.core, rows, control))
}

/// Mean semantic distance of record i and the published row `rows[i]`, both of lowest concepts.
#[pyfunction]
#[pyo3(signature = (graph, sets, concepts, published, named, rows, measure, content=None, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn semantic_error<'py>(
    py: Python<'py>,
    graph: &Graph,
    sets: &Sets,
    concepts: Numbers<'py>,
    published: &Sets,
    named: Numbers<'py>,
    rows: Numbers<'py>,
    measure: &str,
    content: Option<PyReadonlyArray1<'py, f64>>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<f64> {
    let before = Named { sets: &sets.core, concepts: concepts.as_slice()? };
    let after = Named { sets: &published.core, concepts: named.as_slice()? };
    let rows = rows.as_slice()?;
    let measure = graph.measure(measure, content.as_ref())?;
    run(py, progress, |control| best_match(graph.core(), before, after, rows, &measure, control))
}

/// Random sets of `size` items, to ask for.
#[pyfunction]
pub fn draw_queries(py: Python<'_>, n_items: u32, size: u32, queries: u32, seed: Option<u64>) -> PyResult<Sets> {
    let drawn = run(py, None, |control| query::draw(n_items, size, queries, &Streams::new(seed)?, control));
    Ok(Sets { core: drawn? })
}

/// How many records hold all items of each query, or none of them.
#[pyfunction]
#[pyo3(signature = (sets, queries, absent, progress=None))]
pub fn count_queries<'py>(
    py: Python<'py>,
    sets: &Sets,
    queries: &Sets,
    absent: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Column<'py, u64>> {
    let counts = run(py, progress, |control| query::count(&sets.core, &queries.core, absent, control))?;
    array(py, counts)
}

/// For each record, the number of published rows that it could be.
#[pyfunction]
#[pyo3(signature = (base, distance, threshold, records, progress=None))]
pub fn count_compatible<'py>(
    py: Python<'py>,
    base: &Sets,
    distance: &Sets,
    threshold: Numbers<'py>,
    records: &Sets,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Column<'py, u32>> {
    let published = Published { base: &base.core, distance: &distance.core, threshold: threshold.as_slice()? };
    let counts = run(py, progress, |control| compatible::count(&published, &records.core, control))?;
    array(py, counts)
}

/// A random order of rows.
#[pyfunction]
pub fn shuffle_rows(py: Python<'_>, n: u32, seed: Option<u64>) -> PyResult<Column<'_, u32>> {
    array(py, run(py, None, |_| rows::shuffled(n, &Streams::new(seed)?))?)
}
