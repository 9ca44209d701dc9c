//! Shorter paths through the segments of an order.

use std::ops::Range;

use rayon::prelude::*;

use super::super::Itemsets;
use super::super::distance::Packed;
use super::ORDER;
use super::neighbours::Neighbours;
use super::tour::{Metric, Tour};
use crate::control::Control;
use crate::error::Result;
use crate::memory;
use crate::rng::{Stream, Streams};

/// Neighbours of a record in its segment.
const WIDTH: usize = 8;
/// Places within which records are brought nearer where that makes the path no longer.
const REACH: usize = 12;
/// Bytes for each record, at most, beside the distances of all pairs in a segment.
const AROUND: usize = 192;
/// Distance of two nodes whose link must stay: below all that a move can gain.
const KEEP: i32 = i32::MIN / 2;

/// Kicks for each record: many where records are few, some among millions.
fn kicks(n: usize) -> usize {
    (600_000 / n.max(1)).clamp(2, 20)
}

/// Makes the path through each segment of an order shorter, between its first and its last record. Segments are worked on at
/// once, each with its own generator. O(n·segment).
pub(super) fn shorten(
    sets: &Itemsets,
    order: &mut [u32],
    cuts: &[Range<usize>],
    streams: &Streams,
    control: &Control,
) -> Result<()> {
    let kicks = kicks(order.len());
    let longest = cuts.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
    let threads = rayon::current_num_threads().min(cuts.len());
    memory::require(16 * cuts.len() + threads * (4 * longest + AROUND) * longest, ORDER)?;
    let mut rest = order;
    let mut pieces = Vec::with_capacity(cuts.len());
    for cut in cuts {
        let (piece, others) = rest.split_at_mut(cut.len());
        pieces.push(piece);
        rest = others;
    }
    pieces.into_par_iter().enumerate().try_for_each(|(number, piece)| {
        let n = piece.len();
        if n < 4 {
            return control.advance(n as u64);
        }
        let records = piece.to_vec();
        let packed = Packed::new(sets, &records, control)?;
        let mut matrix = Matrix::new(&packed, control)?;
        let neighbours = Neighbours::exact(n, WIDTH, |a, b| matrix.distance(a, b) as u32, control)?;
        // A closed tour that never gives up the link from the last record to the first is a path between them.
        matrix.set(0, n - 1, KEEP);
        let mut tour = Tour::new(&matrix, &neighbours, (0..n as u32).collect(), n);
        tour.descend(control)?;
        let rng = &mut streams.generator(Stream::SegmentKicks, number as u32);
        // Ties lead to shorter paths at first, to better ones then.
        tour.kick(kicks * n / 3, 0, rng, control)?;
        tour.kick(kicks * n - kicks * n / 3, REACH, rng, control)?;
        let mut nodes = tour.into_nodes();
        let first = nodes.iter().position(|&node| node == 0).unwrap_or(0);
        nodes.rotate_left(first);
        if nodes[1] as usize == n - 1 {
            nodes[1..].reverse();
        }
        for (slot, node) in piece.iter_mut().zip(nodes) {
            *slot = records[node as usize];
        }
        control.advance(n as u64)
    })
}

/// Distances between all pairs of few records.
pub(super) struct Matrix {
    n: usize,
    cells: Vec<i32>,
}

impl Matrix {
    pub(super) fn new(packed: &Packed<'_>, control: &Control) -> Result<Self> {
        let n = packed.len();
        memory::require(4 * n * n, "distances of all pairs")?;
        let mut matrix = Self { n, cells: vec![0; n * n] };
        for a in 0..n {
            control.check()?;
            for b in 0..a {
                matrix.set(a, b, packed.hamming(a as u32, b as u32).min(1 << 24) as i32);
            }
        }
        Ok(matrix)
    }

    fn set(&mut self, a: usize, b: usize, distance: i32) {
        self.cells[a * self.n + b] = distance;
        self.cells[b * self.n + a] = distance;
    }
}

impl Metric for Matrix {
    #[inline]
    fn distance(&self, a: u32, b: u32) -> i64 {
        i64::from(self.cells[a as usize * self.n + b as usize])
    }
}

impl Metric for Packed<'_> {
    #[inline]
    fn distance(&self, a: u32, b: u32) -> i64 {
        i64::from(self.hamming(a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn comparing_all_pairs_stops_when_asked() {
        let sets = Itemsets::new(2, vec![0, 1, 2], vec![0, 1]).unwrap();
        let control = Control::new();
        let packed = Packed::new(&sets, &[0, 1], &control).unwrap();
        assert_eq!(Matrix::new(&packed, &control).unwrap().cells, [0, 2, 2, 0]);
        assert_eq!(Neighbours::exact(2, 1, |_, _| 2, &control).unwrap().of(0), (&[1][..], &[2][..]));
        control.stop();
        assert_eq!(Matrix::new(&packed, &control).err(), Some(Error::Stopped));
        assert_eq!(Neighbours::exact(2, 1, |_, _| 2, &control).err(), Some(Error::Stopped));
    }
}
