//! Tuples of categories as members of groups.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use super::constraints::{Divider, draw_evenly};
use super::costs::Costs;
use super::neighbourhood::{ACTIVE, Neighbourhood};
use super::order::Order;
use crate::control::Control;
use crate::error::Result;
use crate::groups::search::{HEAT, Kernel, Partition};
use crate::rng::{Stream, Streams};
use crate::tuples::Tuples;

/// Members and groups in a neighbourhood, at least.
const LEAST: (usize, usize) = (96, 5);

/// Groups that follow each other in an order, about, out of which neighbourhoods are chosen.
const NEAR: usize = 128;

/// Passes of annealing up to which it begins at [`HEAT`]; and how many times hotter it begins at most where there are more.
const PATIENCE: (u32, f64) = (200, 4.0);

/// Rounds of annealing in a neighbourhood before groups are mixed again: some, and more for each attribute, since to measure
/// the costs between its members takes the longer the more there are.
const ROUNDS: (usize, usize) = (4, 2);

/// What a search works on.
pub(super) struct TupleKernel<'a> {
    /// Least size of a group.
    pub(super) k: usize,
    /// The distinct records: categories of the attributes, then values of the constraints.
    pub(super) tuples: &'a Tuples,
    /// Of each constraint, one of how many records of a group may have the same value.
    pub(super) shares: &'a [usize],
    pub(super) costs: &'a Costs<'a>,
    /// Weights of the attributes beside the costs' own.
    pub(super) weights: Vec<f32>,
    pub(super) streams: &'a Streams,
    pub(super) control: &'a Control,
}

impl TupleKernel<'_> {
    /// Whether groups of hardly more than `k` make neighbourhoods in which all members take part.
    pub(super) fn nobody_rests(&self) -> bool {
        LEAST.1 * (self.k + self.k / 8 + 1) <= ACTIVE
    }

    /// Values of a tuple, one for each constraint.
    #[inline]
    pub(super) fn values(&self, tuple: u32) -> &[u32] {
        &self.tuples.codes(tuple as usize)[self.costs.attributes()..]
    }

    /// Divides a few groups into neighbourhoods, each of the first one left and those nearest to it: where there are many
    /// attributes, groups that follow each other in an order have only some of them in common. Returns the sizes.
    fn neighbourhoods(&self, mut places: &mut [Place]) -> Vec<usize> {
        let codes = |place: &Place| self.tuples.codes(place.representative as usize);
        let mut counts = Vec::new();
        while let Some(first) = places.first() {
            let mut near: Vec<(f32, Place)> =
                places.iter().map(|place| (self.costs.between(codes(first), codes(place)), *place)).collect();
            // The first one stays, and of those as near the first in the order come first.
            near[1..].sort_by(|a, b| a.0.total_cmp(&b.0));
            let count = first_neighbourhood(&near);
            near[count..].sort_unstable_by_key(|&(_, place)| place);
            places.iter_mut().zip(near).for_each(|(place, (_, next))| *place = next);
            counts.push(count);
            places = &mut places[count..];
        }
        counts
    }

    /// Sum of what the groups cost, for each attribute.
    fn cost_by_attribute(&self, partition: &Partition) -> Vec<f64> {
        let groups = partition.groups();
        let of_attribute =
            |attribute| self.costs.inside(attribute, &groups, |tuple| self.tuples.codes(tuple as usize)[attribute]);
        (0..self.costs.attributes()).map(of_attribute).collect()
    }
}

/// Where a group stands in the order of a pass. Of groups at one place, those of identical members come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    key: u64,
    mixed: Option<u32>,
    size: u32,
    representative: u32,
    group: u32,
}

