//! Stories about librdkafka's configuration: what it takes, changes and refuses.

use super::super::super::rdkafka_partitioner::RdkafkaPartitioner;
use super::super::super::settings::{
    Acks, CompressionType, QueuingStrategy, RdkafkaIdempotence, RequiredAcks,
};
use super::super::definition::DefaultValue;
use super::super::grammar::Value;
use super::*;

type Answer = Result<(RdkafkaProducerSettings, Vec<Note>), Vec<ConfigProblem>>;

/// A configuration as `name=value;name=value`.
fn check(config: &str) -> Answer {
    let pairs: Vec<_> = config
        .split(';')
        .filter_map(|entry| entry.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    validate(RdkafkaVersion::DEFAULT, &pairs)
}

fn settings(config: &str) -> RdkafkaProducerSettings {
    check(config).unwrap().0
}

fn notes(config: &str) -> Vec<String> {
    let notes = check(config).unwrap().1;
    notes
        .iter()
        .map(|note| format!("{}: {}", note.key, note.text))
        .collect()
}

fn refusals(config: &str) -> Vec<String> {
    let problems = check(config).unwrap_err();
    problems.iter().map(ToString::to_string).collect()
}

#[test]
fn an_empty_configuration_yields_the_defaults() {
    let (settings, notes) = check("").unwrap();
    assert_eq!(
        settings,
        RdkafkaProducerSettings::defaults(RdkafkaVersion::DEFAULT)
    );
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn every_default_passes_its_own_grammar_and_every_name_is_there_once() {
    for property in table() {
        let has_default = property.default() != DefaultValue::Null;
        let is_null = grammar::default(&property.key) == Value::Null;
        assert_ne!(has_default, is_null, "{property:?}");
    }
    let mut all: Vec<_> = names().map(|(name, _)| name).collect();
    all.extend(table::WITH_SETTERS);
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn an_alias_sets_the_same_property_and_the_later_one_counts() {
    assert_eq!(settings("linger.ms=20").linger_us, 20_000);
    let both = settings("linger.ms=20;queue.buffering.max.ms=30");
    assert_eq!((both.linger_us, both.sticky_linger_ms), (30_000, 60));
    assert_eq!(settings("acks=1").acks, RequiredAcks::Valid(Acks::Leader));
    assert_eq!(settings("delivery.timeout.ms=0").message_timeout_ms, None);
}

#[test]
fn words_are_read_in_any_case_and_partitioners_are_not() {
    let settings = settings("compression.codec=ZSTD;queuing.strategy=LIFO;acks=ALL");
    assert_eq!(settings.compression.codec, CompressionType::Zstd);
    assert_eq!(settings.queuing, QueuingStrategy::Lifo);
    assert_eq!(settings.acks, RequiredAcks::Valid(Acks::All));
    assert_eq!(
        refusals("partitioner=Murmur2_random"),
        [
            "RD_KAFKA_CONF_INVALID: Invalid value for configuration property \"partitioner\": \
          Murmur2_random"
        ]
    );
}

#[test]
fn every_partitioner_can_be_chosen() {
    for partitioner in RdkafkaPartitioner::ALL {
        let config = format!("partitioner={}", partitioner.name());
        assert_eq!(settings(&config).partitioner, partitioner);
    }
}

#[test]
fn a_unit_behind_a_number_is_ignored_as_the_client_does_but_not_silently() {
    assert_eq!(settings("batch.size=16k").batch_size_bytes, 16);
    assert_eq!(
        notes("batch.size=16k"),
        ["batch.size: the client reads 16, and ignores the 'k' behind it"]
    );
    assert_eq!(notes("linger.ms=7.5"), [] as [&str; 0]);
}

#[test]
fn a_java_key_is_refused_with_what_stands_in_its_place() {
    let problems = check("buffer.memory=33554432").unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "RD_KAFKA_CONF_UNKNOWN: No such configuration property: \"buffer.memory\""
    );
    let hint = problems[0].hint.as_deref().unwrap();
    assert!(hint.contains("queue.buffering.max.kbytes"), "{hint}");
}

#[test]
fn a_slip_of_the_finger_leads_to_the_nearest_name_or_alias() {
    for (typed, meant) in [
        ("linger.sm", "linger.ms"),
        (
            "queue.buffering.max.message",
            "queue.buffering.max.messages",
        ),
    ] {
        let hint = check(&format!("{typed}=1")).unwrap_err()[0].hint.clone();
        assert_eq!(hint, Some(format!("did you mean {meant}?")));
    }
}

#[test]
fn a_callback_is_no_text() {
    assert_eq!(
        refusals("dr_msg_cb=print"),
        [
            "RD_KAFKA_CONF_INVALID: Property \"dr_msg_cb\" must be set through dedicated \
          .._set_..() function"
        ]
    );
}

#[test]
fn problems_point_at_the_name_that_was_written_and_speak_of_the_propertys_own() {
    let problem = check("retries=-1").unwrap_err().remove(0);
    assert_eq!(problem.key, "retries");
    assert_eq!(
        problem.text,
        "Configuration property \"message.send.max.retries\" value -1 is outside allowed range \
         0..2147483647"
    );
}

#[test]
fn a_refused_value_makes_no_rule_speak_up() {
    let config = "enable.idempotence=yes;acks=0;enable.gapless.guarantee=true";
    assert_eq!(refusals(config).len(), 1);
    assert_eq!(refusals("linger.ms=x;message.timeout.ms=1").len(), 1);
}

#[test]
fn several_mistakes_come_in_the_order_of_the_clients_rules() {
    let config = "acks=0;retries=0;max.in.flight=6;enable.idempotence=true";
    let refusals = refusals(config);
    assert_eq!(
        refusals[0],
        "_INVALID_ARG: `max.in.flight` must be set <= 5 when `enable.idempotence` is true"
    );
    assert_eq!(refusals.len(), 3);
}

#[test]
fn idempotence_lowers_requests_in_flight_that_nobody_set() {
    let settings = settings("enable.idempotence=true");
    assert_eq!(settings.max_in_flight, 5);
    assert_eq!(settings.idempotence, RdkafkaIdempotence::On);
}

#[test]
fn transactions_bring_idempotence_and_shorter_timeouts() {
    let settings = settings("transactional.id=tx;transaction.timeout.ms=10000");
    assert!(settings.idempotence.is_on());
    assert_eq!(settings.message_timeout_ms, Some(10_000));
    assert_eq!(settings.connections.socket_timeout_ms, 9_900);
}

#[test]
fn no_linger_means_no_sticking_and_a_note_says_so() {
    assert_eq!(settings("linger.ms=0").sticky_linger_ms, 0);
    assert_eq!(notes("linger.ms=0").len(), 1);
    assert_eq!(
        settings("linger.ms=0;sticky.partitioning.linger.ms=10").sticky_linger_ms,
        10
    );
}

#[test]
fn a_default_linger_gives_way_to_the_message_timeout_and_one_that_was_set_does_not() {
    assert_eq!(settings("message.timeout.ms=4").linger_us, 3_900);
    let refused = check("linger.ms=20;message.timeout.ms=10").unwrap_err();
    assert_eq!(refused[0].error, ConfigError::Rdkafka(RdkafkaCall::New));
    let at_topic = check("linger.ms=900000").unwrap_err();
    assert_eq!(
        at_topic[0].error,
        ConfigError::Rdkafka(RdkafkaCall::NewTopic)
    );
    assert_eq!(at_topic[0].key, "linger.ms");
}

#[test]
fn acks_that_every_broker_refuses_are_noted() {
    assert_eq!(settings("acks=2").acks, RequiredAcks::Refused(2));
    assert_eq!(
        notes("acks=2"),
        ["acks: brokers refuse 2 (INVALID_REQUIRED_ACKS); the client does not"]
    );
}

#[test]
fn a_changed_client_keeps_its_release_and_has_no_callback_where_it_had_none() {
    let mut before = settings("");
    before.delivery_reports = DeliveryReports::None;
    let pairs = [("linger.ms".to_owned(), "50".to_owned())];
    let after = change(&before, &pairs).unwrap();
    assert_eq!(after.delivery_reports, DeliveryReports::None);
    assert_eq!(after.linger_us, 50_000);
}

#[test]
fn of_a_word_that_it_does_not_know_the_nearest_is_named() {
    let hint = |config| check(config).unwrap_err().remove(0).hint;
    assert_eq!(
        hint("partitioner=murmur").as_deref(),
        Some("did you mean murmur2?")
    );
    assert_eq!(
        hint("queuing.strategy=round").as_deref(),
        Some("known values: fifo, lifo")
    );
}
