//! Concepts of a taxonomy that stand for those in a group.

use std::cmp::Reverse;
use std::collections::HashMap;

use rayon::prelude::*;

use super::nearest::{Candidates, search};
use super::{Contents, tied};
use crate::control::Control;
use crate::error::Result;
use crate::lists::Lists;
use crate::meaning::Tree;
use crate::memory;
use crate::taxonomy::graph::{Marks, reach};
use crate::taxonomy::sweep::{LANES, Rows};
use crate::taxonomy::{Measure, Taxonomy};

/// What needs memory here.
const WHAT: &str = "the concepts of groups";

/// Groups that a thread takes at a time.
const SOME: usize = 64;

/// The concepts that some are, and all that is above each.
struct Above {
    used: Vec<u32>,
    /// The place of each concept among those that are used.
    slot: Vec<u32>,
    /// Of each used concept its subsumers, itself included, in the order of their numbers.
    lists: Lists,
}

impl Above {
    fn new(taxonomy: &Taxonomy, contents: Contents<'_>, control: &Control) -> Result<Self> {
        memory::require(28 * taxonomy.len(), WHAT)?;
        let mut slot = vec![u32::MAX; taxonomy.len()];
        for &value in contents.values {
            slot[value as usize] = 0;
        }
        let used: Vec<u32> = (0..taxonomy.len() as u32).filter(|&c| slot[c as usize] == 0).collect();
        let (mut marks, mut queue, mut list) = (Marks::new(taxonomy.len()), Vec::new(), Vec::new());
        let mut lists = Lists::builder(used.len(), 0);
        for (place, &concept) in (0..).zip(&used) {
            control.check()?;
            slot[concept as usize] = place;
            reach(taxonomy.parent_lists(), concept, &mut marks, &mut queue);
            list.clear();
            list.extend(queue.iter().map(|x| x.0));
            list.sort_unstable();
            lists.try_push(&list, WHAT)?;
        }
        Ok(Self { used, slot, lists })
    }

    fn of(&self, concept: u32) -> &[u32] {
        self.lists.of(self.slot[concept as usize] as usize)
    }

    fn subsumes_one(&self, concept: u32, values: &[u32]) -> bool {
        values.iter().any(|&value| self.of(value).binary_search(&concept).is_ok())
    }
}

/// For each group the concept with the smallest sum of squared distances to its values, among all of the taxonomy. Of
/// equal sums: one that subsumes a value of the group, then the deepest, then the lower index.
///
/// In a tree only subsumers of values come into question. Let `c` be another concept and `a` the lowest of its subsumers
/// that also subsumes a value. From `c` up to `a` nothing subsumes a value, so `c` meets every value where `a` does; and a
/// distance grows with the number of links, the number of subsumers or the information content of its end, none of which
/// is larger for `a`. So `a` is nowhere farther. O(s · subsumers of all) for `s` values.
///
/// With several parents that is not so: a concept below two branches may be nearer to values of both than anything above
/// them. But a concept with a single parent that subsumes no value is farther from all than this parent, for the same
/// reason. O(s · the concepts that remain).
pub fn means(taxonomy: &Taxonomy, contents: Contents<'_>, measure: &Measure, control: &Control) -> Result<Vec<u32>> {
    memory::require(4 * contents.len(), WHAT)?;
    let above = Above::new(taxonomy, contents, control)?;
    control.begin(contents.len() as u64);
    if taxonomy.is_tree() {
        in_tree(taxonomy, contents, measure, &above, control)
    } else {
        in_dag(taxonomy, contents, measure, &above, control)
    }
}

fn in_tree(
    taxonomy: &Taxonomy,
    contents: Contents<'_>,
    measure: &Measure,
    above: &Above,
    control: &Control,
) -> Result<Vec<u32>> {
    let every: Vec<u32> = (0..taxonomy.len() as u32).collect();
    let tree = Tree::new(taxonomy, &every, measure)?;
    let mean = |candidates: &mut Vec<u32>, group: usize| {
        let (values, counts) = contents.of(group);
        if let [value] = values {
            return *value;
        }
        candidates.clear();
        candidates.extend(values.iter().flat_map(|&value| above.of(value)));
        candidates.sort_unstable();
        candidates.dedup();
        let (mut least, mut best) = (f64::INFINITY, values[0]);
        for &c in candidates.iter() {
            let mut sum = 0.0;
            for (&value, &count) in values.iter().zip(counts) {
                sum += count as f64 * tree.distance(c, value).powi(2);
                if sum > least && !tied(sum, least) {
                    break;
                }
            }
            let equal = tied(sum, least);
            if (equal && taxonomy.depth(c) > taxonomy.depth(best)) || (!equal && sum < least) {
                (least, best) = (sum, c);
            }
        }
        best
    };
    each(contents, control, mean)
}

