//! Stories about configurations: what the client makes of them, and in which words it refuses.

use super::super::super::custom_partitioner::CustomPartitioner;
use super::super::super::settings::{Acks, CompressionType, PartitionerClass};
use super::super::{ConfigError, RaisedIn};
use super::*;

type Answer = Result<(JavaProducerSettings, Vec<Note>), Vec<ConfigProblem>>;

fn check(version: &str, config: &str) -> Answer {
    let pairs: Vec<(String, String)> = config
        .split(';')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key.trim().to_owned(), value.to_owned()))
        .collect();
    validate(version.parse().unwrap(), &pairs)
}

fn settings_of(version: &str, config: &str) -> JavaProducerSettings {
    check(version, config).unwrap().0
}

/// The notes, as `key: text`.
fn notes(version: &str, config: &str) -> Vec<String> {
    let (_, notes) = check(version, config).unwrap();
    notes
        .into_iter()
        .map(|note| format!("{}: {}", note.key, note.text))
        .collect()
}

/// The refusals, without the classes.
fn refusals(version: &str, config: &str) -> Vec<String> {
    check(version, config)
        .unwrap_err()
        .into_iter()
        .map(|problem| problem.text)
        .collect()
}

#[test]
fn an_empty_configuration_yields_the_defaults_of_every_version() {
    for version in [
        "2.1.0", "2.3.1", "2.4.0", "2.5.0", "2.6.0", "2.7.0", "2.8.2", "3.0.0", "3.0.1", "3.1.0",
        "3.2.0", "3.3.0", "3.6.2", "3.7.0", "3.8.0", "3.9.1", "4.0.0", "4.1.0", "4.2.0", "4.3.0",
        "4.4.0",
    ] {
        let (settings, notes) = check(version, "").unwrap();
        assert_eq!(
            settings,
            JavaProducerSettings::defaults(settings.version),
            "{version}"
        );
        assert_eq!(notes, [], "{version}");
    }
}

#[test]
fn every_default_passes_its_own_grammar() {
    for key in table() {
        if let super::super::DefaultValue::Text(default) = key.default(KafkaVersion::NEWEST) {
            let config = format!("{}={default}", key.name);
            assert!(check("4.4.0", &config).is_ok(), "{config}");
        }
    }
}

#[test]
fn names_are_unique_and_help_is_one_sentence() {
    for (place, key) in table().enumerate() {
        assert_eq!(
            table().position(|other| other.name == key.name),
            Some(place),
            "{}",
            key.name
        );
        assert!(
            key.help.ends_with('.') && key.help.len() <= 90,
            "{}",
            key.name
        );
    }
}

#[test]
fn values_are_read_as_java_reads_them() {
    let settings = settings_of("4.3.0", "retries= +3 ;enable.idempotence=TRUE;acks= all ");
    assert_eq!(
        (settings.retries, settings.idempotence, settings.acks),
        (3, true, Acks::All)
    );
    assert_eq!(settings_of("4.3.0", "batch.size=0").batch_size, 1);
}

#[test]
fn refusals_use_the_clients_own_words_in_the_clients_order() {
    assert_eq!(
        refusals(
            "4.3.0",
            "max.in.flight.requests.per.connection=0;linger.ms=soon;acks=ALL;retries=1e3;\
             enable.idempotence=yes;compression.gzip.level=0;metadata.recovery.strategy=hope;\
             compression.lz4.level=18;batch.size=-1;transactional.id=;\
             interceptor.classes=a.B,,;bootstrap.servers="
        ),
        [
            "Configuration 'bootstrap.servers' must not be empty. Valid values include: any \
             non-empty value",
            "Invalid value 1e3 for configuration retries: Not a number of type INT",
            "Invalid value ALL for configuration acks: String must be one of: all, -1, 0, 1",
            "Invalid value 0 for configuration compression.gzip.level: Value must be between 1 \
             and 9 or equal to -1",
            "Invalid value 18 for configuration compression.lz4.level: Value must be no more \
             than 17",
            "Invalid value -1 for configuration batch.size: Value must be at least 0",
            "Invalid value soon for configuration linger.ms: Not a number of type LONG",
            "Invalid value 0 for configuration max.in.flight.requests.per.connection: Value must \
             be at least 1",
            "Configuration 'interceptor.classes' values must not be empty.",
            "Invalid value yes for configuration enable.idempotence: Expected value to be either \
             true or false",
            "Invalid value  for configuration transactional.id: String must be non-empty",
            "Invalid value hope for configuration metadata.recovery.strategy: String must be one \
             of (case insensitive): REBOOTSTRAP, NONE",
        ]
    );
}

