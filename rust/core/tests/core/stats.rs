//! Statistics on counts against sums over records; random streams.

use nominym_core::MISSING;
use nominym_core::control::Control;
use nominym_core::rng::{Stream, Streams, hypergeometric, uniform};
use nominym_core::stats::distance::{Matrix, covariance_squared};
use nominym_core::stats::joint::{Joint, counts};
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

    #[test]
    fn covariance_is_the_sum_over_pairs_of_records((x, y) in columns()) {
        let control = Control::new();
        let joint = Joint::new(&x, &y, (20, 20), &control).unwrap();
        prop_assume!(joint.records() > 0);
        let (a, b) = (symmetric(20, 1), symmetric(20, 5));
        let rows: Vec<(usize, usize)> = x.iter().zip(&y).filter(|&(&x, &y)| x != MISSING && y != MISSING)
            .map(|(&x, &y)| (x as usize, y as usize)).collect();
        let n = rows.len() as f64;
        let centred = |m: &[f64], of: &dyn Fn(usize) -> usize| -> Vec<f64> {
            let cell = |i: usize, j: usize| m[of(i) * 20 + of(j)];
            let mean: Vec<f64> = (0..rows.len()).map(|i| (0..rows.len()).map(|j| cell(i, j)).sum::<f64>() / n).collect();
            let all = mean.iter().sum::<f64>() / n;
            (0..rows.len() * rows.len()).map(|k| {
                let (i, j) = (k / rows.len(), k % rows.len());
                cell(i, j) - mean[i] - mean[j] + all
            }).collect()
        };
        let (da, db) = (centred(&a, &|i| rows[i].0), centred(&b, &|i| rows[i].1));
        let naive = da.iter().zip(&db).map(|(a, b)| a * b).sum::<f64>() / (n * n);
        let found = covariance_squared(
            &joint, Matrix::new(&a, 20).unwrap(), Matrix::new(&b, 20).unwrap(), &control).unwrap();
        prop_assert!((found - naive).abs() < 1e-9, "{found} {naive}");
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
