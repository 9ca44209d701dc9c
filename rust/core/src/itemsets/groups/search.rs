//! Search for better groups: records change places, in many small crowds of neighbouring groups at once.
//!
//! In each pass the groups are put into a new random order in which near ones follow each other, the order is cut into
//! crowds, and each crowd is searched by itself, so the result does not depend on threads. A group stands where a random
//! member belongs: a member that fits badly brings its group, sooner or later, to groups where it fits well.

use std::time::Instant;

use rand::RngExt;
use rayon::prelude::*;

use super::cost::{Costs, Tally};
use super::crowd::Crowd;
use super::tree::Tree;
use super::{CROWDS, Effort, REPRESENTATIVES};
use crate::control::Control;
use crate::error::Result;
use crate::lists::Lists;
use crate::rng::Streams;

/// Records in a crowd, about, and groups at least.
const CROWD: (usize, usize) = (128, 16);

/// Rounds of search in a crowd before groups are mixed again.
const ROUNDS: usize = 4;

/// First temperature of annealing, as a share of the cost per record, where there are many passes. Fewer, down to a third,
/// cool down in time from a lower one.
const HEAT: f64 = 0.3;
const MANY: f64 = 200.0;

/// Crowds that are searched by one task.
const TASK: usize = 16;

/// What a search works on.
pub(super) struct Search<'a> {
    pub(super) k: usize,
    /// Where given, no two records of a group may share one.
    pub(super) labels: Option<&'a [u32]>,
    pub(super) costs: &'a Costs<'a>,
    pub(super) streams: &'a Streams,
    pub(super) control: &'a Control,
}

/// Records in groups.
#[derive(Clone)]
pub(super) struct Partition {
    /// Records group after group.
    pub(super) records: Vec<u32>,
    /// Sizes of the groups.
    pub(super) sizes: Vec<u32>,
}

impl Partition {
    fn groups(&self) -> Vec<&[u32]> {
        let mut rest = &self.records[..];
        let group = |&size: &u32| {
            let (group, others) = rest.split_at(size as usize);
            rest = others;
            group
        };
        self.sizes.iter().map(group).collect()
    }

    pub(super) fn lists(&self) -> Lists {
        let mut lists = Lists::builder(self.sizes.len(), self.records.len());
        for group in self.groups() {
            lists.push(group.iter().copied());
        }
        lists
    }
}

impl Search<'_> {
    /// Improves a partition, by passes of annealing and then some in which only gains count. Never raises the cost.
    pub(super) fn improve(&self, partition: &mut Partition, effort: Effort) -> Result<()> {
        if partition.sizes.len() < 2 {
            return Ok(()); // nothing to exchange with
        }
        let begin = Instant::now();
        // The share of the time that is spent; without a limit, none ever.
        let spent = || effort.limit.map_or(0.0, |limit| begin.elapsed().as_secs_f64() / limit.as_secs_f64().max(1e-9));
        let mut pass = 0;
        if effort.annealing > 0 {
            let before = partition.clone();
            let cost = self.costs.total(&before.groups(), self.control)?;
            let heat = HEAT * (f64::from(effort.annealing) / MANY).clamp(1.0 / 3.0, 1.0) * cost as f64
                / partition.records.len() as f64;
            while pass < effort.annealing {
                let left = 1.0 - spent().max(f64::from(pass) / f64::from(effort.annealing));
                if left <= 0.0 {
                    break;
                }
                self.pass(partition, pass, heat * left * left)?;
                pass += 1;
            }
            // Few passes may leave it warmer than it was.
            if self.costs.total(&partition.groups(), self.control)? > cost {
                *partition = before;
            }
        }
        for descent in 0..effort.descent {
            if descent == 0 || spent() < 1.0 {
                self.pass(partition, pass + descent, 0.0)?;
            }
        }
        Ok(())
    }

    /// One pass: groups in a new order, cut into crowds, each searched by itself.
    fn pass(&self, partition: &mut Partition, pass: u32, temperature: f64) -> Result<()> {
        let bounds = self.arrange(partition, pass)?;
        let Partition { records, sizes } = partition;
        let (mut records, mut sizes) = (&mut records[..], &mut sizes[..]);
        let mut crowds = Vec::with_capacity(bounds.len());
        for count in bounds {
            let (crowd_records, crowd_sizes);
            (crowd_sizes, sizes) = sizes.split_at_mut(count);
            (crowd_records, records) = records.split_at_mut(crowd_sizes.iter().sum::<u32>() as usize);
            crowds.push((crowd_records, crowd_sizes));
        }
        // Seeds of the crowds follow those of the passes before; that a number comes again after 2^32 crowds does no harm.
        let first = pass.wrapping_mul(crowds.len() as u32);
        crowds.par_chunks_mut(TASK).enumerate().try_for_each(|(task, crowds)| {
            let mut tally = Tally::new(self.costs.sets.n_items());
            for (index, (records, sizes)) in crowds.iter_mut().enumerate() {
                let mut rng = self.streams.generator(CROWDS, first.wrapping_add((task * TASK + index) as u32));
                let mut crowd = Crowd::new(records, sizes, self.k, self.labels, self.costs, &mut tally);
                crowd.search(ROUNDS, temperature, &mut rng, self.control)?;
                crowd.write(records, sizes);
                self.control.advance(records.len() as u64)?;
            }
            Ok(())
        })
    }

    /// Puts the groups into a new random order. Gives the numbers of groups in each crowd.
    fn arrange(&self, partition: &mut Partition, pass: u32) -> Result<Vec<usize>> {
        let groups = partition.groups();
        let mut rng = self.streams.generator(REPRESENTATIVES, pass);
        let mut places: Vec<(u32, u32)> =
            (0..).zip(&groups).map(|(group, records)| (group, records[rng.random_range(0..records.len())])).collect();
        let mean = partition.records.len() / groups.len();
        let tree = Tree {
            sets: self.costs.sets,
            streams: self.streams,
            control: self.control,
            pass,
            leaf: (CROWD.0 / mean).max(CROWD.1),
        };
        let bounds = tree.arrange(&mut places)?;
        let mut records = Vec::with_capacity(partition.records.len());
        let mut sizes = Vec::with_capacity(groups.len());
        for &(group, _) in &places {
            records.extend_from_slice(groups[group as usize]);
            sizes.push(partition.sizes[group as usize]);
        }
        *partition = Partition { records, sizes };
        Ok(bounds)
    }
}
