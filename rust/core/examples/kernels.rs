//! Runs one kernel on data that are always the same, in one thread: for tools that count instructions.
//!
//! `cargo run --release --example kernels -- NAME [RECORDS]`; without a name, the names. Only what happens inside `measured` is the
//! kernel; `benches/instructions.py` counts that and compares it with what it was.

use std::hint::black_box;

use nominym_core::control::Control;
use nominym_core::groups::attributes::{partition, usual_effort};
use nominym_core::itemsets::Itemsets;
use nominym_core::itemsets::order::gray_order;
use nominym_core::meaning::{Meaning, Tree, mean};
use nominym_core::noise::shift::{Reference, shift};
use nominym_core::noise::{Column, Domain};
use nominym_core::rng::{Stream, Streams};
use nominym_core::swap::{dynamic, records};
use nominym_core::taxonomy::distance::matrix;
use nominym_core::taxonomy::{Measure, Taxonomy};
use nominym_core::tuples::Attribute;
use rand::RngExt;
use rand_chacha::ChaCha20Rng;

const NAMES: [&str; 8] =
    ["distance-matrix", "noise-mean", "noise-pair", "semantic-mean", "srs-2", "srs-3", "strict-groups", "gray-order"];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        println!("{}", NAMES.join("\n"));
        return;
    };
    let records = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(2_000);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().expect("one thread");
    pool.install(|| run(&name, records));
}

/// Everything that counts happens in here.
#[inline(never)]
fn measured<T>(work: impl FnOnce() -> T) {
    let begin = std::time::Instant::now();
    black_box(work());
    eprintln!("{:.6} s", begin.elapsed().as_secs_f64());
}

fn random() -> ChaCha20Rng {
    Streams::new(Some(1)).expect("a seed").generator(Stream::Synthetic(0), 0)
}

/// Concepts under earlier ones, and some of them under a second one.
fn taxonomy(concepts: u32, seconds: u32, rng: &mut ChaCha20Rng) -> Taxonomy {
    let mut child: Vec<u32> = (1..concepts).collect();
    child.extend((0..seconds).map(|_| rng.random_range(1..concepts)));
    let parent: Vec<u32> = child.iter().map(|&c| rng.random_range(c / 9..=(c - 1).min(c / 4))).collect();
    Taxonomy::new(concepts as usize, &child, &parent).expect("earlier concepts are above")
}

/// Codes of which low ones are frequent.
fn codes(records: usize, categories: u32, rng: &mut ChaCha20Rng) -> Vec<u32> {
    (0..records).map(|_| (f64::from(categories) * rng.random::<f64>().powi(3)) as u32).collect()
}

fn run(name: &str, records: usize) {
    let (mut rng, control, streams) = (random(), Control::new(), Streams::new(Some(1)).expect("a seed"));
    let measure = Measure::WuPalmer;
    let dag = taxonomy(20_000, 10_000, &mut rng);
    let tree = taxonomy(5_000, 0, &mut rng);
    let some: Vec<u32> = (0..200).map(|_| rng.random_range(0..5_000)).collect();
    let columns: Vec<Vec<u32>> = (0..3).map(|_| codes(records, 200, &mut rng)).collect();
    let mut cells = vec![0.0; some.len() * some.len()];
    matrix(&tree, &some, &measure, &mut cells, &control).expect("distances");
    let by_matrix =
        |codes| Attribute { codes, meaning: Meaning::matrix(&cells, some.len()).expect("a square"), missing: None };
    let attributes: Vec<Attribute<'_>> = columns.iter().map(|codes| by_matrix(codes)).collect();
    let errors: Vec<f64> = (0..records).map(|_| rng.random::<f64>() - rng.random::<f64>()).collect();
    let column = Column { domain: Domain::Taxonomy(&dag, &measure), concepts: &some[..64], codes: &columns[0] };
    let codes: Vec<u32> = columns[0].iter().map(|c| c % 64).collect();
    let column = Column { codes: &codes, ..column };
    let each: Vec<u32> = columns[1].iter().map(|&c| some[c as usize % 64]).collect();
    match name {
        "distance-matrix" => {
            let values: Vec<u32> = (0..1_000).map(|_| rng.random_range(0..20_000)).collect();
            let mut out = vec![0f32; values.len() * values.len()];
            measured(|| matrix(&dag, &values, &measure, &mut out, &control));
        }
        "noise-mean" => measured(|| shift(column, &errors, Reference::Concept(7), &streams, 0, &control)),
        "noise-pair" => measured(|| shift(column, &errors, Reference::Each(&each), &streams, 0, &control)),
        "semantic-mean" => {
            let values: Vec<u32> = (0..400).map(|_| rng.random_range(0..20_000)).collect();
            measured(|| mean(&dag, &values, &vec![3; values.len()], &measure, &control));
        }
        "srs-2" => {
            let concepts: Vec<u32> = (0..5_000).collect();
            let tree = Tree::new(&tree, &concepts, &measure).expect("a tree");
            let codes = self::codes(2 * records, 5_000, &mut rng);
            let mut counts = vec![0; concepts.len()];
            for &c in &codes {
                counts[c as usize] += 1;
            }
            measured(|| dynamic::swap(&codes, Meaning::Tree(&tree), &counts, 10, &mut rng, &control));
        }
        "srs-3" => measured(|| records::swap(&attributes, 20, &mut rng, &control)),
        "strict-groups" => {
            measured(|| partition(&attributes, &[], 10, usual_effort(records), &streams, &control));
        }
        "gray-order" => {
            let rows = 20 * records;
            let mut items: Vec<u32> = Vec::new();
            let mut starts = vec![0];
            for _ in 0..rows {
                let mut row: Vec<u32> = self::codes(10, 500, &mut rng);
                row.sort_unstable();
                row.dedup();
                items.append(&mut row);
                starts.push(items.len());
            }
            let sets = Itemsets::new(500, starts, items).expect("sorted items");
            measured(|| gray_order(&sets, None, &control));
        }
        _ => panic!("no kernel {name:?}; there are {}", NAMES.join(", ")),
    }
}
