//! Distortion against its formulas, on counts by tuple.

use std::collections::BTreeMap;

use nominym_core::MISSING;
use nominym_core::coded::Coded;
use nominym_core::control::Control;
use nominym_core::distortion::{compare, distinct};
use proptest::prelude::*;

type Counts = BTreeMap<Vec<u32>, f64>;

fn counts(columns: &[Vec<u32>], set: &[usize]) -> Counts {
    let mut found = BTreeMap::new();
    let tuples = (0..columns[0].len()).map(|record| set.iter().map(|&c| columns[c][record]).collect());
    for tuple in tuples {
        *found.entry(tuple).or_insert(0.0) += 1.0;
    }
    found
}

fn entropy(counts: &Counts, n: f64) -> f64 {
    counts.values().map(|c| -c / n * (c / n).ln()).sum()
}

fn association(counts: &Counts, n: f64) -> (f64, f64) {
    let margin = |place: usize| {
        let mut found: BTreeMap<u32, f64> = BTreeMap::new();
        for (tuple, c) in counts {
            *found.entry(tuple[place]).or_default() += c;
        }
        found
    };
    let (rows, columns) = (margin(0), margin(1));
    let mut chi = 0.0;
    for (x, r) in &rows {
        for (y, c) in &columns {
            let expected = r * c / n;
            chi += (counts.get(&vec![*x, *y]).unwrap_or(&0.0) - expected).powi(2) / expected;
        }
    }
    let least = rows.len().min(columns.len()) as f64;
    if least < 2.0 { (0.0, 0.0) } else { ((chi / n / (least - 1.0)).sqrt(), (chi / (chi + n)).sqrt()) }
}

