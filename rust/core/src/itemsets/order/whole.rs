//! Orders of all records at once: a closed tour, and the preorder of a spanning tree.

use rayon::prelude::*;

use super::super::distance::Packed;
use super::ORDER;
use super::neighbours::{ALL_PAIRS, Neighbours};
use crate::control::Control;
use crate::error::Result;
use crate::lists::Lists;
use crate::memory;

/// A link: its length and the two nodes.
pub(super) type Link = (u32, u32, u32);

/// Puts links into the order of their lengths, equal ones as they come. O(links + longest).
fn by_length(links: &[Link]) -> Vec<Link> {
    let longest = links.iter().map(|link| link.0).max().unwrap_or(0);
    let mut next = vec![0; longest as usize + 2];
    for link in links {
        next[link.0 as usize + 1] += 1;
    }
    for length in 1..next.len() {
        next[length] += next[length - 1];
    }
    let mut sorted = vec![(0, 0, 0); links.len()];
    for &link in links {
        let slot = &mut next[link.0 as usize];
        sorted[*slot] = link;
        *slot += 1;
    }
    sorted
}

/// Sets of nodes that are linked so far.
struct Joined {
    parents: Vec<u32>,
}

impl Joined {
    fn new(n: usize) -> Self {
        Self { parents: (0..n as u32).collect() }
    }

    fn root(&mut self, mut node: u32) -> u32 {
        while self.parents[node as usize] != node {
            let parent = self.parents[node as usize];
            self.parents[node as usize] = self.parents[parent as usize];
            node = parent;
        }
        node
    }

    /// Joins two sets; tells whether they were two.
    fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b) as usize] = a.min(b);
        a != b
    }
}

/// Paths that grow together from short links.
struct Paths {
    joined: Joined,
    /// The two nodes next to each.
    next: Vec<[u32; 2]>,
    count: usize,
}

const NONE: u32 = u32::MAX;

impl Paths {
    fn new(n: usize) -> Self {
        Self { joined: Joined::new(n), next: vec![[NONE; 2]; n], count: n }
    }

    /// Takes every link that joins the ends of two paths.
    fn grow(&mut self, links: &[Link]) {
        for &(_, a, b) in links {
            let (x, y) = (self.next[a as usize][1], self.next[b as usize][1]);
            if x == NONE && y == NONE && self.joined.join(a, b) {
                for (node, other) in [(a, b), (b, a)] {
                    let slots = &mut self.next[node as usize];
                    slots[usize::from(slots[0] != NONE)] = other;
                }
                self.count -= 1;
            }
        }
    }

    /// Nodes at an end of a path, in increasing order.
    fn ends(&self) -> Vec<u32> {
        (0..self.next.len() as u32).filter(|&node| self.next[node as usize][1] == NONE).collect()
    }

    /// The nodes of all paths, one path after another.
    fn walk(&self) -> Vec<u32> {
        let mut seen = vec![false; self.next.len()];
        let mut nodes = Vec::with_capacity(seen.len());
        for start in self.ends() {
            let (mut before, mut node) = (NONE, start);
            while node != NONE && !seen[node as usize] {
                seen[node as usize] = true;
                nodes.push(node);
                let [a, b] = self.next[node as usize];
                (before, node) = (node, if a == before { b } else { a });
            }
        }
        nodes
    }
}

/// A tour by the greedy rule: the shortest links first, wherever they join two paths. The ends left over look for each other
/// in the same way, until few are left and all pairs of them are tried. Near O(n·width).
pub(super) fn greedy(links: &[Link], packed: &Packed<'_>, control: &Control) -> Result<Vec<u32>> {
    let mut paths = Paths::new(packed.len());
    paths.grow(links);
    while paths.count > 1 {
        control.check()?;
        let ends = paths.ends();
        let before = paths.count;
        let near = near_ends(&ends, packed, &mut paths.joined, control)?;
        paths.grow(&by_length(&near));
        if paths.count == before {
            break; // the walk links what is left
        }
    }
    Ok(paths.walk())
}

/// Links between ends of different paths: all of them where they are few, else those between places near in their order.
fn near_ends(ends: &[u32], packed: &Packed<'_>, joined: &mut Joined, control: &Control) -> Result<Vec<Link>> {
    let roots: Vec<u32> = ends.iter().map(|&end| joined.root(end)).collect();
    let width = if ends.len() <= ALL_PAIRS { ends.len() } else { 32 };
    // Lists that have grown to twice what they hold, then one list; then that one and another in order.
    let pairs = if ends.len() <= ALL_PAIRS { ends.len() * ends.len() / 2 } else { ends.len() * width };
    memory::require(3 * size_of::<Link>() * pairs + 28 * ends.len(), ORDER)?;
    let links = (0..ends.len()).into_par_iter().map(|i| {
        if i % 64 == 0 {
            control.check()?;
        }
        let others = i + 1..(i + 1 + width).min(ends.len());
        let apart = others.filter(|&j| roots[i] != roots[j]);
        Ok(apart.map(|j| (packed.hamming(ends[i], ends[j]), ends[i], ends[j])).collect::<Vec<Link>>())
    });
    Ok(links.collect::<Result<Vec<_>>>()?.concat())
}

