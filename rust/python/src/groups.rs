//! Disjoint groups of near records, and what is done inside them.

use nominym_core::error::Result;
use nominym_core::groups::attributes::{Constraint, expected_cost, long_effort, partition, usual_effort};
use nominym_core::lists::Lists;
use nominym_core::memory::require;
use nominym_core::rng::Streams;
use nominym_core::swap::permute::permute;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::array::array;
use crate::control::run;
use crate::meaning::{Given, attributes};

type Column<'py> = Bound<'py, PyArray1<u32>>;
type Numbers<'py> = PyReadonlyArray1<'py, u32>;

/// Groups of at least `k` near records: the group of each record, and the records group after group. Each constraint is a value
/// for every record, and a share: of the records of a group, at most one of so many has the same value.
#[pyfunction]
#[pyo3(signature = (codes, distances, k, anneal, seed, progress=None, constraints=None))]
#[allow(clippy::too_many_arguments)] // each is one of Python's
pub fn group_records<'py>(
    py: Python<'py>,
    codes: Vec<Numbers<'py>>,
    distances: Vec<Given<'py>>,
    k: usize,
    anneal: bool,
    seed: Option<u64>,
    progress: Option<&Bound<'py, PyAny>>,
    constraints: Option<Vec<(Numbers<'py>, usize)>>,
) -> PyResult<(Column<'py>, Column<'py>)> {
    let attributes = attributes(&codes, &distances, std::iter::repeat(None))?;
    let constraints = constraints.unwrap_or_default();
    let values = constraints.iter().map(|(values, _)| Ok(values.as_slice()?)).collect::<PyResult<Vec<_>>>()?;
    let shares = constraints.iter().map(|&(_, share)| share);
    let constraints: Vec<_> =
        values.into_iter().zip(shares).map(|(values, share)| Constraint { values, share }).collect();
    let records = attributes.first().map_or(0, |a| a.codes.len());
    let effort = if anneal { long_effort(records) } else { usual_effort(records) };
    let (group_of, records) = run(py, progress, |control| {
        let groups = partition(&attributes, &constraints, k, effort, &Streams::new(seed)?, control)?;
        Ok((numbered(&groups)?, groups.into_items()))
    })?;
    Ok((array(py, group_of)?, array(py, records)?))
}

/// Permutes codes inside groups: each column on its own, or whole tuples. With `order`, a seed meets the records of a group
/// in that order, else in ascending order; all permutations are as likely either way.
#[pyfunction]
#[pyo3(signature = (codes, group_of, joint, seed, progress=None, order=None))]
pub fn permute_groups<'py>(
    py: Python<'py>,
    codes: Vec<Numbers<'py>>,
    group_of: Numbers<'py>,
    joint: bool,
    seed: Option<u64>,
    progress: Option<&Bound<'py, PyAny>>,
    order: Option<Numbers<'py>>,
) -> PyResult<Vec<Column<'py>>> {
    let columns = codes.iter().map(|codes| Ok(codes.as_slice()?)).collect::<PyResult<Vec<_>>>()?;
    let (group_of, order) = (group_of.as_slice()?, order.as_ref().map(|order| order.as_slice()).transpose()?);
    let permuted = run(py, progress, |control| {
        permute(&Lists::by_group(group_of, order)?, &columns, joint, &Streams::new(seed)?, control)
    })?;
    permuted.into_iter().map(|codes| array(py, codes)).collect()
}

/// Expected squared distance between the values of a record before and after a permutation inside its group: the sum over all
/// records by their number. Pairs with a missing value do not count.
#[pyfunction]
#[pyo3(signature = (codes, distances, missing, group_of, progress=None))]
pub fn expected_squares<'py>(
    py: Python<'py>,
    codes: Numbers<'py>,
    distances: Given<'py>,
    missing: Option<u32>,
    group_of: Numbers<'py>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<f64> {
    let (codes, distances) = ([codes], [distances]);
    let attributes = attributes(&codes, &distances, std::iter::once(missing))?;
    let group_of = group_of.as_slice()?;
    let sums = run(py, progress, |control| expected_cost(&Lists::by_group(group_of, None)?, &attributes, control))?;
    Ok(sums[0])
}

/// The group of each record.
pub fn numbered(groups: &Lists) -> Result<Vec<u32>> {
    require(size_of::<u32>() * groups.total(), "the groups of records")?;
    let mut group_of = vec![0; groups.total()];
    for (number, group) in (0..).zip(groups.iter()) {
        for &record in group {
            group_of[record as usize] = number;
        }
    }
    Ok(group_of)
}
