//! Stories: what a consumer group does, a few lines each.

use proptest::prelude::*;

use crate::kafka::exception::ExceptionClass;
use crate::kafka::metric_name::ConsumerMetric;
use crate::kafka::settings::Assignor;
use crate::sim::Output;
use crate::sim::command::{BrokerFault, Command, ConsumerFault, LinkFault};
use crate::sim::config::{Config, ExistingTopic, Peer};
use crate::sim::fact::{Consumed, Fact, Flow, MemberLoss};
use crate::sim::ids::{BrokerIndex, ConsumerIndex, GroupIndex};
use crate::sim::testing::{Run, load, topic, with_group, world};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::{GroupPartitionView, GroupState, GroupView};

const GROUP: GroupIndex = GroupIndex(0);
const EARLIEST: (&str, &str) = ("auto.offset.reset", "earliest");
const KILL: BrokerFault = BrokerFault::Kill {
    lose_tail_records: 0,
};

/// A producer of so many records per second and a group of so many members.
fn read(rate: u64, members: u16, given: &[(&str, &str)]) -> Config {
    let mut config = world();
    config.producers[0].loads.push(load(rate));
    let mut given = given.to_vec();
    if !given.iter().any(|(key, _)| *key == EARLIEST.0) {
        given.push(EARLIEST);
    }
    with_group(config, members, &given)
}

fn cooperative() -> (&'static str, &'static str) {
    let class = Assignor::CooperativeSticky.class();
    ("partition.assignment.strategy", class)
}

fn slow(mut config: Config, records_per_second: u64) -> Config {
    for consumer in &mut config.consumers {
        consumer.micro_records_per_second = Some(records_per_second * 1_000_000);
    }
    config
}

fn group(run: &Run) -> GroupView {
    run.simulation.group(GROUP)
}

fn lag(run: &Run) -> u64 {
    group(run).lag().expect("something is committed")
}

fn partitions_of_members(run: &Run) -> Vec<usize> {
    let count = run.simulation.config().consumers.len() as u16;
    (0..count)
        .map(|place| run.simulation.consumer(ConsumerIndex(place)).assigned.len())
        .collect()
}

fn consumed(run: &Run) -> u64 {
    let count = run.simulation.config().consumers.len() as u16;
    let records = |place| run.simulation.consumer(ConsumerIndex(place)).totals.records;
    (0..count).map(records).sum()
}

fn do_to(consumer: u16, fault: ConsumerFault) -> Command {
    Command::Consumer(ConsumerIndex(consumer), fault)
}

fn left(run: &Run, consumer: u16, wanted: MemberLoss) -> Option<u64> {
    run.first(|fact| {
        *fact
            == Fact::MemberLeft {
                consumer: ConsumerIndex(consumer),
                why: wanted,
            }
    })
}

#[test]
fn a_new_group_waits_three_seconds_and_three_more_if_somebody_else_came() {
    let mut alone = Run::new(read(100, 1, &[]));
    alone.to(3_500);
    assert_eq!(group(&alone).state, GroupState::Stable);
    let mut run = Run::new(read(100, 3, &[]));
    run.to(5_900);
    assert_eq!(group(&run).state, GroupState::PreparingRebalance);
    run.to(6_500);
    assert_eq!(group(&run).state, GroupState::Stable);
    assert_eq!(partitions_of_members(&run), [4, 4, 4]);
}

#[test]
fn a_group_that_keeps_up_has_read_everything_that_is_committed() {
    let mut run = Run::new(read(1000, 3, &[]));
    run.to(60_000);
    let unread: u64 = group(&run)
        .partitions
        .iter()
        .filter_map(GroupPartitionView::unread)
        .sum();
    assert!(unread < 100, "{unread}");
    assert!(consumed(&run) > 59_000, "{}", consumed(&run));
}

#[test]
fn nothing_is_read_twice_and_nothing_left_out_while_nobody_fails() {
    let mut run = Run::new(read(2000, 4, &[]));
    let mut next = [0; 12];
    let mut out = Output::default();
    for second in 1..=40 {
        let _ = run
            .simulation
            .advance_to(SimTime::from_seconds(second), u64::MAX);
        run.simulation.drain(&mut out);
        for flow in &out.flows {
            if let Flow::Consumed(Consumed {
                partition,
                from_offset,
                to_offset,
                ..
            }) = flow
            {
                assert_eq!(next[partition.index()], *from_offset);
                next[partition.index()] = *to_offset;
            }
        }
    }
    assert!(next.iter().sum::<u64>() > 70_000);
}