#[test]
fn repeated_items_count_once_since_4_2() {
    let config = "bootstrap.servers=kafka-1:9092,kafka-1:9092;interceptor.classes=a.B,a.B";
    assert!(check("4.2.0", config).is_ok());
    assert!(check("4.1.0", config).is_ok());
}

#[test]
fn sasl_without_a_mechanism_is_refused() {
    assert_eq!(
        refusals("4.3.0", "security.protocol=sasl_ssl;sasl.mechanism="),
        [
            "Invalid value null for configuration sasl.mechanism: When the security.protocol \
          configuration enables SASL, mechanism must be non-null and non-empty string."
        ]
    );
}

#[test]
fn a_backoff_above_its_maximum_is_constantly_the_maximum() {
    let config = "retry.backoff.ms=5000";
    assert!(settings_of("4.3.0", config).retry_backoff.is_constant());
    assert_eq!(
        notes("4.3.0", config),
        [
            "retry.backoff.ms: 5000 ms is larger than retry.backoff.max.ms (1000 ms): the wait is \
          constantly 1000 ms, without jitter"
        ]
    );
    assert_eq!(notes("3.6.0", config), [] as [&str; 0]);
    assert_eq!(settings_of("3.6.0", config).retry_backoff.max_ms, 5000);
}

#[test]
fn a_reconnect_backoff_alone_is_constant() {
    let backoff = settings_of("4.3.0", "reconnect.backoff.ms=50").reconnect_backoff;
    assert_eq!((backoff.initial_ms, backoff.max_ms), (50, 50));
    let config = "reconnect.backoff.ms=50;reconnect.backoff.max.ms=1000";
    assert!(!settings_of("4.3.0", config).reconnect_backoff.is_constant());
}

#[test]
fn idempotence_nobody_asked_for_gives_way_and_a_note_says_so() {
    assert!(!settings_of("4.3.0", "acks=1").idempotence);
    assert_eq!(
        notes("4.3.0", "acks=1"),
        ["acks: idempotence is off because acks is 1"]
    );
    assert_eq!(
        notes("4.3.0", "retries=0"),
        ["retries: idempotence is off because retries is 0"]
    );
}

#[test]
fn idempotence_somebody_asked_for_does_not_give_way() {
    assert_eq!(
        refusals("4.3.0", "enable.idempotence=true;acks=1;retries=0"),
        [
            "Must set retries to non-zero when using the idempotent producer.",
            "Must set acks to all in order to use the idempotent producer. Otherwise we cannot \
             guarantee idempotence.",
        ]
    );
}

#[test]
fn a_deep_pipeline_is_refused_since_4_0_even_where_idempotence_is_off_already() {
    let deep = "max.in.flight.requests.per.connection=6";
    let text = "To use the idempotent producer, max.in.flight.requests.per.connection must be set \
                to at most 5. Current value is 6.";
    assert_eq!(refusals("4.0.0", deep), [text]);
    assert_eq!(refusals("4.0.0", &format!("acks=1;{deep}")), [text]);
    assert!(settings_of("4.0.0", &format!("enable.idempotence=false;{deep}")).max_in_flight == 6);
}

