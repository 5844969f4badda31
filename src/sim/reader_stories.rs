//! Consumer groups on topics that get more partitions: what they skip, and what they read too late.

use proptest::prelude::*;

use crate::sim::command::Command;
use crate::sim::config::{Config, HistoryDetail};
use crate::sim::fact::Fact;
use crate::sim::ids::{ConsumerIndex, GroupIndex, ProducerIndex, TopicIndex};
use crate::sim::read_order::GroupReads;
use crate::sim::testing::{Run, load, producer, rdkafka, topic, with_group, world};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::GroupPartitionView;

const GROUP: GroupIndex = GroupIndex(0);
const EVENTS: TopicIndex = TopicIndex(0);
const SIX: Command = Command::AddPartitions {
    topic: EVENTS,
    partitions: 6,
};

/// Three partitions that become six at the tenth second, a producer that learns it at the
/// `learned` second, and a group that does at `discovered`, with this reset policy.
fn growing((learned, discovered): (u64, u64), reset: &str) -> Config {
    let mut config = world();
    config.topics = vec![topic("events", 3, 1)];
    let existing = config.topics[0].existing.as_mut().expect("it exists");
    existing.history = HistoryDetail::Records;
    let age = (learned * 1000).to_string();
    config.producers = vec![producer("app", &[("metadata.max.age.ms", &age)])];
    config.producers[0].loads.push(load(1_000));
    config.timeline.push((SimTime::from_seconds(10), SIX));
    let age = (discovered * 1000).to_string();
    let given = [("metadata.max.age.ms", &*age), ("auto.offset.reset", reset)];
    with_group(config, 3, &given)
}

/// The same, with members that process so many records a second.
fn slow(mut config: Config, records_per_second: u64) -> Config {
    for consumer in &mut config.consumers {
        consumer.micro_records_per_second = Some(records_per_second * 1_000_000);
    }
    config
}

/// Records that were written to partitions 3, 4 and 5 and that the group began behind.
fn skipped(run: &Run) -> u64 {
    let offsets = run.facts.iter().filter_map(|stamped| match stamped.fact {
        Fact::OffsetReset {
            partition, offset, ..
        } if partition.name().number >= 3 => Some(offset),
        _ => None,
    });
    offsets.sum()
}

fn reads(run: &Run) -> &GroupReads {
    let reads = run.simulation.reads_out_of_order(GROUP);
    reads.expect("records are remembered")
}

fn partitions_of(run: &Run, consumer: u16) -> Vec<u32> {
    let view = run.simulation.consumer(ConsumerIndex(consumer));
    let assigned = view.assigned.iter();
    assigned.map(|one| one.partition.name().number).collect()
}

#[test]
fn a_group_rejoins_when_its_leader_discovers_new_partitions_and_they_come_in_order() {
    let mut run = Run::new(growing((12, 20), "earliest"));
    run.to(19_000);
    assert_eq!([0, 1, 2].map(|n| partitions_of(&run, n)), [[0], [1], [2]]);
    run.to(30_000);
    let expected = [[0, 1], [2, 3], [4, 5]];
    assert_eq!([0, 1, 2].map(|n| partitions_of(&run, n)), expected);
    let discovered =
        run.first(|fact| matches!(fact, Fact::PartitionsDiscovered { partitions: 6, .. }));
    let discovered = discovered.expect("discovered");
    assert!((20_000..20_500).contains(&discovered), "{discovered}");
    let rebalanced = run.facts.iter().any(|stamped| {
        let is_late = stamped.at.as_millis() >= discovered;
        is_late && matches!(stamped.fact, Fact::GroupRebalancing { .. })
    });
    assert!(rebalanced);
}

#[test]
fn lag_of_new_partitions_counts_once_the_group_commits_there() {
    let mut run = Run::new(growing((12, 20), "earliest"));
    run.to(40_000);
    let group = run.simulation.group(GROUP);
    assert_eq!(group.partitions.len(), 6);
    let lags: Vec<_> = group
        .partitions
        .iter()
        .map(GroupPartitionView::lag)
        .collect();
    assert!(
        lags.iter().all(|lag| lag.is_some_and(|lag| lag < 2_000)),
        "{lags:?}"
    );
}

