//! Attacks against brute force.

use std::collections::{BTreeMap, HashMap};

use crate::common::{rng, shuffled, streams};
use nominym_core::control::Control;
use nominym_core::error::Error;
use nominym_core::meaning;
use nominym_core::risk::linkage::{Known, Linked, Sides, link};
use nominym_core::risk::matching::{self, Column};
use nominym_core::risk::{classes, sample};
use nominym_core::taxonomy::Taxonomy;
use nominym_core::taxonomy::measure::Measure;
use proptest::prelude::*;
use rand::RngExt;

/// Distances in whole numbers of some unit, so that the naive sums are exact.
#[derive(Debug, Clone)]
enum Meaning {
    Matrix(Vec<u64>),
    /// None for what is missing.
    Line(Vec<Option<i64>>),
}

impl Meaning {
    fn distance(&self, a: u32, b: u32, unit: u64) -> u64 {
        let (a, b) = (a as usize, b as usize);
        match self {
            Self::Matrix(cells) => cells[a * cells.len().isqrt() + b],
            Self::Line(positions) => match (positions[a], positions[b]) {
                (Some(a), Some(b)) => a.abs_diff(b),
                (None, None) => 0,
                _ => {
                    let known = positions.iter().flatten();
                    let range = known.clone().max().unwrap_or(&0).abs_diff(*known.min().unwrap_or(&0));
                    if range > 0 { range } else { unit }
                }
            },
        }
    }

    fn floats(&self, unit: f64) -> Vec<f64> {
        match self {
            Self::Matrix(cells) => cells.iter().map(|&x| x as f64 / unit).collect(),
            Self::Line(positions) => positions.iter().map(|x| x.map_or(f64::NAN, |x| x as f64 / unit)).collect(),
        }
    }
}

/// A target or a row: a code in each column, an owner and a cell.
#[derive(Debug, Clone, Default)]
struct Side {
    columns: Vec<Vec<u32>>,
    owner: Vec<u32>,
    cell: Vec<u32>,
}

/// Two tables and distances.
#[derive(Debug, Clone)]
struct Case {
    targets: Side,
    release: Side,
    meanings: Vec<Meaning>,
    unit: u64,
    cells: bool,
}

impl Case {
    /// `owners` is the number of owners, and `cells` that of cells, 0 for none. Columns are lines where the flag says so.
    fn new(
        size: (usize, usize),
        columns: &[(usize, bool)],
        levels: u64,
        unit: u64,
        who: (u32, u32),
        seed: u64,
    ) -> Self {
        let mut draw = rng(seed);
        let mut meaning = |d: usize, line: bool| {
            if line {
                let mut position = || draw.random_bool(0.9).then(|| draw.random_range(0..levels as i64) - 40);
                return Meaning::Line((0..d).map(|_| position()).collect());
            }
            let mut cells = vec![0; d * d];
            for (i, j) in (0..d).flat_map(|i| (0..i).map(move |j| (i, j))) {
                cells[i * d + j] = draw.random_range(0..levels);
                cells[j * d + i] = cells[i * d + j];
            }
            Meaning::Matrix(cells)
        };
        let meanings = columns.iter().map(|&(d, line)| meaning(d, line)).collect();
        let mut side = |n: usize| {
            let mut column = |d: u32| -> Vec<u32> { (0..n).map(|_| draw.random_range(0..d)).collect() };
            Side {
                columns: columns.iter().map(|&(d, _)| column(d as u32)).collect(),
                owner: column(who.0),
                cell: column(who.1.max(1)),
            }
        };
        Self { targets: side(size.0), release: side(size.1), meanings, unit, cells: who.1 > 0 }
    }

    fn link(&self, control: &Control) -> Result<Linked, Error> {
        let floats: Vec<Vec<f64>> = self.meanings.iter().map(|m| m.floats(self.unit as f64)).collect();
        self.link_by(&floats, control)
    }

    fn link_by(&self, floats: &[Vec<f64>], control: &Control) -> Result<Linked, Error> {
        let columns = self.targets.columns.iter().zip(&self.release.columns).zip(self.meanings.iter().zip(floats));
        let known = columns.map(|((targets, release), (meaning, floats))| {
            let meaning = match meaning {
                Meaning::Matrix(_) => meaning::Meaning::matrix(floats, floats.len().isqrt())?,
                Meaning::Line(_) => meaning::Meaning::line(floats)?,
            };
            Ok(Known { targets, release, meaning })
        });
        let owners = Sides { targets: &self.targets.owner, release: &self.release.owner };
        let cells = Sides { targets: &self.targets.cell, release: &self.release.cell };
        link(&known.collect::<Result<Vec<_>, Error>>()?, owners, self.cells.then_some(cells), control)
    }