#[test]
fn members_beyond_the_partitions_are_idle() {
    let mut run = Run::new(read(100, 15, &[]));
    run.to(20_000);
    assert_eq!((group(&run).members, group(&run).idle), (15, 3));
    assert_eq!(partitions_of_members(&run)[12..], [0, 0, 0]);
}

#[test]
fn a_slow_application_falls_behind_by_what_it_cannot_process() {
    let mut run = Run::new(slow(read(3000, 3, &[]), 500));
    run.to(66_000);
    // 6 s without a group, then 60 s in which 1,500 of 3,000 are read.
    let lag = lag(&run);
    assert!((105_000..116_000).contains(&lag), "{lag}");
    let max = run
        .simulation
        .consumer_metric(ConsumerIndex(0), ConsumerMetric::RecordsLagMax);
    assert!(max.is_some_and(|lag| lag > 5_000.0), "{max:?}");
}

#[test]
fn offsets_are_committed_every_five_seconds_and_not_between() {
    let mut run = Run::new(read(1000, 1, &[]));
    run.to(12_800);
    let early = group(&run).partitions[0].committed;
    run.to(13_000);
    assert_eq!(group(&run).partitions[0].committed, early);
    run.to(13_600);
    assert!(group(&run).partitions[0].committed > early);
}

#[test]
fn a_member_that_crashes_is_missed_after_its_session_and_its_work_is_read_again() {
    let mut run = Run::new(read(1000, 3, &[]));
    run.to(20_000).command(do_to(1, ConsumerFault::Crash));
    run.to(60_000);
    assert_eq!(partitions_of_members(&run), [4, 0, 4]);
    run.to(75_000);
    let missed = left(&run, 1, MemberLoss::SessionTimeout).expect("missed");
    assert!((62_000..65_100).contains(&missed), "{missed}");
    assert_eq!(partitions_of_members(&run), [6, 0, 6]);
    // Up to five seconds of its third were read and not committed.
    let twice = consumed(&run) - group(&run).partitions.iter().map(position).sum::<u64>();
    assert!((1..1_800).contains(&twice), "{twice}");
}

fn position(view: &GroupPartitionView) -> u64 {
    view.position.unwrap_or(0)
}

#[test]
fn a_member_that_closes_is_replaced_at_once_and_nothing_is_read_twice() {
    let mut run = Run::new(read(1000, 3, &[]));
    run.to(20_000).command(do_to(1, ConsumerFault::Close));
    run.to(30_000);
    assert_eq!(left(&run, 1, MemberLoss::Left), Some(20_000));
    assert_eq!(partitions_of_members(&run), [6, 0, 6]);
    let read_to: u64 = group(&run).partitions.iter().map(position).sum();
    assert_eq!(consumed(&run), read_to);
}

#[test]
fn a_stopped_process_is_out_of_its_group_and_comes_back_as_a_new_member() {
    let mut run = Run::new(read(1000, 3, &[]));
    run.to(20_000).command(do_to(1, ConsumerFault::Pause));
    run.to(80_000).command(do_to(1, ConsumerFault::Resume));
    assert_eq!(partitions_of_members(&run)[0], 6);
    run.to(95_000);
    assert!(left(&run, 1, MemberLoss::SessionTimeout).is_some());
    assert_eq!(partitions_of_members(&run), [4, 4, 4]);
}

#[test]
fn an_application_that_is_too_long_with_its_records_leaves_its_group() {
    let given = [
        ("max.poll.interval.ms", "20000"),
        ("session.timeout.ms", "10000"),
    ];
    // 500 records at 10 a second take 50 s.
    let mut run = Run::new(slow(read(3000, 2, &given), 10));
    run.to(60_000);
    let at = left(&run, 0, MemberLoss::PollInterval).expect("left");
    assert!((26_000..27_000).contains(&at), "{at}");
}

