//! Search for better groups: tuples change places, in many small crowds of neighbouring groups at once.
//!
//! In each pass the groups are put into a new random order and cut into crowds, and each crowd is searched by itself, so
//! the result does not depend on threads. A group stands in the order where a random member belongs: a member that fits badly
//! brings its group, sooner or later, to groups where it fits well.

use rand::RngExt;
use rayon::prelude::*;

use super::costs::{Costs, pair_sum, tally};
use super::crowd::{ACTIVE, Crowd};
use super::order::Order;
use super::{ORDERS, PASSES};
use crate::control::Control;
use crate::error::Result;
use crate::rng::Streams;
use crate::swap::tuples::Tuples;

/// Members and groups in a crowd, at least.
const CROWD: (usize, usize) = (96, 5);

/// Rounds of annealing in a crowd before groups are mixed again.
const ROUNDS: usize = 8;

/// First temperature of annealing, as a share of the cost per tuple.
const HEAT: f64 = 0.3;

/// Times that attributes are balanced in annealing.
const BALANCINGS: u32 = 10;

/// Groups whose costs are summed up by themselves.
const BLOCK: usize = 1 << 10;

/// What a search works on.
pub(super) struct Search<'a> {
    pub(super) k: usize,
    pub(super) tuples: &'a Tuples,
    pub(super) costs: &'a Costs,
    pub(super) streams: &'a Streams,
    pub(super) control: &'a Control,
}

/// Tuples in groups.
#[derive(Clone)]
pub(super) struct Partition {
    /// Tuples group after group, one entry for each copy.
    pub(super) members: Vec<u32>,
    /// Sizes of these groups.
    pub(super) sizes: Vec<u32>,
    /// Copies of each tuple that make up a group of their own beside these: none, or at least `k`.
    pub(super) apart: Vec<u32>,
}

impl Partition {
    /// The groups beside those apart.
    pub(super) fn groups(&self) -> impl Iterator<Item = &[u32]> {
        let mut rest = &self.members[..];
        self.sizes.iter().map(move |&size| {
            let (group, others) = rest.split_at(size as usize);
            rest = others;
            group
        })
    }

    /// Sets groups of identical tuples apart, and forgets groups that were dissolved.
    fn settle(&mut self) {
        let (mut members, mut sizes) = (Vec::with_capacity(self.members.len()), Vec::with_capacity(self.sizes.len()));
        let mut apart = std::mem::take(&mut self.apart);
        for group in self.groups() {
            let Some(&first) = group.first() else { continue };
            if group.iter().all(|&tuple| tuple == first) {
                apart[first as usize] += group.len() as u32;
            } else {
                members.extend_from_slice(group);
                sizes.push(group.len() as u32);
            }
        }
        *self = Self { members, sizes, apart };
    }
}

/// Where a group stands in the order of a pass.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    key: u64,
    /// Position of its first member; nothing for a group of copies that were apart.
    start: Option<u32>,
    size: u32,
    representative: u32,
}