    /// The smallest sum of distances, its rows and those of the owner, for each target: all pairs.
    fn naive(&self) -> Vec<Option<(u64, u32, u32)>> {
        let of_target = |target: usize| {
            let mut best = None;
            for row in 0..self.release.owner.len() {
                if self.cells && self.targets.cell[target] != self.release.cell[row] {
                    continue;
                }
                let columns = self.targets.columns.iter().zip(&self.release.columns).zip(&self.meanings);
                let sum = columns.map(|((t, r), m)| m.distance(t[target], r[row], self.unit)).sum();
                let (least, ties, hits) = best.unwrap_or((sum, 0, 0));
                let hit = u32::from(self.targets.owner[target] == self.release.owner[row]);
                if sum < least {
                    best = Some((sum, 1, hit));
                } else if sum == least {
                    best = Some((sum, ties + 1, hits + hit));
                }
            }
            best
        };
        (0..self.targets.owner.len()).map(of_target).collect()
    }

    fn check(&self) {
        let found = self.link(&Control::new()).unwrap();
        let naive = self.naive();
        assert_eq!(found.distance.len(), naive.len());
        for (target, naive) in naive.into_iter().enumerate() {
            let (distance, counts) = (found.distance[target], (found.ties[target], found.hits[target]));
            let Some((sum, ties, hits)) = naive else {
                assert_eq!((distance, counts), (f64::INFINITY, (0, 0)));
                continue;
            };
            assert_eq!(counts, (ties, hits), "target {target} at {sum}: {self:?}");
            let mean = sum as f64 / self.unit as f64 / self.meanings.len().max(1) as f64;
            assert!((distance - mean).abs() <= 1e-12 * mean, "{distance} {mean}");
            assert_eq!(distance == 0.0, sum == 0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn linkage_is_that_of_brute_force(
        size in (0..120usize, 1..400usize),
        columns in prop::collection::vec((1..30usize, any::<bool>()), 1..5),
        // Many ties, few ties, and sums that need more bits than a lane has.
        levels in prop_oneof![Just(3u64), Just(50), Just(1_000_000)],
        unit in prop_oneof![Just(1u64), Just(7), Just(30)],
        who in (1..150u32, prop_oneof![Just(0u32), Just(2), Just(20), Just(300)]),
        seed in 0..1_000_000u64,
    ) {
        Case::new(size, &columns, levels, unit, who, seed).check();
    }

    #[test]
    fn linkage_on_lines_alone(
        size in (1..120usize, 1..900usize),
        columns in prop::collection::vec((1..200usize, Just(true)), 1..4),
        levels in prop_oneof![Just(3u64), Just(50), Just(20_000)],
        // Units that no single number gives away.
        unit in prop_oneof![Just(1u64), Just(1_000), Just(100_003)],
        who in (1..150u32, 0..4u32),
        seed in 0..1_000_000u64,
    ) {
        let mut case = Case::new(size, &columns, levels, unit, who, seed);
        for meaning in &mut case.meanings {
            // From 0 to 1, as relative to a range.
            let Meaning::Line(positions) = meaning else { unreachable!() };
            positions.extend([Some(0), Some(unit as i64)]);
        }
        case.check();
    }

    #[test]
    fn linkage_by_matrices_alone(
        size in (1..120usize, 1..900usize),
        columns in prop::collection::vec((1..12usize, Just(false)), 0..4),
        levels in prop_oneof![Just(3u64), Just(50), Just(1_000_000)],
        who in (1..150u32, 1..4u32),
        seed in 0..1_000_000u64,
    ) {
        Case::new(size, &columns, levels, 12, who, seed).check();
    }

    #[test]
    fn classes_are_counted(columns in (1..80usize).prop_flat_map(|n| {
        prop::collection::vec(prop::collection::vec(0..4u32, n), 1..4)
    })) {
        let given: Vec<(&[u32], usize)> = columns.iter().map(|c| (&c[..], 4)).collect();
        let mut times: HashMap<Vec<u32>, u32> = HashMap::new();
        for record in 0..columns[0].len() {
            *times.entry(columns.iter().map(|c| c[record]).collect()).or_default() += 1;
        }
        let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
        for size in times.into_values() {
            *sizes.entry(size).or_default() += 1;
        }
        prop_assert_eq!(classes::sizes(&given, &Control::new()).unwrap(), sizes.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn many_tuples_in_many_leaves() {
    // Distances on a line, with a release that is the targets moved a little, so that most are found at once.
    let (n, d) = (6_000, 60usize);
    let mut case = Case::new((n, n), &[(d, false), (d, false), (d, false)], 2, 1, (1, 0), 5);
    let line = || (0..d * d).map(|cell| (cell / d).abs_diff(cell % d) as u64).collect();
    case.meanings = (0..3).map(|_| Meaning::Matrix(line())).collect();
    let mut draw = rng(9);
    case.release.owner = shuffled(n, 3);
    case.targets.owner = (0..n as u32).collect();
    for (targets, release) in case.targets.columns.iter().zip(&mut case.release.columns) {
        for (row, &owner) in release.iter_mut().zip(&case.release.owner) {
            *row = (targets[owner as usize] + draw.random_range(0..3u32)).saturating_sub(1).min(d as u32 - 1);
        }
    }
    case.check();
    let found = case.link(&Control::new()).unwrap();
    let hits: u32 = found.hits.iter().sum();
    assert!(hits > 1_000 && hits < 6_000, "{hits}");
    // The same numbers without a matrix, in any unit.
    let mut along = case.clone();
    along.meanings = (0..3).map(|_| Meaning::Line((0..d as i64).map(Some).collect())).collect();
    assert_eq!(along.link(&Control::new()).unwrap(), found);
    let relative: Vec<f64> = (0..d).map(|x| x as f64 / (d - 1) as f64).collect();
    let found_too = along.link_by(&[relative.clone(), relative.clone(), relative], &Control::new()).unwrap();
    assert_eq!((&found_too.ties, &found_too.hits), (&found.ties, &found.hits));
    // Threads share the work, not the result.
    for (case, threads) in [&case, &along].into_iter().flat_map(|case| [(case, 1), (case, 2), (case, 3)]) {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| case.link(&Control::new())).unwrap(), found);
    }
    for case in [case, along] {
        let control = Control::new();
        case.link(&control).unwrap();
        assert_eq!(control.progress(), (n as u64, n as u64));
        control.stop();
        assert_eq!(case.link(&control), Err(Error::Stopped));
    }
}

/// All pairs.
fn all_pairs(meaning: meaning::Meaning<'_>) -> Vec<f64> {
    let d = meaning.categories() as u32;
    (0..d * d).map(|cell| meaning.distance(cell / d, cell % d)).collect()
}

#[test]
fn attacks_without_a_matrix_find_the_same() {
    let mut draw = rng(21);
    let (n, d, many) = (3_000usize, 300u32, 4_000u32);
    let child: Vec<u32> = (1..2 * many).collect();
    let parent: Vec<u32> = child.iter().map(|&i| draw.random_range(i / 9..=i / 5)).collect();
    let taxonomy = Taxonomy::new(2 * many as usize, &child, &parent).unwrap();
    let missing = nominym_core::MISSING;
    let mut concepts = |d: u32| (1..d).map(|_| draw.random_range(1..2 * many)).chain([missing]).collect::<Vec<u32>>();
    let small = meaning::Tree::new(&taxonomy, &concepts(d), &Measure::WuPalmer).unwrap();
    let large = meaning::Tree::new(&taxonomy, &concepts(many), &Measure::WuPalmer).unwrap();
    let logarithms = meaning::Tree::new(&taxonomy, &concepts(d), &Measure::TaxonomicFeature).unwrap();
    let numbers: Vec<u32> = (0..many).map(|i| i * 7 % 3_900).collect();
    let positions: Vec<f64> = (0..d).map(|i| if i == 5 { f64::NAN } else { f64::from(i * i % 211) / 4.0 }).collect();
    let [small, large, logarithms] = [&small, &large, &logarithms].map(meaning::Meaning::Tree);
    let (values, line) = (meaning::Meaning::Equality(&numbers), meaning::Meaning::line(&positions).unwrap());
    let matrices: Vec<Vec<f64>> = [small, large, logarithms, values, line].map(all_pairs).into();
    let both = |i: usize| {
        let own = [small, large, logarithms, values, line][i];
        (own, meaning::Meaning::matrix(&matrices[i], own.categories()).unwrap())
    };
    for kinds in [&[1, 1][..], &[3, 1], &[0, 4], &[0, 3, 4], &[2, 4], &[1, 2], &[0, 2, 3]] {
        let pairs: Vec<_> = kinds.iter().map(|&kind| both(kind)).collect();
        let mut codes = || -> Vec<Vec<u32>> {
            let of = |meaning: meaning::Meaning<'_>| meaning.categories() as u32;
            pairs.iter().map(|&(own, _)| (0..n).map(|_| draw.random_range(0..of(own))).collect()).collect()
        };
        let (before, mut after) = (codes(), codes());
        let owners: Vec<u32> = (0..n as u32).collect();
        // Half of the values stay.
        for (before, after) in before.iter().zip(&mut after) {
            before.iter().zip(after).filter(|_| draw.random_bool(0.5)).for_each(|(&old, new)| *new = old);
        }
        let cells: Vec<u32> = (0..n as u32).map(|i| i % 3).collect();
        let [own, by_matrix] = [false, true].map(|by_matrix| {
            let chosen = |&(own, matrix): &(_, _)| if by_matrix { matrix } else { own };
            let columns = || before.iter().zip(&after).zip(&pairs);
            let known: Vec<_> =
                columns().map(|((targets, release), pair)| Known { targets, release, meaning: chosen(pair) }).collect();
            let owners = Sides { targets: &owners, release: &owners };
            let of_cells = Sides { targets: &cells, release: &cells };
            let linked = [None, Some(of_cells)].map(|c| link(&known, owners, c, &Control::new()).unwrap());
            let known: Vec<_> =
                columns().map(|((before, after), pair)| Column { before, after, meaning: chosen(pair) }).collect();
            let targets: Vec<u32> = (0..30).collect();
            let some = Some(&targets[..]);
            let matched = matching::attack(&known, &[], 20, some, &streams(1), &Control::new()).unwrap();
            (linked, matched)
        });
        assert_eq!(own.1, by_matrix.1, "{kinds:?}");
        for (own, by_matrix) in own.0.iter().zip(&by_matrix.0) {
            assert_eq!((&own.ties, &own.hits), (&by_matrix.ties, &by_matrix.hits), "{kinds:?}");
            let near = own.distance.iter().zip(&by_matrix.distance).all(|(a, b)| (a - b).abs() <= 1e-9 * b);
            assert!(near, "{kinds:?}");
        }
    }
}

#[test]
fn a_line_needs_no_matrix() {
    // A matrix of so many numbers would take 320 GB.
    let n = 200_000u32;
    let codes: Vec<u32> = (0..n).collect();
    let positions: Vec<f64> = codes.iter().map(|&i| f64::from(i * 7 % n) * 3.0 / 7.0).collect();
    let moved: Vec<u32> = codes.iter().map(|&i| if i % 2 == 0 { i ^ 1 } else { i }).collect();
    let known = [Known { targets: &codes, release: &moved, meaning: meaning::Meaning::line(&positions).unwrap() }];
    let owners = Sides { targets: &codes, release: &codes };
    let found = link(&known, owners, None, &Control::new()).unwrap();
    // Odd numbers are there twice, even ones have two neighbours that are; a circle of 7 steps was cut at its ends.
    for i in 0..n as usize {
        let (distance, ties, hits) = (found.distance[i], found.ties[i], found.hits[i]);
        if i % 2 == 1 {
            assert_eq!((distance, ties, hits), (0.0, 2, 1));
        } else {
            let place = i * 7 % n as usize;
            assert_eq!((distance, ties), (3.0 / 7.0, if place == 0 { 2 } else { 4 }), "{i}");
        }
    }
}

#[test]
fn ties_beside_logarithms_are_exact_on_the_line() {
    let logarithms: Vec<f64> = (0..9u32).map(|cell| f64::from((cell / 3).abs_diff(cell % 3) + 1).ln()).collect();
    let positions: Vec<f64> = (0..1_000).map(|x| f64::from(x) / 999.0).collect();
    let targets: Vec<u32> = (1..999).collect();
    let release: Vec<u32> = targets.iter().flat_map(|&x| [x - 1, x + 1]).filter(|x| x % 2 == 0).collect();
    let (zero, ones) = (vec![0; targets.len()], vec![1; release.len()]);
    let known = [
        Known { targets: &zero, release: &ones, meaning: meaning::Meaning::matrix(&logarithms, 3).unwrap() },
        Known { targets: &targets, release: &release, meaning: meaning::Meaning::line(&positions).unwrap() },
    ];
    let owners = Sides { targets: &zero, release: &ones };
    let found = link(&known, owners, None, &Control::new()).unwrap();
    for (i, &target) in targets.iter().enumerate() {
        let times = |x: u32| release.iter().filter(|&&row| row == x).count() as u32;
        let expected = if target % 2 == 0 { times(target) } else { times(target - 1) + times(target + 1) };
        assert_eq!(found.ties[i], expected, "{target}");
    }
}

#[test]
fn numbers_that_are_no_fractions_find_the_nearest() {
    let mut draw = rng(3);
    let n = 3_000u32;
    let codes: Vec<u32> = (0..n).collect();
    // Most are small, some a million times larger.
    let positions: Vec<f64> = codes.iter().map(|_| draw.random_range(-12.0..12.0f64).exp()).collect();
    let (targets, release) = codes.split_at(1_000);
    let known = [Known { targets, release, meaning: meaning::Meaning::line(&positions).unwrap() }];
    let nearest = |x: f64| release.iter().map(|&r| (positions[r as usize] - x).abs()).fold(f64::MAX, f64::min);
    let found = link(&known, Sides { targets, release }, None, &Control::new()).unwrap();
    for (&target, &distance) in targets.iter().zip(&found.distance) {
        let expected = nearest(positions[target as usize]);
        assert!((distance - expected).abs() <= 1e-8, "{distance} {expected}");
        assert!(distance > 0.0);
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let good = Case::new((4, 5), &[(3, false), (2, true)], 4, 1, (3, 2), 1);
    let changes: [fn(&mut Case); 9] = [
        |case| case.targets.owner.push(0),
        |case| case.release.owner.truncate(4),
        |case| case.targets.cell.push(0),
        |case| case.release.cell.truncate(4),
        |case| case.targets.columns[0][0] = 3,
        |case| case.targets.columns[1][0] = 2,
        |case| case.release.columns[1].truncate(4),
        |case| {
            case.targets.columns.clear();
            case.cells = false;
        },
        |case| {
            case.release.columns.iter_mut().for_each(Vec::clear);
            case.release.cell.clear();
        },
    ];
    good.link(&Control::new()).unwrap();
    for change in changes {
        let mut case = good.clone();
        change(&mut case);
        assert!(matches!(case.link(&Control::new()), Err(Error::Parameter(_))), "{case:?}");
    }
    let floats: Vec<Vec<f64>> = good.meanings.iter().map(|m| m.floats(1.0)).collect();
    for (column, wrong) in [(0, f64::NAN), (0, -1.0), (1, f64::INFINITY)] {
        let mut floats = floats.clone();
        floats[column].fill(wrong);
        assert!(matches!(good.link_by(&floats, &Control::new()), Err(Error::Parameter(_))));
    }
    let cells = [0, 0, 0];
    let meaning = meaning::Meaning::Matrix { distances: &[0.0, 1.0], categories: 2 };
    let known = [Known { targets: &cells, release: &cells, meaning }];
    let sides = Sides { targets: &cells, release: &cells };
    assert!(matches!(link(&known, sides, None, &Control::new()), Err(Error::Parameter(_))));
}

#[test]
fn every_sample_is_as_likely_as_any_other() {
    // 10 samples of 2 out of 5, 5,000 draws: chi-square with 9 degrees of freedom is above 27.9 once in a thousand.
    let mut times: HashMap<Vec<u32>, f64> = HashMap::new();
    for seed in 0..5_000 {
        let drawn = sample::draw(5, 2, &streams(seed)).unwrap();
        assert!(drawn[0] < drawn[1] && drawn[1] < 5);
        *times.entry(drawn).or_default() += 1.0;
    }
    assert_eq!(times.len(), 10);
    let chi_square: f64 = times.values().map(|t| (t - 500.0).powi(2) / 500.0).sum();
    assert!(chi_square < 27.9, "{chi_square}");
    assert_eq!(sample::draw(3, 3, &streams(1)).unwrap(), [0, 1, 2]);
    assert!(sample::draw(3, 4, &streams(1)).is_err());
}
