//! Statistics on counts against sums over records; random streams.

use nominym_core::MISSING;
use nominym_core::control::Control;
use nominym_core::meaning::{Meaning, Tree};
use nominym_core::rng::{Stream, Streams, hypergeometric, uniform};
use nominym_core::stats::distance::{Distances, covariance_squared};
use nominym_core::stats::joint::{Joint, counts};
use nominym_core::taxonomy::distance::matrix;
use nominym_core::taxonomy::information::Information;
use nominym_core::taxonomy::{Measure, Taxonomy};
use proptest::prelude::*;

fn columns() -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
    let code = || prop_oneof![9 => 0u32..20, 1 => Just(MISSING)];
    prop::collection::vec((code(), code()), 1..120).prop_map(|rows| rows.into_iter().unzip())
}

fn symmetric(size: usize, salt: u32) -> Vec<f64> {
    let cell = |i: usize, j: usize| {
        let (low, high) = (i.min(j) as u32, i.max(j) as u32);
        if i == j { 0.0 } else { f64::from((low * 31 + high * 17 + salt) % 23) / 7.0 }
    };
    (0..size * size).map(|k| cell(k / size, k % size)).collect()
}

proptest! {
    #[test]
    fn pairs_are_counted_alike_by_table_and_by_groups((x, y) in columns()) {
        let control = Control::new();
        let small = Joint::new(&x, &y, (20, 20), &control).unwrap();
        // Declaring far more categories than occur takes the other way of counting.
        let large = Joint::new(&x, &y, (20, 1 << 20), &control).unwrap();
        prop_assert_eq!(&small.x, &large.x);
        prop_assert_eq!(&small.y, &large.y);
        prop_assert_eq!(&small.count, &large.count);
        let known = x.iter().zip(&y).filter(|&(&x, &y)| x != MISSING && y != MISSING);
        prop_assert_eq!(small.records(), known.clone().count() as u64);
        for ((x, y), n) in small.x.iter().zip(&small.y).zip(&small.count) {
            prop_assert_eq!(*n, known.clone().filter(|&(a, b)| a == x && b == y).count() as u64);
        }
        let single = counts(&x, 20, &control).unwrap();
        prop_assert_eq!(single.iter().sum::<u64>() as usize, x.iter().filter(|&&c| c != MISSING).count());
    }
}

proptest! {
    // Each goes through all pairs of kinds.
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn covariance_is_the_sum_over_pairs_of_records((x, y) in columns(), salt in any::<u32>()) {
        let control = Control::new();
        let joint = Joint::new(&x, &y, (20, 20), &control).unwrap();
        prop_assume!(joint.records() > 0);
        let rows: Vec<(u32, u32)> = x.iter().zip(&y).filter(|&(&x, &y)| x != MISSING && y != MISSING)
            .map(|(&x, &y)| (x, y)).collect();
        let n = rows.len();
        let centred = |of: &[f64], code: &dyn Fn(usize) -> u32| -> Vec<f64> {
            let cell = |i: usize, j: usize| of[code(i) as usize * 20 + code(j) as usize];
            let mean: Vec<f64> = (0..n).map(|i| (0..n).map(|j| cell(i, j)).sum::<f64>() / n as f64).collect();
            let all = mean.iter().sum::<f64>() / n as f64;
            (0..n * n).map(|k| cell(k / n, k % n) - mean[k / n] - mean[k % n] + all).collect()
        };
        let kinds = Kinds::new(salt);
        let (first, second) = (kinds.all(), Kinds::new(salt / 7 + 1));
        let second = second.all();
        for (a, cells_a) in &first {
            let centred_a = centred(cells_a, &|i| rows[i].0);
            for (b, cells_b) in &second {
                let centred_b = centred(cells_b, &|i| rows[i].1);
                let naive = centred_a.iter().zip(&centred_b).map(|(a, b)| a * b).sum::<f64>() / (n * n) as f64;
                let found = covariance_squared(&joint, *a, *b, &control).unwrap();
                let largest = |cells: &[f64]| cells.iter().copied().fold(1.0, f64::max);
                let scale = largest(cells_a) * largest(cells_b);
                prop_assert!((found - naive).abs() < 1e-11 * scale, "{found} {naive}: {a:?} {b:?}");
            }
        }
    }
}

/// Twenty categories with every kind of distances; the last one of some is what is missing.
struct Kinds {
    matrix: Vec<f64>,
    lines: [Vec<f64>; 2],
    numbers: Vec<u32>,
    taxonomy: Taxonomy,
    graph: Taxonomy,
    concepts: Vec<u32>,
    measures: Vec<Measure>,
    trees: Vec<Tree>,
}

