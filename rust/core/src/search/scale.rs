//! Distances as whole numbers, so that sums over attributes are exact and equal sums are equal numbers.
//!
//! Distances such as Wu–Palmer's or path lengths are fractions with small denominators: all are multiplied by the least
//! common multiple of these. Where some distance is no such fraction (logarithmic measures, measured distances), or the
//! multiple is too large, all are rounded to a grid of 2^-48 of the largest sum: a sum then does not depend on the order
//! of the attributes, but sums that are equal only by an identity between logarithms may differ in the last digit, as
//! they would in floating point. Differences on lines of fractions are whole on that grid too, whatever is beside them.

use std::borrow::Cow;

use rayon::prelude::*;

use super::branches::Branches;
use super::line::Numbers;
use super::ordered::Ordered;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::meaning::Meaning;
use crate::memory;

/// A distance between categories, or a sum of such over the attributes, in a unit common to all attributes.
pub(crate) type Distance = u64;

/// Largest denominator that is recognised. Larger ones would make accidental fractions of arbitrary numbers.
const DENOMINATOR: u64 = 4096;
/// How far a distance may be from the fraction it stands for, relative to it.
const TOLERANCE: f64 = 1e-14;
/// Sums of distances stay below this where they are whole: larger products are not rounded to the right number.
const LARGEST: f64 = (1u64 << 51) as f64;
/// Categories up to which the distances of all pairs are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Few {
    /// Of numbers on a line,
    pub on_a_line: usize,
    /// and of other attributes that can do without.
    pub others: usize,
}

impl Few {
    /// As many as are found faster with a matrix.
    pub const USUAL: Self = Self { on_a_line: 2_000, others: 2_000 };
}

/// Bytes of a category without such distances, and while its unit is looked for.
const ORDERED: usize = 48;
/// Distances remembered while those of a row are told apart: mostly there are few, and repeated ones need not be sorted.
const SEEN: usize = 256;
/// Spreads the bits of a number over the highest: an odd number near 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// Steps of the grid that the largest sum has where distances are no fractions.
const GRID: f64 = (1u64 << 48) as f64;

/// Distances in as few bits as they need: fewer take less time to write and to come to.
#[derive(Debug)]
enum Distances {
    /// Of 16 bits, all of them used: lanes have signed numbers.
    Short(Vec<i16>),
    Long(Vec<Distance>),
}

/// Distances from one category to all.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Row<'a> {
    Short(&'a [i16]),
    Long(&'a [Distance]),
}

impl Row<'_> {
    /// The distance to a category.
    #[inline]
    pub fn to(self, category: u32) -> Distance {
        match self {
            Row::Short(row) => long(row[category as usize]),
            Row::Long(row) => row[category as usize],
        }
    }

    /// Writes the distances to all categories over others.
    pub fn copy_to(self, row: &mut Vec<Distance>) {
        row.clear();
        match self {
            Row::Short(short) => row.extend(short.iter().map(|&x| long(x))),
            Row::Long(long) => row.extend_from_slice(long),
        }
    }

    /// The sum of distances to all categories, each as often as it has records.
    pub fn sum(self, records: &[u64]) -> u128 {
        match self {
            // So many records as would make this too large do not fit into memory.
            Row::Short(row) => row.iter().zip(records).map(|(&x, &n)| long(x) * n).sum::<u64>().into(),
            Row::Long(row) => row.iter().zip(records).map(|(&x, &n)| u128::from(x) * u128::from(n)).sum(),
        }
    }

    /// The largest distance.
    pub fn largest(self) -> Distance {
        match self {
            Row::Short(row) => row.iter().map(|&x| long(x)).max(),
            Row::Long(row) => row.iter().copied().max(),
        }
        .unwrap_or(0)
    }
}

/// The distance that is held in 16 bits.
#[inline]
fn long(short: i16) -> Distance {
    Distance::from(short as u16)
}

/// The categories of an attribute that occur, numbered anew without gaps, and their distances.
#[derive(Debug)]
pub(crate) struct Space {
    distances: Distances,
    /// The largest of them.
    pub largest: Distance,
    /// Whether different categories lie at distance 0.
    pub has_twins: bool,
    /// Records of each category.
    pub counts: Vec<u64>,
    /// The code that each category had.
    pub codes: Vec<u32>,
}

