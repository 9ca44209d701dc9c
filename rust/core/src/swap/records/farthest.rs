//! The farthest record that is not done.
//!
//! The records that are left are kept in *buckets* of near tuples. For each category and bucket the largest distance is
//! known from the category to a tuple of the bucket that was left when it was last looked at. Their sum over the
//! attributes bounds the distance from a reference to the records of a bucket. If the largest bound is attained, all
//! records that attain it sit in the buckets that have it; so a record drawn from these that attains it is one of the
//! farthest, and each of the farthest is as likely. Where none is drawn, all tuples of these buckets are looked at,
//! their bounds get tighter, and the buckets with the next bound follow.
//!
//! Attributes without distances of all pairs have no such table: what a bucket holds of them, an interval or a part of a tree,
//! bounds the distances from any category. It is found again whenever the tuples of the bucket are looked at.
//!
//! Most of the time a share of all records is equally far, so few draws are enough: a step costs a sum over the
//! buckets, whatever the number of tuples.

use std::ops::BitAnd;

use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::memory;
use crate::search::hierarchy::Hierarchy;
use crate::search::lanes::Scale;
use crate::search::ordered::{Ordered, Span};
use crate::search::scale::{Distance, Row, Space};
use crate::search::tree::Tree;

/// Buckets, about, for up to two attributes and for more: more are more to add up, fewer have looser bounds and more
/// tuples to look at. With two attributes bounds are tight anyway.
const BUCKETS: [usize; 2] = [1 << 9, 1 << 10];
/// Numbers that the tables of bounds may have; many categories get fewer buckets.
const TABLE: usize = 1 << 24;
/// Tuples that a bucket may have in any case.
const FEW: usize = 8;
/// Records drawn from the buckets with the largest bound before their tuples are looked at.
const TRIALS: usize = 16;
/// Records drawn from all before that.
const GUESSES: usize = 8;
/// The buckets are made anew, and their bounds get tighter, when less than this share of their records is left.
const WORN: f64 = 0.7;
/// Bounds of all categories are found at once, in parallel, while there are so many records for each of them: side by side
/// where distances are short, else one by one.
const ALL: [usize; 2] = [1, 4];
/// Categories side by side.
const BLOCK: usize = 32;
/// On a seat whose record is done.
const NOBODY: u32 = u32::MAX;

/// What needs memory here.
const WHAT: &str = "the farthest records";

/// Bytes for `n` records of so many tuples and categories in buckets, beside the bounds of these: seats before and after they
/// are made anew; tuples, and the categories of each twice.
fn needs(n: usize, tuples: usize, attributes: usize, categories: usize) -> usize {
    size_of::<u32>() * (3 * n + tuples * (6 + 3 * attributes)) + CATEGORY * categories
}

/// Bytes of a category, for its place in a hierarchy.
const CATEGORY: usize = 96;

/// A bound of distances, and one; 0 where there is nothing.
pub(super) trait Bound: Copy + Ord + Default + Send + Sync + BitAnd<Output = Self> {
    /// All bits.
    const ALL: Self;
    /// The largest that there is.
    const LARGEST: Distance;

    /// A bound that is not too large.
    fn of(distance: Distance) -> Self;

    /// The distance.
    fn distance(self) -> Distance;

    /// The sum of two, which is not too large.
    fn plus(self, other: Self) -> Self;

    /// Replaces what is less than others.
    #[inline]
    fn farther(most: &mut [Self; BLOCK], others: &[Self; BLOCK]) {
        for i in 0..BLOCK {
            most[i] = most[i].max(others[i]);
        }
    }

    /// All distances of an attribute, if they are as short.
    fn all<'a>(scale: &'a Scale<'_>, attribute: usize) -> Option<&'a [Self]>;
}

impl Bound for u32 {
    const ALL: Self = Self::MAX;
    const LARGEST: Distance = Self::MAX as Distance;

    fn of(distance: Distance) -> Self {
        distance as Self
    }

    fn distance(self) -> Distance {
        Distance::from(self)
    }

    fn plus(self, other: Self) -> Self {
        self + other
    }

    fn all<'a>(_: &'a Scale<'_>, _: usize) -> Option<&'a [Self]> {
        None
    }
}

/// Of these a single instruction adds or compares several, on every processor.
impl Bound for i16 {
    const ALL: Self = -1;
    const LARGEST: Distance = Self::MAX as Distance;

    fn of(distance: Distance) -> Self {
        distance as Self
    }

