//! Exact search among distinct tuples, pruned by distances alone.
//!
//! The distance of two tuples is the sum of the distances of their categories. Of few categories these are a matrix; many
//! numbers, concepts of a tree, or values that are equal or not need none.
//!
//! - [`scale`]: distances as whole numbers, so that ties are exact.
//! - [`hierarchy`], [`tree`]: search trees over the distinct tuples.
//! - [`lanes`]: distances from a few tuples at once.
//! - [`smallest`]: the smallest of these, where all tuples are looked at.
//! - [`Index`]: what those tuples look for, whatever it is that they want to know of it.
//! - [`ordered`], with [`line`] and [`branches`]: attributes without a matrix.
//! - [`alone`]: the search for one tuple that has some.

pub(crate) mod alone;
mod branches;
pub(crate) mod hierarchy;
pub(crate) mod lanes;
mod line;
pub(crate) mod ordered;
pub(crate) mod scale;
mod smallest;
pub(crate) mod tree;

use self::alone::Near;
use self::hierarchy::Hierarchy;
use self::lanes::{LANES, Mask, NONE, Scale, Tables, Vector};
use self::scale::{Distance, Space};
use self::smallest::Smallest;
use self::tree::Tree;
use crate::control::Control;
use crate::error::Result;

/// What one tuple of a batch looks for.
pub(crate) trait Found: Default {
    /// The distance above which nothing is wanted.
    fn limit(&self) -> Distance;

    /// Takes the records at some places, from the first to before the second, at a distance that is wanted.
    fn take(&mut self, distance: Distance, places: (u32, u32));
}

/// The tuples among which is searched, in the order of their tree, and distances to them.
pub(crate) struct Index<'a> {
    pub scale: Scale<'a>,
    tree: &'a Tree,
    /// Categories of the tuples, tuple after tuple, as the scale numbers them.
    categories: Vec<u32>,
    attributes: usize,
    /// Place of the first record of each tuple, and the number of records.
    starts: &'a [u32],
}

/// Room for one batch, used again for the next of the same search.
#[derive(Default)]
pub(crate) struct Room<F> {
    tables: Tables,
    /// Categories of the batch, lane after lane.
    from: Vec<u32>,
    /// Distances above which nothing is wanted; no distance at all in idle lanes.
    limits: Vector,
    /// The bit of each lane, none for idle ones.
    bits: [Mask; LANES],
    /// Nodes to look at, for the batch and for one tuple.
    stack: Vec<Open>,
    pub near: Vec<Near>,
    /// What is near where all tuples are looked at.
    smallest: Smallest,
    /// What has been found for each tuple of the batch.
    pub lanes: [F; LANES],
}

struct Open {
    node: u32,
    /// Lanes that have to look at the node,
    lanes: Mask,
    /// those from which all of it is equally distant,
    even: Mask,
    /// and distances to the nearest that it may hold.
    least: Vector,
}

impl<'a> Index<'a> {
    /// An index of tuples, given by the codes of each attribute in the order of the tree, and their first places, with bounds
    /// or without.
    pub fn new(
        spaces: &'a [Space],
        hierarchies: &'a [Hierarchy],
        tree: &'a Tree,
        codes: &[Vec<u32>],
        starts: &'a [u32],
        bounded: bool,
    ) -> Result<Self> {
        let scale = Scale::new(spaces, hierarchies, bounded)?;
        let categories = scale.categories(codes);
        Ok(Self { scale, tree, categories, attributes: spaces.len(), starts })
    }

    /// The categories of other tuples as searches need them, tuple after tuple.
    pub fn categories(&self, codes: &[Vec<u32>]) -> Vec<u32> {
        self.scale.categories(codes)
    }

    /// The categories of one of the tuples.
    pub fn tuple(&self, tuple: u32) -> &[u32] {
        &self.categories[tuple as usize * self.attributes..][..self.attributes]
    }

