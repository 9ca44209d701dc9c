//! Shorter tours: Or-opt and chains of up to three 2-opt moves over neighbour lists, then many small random kicks, each
//! repaired and kept unless it made the tour longer.
//!
//! Bentley: "Fast algorithms for geometric traveling salesman problems", ORSA Journal on Computing 4 (1992); Lin, Kernighan:
//! "An effective heuristic algorithm for the traveling-salesman problem", Operations Research 21 (1973). The kick is a double
//! bridge between near places (Johnson, `McGeoch`: "The traveling salesman problem: a case study", 1997), so a repair touches
//! few nodes, whatever the length of the tour.

use std::collections::VecDeque;

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use super::neighbours::Neighbours;
use crate::control::Control;
use crate::error::Result;

/// Longest piece that Or-opt moves.
const PIECE: usize = 3;
/// Longest piece that a kick moves.
const KICK: usize = 30;
/// Turns in a chain, at most.
const CHAIN: usize = 3;
/// Longest stretch that is turned round only to see what comes of it.
const TRIAL: usize = 50;
const NONE: u32 = u32::MAX;
/// Nodes or kicks between two looks at the control handle.
const STEPS: usize = 1 << 10;

/// Distances between nodes. A very negative one marks a link that must stay.
pub(super) trait Metric: Sync {
    /// Distance of two nodes.
    fn distance(&self, a: u32, b: u32) -> i64;
}

/// A closed tour under improvement.
pub(super) struct Tour<'a, M> {
    metric: &'a M,
    neighbours: &'a Neighbours,
    nodes: Vec<u32>,
    places: Vec<u32>,
    /// Longest stretch that a move may turn round.
    reach: usize,
    /// Stretches turned round since the last kick.
    turned: Vec<(u32, u32)>,
    queue: VecDeque<u32>,
    queued: Vec<bool>,
}

impl<'a, M: Metric> Tour<'a, M> {
    /// The tour through `nodes`, a permutation of 0, 1, …; no move turns round more than `reach` of them.
    pub(super) fn new(metric: &'a M, neighbours: &'a Neighbours, nodes: Vec<u32>, reach: usize) -> Self {
        let mut places = vec![0; nodes.len()];
        for (place, &node) in (0u32..).zip(&nodes) {
            places[node as usize] = place;
        }
        let queued = vec![false; nodes.len()];
        Self { metric, neighbours, nodes, places, reach, turned: Vec::new(), queue: VecDeque::new(), queued }
    }

    /// The nodes in the order of the tour.
    pub(super) fn into_nodes(self) -> Vec<u32> {
        self.nodes
    }

    /// Applies moves as long as they gain. About O(n) moves; each costs at most the reach.
    pub(super) fn descend(&mut self, control: &Control) -> Result<()> {
        if self.nodes.len() < 4 {
            return control.check();
        }
        for place in 0..self.nodes.len() {
            self.push(self.nodes[place]);
        }
        let mut steps = 0;
        while let Some(node) = self.pop() {
            while self.improve(node) > 0 {}
            self.turned.clear();
            steps += 1;
            if steps % STEPS == 0 {
                control.check()?;
            }
        }
        Ok(())
    }

    /// Kicks at random places, as many times as told. Of tours equally long, one is taken for another if that brings nodes nearer
    /// that are up to `reach` places apart; this takes O(n·reach) for each of the many ties.
    pub(super) fn kick(&mut self, kicks: usize, reach: usize, rng: &mut ChaCha20Rng, control: &Control) -> Result<()> {
        let n = self.nodes.len();
        if n < 8 {
            return control.check();
        }
        let longest = KICK.min((n - 2) / 3);
        let reach = reach.min(n / 2);
        let mut spread = self.spread(reach);
        for kick in 0..kicks {
            if kick % STEPS == 0 {
                control.check()?;
            }
            self.turned.clear();
            let place = rng.random_range(0..n);
            let (first, second) = (rng.random_range(1..=longest), rng.random_range(1..=longest));
            let at = |offset: usize| self.nodes[(place + offset) % n];
            let piece @ [before, start, end, after] = [at(0), at(1), at(first), at(first + 1)];
            let edge @ (c, d) = (at(first + second), at(first + second + 1));
            let old = self.distance(before, start) + self.distance(end, after) + self.distance(c, d);
            let mut gain = old - self.distance(before, after) - self.distance(c, start) - self.distance(end, d);
            if old < 0 {
                continue; // would cut a link that must stay
            }
            self.move_piece(piece, edge, false);
            while let Some(node) = self.pop() {
                loop {
                    let more = self.improve(node);
                    gain += more;
                    if more <= 0 {
                        break;
                    }
                }
            }
            let other = if gain < 0 { i64::MAX } else { self.spread(reach) };
            if gain > 0 || other <= spread {
                spread = other;
            } else {
                while let Some((from, to)) = self.turned.pop() {
                    self.turn(from, to);
                }
            }
        }
        self.turned.clear();
        Ok(())
    }

