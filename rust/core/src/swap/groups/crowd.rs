//! A few groups near each other, and the exchange of tuples between them.
//!
//! All costs between members are at hand as a matrix, and the cost between every member and every group is kept up to
//! date; so what a swap of two members or the move of one would change is known without a sum.

use std::f32::consts::LN_2;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha20Rng;

use super::costs::{Costs, tally};
use crate::swap::tuples::Tuples;

/// Gains below this are rounding: costs are about 1, and their sums over a group are divided by its size.
const ROUNDING: f32 = 1e-5;

/// Members that take part. In larger crowds a random part of each group rests, so that the matrix stays small.
const ACTIVE: usize = 768;

/// Some groups and the costs between their members.
pub(super) struct Crowd {
    k: usize,
    /// Whether nobody rests.
    whole: bool,
    /// Tuple of each active member.
    tuple: Vec<u32>,
    /// Group of each active member.
    group: Vec<usize>,
    /// Active members of each group.
    active: Vec<Vec<usize>>,
    /// Tuples of the resting members of each group.
    resting: Vec<Vec<u32>>,
    size: Vec<usize>,
    /// Costs between active members, row after row.
    between: Vec<f32>,
    /// Sum of the costs between all of a group and each active member, group after group.
    to_group: Vec<f32>,
    /// Sum of the costs between all ordered pairs of a group; not known, nor needed, where some rest.
    inside: Vec<f32>,
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

impl Crowd {
    /// Groups of tuples, one after another, of the given sizes. The weights are those of attributes, beside the costs' own.
    pub(super) fn new(
        members: &[u32],
        sizes: &[u32],
        k: usize,
        tuples: &Tuples,
        costs: &Costs,
        weights: &[f32],
        rng: &mut ChaCha20Rng,
    ) -> Self {
        let mut crowd = Self {
            k,
            whole: members.len() <= ACTIVE,
            tuple: Vec::with_capacity(members.len().min(ACTIVE)),
            group: Vec::with_capacity(members.len().min(ACTIVE)),
            active: Vec::with_capacity(sizes.len()),
            resting: vec![Vec::new(); sizes.len()],
            size: sizes.iter().map(|&size| size as usize).collect(),
            between: Vec::new(),
            to_group: Vec::new(),
            inside: Vec::new(),
        };
        let mut rest = members;
        for (g, &size) in crowd.size.iter().enumerate() {
            let (own, others) = rest.split_at(size);
            rest = others;
            let first = crowd.tuple.len();
            if crowd.whole {
                crowd.tuple.extend_from_slice(own);
            } else {
                let mut own = own.to_vec();
                own.shuffle(rng);
                crowd.resting[g] = own.split_off(own.len().min(ACTIVE / sizes.len()));
                crowd.tuple.extend(own);
            }
            crowd.group.resize(crowd.tuple.len(), g);
            crowd.active.push((first..crowd.tuple.len()).collect());
        }
        crowd.measure(tuples, costs, weights);
        crowd
    }

