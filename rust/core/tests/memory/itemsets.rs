//! Set-valued records.

use nominym_core::control::Control;
use nominym_core::itemsets::assign::{self, Graph};
use nominym_core::itemsets::best_match::{Named, best_match};
use nominym_core::itemsets::closure::Concepts;
use nominym_core::itemsets::compatible::{self, Published};
use nominym_core::itemsets::diverse::greedy_walk;
use nominym_core::itemsets::order::{best_order, gray_order, gray_tsp_order, tree_order};
use nominym_core::itemsets::{Itemsets, cahd, query, text, vote};
use nominym_core::lists::Lists;
use nominym_core::rng::{Stream, Streams};
use nominym_core::taxonomy::{Measure, Taxonomy};
use rand::RngExt;
use rand::seq::SliceRandom;

use super::{alone, check};

fn streams() -> Streams {
    Streams::new(Some(1)).unwrap()
}

fn shuffled(n: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.shuffle(&mut streams().generator(Stream::Synthetic(1), 0));
    order
}

/// Records of up to twice `mean` items, the first ones more often.
fn random(n: usize, mean: usize, n_items: u32) -> Itemsets {
    let mut rng = streams().generator(Stream::Synthetic(0), 0);
    let (mut starts, mut items) = (vec![0], vec![]);
    for _ in 0..n {
        let start = items.len();
        let size = rng.random_range(0..=2 * mean);
        items.extend((0..size).map(|_| rng.random_range(0..n_items).min(rng.random_range(0..n_items))));
        items[start..].sort_unstable();
        let mut row = items.split_off(start);
        row.dedup();
        items.append(&mut row);
        starts.push(items.len());
    }
    Itemsets::new(n_items, starts, items).unwrap()
}

/// Records with one value of each attribute; some have a second one.
fn attributes(n: usize, attributes: u32, values: u32) -> Itemsets {
    let mut rng = streams().generator(Stream::Synthetic(0), 0);
    let (mut starts, mut items) = (vec![0], vec![]);
    for i in 0..n {
        for a in 0..attributes {
            let value = rng.random_range(0..values);
            items.push(a * values + value);
            if i % 7 == 0 && a == 2 && value + 1 < values {
                items.push(a * values + value + 1);
            }
        }
        starts.push(items.len());
    }
    Itemsets::new(attributes * values, starts, items).unwrap()
}

/// Records that share their first items.
fn alike(n: usize, size: u32) -> Itemsets {
    let row = |i: usize| (0..size).chain([size + i as u32 % 50, size + 50 + i as u32 % 70]);
    let items: Vec<u32> = (0..n).flat_map(row).collect();
    Itemsets::new(size + 120, (0..=n).map(|i| i * (size as usize + 2)).collect(), items).unwrap()
}

fn shapes() -> impl Iterator<Item = (String, Itemsets)> {
    let random = [(20_000, 8, 900), (20_000, 3, 12), (3_000, 40, 250), (4_000, 6, 50_000), (20, 3, 9)];
    let random =
        random.map(|(n, mean, items)| (format!("{n} of about {mean} of {items}"), self::random(n, mean, items)));
    let attributes = (String::from("8000 by attributes"), attributes(8_000, 24, 40));
    let alike = (String::from("1500 alike"), alike(1_500, 300));
    random.into_iter().chain([attributes, alike])
}

#[test]
fn rows_as_text() {
    let _alone = alone();
    for (shape, sets) in shapes() {
        let control = Control::new();
        let (n, n_items) = (sets.n() as u32, sets.n_items());
        for gap in [1u64, 700, 900_000] {
            let gap = gap.min(u64::from(text::LARGEST) / u64::from(n_items)) as u32;
            let names: Vec<String> = (0..n_items).map(|item| (item * gap).to_string()).collect();
            let written = text::write(&sets, &names, None, 0..n).unwrap();
            check(&format!("read, {shape}"), || text::parse(&written, &control).unwrap());
            check(&format!("write, {shape}"), || text::write(&sets, &names, None, 0..n).unwrap());
        }
        let rows = shuffled(n as usize);
        check(&format!("select, {shape}"), || sets.select(&rows, &control).unwrap());
        check(&format!("frequencies, {shape}"), || sets.frequencies());
    }
}

