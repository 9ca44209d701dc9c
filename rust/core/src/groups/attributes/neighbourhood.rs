//! A few groups near each other, and the exchange of tuples between them.
//!
//! All costs between members are at hand as a matrix, and the cost between every member and every group is kept up to
//! date; so what a swap of two members or the move of one would change is known without a sum.

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;

use super::constraints::{Numbers, keys};
use super::costs::tally;
use super::kernel::TupleKernel;
use crate::control::Control;
use crate::error::Result;
use crate::rng::exponential;

/// Gains below this are rounding, relative to the largest cost between two members: sums of costs over a group are
/// divided by its size.
const ROUNDING: f32 = 1e-5;

/// Changes that descent makes for each member at most. It ends long before; this is for what rounding might do.
const CHANGES: usize = 16;

/// Members that take part. In a larger neighbourhood a random part of each group rests, so that the matrix stays small.
pub(super) const ACTIVE: usize = 768;

/// Some groups and the costs between their members.
#[derive(Clone)]
pub(super) struct Neighbourhood {
    k: usize,
    /// Whether nobody rests.
    whole: bool,
    /// Tuple of each active member.
    tuple: Vec<u32>,
    /// Tuples of the resting members of each group.
    resting: Vec<Vec<u32>>,
    /// Costs between active members, row after row.
    between: Vec<f32>,
    /// Smallest gain that is one.
    rounding: f32,
    /// Of each constraint, one of how many records of a group may have the same value.
    shares: Vec<usize>,
    /// Values of each active member, one for each constraint, numbered here from 0; no two constraints share a number.
    values: Vec<usize>,
    state: State,
}

/// Who is in which group at the moment, and what that means.
#[derive(Clone, Default)]
struct State {
    /// Group of each active member.
    group: Vec<usize>,
    /// Active members of each group.
    active: Vec<Vec<usize>>,
    /// All members of each group.
    size: Vec<usize>,
    /// Sum of the costs between all of a group and each active member, group after group.
    to_group: Vec<f32>,
    /// Sum of the costs between all ordered pairs of a group; not known, nor needed, where some rest.
    inside: Vec<f32>,
    /// How many of a group have each value, group after group.
    counts: Vec<u32>,
    /// Number of values.
    distinct: usize,
}

/// A change of groups, with the difference that it makes to the cost.
#[derive(Clone, Copy)]
struct Change {
    member: usize,
    to: usize,
    /// Who goes the other way, if anybody.
    back: Option<usize>,
    difference: f32,
}

impl Neighbourhood {
    /// Groups of tuples, one after another, of the given sizes.
    pub(super) fn new(members: &[u32], sizes: &[u32], kernel: &TupleKernel<'_>, rng: &mut ChaCha20Rng) -> Self {
        let whole = members.len() <= ACTIVE;
        let mut tuple = Vec::with_capacity(members.len().min(ACTIVE));
        let mut resting = vec![Vec::new(); sizes.len()];
        let size: Vec<usize> = sizes.iter().map(|&size| size as usize).collect();
        let mut state = State { size, ..State::default() };
        let mut rest = members;
        for (g, &size) in state.size.iter().enumerate() {
            let (own, others) = rest.split_at(size);
            rest = others;
            let first = tuple.len();
            if whole {
                tuple.extend_from_slice(own);
            } else {
                let mut own = own.to_vec();
                own.shuffle(rng);
                resting[g] = own.split_off(own.len().min(ACTIVE / sizes.len()));
                tuple.extend(own);
            }
            state.group.resize(tuple.len(), g);
            state.active.push((first..tuple.len()).collect());
        }
        let (shares, values, between) = (kernel.shares.to_vec(), Vec::new(), Vec::new());
        let mut neighbourhood =
            Self { k: kernel.k, whole, tuple, resting, between, rounding: 0.0, shares, values, state };
        neighbourhood.measure(kernel);
        if !kernel.shares.is_empty() {
            neighbourhood.count(kernel);
        }
        neighbourhood
    }

