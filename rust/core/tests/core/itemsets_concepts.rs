//! Closures of records under a taxonomy, their majorities, and semantic errors beside their definitions.

use std::collections::BTreeSet;

use nominym_core::control::Control;
use nominym_core::itemsets::Itemsets;
use nominym_core::itemsets::best_match::{Named, best_match};
use nominym_core::itemsets::closure::Concepts;
use nominym_core::itemsets::vote;
use nominym_core::lists::Lists;
use nominym_core::taxonomy::{Measure, Taxonomy, distance};
use proptest::prelude::*;

use super::common::{links, sets, shuffled};

/// A taxonomy, and rows of its concepts.
fn rows() -> impl Strategy<Value = (Taxonomy, Vec<Vec<u32>>)> {
    let row = prop::collection::vec(any::<prop::sample::Index>(), 0..5);
    (links(15), prop::collection::vec(row, 1..24)).prop_map(|((n, child, parent), rows)| {
        let row = |row: Vec<prop::sample::Index>| -> Vec<u32> {
            row.iter().map(|i| i.index(n) as u32).collect::<BTreeSet<_>>().into_iter().collect()
        };
        (Taxonomy::new(n, &child, &parent).unwrap(), rows.into_iter().map(row).collect())
    })
}

fn over(taxonomy: &Taxonomy, rows: &[Vec<u32>]) -> (Itemsets, Vec<u32>) {
    (sets(taxonomy.len() as u32, rows), (0..taxonomy.len() as u32).collect())
}

fn above(taxonomy: &Taxonomy, row: &[u32]) -> BTreeSet<u32> {
    let all = row.iter().flat_map(|&c| taxonomy.subsumers(c).unwrap());
    all.filter(|&c| c != taxonomy.root()).collect()
}

fn lowest(taxonomy: &Taxonomy, row: &[u32]) -> BTreeSet<u32> {
    let below = |c: u32| row.iter().any(|&x| x != c && taxonomy.subsumers(x).unwrap().contains(&c));
    row.iter().copied().filter(|&c| c != taxonomy.root() && !below(c)).collect()
}

fn named(found: &Itemsets, concepts: &[u32]) -> Vec<BTreeSet<u32>> {
    found.rows().map(|row| row.iter().map(|&i| concepts[i as usize]).collect()).collect()
}

proptest! {
    #[test]
    fn closures_and_lowest_concepts((taxonomy, rows) in rows()) {
        let (given, concepts) = over(&taxonomy, &rows);
        let known = Concepts::new(&taxonomy, &given, &concepts).unwrap();
        let closed = known.closed(&given, &Control::new()).unwrap();
        let expected: Vec<_> = rows.iter().map(|row| above(&taxonomy, row)).collect();
        prop_assert_eq!(named(&closed, &known.concepts), expected);
        // Rows are as every kernel needs them.
        let checked = Itemsets::new(closed.n_items(), closed.starts().to_vec(), closed.items().to_vec()).unwrap();
        prop_assert_eq!(&checked, &closed);
        prop_assert!(closed.frequencies().unwrap().iter().all(|&times| times > 0));
        let low = known.lowest(&given, &Control::new()).unwrap();
        let expected: Vec<_> = rows.iter().map(|row| lowest(&taxonomy, row)).collect();
        prop_assert_eq!(named(&low, &known.concepts), expected);
    }

    /// Ties included: groups of two and four are full of them.
    #[test]
    fn the_majority_of_closed_sets_is_closed((taxonomy, rows) in rows(), size in 1usize..6, seed in 0u64..9) {
        let (given, concepts) = over(&taxonomy, &rows);
        let known = Concepts::new(&taxonomy, &given, &concepts).unwrap();
        let closed = known.closed(&given, &Control::new()).unwrap();
        let order = shuffled(rows.len(), seed);
        let mut groups = Lists::builder(rows.len().div_ceil(size), rows.len());
        for group in order.chunks(size) {
            groups.push(group.iter().copied());
        }
        let bases = [
            vote::groups(&closed, &groups, None, &Control::new()).unwrap().base,
            vote::ring(&closed, &order, size.min(rows.len()), None, &Control::new()).unwrap().base,
        ];
        for base in bases {
            for row in named(&base, &known.concepts) {
                prop_assert_eq!(above(&taxonomy, &row.iter().copied().collect::<Vec<_>>()), row);
            }
        }
    }

    #[test]
    fn best_matches_are_the_definition((taxonomy, rows) in rows(), seed in 0u64..9) {
        let (given, concepts) = over(&taxonomy, &rows);
        let side = Named { sets: &given, concepts: &concepts };
        let order = shuffled(rows.len(), seed);
        let found = best_match(&taxonomy, side, side, &order, &Measure::WuPalmer, &Control::new()).unwrap();
        let root = vec![taxonomy.root()];
        let or = |row: &[u32]| if row.is_empty() { root.clone() } else { row.to_vec() };
        let nearest = |a: u32, b: &[u32]| {
            let measured = distance::pairs(&taxonomy, &vec![a; b.len()], b, &Measure::WuPalmer, &Control::new()).unwrap();
            measured.into_iter().fold(f64::INFINITY, f64::min)
        };
        let mean = |a: &[u32], b: &[u32]| a.iter().map(|&x| nearest(x, b)).sum::<f64>() / a.len() as f64;
        let errors = rows.iter().zip(&order).map(|(row, &other)| {
            let (a, b) = (or(row), or(&rows[other as usize]));
            f64::midpoint(mean(&a, &b), mean(&b, &a))
        });
        let expected = errors.sum::<f64>() / rows.len() as f64;
        prop_assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let taxonomy = Taxonomy::new(3, &[1, 2], &[0, 1]).unwrap();
    let given = sets(2, &[vec![0], vec![1]]);
    assert!(Concepts::new(&taxonomy, &given, &[1]).is_err());
    assert!(Concepts::new(&taxonomy, &given, &[1, 3]).is_err());
    let known = Concepts::new(&taxonomy, &given, &[1, 2]).unwrap();
    assert!(known.closed(&sets(3, &[vec![2]]), &Control::new()).is_err());
    let (good, bad) = (Named { sets: &given, concepts: &[1, 2] }, Named { sets: &given, concepts: &[1, 9] });
    let measured = |a, b, rows: &[u32]| best_match(&taxonomy, a, b, rows, &Measure::WuPalmer, &Control::new());
    assert!(measured(good, bad, &[0, 1]).is_err());
    assert!(measured(good, good, &[0]).is_err());
    assert!(measured(good, good, &[0, 2]).is_err());
    assert!(measured(good, good, &[0, 1]).unwrap().abs() < 1e-15);
    let stopped = Control::new();
    stopped.stop();
    assert!(known.closed(&given, &stopped).is_err());
}
