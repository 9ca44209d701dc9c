//! Attacks against brute force.

use std::collections::{BTreeMap, HashMap};

use crate::common::{rng, shuffled, streams};
use nominym_core::control::Control;
use nominym_core::error::Error;
use nominym_core::risk::linkage::{Known, Tied, link};
use nominym_core::risk::{classes, sample};
use proptest::prelude::*;
use rand::RngExt;

/// Two tables and distances. Distances are whole numbers of some unit, so that the naive sums are exact.
#[derive(Debug, Clone)]
struct Case {
    targets: Vec<Vec<u32>>,
    release: Vec<Vec<u32>>,
    matrices: Vec<Vec<u32>>,
    unit: f64,
    own: Vec<u32>,
}

impl Case {
    fn new(size: (usize, usize), sizes: &[usize], levels: u32, unit: f64, seed: u64) -> Self {
        let mut draw = rng(seed);
        let mut column = |n: usize, d: usize| -> Vec<u32> { (0..n).map(|_| draw.random_range(0..d as u32)).collect() };
        let targets = sizes.iter().map(|&d| column(size.0, d)).collect();
        let release = sizes.iter().map(|&d| column(size.1, d)).collect();
        let own = column(size.0, size.1);
        let mut draw = rng(seed + 1_000_000);
        let mut matrix = |d: usize| {
            let mut cells = vec![0; d * d];
            for (i, j) in (0..d).flat_map(|i| (0..i).map(move |j| (i, j))) {
                cells[i * d + j] = draw.random_range(0..levels);
                cells[j * d + i] = cells[i * d + j];
            }
            cells
        };
        Self { targets, release, matrices: sizes.iter().map(|&d| matrix(d)).collect(), unit, own }
    }

    fn floats(&self) -> Vec<Vec<f64>> {
        self.matrices.iter().map(|m| m.iter().map(|&x| f64::from(x) / self.unit).collect()).collect()
    }

    fn link(&self, control: &Control) -> Result<Vec<Tied>, Error> {
        let floats = self.floats();
        link(&known(&self.targets, &self.release, &floats), &self.own, control)
    }

    fn naive(&self) -> Vec<Tied> {
        let mut found: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        for (target, &own) in self.own.iter().enumerate() {
            let distance = |row: usize| -> u32 {
                let columns = self.targets.iter().zip(&self.release).zip(&self.matrices);
                columns.map(|((t, r), m)| m[t[target] as usize * m.len().isqrt() + r[row] as usize]).sum()
            };
            let all: Vec<u32> = (0..self.release[0].len()).map(distance).collect();
            let least = *all.iter().min().unwrap();
            let cell = found.entry(all.iter().filter(|&&x| x == least).count() as u32).or_default();
            *cell = (cell.0 + 1, cell.1 + u64::from(all[own as usize] == least));
        }
        found.into_iter().map(|(rows, (targets, hits))| Tied { rows, targets, hits }).collect()
    }
}

fn known<'a>(targets: &'a [Vec<u32>], release: &'a [Vec<u32>], floats: &'a [Vec<f64>]) -> Vec<Known<'a>> {
    let columns = targets.iter().zip(release).zip(floats);
    columns
        .map(|((targets, release), distances)| {
            let categories = distances.len().isqrt();
            Known { targets, release, distances, categories }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn linkage_is_that_of_brute_force(
        size in (1..120usize, 1..400usize),
        sizes in prop::collection::vec(1..30usize, 1..5),
        // Many ties, few ties, and sums that need more bits than a lane has.
        levels in prop_oneof![Just(3u32), Just(50), Just(1_000_000)],
        unit in prop_oneof![Just(1.0), Just(7.0), Just(30.0)],
        seed in 0..1_000_000u64,
    ) {
        let case = Case::new(size, &sizes, levels, unit, seed);
        prop_assert_eq!(case.link(&Control::new()).unwrap(), case.naive());
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
    let mut case = Case::new((n, n), &[d, d, d], 2, 1.0, 5);
    let line: Vec<u32> = (0..d * d).map(|cell| (cell / d).abs_diff(cell % d) as u32).collect();
    case.matrices = vec![line; 3];
    let mut draw = rng(9);
    case.own = shuffled(n, 3);
    for (targets, release) in case.targets.iter().zip(&mut case.release) {
        for (&target, &row) in targets.iter().zip(&case.own) {
            release[row as usize] = (target + draw.random_range(0..3u32)).saturating_sub(1).min(d as u32 - 1);
        }
    }
    let found = case.link(&Control::new()).unwrap();
    assert_eq!(found, case.naive());
    let hits: u64 = found.iter().map(|t| t.hits).sum();
    assert!(hits > 1_000 && hits < 6_000, "{hits}");
    // Threads share the work, not the result.
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| case.link(&Control::new())).unwrap(), found);
    }
    let control = Control::new();
    case.link(&control).unwrap();
    assert_eq!(control.progress(), (n as u64, n as u64));
    control.stop();
    assert_eq!(case.link(&control), Err(Error::Stopped));
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let good = Case::new((4, 5), &[3, 2], 4, 1.0, 1);
    let changes: [fn(&mut Case); 7] = [
        |case| case.own[0] = 5,
        |case| case.own.push(0),
        |case| case.targets[0][0] = 3,
        |case| case.release[1].truncate(4),
        |case| case.matrices[0].truncate(4),
        |case| case.targets.clear(),
        |case| {
            case.release.iter_mut().for_each(Vec::clear);
        },
    ];
    for change in changes {
        let mut case = good.clone();
        change(&mut case);
        assert!(matches!(case.link(&Control::new()), Err(Error::Parameter(_))), "{case:?}");
    }
    let mut distances = good.floats();
    distances[0][1] = f64::NAN;
    let found = link(&known(&good.targets, &good.release, &distances), &good.own, &Control::new());
    assert!(matches!(found, Err(Error::Parameter(_))));
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
