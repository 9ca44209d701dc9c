//! Linked rows: those that share a kept value, such as a pseudonym, are taken together as one *unit*.
//!
//! The adversary knows the bag of masked values of a unit (how often each value of each column occurs in its rows) and
//! takes the unit of the release whose bag is nearest. Bags are compared by the sum over values of |difference of counts| × weight,
//! where a value that few units of the release have weighs more: ln((units + 1) / (units with it + 1)), as in the search for
//! documents, but at least a thousandth, so that bags are only equal if they are.
//!
//! |a − b| = a + b − 2 min(a, b): only the units that share a value with a target are looked at, by an index from values to
//! units. Weights are whole numbers, so that equal distances are equal.

use rayon::prelude::*;

use crate::control::Control;
use crate::error::{Error, Result};
use crate::memory;
use crate::risk::columns::{below, check};
use crate::tuples::Codes;

/// Units of the weight of a value.
const SCALE: f64 = 65_536.0;

/// What needs memory here.
const WHAT: &str = "linking units by all their rows";

/// How each target fared, in the order of the targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linked {
    /// Number of units of the release that are equally near, and nearer than all others.
    pub ties: Vec<u32>,
    /// 1 if the true unit is one of them.
    pub hits: Vec<u32>,
}

/// Links units, or the `targets` among them, with the nearest units of a release. Both sides number their `units` alike;
/// columns have the same categories on both sides.
///
/// O(rows log rows) for each column, and for each target the number of units that share a value with it.
pub fn attack(
    before: &[Codes<'_>],
    after: &[Codes<'_>],
    (unit_before, unit_after): (&[u32], &[u32]),
    units: usize,
    targets: Option<&[u32]>,
    control: &Control,
) -> Result<Linked> {
    let fail = |message: String| Err(Error::Parameter(message));
    if before.len() != after.len() {
        return fail(format!("{} columns before and {} after", before.len(), after.len()));
    }
    if let Some((a, b)) = before.iter().zip(after).find(|(a, b)| a.1 != b.1) {
        return fail(format!("a column of {} categories before and {} after", a.1, b.1));
    }
    if u32::try_from(units).is_err() {
        return fail(format!("{units} units"));
    }
    memory::require(size_of::<u32>() * units, WHAT)?;
    check(before, unit_before.len())?;
    check(after, unit_after.len())?;
    below(unit_before, units, "unit")?;
    below(unit_after, units, "unit")?;
    let targets = match targets {
        Some(targets) => {
            below(targets, units, "unit")?;
            targets.to_vec()
        }
        None => (0..units as u32).collect(),
    };
    let known = Bags::new(before, unit_before, units, control)?;
    let release = Bags::new(after, unit_after, units, control)?;
    let index = Index::new(&release, before.iter().map(|&(_, categories)| categories).sum(), units, unit_after)?;
    // What each thread adds up for all units; and two figures for each target, as they are found and at the end.
    let sums = (size_of::<i64>() + 3 * size_of::<u32>()) * units * rayon::current_num_threads().min(targets.len());
    memory::require(sums + 5 * size_of::<(u32, u32)>() * targets.len(), WHAT)?;
    control.begin(targets.len() as u64);
    let found: Vec<(u32, u32)> = targets
        .par_iter()
        .with_max_len(64)
        .map_init(
            || (vec![0i64; units], vec![]),
            |(shared, touched), &target| {
                let found = index.nearest(target, known.of(target), shared, touched);
                control.advance(1)?;
                Ok(found)
            },
        )
        .collect::<Result<_>>()?;
    let (ties, hits) = found.into_iter().unzip();
    Ok(Linked { ties, hits })
}

/// The bag of each unit: values, numbered through all columns, and how often each occurs.
struct Bags {
    starts: Vec<usize>,
    values: Vec<(u32, u32)>,
}

impl Bags {
    fn new(columns: &[Codes<'_>], unit_of: &[u32], units: usize, control: &Control) -> Result<Self> {
        let categories: usize = columns.iter().map(|&(_, categories)| categories).sum();
        if u32::try_from(categories).is_err() {
            return Err(Error::Parameter(format!("{categories} categories are more than 2^32")));
        }
        memory::require(size_of::<u64>() * (columns.len() * unit_of.len() + units + 1), WHAT)?;
        let mut all: Vec<u64> = Vec::with_capacity(columns.len() * unit_of.len());
        let mut first = 0;
        for &(codes, categories) in columns {
            all.extend(
                unit_of.iter().zip(codes).map(|(&unit, &code)| u64::from(unit) << 32 | (first + u64::from(code))),
            );
            first += categories as u64;
        }
        control.check()?;
        all.par_sort_unstable();
        control.check()?;
        let mut starts = vec![0; units + 1];
        let distinct = all.chunk_by(|a, b| a == b);
        let count = distinct.clone().count();
        memory::require(size_of::<(u32, u32)>() * count, WHAT)?;
        let mut values = Vec::with_capacity(count);
        for equal in distinct {
            values.push((equal[0] as u32, equal.len() as u32));
            starts[(equal[0] >> 32) as usize + 1] = values.len();
        }
        for unit in 0..units {
            starts[unit + 1] = starts[unit + 1].max(starts[unit]);
        }
        Ok(Self { starts, values })
    }

    fn of(&self, unit: u32) -> &[(u32, u32)] {
        &self.values[self.starts[unit as usize]..self.starts[unit as usize + 1]]
    }
}

/// The units of a release by value.
struct Index {
    /// Where the units of each value begin, and the units with the count of the value in their bags.
    starts: Vec<usize>,
    units: Vec<(u32, u32)>,
    /// Weight of each value.
    weights: Vec<i64>,
    /// Weight of each unit's whole bag, and the units of the release in its order.
    whole: Vec<i64>,
    by_weight: Vec<u32>,
    /// Which units the release has.
    present: Vec<bool>,
}

impl Index {
    fn new(bags: &Bags, values: usize, units: usize, unit_of: &[u32]) -> Result<Self> {
        // Where values begin, twice, and their weights; the bags; of each unit its weight, place and a sort of these.
        let words = 3 * (values + 1) + bags.values.len() + 3 * units;
        memory::require(size_of::<u64>() * words, WHAT)?;
        let mut starts = vec![0; values + 1];
        for &(value, _) in &bags.values {
            starts[value as usize + 1] += 1;
        }
        let mut present = vec![false; units];
        for &unit in unit_of {
            present[unit as usize] = true;
        }
        let of_all = present.iter().filter(|&&present| present).count() as f64 + 1.0;
        let weigh = |&with: &usize| ((of_all / (with as f64 + 1.0)).ln().max(1e-3) * SCALE) as i64;
        let weights: Vec<i64> = starts[1..].iter().map(weigh).collect();
        for value in 0..values {
            starts[value + 1] += starts[value];
        }
        let mut next = starts.clone();
        let mut of_value = vec![(0, 0); bags.values.len()];
        let mut whole = vec![0; units];
        for unit in 0..units as u32 {
            for &(value, count) in bags.of(unit) {
                of_value[next[value as usize]] = (unit, count);
                next[value as usize] += 1;
                whole[unit as usize] += weights[value as usize] * i64::from(count);
            }
        }
        let mut by_weight: Vec<u32> = (0..units as u32).filter(|&unit| present[unit as usize]).collect();
        by_weight.sort_by_key(|&unit| whole[unit as usize]);
        Ok(Self { starts, units: of_value, weights, whole, by_weight, present })
    }

    /// How many units are nearest to a bag, and whether the true one is among them. `shared` is all zero, and stays so.
    fn nearest(&self, target: u32, bag: &[(u32, u32)], shared: &mut [i64], touched: &mut Vec<u32>) -> (u32, u32) {
        for &(value, count) in bag {
            let weight = 2 * self.weights[value as usize];
            for &(unit, times) in &self.units[self.starts[value as usize]..self.starts[value as usize + 1]] {
                let sum = &mut shared[unit as usize];
                if *sum == 0 {
                    touched.push(unit);
                }
                *sum += weight * i64::from(count.min(times));
            }
        }
        // Distances without the weight of the target's bag, which is the same for all.
        let distance = |unit: u32| self.whole[unit as usize] - shared[unit as usize];
        let (mut least, mut ties) = (i64::MAX, 0);
        let mut take = |this: i64| {
            if this < least {
                (least, ties) = (this, 0);
            }
            ties += u32::from(this == least);
            least
        };
        let mut limit = i64::MAX;
        for &unit in &*touched {
            limit = take(distance(unit));
        }
        // Those that share nothing: the lightest of them are nearest.
        for &unit in &self.by_weight {
            if self.whole[unit as usize] > limit {
                break;
            }
            if shared[unit as usize] == 0 {
                limit = take(distance(unit));
            }
        }
        let hit = self.present[target as usize] && distance(target) == least;
        touched.drain(..).for_each(|unit| shared[unit as usize] = 0);
        (ties, u32::from(hit))
    }
}
