//! Assignments from regular graphs: that they are perfect and disjoint, and how likely their edges are.

use std::collections::HashSet;

use crate::common::{shuffled, streams};
use nominym_core::control::Control;
use nominym_core::error::{Error, Result};
use nominym_core::itemsets::assign::{Graph, augment, choose, closed_walk, split, within, wmc};
use nominym_core::lists::Lists;
use nominym_core::rng::{Stream, Streams};
use proptest::prelude::*;
use rand::RngExt;

type Extract = fn(&Graph, &Streams, &Control) -> Result<Vec<Vec<u32>>>;

const METHODS: [(&str, Extract); 3] = [("closed walk", closed_walk), ("wmc", wmc), ("augment", augment)];

/// A graph together with the edges that it should have.
#[derive(Debug, Clone)]
struct Case {
    graph: Graph,
    edges: Vec<Vec<u32>>,
}

impl Case {
    fn ring(n: usize, k: usize, seed: u64) -> Self {
        let order = shuffled(n, seed);
        let mut edges = vec![Vec::new(); n];
        for p in 0..n {
            edges[order[p] as usize] = (p..p + k).map(|q| order[q % n]).collect();
        }
        Self { graph: Graph::ring(order, k).unwrap(), edges }
    }

    /// A random circulant between shuffled sides, mixed by exchanges of ends.
    fn random(n: usize, m: usize, seed: u64) -> Self {
        let (left, right) = (shuffled(n, seed), shuffled(n, seed + 1));
        let mut edges = vec![Vec::new(); n];
        for p in 0..n {
            edges[left[p] as usize] = (p..p + m).map(|q| right[q % n]).collect();
        }
        let mut rng = streams(seed).generator(Stream::Synthetic(1), 0);
        for _ in 0..4 * n * m {
            let [a, b] = [0; 2].map(|_| rng.random_range(0..n));
            let [i, j] = [0; 2].map(|_| rng.random_range(0..m));
            let (x, y) = (edges[a][i], edges[b][j]);
            if !edges[a].contains(&y) && !edges[b].contains(&x) {
                (edges[a][i], edges[b][j]) = (y, x);
            }
        }
        Self { graph: Graph::regular(m, edges.concat()).unwrap(), edges }
    }

    fn assert_assignment(&self, assignment: &[u32]) {
        let forms: HashSet<u32> = assignment.iter().copied().collect();
        assert_eq!((assignment.len(), forms.len()), (self.edges.len(), self.edges.len()));
        for (record, form) in assignment.iter().enumerate() {
            assert!(self.edges[record].contains(form), "record {record} has no edge to {form}");
        }
    }

    /// Largest chi-square over records, of how often each of their edges was drawn against equally often.
    fn chi_square(&self, seeds: u64, draw: impl Fn(&Graph, &Streams) -> Vec<u32>) -> f64 {
        let (n, m) = (self.edges.len(), self.graph.m());
        let mut counts = vec![vec![0u32; n]; n];
        for seed in 0..seeds {
            for (record, &form) in draw(&self.graph, &streams(seed)).iter().enumerate() {
                counts[record][form as usize] += 1;
            }
        }
        let expected = seeds as f64 / m as f64;
        let term = |count: u32| (f64::from(count) - expected).powi(2) / expected;
        let of = |record: usize| self.edges[record].iter().map(|&form| term(counts[record][form as usize])).sum();
        (0..n).map(of).fold(0.0, f64::max)
    }

    /// What [`Case::chi_square`] exceeds with a probability below 1e-5: 1e-6 a record, and there are at most ten (Wilson and Hilferty).
    fn bound(&self) -> f64 {
        assert!(self.edges.len() <= 10);
        let freedom = self.graph.m() as f64 - 1.0;
        let share = 2.0 / (9.0 * freedom);
        freedom * (1.0 - share + 4.753 * share.sqrt()).powi(3)
    }
}