fn table(n: usize) -> impl Strategy<Value = Vec<Vec<u32>>> {
    let code = prop_oneof![5 => 0..4u32, 1 => Just(MISSING)];
    prop::collection::vec(prop::collection::vec(code, n), 3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn formulas_hold(
        (before, after) in (1..50usize, 0..20usize).prop_flat_map(|(n, more)| (table(n), table(n + more / 10 * more))),
        // With so many categories, tuples are sorted, and of three columns more are possible than a number can tell.
        categories in prop_oneof![Just(4usize), Just(1 << 20), Just(1 << 30)],
    ) {
        let (n, m) = (before[0].len() as f64, after[0].len() as f64);
        let sets = [vec![0], vec![0, 1], vec![2, 1], vec![0, 1, 2]];
        let coded = |table: &'_ [Vec<u32>]| -> Vec<Coded<'static>> {
            table.iter().map(|codes| Coded { codes: Vec::leak(codes.clone()), categories }).collect()
        };
        // A table of a column's margins is as large as its categories, so pairs are left out where these are many.
        let chosen: Vec<Vec<usize>> =
            sets.iter().filter(|set| categories < 1 << 30 || set.len() != 2).cloned().collect();
        let found = compare(&coded(&before), &coded(&after), &chosen, &Control::new()).unwrap();
        for (set, found) in chosen.iter().zip(found) {
            let (b, a) = (counts(&before, set), counts(&after, set));
            let mut tuples: Vec<_> = b.keys().chain(a.keys()).cloned().collect();
            tuples.sort();
            tuples.dedup();
            let of = |counts: &Counts, tuple| *counts.get(tuple).unwrap_or(&0.0);
            let half = |term: &dyn Fn(f64, f64) -> f64| {
                tuples.iter().map(|t| term(of(&b, t) / n, of(&a, t) / m)).sum::<f64>() / 2.0
            };
            let near = |x: f64, y: f64| (x - y).abs() < 1e-12;
            prop_assert!(near(found.hellinger.powi(2), half(&|f, g| (f.sqrt() - g.sqrt()).powi(2))));
            prop_assert!(near(found.total_variation, half(&|f, g| (f - g).abs())));
            prop_assert!(near(found.entropy, entropy(&a, m) - entropy(&b, n)));
            let score = |t| (of(&b, t) + of(&a, t)) * (of(&a, t) / (of(&b, t) + of(&a, t)) - m / (n + m)).powi(2);
            prop_assert!(near(found.propensity, tuples.iter().map(score).sum::<f64>() / (n + m)));
            prop_assert_eq!(found.cells, tuples.len());
            prop_assert_eq!(found.association.is_some(), set.len() == 2);
            if let Some((v, c)) = found.association {
                let (was, is) = (association(&b, n), association(&a, m));
                // Roots of what may be 0 but for rounding.
                prop_assert!((v - (was.0 - is.0)).abs() < 1e-7 && (c - (was.1 - is.1)).abs() < 1e-7);
            }
        }
        let found = distinct(&coded(&before), &coded(&after), &Control::new()).unwrap();
        let level = |&code: &u32| if code == MISSING { categories as u32 } else { code };
        let [b, a] = [&before, &after].map(|table| {
            let levels: Vec<Vec<u32>> = table.iter().map(|codes| codes.iter().map(level).collect()).collect();
            counts(&levels, &[0, 1, 2])
        });
        let tuples: Vec<Vec<u32>> =
            (0..found.before.len()).map(|cell| found.codes.iter().map(|codes| codes[cell]).collect()).collect();
        let mut expected: Vec<Vec<u32>> = b.keys().chain(a.keys()).cloned().collect();
        expected.sort();
        expected.dedup();
        prop_assert_eq!(&tuples, &expected);
        for (tuple, (&old, &new)) in tuples.iter().zip(found.before.iter().zip(&found.after)) {
            let of = |counts: &Counts| *counts.get(tuple).unwrap_or(&0.0);
            prop_assert_eq!((f64::from(old), f64::from(new)), (of(&b), of(&a)));
        }
    }
}

#[test]
fn bad_input_is_refused() {
    let control = Control::new();
    let (short, long) = (Coded { codes: &[0], categories: 2 }, Coded { codes: &[0, 1], categories: 2 });
    let fails = |before: &[Coded<'_>], after: &[Coded<'_>], sets: &[Vec<usize>]| {
        compare(before, after, sets, &control).unwrap_err().to_string()
    };
    assert_eq!(fails(&[long, short], &[long, long], &[vec![0]]), "columns of 2 and 1 records");
    assert!(fails(&[long], &[Coded { codes: &[], ..long }], &[vec![0]]).contains("at least one record"));
    assert!(distinct(&[long], &[short, short], &control).unwrap_err().to_string().contains("same columns"));
    assert_eq!(fails(&[long], &[long], &[vec![1]]), "sets of columns are made of numbers below 1");
    assert_eq!(fails(&[long], &[long], &[vec![]]), "sets of columns are made of numbers below 1");
    assert!(fails(&[], &[], &[]).contains("at least one record"));
    assert!(fails(&[long], &[Coded { categories: 3, ..long }], &[vec![0]]).contains("other categories"));
    assert_eq!(
        fails(&[Coded { categories: 1, ..long }; 1], &[Coded { categories: 1, ..long }], &[vec![0]]),
        "code 1 in a column of 1 categories"
    );
}

/// So many records are sorted in several pieces, which have tuples in common.
#[test]
fn pieces_are_added_up() {
    let n = 1_200_000u32;
    let categories = 3_000;
    let column = |step: u32| (0..n).map(|i| (i / 7 * step) % 1_500).collect::<Vec<u32>>();
    let (before, after) = ([column(1), column(3)], [column(1), column(5)]);
    let set = [0, 1];
    let (b, a) = (counts(&before, &set), counts(&after, &set));
    let apart: f64 = b.iter().map(|(tuple, c)| (c - a.get(tuple).unwrap_or(&0.0)).max(0.0)).sum();
    let coded = |table: &'static [Vec<u32>]| table.iter().map(|codes| Coded { codes, categories }).collect::<Vec<_>>();
    let (before, after) = (Vec::leak(before.to_vec()), Vec::leak(after.to_vec()));
    let found = compare(&coded(before), &coded(after), &[set.to_vec()], &Control::new()).unwrap()[0];
    assert!(apart > 0.0 && (found.total_variation - apart / f64::from(n)).abs() < 1e-12);
    assert!((found.entropy - (entropy(&a, f64::from(n)) - entropy(&b, f64::from(n)))).abs() < 1e-9);
}
