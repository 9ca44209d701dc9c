//! The order with the smallest error, by more work than the Gray-TSP order takes.

use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::super::Itemsets;
use super::super::distance::Packed;
use super::error::expected_error;
use super::gray;
use super::neighbours::Neighbours;
use super::paths::Matrix;
use super::refine::{self, refine};
use super::tour::Tour;
use super::whole::{self, Link};
use super::{ORDER, tour_length};
use crate::control::Control;
use crate::error::Result;
use crate::lists::Lists;
use crate::memory;
use crate::rng::{Refinement, Stream, Streams};

/// Gray orders with random columns.
const RANDOM: u32 = 6;
/// All of them: as given, by frequency, by halves, and these.
const KINDS: u32 = 3 + RANDOM;
/// Units of progress for each record: the orders, the search for neighbours, and links.
const NEAR: u64 = KINDS as u64 + SEARCHES + 1;
const SEARCHES: u64 = 10;
/// Neighbours of a record.
const WIDTH: usize = 10;
/// Rounds of looking among neighbours of neighbours.
const ROUNDS: usize = 2;
/// Bytes for each different record, at most, from the search for neighbours to the links between them, in order.
const SEARCH: usize = 352;
/// Longest stretch of the whole tour that is turned round; what lies farther apart stays apart.
const REACH: usize = 30_000;
/// Records for which the distances of all pairs are kept, and kicks for each of them.
const FEW: usize = 6000;
const KICKS: usize = 5;
/// Exchanges that a round of refinement tries, in all.
const TRIES: usize = 6_000_000;
/// Rings from which on the tree is refined at once; smaller ones start from that.
const WIDE: usize = 8;
/// Temperatures of the refinement.
const WARM: f64 = 0.5;
const COOL: f64 = 0.1;

/// An order for a ring of `k` with a small expected error.
///
/// 1. Gray orders with several orders of columns; the shortest is the start, all serve to find near records;
/// 2. a graph of the nearest records, nearly;
/// 3. two candidates from its links: a short closed tour through all records, which suits small rings, and the preorder of a
///    spanning tree, which keeps clusters together and suits large ones;
/// 4. both refined for rings of `k`; the one with the smaller expected error.
///
/// Near O(items + n·(k + constant)), with fewer tries for each record the more there are.
pub fn best_order(sets: &Itemsets, k: usize, streams: &Streams, control: &Control) -> Result<Vec<u32>> {
    let n = sets.n();
    if n < 4 {
        return Ok((0..n as u32).collect());
    }
    let refinements = if k < WIDE { 3 } else { 2 };
    control.begin(n as u64 * NEAR + refinements * refine::units(n));
    let Start { copies, distinct, orders } = Start::new(sets, streams, control)?;
    let packed = Packed::new(sets, &distinct, control)?;
    let (neighbours, links) = near(&packed, orders, n, control)?;
    let tree = whole::preorder(packed.len(), &links, control)?;
    // Among many records a tour that cannot win is not worth its time.
    let tour = if k < 2 * WIDE || packed.len() <= FEW {
        let start = whole::greedy(&links, &packed, control)?;
        drop(links);
        Some(short_tour(&packed, &neighbours, start, streams, control)?)
    } else {
        None
    };
    drop((packed, neighbours));
    // Both orders, which have grown, and all candidates.
    memory::require(36 * n, ORDER)?;
    let expand = |nodes: Vec<u32>| expand(&copies, &nodes);
    choose(sets, k, tour.map(expand), expand(tree), streams, control)
}

/// An order in which like records follow each other: the preorder of a spanning tree of the nearest records, nearly, small
/// subtrees first. Clusters stay together, whatever the size of groups is. Near O(items + n).
pub fn tree_order(sets: &Itemsets, streams: &Streams, control: &Control) -> Result<Vec<u32>> {
    let n = sets.n();
    if n < 4 {
        return Ok((0..n as u32).collect());
    }
    control.begin(n as u64 * NEAR);
    let Start { copies, distinct, orders } = Start::new(sets, streams, control)?;
    let packed = Packed::new(sets, &distinct, control)?;
    let (_, links) = near(&packed, orders, n, control)?;
    let tree = whole::preorder(packed.len(), &links, control)?;
    drop((packed, links));
    memory::require(4 * n, ORDER)?;
    Ok(expand(&copies, &tree))
}

/// The records of an order of different ones.
fn expand(copies: &Lists, nodes: &[u32]) -> Vec<u32> {
    let mut order = Vec::with_capacity(copies.total());
    for &node in nodes {
        order.extend_from_slice(copies.of(node as usize));
    }
    order
}

/// Records, and orders in which near ones follow each other.
struct Start {
    /// Equal records. One stands for all of them.
    copies: Lists,
    distinct: Vec<u32>,
    /// Of the distinct ones, by number.
    orders: Vec<Vec<u32>>,
}

impl Start {
    /// Gray orders with several orders of columns, the shortest as numbered. Reports a unit for each record and order.
    fn new(sets: &Itemsets, streams: &Streams, control: &Control) -> Result<Self> {
        let n = sets.n();
        // Orders of items, one more while it is sorted, and of records, and the Gray order that is made.
        let (kinds, items) = (KINDS as usize, sets.n_items() as usize);
        memory::require(gray::needs(n, items) + 4 * kinds * n + 4 * (kinds + 3) * items, ORDER)?;
        let mut orders = Vec::new();
        for columns in column_orders(sets, streams)? {
            orders.push(gray::sorted(sets, Some(&columns), control)?);
        }
        let mut lengths = Vec::new();
        for order in &orders {
            lengths.push(tour_length(sets, order, true));
            control.check()?;
        }
        let shortest = (0..orders.len()).min_by_key(|&i| lengths[i]).unwrap_or(0);
        memory::require(16 * n, ORDER)?;
        let copies = equal_records(sets, &orders.swap_remove(shortest));
        let distinct: Vec<u32> = (0..copies.len()).map(|number| copies.of(number)[0]).collect();
        let orders = renumbered(orders, &distinct);
        Ok(Self { copies, distinct, orders })
    }
}