impl Kernel for TupleKernel<'_> {
    type Cost = f64;
    type Scratch = ();

    fn cost(&self, partition: &Partition) -> Result<f64> {
        Ok(self.cost_by_attribute(partition).iter().sum())
    }

    /// The longer it takes, the hotter it may begin and still cool down slowly.
    fn heat(cost: f64, annealing: u32) -> f64 {
        let patience = f64::from(annealing) / f64::from(PATIENCE.0);
        HEAT * cost * patience.powi(2).clamp(1.0, PATIENCE.1)
    }

    fn alike(&self, a: u32, b: u32) -> bool {
        // One by one: they are few, and the first one is mostly enough.
        let codes = |tuple: u32| self.tuples.codes(tuple as usize)[..self.costs.attributes()].iter();
        a == b || !self.shares.is_empty() && codes(a).eq(codes(b))
    }

    fn lend(&self, first: u32, apart: &[u32], size: u32) -> Option<Vec<u32>> {
        if self.shares.is_empty() {
            return Some(vec![size]);
        }
        let evenly = draw_evenly(self.shares, apart, size as usize, |member| self.values(first + member as u32));
        if evenly.is_some() {
            return evenly;
        }
        let copies: Vec<u32> =
            (first..).zip(apart).flat_map(|(tuple, &copies)| std::iter::repeat_n(tuple, copies as usize)).collect();
        let chosen = Divider::new(self.shares, copies.iter().map(|&tuple| self.values(tuple))).draw(size as usize)?;
        let mut lent = vec![0; apart.len()];
        for place in chosen {
            lent[(copies[place as usize] - first) as usize] += 1;
        }
        Some(lent)
    }

    /// Holds back attributes which the groups serve better than others of the same kind. Many partitions cost nearly the same
    /// and differ in who pays, so gentle weights do. How much a number may pay for a label is what the costs themselves say.
    fn weigh(&mut self, partition: Option<&Partition>) {
        let costs = partition.map_or_else(Vec::new, |partition| self.cost_by_attribute(partition));
        let kind = |attribute: usize| std::mem::discriminant(&self.costs.of(attribute).cells);
        let weight = |attribute: usize| {
            let like = costs.iter().enumerate().filter(|&(other, &cost)| cost > 0.0 && kind(other) == kind(attribute));
            let (sum, count) = like.fold((0.0, 0), |(sum, count), (_, cost)| (sum + cost, count + 1));
            if costs[attribute] > 0.0 { (costs[attribute] * f64::from(count) / sum).sqrt() as f32 } else { 1.0 }
        };
        let mut weights: Vec<f32> = (0..costs.len()).map(weight).collect();
        weights.resize(self.costs.attributes(), 1.0);
        self.weights = weights;
    }

    /// Where groups stand, and a neighbourhood for each thread, with the costs between its members and the values of these.
    fn needs(&self, partition: &Partition) -> usize {
        let groups = partition.sizes.len() + partition.groups_apart(self);
        let mean = partition.members.len().div_ceil(partition.sizes.len().max(1)).max(self.k);
        let members = (2 * LEAST.0).max(2 * LEAST.1 * mean).min(self.tuples.total());
        let active = members.min(ACTIVE);
        let values = self.shares.len() * members * (4 * size_of::<usize>() + 2 * size_of::<(u64, usize)>());
        let neighbourhood = size_of::<f32>() * active * active + 16 * size_of::<u32>() * members + values;
        let neighbourhood = neighbourhood + self.costs.crowd_needs(active);
        let neighbourhoods = self.tuples.total().div_ceil(LEAST.0.max(LEAST.1 * self.k));
        let places = size_of::<Place>() * groups + Order::needs(self.costs);
        places + neighbourhood * neighbourhoods.min(rayon::current_num_threads())
    }

    fn arrange(&self, groups: &[&[u32]], pass: u32) -> Result<(Vec<u32>, Vec<usize>)> {
        let mut rng = self.streams.generator(Stream::GroupOrders, pass);
        let order = Order::new(self.costs, &mut rng);
        let place = |(group, &members): (u32, &&[u32])| {
            let representative = members[rng.random_range(0..members.len())];
            let mixed = members.iter().any(|&member| !self.alike(member, representative)).then_some(group);
            Place { key: 0, mixed, size: members.len() as u32, representative, group }
        };
        let mut places: Vec<Place> = (0..).zip(groups).map(place).collect();
        places.par_iter_mut().for_each(|p| p.key = order.key(self.tuples.codes(p.representative as usize)));
        places.par_sort_unstable();
        self.control.check()?;
        let (mut rest, blocks) = (&mut places[..], (groups.len() / NEAR).max(1));
        let length = |block: usize| groups.len() * (block + 1) / blocks - groups.len() * block / blocks;
        let blocks: Vec<&mut [Place]> =
            (0..blocks).map(|block| rest.split_off_mut(..length(block)).unwrap_or_default()).collect();
        let counts: Vec<Vec<usize>> = blocks.into_par_iter().map(|block| self.neighbourhoods(block)).collect();
        self.control.check()?;
        Ok((places.iter().map(|place| place.group).collect(), counts.concat()))
    }

    fn generator(&self, pass: u32, neighbourhood: usize, _of: usize) -> ChaCha20Rng {
        self.streams.generator(Stream::GroupPass(pass), neighbourhood as u32)
    }

    fn search(
        &self,
        members: &mut [u32],
        sizes: &mut [u32],
        temperature: f64,
        (): &mut (),
        rng: &mut ChaCha20Rng,
    ) -> Result<()> {
        let mut neighbourhood = Neighbourhood::new(members, sizes, self, rng);
        let temperature = temperature as f32;
        if temperature > 0.0 {
            neighbourhood.anneal(ROUNDS.0 + ROUNDS.1 * self.costs.attributes(), temperature, rng);
        } else {
            neighbourhood.descend(self.control)?;
        }
        neighbourhood.write(members, sizes);
        Ok(())
    }
}

/// Number of groups in the first neighbourhood. The last one takes what would be too little for one more.
fn first_neighbourhood(places: &[(f32, Place)]) -> usize {
    let mut total = 0;
    for (count, (_, place)) in places.iter().enumerate() {
        if count >= LEAST.1 && total >= LEAST.0 && places.len() - count >= LEAST.1 {
            return count;
        }
        total += place.size as usize;
    }
    places.len()
}
