//! Randomness: `ChaCha` streams that depend on the seed and on what they are for, never on threads.
//!
//! Every random task is named by a *stream* (a column, an attribute, a purpose) and is cut into *blocks* of
//! records. Each (stream, block) has its own generator, set up before the work is shared out, so any number of
//! threads draws the same numbers. Without a seed the key comes from the operating system.

use std::f32::consts::LN_2;

use rand::distr::{Distribution, StandardUniform};
use rand::rngs::SysRng;
use rand::{Rng, RngExt, SeedableRng, TryRng};
use rand_chacha::ChaCha20Rng;
use rand_distr::StandardNormal;
use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};

/// Records that share one generator. Part of the output law for a given seed: changing it changes seeded results.
const BLOCK: usize = 1 << 16;

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
    pub fn generator(&self, stream: u32, block: u32) -> ChaCha20Rng {
        let mut generator = ChaCha20Rng::from_seed(self.key);
        generator.set_stream((u64::from(stream) << 32) | u64::from(block));
        generator
    }

    /// Fills `out` with independent draws of `distribution`, in parallel blocks.
    pub fn fill<T, D>(&self, stream: u32, distribution: &D, out: &mut [T], control: &Control) -> Result<()>
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
pub fn uniform(n: usize, streams: &Streams, stream: u32, control: &Control) -> Result<Vec<f64>> {
    draws(n, &StandardUniform, streams, stream, control)
}

/// `n` independent numbers of the standard normal distribution.
pub fn normal(n: usize, streams: &Streams, stream: u32, control: &Control) -> Result<Vec<f64>> {
    draws(n, &StandardNormal, streams, stream, control)
}

fn draws<D>(n: usize, law: &D, streams: &Streams, stream: u32, control: &Control) -> Result<Vec<f64>>
where
    D: Distribution<f64> + Sync,
{
    // A trial, because `vec!` would end the process; and `vec!`, because it leaves the memory to the threads.
    Vec::<f64>::new().try_reserve_exact(n).map_err(|_| Error::Memory(n))?;
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
    use super::*;

    #[test]
    fn exponential_numbers() {
        assert!(exponential(u32::MAX) < 1e-6 && exponential(0) > 20.0);
        let mean = (0..1u32 << 16).map(|i| f64::from(exponential(i << 16 | 1 << 15))).sum::<f64>() / f64::from(1 << 16);
        // Linear between powers of two: a little above the 1 of the true law.
        assert!((1.0..1.1).contains(&mean), "{mean}");
    }
}
