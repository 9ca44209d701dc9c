//! Distances from several tuples at once.
//!
//! Tuples that are searched together have a *lane* each. Sums of distances are held in 16 bits, so that the compiler
//! makes a few instructions of each operation on all lanes. Distances that need more bits are shifted down: no sum gets
//! larger than the exact one shifted down, so that nothing near is missed, and what passes is looked at exactly.

use std::borrow::Cow;

use super::hierarchy::Hierarchy;
use super::scale::{Distance, Space};
use crate::error::Result;
use crate::memory;

/// Lanes of a batch.
pub(crate) const LANES: usize = 16;

/// A number for each lane.
pub(crate) type Vector = [i16; LANES];

/// A bit for each lane.
pub(crate) type Mask = u16;

/// Less than any distance.
pub(crate) const NONE: i16 = i16::MIN;
/// A distance of 0: all 16 bits are used, but only signed numbers are compared by one instruction.
const ZERO: i16 = NONE + 1;
/// The largest distance.
const LARGEST: Distance = (i16::MAX as i32 - ZERO as i32) as Distance;

/// Whether any lane has a number that is not above the limit.
#[inline]
pub(crate) fn any_within(numbers: &Vector, limits: &Vector) -> bool {
    let mut any = 0;
    for lane in 0..LANES {
        any |= -i16::from(numbers[lane] <= limits[lane]);
    }
    any != 0
}

/// The lanes whose numbers are not above the limit, given the bit of each lane, none for idle ones.
///
/// Were the bits constants here, the compiler would treat some lanes apart.
#[inline]
pub(crate) fn within(numbers: &Vector, limits: &Vector, bits: &[Mask; LANES]) -> Mask {
    let mut all = 0;
    for lane in 0..LANES {
        all |= if numbers[lane] <= limits[lane] { bits[lane] } else { 0 };
    }
    all
}

/// The distance that a number in a lane stands for, if none was shortened.
#[inline]
pub(crate) fn whole(number: i16) -> Distance {
    Distance::from(number.wrapping_sub(ZERO) as u16)
}

/// The lanes of a mask.
#[inline]
pub(crate) fn lanes(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

/// Distances between categories and from categories to groups, those of all attributes in one sequence.
pub(crate) struct Scale<'a> {
    spaces: &'a [Space],
    hierarchies: &'a [Hierarchy],
    /// Shortened distances from each category to each other, by attribute,
    distances: Vec<Cow<'a, [i16]>>,
    /// and to the nearest member of each group, and whether all its members are equally distant; none if nothing bounds
    /// a search.
    bounds: Vec<Vec<(i16, bool)>>,
    /// Number of the first category and of the first group of each attribute, and the number of all.
    first_category: Vec<u32>,
    first_group: Vec<u32>,
    /// Bits by which distances are too long.
    shift: u32,
}

impl<'a> Scale<'a> {
    /// Shortens distances, and finds those to groups if they are to bound a search.
    pub fn new(spaces: &'a [Space], hierarchies: &'a [Hierarchy], bounded: bool) -> Result<Self> {
        memory::require(Self::needs(spaces, hierarchies, bounded), "bounds of distances")?;
        let largest_sum: Distance = spaces.iter().map(|space| space.largest).sum();
        let shift = (0..Distance::BITS).find(|shift| largest_sum >> shift <= LARGEST).unwrap_or(0);
        let shorten = |x: Distance| (x >> shift) as i16;
        let of = |x: Distance| (x, true);
        let join = |a: (Distance, bool), b: (Distance, bool)| (a.0.min(b.0), a.1 && b.1 && a.0 == b.0);
        let keep = |(least, even): (Distance, bool)| (shorten(least), even);
        let bounds_of = |(hierarchy, space): (&Hierarchy, &Space)| {
            if shift > 0 {
                return hierarchy.table(space, of, join, keep);
            }
            // What fits is compared in half the time.
            let of = |x: Distance| (x as u16, x as u16);
            let join = |a: (u16, u16), b: (u16, u16)| (a.0.min(b.0), a.1.max(b.1));
            hierarchy.table(space, of, join, |(least, most)| (least as i16, least == most))
        };
        Ok(Self {
            distances: spaces.iter().map(|space| space.shortened(shift)).collect(),
            bounds: hierarchies.iter().zip(spaces).filter(|_| bounded).map(bounds_of).collect(),
            first_category: firsts(spaces.iter().map(Space::len)),
            first_group: firsts(hierarchies.iter().map(Hierarchy::len)),
            spaces,
            hierarchies,
            shift,
        })
    }