    fn distance(self) -> Distance {
        self as Distance
    }

    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    fn all<'a>(scale: &'a Scale<'_>, attribute: usize) -> Option<&'a [Self]> {
        scale.short(attribute)
    }
}

/// Whether short bounds hold all distances of tuples.
pub(super) fn are_short(all: &Places<'_>) -> bool {
    all.largest().iter().sum::<Distance>() < i16::LARGEST
}

/// Distinct tuples: their categories by attribute, the first place of each, and the tuple at each place.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub spaces: &'a [Space],
    pub scale: &'a Scale<'a>,
    pub ordered: &'a [Ordered<'a>],
    /// Records of each category, by attribute without distances of all pairs.
    pub counts: &'a [Vec<u64>],
    pub codes: &'a [Vec<u32>],
    pub starts: &'a [u32],
    pub tuples: &'a [u32],
}

impl Places<'_> {
    /// The largest distance of each attribute.
    fn largest(&self) -> Vec<Distance> {
        self.spaces.iter().map(|space| space.largest).chain(self.ordered.iter().map(Ordered::largest)).collect()
    }
}

/// The records that are not done.
pub(super) struct Ends<'a, T> {
    all: Places<'a>,
    hierarchies: Vec<Hierarchy>,
    /// Number of records, now and when the buckets were made.
    len: usize,
    built: usize,
    /// Records of each tuple,
    left: Vec<u32>,
    /// its first seat; its records have the first of its seats,
    first: Vec<u32>,
    /// and its bucket.
    bucket: Vec<u32>,
    buckets: Vec<Bucket>,
    /// The tuples, bucket after bucket,
    order: Vec<u32>,
    /// and their categories, tuple after tuple.
    codes: Vec<u32>,
    /// The place of the record on each seat.
    places: Vec<u32>,
    /// The seat of the record at each place.
    seats: Vec<u32>,
    /// Bounds of the distance from the categories to the buckets, by attribute with distances of all pairs,
    bounds: Vec<Bounds<T>>,
    /// and what each bucket held of the others when it was last looked at, bucket after bucket.
    spans: Vec<Span>,
    /// For each bucket, all bits if it has a record, none if not.
    alive: Vec<T>,
    /// The lowest bits of a distance, which bounds do without: as many as make their sums fit.
    bits: u32,
    // Room for one search.
    /// Bounds of the distance to each bucket, and one; 0 for a bucket that was looked at.
    far: Vec<T>,
    /// Buckets with the largest bound, and the seats up to and including each.
    tied: Vec<(u32, u32)>,
    /// Tuples at the largest distance found, and the records up to and including each.
    farthest: Vec<(u32, u32)>,
    /// The largest distance that was found in a bucket, by attribute.
    largest: Vec<Distance>,
}

/// Bounds of the distance from each category of an attribute to each bucket.
#[derive(Default)]
struct Bounds<T> {
    /// Category after category.
    table: Vec<T>,
    /// Whether the bounds of a category are in the table.
    known: Vec<bool>,
    /// The categories that occur in the buckets, bucket after bucket, and the end of each bucket there.
    present: Vec<u32>,
    ends: Vec<usize>,
}

impl<T: Bound> Bounds<T> {
    /// The bounds of one category, given the largest distance from it to some categories: those that occur in each bucket.
    fn fill(&self, row: &mut [T], largest: impl Fn(&[u32]) -> T) {
        let mut start = 0;
        for (bound, &end) in row.iter_mut().zip(&self.ends) {
            *bound = largest(&self.present[start..end]);
            start = end;
        }
    }

    /// The bounds of some categories that follow each other, given all distances, the first of them and the number of all
    /// categories.
    fn fill_block(&self, rows: &mut [T], distances: &[T], (first, d): (usize, usize)) {
        // Distances are symmetric: those from these to any category are next to each other.
        let mut block = vec![[T::default(); BLOCK]; d];
        let width = BLOCK.min(d - first);
        for (from, to) in distances.chunks_exact(d).zip(&mut block) {
            to[..width].copy_from_slice(&from[first..first + width]);
        }
        let mut start = 0;
        for (bucket, &end) in self.ends.iter().enumerate() {
            let mut most = [T::default(); BLOCK];
            for &to in &self.present[start..end] {
                T::farther(&mut most, &block[to as usize]);
            }
            for (row, most) in rows.chunks_exact_mut(self.ends.len()).zip(most) {
                row[bucket] = most;
            }
            start = end;
        }
    }
}