#[test]
fn a_deep_pipeline_switched_idempotence_off_in_3_x() {
    let deep = "max.in.flight.requests.per.connection=6";
    assert!(!settings_of("3.9.0", deep).idempotence);
    assert_eq!(
        refusals("3.9.0", &format!("enable.idempotence=true;{deep}")),
        [
            "Must set max.in.flight.requests.per.connection to at most 5 to use the idempotent \
          producer."
        ]
    );
}

#[test]
fn transactions_need_idempotence() {
    let text = "Cannot set a transactional.id without also enabling idempotence.";
    assert_eq!(
        refusals("4.3.0", "transactional.id=t;enable.idempotence=false"),
        [text]
    );
    assert_eq!(refusals("4.3.0", "transactional.id=t;acks=1"), [text]);
    assert_eq!(
        refusals("2.8.0", "transactional.id=t;enable.idempotence=false"),
        [text]
    );
}

#[test]
fn before_3_0_transactions_brought_idempotence_and_all_acks_along() {
    let settings = settings_of("2.8.0", "transactional.id=t");
    assert_eq!((settings.idempotence, settings.acks), (true, Acks::All));
    assert!(refusals("2.8.0", "transactional.id=t;acks=1")[0].starts_with("Must set acks to all"));
    assert!(!settings_of("3.1.0", "acks=all").idempotence);
    assert!(settings_of("3.1.0", "transactional.id=t").idempotence);
}

#[test]
fn two_phase_commit_leaves_no_timeout_to_set() {
    let config = "transaction.two.phase.commit.enable=true;transaction.timeout.ms=1000";
    assert!(refusals("4.1.0", config)[0].starts_with("Cannot set transaction.timeout.ms when"));
    assert_eq!(notes("4.0.0", config).len(), 1);
}

#[test]
fn a_delivery_timeout_that_is_too_short_is_refused_by_the_constructor() {
    let problems = check("4.3.0", "delivery.timeout.ms=30000").unwrap_err();
    assert_eq!(
        problems[0].text,
        "delivery.timeout.ms should be equal to or larger than linger.ms + request.timeout.ms"
    );
    let raised_in = |problem: &ConfigProblem| match problem.error {
        ConfigError::Exception { raised_in, .. } => Some(raised_in),
        ConfigError::Rdkafka(_) => None,
    };
    assert_eq!(raised_in(&problems[0]), Some(RaisedIn::Constructor));
}

#[test]
fn a_delivery_timeout_nobody_set_is_raised() {
    let config = "request.timeout.ms=120000";
    assert_eq!(settings_of("4.3.0", config).delivery_timeout_ms, 120_005);
    assert_eq!(
        notes("4.3.0", config),
        [
            "request.timeout.ms: delivery.timeout.ms should be equal to or larger than linger.ms + \
          request.timeout.ms; it is raised to 120005 ms"
        ]
    );
}

#[test]
fn a_value_that_could_not_be_read_causes_no_further_complaints() {
    let config = "delivery.timeout.ms=10;request.timeout.ms=never;enable.idempotence=true;acks=x";
    assert_eq!(refusals("4.3.0", config).len(), 2);
}

#[test]
fn lingering_ends_at_the_largest_int() {
    let settings = settings_of("4.3.0", "linger.ms=9223372036854775807");
    assert_eq!(settings.linger_ms, 2_147_483_647);
    assert_eq!(settings.delivery_timeout_ms, 2_147_483_647);
}

#[test]
fn bootstrap_addresses_are_checked_by_the_constructor() {
    let config = "bootstrap.servers=kafka-1:9092, kafka-2";
    assert_eq!(
        refusals("4.3.0", config),
        ["Invalid url in bootstrap.servers: kafka-2"]
    );
    assert_eq!(
        refusals("4.1.0", "bootstrap.servers="),
        ["No resolvable bootstrap urls given in bootstrap.servers"]
    );
}

