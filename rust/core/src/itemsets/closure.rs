//! Records whose items are concepts of a taxonomy: with all concepts above their items, or their lowest ones alone.
//!
//! A *closure* holds the concepts of a record's items and everything above them, except for the root, which all records
//! would have. The majority of closed sets is closed itself. Whoever holds a concept holds its parents, so among any
//! voters a parent has at least as many votes, and over all records it is at least as frequent; a tie goes by that
//! frequency alone, so where a concept is set its parents are.

use rayon::prelude::*;

use super::Itemsets;
use super::rows::blocks;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::lists::Lists;
use crate::memory;
use crate::taxonomy::Taxonomy;
use crate::taxonomy::graph::{Marks, reach};

const WHAT: &str = "the concepts above items";

/// The number of a concept that has none: the root, and those of items that no record holds.
const NONE: u32 = u32::MAX;

/// The concepts that some items name, and those above, without the root, numbered in the order of the taxonomy.
#[derive(Debug)]
pub struct Concepts {
    /// The concept of each number.
    pub concepts: Vec<u32>,
    /// Of each item, the number of its own concept.
    own: Vec<u32>,
    /// Of each item, the numbers of the concepts above its own.
    above: Lists,
}

impl Concepts {
    /// Numbers the concepts of the items that records hold; `concept[item]` of others does not matter. O(items + concepts
    /// of the taxonomy + concepts above each item).
    pub fn new(taxonomy: &Taxonomy, sets: &Itemsets, concept: &[u32]) -> Result<Self> {
        let n_items = sets.n_items() as usize;
        if concept.len() != n_items {
            return Err(Error::Parameter(format!("{} concepts for {n_items} items", concept.len())));
        }
        // Frequencies, own numbers and where lists begin for items; marks, a queue and numbers for concepts.
        memory::require(16 * n_items + 32 * taxonomy.len(), WHAT)?;
        let held = sets.counts();
        let used = || (0..n_items).filter(|&item| held[item] > 0);
        if let Some(item) = used().find(|&item| concept[item] as usize >= taxonomy.len()) {
            let message = format!("no concept {}: there are {}", concept[item], taxonomy.len());
            return Err(Error::Parameter(message));
        }
        let mut inside = Marks::new(taxonomy.len());
        let mut open: Vec<u32> = used().map(|item| concept[item]).filter(|&c| inside.insert(c)).collect();
        while let Some(c) = open.pop() {
            open.extend(taxonomy.parents(c).iter().filter(|&&p| inside.insert(p)));
        }
        let concepts: Vec<u32> =
            (0..taxonomy.len() as u32).filter(|&c| inside.contains(c) && c != taxonomy.root()).collect();
        let mut number = vec![NONE; taxonomy.len()];
        for (i, &c) in (0..).zip(&concepts) {
            number[c as usize] = i;
        }
        let mut above = Lists::builder(n_items, 0);
        let mut own = vec![NONE; n_items];
        let (mut queue, mut list) = (vec![], vec![]);
        for item in 0..n_items {
            list.clear();
            if held[item] > 0 {
                own[item] = number[concept[item] as usize];
                reach(taxonomy.parent_lists(), concept[item], &mut inside, &mut queue);
                list.extend(queue[1..].iter().map(|&(c, _)| number[c as usize]).filter(|&i| i != NONE));
            }
            above.try_push(&list, WHAT)?;
        }
        Ok(Self { concepts, own, above })
    }

    /// The closure of every record. O(items and the concepts above them · log), in parallel.
    pub fn closed(&self, sets: &Itemsets, control: &Control) -> Result<Itemsets> {
        self.each(sets, control, |marks, row, found| {
            marks.clear();
            for &item in row {
                let all = self.above.of(item as usize).iter().chain([&self.own[item as usize]]);
                found.extend(all.filter(|&&number| number != NONE && marks.insert(number)));
            }
        })
    }

    /// The concepts of every record's items that are not above another of them. O(as for closures), in parallel.
    pub fn lowest(&self, sets: &Itemsets, control: &Control) -> Result<Itemsets> {
        self.each(sets, control, |marks, row, found| {
            marks.clear();
            for &item in row {
                for &number in self.above.of(item as usize) {
                    marks.insert(number);
                }
            }
            // Several items may name one concept.
            let own = row.iter().map(|&item| self.own[item as usize]);
            found.extend(own.filter(|&number| number != NONE && marks.insert(number)));
        })
    }

    /// New rows, which `write` lists in any order: once for their sizes, once to keep them.
    fn each(
        &self,
        sets: &Itemsets,
        control: &Control,
        write: impl Fn(&mut Marks, &[u32], &mut Vec<u32>) + Sync,
    ) -> Result<Itemsets> {
        if sets.n_items() as usize != self.own.len() {
            return Err(Error::Parameter(format!("{} items, not {}", sets.n_items(), self.own.len())));
        }
        let width = self.concepts.len();
        let longest = sets.rows().map(<[u32]>::len).max().unwrap_or(0);
        let threads = rayon::current_num_threads();
        // Marks and one row for each thread; sizes, and where rows begin.
        memory::require(threads * (4 * width + 8 * width.max(longest)) + 16 * (sets.n() + 1), WHAT)?;
        let room = || (Marks::new(width), Vec::new());
        let mut sizes = vec![0u32; sets.n()];
        control.begin(2 * sets.n() as u64);
        sizes.par_chunks_mut(PART).enumerate().try_for_each_init(room, |(marks, found), (part, sizes)| {
            for (i, size) in sizes.iter_mut().enumerate() {
                found.clear();
                write(marks, sets.row((part * PART + i) as u32), found);
                *size = found.len() as u32;
            }
            control.advance(sizes.len() as u64)
        })?;
        let mut starts = Vec::with_capacity(sets.n() + 1);
        let mut end = 0;
        starts.push(end);
        for size in sizes {
            end += size as usize;
            starts.push(end);
        }
        memory::require(4 * end, WHAT)?;
        let mut items = vec![0; end];
        blocks(&starts, &mut items).into_par_iter().try_for_each_init(room, |(marks, found), block| {
            let start = block.starts[0];
            for (i, ends) in (block.first..).zip(block.starts.windows(2)) {
                found.clear();
                write(marks, sets.row(i as u32), found);
                found.sort_unstable();
                block.items[ends[0] - start..ends[1] - start].copy_from_slice(found);
            }
            control.advance(block.starts.len() as u64 - 1)
        })?;
        Ok(Itemsets { n_items: width as u32, starts, items })
    }
}

/// Rows that one thread takes at a time.
const PART: usize = 1 << 12;
