//! Attributes without a matrix: their categories have an order, and what a range of it holds bounds the distances to it.

use std::cmp::Ordering;

use super::branches::Branches;
use super::line::Line;
use super::scale::Distance;
use crate::control::Control;
use crate::error::Result;

/// An attribute in a common unit. The last of its categories stands for what is missing.
#[derive(Debug)]
pub(crate) struct Ordered<'a> {
    kind: Kind<'a>,
    /// Category of each code.
    pub categories: Vec<u32>,
    /// The category of what is missing: the number of all others.
    missing: u32,
    /// Distance of what is missing from all else: no less than any other.
    gap: Distance,
}

#[derive(Debug)]
enum Kind<'a> {
    /// Position of each category, ascending.
    Line(Vec<Distance>),
    /// Different categories are as far apart as the gap.
    Equality,
    /// Places in the order of a walk down a tree.
    Tree(Branches<'a>),
}

/// What some tuples hold of an attribute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    /// The first and the last category that is not missing; none, if the first comes after the last.
    first: u32,
    last: u32,
    /// The smallest and the largest class of a concept in a tree.
    low: u32,
    high: u32,
    /// Whether something is missing.
    missing: bool,
}

impl Span {
    /// Nothing at all.
    pub const EMPTY: Self = Self { first: u32::MAX, last: 0, low: u32::MAX, high: 0, missing: false };

    /// What two hold together.
    #[inline]
    pub fn joined(self, other: Self) -> Self {
        Self {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            missing: self.missing || other.missing,
        }
    }

    #[inline]
    fn is_known(&self) -> bool {
        self.first <= self.last
    }
}

impl<'a> Ordered<'a> {
    /// Numbers on a line.
    pub fn line(line: Line) -> Self {
        let missing = line.positions.len() as u32;
        Self { kind: Kind::Line(line.positions), categories: line.ranks, missing, gap: line.gap }
    }

    /// Values that are equal or not, in a unit of which there are so many in 1.
    pub fn equality(numbers: &[u32], unit: Distance) -> Self {
        let mut distinct = numbers.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let rank = |number: &u32| distinct.partition_point(|other| other < number) as u32;
        let categories = numbers.iter().map(rank).collect();
        Self { kind: Kind::Equality, categories, missing: distinct.len() as u32, gap: unit }
    }

    /// Concepts of a tree.
    pub fn tree(branches: Branches<'a>, gap: Distance) -> Self {
        let missing = branches.places();
        let categories = branches.categories(missing);
        Self { kind: Kind::Tree(branches), categories, missing, gap }
    }

    /// Number of categories.
    pub fn len(&self) -> usize {
        self.missing as usize + 1
    }

    /// The largest distance.
    pub fn largest(&self) -> Distance {
        self.gap
    }

    /// The distance of two categories.
    #[inline]
    pub fn distance(&self, a: u32, b: u32) -> Distance {
        if a == b {
            return 0;
        }
        if a == self.missing || b == self.missing {
            return self.gap;
        }
        match &self.kind {
            Kind::Line(positions) => positions[a as usize].abs_diff(positions[b as usize]),
            Kind::Equality => self.gap,
            Kind::Tree(branches) => branches.distance(a, b),
        }
    }

    /// What a tuple of this category holds.
    #[inline]
    pub fn span(&self, category: u32) -> Span {
        if category == self.missing {
            return Span { missing: true, ..Span::EMPTY };
        }
        let class = if let Kind::Tree(branches) = &self.kind { branches.class(category) } else { 0 };
        Span { first: category, last: category, low: class, high: class, missing: false }
    }

    /// What tuples of several categories hold.
    pub fn span_of(&self, categories: impl Iterator<Item = u32>) -> Span {
        categories.fold(Span::EMPTY, |span, category| span.joined(self.span(category)))
    }

    /// A distance from a category that nothing in a span is nearer than, and whether all of it is at this distance.
    #[inline]
    pub fn nearest(&self, from: u32, span: &Span) -> (Distance, bool) {
        if from == self.missing {
            return if span.missing { (0, !span.is_known()) } else { (self.gap, true) };
        }
        if !span.is_known() {
            return (self.gap, true);
        }
        // What is missing is no nearer than the farthest.
        let (least, even) = match &self.kind {
            Kind::Line(positions) => {
                let [x, low, high] = [from, span.first, span.last].map(|category| positions[category as usize]);
                (low.saturating_sub(x).max(x.saturating_sub(high)), low == high)
            }
            Kind::Equality if (span.first..=span.last).contains(&from) => (0, span.first == span.last),
            Kind::Equality => (self.gap, true),
            Kind::Tree(branches) => branches.nearest(from, (span.first, span.last), (span.low, span.high)),
        };
        (least, even && (!span.missing || least == self.gap))
    }

