//! Taxonomies, lists, noise and random numbers.

use nominym_core::MISSING;
use nominym_core::control::Control;
use nominym_core::itemsets::rows;
use nominym_core::lists::Lists;
use nominym_core::noise::exponential::exponential;
use nominym_core::noise::shift::{Reference, shift};
use nominym_core::noise::{Column, Domain};
use nominym_core::rng::{Stream, Streams, normal};
use nominym_core::taxonomy::distance::{Sums, matrix, pairs};
use nominym_core::taxonomy::information::Information;
use nominym_core::taxonomy::{Measure, Taxonomy};

use super::{alone, check};

fn streams() -> Streams {
    Streams::new(Some(1)).unwrap()
}

/// A number below `n` that looks random.
fn some(i: usize, n: usize) -> u32 {
    ((i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) as u32 % n as u32
}

/// Links of a tree in which each concept has some children; with more parents here and there, if asked for.
fn links(n: usize, children: usize, several: bool) -> (Vec<u32>, Vec<u32>) {
    let (mut child, mut parent) = (vec![], vec![]);
    for c in 1..n {
        child.push(c as u32);
        parent.push(((c - 1) / children) as u32);
        if several && c % 5 == 0 {
            child.push(c as u32);
            parent.push(some(c, c));
        }
    }
    (child, parent)
}

fn taxonomy(n: usize, children: usize, several: bool) -> Taxonomy {
    let (child, parent) = links(n, children, several);
    Taxonomy::new(n, &child, &parent).unwrap()
}

fn taxonomies() -> impl Iterator<Item = (String, Taxonomy)> {
    let shapes = [(15_000, 3, false), (15_000, 3, true), (20_000, 400, false), (600, 1, false), (40, 2, true)];
    shapes.into_iter().map(|(n, children, several)| {
        (format!("{n} concepts by {children}, several parents {several}"), taxonomy(n, children, several))
    })
}

fn measures(taxonomy: &Taxonomy) -> [Measure; 5] {
    let content = || Information::seco(taxonomy, &Control::new()).unwrap();
    let [lin, resnik] = [Measure::Lin(content()), Measure::Resnik(content())];
    [Measure::Path, Measure::WuPalmer, Measure::TaxonomicFeature, lin, resnik]
}

#[test]
fn groups_and_numbers() {
    let _alone = alone();
    for (n, groups) in [(0, 1), (300_000, 300_000), (300_000, 1_000), (10, 3)] {
        let group_of: Vec<u32> = (0..n).map(|i| some(i, groups)).collect();
        let order: Vec<u32> = (0..n as u32).rev().collect();
        check(&format!("{groups} groups of {n}"), || Lists::by_group(&group_of, None));
        check(&format!("{groups} groups of {n} in an order"), || Lists::by_group(&group_of, Some(&order)));
        check(&format!("{n} numbers"), || normal(n, &streams(), Stream::Synthetic(0), &Control::new()));
        check(&format!("{n} rows shuffled"), || rows::shuffled(n as u32, &streams()));
    }
}

#[test]
fn taxonomies_are_built() {
    let _alone = alone();
    for (n, children, several) in [(100_000, 4, false), (100_000, 4, true), (100_000, 1, false), (3, 2, false)] {
        let shape = format!("{n} concepts by {children}, several parents {several}");
        let (mut child, mut parent) = links(n, children, several);
        check(&shape, || Taxonomy::new(n, &child, &parent).unwrap());
        check(&format!("{shape}, no links"), || Taxonomy::new(n, &[], &[]).unwrap_err());
        child.push(0);
        parent.push(n as u32 - 1);
        check(&format!("{shape}, a circle"), || Taxonomy::new(n, &child, &parent).unwrap_err());
    }
}

#[test]
fn parts_of_taxonomies() {
    let _alone = alone();
    for (shape, taxonomy) in taxonomies() {
        let control = Control::new();
        let n = taxonomy.len();
        let values: Vec<u32> = (0..n / 2).map(|i| some(i, n)).collect();
        check(&format!("subsumers, {shape}"), || taxonomy.subsumers(n as u32 - 1));
        check(&format!("all below, {shape}"), || taxonomy.subtree(0));
        check(&format!("a part, {shape}"), || taxonomy.restrict(0));
        check(&format!("first parents, {shape}"), || taxonomy.first_parents());
        check(&format!("a common subsumer, {shape}"), || taxonomy.lcs(&values, &control));
        if n < 10_000 || taxonomy.is_tree() {
            let counts = vec![1.0; n];
            check(&format!("seco, {shape}"), || Information::seco(&taxonomy, &control));
            check(&format!("zhou, {shape}"), || Information::zhou(&taxonomy, 0.5, &control));
            check(&format!("sanchez, {shape}"), || Information::sanchez(&taxonomy, &control));
            check(&format!("corpus, {shape}"), || Information::corpus(&taxonomy, &counts, &control));
        }
    }
    let dag = taxonomy(30_000, 30, true);
    check("seco, several parents", || Information::seco(&dag, &Control::new()));
    check("sanchez, several parents", || Information::sanchez(&dag, &Control::new()));
}

#[test]
fn distances_of_concepts() {
    let _alone = alone();
    for (shape, taxonomy) in taxonomies() {
        let control = Control::new();
        let n = taxonomy.len();
        for (number, measure) in measures(&taxonomy).iter().enumerate() {
            let shape = format!("measure {number}, {shape}");
            for d in [3, 100] {
                let values: Vec<u32> = (0..d).map(|i| some(i, n)).collect();
                let mut cells = vec![0f32; d * d];
                let out = std::sync::Mutex::new(&mut cells);
                check(&format!("{d} values, {shape}"), || {
                    matrix(&taxonomy, &values, measure, &mut out.lock().unwrap(), &control).unwrap();
                });
                let counts = vec![2; d];
                check(&format!("mean of {d}, {shape}"), || Sums::new(&taxonomy, &values, &counts, measure, &control));
            }
            for (p, distinct) in [(5, 5), (100_000, 50), (1_000, n)] {
                let [a, b] = [0, 1].map(|by| (0..p).map(|i| some(2 * i + by, distinct.min(n))).collect::<Vec<u32>>());
                check(&format!("{p} pairs, {shape}"), || pairs(&taxonomy, &a, &b, measure, &control).unwrap());
            }
        }
    }
}

#[test]
fn noise() {
    let _alone = alone();
    let control = Control::new();
    for (shape, taxonomy) in taxonomies() {
        let v = taxonomy.len();
        let size = 400;
        let cells: Vec<f64> = (0..size * size).map(|i| f64::from(some(i, 90_000)) / 9e4).collect();
        for (number, measure) in measures(&taxonomy).iter().enumerate().skip(1).step_by(2) {
            for (d, n) in [(20, 30_000), (100, 1_000)] {
                let domains = [(Domain::Taxonomy(&taxonomy, measure), v), (Domain::Matrix(&cells, size), size)];
                for (domain, v) in domains {
                    let concepts: Vec<u32> = (0..d).map(|i| some(i, v)).collect();
                    let codes: Vec<u32> = (0..n).map(|i| if i % 9 == 0 { MISSING } else { some(i, d) }).collect();
                    let column = Column { domain, concepts: &concepts, codes: &codes };
                    let errors: Vec<f64> = (0..n).map(|i| f64::from(some(i, 100)) / 50.0 - 1.0).collect();
                    let each: Vec<u32> = (0..n).map(|i| some(i, 30.min(v))).collect();
                    let shape = format!("{d} categories of {n} records in a domain of {v}, measure {number}, {shape}");
                    check(&format!("exponential, {shape}"), || exponential(column, 1.0, &streams(), 0, &control));
                    for (towards, reference) in [("one", Reference::Concept(0)), ("each", Reference::Each(&each))] {
                        check(&format!("towards {towards}, {shape}"), || {
                            shift(column, &errors, reference, &streams(), 0, &control).unwrap()
                        });
                    }
                }
            }
        }
    }
}