impl Space {
    /// The codes that occur, how many records each code has, what fills in the distances from one of them to all, and
    /// whether 16 bits hold all of these.
    fn new(
        codes: &[u32],
        counts: &[u64],
        measure: impl Fn(u32, &mut [Distance]) + Sync,
        are_short: bool,
        control: &Control,
    ) -> Result<Self> {
        let d = codes.len();
        let rows = |own: usize, row: &mut [Distance]| {
            measure(codes[own], row);
            control.check()?;
            let (mut largest, mut nowhere) = (0, 0);
            for &x in &*row {
                largest = x.max(largest);
                nowhere += usize::from(x == 0);
            }
            Ok((largest, nowhere > usize::from(row[own] == 0)))
        };
        let join = |a: (Distance, bool), b: (Distance, bool)| Ok((a.0.max(b.0), a.1 || b.1));
        let (distances, (largest, has_twins)) = if are_short {
            let mut distances = vec![0; d * d];
            let each = distances.par_chunks_mut(d.max(1)).enumerate();
            let each = each.map_init(
                || vec![0; d],
                |long, (own, short)| {
                    let found = rows(own, long)?;
                    short.iter_mut().zip(long).for_each(|(short, x)| *short = *x as i16);
                    Ok(found)
                },
            );
            let found = each.try_reduce(|| (0, false), join)?;
            debug_assert!(found.0 <= Distance::from(u16::MAX), "distances are short");
            (Distances::Short(distances), found)
        } else {
            let mut distances = vec![0; d * d];
            let each = distances.par_chunks_mut(d.max(1)).enumerate().map(|(own, row)| rows(own, row));
            let found = each.try_reduce(|| (0, false), join)?;
            (Distances::Long(distances), found)
        };
        let counts = codes.iter().map(|&code| counts[code as usize]).collect();
        Ok(Self { distances, largest, has_twins, counts, codes: codes.to_vec() })
    }

    /// Number of categories.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Distances from each category to all, category after category, without some of their lowest bits, so that 16 are
    /// enough.
    pub fn shortened(&self, shift: u32) -> Cow<'_, [i16]> {
        match &self.distances {
            Distances::Short(short) if shift == 0 => Cow::Borrowed(short),
            Distances::Short(short) => short.par_iter().map(|&x| (long(x) >> shift) as i16).collect::<Vec<_>>().into(),
            Distances::Long(long) => long.par_iter().map(|&x| (x >> shift) as i16).collect::<Vec<_>>().into(),
        }
    }

    /// Distances from one category to all.
    #[inline]
    pub fn row(&self, category: u32) -> Row<'_> {
        let d = self.len();
        match &self.distances {
            Distances::Short(short) => Row::Short(&short[category as usize * d..][..d]),
            Distances::Long(long) => Row::Long(&long[category as usize * d..][..d]),
        }
    }

    /// The distance between two categories.
    #[inline]
    pub fn distance(&self, from: u32, to: u32) -> Distance {
        let cell = from as usize * self.len() + to as usize;
        match &self.distances {
            Distances::Short(short) => long(short[cell]),
            Distances::Long(long) => long[cell],
        }
    }

    /// The category of each code, of so many; 0 for those that do not occur.
    pub fn renumbered(&self, codes: usize) -> Vec<u32> {
        let mut renumbered = vec![0; codes];
        for (category, &code) in (0u32..).zip(&self.codes) {
            renumbered[code as usize] = category;
        }
        renumbered
    }
}

/// Attributes in a common unit.
pub(crate) struct Measured<'a> {
    /// Attributes with distances of all pairs,
    pub spaces: Vec<Space>,
    /// and those without.
    pub ordered: Vec<Ordered<'a>>,
    /// Which attributes these are: first those with, then those without.
    pub attributes: Vec<usize>,
    /// Units in a distance of 1.
    pub scale: f64,
}

