//! Sets that stand for those in a group.

use rayon::prelude::*;

use super::Contents;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::itemsets::Itemsets;
use crate::memory;

/// What needs memory here.
const WHAT: &str = "the sets of groups";

/// Groups that a thread takes at a time.
const SOME: usize = 64;

/// For each group the items that more than half of its records have, ties by `common`; without it, those that all have.
///
/// Values of groups are rows of `sets`. O(items of all values of groups, sorted).
pub fn votes(sets: &Itemsets, contents: Contents<'_>, common: Option<&[bool]>, control: &Control) -> Result<Itemsets> {
    if common.is_some_and(|common| common.len() != sets.n_items() as usize) {
        return Err(Error::Parameter(format!("ties are decided for each of the {} items", sets.n_items())));
    }
    control.begin(contents.len() as u64);
    let starts: Vec<usize> = (0..contents.len()).step_by(SOME).collect();
    let parts = starts.par_iter().map_init(Vec::new, |held: &mut Vec<(u32, u64)>, &first| {
        let last = contents.len().min(first + SOME);
        let (mut sizes, mut items) = (Vec::with_capacity(last - first), Vec::new());
        for group in first..last {
            let (values, counts) = contents.of(group);
            held.clear();
            for (&value, &count) in values.iter().zip(counts) {
                memory::room(held, sets.row(value).len(), WHAT)?;
                held.extend(sets.row(value).iter().map(|&item| (item, count)));
            }
            held.sort_unstable();
            let voters: u64 = counts.iter().sum();
            let chosen = held.chunk_by(|a, b| a.0 == b.0).filter(|run| {
                let votes: u64 = run.iter().map(|x| x.1).sum();
                common.map_or(votes == voters, |common| {
                    2 * votes > voters || (2 * votes == voters && common[run[0].0 as usize])
                })
            });
            let before = items.len();
            for run in chosen {
                memory::room(&mut items, 1, WHAT)?;
                items.push(run[0].0);
            }
            sizes.push(items.len() - before);
        }
        control.advance((last - first) as u64)?;
        Ok((sizes, items))
    });
    let parts = parts.collect::<Result<Vec<(Vec<usize>, Vec<u32>)>>>()?;
    let total: usize = parts.iter().map(|part| part.1.len()).sum();
    memory::require(4 * total + 8 * (contents.len() + 1), WHAT)?;
    let (mut starts, mut items) = (Vec::with_capacity(contents.len() + 1), Vec::with_capacity(total));
    starts.push(0);
    for (sizes, held) in parts {
        for size in sizes {
            starts.push(starts[starts.len() - 1] + size);
        }
        items.extend(held);
    }
    Itemsets::new(sets.n_items(), starts, items)
}
