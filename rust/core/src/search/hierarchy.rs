//! Categories in groups of groups, found from their distances alone, and how far a category is from a group.

use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::ordered::Ordered;
use super::scale::{Distance, Space};

/// Numbers that one table of bounds may have; more categories get coarser groups.
const TABLE: usize = 1 << 24;
/// Groups that are allowed in any case.
const FEWEST: usize = 64;
/// Centres around which a group's categories are gathered before it is halved.
const CENTRES: usize = 16;
/// Records, out of so many, that may lie farther from a category than its reach.
const BEYOND: u64 = 10;
/// Largest distances of a category that are looked for one after another, before all are sorted.
const LEVELS: usize = 8;

/// A binary hierarchy of the categories of one attribute. Each group is a range of their order; group 0 is all of them.
#[derive(Debug)]
pub(crate) struct Hierarchy {
    /// Place of each category in the order.
    pub place: Vec<u32>,
    order: Vec<u32>,
    all: Vec<Group>,
}

#[derive(Debug, Clone, Copy)]
struct Group {
    start: u32,
    end: u32,
    /// The first of its two parts, which follow each other; 0 if it is not divided.
    parts: u32,
    /// How much its categories differ: what a search gains by dividing it.
    width: Distance,
}

impl Hierarchy {
    /// Groups of near categories.
    pub fn by_distance(space: &Space) -> Self {
        Self::new(space, &vec![0; space.len()])
    }

    /// Groups of categories that reach equally far, and of near ones among those.
    ///
    /// In a taxonomy most pairs meet at the root and are the farther apart the deeper they are: the far ends of any
    /// category are the deep categories elsewhere. The reach tells depths apart without knowing the taxonomy.
    pub fn by_reach(space: &Space) -> Self {
        let all: u64 = space.counts.iter().sum();
        let reach: Vec<Distance> = (0..space.len() as u32)
            .into_par_iter()
            .map_init(Vec::new, |row, category| {
                space.row(category).copy_to(row);
                reach(row, &space.counts, all / BEYOND)
            })
            .collect();
        Self::new(space, &reach)
    }

    /// Groups of neighbours in some order of the categories of an attribute, each with about half of the records of the
    /// whole, given how many records each category has.
    pub fn along(ordered: &Ordered<'_>, order: Vec<u32>, counts: &[u64]) -> Self {
        let d = order.len();
        let mut place = vec![0; d];
        let mut sums = vec![0; d + 1];
        for (i, &category) in order.iter().enumerate() {
            place[category as usize] = i as u32;
            // Categories without records are divided too.
            sums[i + 1] = sums[i] + counts[category as usize].max(1);
        }
        let mut groups = vec![Group { start: 0, end: d as u32, parts: 0, width: 0 }];
        let mut next = 0;
        while next < groups.len() {
            let Group { start, end, .. } = groups[next];
            if end - start > 1 {
                let middle = divided(ordered, &order, &sums, (start as usize, end as usize)) as u32;
                groups[next].parts = groups.len() as u32;
                let members = order[start as usize..end as usize].iter().copied();
                groups[next].width = ordered.width(&ordered.span_of(members));
                groups.push(Group { start, end: middle, parts: 0, width: 0 });
                groups.push(Group { start: middle, end, parts: 0, width: 0 });
            }
            next += 1;
        }
        Self { place, order, all: groups }
    }