fn in_dag(
    taxonomy: &Taxonomy,
    contents: Contents<'_>,
    measure: &Measure,
    above: &Above,
    control: &Control,
) -> Result<Vec<u32>> {
    memory::require(24 * taxonomy.len(), WHAT)?;
    let mut subsumes = vec![false; taxonomy.len()];
    above.lists.iter().flatten().for_each(|&c| subsumes[c as usize] = true);
    // By information content a concept may be as far as its parent, and deeper.
    let strict = !matches!(measure, Measure::Resnik(_) | Measure::Lin(_) | Measure::JiangConrath(_));
    let remains = |&c: &u32| !strict || subsumes[c as usize] || taxonomy.parents(c).len() != 1;
    let concepts: Vec<u32> = (0..taxonomy.len() as u32).filter(remains).collect();
    let rows = Rows::<f64>::new(taxonomy, &concepts, &above.used, measure, 0)?;
    let candidates = Candidates {
        number: concepts.len(),
        values: above.used.len(),
        lanes: LANES,
        fill: &|first, cells: &mut [f64]| rows.fill(first, cells),
        slot: &|value| above.slot[value as usize] as usize,
        prefer: &|a: u32, b: u32, values: &[u32]| {
            let rank = |c: u32| (above.subsumes_one(c, values), taxonomy.depth(c), Reverse(c));
            rank(concepts[a as usize]) > rank(concepts[b as usize])
        },
    };
    let found = search(contents, &candidates, control)?;
    // A value alone is its own mean.
    let chosen = |(group, best): (usize, u32)| match contents.of(group).0 {
        [value] => *value,
        _ => concepts[best as usize],
    };
    Ok(found.into_iter().enumerate().map(chosen).collect())
}

/// For each group the least common subsumer of its values: the common subsumer of greatest depth; ties: fewest
/// descendants, then the lower index. O(subsumers of all values).
pub fn subsumers(taxonomy: &Taxonomy, contents: Contents<'_>, control: &Control) -> Result<Vec<u32>> {
    memory::require(4 * contents.len(), WHAT)?;
    let above = Above::new(taxonomy, contents, control)?;
    memory::require(rayon::current_num_threads() * 48 * taxonomy.len(), WHAT)?;
    control.begin(contents.len() as u64);
    let lowest = |(common, below): &mut (Vec<u32>, HashMap<u32, usize>), group: usize| {
        let values = contents.of(group).0;
        if let [value] = values {
            return Ok(*value);
        }
        common.clear();
        common.extend(above.of(values[0]));
        for &value in &values[1..] {
            let list = above.of(value);
            common.retain(|c| list.binary_search(c).is_ok());
        }
        let deepest = common.iter().map(|&c| taxonomy.depth(c)).max().unwrap_or(0);
        common.retain(|&c| taxonomy.depth(c) == deepest);
        if common.len() > 1 {
            for &c in common.iter() {
                if let std::collections::hash_map::Entry::Vacant(entry) = below.entry(c) {
                    entry.insert(taxonomy.subtree(c)?.len());
                }
            }
            common.sort_unstable_by_key(|&c| (below[&c], c));
        }
        Ok(common.first().copied().unwrap_or(taxonomy.root()))
    };
    let found: Vec<Result<u32>> = each(contents, control, lowest)?;
    found.into_iter().collect()
}

/// What `work` finds for each group, with room of its own for every thread.
fn each<T: Send, R: Default + Send>(
    contents: Contents<'_>,
    control: &Control,
    work: impl Fn(&mut R, usize) -> T + Sync,
) -> Result<Vec<T>> {
    let starts: Vec<usize> = (0..contents.len()).step_by(SOME).collect();
    let parts = starts.par_iter().map_init(R::default, |room, &first| {
        let last = contents.len().min(first + SOME);
        let found: Vec<T> = (first..last).map(|group| work(room, group)).collect();
        control.advance((last - first) as u64)?;
        Ok(found)
    });
    Ok(parts.collect::<Result<Vec<Vec<T>>>>()?.into_iter().flatten().collect())
}