/// A range of tuples, and a range of seats for their records.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    tuples: (u32, u32),
    seats: (u32, u32),
    /// Number of records.
    left: u32,
}

impl<'a, T: Bound> Ends<'a, T> {
    /// The records at those places that are left.
    pub fn new(all: Places<'a>, is_left: impl Fn(u32) -> bool) -> Result<Self> {
        let tuples = all.starts.len() - 1;
        let ordered = all.ordered.iter().map(Ordered::len);
        let categories: usize = all.spaces.iter().map(Space::len).chain(ordered).sum();
        memory::require(needs(all.tuples.len(), tuples, all.codes.len(), categories), WHAT)?;
        let mut left = vec![0; tuples];
        let mut places = Vec::with_capacity(all.tuples.len());
        let mut first = Vec::with_capacity(tuples);
        for (tuple, range) in all.starts.windows(2).enumerate() {
            first.push(places.len() as u32);
            places.extend((range[0]..range[1]).filter(|&place| is_left(place)));
            left[tuple] = places.len() as u32 - first[tuple];
        }
        let largest = all.largest();
        let fits = |bits: &u32| largest.iter().map(|x| x.div_ceil(1 << bits)).sum::<Distance>() < T::LARGEST;
        let outward = all.ordered.iter().zip(all.counts);
        let outward = outward.map(|(ordered, counts)| Hierarchy::along(ordered, ordered.outward(), counts));
        let mut ends = Self {
            all,
            bits: (0..Distance::BITS).find(fits).unwrap_or(Distance::BITS - 1),
            hierarchies: all.spaces.iter().map(Hierarchy::by_reach).chain(outward).collect(),
            len: places.len(),
            built: 0,
            left,
            first,
            bucket: vec![0; tuples],
            buckets: Vec::new(),
            order: Vec::new(),
            codes: Vec::new(),
            places,
            seats: vec![0; all.tuples.len()],
            bounds: Vec::new(),
            spans: Vec::new(),
            alive: Vec::new(),
            far: Vec::new(),
            tied: Vec::new(),
            farthest: Vec::new(),
            largest,
        };
        ends.build()?;
        Ok(ends)
    }

    /// Puts the records that are left into new buckets.
    fn build(&mut self) -> Result<()> {
        let tuples: Vec<u32> = (0..self.left.len() as u32).filter(|&t| self.left[t as usize] > 0).collect();
        let categories: usize = self.all.spaces.iter().map(Space::len).sum();
        let buckets = BUCKETS[usize::from(self.all.codes.len() > 2)].min(TABLE / categories.max(1)).max(1);
        let leaf = FEW.max(tuples.len() / buckets);
        let tree = Tree::new(&self.hierarchies, self.all.codes, tuples, leaf);
        let mut ranges: Vec<(u32, u32)> =
            tree.nodes.iter().filter(|node| node.children == 0).map(|node| (node.start, node.end)).collect();
        ranges.sort_unstable();
        let spans = size_of::<Span>() * self.all.ordered.len();
        let blocks = rayon::current_num_threads() * size_of::<[T; BLOCK]>() * categories;
        memory::require((size_of::<T>() * categories + spans) * ranges.len() + blocks, WHAT)?;
        self.order = tree.order;
        self.codes.clear();
        for &tuple in &self.order {
            self.codes.extend(self.all.codes.iter().map(|codes| codes[tuple as usize]));
        }
        let mut places = Vec::with_capacity(self.len);
        self.buckets.clear();
        for (bucket, range) in (0u32..).zip(ranges) {
            let start = places.len() as u32;
            for &tuple in &self.order[range.0 as usize..range.1 as usize] {
                let records = (self.first[tuple as usize] as usize, self.left[tuple as usize] as usize);
                self.first[tuple as usize] = places.len() as u32;
                self.bucket[tuple as usize] = bucket;
                places.extend_from_slice(&self.places[records.0..records.0 + records.1]);
            }
            let end = places.len() as u32;
            self.buckets.push(Bucket { tuples: range, seats: (start, end), left: end - start });
        }
        for (seat, &place) in (0u32..).zip(&places) {
            self.seats[place as usize] = seat;
        }
        self.places = places;
        self.built = self.len;
        self.alive.clear();
        self.alive.resize(self.buckets.len(), T::ALL);
        // The references until the next build take up most categories, or only some of them.
        let one_by_one = (0..self.all.spaces.len()).any(|attribute| self.short(attribute).is_none());
        let all = self.len > ALL[usize::from(one_by_one)] * categories;
        // Tables become smaller: they keep their memory.
        let mut tables = std::mem::take(&mut self.bounds).into_iter().map(|bounds| bounds.table);
        self.bounds = (0..self.all.spaces.len())
            .map(|attribute| self.bounds_of(attribute, tables.next().unwrap_or_default(), all))
            .collect();
        self.spans = (0..self.buckets.len()).flat_map(|bucket| self.spans_of(bucket)).collect();
        Ok(())
    }