/// What an attribute is before it has a unit.
enum Unscaled<'a> {
    Matrix,
    Line(Numbers),
    Equality(&'a [u32]),
    Tree(Branches<'a>),
}

/// Bytes of distances whose number of bits is not looked for before memory is asked for.
const VERY_MANY: usize = 1 << 30;

/// What needs memory here.
const WHAT: &str = "distances between categories";

/// Gives attributes a common unit, and those with few categories the distances of all pairs, given their meanings and how
/// many records each code has.
///
/// Where some attribute has to do without, all others do that can: their distances are found as fast.
pub(crate) fn measured<'a>(
    meanings: &[Meaning<'a>],
    counts: &[Vec<u64>],
    few: Few,
    control: &Control,
) -> Result<Measured<'a>> {
    let present: Vec<Vec<u32>> = counts
        .iter()
        .map(|counts| (0..counts.len() as u32).filter(|&code| counts[code as usize] > 0).collect())
        .collect();
    let is_large = |(meaning, codes): (&Meaning<'_>, &Vec<u32>)| match meaning {
        // Of these there is no bound but by all distances.
        Meaning::Matrix { .. } | Meaning::Dag(_) | Meaning::Sets(_) => false,
        Meaning::Line { .. } => codes.len() > few.on_a_line,
        Meaning::Equality(_) | Meaning::Tree(_) => codes.len() > few.others,
    };
    let large = meanings.iter().zip(&present).any(is_large);
    let is_dense = |meaning: &Meaning<'_>| {
        !large || matches!(meaning, Meaning::Matrix { .. } | Meaning::Dag(_) | Meaning::Sets(_))
    };
    let dense = || meanings.iter().zip(&present).filter(|(meaning, _)| is_dense(meaning));
    let squares = || dense().map(|(_, codes)| codes.len() * codes.len());
    // Of one attribute after another, which distances are different. Of very many, what they may all take is asked for now:
    // better too much than to find out how long they are, and then to refuse.
    let different = size_of::<f64>() * squares().max().unwrap_or(0);
    let all = different + size_of::<Distance>() * squares().sum::<usize>();
    let different = if all > VERY_MANY { all } else { different };
    let without: usize = meanings.iter().map(|meaning| meaning.categories()).sum();
    memory::require(different + ORDERED * without, WHAT)?;
    let (mut levels, mut are_fractions, mut largest_sum) = (Vec::new(), true, 0.0);
    let mut unscaled = Vec::with_capacity(meanings.len());
    for (&meaning, codes) in meanings.iter().zip(&present) {
        control.check()?;
        unscaled.push(match meaning {
            Meaning::Matrix { .. } | Meaning::Dag(_) | Meaning::Sets(_) => {
                let found = distinct(meaning, codes, control)?;
                largest_sum += found.last().copied().unwrap_or(0.0);
                levels.extend(found);
                Unscaled::Matrix
            }
            Meaning::Line { positions, .. } => Unscaled::Line(Numbers::new(positions)?),
            Meaning::Equality(numbers) => {
                largest_sum += 1.0;
                levels.push(1.0);
                Unscaled::Equality(numbers)
            }
            Meaning::Tree(tree) => {
                let (branches, found) = Branches::new(tree)?;
                largest_sum += tree.gap();
                match found {
                    Some(found) => levels.extend(found),
                    None => are_fractions = false,
                }
                Unscaled::Tree(branches)
            }
        });
    }
    let lines = unscaled.iter().filter_map(|x| if let Unscaled::Line(numbers) = x { Some(numbers) } else { None });
    let lines: Vec<&Numbers> = lines.collect();
    let scale = unit(are_fractions.then_some(&levels[..]), largest_sum, &lines);
    let all = largest_sum + lines.iter().map(|line| line.largest()).sum::<f64>();
    // Each attribute may be rounded up.
    let are_short = all * scale + meanings.len() as f64 <= f64::from(u16::MAX - 1);
    let (cell, longest) =
        (if are_short { size_of::<i16>() } else { size_of::<Distance>() }, dense().map(|x| x.1.len()).max());
    // Distances between the categories that occur; and of one to all, for each thread, before they are made short.
    let rows = size_of::<Distance>() * longest.unwrap_or(0) * rayon::current_num_threads();
    memory::require(cell * squares().sum::<usize>() + rows, WHAT)?;
    let (mut spaces, mut ordered) = (Vec::new(), Vec::new());
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for (attribute, unscaled) in unscaled.into_iter().enumerate() {
        let (meaning, codes, counts) = (meanings[attribute], &present[attribute], &counts[attribute]);
        let whole = |x: f64| rounded(x * scale);
        let found = match unscaled {
            Unscaled::Matrix => None,
            Unscaled::Line(numbers) => Some(Ordered::line(numbers.scaled(scale))),
            Unscaled::Equality(numbers) => Some(Ordered::equality(numbers, whole(1.0).max(1))),
            Unscaled::Tree(branches) => Some(Ordered::tree(branches.scaled(scale), whole(meaning.largest()))),
        };
        match found {
            Some(found) if large => {
                ordered.push(found);
                without.push(attribute);
            }
            Some(found) => {
                let category = |code: u32| found.categories[code as usize];
                let measure = |from: u32, row: &mut [Distance]| {
                    for (x, &to) in row.iter_mut().zip(codes) {
                        *x = found.distance(category(from), category(to));
                    }
                };
                spaces.push(Space::new(codes, counts, measure, are_short, control)?);
                with.push(attribute);
            }
            None => {
                let measure = |from: u32, row: &mut [Distance]| {
                    if let Some(given) = row_of(meaning, from, codes) {
                        row.iter_mut().zip(given).for_each(|(cell, &x)| *cell = whole(x));
                    } else {
                        row.iter_mut().zip(codes).for_each(|(cell, &to)| *cell = whole(meaning.distance(from, to)));
                    }
                };
                spaces.push(Space::new(codes, counts, measure, are_short, control)?);
                with.push(attribute);
            }
        }
    }
    with.extend(without);
    Ok(Measured { spaces, ordered, attributes: with, scale })
}

