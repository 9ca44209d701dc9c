//! The concepts of a domain around one of them: circles of equal distance.
//!
//! Concepts are counted first, by circle and side. What a record gets is then drawn as a place in a circle, and only the circles
//! from which something was drawn are gone through for the concepts at these places.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha20Rng;

/// Distances from a centre to all concepts.
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// By their place among distances in ascending order, of which some may be nobody's.
    Ranked(&'a [u16], &'a [f64]),
    /// As they are.
    Measured(&'a [f64]),
}

/// Where a candidate lies, compared with the value it is to replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Closer to the reference.
    Closer,
    /// Farther from it.
    Farther,
}

/// Closer, as far, and farther.
const SIDES: usize = 3;

/// Concepts drawn from a circle before all of it is looked at.
const TRIALS: usize = 8;

/// Different distances up to which they are told apart by hashing instead of sorting.
const FEW: usize = 1 << 12;

/// The number of a circle that is not there.
const NONE: u32 = u32::MAX;

/// A concept that was drawn: its cell, and its place among the concepts of that, which are in ascending order.
#[derive(Debug, Clone, Copy)]
pub struct Drawn {
    cell: u32,
    place: u32,
}

/// Concepts by distance from a centre and, on each circle, by side. The buffers are used again for the next centre.
#[derive(Debug, Default)]
pub struct Circles {
    radii: Vec<f64>,
    /// Cells of each circle: one, or one for each side.
    sides: usize,
    /// Cell of each concept. That of the centre is one more than there are.
    cell: Vec<u32>,
    /// Number of concepts in each cell.
    counts: Vec<u32>,
    /// For any, closer and farther: the first circle, from each on, that has some; and the last of all.
    next: [Vec<u32>; SIDES],
    last: [u32; SIDES],
    /// Where the concepts of each collected cell end among those collected, and how far that moves with each of them.
    ends: Vec<(u32, u32)>,
    concepts: Vec<u32>,
}

impl Circles {
    /// Bytes that circles take, at most, with so many concepts and different distances.
    pub fn needs(concepts: usize, radii: usize) -> usize {
        32 * concepts + 84 * (radii + 1)
    }

    /// Counts all concepts but the centre, given the distances from it, and numbers that tell how far each is from the
    /// reference if there is one for all. O(V) for few different distances.
    pub fn draw(&mut self, centre: u32, row: Row<'_>, far: Option<&[u32]>) {
        self.number(row);
        self.sides = if far.is_some() { SIDES } else { 1 };
        if let Some(far) = far {
            let now = far[centre as usize];
            for (cell, &far) in self.cell.iter_mut().zip(far) {
                *cell = *cell * SIDES as u32 + u32::from(far >= now) + u32::from(far > now);
            }
        }
        let cells = self.sides * self.radii.len();
        // Neighbours are often in one cell: two lists of counts, so that one addition need not wait for the other.
        self.counts.clear();
        self.counts.resize(cells, 0);
        self.ends.clear();
        self.ends.resize(cells, (0, 0));
        let (even, odd) = (&mut self.counts[..], &mut self.ends[..]);
        for pair in self.cell.chunks(2) {
            even[pair[0] as usize] += 1;
            if let Some(&cell) = pair.get(1) {
                odd[cell as usize].0 += 1;
            }
        }
        even.iter_mut().zip(odd).for_each(|(count, more)| *count += more.0);
        let own = std::mem::replace(&mut self.cell[centre as usize], cells as u32);
        self.counts[own as usize] -= 1;
        let circles = self.radii.len();
        for (which, side) in [None, Some(Side::Closer), Some(Side::Farther)].into_iter().enumerate() {
            let mut next = std::mem::take(&mut self.next[which]);
            next.clear();
            next.resize(circles + 1, NONE);
            self.last[which] = NONE;
            for circle in (0..circles).rev() {
                next[circle] = if self.count(circle, side) == 0 { next[circle + 1] } else { circle as u32 };
                if self.last[which] == NONE {
                    self.last[which] = next[circle];
                }
            }
            self.next[which] = next;
        }
    }

