//! What a neighbourhood keeps up to date, against counting anew.

use proptest::prelude::*;

use super::*;
use crate::itemsets::Itemsets;
use crate::rng::{Stream, Streams};

/// The cost of all groups of a neighbourhood, counted anew over all items.
fn cost(local: &Neighbourhood, costs: &Costs<'_>) -> i128 {
    let groups: Vec<Vec<u32>> =
        local.members.iter().map(|members| members.iter().map(|&member| local.record[member]).collect()).collect();
    let groups: Vec<&[u32]> = groups.iter().map(Vec::as_slice).collect();
    costs.total(&groups, &Control::new()).unwrap()
}

/// Compares what is kept up to date with a neighbourhood made anew.
fn assert_up_to_date(local: &Neighbourhood, labels: Option<&[u32]>, costs: &Costs<'_>) {
    let (mut records, mut sizes) = (vec![0; local.record.len()], vec![0; local.members.len()]);
    local.write(&mut records, &mut sizes);
    let mut tally = Tally::default();
    let anew = Neighbourhood::new(&records, &sizes, local.k, labels, costs, &mut tally).unwrap();
    let n = records.len();
    for (group, members) in local.members.iter().enumerate() {
        assert_eq!(local.total[group], anew.total[group]);
        let has = |local: &Neighbourhood| local.has[group * local.labels..][..local.labels].to_vec();
        assert_eq!(has(local), has(&anew));
        assert!(members.iter().all(|&member| local.group[member] == group));
        for (index, record) in records.iter().enumerate() {
            let member = local.record.iter().position(|other| other == record).unwrap();
            assert_eq!(local.flips[group * n + member], anew.flips[group * n + index]);
        }
        // Items are numbered as they come, so edges are compared by how many stand at each.
        for edge in 0..EDGES {
            let standing = |local: &Neighbourhood| -> u32 {
                local.edges[(group * EDGES + edge) * local.words..][..local.words].iter().map(|w| w.count_ones()).sum()
            };
            assert_eq!(standing(local), standing(&anew), "edge {edge}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn differences_are_what_measuring_gives(k in 1usize..8, groups in 2usize..7, n_items in 1u32..150, seed: u64, labelled: bool) {
        let mut rng = Streams::new(Some(seed)).unwrap().generator(Stream::Synthetic(0), 0);
        let sizes: Vec<u32> = (0..groups).map(|_| rng.random_range(k..2 * k) as u32).collect();
        let n = sizes.iter().sum::<u32>();
        let share: Vec<f64> = (0..n_items).map(|_| rng.random_range(0.0..1.0)).collect();
        let (mut starts, mut items) = (vec![0], Vec::new());
        // Records outside the neighbourhood, too, so that what is common differs.
        for _ in 0..n + 10 {
            let length = rng.random_range(0.0..1.2);
            items.extend((0..n_items).filter(|&item| rng.random::<f64>() < share[item as usize] * length));
            starts.push(items.len());
        }
        let sets = Itemsets::new(n_items, starts, items).unwrap();
        let costs = Costs::new(&sets);
        let records: Vec<u32> = (10..n + 10).collect();
        // Distinct inside each group at first.
        let labels: Vec<u32> = (0..n + 10).map(|i| i.wrapping_sub(10) % (2 * k as u32 + 3)).collect();
        let labels = labelled.then_some(&labels[..]);
        let mut local = Neighbourhood::new(&records, &sizes, k, labels, &costs, &mut Tally::default()).unwrap();
        let mut near = Vec::new();
        for _ in 0..60 {
            let record = rng.random_range(0..n as usize);
            let to = local.other_group(record, &mut rng);
            if let Some(change) = local.best(record, to, &mut near, &mut rng) {
                let before = cost(&local, &costs);
                local.make(change);
                prop_assert_eq!(before + i128::from(change.difference), cost(&local, &costs));
            }
        }
        assert_up_to_date(&local, labels, &costs);
        local.search(3, 1e7, &mut rng, &Control::new()).unwrap();
        assert_up_to_date(&local, labels, &costs);
        for members in &local.members {
            prop_assert!((k..2 * k).contains(&members.len()));
            if labelled {
                let mut labels: Vec<u32> = members.iter().map(|&member| local.label[member]).collect();
                labels.sort_unstable();
                prop_assert!(labels.windows(2).all(|pair| pair[0] < pair[1]));
            }
        }
    }
}