/// The preorder of the shortest spanning tree that the links allow, smaller subtrees first, so that what was last seen below
/// a node is left behind soon. Links must connect all nodes. Near O(links).
pub(super) fn preorder(n: usize, links: &[Link], control: &Control) -> Result<Vec<u32>> {
    let mut joined = Joined::new(n);
    let tree: Vec<(u32, u32)> = links.iter().filter(|&&(_, a, b)| joined.join(a, b)).map(|&(_, a, b)| (a, b)).collect();
    let both = tree.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
    let next = Lists::group(n, both);
    control.check()?;
    // Parents before children.
    let mut order: Vec<(u32, u32)> = Vec::with_capacity(n);
    order.extend((n > 0).then_some((0, NONE)));
    let mut done = 0;
    while done < order.len() {
        let (node, parent) = order[done];
        order.extend(next.of(node as usize).iter().filter(|&&other| other != parent).map(|&other| (other, node)));
        done += 1;
    }
    control.check()?;
    let mut sizes = vec![1u32; n];
    for &(node, parent) in order.iter().skip(1).rev() {
        sizes[parent as usize] += sizes[node as usize];
    }
    let mut parents = vec![NONE; n];
    for &(node, parent) in &order {
        parents[node as usize] = parent;
    }
    let mut stack: Vec<u32> = order.first().map(|&(root, _)| root).into_iter().collect();
    let mut nodes = Vec::with_capacity(n);
    while let Some(node) = stack.pop() {
        nodes.push(node);
        let start = stack.len();
        stack.extend(next.of(node as usize).iter().filter(|&&other| other != parents[node as usize]));
        stack[start..].sort_unstable_by_key(|&child| (std::cmp::Reverse(sizes[child as usize]), child));
    }
    Ok(nodes)
}

/// All links of neighbours, and those of consecutive nodes, which connect everything; the shortest first.
pub(super) fn links(neighbours: &Neighbours, packed: &Packed<'_>, control: &Control) -> Result<Vec<Link>> {
    let mut links: Vec<Link> = Vec::with_capacity(neighbours.most_pairs() + packed.len());
    links.extend(neighbours.pairs().map(|(a, b, distance)| (distance, a, b)));
    control.check()?;
    links.extend((1..packed.len() as u32).map(|b| (packed.hamming(b - 1, b), b - 1, b)));
    control.check()?;
    Ok(by_length(&links))
}

#[cfg(test)]
mod tests {
    use super::super::super::Itemsets;
    use super::*;

    #[test]
    fn smaller_subtrees_come_first() {
        // 0 – 1, 1 – 2, 1 – 3, 3 – 4, 0 – 5; the link 2 – 4 closes a circle
        let links = [(1, 0, 1), (1, 3, 4), (2, 1, 2), (2, 1, 3), (3, 0, 5), (4, 2, 4)];
        assert_eq!(preorder(6, &links, &Control::new()).unwrap(), [0, 5, 1, 2, 3, 4]);
        assert!(preorder(0, &[], &Control::new()).unwrap().is_empty());
        assert_eq!(preorder(1, &[], &Control::new()).unwrap(), [0]);
    }

    #[test]
    fn links_are_sorted_and_stable() {
        let links = [(3, 1, 2), (0, 5, 6), (3, 0, 1), (1, 2, 3)];
        assert_eq!(by_length(&links), [(0, 5, 6), (1, 2, 3), (3, 1, 2), (3, 0, 1)]);
        assert!(by_length(&[]).is_empty());
    }

    /// Records {0}, {0, 1}, {0, 1, 2}, …: as points on a line.
    fn line(n: usize) -> Itemsets {
        let rows: Vec<Vec<u32>> = (0..n as u32).map(|i| (0..=i).collect()).collect();
        let starts = (0..=n).map(|i| i * (i + 1) / 2).collect();
        Itemsets::new(n as u32, starts, rows.concat()).unwrap()
    }

    #[test]
    fn greedy_links_join_all_paths() {
        let n = 101;
        let sets = line(n);
        // Even and odd points apart: the ends must find each other.
        let order: Vec<u32> = (0..n as u32).step_by(2).chain((1..n as u32).step_by(2)).collect();
        let packed = Packed::new(&sets, &order, &Control::new()).unwrap();
        let few = [(2, 0, 1), (2, 3, 2), (2, 60, 61)];
        for links in [&few[..], &[]] {
            let nodes = greedy(links, &packed, &Control::new()).unwrap();
            let mut points: Vec<u32> = nodes.iter().map(|&node| order[node as usize]).collect();
            points.sort_unstable();
            assert_eq!(points, (0..n as u32).collect::<Vec<_>>());
        }
        let nodes = greedy(&[], &packed, &Control::new()).unwrap();
        let length: u32 = nodes.windows(2).map(|pair| packed.hamming(pair[0], pair[1])).sum();
        assert_eq!(length, n as u32 - 1);
    }
}