    /// Finds the different distances, ascending, and numbers every concept by its own.
    fn number(&mut self, row: Row<'_>) {
        self.radii.clear();
        self.cell.clear();
        let row = match row {
            Row::Ranked(row, radii) => {
                self.radii.extend_from_slice(radii);
                self.cell.extend(row.iter().map(|&rank| u32::from(rank)));
                return;
            }
            Row::Measured(row) => row,
        };
        self.cell.resize(row.len(), 0);
        // Distances are not negative, so their bits are in their order.
        let mut slots = vec![NONE; 2 * FEW];
        let slot_of = |x: f64| (x.to_bits().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - 13)) as usize;
        let mut few = true;
        for (cell, &x) in self.cell.iter_mut().zip(row) {
            let mut slot = slot_of(x);
            while slots[slot] != NONE && self.radii[slots[slot] as usize] != x {
                slot = (slot + 1) % slots.len();
            }
            if slots[slot] == NONE {
                if self.radii.len() == FEW {
                    few = false;
                    break;
                }
                slots[slot] = self.radii.len() as u32;
                self.radii.push(x);
            }
            *cell = slots[slot];
        }
        if few {
            let mut order: Vec<u32> = (0..self.radii.len() as u32).collect();
            order.sort_unstable_by(|&a, &b| self.radii[a as usize].total_cmp(&self.radii[b as usize]));
            let mut rank = vec![0; order.len()];
            for (i, &old) in (0u32..).zip(&order) {
                rank[old as usize] = i;
            }
            self.radii.sort_unstable_by(f64::total_cmp);
            for cell in &mut self.cell {
                *cell = rank[*cell as usize];
            }
        } else {
            let mut sorted: Vec<(f64, u32)> = row.iter().copied().zip(0u32..).collect();
            sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
            self.radii.clear();
            for (x, c) in sorted {
                if self.radii.last() != Some(&x) {
                    self.radii.push(x);
                }
                self.cell[c as usize] = self.radii.len() as u32 - 1;
            }
        }
    }

    /// Distances of the circles, ascending.
    pub fn radii(&self) -> &[f64] {
        &self.radii
    }

    /// Number of concepts on one circle.
    pub fn on(&self, circle: usize) -> usize {
        self.count(circle, None)
    }

    /// Number of concepts on one circle, or on one side of it. Without a reference, no concept is on a side.
    fn count(&self, circle: usize, side: Option<Side>) -> usize {
        let cells = &self.counts[self.sides * circle..][..self.sides];
        let count = match side {
            None => cells.iter().sum(),
            Some(_) if self.sides == 1 => 0,
            Some(Side::Closer) => cells[0],
            Some(Side::Farther) => cells[SIDES - 1],
        };
        count as usize
    }

    /// Draws one of the concepts on a circle that has some.
    pub fn draw_from(&self, circle: usize, side: Option<Side>, rng: &mut ChaCha20Rng) -> Drawn {
        let mut place = rng.random_range(..self.count(circle, side)) as u32;
        let mut cell = self.sides * circle;
        match side {
            None => {
                while place >= self.counts[cell] {
                    place -= self.counts[cell];
                    cell += 1;
                }
            }
            Some(side) => cell += if side == Side::Farther { SIDES - 1 } else { 0 },
        }
        Drawn { cell: cell as u32, place }
    }

    /// Draws a concept at the smallest distance that is at least `magnitude`, else at the largest; and whether it reaches.
    ///
    /// With a side, only concepts there count. None where there is no candidate at all.
    pub fn choose(&self, magnitude: f64, side: Option<Side>, rng: &mut ChaCha20Rng) -> Option<(Drawn, bool)> {
        let which = side.map_or(0, |side| 1 + side as usize);
        let next = self.next[which][self.radii.partition_point(|&r| r < magnitude)];
        let circle = if next == NONE { self.last[which] } else { next };
        (circle != NONE).then(|| (self.draw_from(circle as usize, side, rng), next != NONE))
    }

    /// Goes through the cells of what was drawn; then [`Circles::concept`] tells what that is.
    pub fn collect(&mut self, drawn: impl Iterator<Item = Drawn>) {
        self.ends.fill((0, 0));
        let mut total = 0;
        for Drawn { cell, .. } in drawn {
            let (end, step) = &mut self.ends[cell as usize];
            if *step == 0 {
                (*end, *step) = (total, 1);
                total += self.counts[cell as usize];
            }
        }
        self.list(total);
    }

    /// The same for all cells, circle after circle.
    pub fn collect_all(&mut self) {
        let mut total = 0;
        for (end, count) in self.ends.iter_mut().zip(&self.counts) {
            *end = (total, 1);
            total += count;
        }
        self.list(total);
    }

    /// What is not collected goes to one place after all that is: whether a concept is, no processor can foresee.
    fn list(&mut self, total: u32) {
        self.ends.push((total, 0));
        for end in self.ends.iter_mut().filter(|end| end.1 == 0) {
            end.0 = total;
        }
        self.concepts.clear();
        self.concepts.resize(total as usize + 1, 0);
        for (c, &cell) in (0u32..).zip(&self.cell) {
            let (end, step) = &mut self.ends[cell as usize];
            self.concepts[*end as usize] = c;
            *end += *step;
        }
        self.ends.pop();
    }

    /// A concept that was drawn, from a cell that was collected.
    pub fn concept(&self, drawn: Drawn) -> u32 {
        let cell = drawn.cell as usize;
        self.concepts[(self.ends[cell].0 - self.counts[cell] + drawn.place) as usize]
    }

    /// The concepts of one circle, where all cells were collected.
    fn all(&self, circle: usize) -> &[u32] {
        let cells = self.sides * circle..self.sides * (circle + 1);
        &self.concepts
            [(self.ends[cells.start].0 - self.counts[cells.start]) as usize..self.ends[cells.end - 1].0 as usize]
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
