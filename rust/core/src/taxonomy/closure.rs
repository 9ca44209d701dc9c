//! The part of a taxonomy that some values need: the values and all their subsumers.

use super::graph::{Marks, Taxonomy};
use crate::error::Result;
use crate::lists::Lists;
use crate::memory;

/// An upward closed part of a taxonomy, renumbered so that parents come before children.
#[derive(Debug)]
pub struct Closure {
    /// Concept of each node.
    pub concept: Vec<u32>,
    /// Parents of each node, by node; in topological order, they are below the node's own number.
    pub parents: Lists,
    /// Depth of each node in the taxonomy.
    pub depth: Vec<u32>,
    node: Vec<u32>,
}

impl Closure {
    /// The closure of some concepts. O(concepts in the taxonomy + links in the closure).
    pub fn new(taxonomy: &Taxonomy, values: impl Iterator<Item = u32>) -> Result<Self> {
        memory::require(36 * taxonomy.len() + 4 * taxonomy.links(), "the concepts above some values")?;
        let mut inside = Marks::new(taxonomy.len());
        let mut open: Vec<u32> = values.filter(|&v| inside.insert(v)).collect();
        let (mut nodes, mut links) = (0, 0);
        while let Some(c) = open.pop() {
            (nodes, links) = (nodes + 1, links + taxonomy.parents(c).len());
            open.extend(taxonomy.parents(c).iter().filter(|&&p| inside.insert(p)));
        }
        let mut concept = Vec::with_capacity(nodes);
        concept.extend(taxonomy.order().iter().filter(|&&c| inside.contains(c)));
        let mut node = vec![u32::MAX; taxonomy.len()];
        for (i, &c) in concept.iter().enumerate() {
            node[c as usize] = i as u32;
        }
        let mut parents = Lists::builder(nodes, links);
        for &c in &concept {
            parents.push(taxonomy.parents(c).iter().map(|&p| node[p as usize]));
        }
        let depth = concept.iter().map(|&c| taxonomy.depth(c)).collect();
        Ok(Self { concept, parents, depth, node })
    }

    /// Number of nodes, never zero.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.concept.len()
    }

    /// Whether a concept is inside.
    pub fn has(&self, concept: u32) -> bool {
        self.node[concept as usize] != u32::MAX
    }

    /// The node of a concept that is inside.
    pub fn node(&self, concept: u32) -> u32 {
        self.node[concept as usize]
    }
}
