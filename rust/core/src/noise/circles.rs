//! The concepts of a domain around one of them: circles of equal distance.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha20Rng;

/// Where a candidate lies, compared with the value it is to replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Closer to the reference.
    Closer,
    /// As far from it.
    Level,
    /// Farther from it.
    Farther,
}

const SIDES: usize = 3;

/// Concepts drawn from a circle before all of it is looked at.
const TRIALS: usize = 8;

/// Different distances up to which they are told apart by hashing instead of sorting.
const FEW: usize = 1 << 12;

/// Concepts by distance from a centre and, on each circle, by side. The buffers are used again for the next centre.
#[derive(Debug, Default)]
pub struct Circles {
    radii: Vec<f64>,
    /// Where each side of each circle starts.
    starts: Vec<u32>,
    concepts: Vec<u32>,
    /// For closer and farther: the first circle, from each on, that has any; and the last of all.
    next: [Vec<u32>; 2],
    last: [Option<u32>; 2],
    circle: Vec<u32>,
}

impl Circles {
    /// Orders all concepts but the centre. `row` holds the distances from it; O(V) for few different distances.
    pub fn draw(&mut self, centre: u32, row: &[f64], side: impl Fn(u32) -> Side) {
        self.number(centre, row);
        let circles = self.radii.len();
        self.starts.clear();
        self.starts.resize(SIDES * circles + 1, 0);
        // Circles become cells: one for each side.
        for (c, circle) in (0u32..).zip(&mut self.circle).filter(|&(c, _)| c != centre) {
            *circle = *circle * SIDES as u32 + side(c) as u32;
            self.starts[*circle as usize + 1] += 1;
        }
        for cell in 0..SIDES * circles {
            self.starts[cell + 1] += self.starts[cell];
        }
        self.concepts.clear();
        self.concepts.resize(row.len() - 1, 0);
        let mut free = self.starts.clone();
        for (c, &cell) in (0u32..).zip(&self.circle).filter(|&(c, _)| c != centre) {
            let place = &mut free[cell as usize];
            self.concepts[*place as usize] = c;
            *place += 1;
        }
        for (which, side) in [Side::Closer, Side::Farther].into_iter().enumerate() {
            let mut next = vec![circles as u32; circles + 1];
            for circle in (0..circles).rev() {
                next[circle] = if self.part(circle, side).is_empty() { next[circle + 1] } else { circle as u32 };
            }
            self.last[which] = (0..circles).rev().find(|&c| !self.part(c, side).is_empty()).map(|c| c as u32);
            self.next[which] = next;
        }
    }

    /// Finds the different distances, ascending, and numbers every concept by its own.
    fn number(&mut self, centre: u32, row: &[f64]) {
        self.circle.clear();
        self.circle.resize(row.len(), 0);
        self.radii.clear();
        let others = || (0u32..).zip(row).filter(|&(c, _)| c != centre);
        // Distances are not negative, so their bits are in their order.
        let mut slots = vec![u32::MAX; 2 * FEW];
        let slot_of = |x: f64| (x.to_bits().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - 13)) as usize;
        let mut few = true;
        for (c, &x) in others() {
            let mut slot = slot_of(x);
            while slots[slot] != u32::MAX && self.radii[slots[slot] as usize] != x {
                slot = (slot + 1) % slots.len();
            }
            if slots[slot] == u32::MAX {
                if self.radii.len() == FEW {
                    few = false;
                    break;
                }
                slots[slot] = self.radii.len() as u32;
                self.radii.push(x);
            }
            self.circle[c as usize] = slots[slot];
        }
        if few {
            let mut order: Vec<u32> = (0..self.radii.len() as u32).collect();
            order.sort_unstable_by(|&a, &b| self.radii[a as usize].total_cmp(&self.radii[b as usize]));
            let mut rank = vec![0; order.len()];
            for (i, &old) in (0u32..).zip(&order) {
                rank[old as usize] = i;
            }
            self.radii.sort_unstable_by(f64::total_cmp);
            for (_, circle) in (0u32..).zip(&mut self.circle).filter(|&(c, _)| c != centre) {
                *circle = rank[*circle as usize];
            }
        } else {
            let mut sorted: Vec<(f64, u32)> = others().map(|(c, &x)| (x, c)).collect();
            sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            self.radii.clear();
            for (x, c) in sorted {
                if self.radii.last() != Some(&x) {
                    self.radii.push(x);
                }
                self.circle[c as usize] = self.radii.len() as u32 - 1;
            }
        }
    }

    /// Distances of the circles, ascending.
    pub fn radii(&self) -> &[f64] {
        &self.radii
    }

    /// The concepts of one circle.
    pub fn all(&self, circle: usize) -> &[u32] {
        &self.concepts[self.starts[SIDES * circle] as usize..self.starts[SIDES * (circle + 1)] as usize]
    }

    /// The concepts of one circle on one side.
    fn part(&self, circle: usize, side: Side) -> &[u32] {
        let cell = SIDES * circle + side as usize;
        &self.concepts[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    /// Draws a concept at the smallest distance that is at least `magnitude`, else at the largest; and whether it reaches.
    ///
    /// With a side (not [`Side::Level`]), only concepts there count. None where there is no candidate at all.
    pub fn choose(&self, magnitude: f64, side: Option<Side>, rng: &mut ChaCha20Rng) -> Option<(u32, bool)> {
        let from = self.radii.partition_point(|&r| r < magnitude);
        let Some(side) = side else {
            let reaches = from < self.radii.len();
            let circle = if reaches { from } else { self.radii.len().checked_sub(1)? };
            return Some((*self.all(circle).choose(rng)?, reaches));
        };
        let which = usize::from(side == Side::Farther);
        let next = self.next[which][from] as usize;
        let reaches = next < self.radii.len();
        let circle = if reaches { next } else { self.last[which]? as usize };
        Some((*self.part(circle, side).choose(rng)?, reaches))
    }

    /// As [`Circles::choose`], among concepts for which `counts` holds; where these are not worth a partition.
    pub fn choose_by(
        &self,
        magnitude: f64,
        counts: impl Fn(u32) -> bool,
        rng: &mut ChaCha20Rng,
    ) -> Option<(u32, bool)> {
        let from = self.radii.partition_point(|&r| r < magnitude);
        let up = (from..self.radii.len()).find_map(|circle| pick(self.all(circle), &counts, rng));
        up.map(|c| (c, true)).or_else(|| {
            let down = (0..from).rev().find_map(|circle| pick(self.all(circle), &counts, rng));
            down.map(|c| (c, false))
        })
    }
}

/// A uniform one of the concepts that count: by trial first, then by looking at all.
fn pick(concepts: &[u32], counts: impl Fn(u32) -> bool, rng: &mut ChaCha20Rng) -> Option<u32> {
    if concepts.len() > TRIALS {
        for _ in 0..TRIALS {
            let concept = concepts[rng.random_range(0..concepts.len())];
            if counts(concept) {
                return Some(concept);
            }
        }
    }
    let open: Vec<u32> = concepts.iter().copied().filter(|&c| counts(c)).collect();
    open.choose(rng).copied()
}