    /// What the bounds of one attribute are found from; the bounds of all categories, if these are wanted. The table is one
    /// that is no longer needed.
    fn bounds_of(&self, attribute: usize, mut table: Vec<T>, all: bool) -> Bounds<T> {
        let mut ends = Vec::with_capacity(self.buckets.len());
        let mut present: Vec<u32> = Vec::new();
        for bucket in &self.buckets {
            let start = present.len();
            let tuples = bucket.tuples.0 as usize..bucket.tuples.1 as usize;
            let attributes = self.all.codes.len();
            present.extend(tuples.map(|slot| self.codes[slot * attributes + attribute]));
            present[start..].sort_unstable();
            let mut distinct = start;
            for i in start..present.len() {
                if i == start || present[i] != present[distinct - 1] {
                    present[distinct] = present[i];
                    distinct += 1;
                }
            }
            present.truncate(distinct);
            ends.push(distinct);
        }
        let space = &self.all.spaces[attribute];
        let cells = space.len() * self.buckets.len();
        if table.capacity() < cells {
            drop(table);
            table = vec![T::default(); cells];
        }
        table.resize(cells, T::default());
        let mut bounds = Bounds { table: Vec::new(), known: vec![all; space.len()], present, ends };
        let buckets = self.buckets.len();
        match self.short(attribute) {
            Some(short) if all => {
                let blocks = table.par_chunks_mut(BLOCK * buckets).enumerate();
                blocks.for_each(|(block, rows)| bounds.fill_block(rows, short, (block * BLOCK, space.len())));
            }
            _ if all => {
                let rows = table.par_chunks_mut(buckets).enumerate();
                rows.for_each(|(category, row)| bounds.fill(row, longest(space.row(category as u32), self.bits)));
            }
            _ => {}
        }
        bounds.table = table;
        bounds
    }