#[test]
fn orders() {
    let _alone = alone();
    for (shape, sets) in shapes() {
        let control = Control::new();
        let columns = shuffled(sets.n_items() as usize);
        check(&format!("gray, {shape}"), || gray_order(&sets, None, &control).unwrap());
        check(&format!("gray by columns, {shape}"), || gray_order(&sets, Some(&columns), &control).unwrap());
        if sets.n() < 5_000 {
            check(&format!("gray-tsp, {shape}"), || gray_tsp_order(&sets, (60, 90), &streams(), &control).unwrap());
        }
    }
    let many = random(200_000, 2, 60);
    check("gray, many", || gray_order(&many, None, &Control::new()).unwrap());
    check("gray-tsp, many of one", || gray_tsp_order(&many, (1, 1), &streams(), &Control::new()).unwrap());
    let few = random(900, 4, 60);
    check("gray-tsp, one segment", || gray_tsp_order(&few, (4_096, 4_096), &streams(), &Control::new()).unwrap());
}

#[test]
fn best_orders() {
    let _alone = alone();
    for (shape, k, sets) in [
        ("random", 3, random(1_200, 8, 900)),
        ("many", 20, random(7_000, 6, 500)),
        ("by attributes", 3, attributes(1_200, 24, 40)),
        ("copies", 20, random(6_000, 2, 12)),
        ("of many items", 3, random(1_200, 6, 100_000)),
        ("alike", 20, alike(1_000, 300)),
    ] {
        check(&format!("best for {k}, {shape}"), || best_order(&sets, k, &streams(), &Control::new()).unwrap());
        check(&format!("tree, {shape}"), || tree_order(&sets, &streams(), &Control::new()).unwrap());
    }
}

#[test]
fn assignments() {
    let _alone = alone();
    for (n, m) in [(100_000, 1), (100_000, 2), (40_000, 7), (2_000, 64), (10_000, 16), (5, 5)] {
        let control = Control::new();
        let graph = Graph::ring(shuffled(n), m).unwrap();
        check(&format!("split, {n} by {m}"), || assign::split(&graph, &streams(), &control).unwrap());
        let all = assign::augment(&graph, &streams(), &control).unwrap();
        check(&format!("augment, {n} by {m}"), || assign::augment(&graph, &streams(), &control).unwrap());
        check(&format!("closed walk, {n} by {m}"), || assign::closed_walk(&graph, &streams(), &control).unwrap());
        if n * m < 100_000 {
            check(&format!("wmc, {n} by {m}"), || assign::wmc(&graph, &streams(), &control).unwrap());
        }
        check(&format!("union, {n} by {m}"), || Graph::union(&all, shuffled(n)).unwrap());
        let groups = Lists::group(n / m, (0..n as u32).map(|i| ((i as usize / m).min(n / m - 1) as u32, i)));
        check(&format!("within, {n} by {m}"), || assign::within(&groups, n, &streams(), &control).unwrap());
    }
}

#[test]
fn different_labels() {
    let _alone = alone();
    let sets = random(9_000, 4, 100);
    let (n, order) = (sets.n(), shuffled(sets.n()));
    for (l, labels) in [(2, 2), (2, 1_000), (5, 5), (5, 7), (16, 20), (3, 15_000)] {
        let control = Control::new();
        let even: Vec<u32> = (0..n as u32).map(|i| i * labels / n as u32).collect();
        let along: Vec<u32> = (0..n as u32).map(|i| i % labels).collect();
        for labelled in [&even, &along] {
            check(&format!("walks, {l} of {labels}"), || {
                greedy_walk(&sets, &order, labelled, l, &streams(), &control).unwrap();
            });
            check(&format!("along an order, {l} of {labels}"), || {
                cahd::cahd(&sets, &order, labelled, l, 3, &control).unwrap();
            });
        }
        check("blocks", || cahd::blocks(&order, l).unwrap());
    }
}

