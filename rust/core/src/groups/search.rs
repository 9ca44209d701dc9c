//! Search for better groups: members change places between groups that are near each other.
//!
//! In each pass the groups are put into a new random order in which near ones follow each other. The order is cut into
//! *neighbourhoods* of a few groups, and members change places inside a neighbourhood only; so all of them are searched at
//! once, each with its own generator, and the result does not depend on threads. A group stands in the order where a random
//! member belongs: a member that fits badly brings its group, sooner or later, to groups where it fits well.

use std::ops::Range;
use std::time::Instant;

use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use super::Effort;
use crate::control::Control;
use crate::error::Result;
use crate::memory;

/// First temperature of annealing, as a share of the cost per member.
pub(super) const HEAT: f64 = 0.3;

/// Times that parts of the cost are weighed anew in annealing.
const BALANCINGS: u32 = 10;

/// What members are, and what groups of them cost.
pub(super) trait Kernel: Sync {
    /// Cost of a partition.
    type Cost: Copy + PartialOrd;

    /// Memory that is used for one neighbourhood after another.
    type Scratch: Default;

    /// What all groups cost, but for those apart, which cost nothing.
    fn cost(&self, partition: &Partition) -> Result<Self::Cost>;

    /// First temperature of so many passes of annealing, summed up over all members: about [`HEAT`] of the cost.
    fn heat(cost: Self::Cost, annealing: u32) -> f64;

    /// Weighs parts of the cost by how well the groups serve them; without a partition, all alike.
    fn weigh(&mut self, _partition: Option<&Partition>) {}

    /// Whether a group of these two alone costs nothing.
    fn alike(&self, a: u32, b: u32) -> bool {
        a == b
    }

    /// How many of the copies apart of each of some members, which are alike and begin with `first`, to take for one group
    /// more of this size, if that is possible.
    fn lend(&self, _first: u32, apart: &[u32], size: u32) -> Option<Vec<u32>> {
        (apart.len() == 1).then(|| vec![size])
    }

    /// Bytes that a pass takes.
    fn needs(&self, partition: &Partition) -> usize;

    /// A random order in which near groups follow each other, and the number of groups in each neighbourhood.
    fn arrange(&self, groups: &[&[u32]], pass: u32) -> Result<(Vec<u32>, Vec<usize>)>;

    /// The generator of a neighbourhood in a pass that has so many.
    fn generator(&self, pass: u32, neighbourhood: usize, of: usize) -> ChaCha20Rng;

    /// Exchanges members between groups. A change that costs more is made the less often, the lower the temperature; at zero,
    /// only gains are made. A group that was dissolved has size 0.
    fn search(
        &self,
        members: &mut [u32],
        sizes: &mut [u32],
        temperature: f64,
        scratch: &mut Self::Scratch,
        rng: &mut ChaCha20Rng,
    ) -> Result<()>;
}

/// Members with numbers next to each other that are alike.
pub(super) fn runs<K: Kernel>(kernel: &K, members: usize) -> impl Iterator<Item = Range<usize>> {
    let mut rest = 0..members;
    std::iter::from_fn(move || {
        let first = rest.next()?;
        rest.start = rest.clone().find(|&member| !kernel.alike(first as u32, member as u32)).unwrap_or(members);
        Some(first..rest.start)
    })
}

/// Members in groups.
#[derive(Clone)]
pub(super) struct Partition {
    /// Members group after group. One that stands for several identical records is there once for each.
    pub(super) members: Vec<u32>,
    /// Sizes of these groups.
    pub(super) sizes: Vec<u32>,
    /// Copies of each member that make up a group of their own beside these, together with those of members that are alike
    /// and have the numbers next to it: none, or at least `k`. Empty where every member is a record of its own.
    pub(super) apart: Vec<u32>,
}

impl Partition {
    /// Number of groups apart.
    pub(super) fn groups_apart<K: Kernel>(&self, kernel: &K) -> usize {
        runs(kernel, self.apart.len()).filter(|run| self.apart[run.clone()].iter().any(|&copies| copies > 0)).count()
    }

    /// The groups beside those apart.
    pub(super) fn groups(&self) -> Vec<&[u32]> {
        let mut rest = &self.members[..];
        let group = |&size: &u32| {
            let (group, others) = rest.split_at(size as usize);
            rest = others;
            group
        };
        self.sizes.iter().map(group).collect()
    }

    /// Lets some of the copies apart take part as one group more, since a rare member may be better off with them.
    fn admit<K: Kernel>(&mut self, k: u32, kernel: &K) {
        let lend = |&(first, apart): &(u32, &[u32])| {
            let all = apart.iter().sum::<u32>();
            // What stays must be enough for a group; what goes leaves room for others and can spare some.
            let size = if all < 2 * k { all } else { (all - k).min(k + (k - 1) / 2) };
            if size == all { Some(apart.to_vec()) } else { kernel.lend(first, apart, size) }
        };
        let alike = self.alike(kernel);
        let lent: Vec<(u32, Option<Vec<u32>>)> = alike.par_iter().map(|run| (run.0, lend(run))).collect();
        for (first, copies) in lent.into_iter().filter_map(|(first, copies)| Some((first, copies?))) {
            for (member, copies) in (first..).zip(&copies) {
                self.apart[member as usize] -= copies;
                self.members.resize(self.members.len() + *copies as usize, member);
            }
            self.sizes.push(copies.iter().sum());
        }
    }

