//! The simulation beside what real clients and brokers did.
//!
//! `conformance/run` records the real ones into `tests/golden/real`. Every recorded case is compared
//! here, or stands in [`not_yet_modelled::NOT_YET_MODELLED`]; a row there may stand only while
//! there is no comparison or the comparison fails. The table of `docs/conformance.md` is written
//! from the same comparisons: `KDRILL_UPDATE=1 cargo test --test conformance` writes it anew.

mod comparison;
mod dead_leader;
mod dead_leader_live;
mod exceptions;
mod failover;
mod full_buffer;
mod full_buffer_live;
mod golden;
mod java_config;
mod keys;
mod keys_command;
mod keys_rdkafka;
mod linger;
mod lost_follower;
mod not_yet_modelled;
mod partitions_added;
mod rdkafka_config;
mod rdkafka_queue;
mod retries;
mod retries_live;
mod retries_moved;
mod retries_reset;
mod sizes;
mod sizes_compressed;
mod sticky;
mod sticky_live;
mod table;
mod tools;
mod tools_groups;
mod trace;
mod transactions;
mod transactions_hanging;
mod transactions_live;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::LazyLock;

use comparison::Comparison;
use not_yet_modelled::{NOT_YET_MODELLED, matches};

/// What compares the cases of each probe.
const COMPARED: [fn() -> Vec<Comparison>; 26] = [
    dead_leader::compare,
    dead_leader_live::compare,
    failover::compare,
    full_buffer::compare,
    full_buffer_live::compare,
    java_config::compare,
    keys::compare,
    keys_rdkafka::compare,
    linger::compare,
    lost_follower::compare,
    partitions_added::compare,
    rdkafka_config::compare,
    rdkafka_queue::compare,
    retries::compare,
    retries_live::compare,
    retries_moved::compare,
    retries_reset::compare,
    sizes::compare,
    sizes_compressed::compare,
    sticky::compare,
    sticky_live::compare,
    tools::compare,
    tools_groups::compare,
    transactions::compare,
    transactions_hanging::compare,
    transactions_live::compare,
];

static COMPARISONS: LazyLock<Vec<Comparison>> = LazyLock::new(|| {
    let compared = std::thread::scope(|scope| {
        let running: Vec<_> = COMPARED
            .iter()
            .map(|compare| scope.spawn(compare))
            .collect();
        let finished = running.into_iter().map(std::thread::ScopedJoinHandle::join);
        finished.collect::<Result<Vec<_>, _>>()
    });
    compared.expect("comparing does not panic").concat()
});

fn is_listed(case: &str) -> bool {
    NOT_YET_MODELLED.iter().any(|entry| matches(entry, case))
}

#[test]
fn what_is_modelled_agrees_with_what_was_recorded() {
    let mut report = String::new();
    for comparison in COMPARISONS
        .iter()
        .filter(|comparison| !is_listed(&comparison.case))
    {
        for figure in comparison.differences() {
            let _written = writeln!(
                report,
                "{} {}: real {}, simulated {} ({}), allowed {:?}",
                comparison.case,
                figure.name,
                figure.real,
                figure.simulated,
                figure.difference(),
                figure.tolerance,
            );
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn every_recorded_case_is_compared_or_listed() {
    let compared: BTreeSet<_> = COMPARISONS.iter().map(|c| c.case.as_str()).collect();
    let mut forgotten = Vec::new();
    for golden in golden::all() {
        let paths = golden.cases.keys().map(|case| golden.path(case));
        forgotten
            .extend(paths.filter(|path| !compared.contains(path.as_str()) && !is_listed(path)));
    }
    assert!(
        forgotten.is_empty(),
        "neither compared nor listed: {forgotten:#?}"
    );
}

#[test]
fn a_case_is_listed_only_while_nothing_shows_that_it_agrees() {
    let agrees: Vec<_> = COMPARISONS
        .iter()
        .filter(|comparison| comparison.holds() && is_listed(&comparison.case))
        .map(|comparison| &comparison.case)
        .collect();
    assert!(agrees.is_empty(), "take these off the list: {agrees:#?}");
}

#[test]
fn every_entry_of_the_list_names_a_recorded_case() {
    let recorded: Vec<_> = golden::all()
        .iter()
        .flat_map(|golden| {
            golden
                .cases
                .keys()
                .map(|case| golden.path(case))
                .collect::<Vec<_>>()
        })
        .collect();
    for entry in NOT_YET_MODELLED {
        assert!(
            recorded.iter().any(|case| matches(entry, case)),
            "{entry} was never recorded"
        );
    }
}

#[test]
fn every_comparison_is_of_a_recorded_case_and_only_one() {
    let mut seen = BTreeSet::new();
    for comparison in COMPARISONS.iter() {
        let (probe, case) = comparison.case.split_once('/').expect("probe/case");
        assert!(
            golden::of(probe).cases.contains_key(case),
            "{}",
            comparison.case
        );
        assert!(
            seen.insert(&comparison.case),
            "{} is compared twice",
            comparison.case
        );
    }
}

#[test]
fn the_table_of_the_documentation_is_current() {
    table::assert_current(&COMPARISONS);
}
