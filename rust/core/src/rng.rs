//! Randomness: `ChaCha` streams that depend on the seed and on what they are for, never on threads.
//!
//! Every random task is named by a [`Stream`] and is cut into *blocks* of records. Each (stream, block) has its own
//! generator, set up before the work is shared out, so any number of threads draws the same numbers. Without a seed
//! the key comes from the operating system.

use std::f32::consts::LN_2;

use rand::distr::{Distribution, StandardUniform};
use rand::rngs::SysRng;
use rand::{Rng, RngExt, SeedableRng, TryRng};
use rand_chacha::ChaCha20Rng;
use rand_distr::StandardNormal;
use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;

/// Records that share one generator. Part of the output law for a given seed: changing it changes seeded results.
const BLOCK: usize = 1 << 16;

/// What random numbers are for.
///
/// Streams of one family are drawn under one seed in one call, so they have distinct numbers. Those of two families may
/// coincide: no call draws from both. Only the shuffle of rows follows every method under the same seed; its number is
/// outside all families as long as a table has fewer than 400 columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    // Rank swapping of columns, each by itself.
    /// Rank swapping of the column with this place in its table.
    SwapColumn(u32),

    // Rank swapping of whole records, as published.
    /// Rank swapping of all columns at once.
    SwapRecords,

    // Data swapping.
    /// Pairs of one step.
    Pairs(u32),

    // Groups of records, and permutations inside them.
    /// The order that is cut into the first groups.
    FirstOrder,
    /// Orders of the groups; a block for each pass.
    GroupOrders,
    /// Which of several identical records goes to which group.
    Identities,
    /// The permutation of one column.
    Permutation(u32),
    /// One pass of the search for groups; a block for each neighbourhood.
    GroupPass(u32),

    // Noise. A table has fewer than 1000 columns, or streams coincide.
    /// Normal numbers of one column.
    NoiseNormal(u32),
    /// Spread of a column's normal numbers, for other laws.
    NoiseSpread(u32),
    /// Choice among the concepts that may replace a value of a column; a block for each category. References that do not
    /// have room at once are taken in parts, of which there are fewer than 1000.
    NoiseChoice {
        /// Place of the column in its table.
        column: u32,
        /// Part of the references.
        part: u32,
    },

    // Recoding of item sets: an order, then a graph or groups, then an assignment.
    /// Kicks of the path through a segment; a block for each.
    SegmentKicks,
    /// Random orders of the items; a block for each.
    ItemOrders,
    /// Kicks of the closed tour.
    TourKicks,
    /// One round of a refinement of an order; a block for each piece.
    Refinement(Refinement, u32),
    /// Assignments by closed walks; a block for each round.
    ClosedWalk,
    /// Assignments by the baseline `wmc`; a block for each round.
    Wmc,
    /// Assignments by augmenting paths.
    Augment,
    /// An assignment by splitting; a block for each part.
    Split,
    /// Which of all assignments is published.
    ChosenAssignment,
    /// An assignment inside groups; a block for some groups.
    WithinGroups,
    /// Starts of walks between different labels; a block for each round.
    DiverseRounds,
    /// Assignments from the matches of different labels.
    DiverseExtraction,
    /// Members that stand for their groups; a block for each pass.
    ItemsetRepresentatives,
    /// Trees that put groups near each other; a block for each split.
    ItemsetTrees,
    /// Search in neighbourhoods of groups; a block for each.
    ItemsetNeighbourhoods,

    // After any method.
    /// The order of published rows.
    Shuffle,

    // Evaluation and synthetic data, each with a seed of its own.
    /// Queries to a release.
    Queries,
    /// Records that are attacked.
    Sample,
    /// Matchings of whole pools of people and rows; a block for each pool.
    MatchedPool,
    /// Matchings of neighbourhoods; a block for each target.
    MatchedTarget,
    /// Which of equally likely recodings is taken; a block for each start.
    Recoding,
    /// One part of a synthetic dataset.
    Synthetic(u32),
}

/// Refinements of an order of item sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refinement {
    /// Of the closed tour.
    Tour,
    /// Of the preorder of the tree, for wide rings first.
    WideTree,
    /// Of the preorder of the tree, for the wanted rings.
    Tree,
}