    /// Bytes for distances between categories and to groups; those of one category to groups, and tables, for each thread.
    pub fn needs(spaces: &[Space], hierarchies: &[Hierarchy], bounded: bool) -> usize {
        let threads = rayon::current_num_threads();
        let bounds = size_of::<(i16, bool)>() * if bounded { Self::cells(spaces, hierarchies) } else { 0 };
        let each = spaces.iter().zip(hierarchies).map(|(space, hierarchy)| {
            let (d, groups) = (space.len(), hierarchy.len());
            let own = size_of::<i16>() * d * d;
            let room = (size_of::<Vector>() + size_of::<u32>()) * d + (size_of::<Bound>() + size_of::<u32>()) * groups;
            own + threads * (room + size_of::<(Distance, bool)>() * groups)
        });
        bounds + each.sum::<usize>()
    }

    /// Numbers of all bounds: one for each category and group.
    pub fn cells(spaces: &[Space], hierarchies: &[Hierarchy]) -> usize {
        spaces.iter().zip(hierarchies).map(|(space, hierarchy)| space.len() * hierarchy.len()).sum()
    }

    /// Whether distances to groups bound a search.
    pub fn is_bounded(&self) -> bool {
        !self.bounds.is_empty()
    }

    /// Whether the number in a lane tells the distance.
    #[inline]
    pub fn is_exact(&self) -> bool {
        self.shift == 0
    }

    /// The distances between all categories of an attribute, if they are as long as lanes are.
    pub fn short(&self, attribute: usize) -> Option<&[i16]> {
        self.is_exact().then(|| &self.distances[attribute][..])
    }

    /// Distances from the category of each lane to all categories of an attribute. Idle lanes repeat the first, so that the
    /// number of lanes is fixed.
    fn rows(&self, from: &[u32], attribute: usize) -> [&[i16]; LANES] {
        let d = self.spaces[attribute].len();
        let first = self.first_category[attribute];
        let row = |from: &[u32]| &self.distances[attribute][(from[attribute] - first) as usize * d..][..d];
        let mut rows = [row(from); LANES];
        for (lane, from) in rows.iter_mut().zip(from.chunks_exact(self.spaces.len())) {
            *lane = row(from);
        }
        rows
    }

    /// The numbers of the categories of all tuples, tuple after tuple.
    pub fn categories(&self, codes: &[Vec<u32>]) -> Vec<u32> {
        let tuples = codes.first().map_or(0, Vec::len);
        let mut all = Vec::with_capacity(tuples * codes.len());
        for tuple in 0..tuples {
            all.extend(codes.iter().zip(&self.first_category).map(|(codes, first)| first + codes[tuple]));
        }
        all
    }

    /// A limit of distances in the bits of a lane.
    #[inline]
    pub fn limit(&self, limit: Distance) -> i16 {
        ZERO.wrapping_add((limit >> self.shift).min(LARGEST) as i16)
    }

    /// The distance of two tuples given by the numbers of their categories, and its number in a lane.
    #[inline]
    pub fn distance(&self, number: i16, from: &[u32], to: &[u32]) -> Distance {
        if self.is_exact() {
            return whole(number);
        }
        self.exact(from, to)
    }

    /// The distance of two tuples given by the numbers of their categories.
    #[inline]
    pub fn exact(&self, from: &[u32], to: &[u32]) -> Distance {
        let each = self.spaces.iter().zip(&self.first_category).zip(from.iter().zip(to));
        each.map(|((space, first), (from, to))| space.distance(from - first, to - first)).sum()
    }