#[test]
fn without_a_reset_policy_poll_throws() {
    let mut run = Run::new(read(100, 1, &[("auto.offset.reset", "none")]));
    run.to(10_000);
    let thrown = run.facts.iter().find_map(|stamped| match &stamped.fact {
        Fact::ConsumerFailed { exception, .. } => Some(exception.clone()),
        _ => None,
    });
    let thrown = thrown.expect("thrown");
    assert!(thrown.class.is_java(ExceptionClass::NoOffsetForPartition));
    let start = "Undefined offset with no reset policy for partitions: [events-0, events-1";
    assert!(thrown.text.starts_with(start), "{}", thrown.text);
}

#[test]
fn a_group_that_begins_at_latest_never_reads_what_was_there() {
    let mut run = Run::new(read(1000, 2, &[("auto.offset.reset", "latest")]));
    run.to(30_000);
    let read = consumed(&run);
    // Everything but the six seconds before the group was stable.
    assert!((23_500..24_300).contains(&read), "{read}");
}

#[test]
fn a_newcomer_stops_an_eager_group_and_not_a_cooperative_one() {
    for (strategy, stops) in [(None, true), (Some(cooperative()), false)] {
        let given: Vec<_> = strategy.into_iter().collect();
        let mut config = read(1000, 3, &given);
        config.consumers[2].start = SimTime::from_seconds(30);
        let mut run = Run::new(config);
        let mut fewest = usize::MAX;
        for step in 0..2_000 {
            run.to(30_000 + step * 2);
            let members = partitions_of_members(&run);
            fewest = fewest.min(members[0] + members[1]);
        }
        assert_eq!(partitions_of_members(&run), [4, 4, 4]);
        assert_eq!(fewest == 0, stops, "{strategy:?}");
    }
}

#[test]
fn fetches_follow_a_partition_to_its_next_leader() {
    let mut config = read(1000, 2, &[]);
    config.topics[0] = topic("events", 12, 3);
    let mut run = Run::new(config);
    run.to(20_000)
        .command(Command::Broker(BrokerIndex(1), KILL));
    run.to(90_000);
    let unread: u64 = group(&run)
        .partitions
        .iter()
        .filter_map(GroupPartitionView::unread)
        .sum();
    assert!(unread < 200, "{unread}");
}

#[test]
fn a_group_outlives_every_coordinator_that_dies_in_turn() {
    let mut config = read(1000, 2, &[]);
    config.topics[0] = topic("events", 12, 3);
    let mut run = Run::new(config);
    run.to(10_000);
    let first = group(&run).coordinator.expect("a coordinator");
    run.command(Command::Broker(first, KILL));
    run.to(60_000);
    assert_ne!(group(&run).coordinator, Some(first));
    assert_eq!(group(&run).state, GroupState::Stable);
    assert_eq!(partitions_of_members(&run), [6, 6]);
}

#[test]
fn a_cut_member_is_out_and_catches_up_when_the_network_is_back() {
    let mut run = Run::new(read(1000, 2, &[]));
    let member = Peer::Member(GROUP, 2);
    run.to(20_000)
        .command(Command::Link(member, Peer::Any, LinkFault::Cut));
    run.to(90_000);
    assert_eq!(group(&run).members, 1);
    run.command(Command::Link(member, Peer::Any, LinkFault::Heal));
    run.to(160_000);
    assert_eq!(partitions_of_members(&run), [6, 6]);
    assert!(lag(&run) < 10_000);
}

#[test]
fn a_refused_member_comes_back_after_the_firewall_is_open_again() {
    let mut run = Run::new(read(1000, 2, &[]));
    let members = Peer::Group(GROUP);
    run.to(20_000)
        .command(Command::Link(members, Peer::Any, LinkFault::Refuse));
    run.to(40_000)
        .command(Command::Link(members, Peer::Any, LinkFault::Heal));
    run.to(60_000);
    assert_eq!(partitions_of_members(&run), [6, 6]);
    assert!(lag(&run) < 10_000, "{}", lag(&run));
}

#[test]
fn a_fetch_waits_for_its_bytes_and_no_longer_than_it_may() {
    let given = [("fetch.min.bytes", "1000000"), ("fetch.max.wait.ms", "500")];
    let mut run = Run::new(read(100, 1, &given));
    run.to(60_000);
    let metric = |metric| run.simulation.consumer_metric(ConsumerIndex(0), metric);
    let latency = metric(ConsumerMetric::FetchLatencyAvg).expect("a latency");
    assert!((500.0..503.0).contains(&latency), "{latency}");
}

