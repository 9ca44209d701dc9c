//! Orders refined for rings of a given size.
//!
//! A node's vote errs less the nearer its k records are to each other. Two records d places apart share k − d votes, so the
//! sum of the distances of all pairs less than k apart, each times k − d, stands for the error: it is smooth, and an exchange
//! of two records changes it by 4·k distances. The search is simulated annealing over such exchanges, in pieces of the order
//! that are worked on at once.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use super::super::Itemsets;
use super::super::distance::Packed;
use super::ORDER;
use super::neighbours::Neighbours;
use crate::control::Control;
use crate::error::Result;
use crate::memory;
use crate::rng::{Refinement, Stream, Streams};

/// Records of a piece: as many as there are distances at hand for all pairs.
const PIECE: usize = 1000;
/// Rings up to this size are refined as they are, wider ones like this: what is kept of a piece grows with their square.
const WIDEST: usize = 512;
/// Neighbours of a record in its piece.
const WIDTH: usize = 10;
/// Bytes for each record of a piece, at most, beside the distances of all pairs.
const BESIDE: usize = 192;
/// Places from a neighbour at which a record is tried.
const AROUND: usize = 8;
/// Rounds; in each the pieces begin elsewhere, and it is half as warm.
const ROUNDS: u32 = 3;
/// Exchanges between two looks at the control handle.
const STEPS: usize = 1 << 14;

/// Refines a closed order for rings of `k`; reports [`units`]. A temperature of 1 accepts a loss of one mean distance between consecutive
/// records for each of the `k` places; at 0 the sum never grows. O(n·(piece + k·tries)).
pub(super) fn refine(
    sets: &Itemsets,
    order: &mut [u32],
    k: usize,
    (tries, temperature): (usize, f64),
    (streams, refinement): (&Streams, Refinement),
    control: &Control,
) -> Result<()> {
    let n = order.len();
    let (pieces, reach) = pieces(n, k);
    if reach == 0 || n < 8 {
        return control.advance(units(n));
    }
    let (longest, threads) = (n.div_ceil(pieces) + 2 * reach, rayon::current_num_threads().min(pieces));
    memory::require(4 * n + 24 * pieces + threads * (2 * longest + BESIDE) * longest, ORDER)?;
    for round in 0..ROUNDS {
        let offset = round as usize * n / (pieces * ROUNDS as usize);
        order.rotate_left(offset);
        let before = order.to_vec();
        let mut rest = &mut *order;
        let mut parts = Vec::with_capacity(pieces);
        for piece in 0..pieces {
            let (start, end) = (n * piece / pieces, n * (piece + 1) / pieces);
            let (part, others) = rest.split_at_mut(end - start);
            parts.push((start, part));
            rest = others;
        }
        parts.into_par_iter().enumerate().try_for_each(|(number, (start, part))| {
            let at = |i: usize| before[(start + n + i - reach) % n];
            let records: Vec<u32> = (0..part.len() + 2 * reach).map(at).collect();
            let mut rng = streams.generator(Stream::Refinement(refinement, round), number as u32);
            let mut piece = Piece::new(sets, &records, reach, control)?;
            piece.anneal(tries * part.len(), temperature / f64::from(1 << round), &mut rng, control)?;
            for (slot, &node) in part.iter_mut().zip(&piece.nodes[reach..]) {
                *slot = records[node as usize];
            }
            control.advance(part.len() as u64)
        })?;
        order.rotate_right(offset);
    }
    Ok(())
}

/// Units of progress of a refinement.
pub(super) fn units(n: usize) -> u64 {
    u64::from(ROUNDS) * n as u64
}

/// Into how many pieces to cut an order, and how many records on either side of a piece count in it. These never reach all round
/// to the piece itself.
fn pieces(n: usize, k: usize) -> (usize, usize) {
    let reach = k.min(WIDEST).min(n.div_ceil(3)).saturating_sub(1);
    (n.div_ceil(PIECE.max(2 * reach)).max(2), reach)
}

/// Some consecutive records; the first and the last few stay where they are.
struct Piece {
    reach: usize,
    nodes: Vec<u32>,
    places: Vec<u32>,
    distances: Vec<u16>,
    neighbours: Neighbours,
}

impl Piece {
    fn new(sets: &Itemsets, records: &[u32], reach: usize, control: &Control) -> Result<Self> {
        let n = records.len();
        let packed = Packed::new(sets, records, control)?;
        // Very far pairs count as less far.
        let distance = |a: usize, b: usize| packed.hamming(a as u32, b as u32).min(u32::from(u16::MAX)) as u16;
        let mut distances = vec![0; n * n];
        for a in 0..n {
            control.check()?;
            for b in 0..a {
                distances[a * n + b] = distance(a, b);
                distances[b * n + a] = distances[a * n + b];
            }
        }
        let near = |a: u32, b: u32| u32::from(distances[a as usize * n + b as usize]);
        let neighbours = Neighbours::exact(n, WIDTH, near, control)?;
        let nodes: Vec<u32> = (0..n as u32).collect();
        Ok(Self { reach, places: nodes.clone(), nodes, distances, neighbours })
    }

