//! Producers with librdkafka: what they can say, and what only they can.

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