    /// All distances of an attribute, if they are as short as bounds.
    fn short(&self, attribute: usize) -> Option<&'a [T]> {
        T::all(self.all.scale, attribute).filter(|_| self.bits == 0)
    }

    /// What the tuples that are left in a bucket hold of the attributes without distances of all pairs.
    fn spans_of(&self, bucket: usize) -> impl Iterator<Item = Span> {
        let (first, attributes) = (self.all.spaces.len(), self.all.codes.len());
        let (start, end) = self.buckets[bucket].tuples;
        (0..).zip(self.all.ordered).map(move |(a, ordered)| {
            let slots = start as usize..end as usize;
            let left = slots.filter(|&slot| self.left[self.order[slot] as usize] > 0);
            ordered.span_of(left.map(|slot| self.codes[slot * attributes + first + a]))
        })
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Records of a tuple, as places.
    pub fn of(&self, tuple: usize) -> &[u32] {
        &self.places[self.first[tuple] as usize..][..self.left[tuple] as usize]
    }

    /// Marks a record as done.
    pub fn remove(&mut self, place: u32) {
        let tuple = self.all.tuples[place as usize] as usize;
        self.left[tuple] -= 1;
        self.len -= 1;
        let (seat, last) = (self.seats[place as usize], self.first[tuple] + self.left[tuple]);
        let moved = self.places[last as usize];
        self.places[seat as usize] = moved;
        self.seats[moved as usize] = seat;
        self.places[last as usize] = NOBODY;
        let index = self.bucket[tuple] as usize;
        let bucket = &mut self.buckets[index];
        bucket.left -= 1;
        if bucket.left == 0 {
            bucket.seats.1 = bucket.seats.0;
            bucket.tuples.1 = bucket.tuples.0;
            self.alive[index] = T::default();
        } else if bucket.left * 2 < bucket.seats.1 - bucket.seats.0 {
            self.close_up(index);
        }
    }

    /// Takes the empty seats, and the tuples without records, out of a bucket.
    fn close_up(&mut self, index: usize) {
        let bucket = self.buckets[index];
        let attributes = self.all.codes.len();
        let (mut slot, mut seat) = (bucket.tuples.0, bucket.seats.0);
        for old in bucket.tuples.0..bucket.tuples.1 {
            let tuple = self.order[old as usize];
            let (first, left) = (self.first[tuple as usize], self.left[tuple as usize]);
            if left == 0 {
                continue;
            }
            self.first[tuple as usize] = seat;
            for from in first..first + left {
                let place = self.places[from as usize];
                self.places[seat as usize] = place;
                self.seats[place as usize] = seat;
                seat += 1;
            }
            self.order[slot as usize] = tuple;
            let codes = old as usize * attributes..(old as usize + 1) * attributes;
            self.codes.copy_within(codes, slot as usize * attributes);
            slot += 1;
        }
        self.places[seat as usize..bucket.seats.1 as usize].fill(NOBODY);
        self.buckets[index].tuples.1 = slot;
        self.buckets[index].seats.1 = seat;
    }

    /// Draws one of the records that are farthest from a tuple; its place. There must be one.
    pub fn draw(&mut self, from: usize, rng: &mut ChaCha20Rng) -> Result<u32> {
        if (self.len as f64) < WORN * self.built as f64 {
            self.build()?;
        }
        self.far.clear();
        self.far.resize(self.buckets.len(), T::of(1));
        for attribute in 0..self.all.spaces.len() {
            let category = self.all.codes[attribute][from];
            if !self.bounds[attribute].known[category as usize] {
                self.fill_row(attribute, category);
            }
            let row = &self.bounds[attribute].table[category as usize * self.far.len()..][..self.far.len()];
            for (far, &bound) in self.far.iter_mut().zip(row) {
                *far = far.plus(bound);
            }
        }
        let m = self.all.ordered.len();
        for (a, (ordered, codes)) in self.all.ordered.iter().zip(&self.all.codes[self.all.spaces.len()..]).enumerate() {
            for (far, spans) in self.far.iter_mut().zip(self.spans.chunks_exact(m)) {
                *far = far.plus(T::of(short(ordered.farthest(codes[from], &spans[a]), self.bits)));
            }
        }
        // The largest is found on the way.
        let mut largest = T::default();
        for (far, &alive) in self.far.iter_mut().zip(&self.alive) {
            *far = *far & alive;
            largest = largest.max(*far);
        }
        self.farthest.clear();
        let mut most = 0;
        loop {
            let (bound, known) = (largest.distance(), short(most, self.bits) + 1);
            if bound < known || bound == 0 {
                return Ok(self.draw_found(rng));
            }
            let exact = self.bits == 0;
            // Often a good share of all records is farthest, and a few draws find one without a list of buckets.
            if exact
                && most == 0
                && let Some(place) = self.try_all(from, bound - 1, rng)
            {
                return Ok(place);
            }
            self.tied.clear();
            let mut seats = 0;
            for (index, bucket) in (0u32..).zip(&self.buckets).filter(|&(index, _)| self.far[index as usize] == largest)
            {
                seats += bucket.seats.1 - bucket.seats.0;
                self.tied.push((seats, index));
            }
            // Where bounds are exact, what attains this one sits in these buckets or was found.
            let found = if known == bound { &self.farthest[..] } else { &[] };
            if exact && let Some(place) = self.try_seats(from, bound - 1, found, rng) {
                return Ok(place);
            }
            most = self.look(from, most);
            largest = self.far.iter().copied().max().unwrap_or_default();
        }
    }

    /// Finds the bounds of one category.
    #[cold]
    fn fill_row(&mut self, attribute: usize, category: u32) {
        let buckets = self.buckets.len();
        let (short, space) = (self.short(attribute), &self.all.spaces[attribute]);
        let bounds = &mut self.bounds[attribute];
        bounds.known[category as usize] = true;
        let mut table = std::mem::take(&mut bounds.table);
        let row = &mut table[category as usize * buckets..][..buckets];
        if let Some(short) = short {
            let distances = &short[category as usize * space.len()..][..space.len()];
            bounds.fill(row, |to| to.iter().map(|&c| distances[c as usize]).max().unwrap_or_default());
        } else {
            bounds.fill(row, longest(space.row(category), self.bits));
        }
        bounds.table = table;
    }

    /// Draws some of all seats, until one has a record at this distance.
    fn try_all(&self, from: usize, bound: Distance, rng: &mut ChaCha20Rng) -> Option<u32> {
        (0..GUESSES).find_map(|_| {
            let place = self.places[rng.random_range(0..self.places.len())];
            let attains = place != NOBODY && self.distance(from, self.all.tuples[place as usize] as usize) == bound;
            attains.then_some(place)
        })
    }

    /// Draws some of the seats of the buckets with the largest bound, and of the records found, until one attains it.
    fn try_seats(&self, from: usize, bound: Distance, found: &[(u32, u32)], rng: &mut ChaCha20Rng) -> Option<u32> {
        let seats = self.tied.last().map_or(0, |last| last.0);
        let all = seats + found.last().map_or(0, |last| last.0);
        for _ in 0..if all > 0 { TRIALS } else { 0 } {
            let nth = rng.random_range(0..all);
            if nth >= seats {
                let (tuple, within) = find(found, nth - seats);
                return Some(self.of(tuple as usize)[within as usize]);
            }
            let (index, within) = find(&self.tied, nth);
            let place = self.places[(self.buckets[index as usize].seats.0 + within) as usize];
            if place != NOBODY && self.distance(from, self.all.tuples[place as usize] as usize) == bound {
                return Some(place);
            }
        }
        None
    }

    /// Looks at all tuples of the buckets with the largest bound, keeps those farther than, or as far as, the farthest
    /// so far, and makes the bounds those found; the largest distance so far.
    fn look(&mut self, from: usize, mut most: Distance) -> Distance {
        let (attributes, with, m) = (self.all.codes.len(), self.all.spaces.len(), self.all.ordered.len());
        for &(_, index) in &self.tied {
            let (start, end) = self.buckets[index as usize].tuples;
            self.largest.fill(0);
            let spans = &mut self.spans[index as usize * m..][..m];
            spans.fill(Span::EMPTY);
            for slot in start as usize..end as usize {
                let tuple = self.order[slot];
                let left = self.left[tuple as usize];
                if left == 0 {
                    continue;
                }
                let mut sum = 0;
                let categories = &self.codes[slot * attributes..][..attributes];
                for (a, (largest, &category)) in self.largest.iter_mut().zip(&categories[..with]).enumerate() {
                    let x = self.all.spaces[a].distance(self.all.codes[a][from], category);
                    *largest = x.max(*largest);
                    sum += x;
                }
                for (a, (span, &category)) in spans.iter_mut().zip(&categories[with..]).enumerate() {
                    let ordered = &self.all.ordered[a];
                    *span = span.joined(ordered.span(category));
                    sum += ordered.distance(self.all.codes[with + a][from], category);
                }
                if sum > most {
                    most = sum;
                    self.farthest.clear();
                }
                if sum == most {
                    let before = self.farthest.last().map_or(0, |last| last.0);
                    self.farthest.push((before + left, tuple));
                }
            }
            self.far[index as usize] = T::default();
            for ((bounds, codes), &x) in self.bounds.iter_mut().zip(self.all.codes).zip(&self.largest) {
                bounds.table[codes[from] as usize * self.far.len() + index as usize] = T::of(short(x, self.bits));
            }
        }
        most
    }

    /// Draws one of the records at the largest distance found.
    fn draw_found(&self, rng: &mut ChaCha20Rng) -> u32 {
        let records = self.farthest.last().map_or(0, |last| last.0);
        let (tuple, within) = find(&self.farthest, rng.random_range(0..records));
        self.of(tuple as usize)[within as usize]
    }

    #[inline]
    fn distance(&self, a: usize, b: usize) -> Distance {
        let each = self.all.spaces.iter().zip(self.all.codes);
        let with: Distance = each.map(|(space, codes)| space.distance(codes[a], codes[b])).sum();
        let each = self.all.ordered.iter().zip(&self.all.codes[self.all.spaces.len()..]);
        with + each.map(|(ordered, codes)| ordered.distance(codes[a], codes[b])).sum::<Distance>()
    }
}

/// The item that holds the `nth` of a running sum, and which one it is there.
fn find(sums: &[(u32, u32)], nth: u32) -> (u32, u32) {
    let index = sums.partition_point(|x| x.0 <= nth);
    let before = if index == 0 { 0 } else { sums[index - 1].0 };
    (sums[index].1, nth - before)
}

/// The largest of these distances to some categories, as a bound.
fn longest<T: Bound>(distances: Row<'_>, bits: u32) -> impl Fn(&[u32]) -> T {
    move |to| T::of(short(to.iter().map(|&c| distances.to(c)).max().unwrap_or(0), bits))
}

/// A distance without its lowest bits, rounded up.
#[inline]
fn short(distance: Distance, bits: u32) -> Distance {
    distance.div_ceil(1 << bits)
}