    /// A distance from a category that nothing in a span is farther than.
    #[inline]
    pub fn farthest(&self, from: u32, span: &Span) -> Distance {
        if from == self.missing {
            return if span.is_known() { self.gap } else { 0 };
        }
        if span.missing {
            return self.gap;
        }
        if !span.is_known() {
            return 0;
        }
        match &self.kind {
            Kind::Line(positions) => {
                let [x, low, high] = [from, span.first, span.last].map(|category| positions[category as usize]);
                x.abs_diff(low).max(x.abs_diff(high))
            }
            Kind::Equality => {
                if (span.first, span.last) == (from, from) {
                    0
                } else {
                    self.gap
                }
            }
            Kind::Tree(branches) => branches.farthest(from, (span.first, span.last), span.high),
        }
    }

    /// What a search gains by dividing a span: a distance that no two in it exceed.
    ///
    /// Of values that are equal or not, any two differ as much; but the more there are in a part, the fewer searches it
    /// spares. So other attributes are divided in between.
    pub fn width(&self, span: &Span) -> Distance {
        if span.missing && span.is_known() {
            return self.gap;
        }
        if span.first >= span.last {
            return 0;
        }
        match &self.kind {
            Kind::Line(positions) => positions[span.last as usize] - positions[span.first as usize],
            Kind::Equality => {
                let share = f64::from(span.last - span.first + 1) / f64::from(self.missing);
                (self.gap as f64 * share) as Distance
            }
            Kind::Tree(branches) => branches.width((span.first, span.last), span.high),
        }
    }

    /// The order in which near categories follow each other; what is missing comes last.
    pub fn along(&self) -> Vec<u32> {
        (0..=self.missing).collect()
    }

    /// An order in which categories follow each other that are far from the same others.
    ///
    /// In a tree most pairs meet at the root and are the farther apart the deeper they are.
    pub fn outward(&self) -> Vec<u32> {
        let mut order = self.along();
        if let Kind::Tree(branches) = &self.kind {
            order.pop();
            order.sort_by_key(|&place| std::cmp::Reverse(branches.class(place)));
            order.push(self.missing);
        }
        order
    }

    /// Between which neighbours, none of them missing, a range is divided first: the lesser of two pairs.
    pub fn divides(&self, a: (u32, u32), b: (u32, u32)) -> Ordering {
        match &self.kind {
            Kind::Tree(branches) => branches.division(a.0, a.1).cmp(&branches.division(b.0, b.1)),
            _ => Ordering::Equal,
        }
    }

    /// Whether it matters between which neighbours a range is divided.
    pub fn has_branches(&self) -> bool {
        matches!(self.kind, Kind::Tree(_))
    }

    /// Whether different codes, of which some occur, may lie at distance 0.
    pub fn has_twins(&self, occurs: impl Fn(usize) -> bool) -> bool {
        let zero = match &self.kind {
            Kind::Line(positions) => positions.windows(2).any(|pair| pair[0] == pair[1]),
            Kind::Equality => false,
            Kind::Tree(branches) => branches.has_twins(),
        };
        let mut taken = vec![false; self.len()];
        let mut is_taken = |category: u32| std::mem::replace(&mut taken[category as usize], true);
        zero || self.categories.iter().enumerate().any(|(code, &category)| occurs(code) && is_taken(category))
    }

    /// The sum of the distances from each category to all records, given how many there are of each.
    pub fn sums(&self, counts: &[u64], control: &Control) -> Result<Vec<u128>> {
        let (known, missing) = counts.split_at(self.missing as usize);
        let all: u128 = known.iter().map(|&count| u128::from(count)).sum();
        let to_missing = u128::from(missing[0]) * u128::from(self.gap);
        let mut sums = match &self.kind {
            Kind::Line(positions) => along_line(positions, known),
            Kind::Equality => known.iter().map(|&own| (all - u128::from(own)) * u128::from(self.gap)).collect(),
            Kind::Tree(branches) => branches.sums(known, control)?,
        };
        for sum in &mut sums {
            *sum += to_missing;
        }
        sums.push(all * u128::from(self.gap));
        Ok(sums)
    }
}