#[test]
fn a_slow_link_limits_what_a_member_reads() {
    let mut config = read(3000, 1, &[]);
    let limit = LinkFault::Limit(Some(500_000));
    let member = Peer::Member(GROUP, 1);
    let command = Command::Link(member, Peer::Any, limit);
    config.timeline.push((SimTime::ZERO, command));
    let mut run = Run::new(config);
    run.to(60_000);
    let bytes = run.simulation.consumer(ConsumerIndex(0)).totals.bytes;
    assert!((60_000_000..90_000_000).contains(&bytes), "{bytes}");
}

#[test]
fn a_topic_that_only_consumers_ask_for_is_created_for_them() {
    let mut config = with_group(world(), 1, &[]);
    config.topics[0].existing = None::<ExistingTopic>;
    config.producers.clear();
    let mut run = Run::new(config);
    run.to(20_000);
    assert_eq!(partitions_of_members(&run), [1]);
}

#[test]
fn no_call_is_forgotten_whatever_befalls_the_group() {
    let mut config = read(500, 3, &[]);
    config.topics[0] = topic("events", 12, 3);
    let at = SimTime::from_seconds;
    let cut = |fault| Command::Link(Peer::Group(GROUP), Peer::Broker(BrokerIndex(0)), fault);
    config.timeline = vec![
        (at(10), do_to(0, ConsumerFault::Crash)),
        (at(20), do_to(0, ConsumerFault::Restart)),
        (at(30), Command::Broker(BrokerIndex(1), KILL)),
        (at(60), Command::Broker(BrokerIndex(1), BrokerFault::Start)),
        (at(70), cut(LinkFault::Cut)),
        (at(110), cut(LinkFault::Heal)),
        (at(120), do_to(1, ConsumerFault::Restart)),
    ];
    let mut run = Run::new(config);
    run.to(189_000);
    // A fetch to each broker, and now and then a heartbeat or a commit.
    let live = run.simulation.calls.live();
    assert!(live <= 18, "{live}");
    assert_eq!(group(&run).state, GroupState::Stable);
}

fn eventful(members: u16, strategy: Option<(&'static str, &'static str)>) -> Config {
    let given: Vec<_> = strategy.into_iter().collect();
    let mut config = slow(read(400, members, &given), 300);
    config.topics[0] = topic("events", 7, 2);
    config.duration = SimSpan::from_seconds(80);
    config.link.jitter = SimSpan::from_micros(300);
    config.consumers[0].start = SimTime::from_millis(12_345);
    let at = SimTime::from_millis;
    config.timeline = vec![
        (at(15_000), do_to(1, ConsumerFault::Restart)),
        (at(20_000), do_to(0, ConsumerFault::Pause)),
        (at(22_000), Command::Broker(BrokerIndex(0), KILL)),
        (at(40_000), do_to(0, ConsumerFault::Resume)),
        (at(50_000), do_to(1, ConsumerFault::Close)),
        (
            at(60_000),
            Command::Broker(BrokerIndex(0), BrokerFault::Start),
        ),
    ];
    config
}

#[test]
fn a_copy_of_a_run_goes_on_as_the_run_does() {
    let mut run = Run::new(eventful(3, None));
    run.to(30_000);
    let mut copy = run.simulation.clone();
    run.to(80_000);
    let _ = copy.advance_to(SimTime::from_seconds(80), u64::MAX);
    assert_eq!(copy.digest(), run.simulation.digest());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn how_a_run_with_consumers_is_cut_into_slices_changes_nothing(
        cuts in prop::collection::vec(1_u64..80_000_000_000, 0..12), members in 2_u16..5,
        is_cooperative: bool,
    ) {
        let strategy = is_cooperative.then(cooperative);
        let mut whole = Run::new(eventful(members, strategy));
        whole.to(80_000);
        let mut sliced = Run::new(eventful(members, strategy));
        let mut cuts = cuts;
        cuts.sort_unstable();
        for cut in cuts {
            sliced.until_nanos(cut);
        }
        sliced.to(80_000);
        prop_assert_eq!(whole.simulation.digest(), sliced.simulation.digest());
        prop_assert_eq!(group(&whole), group(&sliced));
    }
}
