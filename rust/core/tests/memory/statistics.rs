//! Counts, statistics and distortion.

use nominym_core::coded::Coded;
use nominym_core::control::Control;
use nominym_core::distortion::{compare, distinct};
use nominym_core::meaning::{Meaning, Tree};
use nominym_core::stats::distance::{Distances, covariance_squared};
use nominym_core::stats::joint::{self, Joint};
use nominym_core::stats::marginality::{Marginality, digits};
use nominym_core::taxonomy::{Measure, Taxonomy};

use super::swaps::{SHAPES, columns, matrix, some};
use super::{alone, check};

#[test]
fn values_are_counted() {
    let _alone = alone();
    let control = Control::new();
    for (n, d) in [(3_000_000, 10), (1_000_000, 400_000), (2_000, 100_000), (100, 3)] {
        let codes: Vec<u32> = (0..n).map(|i| some(i, d, false)).collect();
        check(&format!("{d} values of {n}"), || joint::counts(&codes, d, &control).unwrap());
    }
    for (n, dx, dy, skew) in [
        (2_000_000, 5, 7, false),
        (1_000_000, 1_500, 1_500, false),
        (500_000, 1_500, 1_500, true),
        (500_000, 3_000, 3_000, false),
        (1_000, 2_000, 2_000, false),
        (300_000, 20, 300_000, false),
        (300_000, 300_000, 20, false),
        (10, 3, 3, false),
    ] {
        let x: Vec<u32> = (0..n).map(|i| some(2 * i, dx, skew)).collect();
        let y: Vec<u32> = (0..n).map(|i| some(2 * i + 1, dy, skew)).collect();
        check(&format!("pairs of {dx} × {dy} of {n}"), || Joint::new(&x, &y, (dx, dy), &control).unwrap());
    }
}

#[test]
fn covariances() {
    let _alone = alone();
    for (n, d) in [(1_000_000, 10), (300_000, 900), (1_000, 900)] {
        let [x, y] = [0, 1].map(|by| (0..n).map(|i| some(2 * i + by, d, false)).collect::<Vec<u32>>());
        let joint = Joint::new(&x, &y, (d, d), &Control::new()).unwrap();
        let cells = matrix(d, d);
        check(&format!("covariance of {d} values in {n} records"), || {
            let matrix = Distances::Meaning(Meaning::matrix(&cells, d).unwrap());
            covariance_squared(&joint, matrix, matrix, &Control::new()).unwrap()
        });
    }
}

#[test]
fn covariances_without_matrices() {
    let _alone = alone();
    for (n, d, children) in [(80_000, 20_000, 4), (80_000, 80_000, 400), (200_000, 200, 3), (2_000, 3_000, 3)] {
        let [x, y] = [0, 1].map(|by| (0..n).map(|i| some(2 * i + by, d, by == 0)).collect::<Vec<u32>>());
        let joint = Joint::new(&x, &y, (d, d), &Control::new()).unwrap();
        let every: Vec<u32> = (0..d as u32).collect();
        let parent: Vec<u32> = every[1..].iter().map(|c| (c - 1) / children).collect();
        let taxonomy = Taxonomy::new(d, &every[1..], &parent).unwrap();
        let tree = Tree::new(&taxonomy, &every, &Measure::WuPalmer).unwrap();
        let positions: Vec<f64> = every.iter().map(|&c| f64::from(c).sqrt()).collect();
        let cells = matrix(if d > 1_000 { 0 } else { d }, d);
        let mut kinds = vec![
            Distances::Meaning(Meaning::Tree(&tree)),
            Distances::Meaning(Meaning::line(&positions).unwrap()),
            Distances::Meaning(Meaning::Equality(&every)),
        ];
        if d <= 5_000 {
            kinds.push(Distances::Rows { taxonomy: &taxonomy, concepts: &every, measure: &Measure::WuPalmer });
        }
        if d <= 1_000 {
            kinds.push(Distances::Meaning(Meaning::matrix(&cells, d).unwrap()));
        }
        for (i, &a) in kinds.iter().enumerate() {
            for (j, &b) in kinds.iter().enumerate() {
                check(&format!("covariance of {d} values in {n} records, {i} and {j}"), || {
                    covariance_squared(&joint, a, b, &Control::new()).unwrap()
                });
            }
        }
    }
}

#[test]
fn marginalities() {
    let _alone = alone();
    for (n, children) in [(400_000, 4), (2_000, 3), (100_000, 99_999)] {
        let child: Vec<u32> = (1..n as u32).collect();
        let parent: Vec<u32> = (1..n).map(|c| ((c - 1) / children) as u32).collect();
        let tree = Taxonomy::new(n, &child, &parent).unwrap();
        let counts = vec![1; n];
        check(&format!("marginality of {n}"), || Marginality::new(&tree, &counts).unwrap());
        check(&format!("digits of {n}"), || digits(&tree, &counts).unwrap());
        let known = Marginality::new(&tree, &counts).unwrap();
        check(&format!("distances of {n}"), || known.distances(&tree, &child, &parent, &Control::new()).unwrap());
    }
}

#[test]
fn distortions() {
    let _alone = alone();
    for (n, m, d, skew) in SHAPES {
        let (before, after) = (columns(n, m, d, skew), columns(n, m, d, !skew));
        let [before, after] = [&before, &after]
            .map(|columns| columns.iter().map(|codes| Coded { codes, categories: d }).collect::<Vec<_>>());
        let single: Vec<Vec<usize>> = (0..m).map(|c| vec![c]).collect();
        let pairs: Vec<Vec<usize>> = (1..m).map(|c| vec![0, c]).collect();
        for sets in [single, pairs, vec![(0..m).collect()]].iter().filter(|sets| !sets.is_empty()) {
            let shape = format!("{} sets of {n} × {m}, {d} values", sets.len());
            check(&shape, || compare(&before, &after, sets, &Control::new()).unwrap());
        }
        let shape = format!("distinct tuples of {n} × {m}, {d} values");
        check(&shape, || distinct(&before, &after, &Control::new()).unwrap());
    }
}