/// The sum of the differences from each position to all records.
fn along_line(positions: &[Distance], counts: &[u64]) -> Vec<u128> {
    let all: u128 = counts.iter().map(|&count| u128::from(count)).sum();
    let (mut before, mut sum) = (0, 0);
    // From the first position, which is 0; each step is away from those before and towards the others.
    sum += positions.iter().zip(counts).map(|(&x, &n)| u128::from(x) * u128::from(n)).sum::<u128>();
    let mut last = 0;
    let step = |(&x, &n): (&Distance, &u64)| {
        let moved = u128::from(x - last);
        sum = sum + moved * before - moved * (all - before);
        (last, before) = (x, before + u128::from(n));
        sum
    };
    positions.iter().zip(counts).map(step).collect()
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use crate::control::Control;
    use crate::meaning::{Meaning, Tree};
    use crate::rng::{Stream, Streams};
    use crate::search::scale::{Few, measured};
    use crate::taxonomy::Taxonomy;
    use crate::taxonomy::information::Information;
    use crate::taxonomy::measure::Measure;

    use super::*;

    fn check(meaning: Meaning<'_>) {
        let mut rng = Streams::new(Some(5)).unwrap().generator(Stream::Synthetic(0), 0);
        let codes = meaning.categories();
        let counts: Vec<u64> = (0..codes as u64).map(|code| code * 7 % 5).collect();
        let few = Few { on_a_line: 0, others: 0 };
        let found = measured(&[meaning], std::slice::from_ref(&counts), few, &Control::new()).unwrap();
        let ordered = &found.ordered[0];
        let category = |code: usize| ordered.categories[code];
        // Every distance is that of the meaning, in the unit.
        for (a, b) in (0..codes).flat_map(|a| (0..codes).map(move |b| (a, b))) {
            let expected = meaning.distance(a as u32, b as u32) * found.scale;
            let distance = ordered.distance(category(a), category(b));
            assert!((distance as f64 - expected).abs() <= 0.5 + 1e-9 * expected, "{distance} {expected}: {meaning:?}");
            assert!(distance <= ordered.largest());
            let twins = ordered.has_twins(|code| code == a || code == b);
            assert!(a == b || distance > 0 || twins, "{meaning:?}");
        }
        for _ in 0..300 {
            let (start, size) = (rng.random_range(0..codes), rng.random_range(1..12));
            // Neighbours in the order, or anything.
            let near = rng.random_bool(0.7);
            let mut pick =
                || if near { (start + rng.random_range(0..size)) % ordered.len() } else { rng.random_range(0..codes) };
            let some: Vec<u32> = (0..size).map(|_| pick()).map(|i| if near { i as u32 } else { category(i) }).collect();
            let span = ordered.span_of(some.iter().copied());
            for from in ordered.along() {
                let each: Vec<Distance> = some.iter().map(|&to| ordered.distance(from, to)).collect();
                let (least, even) = ordered.nearest(from, &span);
                assert!(each.iter().all(|&x| x >= least), "{from} {some:?} {each:?} {least}: {meaning:?}");
                assert!(!even || each.iter().all(|&x| x == least), "{from} {some:?} {each:?} {least}: {meaning:?}");
                let most = ordered.farthest(from, &span);
                assert!(each.iter().all(|&x| x <= most), "{from} {some:?} {each:?} {most}: {meaning:?}");
            }
        }
        let counts = &found.counts(&[counts])[0];
        let sums = ordered.sums(counts, &Control::new()).unwrap();
        for from in ordered.along() {
            let each = ordered.along().into_iter().zip(counts);
            let sum: u128 = each.map(|(to, &n)| u128::from(ordered.distance(from, to)) * u128::from(n)).sum();
            assert_eq!(sums[from as usize], sum, "{from}: {meaning:?}");
        }
    }

    #[test]
    fn bounds_hold_on_lines_and_for_values() {
        check(Meaning::line(&[3.0, 1.5, f64::NAN, 1.5, -2.0, 9.25, 0.0, 4.0]).unwrap());
        check(Meaning::line(&[f64::NAN, 2.0]).unwrap());
        check(Meaning::line(&(0..60u32).map(|i| f64::from(i * 37 % 61).ln_1p()).collect::<Vec<_>>()).unwrap());
        check(Meaning::Equality(&[4, 0, 4, 9, 2, 7, 9]));
    }

    #[test]
    fn bounds_hold_in_trees() {
        let mut rng = Streams::new(Some(6)).unwrap().generator(Stream::Synthetic(0), 0);
        for (n, span) in [(2u32, 1u32), (40, 1), (60, 3), (90, 12), (150, 150), (300, 4)] {
            let child: Vec<u32> = (1..n).collect();
            let parent: Vec<u32> = child.iter().map(|&i| rng.random_range(i.saturating_sub(span)..i)).collect();
            let taxonomy = Taxonomy::new(n as usize, &child, &parent).unwrap();
            let seco = || Information::seco(&taxonomy, &Control::new()).unwrap();
            let measures = [
                Measure::Path,
                Measure::LeacockChodorow,
                Measure::WuPalmer,
                Measure::TaxonomicFeature,
                Measure::Resnik(seco()),
                Measure::Lin(seco()),
                Measure::JiangConrath(seco()),
            ];
            let mut concepts: Vec<u32> = (0..n.min(100)).map(|_| rng.random_range(0..n)).collect();
            concepts.push(crate::MISSING);
            for measure in &measures {
                check(Meaning::Tree(&Tree::new(&taxonomy, &concepts, measure).unwrap()));
            }
        }
    }
}