    /// Works out all costs.
    fn measure(&mut self, kernel: &TupleKernel<'_>) {
        let TupleKernel { tuples, costs, ref weights, .. } = *kernel;
        let n = self.tuple.len();
        let state = &mut self.state;
        self.between = vec![0.0; n * n];
        state.to_group = vec![0.0; n * state.size.len()];
        let mut column = vec![0; n];
        let (mut codes, mut counts) = (Vec::new(), Vec::new());
        for (attribute, &weight) in weights.iter().enumerate() {
            let code = |&tuple: &u32| tuples.codes(tuple as usize)[attribute];
            for (code_of, tuple) in column.iter_mut().zip(&self.tuple) {
                *code_of = code(tuple);
            }
            costs.add_crowd(attribute, weight, &column, &mut self.between);
            for (resting, to_group) in self.resting.iter().zip(state.to_group.chunks_mut(n)) {
                codes.clear();
                codes.extend(resting.iter().map(code));
                tally(&mut codes, &mut counts);
                for (sum, &own) in to_group.iter_mut().zip(&column) {
                    *sum += weight * costs.to_others(attribute, own, &counts);
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                self.between[j * n + i] = self.between[i * n + j];
            }
        }
        self.rounding = ROUNDING * self.between.iter().copied().fold(1.0, f32::max);
        for (i, &g) in state.group.iter().enumerate() {
            add(&mut state.to_group[g * n..][..n], &self.between[i * n..][..n], 1.0);
        }
        state.inside = vec![0.0; state.size.len()];
        for (i, &g) in state.group.iter().enumerate() {
            state.inside[g] += state.to_group[g * n + i];
        }
    }

    /// Counts the values in each group.
    fn count(&mut self, kernel: &TupleKernel<'_>) {
        let mut numbers =
            Numbers::new((self.tuple.len() + self.resting.iter().map(Vec::len).sum::<usize>()) * self.shares.len());
        let mut numbered = |tuples: &[u32]| -> Vec<usize> {
            tuples.iter().flat_map(|&tuple| keys(kernel.values(tuple))).map(|key| numbers.get(key)).collect()
        };
        self.values = numbered(&self.tuple);
        let resting: Vec<Vec<usize>> = self.resting.iter().map(|tuples| numbered(tuples)).collect();
        let state = &mut self.state;
        state.distinct = numbers.len();
        state.counts = vec![0; state.distinct * state.size.len()];
        for (counts, resting) in state.counts.chunks_mut(state.distinct).zip(resting) {
            for value in resting {
                counts[value] += 1;
            }
        }
        for (values, &group) in self.values.chunks(self.shares.len()).zip(&state.group) {
            for value in values {
                state.counts[group * state.distinct + value] += 1;
            }
        }
    }

    /// Values of a member, each with the share of its constraint.
    #[inline]
    fn limits(&self, member: usize) -> impl Iterator<Item = (usize, usize)> {
        let own = &self.values[member * self.shares.len()..][..self.shares.len()];
        own.iter().copied().zip(self.shares.iter().copied())
    }

    /// Whether a group may take a member instead of another.
    #[inline]
    fn may_swap(&self, member: usize, to: usize, back: usize) -> bool {
        let (state, from) = (&self.state, self.state.group[member]);
        let more = |value, group: usize, share| (state.count(value, group) + 1) * share <= state.size[group];
        self.limits(member)
            .zip(self.limits(back))
            .all(|((own, share), (other, _))| own == other || more(own, to, share) && more(other, from, share))
    }

    /// Whether a group may take one member more.
    #[inline]
    fn may_join(&self, state: &State, member: usize, to: usize) -> bool {
        self.limits(member).all(|(value, share)| (state.count(value, to) + 1) * share <= state.size[to] + 1)
    }

    /// Whether a member may leave its group, where nobody rests.
    fn may_leave(&self, member: usize) -> bool {
        let (state, from) = (&self.state, self.state.group[member]);
        let enough = |&other: &usize| {
            let own = self.limits(member).zip(self.limits(other));
            own.into_iter().all(|((own, _), (value, share))| {
                (state.count(value, from) - usize::from(own == value)) * share < state.size[from]
            })
        };
        state.active[from].iter().filter(|&&other| other != member).all(enough)
    }

    /// Makes the best change for one member after another, and dissolves groups, until nothing helps.
    pub(super) fn descend(&mut self, control: &Control) -> Result<()> {
        loop {
            self.exchange(control)?;
            let groups = 0..self.state.size.len();
            if !self.whole || groups.filter(|&group| self.dissolve(group)).count() == 0 {
                return Ok(());
            }
        }
    }

    /// Makes the best change for one member after another until none helps.
    fn exchange(&mut self, control: &Control) -> Result<()> {
        let n = self.tuple.len();
        let (mut member, mut idle, mut left) = (0, 0, CHANGES * n);
        while idle < n && left > 0 {
            let from = self.state.group[member];
            let targets = (0..self.state.size.len()).filter(|&to| to != from && self.state.size[to] > 0);
            let changes = targets.map(|to| self.best(member, to, -self.rounding));
            match changes.min_by(|a, b| a.difference.total_cmp(&b.difference)) {
                Some(change) if change.difference < -self.rounding => {
                    self.make(change);
                    idle = 0;
                    left -= 1;
                    control.check()?;
                }
                _ => {
                    idle += 1;
                    member = (member + 1) % n;
                }
            }
        }
        Ok(())
    }

    /// Gives the members of a group to others that have room, each where it costs least, if that lowers the cost.
    fn dissolve(&mut self, group: usize) -> bool {
        let n = self.tuple.len();
        let gain = self.state.inside[group] / self.state.size[group] as f32;
        let cheapest = |state: &State, member: usize| {
            let room = |&g: &usize| g != group && state.size[g] > 0 && state.size[g] < 2 * self.k - 1;
            let may = |&g: &usize| self.shares.is_empty() || self.may_join(state, member, g);
            let costs = (0..state.size.len()).filter(room).filter(may).map(|g| (state.joining(member, g, n), g));
            costs.min_by(|a, b| a.0.total_cmp(&b.0))
        };
        let members = self.state.active[group].clone();
        // A look without the work: most groups are not worth it.
        let alone = |&member: &usize| cheapest(&self.state, member).map_or(f32::INFINITY, |(cost, _)| cost);
        if members.is_empty() || members.iter().map(alone).sum::<f32>() > gain - self.rounding {
            return false;
        }
        let mut state = self.state.clone();
        let mut cost = 0.0;
        for member in members {
            let Some((joining, to)) = cheapest(&state, member) else { return false };
            cost += joining;
            state.transfer(member, to, &self.between, &self.values);
        }
        if cost > gain - self.rounding {
            return false;
        }
        self.state = state;
        true
    }

    /// Makes the best change between each member and a random group, `rounds` times over; one that raises the cost by `x`
    /// is made with probability exp(-x / temperature), about.
    pub(super) fn anneal(&mut self, rounds: usize, temperature: f32, rng: &mut ChaCha20Rng) {
        let n = self.tuple.len();
        let others = self.state.size.len() as u64 - 1;
        if others == 0 {
            return;
        }
        for member in (0..rounds).flat_map(|_| 0..n) {
            let random: u64 = rng.random();
            let other = (((random >> 32) * others) >> 32) as usize;
            let to = other + usize::from(other >= self.state.group[member]);
            let limit = temperature * exponential(random as u32);
            let change = self.best(member, to, limit);
            if change.difference < limit {
                self.make(change);
            }
        }
    }

    /// The best change that brings a member to a group: a swap with the best there, or a move where sizes permit.
    ///
    /// Only a difference below the limit counts, and under constraints nobody is looked at for more: most changes that they
    /// forbid would not be made anyway. What is not found has an infinite difference.
    #[inline]
    fn best(&self, member: usize, to: usize, limit: f32) -> Change {
        let n = self.tuple.len();
        let state = &self.state;
        let from = state.group[member];
        let (to_from, to_to) = (&state.to_group[from * n..][..n], &state.to_group[to * n..][..n]);
        let row = &self.between[member * n..][..n];
        let (share_from, share_to) = (1.0 / state.size[from] as f32, 1.0 / state.size[to] as f32);
        let own = to_from[member] * share_from;
        let there = to_to[member] * share_to;
        let constrained = !self.shares.is_empty();
        let mut back = None;
        let mut least = if constrained { 0.5 * limit + own - there } else { f32::INFINITY };
        for &other in &state.active[to] {
            let part = to_from[other] * share_from - to_to[other] * share_to - row[other] * (share_from + share_to);
            if part < least && (!constrained || self.may_swap(member, to, other)) {
                (back, least) = (Some(other), part);
            }
        }
        let difference = if back.is_some() { 2.0 * (least - own + there) } else { f32::INFINITY };
        if self.whole && state.size[from] > self.k && state.size[to] < 2 * self.k - 1 {
            let difference_of_move = state.joining(member, to, n) - state.leaving(member, n);
            let may = || difference_of_move < limit && self.may_join(state, member, to) && self.may_leave(member);
            if difference_of_move < difference && (!constrained || may()) {
                return Change { member, to, back: None, difference: difference_of_move };
            }
        }
        Change { member, to, back, difference }
    }

    fn make(&mut self, change: Change) {
        let from = self.state.group[change.member];
        self.state.transfer(change.member, change.to, &self.between, &self.values);
        if let Some(back) = change.back {
            self.state.transfer(back, from, &self.between, &self.values);
        }
    }

    /// Writes the tuples group after group, and the sizes of the groups; a dissolved one has size 0.
    pub(super) fn write(&self, members: &mut [u32], sizes: &mut [u32]) {
        let mut members = members.iter_mut();
        for (resting, active) in self.resting.iter().zip(&self.state.active) {
            let tuples = resting.iter().copied().chain(active.iter().map(|&member| self.tuple[member]));
            for (tuple, member) in tuples.zip(&mut members) {
                *member = tuple;
            }
        }
        for (size, &now) in sizes.iter_mut().zip(&self.state.size) {
            *size = now as u32;
        }
    }
}

impl State {
    /// How many of a group have a value.
    #[inline]
    fn count(&self, value: usize, group: usize) -> usize {
        self.counts[group * self.distinct + value] as usize
    }