impl Search<'_> {
    /// Whether groups of hardly more than `k` make crowds in which all members take part.
    pub(super) fn whole_crowds(&self) -> bool {
        CROWD.1 * (self.k + self.k / 8 + 1) <= ACTIVE
    }

    /// Improves a partition, by some passes of annealing and then some in which only gains count. Never raises the cost.
    pub(super) fn improve(&self, partition: &mut Partition, annealing: u32, descent: u32) -> Result<()> {
        if partition.sizes.len() < 2 && partition.apart.iter().all(|&copies| copies == 0) {
            return Ok(()); // nothing to exchange with
        }
        if annealing > 0 {
            let before = partition.clone();
            let mut by_attribute = self.cost_by_attribute(partition);
            let cost: f64 = by_attribute.iter().sum();
            let heat = HEAT * cost / partition.members.len().max(1) as f64;
            for pass in 0..annealing {
                if pass > 0 && pass % (annealing / BALANCINGS).max(1) == 0 {
                    by_attribute = self.cost_by_attribute(partition);
                }
                let left = 1.0 - f64::from(pass) / f64::from(annealing);
                self.pass(partition, pass, (heat * left * left) as f32, &balance(&by_attribute))?;
            }
            // Few passes may leave it warmer than it was.
            if self.cost_by_attribute(partition).iter().sum::<f64>() > cost {
                *partition = before;
            }
        }
        let even = vec![1.0; self.costs.attributes()];
        (0..descent).try_for_each(|pass| self.pass(partition, annealing + pass, 0.0, &even))
    }

    /// One pass: groups in a new order, cut into crowds, each searched by itself.
    fn pass(&self, partition: &mut Partition, pass: u32, temperature: f32, weights: &[f32]) -> Result<()> {
        self.arrange(partition, pass);
        let (mut members, mut sizes) = (&mut partition.members[..], &mut partition.sizes[..]);
        let mut crowds = Vec::new();
        while !sizes.is_empty() {
            let (count, total) = first_crowd(sizes);
            let (crowd_members, crowd_sizes);
            (crowd_members, members) = members.split_at_mut(total);
            (crowd_sizes, sizes) = sizes.split_at_mut(count);
            crowds.push((crowd_members, crowd_sizes));
        }
        crowds.into_par_iter().enumerate().try_for_each(|(number, (members, sizes))| {
            let mut rng = self.streams.generator(PASSES + pass, number as u32);
            let mut crowd = Crowd::new(members, sizes, self.k, self.tuples, self.costs, weights, &mut rng);
            if temperature > 0.0 {
                crowd.anneal(ROUNDS, temperature, &mut rng);
            } else {
                crowd.descend(self.control)?;
            }
            crowd.write(members, sizes);
            self.control.check()
        })?;
        partition.settle();
        self.control.advance(self.tuples.total() as u64)
    }

    /// Puts the groups into a new random order.
    ///
    /// Of the copies apart, some take part as one group more, since a rare tuple may be better off with them; those that
    /// nobody needed are set apart again after the pass.
    fn arrange(&self, partition: &mut Partition, pass: u32) {
        let mut rng = self.streams.generator(ORDERS, pass);
        let order = Order::new(self.costs, &mut rng);
        let mut start = 0;
        let mut places: Vec<Place> = Vec::with_capacity(partition.sizes.len());
        for group in partition.groups() {
            let (size, representative) = (group.len() as u32, group[rng.random_range(0..group.len())]);
            places.push(Place { key: 0, start: Some(start), size, representative });
            start += size;
        }
        let k = self.k as u32;
        for (representative, apart) in (0u32..).zip(&mut partition.apart).filter(|(_, apart)| **apart > 0) {
            // What stays must be enough for a group; what goes leaves room for others and can spare some.
            let size = if *apart < 2 * k { *apart } else { (*apart - k).min(k + (k - 1) / 2) };
            *apart -= size;
            places.push(Place { key: 0, start: None, size, representative });
        }
        places.par_iter_mut().for_each(|p| p.key = order.key(self.tuples.codes(p.representative as usize)));
        places.par_sort_unstable();
        let mut members = Vec::with_capacity(places.iter().map(|p| p.size as usize).sum());
        for place in &places {
            match place.start {
                Some(start) => members.extend_from_slice(&partition.members[start as usize..][..place.size as usize]),
                None => members.resize(members.len() + place.size as usize, place.representative),
            }
        }
        partition.members = members;
        partition.sizes = places.iter().map(|p| p.size).collect();
    }

    /// Sum of what the groups cost, for each attribute.
    pub(super) fn cost_by_attribute(&self, partition: &Partition) -> Vec<f64> {
        let groups: Vec<&[u32]> = partition.groups().collect();
        let of_block = |attribute: usize, block: &[&[u32]]| {
            let (mut codes, mut counts) = (Vec::new(), Vec::new());
            let of_group = |group: &&[u32]| {
                codes.clear();
                codes.extend(group.iter().map(|&tuple| self.tuples.codes(tuple as usize)[attribute]));
                tally(&mut codes, &mut counts);
                let sum = pair_sum(&counts, |a, b| f64::from(self.costs.row(attribute, a)[b as usize]));
                sum / group.len() as f64
            };
            block.iter().map(of_group).sum::<f64>()
        };
        let of_attribute = |attribute| {
            let sums: Vec<f64> = groups.par_chunks(BLOCK).map(|block| of_block(attribute, block)).collect();
            sums.iter().sum()
        };
        (0..self.costs.attributes()).map(of_attribute).collect()
    }
}

/// Weights that hold back attributes which the groups serve better than others. Many partitions cost nearly the same and
/// differ in who pays, so gentle weights do.
fn balance(costs: &[f64]) -> Vec<f32> {
    let positive = costs.iter().filter(|&&cost| cost > 0.0).count().max(1);
    let mean = costs.iter().sum::<f64>() / positive as f64;
    costs.iter().map(|&cost| if cost > 0.0 { (cost / mean).sqrt() as f32 } else { 1.0 }).collect()
}

/// Number of groups and of members in the first crowd. The last crowd takes what would be too little for one more.
fn first_crowd(sizes: &[u32]) -> (usize, usize) {
    let mut total = 0;
    for (count, &size) in sizes.iter().enumerate() {
        if count >= CROWD.1 && total >= CROWD.0 && sizes.len() - count >= CROWD.1 {
            return (count, total);
        }
        total += size as usize;
    }
    (sizes.len(), total)
}