impl Kinds {
    fn new(salt: u32) -> Self {
        let control = Control::new();
        let mixed = |i: u32| (i.wrapping_mul(2_654_435_769) ^ salt).wrapping_mul(40_503) >> 7;
        let line: Vec<f64> = (0..20).map(|i| f64::from(mixed(i) % 17) / 3.0 - 2.0).collect();
        let mut with_missing = line.clone();
        with_missing[19] = f64::NAN;
        let child: Vec<u32> = (1..30).collect();
        let parent: Vec<u32> =
            (1..30).map(|i| if salt.is_multiple_of(3) { i - 1 - mixed(i) % i.min(2) } else { mixed(i) % i }).collect();
        let taxonomy = Taxonomy::new(30, &child, &parent).unwrap();
        // Some have a second parent.
        let second = || {
            (3..30u32)
                .filter(|i| i % 4 == 0)
                .map(|i| (i, mixed(i + 50) % i))
                .filter(|&(i, p)| parent[i as usize - 1] != p)
        };
        let children: Vec<u32> = child.iter().copied().chain(second().map(|s| s.0)).collect();
        let parents: Vec<u32> = parent.iter().copied().chain(second().map(|s| s.1)).collect();
        let graph = Taxonomy::new(30, &children, &parents).unwrap();
        let seco = || Information::seco(&taxonomy, &control).unwrap();
        let measures = vec![
            Measure::Path,
            Measure::LeacockChodorow,
            Measure::WuPalmer,
            Measure::TaxonomicFeature,
            Measure::Resnik(seco()),
            Measure::Lin(seco()),
            Measure::JiangConrath(seco()),
        ];
        let concepts: Vec<u32> = (0..20).map(|i| mixed(i + 100) % 30).collect();
        let mut known = concepts.clone();
        known[19] = MISSING;
        let trees =
            measures.iter().flat_map(|m| [&concepts, &known].map(|c| Tree::new(&taxonomy, c, m).unwrap())).collect();
        let numbers = (0..20).map(|i| mixed(i) % 6).collect();
        let matrix = symmetric(20, salt % 1_000);
        Self { matrix, lines: [line, with_missing], numbers, taxonomy, graph, concepts, measures, trees }
    }

    /// Distances, and all of them as a matrix.
    fn all(&self) -> Vec<(Distances<'_>, Vec<f64>)> {
        let cells = |meaning: Meaning<'_>| (0..400u32).map(|i| meaning.distance(i / 20, i % 20)).collect::<Vec<f64>>();
        let mut meanings = vec![Meaning::matrix(&self.matrix, 20).unwrap(), Meaning::Equality(&self.numbers)];
        meanings.extend(self.lines.iter().map(|line| Meaning::line(line).unwrap()));
        meanings.extend(self.trees.iter().map(Meaning::Tree));
        let mut all: Vec<_> = meanings.into_iter().map(|m| (Distances::Meaning(m), cells(m))).collect();
        for (taxonomy, measure) in [(&self.graph, &self.measures[2]), (&self.taxonomy, &self.measures[6])] {
            let mut cells = vec![0.0; 400];
            matrix(taxonomy, &self.concepts, measure, &mut cells, &Control::new()).unwrap();
            all.push((Distances::Rows { taxonomy, concepts: &self.concepts, measure }, cells));
        }
        all
    }
}

#[test]
fn streams_are_uniform_independent_and_reproducible() {
    let draw =
        |seed, part| uniform(200_000, &Streams::new(seed).unwrap(), Stream::Synthetic(part), &Control::new()).unwrap();
    let (a, b) = (draw(Some(1), 0), draw(Some(1), 1));
    assert_eq!(a, draw(Some(1), 0));
    assert_ne!(a, draw(Some(2), 0));
    assert_ne!(draw(None, 0), draw(None, 0));
    // 16 × 16 cells of two streams: chi-square with 255 degrees of freedom exceeds 377 once in a million runs.
    let mut cells = [0f64; 256];
    for (a, b) in a.iter().zip(&b) {
        cells[(a * 16.0) as usize * 16 + (b * 16.0) as usize] += 1.0;
    }
    let expected = 200_000.0 / 256.0;
    let chi_square: f64 = cells.iter().map(|n| (n - expected).powi(2) / expected).sum();
    assert!(chi_square < 377.0, "{chi_square}");
}

#[test]
fn hypergeometric_numbers_have_their_law() {
    for (all, marked, drawn) in [(10, 4, 3), (50, 25, 40), (1555, 1457, 109), (400, 60, 300), (1_000_000, 400_000, 90)]
    {
        let mut rng = Streams::new(Some(all)).unwrap().generator(Stream::Synthetic(1), 2);
        let runs = 100_000;
        let mut seen = vec![0f64; drawn as usize + 1];
        for _ in 0..runs {
            seen[hypergeometric(all, marked, drawn, &mut rng) as usize] += 1.0;
        }
        let ln_choose = |n: u64, k: u64| (0..k).map(|i| ((n - i) as f64 / (i + 1) as f64).ln()).sum::<f64>();
        let (mut chi_square, mut freedom, mut rare) = (0.0, -1.0, (0.0, 0.0));
        for (x, &n) in seen.iter().enumerate() {
            let x = x as u64;
            if x > marked || drawn - x > all - marked {
                assert_eq!(n, 0.0);
                continue;
            }
            let ln_p = ln_choose(marked, x) + ln_choose(all - marked, drawn - x) - ln_choose(all, drawn);
            let expected = f64::from(runs) * ln_p.exp();
            if expected < 10.0 {
                rare = (rare.0 + n, rare.1 + expected);
            } else {
                chi_square += (n - expected).powi(2) / expected;
                freedom += 1.0;
            }
        }
        let rare: (f64, f64) = rare;
        assert!((rare.0 - rare.1).abs() < 5.0 * rare.1.sqrt() + 5.0, "{rare:?}");
        // More than 5 standard deviations: less than once in a hundred thousand runs; seeds are fixed.
        assert!((chi_square - freedom) / (2.0f64 * freedom).sqrt() < 5.0, "{all} {marked} {drawn}: {chi_square}");
    }
}