    fn new(space: &Space, reach: &[Distance]) -> Self {
        let d = space.len();
        let limit = FEWEST.max(TABLE / d.max(1));
        let mut order: Vec<u32> = (0..d as u32).collect();
        let mut groups = vec![Group { start: 0, end: d as u32, parts: 0, width: 0 }];
        // Largest first, so that a limit leaves groups of about equal size undivided.
        let mut open = BinaryHeap::from([(d, 0)]);
        while let Some((size, index)) = open.pop() {
            if size < 2 || groups.len() + 2 > limit {
                continue;
            }
            let Group { start, end, .. } = groups[index];
            let (first, width) = halve(&mut order[start as usize..end as usize], space, reach);
            let parts = groups.len();
            groups[index].parts = parts as u32;
            groups[index].width = width;
            let middle = start + first as u32;
            groups.push(Group { start, end: middle, parts: 0, width: 0 });
            groups.push(Group { start: middle, end, parts: 0, width: 0 });
            open.push((first, parts));
            open.push((size - first, parts + 1));
        }
        let mut place = vec![0; d];
        for (i, &category) in (0u32..).zip(&order) {
            place[category as usize] = i;
        }
        Self { place, order, all: groups }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The smallest group inside `group` that holds the places `first` to `last`.
    pub fn smallest(&self, mut group: u32, first: u32, last: u32) -> u32 {
        while let Some(middle) = self.middle(group) {
            if first < middle && last >= middle {
                break;
            }
            group = self.all[group as usize].parts + u32::from(first >= middle);
        }
        group
    }

    /// The place at which a group is divided in two, if it is.
    pub fn middle(&self, group: u32) -> Option<u32> {
        let parts = self.all[group as usize].parts;
        (parts > 0).then(|| self.all[parts as usize].end)
    }

    /// The categories of a group.
    pub fn members(&self, group: u32) -> &[u32] {
        let Group { start, end, .. } = self.all[group as usize];
        &self.order[start as usize..end as usize]
    }

    /// How much the categories of a group differ.
    pub fn width(&self, group: u32) -> Distance {
        self.all[group as usize].width
    }

    /// What to `keep` for each category and group, category after category: `of` the distance to each member, `joined`.
    pub fn table<T, U, F, J, K>(&self, space: &Space, of: F, join: J, keep: K) -> Vec<U>
    where
        T: Copy + Default + Send,
        U: Copy + Default + Send,
        F: Fn(Distance) -> T + Sync,
        J: Fn(T, T) -> T + Sync,
        K: Fn(T) -> U + Sync,
    {
        let mut table = vec![U::default(); space.len() * self.len()];
        let room = || vec![T::default(); self.len()];
        table.par_chunks_mut(self.len()).enumerate().for_each_init(room, |out, (category, kept)| {
            let row = space.row(category as u32);
            // Parts come after their whole.
            for (index, group) in self.all.iter().enumerate().rev() {
                out[index] = if group.parts > 0 {
                    join(out[group.parts as usize], out[group.parts as usize + 1])
                } else {
                    let members = &self.order[group.start as usize..group.end as usize];
                    let each = members.iter().map(|&c| of(row.to(c)));
                    each.reduce(&join).unwrap_or_default()
                };
                kept[index] = keep(out[index]);
            }
        });
        table
    }
}

/// The largest distance such that more records than some lie as far or farther, given those at each distance; 0 if there is
/// none.
fn reach(distances: &[Distance], records: &[u64], beyond: u64) -> Distance {
    let each = || distances.iter().copied().zip(records.iter().copied());
    let mut left = beyond;
    let mut above = Distance::MAX;
    // Mostly the farthest are at a few distances.
    for _ in 0..LEVELS {
        let level = distances.iter().map(|&x| if x < above { x } else { 0 }).max().unwrap_or(0);
        let records: u64 = each().map(|(x, n)| if x == level { n } else { 0 }).sum();
        if records > left || level == 0 {
            return level;
        }
        (left, above) = (left - records, level);
    }
    let mut nearer: Vec<(Distance, u64)> = each().filter(|&(x, _)| x < above).collect();
    nearer.sort_unstable();
    while let Some((level, records)) = nearer.pop() {
        if records > left {
            return level;
        }
        left -= records;
    }
    0
}

/// Where to divide a group: near the half of its records, given how many there are before each place; in a tree, between
/// branches that meet as high as possible, if these have a quarter or more.
fn divided(ordered: &Ordered<'_>, order: &[u32], sums: &[u64], (start, end): (usize, usize)) -> usize {
    // What is missing comes last.
    if end == order.len() {
        return end - 1;
    }
    let (low, high) = (sums[start], sums[end]);
    let half = low.midpoint(high);
    let nearest = sums.partition_point(|&sum| sum <= half).clamp(start + 1, end - 1);
    if !ordered.has_branches() {
        return nearest;
    }
    let quarter = (high - low) / 4;
    let first = sums.partition_point(|&sum| sum < low + quarter).clamp(start + 1, nearest);
    let last = sums.partition_point(|&sum| sum <= high - quarter).clamp(nearest + 1, end);
    let pair = |i: usize| (order[i - 1], order[i]);
    let best = (first..last).min_by(|&a, &b| {
        ordered.divides(pair(a), pair(b)).then_with(|| sums[a].abs_diff(half).cmp(&sums[b].abs_diff(half)))
    });
    best.unwrap_or(nearest)
}

/// Puts the categories of a group into two parts; the size of the first, and how much the group's categories differ.
fn halve(categories: &mut [u32], space: &Space, reach: &[Distance]) -> (usize, Distance) {
    let reach_of = |&c: &u32| reach[c as usize];
    let (low, high) = categories.iter().map(reach_of).fold((Distance::MAX, 0), |(a, b), x| (a.min(x), b.max(x)));
    if low < high {
        categories.sort_unstable_by_key(|c| (std::cmp::Reverse(reach_of(c)), *c));
        let levels = categories.chunk_by(|a, b| reach_of(a) == reach_of(b)).map(<[u32]>::len);
        let largest = space.row(categories[0]).largest();
        return (nearest_to_half(levels, categories.len()), largest + (high - low));
    }
    let (clusters, width) = clusters(categories, space);
    let mut sizes = [0; CENTRES];
    for &cluster in &clusters {
        sizes[cluster as usize] += 1;
    }
    let mut by_size: Vec<usize> = (0..CENTRES).collect();
    by_size.sort_by_key(|&cluster| std::cmp::Reverse(sizes[cluster]));
    // Whole clusters, large ones first, each to the side that is smaller so far.
    let mut side = [false; CENTRES];
    let mut filled = [0, 0];
    for cluster in by_size {
        let right = filled[1] < filled[0];
        side[cluster] = right;
        filled[usize::from(right)] += sizes[cluster];
    }
    let mut keyed: Vec<(bool, u32)> =
        clusters.iter().map(|&c| side[c as usize]).zip(categories.iter().copied()).collect();
    keyed.sort_unstable();
    for (category, (_, sorted)) in categories.iter_mut().zip(keyed) {
        *category = sorted;
    }
    if filled[1] == 0 { (categories.len() / 2, width) } else { (filled[0], width) }
}

/// The number of categories in the first levels that comes nearest to a half, levels being left whole.
fn nearest_to_half(levels: impl Iterator<Item = usize>, all: usize) -> usize {
    let ends = levels.scan(0, |end, size| {
        *end += size;
        Some(*end)
    });
    ends.filter(|&end| end < all).min_by_key(|&end| (2 * end).abs_diff(all)).unwrap_or(all / 2)
}

/// Gathers categories around centres that are far from each other; the centre of each, and the distance of the first two.
fn clusters(categories: &[u32], space: &Space) -> (Vec<u8>, Distance) {
    let farthest = |distance: &dyn Fn(usize) -> Distance| {
        let best = (0..categories.len()).max_by_key(|&i| distance(i));
        best.unwrap_or(0)
    };
    let from_any = space.row(categories[0]);
    let mut centre = categories[farthest(&|i| from_any.to(categories[i]))];
    let mut nearest = vec![Distance::MAX; categories.len()];
    let mut clusters = vec![0; categories.len()];
    let mut width = 0;
    for index in 0..CENTRES {
        let row = space.row(centre);
        for ((near, cluster), &c) in nearest.iter_mut().zip(&mut clusters).zip(categories) {
            if row.to(c) < *near {
                (*near, *cluster) = (row.to(c), index as u8);
            }
        }
        let next = farthest(&|i| nearest[i]);
        width = width.max(nearest[next]);
        // Categories that are much nearer than the first two belong to their clusters.
        if nearest[next] * 2 <= width {
            break;
        }
        centre = categories[next];
    }
    (clusters, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reach_leaves_a_share_beyond() {
        // Few levels and more than are looked for one after another.
        for levels in [1, 3, 40] {
            let distances: Vec<Distance> = (0..60).map(|i| i * 37 % levels).collect();
            let records: Vec<u64> = (0..60).map(|i| i * 11 % 7).collect();
            for beyond in [0, 5, 20, 100, 1_000] {
                let far =
                    |x: Distance| distances.iter().zip(&records).filter(|(y, _)| **y >= x).map(|(_, n)| n).sum::<u64>();
                let expected = (0..levels).rev().find(|&x| far(x) > beyond).unwrap_or(0);
                assert_eq!(reach(&distances, &records, beyond), expected, "{levels} levels, {beyond} records");
            }
        }
    }
}
