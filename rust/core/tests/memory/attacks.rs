//! Attacks.

use nominym_core::control::Control;
use nominym_core::meaning::Meaning;
use nominym_core::risk::linkage::{Known, Sides, link};
use nominym_core::risk::matching::{self, Column};
use nominym_core::risk::recoding::{self, Anchor};
use nominym_core::risk::{bundles, classes, informed, sample};
use nominym_core::tuples::Codes;

use super::swaps::{Many, SHAPES, columns, matrix, some, streams};
use super::{alone, check};

fn codes(columns: &[Vec<u32>], d: usize) -> Vec<Codes<'_>> {
    columns.iter().map(|c| (&c[..], d)).collect()
}

#[test]
fn classes_and_samples() {
    let _alone = alone();
    for (n, m, d, skew) in SHAPES {
        let columns = columns(n, m, d, skew);
        check(&format!("classes of {n} × {m}, {d} values"), || {
            classes::sizes(&codes(&columns, d), &Control::new()).unwrap()
        });
    }
    for (n, size) in [(1_000_000, 10), (1_000_000, 400_000), (3_000_000, 90_000), (1_000_000, 1_000_000)] {
        check(&format!("{size} of {n}"), || sample::draw(n, size, &streams()).unwrap());
    }
}

#[test]
fn linkage() {
    let _alone = alone();
    for (n, m, d, skew) in SHAPES {
        let n = n / 10;
        let (before, after) = (columns(n, m, d, skew), columns(n, m, d, !skew));
        let distances = matrix(d, d.min(50));
        let positions: Vec<f64> = (0..d).map(|i| i as f64).collect();
        let cell: Vec<u32> = (0..n).map(|i| some(i, 5, false)).collect();
        let owners: Vec<u32> = (0..n as u32).collect();
        for lines in [0, 1, m] {
            let meaning =
                |c: usize| if c < lines { Meaning::line(&positions) } else { Meaning::matrix(&distances, d) }.unwrap();
            let known: Vec<Known<'_>> =
                (0..m).map(|c| Known { targets: &before[c], release: &after[c], meaning: meaning(c) }).collect();
            let owners = Sides { targets: &owners, release: &owners };
            for cells in [None, Some(Sides { targets: &cell, release: &cell })] {
                let shape = format!("{n} × {m}, {d} values, {lines} lines, cells {}", cells.is_some());
                check(&shape, || link(&known, owners, cells, &Control::new()).unwrap());
            }
        }
    }
}

#[test]
fn linkage_and_matching_without_matrices() {
    let _alone = alone();
    for (n, m, d) in [(20_000, 1, 20_000), (8_000, 2, 30_000), (5_000, 6, 4_000), (40_000, 3, 2_500)] {
        let many = Many::new(d);
        let owners: Vec<u32> = (0..n as u32).collect();
        let owners = Sides { targets: &owners, release: &owners };
        for first in 0..3 {
            let (before, after) = (columns(n, m, d, first == 1), columns(n, m, d, first != 1));
            let pairs = || before.iter().zip(&after).enumerate();
            let known: Vec<Known<'_>> = pairs()
                .map(|(c, (targets, release))| Known { targets, release, meaning: many.meaning(first + c) })
                .collect();
            let shape = format!("{n} × {m}, {d} values without matrices, from {first}");
            check(&shape, || link(&known, owners, None, &Control::new()).unwrap());
            let known: Vec<Column<'_>> = pairs()
                .map(|(c, (before, after))| Column { before, after, meaning: many.meaning(first + c) })
                .collect();
            check(&format!("matching {shape}"), || {
                matching::attack(&known, &[], 30, Some(&[0, 7]), &streams(), &Control::new()).unwrap()
            });
        }
    }
}

#[test]
fn informed_attacks() {
    let _alone = alone();
    for (n, m, d, skew) in SHAPES {
        let n = n / 4;
        let (masked, kept) = (columns(n, m, d, skew), columns(n, 2, 2 * d, !skew));
        for k in [2, 10, 400] {
            let group_of: Vec<u32> = (0..n).map(|i| (i / k) as u32).collect();
            let groups = n.div_ceil(k) as u32;
            let few: Vec<u32> = (0..groups.min(3)).collect();
            for sampled in if k == 2 { vec![None, Some(&few[..])] } else { vec![Some(&few[..])] } {
                check(&format!("{n} × {m}, {d} values, k = {k}, sampled {}", sampled.is_some()), || {
                    informed::attack(&codes(&masked, d), &codes(&kept, 2 * d), &group_of, sampled, &Control::new())
                });
            }
        }
    }
}

#[test]
fn matchings() {
    let _alone = alone();
    for (n, m, d, skew) in SHAPES {
        let n = n / 20;
        let (before, after) = (columns(n, m, d, skew), columns(n, m, d, !skew));
        let distances = matrix(d, d);
        let meaning = Meaning::matrix(&distances, d).unwrap();
        let known: Vec<Column<'_>> =
            before.iter().zip(&after).map(|(before, after)| Column { before, after, meaning }).collect();
        let targets: Vec<u32> = (0..n.min(20) as u32).collect();
        for (k, size) in [(2, 10), (60, 100), (n, 30)] {
            let group_of: Vec<u32> = (0..n).map(|i| (i / k) as u32).collect();
            for pools in [vec![], vec![&group_of[..]]] {
                check(&format!("{n} × {m}, {d} values, pools of {k}, {} size {size}", pools.len()), || {
                    matching::attack(&known, &pools, size, Some(&targets), &streams(), &Control::new()).unwrap()
                });
            }
        }
    }
}

#[test]
fn recodings() {
    let _alone = alone();
    for (n, m, d, skew) in SHAPES {
        let n = n / 8;
        let before = columns(n, m, d, skew);
        let renamed: Vec<Vec<u32>> =
            before.iter().map(|codes| codes.iter().map(|&code| d as u32 - 1 - code).collect()).collect();
        let anchor: Vec<u32> = (0..n).map(|i| some(i, 30, false)).collect();
        let anchors = [Anchor { before: &anchor, after: &anchor, categories: 30 }];
        let other = columns(n, m, d, !skew);
        for (what, after) in [("renamed", &renamed), ("changed", &other)] {
            if m < 15 {
                check(&format!("{what} {n} × {m}, {d} values"), || {
                    recoding::attack(&codes(&before, d), &codes(after, d), &anchors, &streams(), &Control::new())
                });
            }
        }
    }
}

#[test]
fn bundled_rows() {
    let _alone = alone();
    for (n, m, d, skew) in SHAPES {
        let (before, after) = (columns(n, m, d, skew), columns(n, m, d, !skew));
        let targets: Vec<u32> = (0..10).collect();
        for units in [n, n / 3] {
            let unit_of: Vec<u32> = (0..n).map(|i| (i % units) as u32).collect();
            check(&format!("{units} units of {n} × {m}, {d} values"), || {
                let of = (&unit_of[..], &unit_of[..]);
                let (before, after) = (codes(&before, d), codes(&after, d));
                bundles::attack(&before, &after, of, units, Some(&targets), &Control::new()).unwrap()
            });
        }
    }
}