    /// Tries to put records next to neighbours, in exchange with who is there; ever colder.
    fn anneal(&mut self, tries: usize, temperature: f64, rng: &mut ChaCha20Rng, control: &Control) -> Result<()> {
        let n = self.nodes.len();
        let inner = self.reach..n - self.reach;
        let step: u64 = (1..n).map(|node| u64::from(self.distances[(node - 1) * n + node])).sum();
        let warmth = temperature * (self.reach + 1) as f64 * step as f64 / n as f64;
        for number in 0..tries {
            if number % STEPS == 0 {
                control.check()?;
            }
            let p = rng.random_range(inner.clone());
            let near = self.neighbours.of(self.nodes[p]).0;
            let Some(&neighbour) = near.get(rng.random_range(0..WIDTH)) else { continue };
            // Eight places before to eight places behind it.
            let shift = rng.random_range(0..2 * AROUND);
            let q = self.places[neighbour as usize] as usize + shift + usize::from(shift >= AROUND);
            let Some(q) = q.checked_sub(AROUND).filter(|q| inner.contains(q) && *q != p) else { continue };
            let loss = self.loss(p, q) as f64;
            let cooled = warmth * (1.0 - number as f64 / tries as f64);
            if loss <= 0.0 || loss < -cooled * rng.random::<f64>().ln() {
                self.nodes.swap(p, q);
                self.places[self.nodes[p] as usize] = p as u32;
                self.places[self.nodes[q] as usize] = q as u32;
            }
        }
        Ok(())
    }

    /// What an exchange of the records at two places adds to the weighted sum of distances.
    fn loss(&self, p: usize, q: usize) -> i64 {
        let n = self.nodes.len();
        let row = |node: u32| &self.distances[node as usize * n..][..n];
        let (x, y) = (row(self.nodes[p]), row(self.nodes[q]));
        let more = |place: usize| {
            let other = self.nodes[place] as usize;
            i64::from(y[other]) - i64::from(x[other])
        };
        let mut loss = 0;
        for d in 1..=self.reach {
            let weight = (self.reach + 1 - d) as i64;
            loss += weight * (more(p - d) + more(p + d) - more(q - d) - more(q + d));
        }
        // Their own distance stays, where they are near.
        let weight = (self.reach + 1).saturating_sub(p.abs_diff(q)) as i64;
        loss + 2 * weight * i64::from(x[self.nodes[q] as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(n: u32) -> Itemsets {
        let rows = (0..n).map(|i| (0..20u32).filter(move |item| (i * i * 31 + item * 17 + i * item) % 7 < 3));
        let (mut starts, mut items) = (vec![0], Vec::new());
        for row in rows {
            items.extend(row);
            starts.push(items.len());
        }
        Itemsets::new(20, starts, items).unwrap()
    }

    /// The weighted sum of distances by its definition.
    fn sum(sets: &Itemsets, order: &[u32], k: usize) -> i64 {
        let mut sum = 0;
        for (p, &a) in order.iter().enumerate() {
            for d in 1..k {
                sum += (k - d) as i64 * i64::from(sets.hamming(a, order[(p + d) % order.len()]));
            }
        }
        sum
    }

    #[test]
    fn losses_are_differences_of_sums() {
        let all = sets(60);
        let records: Vec<u32> = (0..60).collect();
        for k in [2, 3, 8] {
            let mut piece = Piece::new(&all, &records, k - 1, &Control::new()).unwrap();
            for (p, q) in [(10, 30), (20, 21), (21, 20), (20, 25), (9, 50)] {
                let before = sum(&all, &piece.nodes, k);
                let loss = piece.loss(p, q);
                piece.nodes.swap(p, q);
                assert_eq!(sum(&all, &piece.nodes, k) - before, loss, "k = {k}, places {p} and {q}");
            }
        }
    }

    #[test]
    fn pieces_stay_small() {
        for n in [8, 1_000, 1_001, 5_000, 1_000_000, 4_000_000_000] {
            for k in [2, 16, 500, 3_000, n / 2, n] {
                let (pieces, reach) = pieces(n, k);
                let piece = n.div_ceil(pieces);
                assert!(piece + 2 * reach <= 3 * PIECE && piece + reach <= n && reach < k, "{n} records, k = {k}");
            }
        }
    }

    #[test]
    fn without_warmth_the_sum_never_grows() {
        let streams = Streams::new(Some(1)).unwrap();
        for n in [0, 1, 2, 3, 7, 8, 9, 20, 100, 2500] {
            let all = sets(n);
            for k in [1, 2, 5, 16, 5000] {
                let mut order: Vec<u32> = (0..n).collect();
                refine(&all, &mut order, k, (10, 0.0), (&streams, Refinement::Tree), &Control::new()).unwrap();
                let reach = k.min((n as usize).div_ceil(3)).max(1);
                let given: Vec<u32> = (0..n).collect();
                assert!(sum(&all, &order, reach) <= sum(&all, &given, reach), "{n} records, k = {k}");
                order.sort_unstable();
                assert_eq!(order, given);
            }
        }
    }
}
