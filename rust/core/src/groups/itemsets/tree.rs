//! A random order of records in which near ones follow each other.
//!
//! Records are halved by whether they share more items with one or with the other of two random records among them, and the
//! halves are halved again (a random-projection tree; as in Dasgupta, Freund: "Random projection trees and low dimensional
//! manifolds", STOC 2008, with the direction between two points).

use rand::RngExt;
use rayon::prelude::*;

use crate::control::Control;
use crate::error::Result;
use crate::itemsets::Itemsets;
use crate::rng::{Stream, Streams};

/// Levels of the tree whose halves are worked on at once.
const SHARED: u32 = 6;

/// Places that are worth sharing out.
const MANY: usize = 1 << 12;

/// How to make the order of one pass.
pub(super) struct Tree<'a> {
    pub(super) sets: &'a Itemsets,
    pub(super) streams: &'a Streams,
    pub(super) control: &'a Control,
    pub(super) pass: u32,
    /// Places that make a leaf, about.
    pub(super) leaf: usize,
}

/// A place to be ordered: a number, and the record that says where it belongs.
type Place = (u32, u32);

/// Places, and the bounds of the leaves among them.
type Half<'a, 'b> = (&'a mut [(i32, Place)], &'b [usize]);

impl Tree<'_> {
    /// Puts places into a random order. Gives the sizes of the leaves. O(places · items of a record · depth).
    pub(super) fn arrange(&self, places: &mut [Place]) -> Result<Vec<usize>> {
        let n = places.len();
        let leaves = (n / self.leaf).max(1);
        let bounds: Vec<usize> = (0..=leaves).map(|leaf| n * leaf / leaves).collect();
        let mut scored: Vec<(i32, Place)> = places.iter().map(|&place| (0, place)).collect();
        self.share(&mut scored, &bounds, self.pass.wrapping_mul(leaves as u32), SHARED)?;
        for (place, (_, ordered)) in places.iter_mut().zip(&scored) {
            *place = *ordered;
        }
        Ok(bounds.windows(2).map(|pair| pair[1] - pair[0]).collect())
    }

    /// Halves places, and the halves at once, down to some level. `bounds` are those of the leaves among these places.
    fn share(&self, places: &mut [(i32, Place)], bounds: &[usize], first: u32, levels: u32) -> Result<()> {
        let mut marks = vec![0; self.sets.n_items() as usize];
        if levels == 0 {
            return self.halve(places, bounds, first, &mut marks);
        }
        let Some([left, right]) = self.split(places, bounds, first, &mut marks)? else { return Ok(()) };
        drop(marks);
        let middle = first.wrapping_add(left.1.len() as u32 - 1);
        let (a, b) = rayon::join(
            || self.share(left.0, left.1, first, levels - 1),
            || self.share(right.0, right.1, middle, levels - 1),
        );
        a.and(b)
    }

    /// Halves places, and the halves one after another.
    fn halve(&self, places: &mut [(i32, Place)], bounds: &[usize], first: u32, marks: &mut [i8]) -> Result<()> {
        let Some([left, right]) = self.split(places, bounds, first, marks)? else { return Ok(()) };
        self.halve(left.0, left.1, first, marks)?;
        self.halve(right.0, right.1, first.wrapping_add(left.1.len() as u32 - 1), marks)
    }

    /// Parts places into those that share more items with one and those that share more with the other of two of them.
    /// Nothing for a leaf.
    fn split<'a, 'b>(
        &self,
        places: &'a mut [(i32, Place)],
        bounds: &'b [usize],
        first: u32,
        marks: &mut [i8],
    ) -> Result<Option<[Half<'a, 'b>; 2]>> {
        let leaves = bounds.len() - 1;
        if leaves < 2 {
            return Ok(None);
        }
        self.control.check()?;
        let middle = leaves / 2;
        // Every boundary between leaves is a split once, so it numbers the random block.
        let mut rng = self.streams.generator(Stream::ItemsetTrees, first.wrapping_add(middle as u32));
        let one = rng.random_range(0..places.len());
        let other = (one + rng.random_range(1..places.len())) % places.len();
        let poles = [(places[one].1.1, 1), (places[other].1.1, -1)];
        for (pole, sign) in poles {
            for &item in self.sets.row(pole) {
                marks[item as usize] += sign;
            }
        }
        let score = |place: &mut (i32, Place)| {
            place.0 = self.sets.row(place.1.1).iter().map(|&item| i32::from(marks[item as usize])).sum();
        };
        if places.len() > MANY {
            places.par_iter_mut().with_min_len(MANY / 4).for_each(score);
        } else {
            places.iter_mut().for_each(score);
        }
        for (pole, _) in poles {
            for &item in self.sets.row(pole) {
                marks[item as usize] = 0;
            }
        }
        let cut = bounds[middle] - bounds[0];
        places.select_nth_unstable(cut);
        let (left, right) = places.split_at_mut(cut);
        Ok(Some([(left, &bounds[..=middle]), (right, &bounds[middle..])]))
    }
}
