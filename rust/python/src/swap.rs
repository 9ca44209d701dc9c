//! Swapping of coded columns.

use nominym_core::coded::Coded;
use nominym_core::error::Result;
use nominym_core::rng::{Stream, Streams};
use nominym_core::swap::{Swapped, dynamic, pairs, ranked, records};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::array::array;
use crate::control::{guard, run};
use crate::meaning::{Given as Meant, attributes};

type Column<'py, T> = Bound<'py, PyArray1<T>>;

/// Codes after swapping, and how many references had 0, 1, 2, … candidates.
pub type Found<'py> = (Column<'py, u32>, Column<'py, u64>);

fn found(py: Python<'_>, swapped: Swapped) -> PyResult<Found<'_>> {
    Ok((array(py, swapped.codes)?, array(py, swapped.candidates)?))
}

/// SRS-1: along the ranking by distance from the category that is farthest from all.
#[pyfunction]
#[pyo3(signature = (codes, counts, distances, k, seed, column, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn swap_fixed<'py>(
    py: Python<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    counts: PyReadonlyArray1<'py, u64>,
    distances: Meant<'py>,
    k: usize,
    seed: Option<u64>,
    column: u32,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Found<'py>> {
    let (codes, counts, distances) = (codes.as_slice()?, counts.as_slice()?, distances.core()?);
    let swapped = run(py, progress, |control| {
        let mut rng = Streams::new(seed)?.generator(Stream::SwapColumn(column), 0);
        let ranks = ranked::ranks_from_the_farthest(distances, counts, &mut rng)?;
        let order = ranked::ranking(codes, &ranks, &mut rng)?;
        ranked::swap(codes, &order, k, &mut rng, control)
    })?;
    found(py, swapped)
}

/// SRS-2: inside clusters around every reference, at opposite ends by turns.
#[pyfunction]
#[pyo3(signature = (codes, counts, distances, k, seed, column, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn swap_dynamic<'py>(
    py: Python<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    counts: PyReadonlyArray1<'py, u64>,
    distances: Meant<'py>,
    k: usize,
    seed: Option<u64>,
    column: u32,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Found<'py>> {
    let (codes, counts, distances) = (codes.as_slice()?, counts.as_slice()?, distances.core()?);
    let swapped = run(py, progress, |control| {
        let mut rng = Streams::new(seed)?.generator(Stream::SwapColumn(column), 0);
        dynamic::swap(codes, distances, counts, k, &mut rng, control)
    })?;
    found(py, swapped)
}

/// Along a given ranking of the categories: numerical, ordinal and distributional rank swapping.
#[pyfunction]
#[pyo3(signature = (codes, ranks, k, seed, column, progress=None))]
pub fn swap_ranked<'py>(
    py: Python<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    ranks: PyReadonlyArray1<'py, u32>,
    k: usize,
    seed: Option<u64>,
    column: u32,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Found<'py>> {
    let (codes, ranks) = (codes.as_slice()?, ranks.as_slice()?);
    let swapped = run(py, progress, |control| {
        let mut rng = Streams::new(seed)?.generator(Stream::SwapColumn(column), 0);
        let order = ranked::ranking(codes, ranks, &mut rng)?;
        ranked::swap(codes, &order, k, &mut rng, control)
    })?;
    found(py, swapped)
}

/// Ranks of categories by how frequent they are.
#[pyfunction]
pub fn ranks_by_frequency<'py>(py: Python<'py>, counts: PyReadonlyArray1<'py, u64>) -> PyResult<Column<'py, u32>> {
    let counts = counts.as_slice()?;
    array(py, guard(|| ranked::ranks_by_frequency(counts))?)
}

/// Random pairs, whatever their values.
#[pyfunction]
#[pyo3(signature = (codes, seed, column, progress=None))]
pub fn swap_random<'py>(
    py: Python<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    seed: Option<u64>,
    column: u32,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Found<'py>> {
    let codes = codes.as_slice()?;
    let swapped = run(py, progress, |control| -> Result<Swapped> {
        ranked::random(codes, &mut Streams::new(seed)?.generator(Stream::SwapColumn(column), 0), control)
    })?;
    found(py, swapped)
}

type Codes<'py> = PyReadonlyArray1<'py, u32>;

/// SRS-3: inside clusters of whole records, each column on its own; missing cells stay.
#[pyfunction]
#[pyo3(signature = (codes, distances, missing, k, seed, progress=None))]
pub fn swap_records<'py>(
    py: Python<'py>,
    codes: Vec<Codes<'py>>,
    distances: Vec<Meant<'py>>,
    missing: Vec<Option<u32>>,
    k: usize,
    seed: Option<u64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Found<'py>>> {
    let attributes = attributes(&codes, &distances, missing.into_iter())?;
    let swapped = run(py, progress, |control| {
        records::swap(&attributes, k, &mut Streams::new(seed)?.generator(Stream::SwapRecords, 0), control)
    })?;
    swapped.into_iter().map(|column| found(py, column)).collect()
}

/// A column as it arrives where a missing value is a category of its own: codes, and the number of categories.
type Given<'py> = (Codes<'py>, usize);

fn coded<'a>(columns: &'a [Given<'_>]) -> PyResult<Vec<Coded<'a>>> {
    let columns = columns.iter();
    columns.map(|(codes, categories)| Ok(Coded { codes: codes.as_slice()?, categories: *categories })).collect()
}

/// First and second record of each pair, the number of feasible pairs, and of records without a partner.
type Paired<'py> = (Column<'py, u32>, Column<'py, u32>, u64, u64);

/// Random pairs of `n` records that agree in all `equal` columns and differ in every `unequal` key.
#[pyfunction]
#[pyo3(signature = (n, equal, unequal, wanted, seed, step, progress=None))]
#[allow(clippy::too_many_arguments)]
pub fn draw_pairs<'py>(
    py: Python<'py>,
    n: usize,
    equal: Vec<Given<'py>>,
    unequal: Vec<Vec<Given<'py>>>,
    wanted: usize,
    seed: Option<u64>,
    step: u32,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Paired<'py>> {
    let equal = coded(&equal)?;
    let unequal = unequal.iter().map(|key| coded(key)).collect::<PyResult<Vec<_>>>()?;
    let drawn = run(py, progress, |control| {
        pairs::draw(n, &equal, &unequal, wanted, &mut Streams::new(seed)?.generator(Stream::Pairs(step), 0), control)
    })?;
    let (first, second): (Vec<u32>, Vec<u32>) = drawn.pairs.into_iter().unzip();
    Ok((array(py, first)?, array(py, second)?, drawn.feasible, drawn.alone))
}