#[test]
fn racks_are_known_since_4_4() {
    let aware = "partitioner.rack.aware=true";
    assert_eq!(
        refusals("4.4.0", aware),
        ["client.rack must be provided if partitioner.rack.aware is enabled"]
    );
    let settings = settings_of("4.4.0", &format!("{aware};client.rack=a"));
    assert_eq!(settings.partitioner.preferred_rack.as_deref(), Some("a"));
    assert_eq!(
        notes("4.3.0", aware),
        [
            "partitioner.rack.aware: a 4.3.0 client does not know this key and ignores it; it came \
          with 4.4"
        ]
    );
}

#[test]
fn partitioners_are_known_by_their_whole_names() {
    let class = |version, class| {
        settings_of(version, &format!("partitioner.class={class}"))
            .partitioner
            .class
    };
    let round_robin = "org.apache.kafka.clients.producer.RoundRobinPartitioner";
    assert_eq!(class("4.3.0", round_robin), PartitionerClass::RoundRobin);
    assert_eq!(
        class("4.3.0", "com.example.Mine"),
        PartitionerClass::BuiltIn
    );
    let problems = check("4.3.0", "partitioner.class=RoundRobinPartitioner").unwrap_err();
    assert_eq!(
        problems[0].text,
        "Invalid value RoundRobinPartitioner for configuration partitioner.class: Class \
         RoundRobinPartitioner could not be found."
    );
    assert_eq!(
        problems[0].hint,
        Some(format!("did you mean {round_robin}?"))
    );
}

#[test]
fn a_partitioner_of_the_application_is_configured_by_its_own_keys() {
    let class = |config: &str| settings_of("4.3.0", config).partitioner.class;
    let hot = |spread| {
        let hot_keys = [b"a".to_vec(), b"b".to_vec()].into();
        PartitionerClass::Custom(CustomPartitioner::HotKeySpread { hot_keys, spread }.into())
    };
    let spread = "partitioner.class=com.example.HotKeySpread;hot.keys=a, b";
    assert_eq!(class(spread), hot(4));
    assert_eq!(class(&format!("{spread};hot.keys.spread=2")), hot(2));
    assert!(notes("4.3.0", spread).is_empty());
    let vip = PartitionerClass::Custom(
        CustomPartitioner::VipRouting {
            vip_keys: [b"a".to_vec()].into(),
            reserved: 1,
        }
        .into(),
    );
    assert_eq!(
        class("partitioner.class=com.example.VipRouting;vip.keys=a"),
        vip
    );
    assert_eq!(
        notes("4.3.0", "hot.keys=a"),
        ["hot.keys: the client does not know this key and ignores it"]
    );
}

#[test]
fn what_a_partitioner_refuses_the_constructor_refuses() {
    let spread = "partitioner.class=com.example.HotKeySpread";
    let problems = check("4.3.0", spread).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "org.apache.kafka.common.KafkaException: Failed to construct kafka producer\n\
         Caused by: org.apache.kafka.common.config.ConfigException: Missing required \
         configuration \"hot.keys\" which has no default value."
    );
    assert_eq!(
        refusals("4.3.0", &format!("{spread};hot.keys=a;hot.keys.spread=0")),
        ["Invalid value 0 for configuration hot.keys.spread: Value must be at least 1"]
    );
}

#[test]
fn removed_partitioners_are_refused_since_4_0_and_noted_before() {
    let default = "partitioner.class=\
                   org.apache.kafka.clients.producer.internals.DefaultPartitioner";
    assert_eq!(
        refusals("4.0.0", default),
        [
            "Invalid value org.apache.kafka.clients.producer.internals.DefaultPartitioner for \
          configuration partitioner.class: Class \
          org.apache.kafka.clients.producer.internals.DefaultPartitioner could not be found."
        ]
    );
    assert_eq!(
        notes("3.9.0", default),
        [
            "partitioner.class: DefaultPartitioner is deprecated.  Please clear partitioner.class \
          configuration setting to get the default partitioning behavior"
        ]
    );
    let uniform = "partitioner.class=org.apache.kafka.clients.producer.UniformStickyPartitioner";
    assert_eq!(
        notes("3.2.0", uniform),
        ["partitioner.class: clients of 4.0 and later do not have this class and refuse it"]
    );
    assert!(notes("3.2.0", "").is_empty());
}

