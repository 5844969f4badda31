//! Producers with librdkafka: what they can say, and what only they can.

use std::sync::Arc;

use crate::kafka::config::rdkafka;
use crate::kafka::rdkafka_partitioner::RdkafkaPartitioner;
use crate::kafka::rdkafka_version::RdkafkaVersion;
use crate::kafka::settings::{DeliveryReports, RdkafkaProducerSettings};
use crate::sim::config::{Call, Config, OnRefused, Polling};
use crate::sim::time::SimSpan;

use super::*;

/// [`SMALL`] with librdkafka, and more lines for the producer and its load.
fn small(producer: &str, load: &str) -> String {
    let client = format!("name = \"trips\"\nclient = \"librdkafka\"\n{producer}");
    small_and(load).replacen("name = \"trips\"", &client, 1)
}

/// [`SMALL`] with a Java client, and the same.
fn java(producer: &str, load: &str) -> String {
    let client = format!("name = \"trips\"\n{producer}");
    small_and(load).replacen("name = \"trips\"", &client, 1)
}

fn all(texts: &[String]) -> String {
    let refused: Vec<String> = texts.iter().map(|text| refused(text)).collect();
    refused.join("\n\n")
}

#[test]
fn librdkafka_refuses_its_configuration_in_its_own_words() {
    golden(
        "librdkafka_refuses_its_configuration_in_its_own_words",
        &all(&[
            small("config.buffer.memory = 33554432\nconfig.linger.sm = 5", ""),
            small(
                "config.batch.size = 0\nconfig.partitioner = \"murmur3\"",
                "",
            ),
            small("config.enable.idempotence = true\nconfig.acks = 1", ""),
            small("config.linger.ms = 900000", ""),
            small("config.dr_msg_cb = \"print\"", ""),
            small("version = \"1.9\"", ""),
            small("config.transactional.id = \"t\"", ""),
        ]),
    );
}

#[test]
fn what_only_librdkafka_has_is_refused_for_java() {
    golden(
        "what_only_librdkafka_has_is_refused_for_java",
        &all(&[
            java("delivery-report = \"none\"", ""),
            java("", "poll = \"never\"\n"),
            java("", "on-refused = \"block\"\n"),
            java("", "[[producer.script]]\ndo = \"poll 1s\"\n"),
            java(
                "version = \"2.16\"\nclient = \"java\"",
                "poll = { every = 0 }\n",
            ),
            java("version = \"9.0\"", ""),
        ]),
    );
}

#[test]
fn waiting_for_what_never_comes_is_refused() {
    golden(
        "waiting_for_what_never_comes_is_refused",
        &all(&[
            small("", "poll = \"soon\"\n"),
            small("", "poll = \"0s\"\n"),
            small(
                "delivery-report = \"none\"",
                "await = \"each\"\non-failed = \"resend\"\n",
            ),
            small(
                "config.delivery.report.only.error = true",
                "await = { every = 5 }\n",
            ),
            small(
                "delivery-report = \"none\"",
                "[[producer.script]]\ndo = \"produce events await=true\"\n",
            ),
            small(
                "",
                "throttle = { metric = \"bufferpool-wait-ratio\", above = 0.1, factor = 0.5 }\n",
            ),
        ]),
    );
}

fn config(text: &str) -> Arc<Config> {
    load_text(text).unwrap().config
}

fn client(config: &Config) -> &RdkafkaProducerSettings {
    config.producers[0].client.rdkafka().unwrap()
}

#[test]
fn a_producer_with_librdkafka_has_its_defaults_and_not_the_clusters_version() {
    let config = config(&small("", ""));
    let defaults = RdkafkaProducerSettings::defaults(RdkafkaVersion::DEFAULT);
    assert_eq!(*client(&config), defaults);
    assert_eq!(config.producers[0].loads[0].polling, Polling::Calls(1));
}

#[test]
fn properties_work_by_all_their_names_and_a_version_is_librdkafkas() {
    let lines = "version = \"2.12.1\"\nconfig.linger.ms = 0.5\n\
                 config.partitioner = \"murmur2_random\"\n\
                 config.queue.buffering.max.messages = 100";
    let config = config(&small(lines, ""));
    let client = client(&config);
    assert_eq!(client.version, RdkafkaVersion::new(2, 12, 1));
    assert_eq!(client.linger_us, 500);
    assert_eq!(client.partitioner, RdkafkaPartitioner::Murmur2Random);
    assert_eq!(client.queue.messages_max, Some(100));
}

#[test]
fn a_load_is_polled_by_calls_by_time_or_never() {
    for (written, polling) in [
        ("{ every = 100 }", Polling::Calls(100)),
        ("\"100ms\"", Polling::Interval(SimSpan::from_millis(100))),
        ("\"never\"", Polling::Never),
    ] {
        let config = config(&small("", &format!("poll = {written}\n")));
        assert_eq!(config.producers[0].loads[0].polling, polling);
    }
}

#[test]
fn a_full_queue_can_block_and_a_note_says_what_that_means_without_another_thread() {
    let blocks = small("", "on-refused = \"block\"\n");
    assert_eq!(
        config(&blocks).producers[0].loads[0].on_refused,
        OnRefused::Block
    );
    assert!(
        noted(&blocks).contains("nobody polls while"),
        "{}",
        noted(&blocks)
    );
    let polled = small("", "on-refused = \"block\"\npoll = \"10ms\"\n");
    assert_eq!(noted(&polled), "");
}

#[test]
fn an_application_without_a_callback_keeps_none_when_its_configuration_changes() {
    let config = config(&small("delivery-report = \"none\"", ""));
    assert_eq!(client(&config).delivery_reports, DeliveryReports::None);
    let changed = rdkafka::change(client(&config), &[]).unwrap();
    assert_eq!(changed.delivery_reports, DeliveryReports::None);
}

#[test]
fn a_script_polls() {
    let script = "[[producer.script]]\ndo = \"poll\"\n[[producer.script]]\ndo = \"poll 1s\"\n";
    let config = config(&small("", script));
    let calls: Vec<_> = config.producers[0]
        .script
        .iter()
        .map(|step| &step.call)
        .collect();
    assert_eq!(
        calls,
        [
            &Call::Poll(SimSpan::ZERO),
            &Call::Poll(SimSpan::from_seconds(1))
        ]
    );
}

#[test]
fn what_librdkafka_silently_changes_is_noted() {
    let noted = noted(&small(
        "rack = \"r1\"\nconfig.linger.ms = 0\nconfig.batch.size = \"16k\"",
        "",
    ));
    for part in [
        "only librdkafka's consumers have a rack",
        "do not stick",
        "reads 16",
    ] {
        assert!(noted.contains(part), "{noted}");
    }
}