/// The graph of the nearest records, nearly, and its links. Reports what is left of [`NEAR`] for each of `n` records.
fn near(packed: &Packed<'_>, orders: Vec<Vec<u32>>, n: usize, control: &Control) -> Result<(Neighbours, Vec<Link>)> {
    memory::require(SEARCH * packed.len() + 4 * n, ORDER)?;
    let neighbours = Neighbours::near(packed, WIDTH, &orders, ROUNDS, control)?;
    drop(orders);
    control.advance(SEARCHES * n as u64)?;
    let links = whole::links(&neighbours, packed, control)?;
    control.advance(n as u64)?;
    Ok((neighbours, links))
}

/// Refines the candidates and takes the better one.
fn choose(
    sets: &Itemsets,
    k: usize,
    tour: Option<Vec<u32>>,
    tree: Vec<u32>,
    streams: &Streams,
    control: &Control,
) -> Result<Vec<u32>> {
    let tries = (TRIES / sets.n()).clamp(15, 300);
    let refine = |order: &mut [u32], k: usize, temperature: f64, stream: Refinement| {
        refine(sets, order, k, (tries, temperature), (streams, stream), control)
    };
    let error = |order: &[u32]| expected_error(sets, order, k, control);
    let mut candidates = vec![(error(&tree)?, tree.clone())];
    if let Some(mut tour) = tour {
        let raw = error(&tour)?;
        // The tree gains more than the tour, so a tour that starts behind stays there.
        if raw < candidates[0].0 {
            candidates.push((raw, tour.clone()));
            refine(&mut tour, k, 0.0, Refinement::Tour)?;
            candidates.push((error(&tour)?, tour));
        }
    }
    if candidates.len() == 1 {
        control.advance(refine::units(sets.n()))?; // of a tour
    }
    let mut tree = tree;
    if k < WIDE {
        // Small rings see too little to arrange clusters.
        refine(&mut tree, WIDE, WARM, Refinement::WideTree)?;
        refine(&mut tree, k, COOL, Refinement::Tree)?;
    } else {
        refine(&mut tree, k, WARM, Refinement::Tree)?;
    }
    candidates.push((error(&tree)?, tree));
    let best = candidates.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
    Ok(best.map(|(_, order)| order).unwrap_or_default())
}

/// Improves a closed tour; with kicks where there is room for all distances.
fn short_tour(
    packed: &Packed<'_>,
    neighbours: &Neighbours,
    start: Vec<u32>,
    streams: &Streams,
    control: &Control,
) -> Result<Vec<u32>> {
    if packed.len() > FEW {
        let mut tour = Tour::new(packed, neighbours, start, REACH);
        tour.descend(control)?;
        return Ok(tour.into_nodes());
    }
    let matrix = Matrix::new(packed, control)?;
    let mut tour = Tour::new(&matrix, neighbours, start, REACH);
    tour.descend(control)?;
    tour.kick(KICKS * packed.len(), 0, &mut streams.generator(Stream::TourKicks, 0), control)?;
    Ok(tour.into_nodes())
}

/// Equal records, which are neighbours in every Gray order. One stands for all of them in the search.
fn equal_records(sets: &Itemsets, order: &[u32]) -> Lists {
    let mut copies = Lists::builder(order.len(), order.len());
    for equal in order.chunk_by(|&a, &b| sets.row(a) == sets.row(b)) {
        copies.push(equal.iter().copied());
    }
    copies
}

/// Orders of the distinct records only, numbered as they are listed; and that list itself as one order more.
fn renumbered(mut orders: Vec<Vec<u32>>, distinct: &[u32]) -> Vec<Vec<u32>> {
    let mut numbers = vec![u32::MAX; orders[0].len()];
    for (number, &record) in (0u32..).zip(distinct) {
        numbers[record as usize] = number;
    }
    orders.par_iter_mut().for_each(|order| {
        order.retain_mut(|record| {
            *record = numbers[*record as usize];
            *record != u32::MAX
        });
    });
    orders.push((0..distinct.len() as u32).collect());
    orders
}

/// Orders of the items to try: as given, the most frequent first, those held by about half of the records first, random.
fn column_orders(sets: &Itemsets, streams: &Streams) -> Result<Vec<Vec<u32>>> {
    let frequencies = sets.frequencies()?;
    let given: Vec<u32> = (0..sets.n_items()).collect();
    let mut frequent = given.clone();
    frequent.sort_by_key(|&item| std::cmp::Reverse(frequencies[item as usize]));
    let mut even = given.clone();
    even.sort_by_key(|&item| (2 * i64::from(frequencies[item as usize]) - sets.n() as i64).abs());
    let mut orders = vec![given.clone(), frequent, even];
    for number in 0..RANDOM {
        let mut random = given.clone();
        random.shuffle(&mut streams.generator(Stream::ItemOrders, number));
        orders.push(random);
    }
    Ok(orders)
}