    /// What a member's coming adds to the cost of a group, `n` being the number of active members.
    #[inline]
    fn joining(&self, member: usize, to: usize, n: usize) -> f32 {
        let (inside, size) = (self.inside[to], self.size[to] as f32);
        (inside + 2.0 * self.to_group[to * n + member]) / (size + 1.0) - inside / size
    }

    /// What a member's going takes from the cost of its group.
    #[inline]
    fn leaving(&self, member: usize, n: usize) -> f32 {
        let from = self.group[member];
        let (inside, size) = (self.inside[from], self.size[from] as f32);
        inside / size - (inside - 2.0 * self.to_group[from * n + member]) / (size - 1.0)
    }

    /// Brings a member to a group, given the costs between members and the values of all.
    fn transfer(&mut self, member: usize, to: usize, between: &[f32], values: &[usize]) {
        let n = self.group.len();
        let from = self.group[member];
        let constraints = values.len() / n;
        for value in &values[member * constraints..][..constraints] {
            self.counts[from * self.distinct + value] -= 1;
            self.counts[to * self.distinct + value] += 1;
        }
        self.inside[from] -= 2.0 * self.to_group[from * n + member];
        self.inside[to] += 2.0 * self.to_group[to * n + member];
        let row = &between[member * n..][..n];
        add(&mut self.to_group[from * n..][..n], row, -1.0);
        add(&mut self.to_group[to * n..][..n], row, 1.0);
        self.size[from] -= 1;
        self.size[to] += 1;
        self.group[member] = to;
        self.active[from].retain(|&other| other != member);
        self.active[to].push(member);
    }
}

fn add(sums: &mut [f32], row: &[f32], sign: f32) {
    for (sum, &x) in sums.iter_mut().zip(row) {
        *sum += sign * x;
    }
}

#[cfg(test)]
mod tests {
    use super::super::costs::Costs;
    use super::*;
    use crate::meaning::Meaning;
    use crate::rng::{Stream, Streams};
    use crate::tuples::{Attribute, Tuples};