impl Measured<'_> {
    /// For each attribute, first those with distances of all pairs, the category of each code, given the number of codes of
    /// each as it was given.
    pub fn categories(&self, codes: &[usize]) -> Vec<Vec<u32>> {
        let with = self.spaces.iter().zip(&self.attributes).map(|(space, &a)| space.renumbered(codes[a]));
        with.chain(self.ordered.iter().map(|ordered| ordered.categories.clone())).collect()
    }

    /// For each attribute without such distances, how many records each category has.
    pub fn counts(&self, counts: &[Vec<u64>]) -> Vec<Vec<u64>> {
        let without = self.ordered.iter().zip(&self.attributes[self.spaces.len()..]);
        let each = without.map(|(ordered, &a)| {
            let mut of_categories = vec![0; ordered.len()];
            for (&category, count) in ordered.categories.iter().zip(&counts[a]) {
                of_categories[category as usize] += count;
            }
            of_categories
        });
        each.collect()
    }
}

/// How many units a distance of 1 has, given the distances that are no lines, if they are known to be fractions, and the
/// largest sum of these.
fn unit(levels: Option<&[f64]>, largest_sum: f64, lines: &[&Numbers]) -> f64 {
    let all = largest_sum + lines.iter().map(|line| line.largest()).sum::<f64>();
    let of_lines = lines.iter().filter_map(|line| line.multiple).try_fold(1, common);
    let levels = levels.filter(|_| lines.iter().all(|line| line.multiple.is_some()));
    // Rounding puts right what the level and the product lost only while a unit is more than they lost.
    let lost = lines.iter().map(|line| line.error()).fold(largest_sum * TOLERANCE, f64::max);
    let is_small = |multiple: &f64| multiple * all < LARGEST && multiple * lost < 0.25;
    let whole = of_lines.and_then(|first| common_multiple(levels?, first)).map(|multiple| multiple as f64);
    whole.filter(is_small).unwrap_or_else(|| {
        let grid = GRID / f64::max(all, f64::MIN_POSITIVE);
        match of_lines {
            Some(multiple) if !lines.is_empty() && grid >= multiple as f64 => grid - grid % multiple as f64,
            _ => grid,
        }
    })
}

/// The distances from a category to all, if these are a row of a matrix and all of them are asked for.
fn row_of<'a>(meaning: Meaning<'a>, from: u32, to: &[u32]) -> Option<&'a [f64]> {
    match meaning {
        Meaning::Matrix { distances, categories } if categories == to.len() => {
            Some(&distances[from as usize * categories..][..categories])
        }
        _ => None,
    }
}

/// The distinct distances between some categories, ascending.
fn distinct(meaning: Meaning<'_>, codes: &[u32], control: &Control) -> Result<Vec<f64>> {
    let none = || (Vec::new(), [f64::NAN; SEEN]);
    let rows = codes.par_iter().try_fold(none, |(mut levels, mut seen), &code| {
        control.check()?;
        let before = levels.len();
        let mut look = |x: f64| {
            let slot = (x.to_bits().wrapping_mul(SPREAD) >> (u64::BITS - SEEN.ilog2())) as usize;
            if seen[slot] != x {
                seen[slot] = x;
                levels.push(x);
            }
        };
        match row_of(meaning, code, codes) {
            Some(given) => given.iter().copied().for_each(&mut look),
            None => codes.iter().map(|&other| meaning.distance(code, other)).for_each(&mut look),
        }
        if let Some(wrong) = levels[before..].iter().find(|x| !x.is_finite() || **x < 0.0) {
            return Err(Error::Parameter(format!("a distance of {wrong} between categories")));
        }
        if levels.len() > before + SEEN {
            sort(&mut levels);
        }
        Ok((levels, seen))
    });
    rows.map(|found| found.map(|(levels, _)| levels)).try_reduce(Vec::new, |mut a, mut b| {
        a.append(&mut b);
        sort(&mut a);
        Ok(a)
    })
}