    /// Works out all costs.
    fn measure(&mut self, tuples: &Tuples, costs: &Costs, weights: &[f32]) {
        let n = self.tuple.len();
        self.between = vec![0.0; n * n];
        self.to_group = vec![0.0; n * self.size.len()];
        let mut column = vec![0; n];
        let (mut codes, mut counts) = (Vec::new(), Vec::new());
        for (attribute, &weight) in weights.iter().enumerate() {
            let code = |&tuple: &u32| tuples.codes(tuple as usize)[attribute];
            for (code_of, tuple) in column.iter_mut().zip(&self.tuple) {
                *code_of = code(tuple);
            }
            for i in 1..n {
                let row = costs.row(attribute, column[i]);
                for (sum, &code) in self.between[i * n..][..i].iter_mut().zip(&column) {
                    *sum += weight * row[code as usize];
                }
            }
            for (resting, to_group) in self.resting.iter().zip(self.to_group.chunks_mut(n)) {
                codes.clear();
                codes.extend(resting.iter().map(code));
                tally(&mut codes, &mut counts);
                for (sum, &own) in to_group.iter_mut().zip(&column) {
                    let row = costs.row(attribute, own);
                    let others = counts.iter().map(|&(code, count)| count as f32 * row[code as usize]);
                    *sum += weight * others.sum::<f32>();
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                self.between[j * n + i] = self.between[i * n + j];
            }
        }
        self.inside = vec![0.0; self.size.len()];
        for (i, &g) in self.group.iter().enumerate() {
            add(&mut self.to_group[g * n..][..n], &self.between[i * n..][..n], 1.0);
        }
        for (i, &g) in self.group.iter().enumerate() {
            self.inside[g] += self.to_group[g * n + i];
        }
    }

    /// Makes the best change for one member after another until none helps.
    pub(super) fn descend(&mut self) {
        let n = self.tuple.len();
        let (mut member, mut idle) = (0, 0);
        while idle < n {
            let targets = (0..self.size.len()).filter(|&to| to != self.group[member]);
            let changes = targets.map(|to| self.best(member, to));
            match changes.min_by(|a, b| a.difference.total_cmp(&b.difference)) {
                Some(change) if change.difference < -ROUNDING => {
                    self.make(change);
                    idle = 0;
                }
                _ => {
                    idle += 1;
                    member = (member + 1) % n;
                }
            }
        }
    }

    /// Makes the best change between each member and a random group, `rounds` times over; one that raises the cost by `x`
    /// is made with probability exp(-x / temperature), about.
    pub(super) fn anneal(&mut self, rounds: usize, temperature: f32, rng: &mut ChaCha20Rng) {
        let others = self.size.len() as u64 - 1;
        if others == 0 {
            return;
        }
        let n = self.tuple.len();
        for member in (0..rounds).flat_map(|_| 0..n) {
            let random: u64 = rng.random();
            let other = (((random >> 32) * others) >> 32) as usize;
            let to = other + usize::from(other >= self.group[member]);
            let change = self.best(member, to);
            if change.difference < temperature * exponential(random as u32) {
                self.make(change);
            }
        }
    }

    /// The best change that brings a member to a group: a swap with the best there, or a move where sizes permit.
    #[inline]
    fn best(&self, member: usize, to: usize) -> Change {
        let n = self.tuple.len();
        let from = self.group[member];
        let (to_from, to_to) = (&self.to_group[from * n..][..n], &self.to_group[to * n..][..n]);
        let row = &self.between[member * n..][..n];
        let (share_from, share_to) = (1.0 / self.size[from] as f32, 1.0 / self.size[to] as f32);
        let mut back = None;
        let mut least = f32::INFINITY;
        for &other in &self.active[to] {
            let part = to_from[other] * share_from - to_to[other] * share_to - row[other] * (share_from + share_to);
            if part < least {
                (back, least) = (Some(other), part);
            }
        }
        let difference = 2.0 * (least - to_from[member] * share_from + to_to[member] * share_to);
        let swap = Change { member, to, back, difference };
        if self.size[from] > self.k && self.size[to] < 2 * self.k - 1 && self.whole {
            let (s, t) = (self.size[from] as f32, self.size[to] as f32);
            let left = (self.inside[from] - 2.0 * to_from[member]) / (s - 1.0) - self.inside[from] * share_from;
            let joined = (self.inside[to] + 2.0 * to_to[member]) / (t + 1.0) - self.inside[to] * share_to;
            if left + joined < difference {
                return Change { member, to, back: None, difference: left + joined };
            }
        }
        swap
    }

    fn make(&mut self, change: Change) {
        let from = self.group[change.member];
        self.transfer(change.member, change.to);
        if let Some(back) = change.back {
            self.transfer(back, from);
        }
    }

    fn transfer(&mut self, member: usize, to: usize) {
        let n = self.tuple.len();
        let from = self.group[member];
        self.inside[from] -= 2.0 * self.to_group[from * n + member];
        self.inside[to] += 2.0 * self.to_group[to * n + member];
        let row = &self.between[member * n..][..n];
        add(&mut self.to_group[from * n..][..n], row, -1.0);
        add(&mut self.to_group[to * n..][..n], row, 1.0);
        self.size[from] -= 1;
        self.size[to] += 1;
        self.group[member] = to;
        self.active[from].retain(|&other| other != member);
        self.active[to].push(member);
    }

    /// Writes the tuples group after group, and the sizes of the groups.
    pub(super) fn write(&self, members: &mut [u32], sizes: &mut [u32]) {
        let of_group = |(resting, active): (&Vec<u32>, &Vec<usize>)| {
            resting.iter().copied().chain(active.iter().map(|&member| self.tuple[member])).collect::<Vec<u32>>()
        };
        let tuples = self.resting.iter().zip(&self.active).flat_map(of_group);
        for (member, tuple) in members.iter_mut().zip(tuples) {
            *member = tuple;
        }
        for (size, &now) in sizes.iter_mut().zip(&self.size) {
            *size = now as u32;
        }
    }
}

fn add(sums: &mut [f32], row: &[f32], sign: f32) {
    for (sum, &x) in sums.iter_mut().zip(row) {
        *sum += sign * x;
    }
}

/// An exponential random number, about, from random bits: the logarithm is taken as linear between powers of two, which
/// every machine computes alike.
fn exponential(random: u32) -> f32 {
    let zeros = random.leading_zeros();
    let fraction = (u64::from(random) << (zeros + 1)) as u32;
    LN_2 * (zeros as f32 + 1.0 - fraction as f32 / (u32::MAX as f32 + 1.0))
}