    fn cost(local: &Neighbourhood) -> f32 {
        let groups = local.state.inside.iter().zip(&local.state.size).filter(|(_, size)| **size > 0);
        groups.map(|(inside, &size)| inside / size as f32).sum()
    }

    #[test]
    fn bookkeeping_is_what_measuring_gives() {
        let control = Control::new();
        let distances: Vec<f64> = (0..900i32).map(|cell| f64::from((cell / 30 - cell % 30).abs()).sqrt()).collect();
        for (sizes, k) in [(vec![4, 5, 7, 4, 6], 4), (vec![2; 20], 2), (vec![400, 390, 500], 300)] {
            let mut rng = Streams::new(Some(k as u64)).unwrap().generator(Stream::Synthetic(0), 0);
            let n: u32 = sizes.iter().sum();
            let columns: [Vec<u32>; 2] = std::array::from_fn(|_| (0..n).map(|_| rng.random_range(0..30)).collect());
            let attribute =
                |codes| Attribute { codes, meaning: Meaning::matrix(&distances, 30).unwrap(), missing: None };
            let attributes = columns.each_ref().map(|codes| attribute(codes));
            let tuples = Tuples::new(&attributes, &Control::new()).unwrap();
            let costs = Costs::new(&attributes, &control).unwrap();
            let mut members: Vec<u32> = (0..n).map(|_| rng.random_range(0..tuples.len() as u32)).collect();
            let streams = Streams::new(Some(0)).unwrap();
            let (tuples, costs, weights) = (&tuples, &costs, vec![1.0, 1.3]);
            let kernel = TupleKernel { k, tuples, costs, weights, shares: &[], streams: &streams, control: &control };
            let mut local = Neighbourhood::new(&members, &sizes, &kernel, &mut rng);
            assert_eq!(local.whole, k < 300);
            let near = |a: f32, b: f32| (a - b).abs() < 1e-3 * (1.0 + b.abs());
            let compare = |local: &Neighbourhood| {
                let mut anew = local.clone();
                anew.measure(&kernel);
                let pairs = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(&a, &b)| near(a, b));
                assert!(pairs(&local.state.to_group, &anew.state.to_group));
                assert!(!local.whole || pairs(&local.state.inside, &anew.state.inside));
            };
            for _ in 0..300 {
                let member = rng.random_range(0..local.tuple.len());
                let to = rng.random_range(0..sizes.len());
                if to != local.state.group[member] {
                    let change = local.best(member, to, f32::INFINITY);
                    let before = cost(&local);
                    local.make(change);
                    assert!(!local.whole || near(before + change.difference, cost(&local)));
                }
            }
            compare(&local);
            local.anneal(3, 0.5, &mut rng);
            compare(&local);
            let before = cost(&local);
            local.descend(&control).unwrap();
            compare(&local);
            assert!(!local.whole || cost(&local) < before);
            let mut now = sizes.clone();
            let mut sorted = members.clone();
            local.write(&mut members, &mut now);
            assert_eq!(now.iter().sum::<u32>(), n);
            assert!(now.iter().all(|&size| size == 0 || (k..2 * k).contains(&(size as usize))), "{now:?}");
            sorted.sort_unstable();
            members.sort_unstable();
            assert_eq!(members, sorted);
        }
    }
}
