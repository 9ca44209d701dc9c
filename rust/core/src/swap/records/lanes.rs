//! Distances from several tuples at once.
//!
//! Tuples that are searched together have a *lane* each. Sums of distances are held in 16 bits, so that the compiler
//! makes a few instructions of each operation on all lanes. Distances that need more bits are shifted down: no sum gets
//! larger than the exact one shifted down, so that nothing near is missed, and what passes is looked at exactly.

use super::groups::Groups;
use super::scale::{Distance, Space};

/// Lanes of a batch.
pub(super) const LANES: usize = 16;

/// A number for each lane.
pub(super) type Vector = [i16; LANES];

/// A bit for each lane.
pub(super) type Mask = u16;

/// Less than any distance.
pub(super) const NONE: i16 = -1;

/// Whether any lane has a number that is not above the limit.
#[inline]
pub(super) fn any_within(numbers: &Vector, limits: &Vector) -> bool {
    // In this form it is one instruction to test what the comparison of all lanes yields.
    let within: [bool; LANES] = std::array::from_fn(|lane| numbers[lane] <= limits[lane]);
    within != [false; LANES]
}

/// The lanes whose numbers are not above the limit.
#[inline]
pub(super) fn within(numbers: &Vector, limits: &Vector) -> Mask {
    (0..LANES).fold(0, |mask, lane| mask | Mask::from(numbers[lane] <= limits[lane]) << lane)
}

/// The lanes of a mask.
#[inline]
pub(super) fn lanes(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

/// Distances between categories and from categories to groups, those of all attributes in one sequence.
pub(super) struct Scale<'a> {
    spaces: &'a [Space],
    groups: &'a [Groups],
    /// Smallest and largest distance from each category to each group, by attribute.
    bounds: Vec<Vec<(Distance, Distance)>>,
    /// Number of the first category and of the first group of each attribute, and the number of all.
    first_category: Vec<u32>,
    first_group: Vec<u32>,
    /// Bits by which distances are too long.
    shift: u32,
}

impl<'a> Scale<'a> {
    pub fn new(spaces: &'a [Space], groups: &'a [Groups]) -> Self {
        let both = |x: Distance| (x, x);
        let join = |a: (Distance, Distance), b: (Distance, Distance)| (a.0.min(b.0), a.1.max(b.1));
        let bounds: Vec<Vec<(Distance, Distance)>> =
            groups.iter().zip(spaces).map(|(groups, space)| groups.table(space, both, join)).collect();
        // Group 0 is everything.
        let largest = |(bounds, groups): (&Vec<(Distance, Distance)>, &Groups)| {
            bounds.iter().step_by(groups.len()).map(|b| b.1).max().unwrap_or(0)
        };
        let largest_sum: Distance = bounds.iter().zip(groups).map(largest).sum();
        let shift = (i16::BITS - 1).max(Distance::BITS - largest_sum.leading_zeros()) - (i16::BITS - 1);
        Self {
            first_category: firsts(spaces.iter().map(Space::len)),
            first_group: firsts(groups.iter().map(Groups::len)),
            spaces,
            groups,
            bounds,
            shift,
        }
    }

    /// The numbers of the categories of all tuples, tuple after tuple.
    pub fn categories(&self, codes: &[Vec<u32>]) -> Vec<u32> {
        let tuples = codes.first().map_or(0, Vec::len);
        let mut all = vec![0; tuples * codes.len()];
        for (a, (codes, first)) in codes.iter().zip(&self.first_category).enumerate() {
            for (number, &code) in all[a..].iter_mut().step_by(self.spaces.len()).zip(codes) {
                *number = first + code;
            }
        }
        all
    }

    /// A distance, or a limit of distances, in the bits of a lane.
    #[inline]
    pub fn shorten(&self, distance: Distance) -> i16 {
        (distance >> self.shift).min(i16::MAX as Distance) as i16
    }

    /// The distance of two tuples given by the numbers of their categories.
    #[inline]
    pub fn distance(&self, from: &[u32], to: &[u32]) -> Distance {
        let each = self.spaces.iter().zip(&self.first_category).zip(from.iter().zip(to));
        each.map(|((space, first), (from, to))| space.row(from - first)[(to - first) as usize]).sum()
    }

    /// The smallest distance of a tuple to some groups, one for each attribute.
    pub fn least(&self, from: &[u32], groups: &[u32]) -> Distance {
        let each = from.iter().zip(groups).enumerate();
        each.map(|(a, (from, &group))| self.bound(a, from - self.first_category[a], group).0).sum()
    }