/// A number from 0 to below 2^51, rounded as by `f64::round`, but several at once on processors of the oldest kind.
#[inline]
fn rounded(x: f64) -> Distance {
    // Numbers from here on are whole: to add it rounds, halves to the even one.
    const WHOLE: f64 = (1u64 << 52) as f64;
    let even = x + WHOLE;
    even.to_bits() - WHOLE.to_bits() + Distance::from(x - (even - WHOLE) >= 0.5)
}

fn sort(levels: &mut Vec<f64>) {
    levels.sort_unstable_by(f64::total_cmp);
    levels.dedup();
}

/// A multiple of the first number by which all levels become whole, if they are fractions.
pub(super) fn common_multiple(levels: &[f64], first: u64) -> Option<u64> {
    levels.iter().try_fold(first, |multiple, &level| common(multiple, denominator(level)?))
}

/// The least common multiple of two numbers.
fn common(a: u64, b: u64) -> Option<u64> {
    (a / gcd(a, b)).checked_mul(b)
}

/// The denominator of the simplest fraction that a number stands for, by continued fractions.
pub(super) fn denominator(x: f64) -> Option<u64> {
    let tolerance = TOLERANCE * x;
    let (mut before, mut q) = (0u64, 1u64);
    let mut rest = x;
    loop {
        if ((x * q as f64).round() / q as f64 - x).abs() <= tolerance {
            return Some(q);
        }
        rest = 1.0 / (rest - rest.floor());
        if !rest.is_finite() || rest >= DENOMINATOR as f64 {
            return None;
        }
        (before, q) = (q, rest as u64 * q + before);
        if q > DENOMINATOR {
            return None;
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(matrices: &[Vec<f64>]) -> Vec<Space> {
        let counts: Vec<Vec<u64>> = matrices.iter().map(|m| vec![1; m.len().isqrt()]).collect();
        let meanings: Vec<Meaning<'_>> =
            matrices.iter().map(|m| Meaning::matrix(m, m.len().isqrt()).unwrap()).collect();
        measured(&meanings, &counts, Few::USUAL, &Control::new()).unwrap().spaces
    }

    #[test]
    fn fractions_become_whole() {
        let first = [0.0, 1.0 / 3.0, 1.0 / 3.0, 0.0].to_vec();
        let second = [0.0, 3.0 / 11.0, 1.0 / 6.0, 3.0 / 11.0, 0.0, 0.5, 1.0 / 6.0, 0.5, 0.0].to_vec();
        let found = scaled(&[first, second]);
        let distances = |space: &Space| (0..space.len() as u32).map(|to| space.distance(0, to)).collect::<Vec<_>>();
        assert_eq!(distances(&found[0]), [0, 22]);
        assert_eq!(distances(&found[1]), [0, 18, 11]);
        assert_eq!(found[0].distance(0, 1) + found[1].distance(0, 2), found[1].distance(1, 2));
    }

    #[test]
    fn every_small_fraction_is_recognised() {
        for q in 1..200u64 {
            for p in 0..3 * q {
                let found = denominator(p as f64 / q as f64);
                assert_eq!(found, Some(q / gcd(p, q)), "{p}/{q}");
            }
        }
        assert_eq!(denominator(std::f64::consts::LN_2), None);
    }

    #[test]
    fn rounding_is_that_of_the_standard_library() {
        for x in
            [0.0, 0.5f64.next_down(), 0.5, 0.5f64.next_up(), 1.5, 2.5, 2.5f64.next_down(), 1e15 + 0.5, LARGEST - 0.5]
        {
            assert_eq!(rounded(x), x.round() as Distance, "{x}");
        }
    }

    #[test]
    fn other_numbers_keep_their_order() {
        let x = std::f64::consts::LN_2;
        let found = scaled(&[[0.0, x, x, 0.0].to_vec(), [0.0, x * (1.0 + 1e-9), x * (1.0 + 1e-9), 0.0].to_vec()]);
        assert!(found[0].distance(0, 1) < found[1].distance(0, 1));
    }

    #[test]
    fn impossible_distances_are_refused() {
        let distances = [0.0, f64::NAN, f64::NAN, 0.0];
        let meaning = Meaning::matrix(&distances, 2).unwrap();
        assert!(measured(&[meaning], &[vec![1, 1]], Few::USUAL, &Control::new()).is_err());
    }
}