fn cases() -> impl Strategy<Value = Case> {
    (1usize..60, any::<prop::sample::Index>(), 0u64..1000, any::<bool>()).prop_map(|(n, m, seed, ring)| {
        let m = m.index(n.min(20)) + 1;
        if ring { Case::ring(n, m, seed) } else { Case::random(n, m, seed) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn all_assignments_are_perfect_and_disjoint(case in cases(), seed in 0u64..1000) {
        for (name, method) in METHODS {
            let assignments = method(&case.graph, &streams(seed), &Control::new()).unwrap();
            prop_assert_eq!(assignments.len(), case.graph.m(), "{}", name);
            for assignment in &assignments {
                case.assert_assignment(assignment);
            }
            for record in 0..case.edges.len() {
                let forms: HashSet<u32> = assignments.iter().map(|a| a[record]).collect();
                prop_assert_eq!(forms.len(), case.graph.m(), "{}: an edge twice", name);
            }
        }
    }

    #[test]
    fn the_one_assignment_is_perfect(case in cases(), seed in 0u64..1000) {
        case.assert_assignment(&split(&case.graph, &streams(seed), &Control::new()).unwrap());
    }

    #[test]
    fn a_union_is_the_graph_again(case in cases(), seed in 0u64..1000) {
        let assignments = augment(&case.graph, &streams(seed), &Control::new()).unwrap();
        let graph = Graph::union(&assignments, shuffled(case.edges.len(), seed)).unwrap();
        let again = Case { graph, edges: case.edges };
        again.assert_assignment(&split(&again.graph, &streams(seed), &Control::new()).unwrap());
        for assignment in closed_walk(&again.graph, &streams(seed), &Control::new()).unwrap() {
            again.assert_assignment(&assignment);
        }
    }
}

/// Degrees that are odd at once, on the way, and never.
fn small() -> [Case; 5] {
    [Case::ring(7, 3, 1), Case::ring(8, 4, 2), Case::ring(9, 6, 3), Case::random(10, 5, 4), Case::random(10, 4, 5)]
}

#[test]
fn split_takes_every_edge_with_the_same_probability() {
    for case in small() {
        let worst = case.chi_square(10_000, |graph, streams| split(graph, streams, &Control::new()).unwrap());
        assert!(worst < case.bound(), "{worst} of {} in {case:?}", case.bound());
    }
}

#[test]
fn a_chosen_one_of_all_has_every_edge_with_the_same_probability() {
    for (name, method) in METHODS {
        for case in small() {
            let worst = case.chi_square(10_000, |graph, streams| {
                let mut all = method(graph, streams, &Control::new()).unwrap();
                all.swap_remove(choose(graph.m(), streams).unwrap())
            });
            assert!(worst < case.bound(), "{name}: {worst} of {} in {case:?}", case.bound());
        }
    }
}

#[test]
fn the_first_of_all_prefers_some_edges() {
    let case = Case::ring(8, 4, 2);
    for (name, method) in &METHODS[..2] {
        let worst =
            case.chi_square(10_000, |graph, streams| method(graph, streams, &Control::new()).unwrap().swap_remove(0));
        assert!(worst > 2.0 * case.bound(), "{name}: {worst} of {}", case.bound());
    }
}

/// Perfect matchings by trying.
fn all_matchings(edges: &[Vec<u32>], taken: &mut Vec<u32>, found: &mut HashSet<Vec<u32>>) {
    match edges.get(taken.len()) {
        None => drop(found.insert(taken.clone())),
        Some(forms) => {
            for &form in forms {
                if !taken.contains(&form) {
                    taken.push(form);
                    all_matchings(edges, taken, found);
                    taken.pop();
                }
            }
        }
    }
}

#[test]
fn every_assignment_is_possible() {
    for case in [Case::ring(7, 3, 1), Case::ring(7, 4, 2), Case::random(7, 4, 5)] {
        let mut possible = HashSet::new();
        all_matchings(&case.edges, &mut Vec::new(), &mut possible);
        let drawn: HashSet<Vec<u32>> =
            (0..20_000).map(|seed| split(&case.graph, &streams(seed), &Control::new()).unwrap()).collect();
        assert_eq!(drawn, possible);
    }
}

#[test]
fn known_answers() {
    // With one edge each there is no choice; a ring of 2 is one circuit.
    let order = vec![2, 0, 3, 1];
    for (_, method) in METHODS {
        let ring = Graph::ring(order.clone(), 1).unwrap();
        assert_eq!(method(&ring, &streams(1), &Control::new()).unwrap(), [[0, 1, 2, 3]]);
        let mut both = method(&Graph::ring(order.clone(), 2).unwrap(), &streams(1), &Control::new()).unwrap();
        both.sort();
        assert_eq!(both, [[0, 1, 2, 3], [3, 2, 0, 1]]);
    }
    let one = Graph::ring(order, 1).unwrap();
    assert_eq!(split(&one, &streams(1), &Control::new()).unwrap(), [0, 1, 2, 3]);
}

#[test]
fn seeds_and_threads() {
    let case = Case::ring(20_000, 6, 1);
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let many = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
    let run = || split(&case.graph, &streams(3), &Control::new()).unwrap();
    assert_eq!(alone.install(run), many.install(run));
    assert_ne!(run(), split(&case.graph, &streams(4), &Control::new()).unwrap());
    let groups = Lists::group(10_000, (0..20_000).map(|i| (i / 2, i)));
    let run = || within(&groups, 20_000, &streams(3), &Control::new()).unwrap();
    assert_eq!(alone.install(run), many.install(run));
}

#[test]
fn what_is_no_regular_graph_is_refused() {
    for (m, targets) in [
        (2, vec![0, 1, 0]),
        (2, vec![0, 1, 0, 2]),
        (2, vec![0, 0, 1, 1]),
        (2, vec![0, 1, 1, 2, 1, 2]),
        (0, vec![]),
        (3, vec![0, 1, 0, 1, 0, 1]),
    ] {
        assert!(matches!(Graph::regular(m, targets), Err(Error::Parameter(_))));
    }
    for (order, k) in [(vec![0, 1, 1], 2), (vec![0, 1, 3], 2), (vec![0, 1, 2], 0), (vec![0, 1, 2], 4), (vec![], 0)] {
        assert!(matches!(Graph::ring(order, k), Err(Error::Parameter(_))));
    }
    assert!(Graph::union(&[vec![0, 1], vec![0, 1]], vec![0, 1]).is_err());
    assert!(Graph::union(&[vec![0, 1], vec![1, 2]], vec![0, 1]).is_err());
    assert!(choose(0, &streams(1)).is_err());
}

#[test]
fn stopped_when_asked() {
    let control = Control::new();
    control.stop();
    let graph = Case::ring(1000, 4, 1).graph;
    for (_, method) in METHODS {
        assert_eq!(method(&graph, &streams(1), &control).unwrap_err(), Error::Stopped);
    }
    assert_eq!(split(&graph, &streams(1), &control).unwrap_err(), Error::Stopped);
}

#[test]
fn within_groups_every_node_has_the_same_probability() {
    let mut groups = Lists::builder(3, 8);
    groups.push([5, 0, 7]);
    groups.push([2]);
    groups.push([1, 3, 4, 6]);
    for members in [&[5u32, 0, 7][..], &[1, 3, 4, 6]] {
        let edges = (0..8).map(|i| if members.contains(&i) { members.to_vec() } else { vec![] }).collect();
        let case = Case { graph: Graph::ring((0..8).collect(), members.len()).unwrap(), edges };
        let worst = case.chi_square(10_000, |_, streams| within(&groups, 8, streams, &Control::new()).unwrap());
        assert!(worst < case.bound(), "{worst} of {}", case.bound());
    }
    assert_eq!(within(&groups, 8, &streams(1), &Control::new()).unwrap()[2], 2);
    for n in [7, 9] {
        assert!(matches!(within(&groups, n, &streams(1), &Control::new()), Err(Error::Parameter(_))));
    }
}