#[test]
fn a_group_at_latest_never_reads_what_new_partitions_got_before_it_looked() {
    let mut run = Run::new(growing((12, 20), "latest"));
    run.to(40_000);
    // Half of 1,000 records/s for eight seconds, and until the group is stable again.
    let skipped = skipped(&run);
    assert!((3_900..5_900).contains(&skipped), "{skipped}");
    let group = run.simulation.group(GROUP);
    let unread = group
        .partitions
        .iter()
        .filter_map(GroupPartitionView::unread);
    assert!(unread.sum::<u64>() < 200);
}

#[test]
fn a_group_at_earliest_skips_nothing() {
    let mut run = Run::new(growing((12, 20), "earliest"));
    run.to(40_000);
    assert_eq!(skipped(&run), 0);
}

#[test]
fn a_group_at_latest_that_discovers_new_partitions_first_skips_nothing() {
    let mut run = Run::new(growing((30, 12), "latest"));
    run.to(60_000);
    assert!(
        run.first(|fact| matches!(fact, Fact::PartitionsLearned { .. }))
            .is_some()
    );
    assert_eq!(skipped(&run), 0);
}

#[test]
fn a_group_that_keeps_up_reads_every_key_in_order() {
    let mut run = Run::new(growing((12, 11), "earliest"));
    run.to(40_000);
    assert!(
        run.simulation
            .split_keys(EVENTS)
            .is_some_and(|keys| keys > 2_000)
    );
    assert_eq!((reads(&run).records, reads(&run).keys), (0, 0));
}

#[test]
fn a_group_that_is_behind_on_the_old_half_reads_keys_out_of_order() {
    // 600 of 1,000 records/s: members with old partitions are behind, new ones begin at the end.
    let mut run = Run::new(slow(growing((12, 11), "earliest"), 200));
    run.to(60_000);
    let keys = reads(&run).keys;
    assert!(keys > 100, "{keys}");
    let said = run.facts.iter();
    let said = said.filter(|stamped| matches!(stamped.fact, Fact::OutOfOrderRead { .. }));
    assert_eq!(said.count() as u64, keys);
    assert!(reads(&run).records >= keys);
}

#[test]
fn a_record_out_of_order_is_on_the_old_partition_and_overtaken_on_the_new_one() {
    let mut run = Run::new(slow(growing((12, 11), "earliest"), 200));
    run.to(60_000);
    let late = reads(&run).first.expect("out of order");
    assert!(late.partition.name().number < 3 && late.overtaken_on.name().number >= 3);
    assert!(late.written < late.overtaken_by);
}

#[test]
fn an_rdkafka_producer_learns_of_new_partitions_at_its_refresh() {
    let mut config = growing((12, 20), "earliest");
    let interval = |settings: &mut crate::kafka::settings::RdkafkaProducerSettings| {
        settings.metadata.refresh_interval_ms = Some(15_000);
    };
    let load = config.producers[0].loads.remove(0);
    config.producers[0] = rdkafka("app", interval);
    config.producers[0].loads.push(load);
    let mut run = Run::new(config);
    run.to(14_900);
    let written = |run: &Run| -> u64 {
        let views = run.simulation.partition_views();
        views[3..6].iter().map(|view| view.records_in).sum()
    };
    assert_eq!(written(&run), 0);
    run.to(20_000);
    assert!(written(&run) > 1_500, "{}", written(&run));
    let learned = run.first(|fact| {
        matches!(
            fact,
            Fact::PartitionsLearned {
                producer: ProducerIndex(0),
                to: 6,
                ..
            }
        )
    });
    assert!(
        learned.is_some_and(|at| (15_000..16_100).contains(&at)),
        "{learned:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    #[test]
    fn what_is_read_out_of_order_does_not_depend_on_how_a_run_is_sliced(
        cuts in prop::collection::vec(0_u64..40_000_000, 1..20),
    ) {
        let told = |cuts: &[u64]| {
            let mut config = slow(growing((12, 11), "earliest"), 200);
            config.duration = SimSpan::from_seconds(40);
            let mut run = Run::new(config);
            for cut in cuts {
                run.until_nanos(cut * 1000);
            }
            run.to(40_000);
            let late = run.facts.iter();
            let late = late.filter(|told| matches!(told.fact, Fact::OutOfOrderRead { .. }));
            let told: Vec<_> = late.map(|told| (told.at, told.fact.clone())).collect();
            (told, reads(&run).records)
        };
        let mut cuts = cuts;
        cuts.sort_unstable();
        prop_assert_eq!(told(&cuts), told(&[]));
    }
}