    /// The copies apart, group after group: the number of the first member, and the copies of each from there.
    pub(super) fn alike<K: Kernel>(&self, kernel: &K) -> Vec<(u32, &[u32])> {
        let copies = |run: Range<usize>| (run.start as u32, &self.apart[run]);
        let taken = |(_, apart): &(u32, &[u32])| apart.iter().any(|&copies| copies > 0);
        runs(kernel, self.apart.len()).map(copies).filter(taken).collect()
    }

    /// Puts the groups into an order.
    fn rearrange(&mut self, order: &[u32]) {
        let groups = self.groups();
        let mut members = Vec::with_capacity(self.members.len());
        for &group in order {
            members.extend_from_slice(groups[group as usize]);
        }
        self.sizes = order.iter().map(|&group| self.sizes[group as usize]).collect();
        self.members = members;
    }

    /// The members and sizes of consecutive groups, so many at a time.
    fn split(&mut self, counts: &[usize]) -> Vec<(&mut [u32], &mut [u32])> {
        let (mut members, mut sizes) = (&mut self.members[..], &mut self.sizes[..]);
        let of_count = |&count: &usize| {
            let own = sizes.split_off_mut(..count).unwrap_or_default();
            let total = own.iter().sum::<u32>() as usize;
            (members.split_off_mut(..total).unwrap_or_default(), own)
        };
        counts.iter().map(of_count).collect()
    }

    /// Sets groups of members that are alike apart, and forgets groups that were dissolved.
    fn settle<K: Kernel>(&mut self, kernel: &K) {
        if self.apart.is_empty() {
            return;
        }
        let (mut members, mut sizes) = (Vec::with_capacity(self.members.len()), Vec::with_capacity(self.sizes.len()));
        let mut apart = std::mem::take(&mut self.apart);
        for group in self.groups() {
            let Some(&first) = group.first() else { continue };
            if group.iter().all(|&member| kernel.alike(member, first)) {
                for &member in group {
                    apart[member as usize] += 1;
                }
            } else {
                members.extend_from_slice(group);
                sizes.push(group.len() as u32);
            }
        }
        *self = Self { members, sizes, apart };
    }
}

/// Improves a partition into groups of at least `k`, by passes of annealing and then some in which only gains count. Never
/// raises the cost.
pub(super) fn improve<K: Kernel>(
    kernel: &mut K,
    partition: &mut Partition,
    k: usize,
    effort: Effort,
    control: &Control,
) -> Result<()> {
    if partition.sizes.len() < 2 && partition.apart.iter().all(|&copies| copies == 0) {
        return Ok(()); // nothing to exchange with
    }
    if effort.passes() > 0 {
        memory::require(needs(kernel, partition, k) + kernel.needs(partition), "better groups")?;
    }
    let begin = Instant::now();
    // The share of the time that is spent; without a limit, none ever.
    let spent = || effort.limit.map_or(0.0, |limit| begin.elapsed().as_secs_f64() / limit.as_secs_f64().max(1e-9));
    let mut passes = 0;
    if effort.annealing > 0 {
        let before = partition.clone();
        let cost = kernel.cost(partition)?;
        let heat = K::heat(cost, effort.annealing) / partition.members.len().max(1) as f64;
        while passes < effort.annealing {
            let left = 1.0 - spent().max(f64::from(passes) / f64::from(effort.annealing));
            if left <= 0.0 {
                break;
            }
            if passes % (effort.annealing / BALANCINGS).max(1) == 0 {
                kernel.weigh(Some(partition));
            }
            pass(kernel, partition, k, passes, heat * left * left, control)?;
            passes += 1;
        }
        // Few passes may leave it warmer than it was.
        if kernel.cost(partition)? > cost {
            *partition = before;
        }
    }
    kernel.weigh(None);
    for descent in 0..effort.descent {
        if descent == 0 || spent() < 1.0 {
            pass(kernel, partition, k, passes + descent, 0.0, control)?;
        }
    }
    Ok(())
}

/// Bytes that [`improve`] takes beside what the kernel takes: the members of the best groups so far and in a new order, and all
/// groups in both; where copies are apart, these and what they are lent.
fn needs<K: Kernel>(kernel: &K, partition: &Partition, k: usize) -> usize {
    let apart = partition.groups_apart(kernel);
    let members = partition.members.len() + apart * 2 * k;
    let growth = if apart > 0 { members } else { 0 };
    let groups = GROUP * (partition.sizes.len() + apart) + APART * apart;
    size_of::<u32>() * (2 * members + growth + partition.apart.len()) + groups
}

/// Bytes of a group in an order; and of one apart that may lend.
const GROUP: usize = 2 * size_of::<&[u32]>() + 2 * size_of::<u32>();
const APART: usize = 5 * size_of::<(u32, &[u32])>();

/// One pass: groups in a new order, cut into neighbourhoods, each searched by itself.
fn pass<K: Kernel>(
    kernel: &K,
    partition: &mut Partition,
    k: usize,
    pass: u32,
    temperature: f64,
    control: &Control,
) -> Result<()> {
    partition.admit(k as u32, kernel);
    let (order, counts) = kernel.arrange(&partition.groups(), pass)?;
    partition.rearrange(&order);
    let neighbourhoods = partition.split(&counts).into_par_iter().enumerate();
    neighbourhoods.try_for_each_init(K::Scratch::default, |scratch, (number, (members, sizes))| {
        let mut rng = kernel.generator(pass, number, counts.len());
        kernel.search(members, sizes, temperature, scratch, &mut rng)?;
        control.advance(members.len() as u64)
    })?;
    // Those who did not take part.
    control.advance(partition.apart.iter().map(|&copies| u64::from(copies)).sum())?;
    partition.settle(kernel);
    Ok(())
}
