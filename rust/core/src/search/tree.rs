//! Distinct tuples in a tree whose nodes are products of groups of categories.

use super::hierarchy::Hierarchy;
use crate::control::Control;
use crate::error::Result;

/// A tree over tuples in an order of its own: each node is a range of that order, node 0 all of it.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The tuples in the tree's order.
    pub order: Vec<u32>,
    pub nodes: Vec<Node>,
    /// For each node the group of each attribute that holds all its tuples, node after node.
    groups: Vec<u32>,
    attributes: usize,
}

/// A range of tuples, in the tree's order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub start: u32,
    pub end: u32,
    /// The first of its two children, which follow each other; 0 for a leaf.
    pub children: u32,
    /// The node that it is a part of; itself for a root.
    pub parent: u32,
}

impl Tree {
    /// Divides tuples, given by the codes of each attribute, until at most `leaf` of them are together or nothing tells
    /// them apart. A node is divided where its groups are widest.
    pub fn new(hierarchies: &[Hierarchy], codes: &[Vec<u32>], tuples: Vec<u32>, leaf: usize) -> Self {
        let mut tree = Self::undivided(hierarchies.len(), tuples, &[0]);
        let mut next = 0;
        // Children are put at the end, so this loop comes to them.
        while next < tree.nodes.len() {
            tree.grow(next, hierarchies, codes, leaf);
            next += 1;
        }
        tree
    }

    /// The same for many tuples, under the eyes of a caller who may want to stop.
    ///
    /// There may be several trees side by side: `roots` are the places where they begin, 0 being the first. They are the
    /// first nodes.
    pub fn watched(
        hierarchies: &[Hierarchy],
        codes: &[Vec<u32>],
        (tuples, roots): (Vec<u32>, &[u32]),
        leaf: usize,
        control: &Control,
    ) -> Result<Self> {
        let mut tree = Self::undivided(hierarchies.len(), tuples, roots);
        let mut next = 0;
        while next < tree.nodes.len() {
            control.check()?;
            tree.grow(next, hierarchies, codes, leaf);
            next += 1;
        }
        Ok(tree)
    }

    fn undivided(attributes: usize, tuples: Vec<u32>, roots: &[u32]) -> Self {
        let ends = roots.iter().skip(1).copied().chain([tuples.len() as u32]);
        let node = |(parent, (&start, end))| Node { start, end, children: 0, parent };
        Self {
            nodes: (0..).zip(roots.iter().zip(ends)).map(node).collect(),
            order: tuples,
            groups: vec![0; attributes * roots.len()],
            attributes,
        }
    }

    /// Fits a node, and divides it if it has too many tuples.
    fn grow(&mut self, index: usize, hierarchies: &[Hierarchy], codes: &[Vec<u32>], leaf: usize) {
        self.fit(index, hierarchies, codes);
        let node = self.nodes[index];
        if (node.end - node.start) as usize > leaf {
            self.divide(index, hierarchies, codes);
        }
    }

    /// The groups of a node, one for each attribute.
    #[inline]
    pub fn groups(&self, node: u32) -> &[u32] {
        &self.groups[node as usize * self.attributes..][..self.attributes]
    }

    /// The tuples of a node.
    #[inline]
    pub fn tuples(&self, node: u32) -> &[u32] {
        let Node { start, end, .. } = self.nodes[node as usize];
        &self.order[start as usize..end as usize]
    }

    /// Notes the leaf of each tuple.
    pub fn note_leaves(&self, leaves: &mut [u32]) {
        for index in (0..self.nodes.len() as u32).filter(|&i| self.nodes[i as usize].children == 0) {
            for &tuple in self.tuples(index) {
                leaves[tuple as usize] = index;
            }
        }
    }

    /// Makes the groups of a node as small as its tuples allow.
    fn fit(&mut self, index: usize, hierarchies: &[Hierarchy], codes: &[Vec<u32>]) {
        let node = self.nodes[index];
        let tuples = &self.order[node.start as usize..node.end as usize];
        let own = &mut self.groups[index * self.attributes..][..self.attributes];
        for ((group, hierarchy), codes) in own.iter_mut().zip(hierarchies).zip(codes) {
            if hierarchy.middle(*group).is_none() {
                continue;
            }
            let places = tuples.iter().map(|&t| hierarchy.place[codes[t as usize] as usize]);
            let (first, last) = places.fold((u32::MAX, 0), |(a, b), x| (a.min(x), b.max(x)));
            *group = hierarchy.smallest(*group, first, last);
        }
    }

    fn divide(&mut self, index: usize, hierarchies: &[Hierarchy], codes: &[Vec<u32>]) {
        let own = self.groups(index as u32).to_vec();
        let divided = (0..self.attributes).filter(|&a| hierarchies[a].middle(own[a]).is_some());
        let Some(widest) = divided.max_by_key(|&a| hierarchies[a].width(own[a])) else { return };
        let Some(middle) = hierarchies[widest].middle(own[widest]) else { return };
        let node = self.nodes[index];
        let (place, codes) = (&hierarchies[widest].place, &codes[widest]);
        let tuples = &mut self.order[node.start as usize..node.end as usize];
        let is_left = |&t: &u32| place[codes[t as usize] as usize] < middle;
        let split = node.start + partition(tuples, is_left) as u32;
        self.nodes[index].children = self.nodes.len() as u32;
        let parent = index as u32;
        self.nodes.push(Node { start: node.start, end: split, children: 0, parent });
        self.nodes.push(Node { start: split, end: node.end, children: 0, parent });
        self.groups.extend_from_slice(&own);
        self.groups.extend_from_slice(&own);
    }
}

/// Puts the items that fulfil a condition first; their number.
fn partition<T>(items: &mut [T], first: impl Fn(&T) -> bool) -> usize {
    let mut count = 0;
    for i in 0..items.len() {
        if first(&items[i]) {
            items.swap(count, i);
            count += 1;
        }
    }
    count
}