#[test]
fn a_class_of_another_kind_is_refused_by_the_constructor() {
    let problems = check("4.3.1", "partitioner.class=java.lang.String").unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "org.apache.kafka.common.KafkaException: Failed to construct kafka producer\n\
         Caused by: org.apache.kafka.common.KafkaException: class java.lang.String is not an \
         instance of org.apache.kafka.clients.producer.Partitioner"
    );
}

#[test]
fn a_client_without_a_name_is_called_after_its_transactions() {
    let name = |config| settings_of("4.3.1", config).client_id;
    assert_eq!(name("transactional.id=t").as_deref(), Some("producer-t"));
    assert_eq!(
        name("transactional.id=t;client.id=mine").as_deref(),
        Some("mine")
    );
    assert_eq!(name(""), None);
}

#[test]
fn a_negative_time_to_connect_is_over_at_once() {
    let config = "socket.connection.setup.timeout.ms=-1";
    let timeout = settings_of("4.3.1", config)
        .connection_setup_timeout
        .unwrap();
    assert_eq!((timeout.initial_ms, timeout.max_ms), (0, 30_000));
}

#[test]
fn unknown_keys_are_accepted_and_the_nearest_known_one_is_named() {
    assert_eq!(
        notes("4.3.0", "linger.mss=20;my.own=1"),
        [
            "linger.mss: the client does not know this key and ignores it; did you mean linger.ms?",
            "my.own: the client does not know this key and ignores it",
        ]
    );
    assert_eq!(settings_of("4.3.0", "linger.mss=20").linger_ms, 5);
}

#[test]
fn no_note_and_no_refusal_shows_a_secret() {
    let config = "sasl.jaas.config=swordfish;ssl.key.password=swordfish;acks=x";
    let problems = check("4.3.0", config).unwrap_err();
    assert!(!format!("{problems:?}").contains("swordfish"));
    assert!(!format!("{:?}", check("4.3.0", "ssl.key.password=swordfish")).contains("swordfish"));
}

#[test]
fn levels_belong_to_their_codec_and_to_3_8() {
    let config = "compression.type=zstd;compression.zstd.level=9";
    let compression = settings_of("4.3.0", config).compression;
    assert_eq!(
        (compression.codec, compression.level),
        (CompressionType::Zstd, Some(9))
    );
    assert_eq!(settings_of("3.7.0", config).compression.level, None);
    assert_eq!(
        settings_of("4.3.0", "compression.type=snappy")
            .compression
            .level,
        None
    );
}

#[test]
fn a_negative_transaction_timeout_is_left_for_the_broker_to_refuse() {
    assert_eq!(
        settings_of("4.3.0", "transaction.timeout.ms=-1").transaction_timeout_ms,
        0
    );
}

proptest::proptest! {
    #[test]
    fn no_value_of_any_key_makes_a_check_panic(place in 0..100_usize, value in ".{0,24}") {
        let key = table().nth(place % table().count()).unwrap();
        for version in ["2.1", "3.1.0", "3.9", "4.4"] {
            let pairs = [(key.name.to_owned(), value.clone())];
            let _ = validate(version.parse().unwrap(), &pairs);
        }
    }

    #[test]
    fn no_number_of_any_key_makes_a_check_panic(place in 0..100_usize, value: i64) {
        let key = table().nth(place % table().count()).unwrap();
        let pairs = [(key.name.to_owned(), value.to_string())];
        let _ = validate(KafkaVersion::NEWEST, &pairs);
    }
}
