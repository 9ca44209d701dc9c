//! Identical records that are set apart under constraints.

use super::kernel::TupleKernel;
use crate::error::Result;
use crate::groups::search;

/// Tuples that are identical but for the values of constraints.
struct Run {
    first: usize,
    /// Copies that are set apart, of each tuple.
    kept: Vec<u32>,
}

impl Run {
    fn total(&self) -> usize {
        self.kept.iter().map(|&copies| copies as usize).sum()
    }

    fn tuples(&self) -> impl Iterator<Item = (usize, u32)> {
        (self.first..).zip(self.kept.iter().copied())
    }
}

/// How many copies of each tuple to set apart: of identical records as many as keep the constraints among themselves, if that
/// makes a group. What is left keeps the constraints too, and is nothing or enough for a group.
pub(super) fn set_apart(kernel: &TupleKernel<'_>) -> Result<Vec<u32>> {
    let TupleKernel { k, tuples, costs, shares, control, .. } = *kernel;
    let constraints = shares.len();
    let value = |tuple: usize, c: usize| kernel.values(tuple as u32)[c] as usize;
    let mut distinct = vec![0; constraints];
    for tuple in 0..tuples.len() {
        (0..constraints).for_each(|c| distinct[c] = distinct[c].max(value(tuple, c) + 1));
    }
    let mut counts: Vec<Vec<usize>> = distinct.iter().map(|&distinct| vec![0; distinct]).collect();
    let mut runs: Vec<Run> =
        search::runs(kernel, tuples.len()).filter_map(|run| trimmed(kernel, run, &mut counts)).collect();
    // What is left.
    let mut rest = tuples.total();
    for tuple in 0..tuples.len() {
        (0..constraints).for_each(|c| counts[c][value(tuple, c)] += tuples.records(tuple).len());
    }
    for run in &runs {
        rest -= run.total();
        for (tuple, kept) in run.tuples() {
            (0..constraints).for_each(|c| counts[c][value(tuple, c)] -= kept as usize);
        }
    }
    loop {
        control.check()?;
        // Whole runs go back until everything fits; then groups of identical records come about by division.
        let worst = (0..constraints)
            .flat_map(|c| counts[c].iter().enumerate().map(move |(value, &count)| (count * shares[c], c, value)))
            .max_by_key(|&(needed, c, value)| (needed, std::cmp::Reverse((c, value))));
        let (needed, worst) = match worst {
            Some((needed, c, value)) if needed > rest => (needed - rest, Some((c, value))),
            _ if rest > 0 && rest < k => (k - rest, None),
            _ => break,
        };
        let gain = |run: &Run| {
            let with_value = |&(c, v): &(usize, usize)| {
                let own = run.tuples().filter(|&(tuple, _)| value(tuple, c) == v);
                shares[c] * own.map(|(_, kept)| kept as usize).sum::<usize>()
            };
            run.total() - worst.as_ref().map_or(0, with_value)
        };
        let mut gains: Vec<(usize, usize)> = runs.iter().map(gain).zip(0..).collect();
        if worst.is_some() {
            gains.sort_by_key(|&(gain, _)| std::cmp::Reverse(gain));
        } else {
            let kept = kept_of(&runs, tuples.len());
            let left: Vec<usize> = (0..tuples.len()).filter(|&t| tuples.records(t).len() > kept[t] as usize).collect();
            let cost = |run: usize| {
                let own = tuples.codes(runs[run].first);
                left.iter().map(|&tuple| f64::from(costs.between(own, tuples.codes(tuple)))).sum::<f64>()
            };
            gains.sort_by(|a, b| cost(a.1).total_cmp(&cost(b.1)));
        }
        let mut gained = 0;
        let mut back = vec![false; runs.len()];
        for (gain, run) in gains.into_iter().take_while(|&(gain, _)| gain > 0) {
            if gained >= needed {
                break;
            }
            gained += gain;
            back[run] = true;
            rest += runs[run].total();
            for (tuple, kept) in runs[run].tuples() {
                (0..constraints).for_each(|c| counts[c][value(tuple, c)] += kept as usize);
            }
        }
        let mut back = back.into_iter();
        runs.retain(|_| !back.next().unwrap_or(false));
    }
    Ok(kept_of(&runs, tuples.len()))
}

/// Copies that are set apart, of all tuples.
fn kept_of(runs: &[Run], tuples: usize) -> Vec<u32> {
    let mut apart = vec![0; tuples];
    for (tuple, kept) in runs.iter().flat_map(Run::tuples) {
        apart[tuple] = kept;
    }
    apart
}

/// As many copies of identical records as keep the constraints among themselves, if they are enough for a group. `counts` are
/// all zero before and after.
fn trimmed(kernel: &TupleKernel<'_>, run: std::ops::Range<usize>, counts: &mut [Vec<usize>]) -> Option<Run> {
    let copies = run.clone().map(|tuple| kernel.tuples.records(tuple).len() as u32);
    let mut run = Run { first: run.start, kept: copies.collect() };
    let mut total = run.total();
    let mut changed = true;
    while changed && total >= kernel.k {
        changed = false;
        for (c, counts) in counts.iter_mut().enumerate() {
            let value = |tuple: usize| kernel.values(tuple as u32)[c] as usize;
            for (tuple, kept) in run.tuples() {
                counts[value(tuple)] += kept as usize;
            }
            let most = total / kernel.shares[c];
            for (tuple, kept) in (run.first..).zip(&mut run.kept) {
                let count = &mut counts[value(tuple)];
                let going = count.saturating_sub(most).min(*kept as usize);
                *kept -= going as u32;
                *count -= going;
                total -= going;
                changed |= going > 0;
            }
            for (tuple, _) in run.tuples() {
                counts[value(tuple)] = 0;
            }
        }
    }
    (total >= kernel.k).then_some(run)
}
