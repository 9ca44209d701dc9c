//! Randomness: `ChaCha` streams that depend on the seed and on what they are for, never on threads.
//!
//! Every random task is named by a *stream* (a column, an attribute, a purpose) and is cut into *blocks* of
//! records. Each (stream, block) has its own generator, set up before the work is shared out, so any number of
//! threads draws the same numbers. Without a seed the key comes from the operating system.

use rand::distr::{Distribution, StandardUniform};
use rand::rngs::SysRng;
use rand::{Rng, SeedableRng, TryRng};
use rand_chacha::ChaCha20Rng;
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
    let mut out = vec![0.0; n];
    streams.fill(stream, &StandardUniform, &mut out, control)?;
    Ok(out)
}