impl Stream {
    /// The number of a stream. Part of the output law for a given seed: changing one changes seeded results.
    fn number(self) -> u32 {
        match self {
            Self::SwapRecords => 0,
            Self::SwapColumn(column) | Self::NoiseNormal(column) => column,
            Self::Pairs(step) => step,
            Self::Synthetic(part) => part,
            Self::FirstOrder => 100,
            Self::GroupOrders => 101,
            Self::Identities => 102,
            Self::Permutation(column) => 200 + column,
            Self::GroupPass(pass) => (1 << 24) + pass,
            Self::NoiseSpread(column) => 1_000 + column,
            Self::NoiseChoice { column, part } => 10_000 + 1_000 * column + part,
            Self::SegmentKicks => 600,
            Self::ItemOrders => 601,
            Self::TourKicks => 602,
            Self::Refinement(of, round) => 604 + 4 * of as u32 + round,
            Self::ClosedWalk => 620,
            Self::Wmc => 621,
            Self::Augment => 622,
            Self::Split => 623,
            Self::ChosenAssignment => 624,
            Self::WithinGroups => 625,
            Self::DiverseRounds => 630,
            Self::DiverseExtraction => 631,
            Self::ItemsetRepresentatives => 640,
            Self::ItemsetTrees => 641,
            Self::ItemsetNeighbourhoods => 642,
            Self::Shuffle => 660,
            Self::Queries => 661,
            Self::Sample => 700,
            Self::MatchedPool => 701,
            Self::MatchedTarget => 702,
            Self::Recoding => 703,
        }
    }
}

/// A key from which independent generators are derived.
#[derive(Clone)]
pub struct Streams {
    key: [u8; 32],
}

impl Streams {
    /// Streams from a seed, or from the operating system's entropy where there is none.
    pub fn new(seed: Option<u64>) -> Result<Self> {
        let mut key = [0; 32];
        match seed {
            Some(seed) => ChaCha20Rng::seed_from_u64(seed).fill_bytes(&mut key),
            None => SysRng
                .try_fill_bytes(&mut key)
                .map_err(|e| Error::Parameter(format!("the system gives no random numbers: {e}")))?,
        }
        Ok(Self { key })
    }

    /// The generator of one block of one stream. `ChaCha` has 2^64 streams of 2^70 bytes under one key; the
    /// upper half of the stream number says what for, the lower half which block.
    pub fn generator(&self, stream: Stream, block: u32) -> ChaCha20Rng {
        let mut generator = ChaCha20Rng::from_seed(self.key);
        generator.set_stream((u64::from(stream.number()) << 32) | u64::from(block));
        generator
    }

    /// Fills `out` with independent draws of `distribution`, in parallel blocks.
    pub fn fill<T, D>(&self, stream: Stream, distribution: &D, out: &mut [T], control: &Control) -> Result<()>
    where
        T: Send,
        D: Distribution<T> + Sync,
    {
        control.begin(out.len() as u64);
        out.par_chunks_mut(BLOCK).enumerate().try_for_each(|(block, chunk)| {
            let mut generator = self.generator(stream, block as u32);
            for cell in &mut *chunk {
                *cell = distribution.sample(&mut generator);
            }
            control.advance(chunk.len() as u64)
        })
    }
}

/// `n` independent uniform numbers in [0, 1).
pub fn uniform(n: usize, streams: &Streams, stream: Stream, control: &Control) -> Result<Vec<f64>> {
    draws(n, &StandardUniform, streams, stream, control)
}

/// `n` independent numbers of the standard normal distribution.
pub fn normal(n: usize, streams: &Streams, stream: Stream, control: &Control) -> Result<Vec<f64>> {
    draws(n, &StandardNormal, streams, stream, control)
}

fn draws<D>(n: usize, law: &D, streams: &Streams, stream: Stream, control: &Control) -> Result<Vec<f64>>
where
    D: Distribution<f64> + Sync,
{
    memory::require(n.saturating_mul(8), "drawing numbers")?;
    let mut out = vec![0.0; n];
    streams.fill(stream, law, &mut out, control)?;
    Ok(out)
}

/// An exponential random number, about, from random bits: the logarithm is taken as linear between powers of two, which
/// every machine computes alike.
pub(crate) fn exponential(random: u32) -> f32 {
    let zeros = random.leading_zeros();
    let fraction = (u64::from(random) << (zeros + 1)) as u32;
    LN_2 * (zeros as f32 + 1.0 - fraction as f32 / (u32::MAX as f32 + 1.0))
}