    /// What the members of some groups, one for each attribute, are distant from a tuple at least, and whether all are
    /// equally distant.
    #[inline]
    pub fn nearest(&self, from: &[u32], groups: &[u32]) -> (Distance, bool) {
        let mut sum = (0, true);
        for (a, (from, &group)) in from.iter().zip(groups).enumerate() {
            let category = (from - self.first_category[a]) as usize;
            let (least, even) = self.bounds[a][category * self.hierarchies[a].len() + group as usize];
            sum = (sum.0 + (Distance::from(least as u16) << self.shift), sum.1 && even);
        }
        sum
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

/// Distances from the categories of a batch, lane by lane. Only what a search comes to is filled in, or all, where nothing
/// bounds it.
#[derive(Default)]
pub(crate) struct Tables {
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
    /// Begins a new batch, given by its categories, lane after lane.
    pub fn restart(&mut self, scale: &Scale<'_>, from: &[u32]) {
        if self.batch == 0 {
            let last = |firsts: &[u32]| firsts.last().map_or(0, |&end| end as usize);
            let (categories, groups) = (last(&scale.first_category), last(&scale.first_group));
            self.categories = vec![[0; LANES]; categories];
            if scale.is_bounded() {
                self.category_of = vec![0; categories];
                self.groups = vec![Bound::default(); groups];
                self.members_of = vec![0; groups];
            }
        }
        self.batch += 1;
        if !scale.is_bounded() {
            self.fill_all(scale, from);
        }
    }

    /// Fills in the distances to all categories.
    fn fill_all(&mut self, scale: &Scale<'_>, from: &[u32]) {
        for (a, space) in scale.spaces.iter().enumerate() {
            let categories = &mut self.categories[scale.first_category[a] as usize..][..space.len()];
            for (lane, row) in scale.rows(from, a).into_iter().enumerate() {
                for (numbers, &x) in categories.iter_mut().zip(row) {
                    numbers[lane] = x;
                }
            }
        }
    }

    /// The distances to the nearest members of some groups, one for each attribute, and the lanes for which all their
    /// members are equally distant. `from` are the categories of the batch, lane after lane.
    #[inline]
    pub fn bound(&mut self, scale: &Scale<'_>, from: &[u32], groups: &[u32]) -> (Vector, Mask) {
        let mut sum = [ZERO; LANES];
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
        let bounds = &scale.bounds[attribute][group as usize..];
        for (lane, from) in from.chunks_exact(scale.spaces.len()).enumerate() {
            let category = (from[attribute] - scale.first_category[attribute]) as usize;
            let (least, even) = bounds[category * scale.hierarchies[attribute].len()];
            bound.least[lane] = least;
            bound.even |= Mask::from(even) << lane;
        }
    }

    /// Makes sure that the distances to all categories of some groups, one for each attribute, are there.
    #[inline]
    pub fn prepare(&mut self, scale: &Scale<'_>, from: &[u32], groups: &[u32]) {
        if !scale.is_bounded() {
            return;
        }
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
        let rows = scale.rows(from, attribute);
        for &member in scale.hierarchies[attribute].members(group) {
            let index = (first + member) as usize;
            if self.category_of[index] != self.batch {
                self.category_of[index] = self.batch;
                for (number, row) in self.categories[index].iter_mut().zip(rows) {
                    *number = row[member as usize];
                }
            }
        }
    }

    /// The distances to a tuple.
    #[inline]
    pub fn sum(&self, categories: &[u32]) -> Vector {
        let mut sum = [ZERO; LANES];
        for &category in categories {
            add(&mut sum, &self.categories[category as usize]);
        }
        sum
    }
}

#[inline]
fn add(sum: &mut Vector, numbers: &Vector) {
    for (sum, number) in sum.iter_mut().zip(numbers) {
        // Distances from 0 to the largest begin below 0 and take all 16 bits.
        *sum = sum.wrapping_add(*number);
    }
}
