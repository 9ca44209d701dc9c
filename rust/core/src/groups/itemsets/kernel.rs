//! Sets of items as members of groups.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use super::cost::{Costs, Tally};
use super::neighbourhood::Neighbourhood;
use super::tree::Tree;
use crate::control::Control;
use crate::error::Result;
use crate::groups::search::{HEAT, Kernel, Partition};
use crate::rng::{Stream, Streams};

/// Records in a neighbourhood, about, and groups at least.
const LEAST: (usize, usize) = (128, 16);

/// Rounds of search in a neighbourhood before groups are mixed again.
const ROUNDS: usize = 4;

/// Passes of annealing from which on it begins with the usual temperature. Fewer, down to a third, cool down in time from a
/// lower one.
const MANY: f64 = 200.0;

/// What a search works on.
pub(super) struct ItemsetKernel<'a> {
    pub(super) k: usize,
    /// Where given, no two records of a group may share one.
    pub(super) labels: Option<&'a [u32]>,
    pub(super) costs: &'a Costs<'a>,
    pub(super) streams: &'a Streams,
    pub(super) control: &'a Control,
}

impl Kernel for ItemsetKernel<'_> {
    type Cost = i128;
    type Scratch = Tally;

    fn cost(&self, partition: &Partition) -> Result<i128> {
        self.costs.total(&partition.groups(), self.control)
    }

    fn heat(cost: i128, annealing: u32) -> f64 {
        HEAT * (f64::from(annealing) / MANY).clamp(1.0 / 3.0, 1.0) * cost as f64
    }

    /// Where groups stand, and the counts of all items for each thread.
    fn needs(&self, partition: &Partition) -> usize {
        let place = 2 * size_of::<(u32, u32)>() + size_of::<u32>();
        let items = 3 * size_of::<u32>() * self.costs.sets.n_items() as usize;
        place * partition.sizes.len() + items * rayon::current_num_threads()
    }

    fn arrange(&self, groups: &[&[u32]], pass: u32) -> Result<(Vec<u32>, Vec<usize>)> {
        let mut rng = self.streams.generator(Stream::ItemsetRepresentatives, pass);
        let mut places: Vec<(u32, u32)> =
            (0..).zip(groups).map(|(group, records)| (group, records[rng.random_range(0..records.len())])).collect();
        let mean = groups.iter().map(|records| records.len()).sum::<usize>() / groups.len();
        let leaf = (LEAST.0 / mean).max(LEAST.1);
        let tree = Tree { sets: self.costs.sets, streams: self.streams, control: self.control, pass, leaf };
        let counts = tree.arrange(&mut places)?;
        Ok((places.into_iter().map(|(group, _)| group).collect(), counts))
    }

    fn generator(&self, pass: u32, neighbourhood: usize, of: usize) -> ChaCha20Rng {
        // Those of a pass follow those of the passes before; that a number comes again after 2^32 does no harm.
        let number = pass.wrapping_mul(of as u32).wrapping_add(neighbourhood as u32);
        self.streams.generator(Stream::ItemsetNeighbourhoods, number)
    }

    fn search(
        &self,
        records: &mut [u32],
        sizes: &mut [u32],
        temperature: f64,
        tally: &mut Tally,
        rng: &mut ChaCha20Rng,
    ) -> Result<()> {
        let mut neighbourhood = Neighbourhood::new(records, sizes, self.k, self.labels, self.costs, tally)?;
        neighbourhood.search(ROUNDS, temperature, rng, self.control)?;
        neighbourhood.write(records, sizes);
        Ok(())
    }
}