    /// Sum of the distances of nodes 2 to `reach` places apart, the nearer ones weighing more.
    fn spread(&self, reach: usize) -> i64 {
        let n = self.nodes.len();
        let mut sum = 0;
        for (place, &node) in self.nodes.iter().enumerate() {
            for apart in 2..=reach {
                let other = if place + apart < n { place + apart } else { place + apart - n };
                sum += (reach + 1 - apart) as i64 * self.distance(node, self.nodes[other]);
            }
        }
        sum
    }

    fn push(&mut self, node: u32) {
        if !std::mem::replace(&mut self.queued[node as usize], true) {
            self.queue.push_back(node);
        }
    }

    fn pop(&mut self) -> Option<u32> {
        let node = self.queue.pop_front()?;
        self.queued[node as usize] = false;
        Some(node)
    }

    /// The node after `node`, or before it.
    #[inline]
    fn step(&self, node: u32, forward: bool) -> u32 {
        let (place, n) = (self.places[node as usize] as usize, self.nodes.len());
        let next = match (forward, place) {
            (true, _) if place + 1 == n => 0,
            (true, _) => place + 1,
            (false, 0) => n - 1,
            (false, _) => place - 1,
        };
        self.nodes[next]
    }

    fn distance(&self, a: u32, b: u32) -> i64 {
        self.metric.distance(a, b)
    }

    /// Finds moves that put `a` next to one of its neighbours and gain in all, and makes them. Returns what they gained.
    fn improve(&mut self, a: u32) -> i64 {
        for forward in [true, false] {
            let b = self.step(a, forward);
            let cut = self.distance(a, b);
            let mut gain = self.improve_by_piece(a, b, cut, forward);
            if gain == 0 {
                gain = self.improve_by_turns(b, a, cut, 1);
            }
            if gain > 0 {
                return gain;
            }
        }
        0
    }

    /// Moves a piece that ends in `a`, before `b`, to one of the links of a node `c` near to `a`, so that `a` and `c` meet.
    fn improve_by_piece(&mut self, a: u32, b: u32, cut: i64, forward: bool) -> i64 {
        // Of each piece: its first node, the one before it, and what is gained where it is taken out, without the cut.
        let mut pieces = [(NONE, NONE, 0); PIECE];
        let mut start = a;
        for piece in &mut pieces {
            let before = self.step(start, !forward);
            if before == b {
                break;
            }
            *piece = (start, before, self.distance(before, start) - self.distance(before, b));
            start = before;
        }
        let (near, distances) = self.neighbours.of(a);
        for (&c, &distance) in near.iter().zip(distances) {
            let left = cut - i64::from(distance);
            if left <= 0 {
                break;
            }
            for ahead in [true, false] {
                let d = self.step(c, forward == ahead);
                let left = left + self.distance(c, d);
                for (start, before, out) in pieces {
                    // Neither a node of the piece nor its own links are a place for it.
                    if start == c || start == NONE {
                        break;
                    }
                    let edge = if ahead { (c, d) } else { (d, c) };
                    if edge.1 == start || edge.0 == a {
                        continue;
                    }
                    let gain = left + out - self.distance(start, d);
                    if gain > 0 && self.within(a, c, self.reach) {
                        self.move_piece([before, start, a, b], edge, ahead);
                        return gain;
                    }
                }
            }
        }
        0
    }

