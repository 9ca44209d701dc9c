//! What groups of consecutive tuples cost.

use super::costs::Costs;
use crate::control::Control;
use crate::error::Result;
use crate::groups::cut::{self, GroupCosts};
use crate::tuples::Tuples;

/// Sizes of groups that are told apart; where there are more, only every second, third, … tuple is looked at.
const SIZES: usize = 256;

/// Sizes of the groups into which to cut at least `k` tuples, each of `k` to `longest`, at the least sum of costs. O(n·k·m).
pub(super) fn cut(
    sequence: &[u32],
    k: usize,
    longest: usize,
    tuples: &Tuples,
    costs: &Costs<'_>,
    control: &Control,
) -> Result<Vec<u32>> {
    let grain = (k / SIZES).max(1);
    let middle = |few: &[u32]| tuples.codes(few[grain / 2] as usize);
    let group_costs = |piece, longest| {
        let sequence: &[u32] = &sequence[piece];
        Inside { tuples: sequence.chunks_exact(grain).map(middle).collect(), sums: vec![0.0; longest], costs }
    };
    cut::cut(sequence.len(), k, longest, grain, group_costs, control)
}

/// Sums of the costs inside the last 1, 2, … tuples. Each new tuple turns the sum over s of them into that over s + 1.
struct Inside<'a> {
    tuples: Vec<&'a [u32]>,
    sums: Vec<f64>,
    costs: &'a Costs<'a>,
}

impl GroupCosts for Inside<'_> {
    type Cost = f64;
    const END: usize = size_of::<&[u32]>();

    fn of_end(&mut self, end: usize, costs: &mut [f64]) {
        let newest = self.tuples[end - 1];
        let (mut with_newest, mut before) = (0.0, 0.0);
        for ((size, sum), cost) in (1..).zip(&mut self.sums).zip(costs) {
            with_newest += f64::from(self.costs.between(newest, self.tuples[end - size]));
            (before, *sum) = (*sum, before + with_newest);
            *cost = 2.0 * *sum / size as f64;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::meaning::Meaning;
    use crate::rng::{Stream, Streams};
    use crate::tuples::Attribute;

    #[test]
    fn growing_groups_cost_what_measuring_gives() {
        let mut rng = Streams::new(Some(1)).unwrap().generator(Stream::Synthetic(0), 0);
        let distances: Vec<f64> = (0..36i32).map(|cell| f64::from((cell / 6 - cell % 6).abs()).sqrt()).collect();
        let columns: [Vec<u32>; 2] = std::array::from_fn(|_| (0..60).map(|_| rng.random_range(0..6)).collect());
        let meaning = Meaning::matrix(&distances, 6).unwrap();
        let attribute = |codes| Attribute { codes, meaning, missing: None };
        let attributes = columns.each_ref().map(|codes| attribute(codes));
        let costs = Costs::new(&attributes, &Control::new()).unwrap();
        let records: Vec<[u32; 2]> = (0..60).map(|i| columns.each_ref().map(|codes| codes[i])).collect();
        let tuples: Vec<&[u32]> = records.iter().map(|record| &record[..]).collect();
        let mut inside = Inside { tuples: tuples.clone(), sums: vec![0.0; 25], costs: &costs };
        for end in 1..=60 {
            let mut found = vec![0.0; end.min(25)];
            inside.of_end(end, &mut found);
            for (size, found) in (1..).zip(found) {
                let group = &tuples[end - size..end];
                let pairs = group.iter().flat_map(|a| group.iter().map(move |b| (a, b)));
                let sum: f64 = pairs.map(|(a, b)| f64::from(costs.between(a, b))).sum();
                assert!((found - sum / size as f64).abs() < 1e-4, "{size} before {end}: {found}");
            }
        }
    }
}
