//! `kafka-consumer-groups.sh` and `kafka-get-offsets.sh` as people meet them.

use proptest::prelude::*;

use super::*;
use crate::sim::command::{
    Command, DryRun, GroupDetail, GroupScope, GroupsInquiry, Inquiry, OffsetTime, OffsetsInquiry,
    ResetOffsets, ResetTo, TopicFilter,
};
use crate::sim::ids::{GroupIndex, TopicIndex, TopicPartition};

fn names() -> Names {
    Names::for_tests(&["trips"], &[1, 2], &[("events", 12), ("rides-eu", 2)])
        .with_groups(&[("billing", 1), ("timelines", 3)])
}

fn message(line: &str) -> String {
    parse(line, &names()).unwrap_err().message
}

#[test]
fn a_tool_takes_one_action() {
    let message = message("kafka-consumer-groups.sh --list --describe --group billing");
    assert!(
        message.starts_with("Command must include exactly one action"),
        "{message}"
    );
}

#[test]
fn a_reset_needs_to_know_where_to_and_of_what() {
    let line = "kafka-consumer-groups.sh --reset-offsets --group billing";
    assert!(message(line).starts_with("One of the reset scopes"));
    assert!(message(&format!("{line} --topic events")).starts_with("--reset-offsets takes one of"));
    let both = format!("{line} --topic events --to-latest --execute --dry-run");
    assert!(message(&both).contains("can't be used with"));
}

#[test]
fn a_group_that_is_not_there_gets_the_nearest_name() {
    let line = "kafka-consumer-groups.sh --describe --group biling";
    let problem = parse(line, &names()).unwrap_err();
    assert_eq!(problem.message, "there is no consumer group `biling`");
    assert_eq!(problem.hint.as_deref(), Some("did you mean `billing`?"));
}

#[test]
fn the_end_of_a_range_of_partitions_is_not_in_it() {
    let line = "kafka-get-offsets.sh --topic-partitions events:0-2,rides-eu:1";
    let Ok(Command::Inquire(Inquiry::Offsets(inquiry))) = parse(line, &names()) else {
        panic!("it is understood");
    };
    let shown = inquiry
        .partitions
        .iter()
        .map(|name| names().partition_name(*name));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        ["events-0", "events-1", "rides-eu-1"]
    );
}

#[test]
fn flags_and_groups_are_completed() {
    let offers = |line: &str| {
        let offers = complete(line, line.len(), &names());
        offers
            .into_iter()
            .map(|offer| offer.text)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        offers("kafka-consumer-groups.sh --describe --group t"),
        ["timelines"]
    );
    assert_eq!(offers("kafka-consumer-groups.sh --to-e"), ["--to-earliest"]);
    assert_eq!(offers("kafka-get-offsets.sh --topic r"), ["rides-eu"]);
}

fn any_partitions() -> impl Strategy<Value = Vec<TopicPartition>> {
    let topic = TopicIndex(0);
    let partition = (0..12_u32).prop_map(move |number| TopicPartition { topic, number });
    prop::collection::vec(partition, 1..4)
}

fn any_reset() -> impl Strategy<Value = ResetOffsets> {
    let scope = prop_oneof![
        Just(GroupScope::AllTopics),
        Just(GroupScope::Topics(vec![TopicIndex(1), TopicIndex(0)])),
        any_partitions().prop_map(GroupScope::Partitions),
    ];
    let to = prop_oneof![
        Just(ResetTo::Earliest),
        Just(ResetTo::Latest),
        Just(ResetTo::Current),
        any::<i64>().prop_map(ResetTo::ShiftBy),
        any::<u64>().prop_map(ResetTo::Offset),
    ];
    (0..2_u16, scope, to).prop_map(|(group, scope, to)| ResetOffsets {
        group: GroupIndex(group),
        scope,
        to,
    })
}

fn any_command() -> impl Strategy<Value = Command> {
    let group = || (0..2_u16).prop_map(GroupIndex);
    let detail = prop::sample::select(vec![
        GroupDetail::Offsets,
        GroupDetail::Members,
        GroupDetail::MembersVerbose,
        GroupDetail::State,
    ]);
    let dry_run = prop::sample::select(vec![DryRun::Asked, DryRun::Assumed]);
    let groups = prop_oneof![
        Just(GroupsInquiry::List),
        (prop::option::of(group()), detail)
            .prop_map(|(group, detail)| GroupsInquiry::Describe(group, detail)),
        (any_reset(), dry_run).prop_map(|(reset, dry)| GroupsInquiry::PlanReset(reset, dry)),
    ];
    let time = prop::sample::select(vec![OffsetTime::Earliest, OffsetTime::Latest]);
    let offsets = (prop_oneof![Just(Vec::new()), any_partitions()], time)
        .prop_map(|(partitions, time)| OffsetsInquiry { partitions, time });
    let filter = prop::sample::select(vec![
        TopicFilter::WithOverrides,
        TopicFilter::UnderReplicated,
        TopicFilter::Unavailable,
        TopicFilter::UnderMinIsr,
        TopicFilter::AtMinIsr,
    ]);
    let topics = (prop::option::of((0..2_u16).prop_map(TopicIndex)), filter)
        .prop_map(|(topic, filter)| Inquiry::FilterTopics(topic, filter));
    prop_oneof![
        groups.prop_map(Inquiry::Groups).prop_map(Command::Inquire),
        offsets
            .prop_map(Inquiry::Offsets)
            .prop_map(Command::Inquire),
        topics.prop_map(Command::Inquire),
        any_reset().prop_map(Command::ResetOffsets),
        (group(), any_partitions()).prop_map(|(group, partitions)| Command::DeleteOffsets {
            group,
            scope: GroupScope::Partitions(partitions),
        }),
        group().prop_map(Command::DeleteGroup),
    ]
}

proptest! {
    #[test]
    fn every_command_reads_back_from_its_line(command in any_command()) {
        let line = render(&command, &names());
        prop_assert_eq!(parse(&line, &names()), Ok(command), "{}", line);
    }
}