    #[inline]
    fn bound(&self, attribute: usize, category: u32, group: u32) -> (Distance, Distance) {
        self.bounds[attribute][category as usize * self.groups[attribute].len() + group as usize]
    }
}

/// Where each of several parts begins, and the end.
fn firsts(sizes: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut firsts = vec![0];
    let mut end = 0;
    for size in sizes {
        end += size as u32;
        firsts.push(end);
    }
    firsts
}

/// Distances from the categories of a batch, lane by lane. Only what a search comes to is filled in.
#[derive(Default)]
pub(super) struct Tables {
    /// Number of the batch. What bears another number is left over from a batch before.
    batch: u32,
    /// Distances to each category, and the batch for which they are filled in.
    categories: Vec<Vector>,
    category_of: Vec<u32>,
    /// Distances to each group,
    groups: Vec<Bound>,
    /// and the batch for which those to its categories are filled in.
    members_of: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Bound {
    least: Vector,
    /// Lanes for which all categories of the group are equally distant.
    even: Mask,
    batch: u32,
}

impl Tables {
    /// Begins a new batch.
    pub fn restart(&mut self, scale: &Scale<'_>) {
        if self.batch == 0 {
            let last = |firsts: &[u32]| firsts.last().map_or(0, |&end| end as usize);
            let (categories, groups) = (last(&scale.first_category), last(&scale.first_group));
            self.categories = vec![[0; LANES]; categories];
            self.category_of = vec![0; categories];
            self.groups = vec![Bound::default(); groups];
            self.members_of = vec![0; groups];
        }
        self.batch += 1;
    }

    /// The distances to the nearest members of some groups, one for each attribute, and the lanes for which all their
    /// members are equally distant. `from` are the categories of the batch, lane after lane.
    #[inline]
    pub fn bound(&mut self, scale: &Scale<'_>, from: &[u32], groups: &[u32]) -> (Vector, Mask) {
        let mut sum = [0; LANES];
        let mut even = Mask::MAX;
        for (a, (first, &group)) in scale.first_group.iter().zip(groups).enumerate() {
            let index = (first + group) as usize;
            if self.groups[index].batch != self.batch {
                self.fill_group(scale, from, a, group);
            }
            let bound = &self.groups[index];
            add(&mut sum, &bound.least);
            even &= bound.even;
        }
        (sum, even)
    }

    #[cold]
    fn fill_group(&mut self, scale: &Scale<'_>, from: &[u32], attribute: usize, group: u32) {
        let bound = &mut self.groups[(scale.first_group[attribute] + group) as usize];
        (bound.batch, bound.even) = (self.batch, 0);
        for (lane, from) in from.chunks_exact(scale.spaces.len()).enumerate() {
            let category = from[attribute] - scale.first_category[attribute];
            let (least, most) = scale.bound(attribute, category, group);
            bound.least[lane] = scale.shorten(least);
            bound.even |= Mask::from(least == most) << lane;
        }
    }

    /// Makes sure that the distances to all categories of some groups, one for each attribute, are there.
    #[inline]
    pub fn prepare(&mut self, scale: &Scale<'_>, from: &[u32], groups: &[u32]) {
        for (a, (first, &group)) in scale.first_group.iter().zip(groups).enumerate() {
            if self.members_of[(first + group) as usize] != self.batch {
                self.members_of[(first + group) as usize] = self.batch;
                self.fill_members(scale, from, a, group);
            }
        }
    }

    #[cold]
    fn fill_members(&mut self, scale: &Scale<'_>, from: &[u32], attribute: usize, group: u32) {
        let first = scale.first_category[attribute];
        for &member in scale.groups[attribute].members(group) {
            let index = (first + member) as usize;
            if self.category_of[index] == self.batch {
                continue;
            }
            self.category_of[index] = self.batch;
            for (lane, from) in from.chunks_exact(scale.spaces.len()).enumerate() {
                let row = scale.spaces[attribute].row(from[attribute] - first);
                self.categories[index][lane] = scale.shorten(row[member as usize]);
            }
        }
    }

    /// The distances to a tuple.
    #[inline]
    pub fn sum(&self, categories: &[u32]) -> Vector {
        let mut sum = [0; LANES];
        for &category in categories {
            add(&mut sum, &self.categories[category as usize]);
        }
        sum
    }
}

#[inline]
fn add(sum: &mut Vector, numbers: &Vector) {
    for (sum, number) in sum.iter_mut().zip(numbers) {
        // What is left over in idle lanes may be anything.
        *sum = sum.wrapping_add(*number);
    }
}