/// How many of `drawn` records, drawn without replacement from `all`, are among the `marked` ones.
///
/// Few draws are made one by one. Many are answered by inversion of the distribution function, summed from the most
/// likely value outwards: about as many steps as its standard deviation, exact to the last digits of a float.
pub fn hypergeometric(all: u64, marked: u64, drawn: u64, rng: &mut ChaCha20Rng) -> u64 {
    debug_assert!(marked <= all && drawn <= all);
    let (low, high) = ((drawn + marked).saturating_sub(all), drawn.min(marked));
    if low == high {
        return low;
    }
    if high <= 16 {
        // Which of the two is drawn from the other makes no difference.
        let (few, many) = (drawn.min(marked), drawn.max(marked));
        return (0..few).fold(0, |found, i| found + u64::from(rng.random_range(0..all - i) < many - found));
    }
    let mode = (u128::from(drawn + 1) * u128::from(marked + 1) / u128::from(all + 2)) as u64;
    let choose = |n: u64, k: u64| ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
    let at_mode = (choose(marked, mode) + choose(all - marked, drawn - mode) - choose(all, drawn)).exp();
    // P(x+1) / P(x)
    let ratio =
        |x: u64| (marked - x) as f64 * (drawn - x) as f64 / ((x + 1) as f64 * (all + x + 1 - marked - drawn) as f64);
    let mut left = rng.random::<f64>() - at_mode;
    let (mut below, mut above) = ((mode, at_mode), (mode, at_mode));
    while left >= 0.0 {
        if above.0 < high {
            above = (above.0 + 1, above.1 * ratio(above.0));
            left -= above.1;
            if left < 0.0 {
                return above.0;
            }
        }
        if below.0 > low {
            below = (below.0 - 1, below.1 / ratio(below.0 - 1));
            left -= below.1;
            if left < 0.0 {
                return below.0;
            }
        }
        if (below.0, above.0) == (low, high) {
            break; // what rounding left of the whole
        }
    }
    mode
}

/// Logarithm of a factorial: a product for small numbers, Stirling's series (error below 1e-12) for others.
fn ln_factorial(n: u64) -> f64 {
    if n < 16 {
        return ((2..=n).product::<u64>() as f64).ln();
    }
    let x = n as f64;
    let series = (1.0 - (1.0 - 2.0 / (7.0 * x * x)) / (30.0 * x * x)) / (12.0 * x);
    (x + 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn streams_of_a_family_are_distinct() {
        fn of(streams: impl IntoIterator<Item = Stream>) -> Vec<Stream> {
            streams.into_iter().collect()
        }
        const COLUMNS: u32 = 400;
        const PASSES: u32 = 1 << 20;
        let columns = || 0..COLUMNS;
        let refinement = |of| (0..3).map(move |round| Stream::Refinement(of, round));
        let choices = columns().flat_map(|column| (0..1_000).map(move |part| Stream::NoiseChoice { column, part }));
        let families = [
            of(columns().map(Stream::SwapColumn)),
            of([Stream::SwapRecords]),
            of(columns().map(Stream::Pairs)),
            [
                of([Stream::FirstOrder, Stream::GroupOrders, Stream::Identities]),
                of(columns().map(Stream::Permutation)),
                of((0..PASSES).map(Stream::GroupPass)),
            ]
            .concat(),
            [of(columns().map(Stream::NoiseNormal)), of(columns().map(Stream::NoiseSpread)), of(choices)].concat(),
            [
                of([Stream::SegmentKicks, Stream::ItemOrders, Stream::TourKicks]),
                of([Refinement::Tour, Refinement::WideTree, Refinement::Tree].into_iter().flat_map(refinement)),
                of([Stream::ClosedWalk, Stream::Wmc, Stream::Augment, Stream::Split, Stream::ChosenAssignment]),
                of([Stream::WithinGroups, Stream::DiverseRounds, Stream::DiverseExtraction]),
                of([Stream::ItemsetRepresentatives, Stream::ItemsetTrees, Stream::ItemsetNeighbourhoods]),
                // Queries may well be drawn with the seed of the release that they are put to.
                of([Stream::Queries]),
            ]
            .concat(),
            of([Stream::Sample, Stream::MatchedPool, Stream::MatchedTarget, Stream::Recoding]),
        ];
        for family in families {
            let mut seen = HashMap::new();
            for stream in family.into_iter().chain([Stream::Shuffle]) {
                let before = seen.insert(stream.number(), stream);
                assert_eq!(before, None, "{stream:?} has the number of another stream");
            }
        }
    }

    #[test]
    fn exponential_numbers() {
        assert!(exponential(u32::MAX) < 1e-6 && exponential(0) > 20.0);
        let mean = (0..1u32 << 16).map(|i| f64::from(exponential(i << 16 | 1 << 15))).sum::<f64>() / f64::from(1 << 16);
        // Linear between powers of two: a little above the 1 of the true law.
        assert!((1.0..1.1).contains(&mean), "{mean}");
    }
}