    /// Opens the tour at the link from `end` to `base`, which gains `open` in all so far, puts `end` next to a near node by turning
    /// a stretch round, and closes the tour again; if that gains nothing, goes on from the new end in the same way.
    fn improve_by_turns(&mut self, base: u32, end: u32, open: i64, length: usize) -> i64 {
        let forward = self.step(end, true) == base;
        let mut best = (0, NONE, NONE);
        let (near, distances) = self.neighbours.of(end);
        for (&c, &distance) in near.iter().zip(distances) {
            let left = open - i64::from(distance);
            if left <= 0 {
                break;
            }
            let d = self.step(c, forward);
            // Neither the link that is open nor the one on the other side of `end` can be had anew.
            if c == base || d == end || !self.within(end, c, self.reach) {
                continue;
            }
            let next = left + self.distance(c, d);
            let gain = next - self.distance(base, d);
            if gain > 0 {
                self.exchange(end, base, c, d);
                return gain;
            }
            if next > best.0 && self.within(end, c, TRIAL) {
                best = (next, c, d);
            }
        }
        let (next, c, d) = best;
        if length == CHAIN || c == NONE {
            return 0;
        }
        let (from, to) = self.stretch(end, base, c, d);
        self.turn(from, to);
        self.turned.push((from, to));
        let gain = self.improve_by_turns(base, d, next, length + 1);
        if gain > 0 {
            for node in [base, end, c, d] {
                self.push(node);
            }
        } else {
            self.turned.pop();
            self.turn(from, to);
        }
        gain
    }

    /// Moves a piece; all nodes are told in one sense of the tour, from the piece to the edge.
    fn move_piece(&mut self, [before, start, end, after]: [u32; 4], (c, d): (u32, u32), turned: bool) {
        // before [start … end] [after … c] d, turned as a whole, then the second part turned back
        self.exchange(before, start, c, d);
        self.exchange(before, c, after, end);
        if !turned {
            self.exchange(c, end, start, d);
        }
    }

    /// Replaces the links a–b and c–d by a–c and b–d, where b follows a as d follows c.
    fn exchange(&mut self, a: u32, b: u32, c: u32, d: u32) {
        let turn = self.stretch(a, b, c, d);
        self.turn(turn.0, turn.1);
        self.turned.push(turn);
        for node in [a, b, c, d] {
            self.push(node);
        }
    }

    /// The stretch that an exchange turns round.
    fn stretch(&self, a: u32, b: u32, c: u32, d: u32) -> (u32, u32) {
        let place = |node: u32| self.places[node as usize];
        if self.step(a, true) == b { (place(b), place(c)) } else { (place(a), place(d)) }
    }

    /// Whether the stretch between two nodes, or the rest of the tour, is short enough to be turned round.
    fn within(&self, a: u32, b: u32, reach: usize) -> bool {
        let length = self.places[a as usize].abs_diff(self.places[b as usize]) as usize;
        length.min(self.nodes.len() - length) <= reach
    }

