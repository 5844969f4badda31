//! The tools that show and move the offsets of consumer groups.
//!
//! The group's offsets are set before its member comes, and the member commits none: what the
//! recording's program committed by hand.

use std::fmt::Write;

use kdrill::scenario::{self, Overrides, Paint, Source};
use kdrill::session::{Memory, Session};

use crate::comparison::Comparison;
use crate::golden;
use crate::tools::{Step, walk};

const STEPS: &[Step] = {
    use Step::{Do, Tool, Until};
    &[
        Until(7),
        Tool("040-offsets-latest"),
        Tool("041-offsets-earliest"),
        Tool("043-offsets-some-partitions"),
        Tool("044-offsets-missing"),
        Tool("047-groups-describe-missing"),
        Do(
            "kafka-consumer-groups.sh --reset-offsets --group billing --topic events:0 \
            --to-offset 30 --execute",
        ),
        Do(
            "kafka-consumer-groups.sh --reset-offsets --group billing --topic events:1 \
            --to-offset 20 --execute",
        ),
        Do(
            "kafka-consumer-groups.sh --reset-offsets --group billing --topic events:2 \
            --to-offset 25 --execute",
        ),
        Until(20),
        Tool("048-groups-list"),
        Tool("049-groups-describe"),
        Tool("050-groups-members"),
        Tool("051-groups-members-verbose"),
        Tool("052-groups-state"),
        Tool("053-groups-reset-active"),
        Do("consumer crash billing"),
        Until(80),
        Tool("054-groups-describe-left"),
        Tool("055-groups-state-left"),
        Tool("056-groups-reset-dry-run"),
        Tool("057-groups-reset-shift"),
        Tool("058-groups-describe-reset"),
        Tool("059-groups-reset-neither"),
        Tool("060-groups-delete-offsets"),
        Tool("061-groups-delete"),
    ]
};

/// Every recorded tool about groups.
pub fn compare() -> Vec<Comparison> {
    walk(&golden::of("tools"), &mut cluster(), STEPS)
}

fn cluster() -> Session {
    let mut text = r#"# What do the tools say of a group?
[scenario]
format = 1
title = "groups"
duration = "90s"
[cluster]
brokers = 3
[[topic]]
name = "events"
partitions = 3
replication-factor = 3
leaders = [1, 2, 3]
[[producer]]
name = "filler"
[[consumer]]
group = "billing"
topic = "events"
start = "10s"
config.client.id = "billing-1"
config.enable.auto.commit = false
config.partition.assignment.strategy = "org.apache.kafka.clients.consumer.RangeAssignor"
"#
    .to_owned();
    for number in 0..90 {
        let _written = write!(
            text,
            "[[producer.script]]\nat = \"1s\"\n\
             do = 'produce events partition={} value=record-{number}'\n",
            number % 3
        );
    }
    let name = "groups".to_string();
    let scenario = scenario::load(Source::Text { name, text }, &Overrides::default())
        .unwrap_or_else(|problems| panic!("{}", problems.render(Paint::Plain)));
    Session::with_memory(scenario.into(), Memory::ForwardsOnly)
}