    /// Begins a batch of at most one tuple for each lane, given by their categories and best near each other. The lanes
    /// are as the caller has left them: what they want from the beginning is theirs to say.
    pub fn begin<'b, F: Found>(&self, tuples: impl Iterator<Item = &'b [u32]>, room: &mut Room<F>) {
        room.from.clear();
        (room.limits, room.bits) = ([NONE; LANES], [0; LANES]);
        for (index, tuple) in tuples.take(LANES).enumerate() {
            room.from.extend_from_slice(tuple);
            (room.limits[index], room.bits[index]) = (self.scale.limit(room.lanes[index].limit()), 1 << index);
        }
        room.tables.restart(&self.scale, &room.from);
    }

    /// Searches all tuples for the batch, beginning at the leaf that holds one of it.
    pub fn search_from<F: Found>(&self, leaf: u32, room: &mut Room<F>, control: &Control) -> Result<()> {
        self.scan(leaf, Mask::MAX, room);
        if !self.scale.is_bounded() {
            let (node, all) = (self.tree.nodes[leaf as usize], self.tree.nodes[0]);
            self.scan_some((all.start, node.start), Mask::MAX, room);
            self.scan_some((node.end, all.end), Mask::MAX, room);
            return control.check();
        }
        // From the leaf upwards: the nearest come first, and everything else can be told to be too far.
        let mut node = leaf;
        while node != 0 {
            let (parent, sibling) = self.above(node);
            self.below(sibling, room, control)?;
            node = parent;
        }
        Ok(())
    }

    /// Whether so many records are best found by looking at all tuples, with the smallest distances of each lane in order.
    pub fn looks_at_all(&self, wanted: usize) -> bool {
        !self.scale.is_bounded() && self.scale.is_exact() && wanted <= smallest::MOST
    }

    /// Finds the nearest records of the batch that way, so many or, with those as far as the last of them, more: calls
    /// `found` with the lane, the distance and the places of each tuple, in the order of places, and gives the distance of
    /// the last record wanted by each lane.
    pub fn look_at_all<F>(
        &self,
        leaf: u32,
        wanted: usize,
        room: &mut Room<F>,
        mut found: impl FnMut(&mut F, Distance, (u32, u32)),
    ) -> [Distance; LANES] {
        room.smallest.restart(&room.limits, wanted);
        let (node, all) = (self.tree.nodes[leaf as usize], self.tree.nodes[0]);
        // The nearest come first, and most others are too far.
        self.look_at_some((node.start, node.end), &room.tables, &mut room.smallest);
        let own = room.smallest.near.len();
        self.look_at_some((all.start, node.start), &room.tables, &mut room.smallest);
        let before = room.smallest.near.len();
        room.smallest.near[..before].rotate_left(own);
        self.look_at_some((node.end, all.end), &room.tables, &mut room.smallest);
        let limits = room.smallest.limits();
        for &(tuple, sums) in &room.smallest.near {
            let places = (self.starts[tuple as usize], self.starts[tuple as usize + 1]);
            for lane in lanes::lanes(lanes::within(&sums, &limits, &room.bits)) {
                found(&mut room.lanes[lane], lanes::whole(sums[lane]), places);
            }
        }
        limits.map(lanes::whole)
    }

    /// Looks at every tuple of a range for the smallest distances.
    fn look_at_some(&self, (start, end): (u32, u32), tables: &Tables, smallest: &mut Smallest) {
        let all = &self.categories[start as usize * self.attributes..end as usize * self.attributes];
        // What has a known length is added up without a loop.
        match self.attributes {
            1 => self.keep_near(all.as_chunks::<1>().0.iter().map(|x| &x[..]), start, tables, smallest),
            2 => self.keep_near(all.as_chunks::<2>().0.iter().map(|x| &x[..]), start, tables, smallest),
            3 => self.keep_near(all.as_chunks::<3>().0.iter().map(|x| &x[..]), start, tables, smallest),
            4 => self.keep_near(all.as_chunks::<4>().0.iter().map(|x| &x[..]), start, tables, smallest),
            attributes => self.keep_near(all.chunks_exact(attributes), start, tables, smallest),
        }
    }

    /// Keeps those that are near of tuples that follow each other, given by their categories.
    fn keep_near<'b>(
        &self,
        tuples: impl Iterator<Item = &'b [u32]>,
        first: u32,
        tables: &Tables,
        smallest: &mut Smallest,
    ) {
        let mut limits = smallest.limits();
        for (tuple, to) in (first..).zip(tuples) {
            let sums = tables.sum(to);
            if lanes::any_within(&sums, &limits) {
                smallest.add(tuple, sums, self.starts[tuple as usize + 1] - self.starts[tuple as usize]);
                limits = smallest.limits();
            }
        }
    }

    /// The node that another one is a part of, and its other part.
    fn above(&self, node: u32) -> (u32, u32) {
        let parent = self.tree.nodes[node as usize].parent;
        let children = self.tree.nodes[parent as usize].children;
        (parent, if children == node { node + 1 } else { children })
    }

    /// Searches a node and all below it, nearer parts first.
    pub fn below<F: Found>(&self, node: u32, room: &mut Room<F>, control: &Control) -> Result<()> {
        room.stack.clear();
        let open = self.open(node, Mask::MAX, room);
        room.stack.extend(open);
        while let Some(Open { node: index, mut lanes, even, least }) = room.stack.pop() {
            lanes &= lanes::within(&least, &room.limits, &room.bits);
            let node = self.tree.nodes[index as usize];
            if lanes & even != 0 {
                let places = (self.starts[node.start as usize], self.starts[node.end as usize]);
                for lane in lanes::lanes(lanes & even) {
                    let from = &room.from[lane * self.attributes..][..self.attributes];
                    let distance = self.scale.distance(least[lane], from, self.tuple(node.start));
                    self.note(lane, distance, places, room);
                }
                lanes &= !even;
            }
            if lanes == 0 {
                continue;
            }
            if node.children == 0 {
                control.check()?;
                self.scan(index, lanes, room);
                continue;
            }
            let [a, b] = [node.children, node.children + 1].map(|child| self.open(child, lanes, room));
            // On top comes the one that is nearer for more lanes.
            let swapped = match (&a, &b) {
                (Some(a), Some(b)) => {
                    let (a, b) =
                        (lanes::within(&a.least, &b.least, &room.bits), lanes::within(&b.least, &a.least, &room.bits));
                    (a & lanes).count_ones() >= (b & lanes).count_ones()
                }
                _ => false,
            };
            let (below, above) = if swapped { (b, a) } else { (a, b) };
            room.stack.extend(below);
            room.stack.extend(above);
        }
        Ok(())
    }

    /// A node, if any of some lanes has to look at it.
    #[inline]
    fn open<F>(&self, node: u32, lanes: Mask, room: &mut Room<F>) -> Option<Open> {
        let (least, even) = room.tables.bound(&self.scale, &room.from, self.tree.groups(node));
        let lanes = lanes & lanes::within(&least, &room.limits, &room.bits);
        (lanes != 0).then_some(Open { node, lanes, even, least })
    }

    /// Looks at every tuple of a leaf.
    fn scan<F: Found>(&self, leaf: u32, lanes: Mask, room: &mut Room<F>) {
        room.tables.prepare(&self.scale, &room.from, self.tree.groups(leaf));
        let node = self.tree.nodes[leaf as usize];
        self.scan_some((node.start, node.end), lanes, room);
    }

    /// Looks at every tuple of a range to whose categories there are distances.
    fn scan_some<F: Found>(&self, (start, end): (u32, u32), lanes: Mask, room: &mut Room<F>) {
        let all = &self.categories[start as usize * self.attributes..end as usize * self.attributes];
        // What has a known length is added up without a loop.
        match self.attributes {
            1 => self.look_at(all.as_chunks::<1>().0.iter().map(|x| &x[..]), start, lanes, room),
            2 => self.look_at(all.as_chunks::<2>().0.iter().map(|x| &x[..]), start, lanes, room),
            3 => self.look_at(all.as_chunks::<3>().0.iter().map(|x| &x[..]), start, lanes, room),
            4 => self.look_at(all.as_chunks::<4>().0.iter().map(|x| &x[..]), start, lanes, room),
            attributes => self.look_at(all.chunks_exact(attributes), start, lanes, room),
        }
    }

    /// Looks at tuples that follow each other, given by their categories.
    fn look_at<'b, F: Found>(
        &self,
        tuples: impl Iterator<Item = &'b [u32]>,
        first: u32,
        lanes: Mask,
        room: &mut Room<F>,
    ) {
        let mut limits = room.limits;
        for lane in lanes::lanes(!lanes) {
            limits[lane] = NONE;
        }
        for (tuple, to) in (first as usize..).zip(tuples) {
            let sums = room.tables.sum(to);
            if !lanes::any_within(&sums, &limits) {
                continue;
            }
            let places = (self.starts[tuple], self.starts[tuple + 1]);
            for lane in lanes::lanes(lanes::within(&sums, &limits, &room.bits)) {
                let from = &room.from[lane * self.attributes..][..self.attributes];
                self.note(lane, self.scale.distance(sums[lane], from, to), places, room);
                limits[lane] = room.limits[lane];
            }
        }
    }

    /// Notes records at one distance, if they are near enough.
    #[inline]
    fn note<F: Found>(&self, lane: usize, distance: Distance, places: (u32, u32), room: &mut Room<F>) {
        let found = &mut room.lanes[lane];
        if distance <= found.limit() {
            found.take(distance, places);
            room.limits[lane] = self.scale.limit(found.limit());
        }
    }
}