    /// Turns round the stretch between two places, or instead the rest of the tour if that is shorter.
    fn turn(&mut self, from: u32, to: u32) {
        let n = self.nodes.len();
        let (mut i, mut j) = (from as usize, to as usize);
        let mut length = if i <= j { j - i + 1 } else { j + n - i + 1 };
        if 2 * length > n {
            (i, j) = (if j + 1 == n { 0 } else { j + 1 }, if i == 0 { n - 1 } else { i - 1 });
            length = n - length;
        }
        for _ in 0..length / 2 {
            let (p, q) = (self.nodes[i], self.nodes[j]);
            (self.nodes[i], self.places[q as usize]) = (q, i as u32);
            (self.nodes[j], self.places[p as usize]) = (p, j as u32);
            i = if i + 1 == n { 0 } else { i + 1 };
            j = if j == 0 { n - 1 } else { j - 1 };
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::seq::SliceRandom;

    use super::*;
    use crate::rng::{Stream, Streams};

    /// Points on a grid, with many ties; some at one place; one link that must stay.
    struct Grid {
        points: Vec<(i64, i64)>,
        kept: Option<(u32, u32)>,
    }

    impl Metric for Grid {
        fn distance(&self, a: u32, b: u32) -> i64 {
            let (p, q) = (self.points[a as usize], self.points[b as usize]);
            if self.kept.is_some_and(|kept| kept == (a.min(b), a.max(b))) {
                return i64::from(i32::MIN);
            }
            (p.0 - q.0).abs() + (p.1 - q.1).abs()
        }
    }

    impl Grid {
        fn random(n: usize, side: i64, rng: &mut ChaCha20Rng) -> Self {
            let points = (0..n).map(|_| (rng.random_range(0..side), rng.random_range(0..side))).collect();
            Self { points, kept: None }
        }

        fn length(&self, nodes: &[u32]) -> i64 {
            (0..nodes.len()).map(|i| self.distance(nodes[i], nodes[(i + 1) % nodes.len()])).sum()
        }

        fn improved(&self, start: &[u32], reach: usize, rng: &mut ChaCha20Rng) -> Vec<u32> {
            let free = Self { points: self.points.clone(), kept: None };
            let distance = |a, b| free.distance(a, b) as u32;
            let neighbours = Neighbours::exact(start.len(), 7, distance, &Control::new()).unwrap();
            let mut tour = Tour::new(self, &neighbours, start.to_vec(), reach);
            tour.descend(&Control::new()).unwrap();
            let descended = self.length(&tour.nodes);
            assert!(descended <= self.length(start));
            tour.kick(20 * start.len(), 0, rng, &Control::new()).unwrap();
            let kicked = self.length(&tour.nodes);
            assert!(kicked <= descended);
            let near = 5.min(start.len() / 2);
            let spread = tour.spread(near);
            tour.kick(20 * start.len(), near, rng, &Control::new()).unwrap();
            assert!((self.length(&tour.nodes), tour.spread(near)) <= (kicked, spread));
            assert!((0..start.len()).all(|place| tour.places[tour.nodes[place] as usize] as usize == place));
            tour.into_nodes()
        }
    }

    /// The shortest tour by trying all.
    fn shortest(grid: &Grid, done: &mut Vec<u32>, best: &mut i64) {
        let n = grid.points.len() as u32;
        if done.len() == n as usize {
            *best = grid.length(done).min(*best);
        }
        for next in 1..n {
            if !done.contains(&next) {
                done.push(next);
                shortest(grid, done, best);
                done.pop();
            }
        }
    }

    #[test]
    fn small_tours_are_the_shortest() {
        let mut rng = Streams::new(Some(5)).unwrap().generator(Stream::Synthetic(0), 0);
        for n in 4..9 {
            for case in 0..30 {
                let mut grid = Grid::random(n, 9, &mut rng);
                if case % 2 == 0 {
                    grid.kept = Some((0, n as u32 - 1));
                }
                let start: Vec<u32> = (0..n as u32).collect();
                let found = grid.improved(&start, n, &mut rng);
                let mut best = i64::MAX;
                shortest(&grid, &mut vec![0], &mut best);
                assert_eq!(grid.length(&found), best, "{n} nodes, case {case}: {:?}", grid.points);
            }
        }
    }

    #[test]
    fn longer_tours_get_short() {
        let mut rng = Streams::new(Some(6)).unwrap().generator(Stream::Synthetic(0), 0);
        for (side, reach) in [(2, 150), (10, 20), (1000, 150)] {
            let grid = Grid::random(150, side, &mut rng);
            let mut start: Vec<u32> = (0..150).collect();
            start.shuffle(&mut rng);
            let mut found = grid.improved(&start, reach, &mut rng);
            let long = grid.length(&start);
            assert!(3 * grid.length(&found) < long, "{} of {long}", grid.length(&found));
            found.sort_unstable();
            assert_eq!(found, (0..150).collect::<Vec<u32>>());
        }
    }

    #[test]
    fn a_row_of_points_is_walked_there_and_back() {
        let mut rng = Streams::new(Some(7)).unwrap().generator(Stream::Synthetic(0), 0);
        let grid = Grid { points: (0..300).map(|i| (i, 0)).collect(), kept: None };
        let mut start: Vec<u32> = (0..300).collect();
        start.shuffle(&mut rng);
        assert_eq!(grid.length(&grid.improved(&start, 300, &mut rng)), 2 * 299);
    }
}