#[test]
fn votes_and_worlds() {
    let _alone = alone();
    for (shape, sets) in shapes() {
        let control = Control::new();
        let (n, order) = (sets.n(), shuffled(sets.n()));
        for k in [2, 10, n.min(40)] {
            let votes = || vote::ring(&sets, &order, k, Some(&order), &control).unwrap();
            check(&format!("ring of {k}, {shape}"), votes);
            let groups = Lists::group(n / k, (0..n as u32).map(|i| ((i as usize / k).min(n / k - 1) as u32, i)));
            let votes_of = || vote::groups(&sets, &groups, Some(&order), &control).unwrap();
            check(&format!("groups of {k}, {shape}"), votes_of);
            if k == 10 {
                let votes = votes_of();
                let published = Published { base: &votes.base, distance: &votes.distance, threshold: &votes.threshold };
                check(&format!("worlds of groups, {shape}"), || {
                    compatible::count(&published, &sets, &control).unwrap()
                });
            }
            if k < 11 {
                let graph = Graph::ring(order.clone(), k).unwrap();
                let all = assign::augment(&graph, &streams(), &control).unwrap();
                check(&format!("assignments by {k}, {shape}"), || {
                    vote::assignments(&sets, &all, Some(&order), &control).unwrap()
                });
            }
            if k == 2 {
                let votes = votes();
                let published = Published { base: &votes.base, distance: &votes.distance, threshold: &votes.threshold };
                check(&format!("worlds, {shape}"), || compatible::count(&published, &sets, &control).unwrap());
            }
        }
    }
}

#[test]
fn queries() {
    let _alone = alone();
    for (n_items, size, queries) in
        [(900, 2, 100_000), (900, 300, 2_000), (400_000, 3, 50_000), (400_000, 5_000, 40), (9, 9, 1)]
    {
        let (streams, control) = (streams(), Control::new());
        let drawn = query::draw(n_items, size, queries, &streams, &control).unwrap();
        check(&format!("{queries} queries of {size}"), || {
            query::draw(n_items, size, queries, &streams, &control).unwrap()
        });
        for n in [300, 8_000] {
            let sets = random(n, 6, n_items);
            check(&format!("{queries} queries of {size} to {n}"), || {
                query::count(&sets, &drawn, false, &control).unwrap()
            });
        }
    }
}

#[test]
fn concepts() {
    let _alone = alone();
    for (shape, sets) in shapes() {
        let control = Control::new();
        let (n, concept) = (sets.n_items(), shuffled(sets.n_items() as usize));
        for branching in [2, 30] {
            let child: Vec<u32> = (1..n).collect();
            let parent: Vec<u32> = child.iter().map(|c| (c - 1) / branching).collect();
            let taxonomy = Taxonomy::new(n as usize, &child, &parent).unwrap();
            let known = || Concepts::new(&taxonomy, &sets, &concept).unwrap();
            check(&format!("concepts, {branching}, {shape}"), known);
            let known = known();
            check(&format!("closures, {branching}, {shape}"), || known.closed(&sets, &control).unwrap());
            check(&format!("lowest, {branching}, {shape}"), || known.lowest(&sets, &control).unwrap());
            if n < 2_000 {
                let side = Named { sets: &sets, concepts: &concept };
                let rows = shuffled(sets.n());
                check(&format!("best matches, {branching}, {shape}"), || {
                    best_match(&taxonomy, side, side, &rows, &Measure::WuPalmer, &control).unwrap()
                });
            }
        }
    }
}
