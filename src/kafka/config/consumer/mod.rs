//! A Java consumer's configuration, checked as `new KafkaConsumer(…)` checks it.
//!
//! Simplifications: `bootstrap.servers` and deserializers are supplied where absent and classes
//! are taken to exist; assignors other than Kafka's own are refused, because nobody could say what
//! they would do.

mod table;

use super::super::backoff::ExponentialBackoff;
use super::super::exception::ExceptionClass;
use super::super::settings::{
    Assignor, ConsumerSettings, FetchSettings, IsolationLevel, MetricsSettings, OffsetReset,
    TopicCreation,
};
use super::super::version::KafkaVersion;
use super::definition::ConfigKey;
use super::java::SECURITY;
use super::values::Values;
use super::{
    ConfigError, ConfigProblem, Note, NoteKind, RaisedIn, nearest, nearest_name, not_modelled,
};

const AUTO_COMMIT: &str = "enable.auto.commit";
const GROUP_PROTOCOL: &str = "group.protocol";
const HEARTBEAT: &str = "heartbeat.interval.ms";
const OFFSET_RESET: &str = "auto.offset.reset";
const SESSION: &str = "session.timeout.ms";
const STRATEGY: &str = "partition.assignment.strategy";

/// Every key of a Java consumer, of whatever version, in the order in which the client checks
/// them.
pub fn table() -> impl Iterator<Item = &'static ConfigKey> {
    table::CONSUMER.iter().chain(SECURITY)
}

/// The key with this name, of whatever version.
pub fn find(name: &str) -> Option<&'static ConfigKey> {
    table().find(|key| key.name == name)
}

/// Checks a configuration as a client of this version does.
///
/// Pairs are keys and values as text; of a key that comes twice the later value counts. The
/// answer is what the client runs with and what it silently changed, or everything that it
/// refuses.
pub fn validate(
    version: KafkaVersion,
    pairs: &[(String, String)],
) -> Result<(ConsumerSettings, Vec<Note>), Vec<ConfigProblem>> {
    let (values, mut problems) = Values::read(table(), version, pairs);
    let mut notes: Vec<Note> = pairs
        .iter()
        .filter_map(|(key, _)| key_note(version, key))
        .collect();
    notes.extend(not_modelled(pairs, |name| {
        find(name).filter(|key| key.is_known_to(version))
    }));
    let mut settings = settings(version, &values);
    offset_reset(&values, &mut settings, (&mut problems, &mut notes));
    assignors(&values, &mut settings, &mut problems);
    group_protocol(&values, &mut problems, &mut notes);
    heartbeat_below_session(&values, &settings, &mut problems);
    if problems.is_empty() {
        Ok((settings, notes))
    } else {
        Err(problems)
    }
}

/// A note about a key that means nothing to this client.
fn key_note(version: KafkaVersion, name: &str) -> Option<Note> {
    let ignores = "the client does not know this key and ignores it";
    let text = match find(name) {
        None => match nearest(name, table().filter(|key| key.is_known_to(version))) {
            Some(known) => format!("{ignores}; did you mean {known}?"),
            None => ignores.to_owned(),
        },
        Some(key) if !key.is_known_to(version) => {
            let (major, minor) = key.since;
            format!(
                "a {version} client does not know this key and ignores it; it came with \
                 {major}.{minor}"
            )
        }
        Some(_) => return None,
    };
    Some(Note::new(name, NoteKind::Unknown, text))
}

/// The settings before any rule of their own.
fn settings(version: KafkaVersion, values: &Values<'_>) -> ConsumerSettings {
    let default = ConsumerSettings::defaults(version);
    let ms = |name: &str, default_ms: u64| values.clamped(name).unwrap_or(default_ms);
    let retry = backoff(values, "retry.backoff", default.retry_backoff);
    let client_id = values.text("client.id").filter(|id| !id.is_empty());
    ConsumerSettings {
        version,
        client_id: client_id.map(str::to_owned),
        session_timeout_ms: ms(SESSION, default.session_timeout_ms).max(1),
        heartbeat_interval_ms: ms(HEARTBEAT, default.heartbeat_interval_ms).max(1),
        max_poll_interval_ms: ms("max.poll.interval.ms", default.max_poll_interval_ms),
        max_poll_records: values
            .unsigned("max.poll.records")
            .unwrap_or(default.max_poll_records),
        fetch: fetch(values, default.fetch),
        auto_commit_interval_ms: values
            .is_true(AUTO_COMMIT)
            .then(|| ms("auto.commit.interval.ms", 5000)),
        offset_reset: default.offset_reset,
        assignors: default.assignors,
        metadata_max_age_ms: ms("metadata.max.age.ms", default.metadata_max_age_ms),
        topic_creation: match values.flag("allow.auto.create.topics") {
            Some(false) => TopicCreation::Forbidden,
            _ => TopicCreation::Allowed,
        },
        request_timeout_ms: ms("request.timeout.ms", default.request_timeout_ms),
        retry_backoff: ExponentialBackoff::for_retries(version, retry.initial_ms, retry.max_ms),
        reconnect_backoff: reconnect(values, default.reconnect_backoff),
        connection_setup_timeout: backoff(
            values,
            "socket.connection.setup.timeout",
            default.connection_setup_timeout,
        ),
        metrics: MetricsSettings {
            num_samples: values.unsigned("metrics.num.samples").unwrap_or(2),
            sample_window_ms: ms("metrics.sample.window.ms", 30_000),
        },
    }
}

fn fetch(values: &Values<'_>, default: FetchSettings) -> FetchSettings {
    let bytes = |name: &str, default: u32| values.unsigned(name).unwrap_or(default);
    FetchSettings {
        min_bytes: bytes("fetch.min.bytes", default.min_bytes),
        max_bytes: bytes("fetch.max.bytes", default.max_bytes),
        max_wait_ms: values
            .clamped("fetch.max.wait.ms")
            .unwrap_or(default.max_wait_ms),
        max_partition_bytes: bytes("max.partition.fetch.bytes", default.max_partition_bytes),
        isolation: match values.text("isolation.level") {
            Some("read_committed") => IsolationLevel::ReadCommitted,
            _ => IsolationLevel::ReadUncommitted,
        },
    }
}

fn backoff(values: &Values<'_>, prefix: &str, default: ExponentialBackoff) -> ExponentialBackoff {
    let ms = |suffix: &str| values.clamped(&format!("{prefix}.{suffix}"));
    ExponentialBackoff {
        initial_ms: ms("ms").unwrap_or(default.initial_ms),
        max_ms: ms("max.ms").unwrap_or(default.max_ms),
    }
}

/// `CommonClientConfigs.postProcessReconnectBackoffConfigs`.
fn reconnect(values: &Values<'_>, default: ExponentialBackoff) -> ExponentialBackoff {
    let configured = backoff(values, "reconnect.backoff", default);
    if values.is_set("reconnect.backoff.ms") && !values.is_set("reconnect.backoff.max.ms") {
        return ExponentialBackoff::constant(configured.initial_ms);
    }
    configured
}

/// `AutoOffsetResetStrategy.Validator`.
fn offset_reset(
    values: &Values<'_>,
    settings: &mut ConsumerSettings,
    (problems, notes): (&mut Vec<ConfigProblem>, &mut Vec<Note>),
) {
    let Some(text) = values.text(OFFSET_RESET) else {
        return;
    };
    settings.offset_reset = match text {
        "earliest" => OffsetReset::Earliest,
        "latest" => OffsetReset::Latest,
        "none" => OffsetReset::None,
        text if text.starts_with("by_duration:P") => {
            let text = "the simulation has no timestamps to search: it stands for earliest";
            notes.push(Note::new(OFFSET_RESET, NoteKind::NotModelled, text.into()));
            OffsetReset::Earliest
        }
        other => {
            let text = format!(
                "Invalid value {other} for configuration {OFFSET_RESET}: Invalid value `{other}` \
                 for configuration {OFFSET_RESET}. The value must be either 'earliest', 'latest', \
                 'none' or of the format 'by_duration:<PnDTnHnMn.nS.>'."
            );
            let mut problem = ConfigProblem::new(OFFSET_RESET, text);
            problem.hint = nearest_name(other, ["earliest", "latest", "none"])
                .map(|near| format!("did you mean {near}?"));
            problems.push(problem);
            return;
        }
    };
}

/// `ConsumerPartitionAssignor.getAssignorInstances`.
fn assignors(
    values: &Values<'_>,
    settings: &mut ConsumerSettings,
    problems: &mut Vec<ConfigProblem>,
) {
    if !values.are_read(&[STRATEGY]) || !values.is_set(STRATEGY) {
        return;
    }
    let mut chosen = Vec::new();
    for class in values.list(STRATEGY) {
        let known = Assignor::ALL
            .into_iter()
            .find(|known| known.class() == class);
        if let Some(assignor) = known {
            chosen.push(assignor);
            continue;
        }
        let text = format!("{class} ClassNotFoundException exception occurred");
        let mut problem = raised(ExceptionClass::Kafka, STRATEGY, text);
        problem.hint = nearest_assignor(class);
        problems.push(problem);
    }
    if values.list(STRATEGY).is_empty() {
        let text = format!(
            "Must configure at least one partition assigner class name to {STRATEGY} \
             configuration property"
        );
        problems.push(raised(ExceptionClass::IllegalState, STRATEGY, text));
    }
    settings.assignors = chosen;
}

fn nearest_assignor(class: &str) -> Option<String> {
    let simple = class.rsplit('.').next().unwrap_or(class);
    let known = Assignor::ALL.map(Assignor::class);
    let simple_names = known.map(|class| class.rsplit('.').next().unwrap_or(class));
    let near = nearest_name(simple, simple_names)?;
    let at = simple_names.iter().position(|name| *name == near)?;
    Some(format!("did you mean {}?", known[at]))
}

/// `ConsumerConfig.checkUnsupportedConfigsPostProcess`; the new protocol (KIP-848) is not
/// simulated.
fn group_protocol(values: &Values<'_>, problems: &mut Vec<ConfigProblem>, notes: &mut Vec<Note>) {
    let Some(protocol) = values.text(GROUP_PROTOCOL) else {
        return;
    };
    let is_new = protocol.eq_ignore_ascii_case("consumer");
    let unsupported: &[&str] = if is_new {
        &[STRATEGY, HEARTBEAT, SESSION]
    } else {
        &["group.remote.assignor"]
    };
    let set: Vec<&str> = unsupported
        .iter()
        .copied()
        .filter(|name| values.is_set(name))
        .collect();
    if let Some(first) = set.first() {
        let name = if is_new { "CONSUMER" } else { "CLASSIC" };
        let text = format!(
            "{} cannot be set when {GROUP_PROTOCOL}={name}",
            set.join(", ")
        );
        problems.push(ConfigProblem::new(first, text));
    }
    if is_new {
        let text = "the simulation has the classic protocol only, which stands in for it";
        notes.push(Note::new(
            GROUP_PROTOCOL,
            NoteKind::NotModelled,
            text.into(),
        ));
    }
}

/// The constructor of `Heartbeat`.
fn heartbeat_below_session(
    values: &Values<'_>,
    settings: &ConsumerSettings,
    problems: &mut Vec<ConfigProblem>,
) {
    if values.are_read(&[HEARTBEAT, SESSION])
        && settings.heartbeat_interval_ms >= settings.session_timeout_ms
    {
        let key = if values.is_set(HEARTBEAT) {
            HEARTBEAT
        } else {
            SESSION
        };
        let text = "Heartbeat must be set lower than the session timeout".to_owned();
        problems.push(raised(ExceptionClass::IllegalArgument, key, text));
    }
}

/// What the client refuses with this exception, raised while it reads its configuration.
fn raised(class: ExceptionClass, key: &str, text: String) -> ConfigProblem {
    ConfigProblem {
        error: ConfigError::Exception {
            class,
            raised_in: RaisedIn::Configuration,
        },
        ..ConfigProblem::new(key, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pairs: &[(&str, &str)]) -> Result<(ConsumerSettings, Vec<Note>), Vec<ConfigProblem>> {
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        validate(KafkaVersion::DEFAULT, &pairs)
    }

    #[test]
    fn an_empty_configuration_yields_the_defaults_of_its_version() {
        for version in [KafkaVersion::DEFAULT, KafkaVersion::new(2, 8, 0)] {
            let (settings, notes) = validate(version, &[]).expect("valid");
            assert_eq!(settings, ConsumerSettings::defaults(version));
            assert!(notes.is_empty(), "{notes:?}");
        }
    }

    #[test]
    fn range_comes_first_by_default_and_makes_the_group_eager() {
        let (settings, _) = check(&[]).expect("valid");
        assert_eq!(settings.assignors[0], Assignor::Range);
        assert!(settings.is_eager());
        let class = Assignor::CooperativeSticky.class();
        let (settings, _) = check(&[(STRATEGY, class)]).expect("valid");
        assert!(!settings.is_eager());
    }

    #[test]
    fn a_reset_policy_that_does_not_exist_is_refused_in_the_clients_words() {
        let problems = check(&[(OFFSET_RESET, "earlist")]).expect_err("refused");
        assert_eq!(
            problems[0].text,
            "Invalid value earlist for configuration auto.offset.reset: Invalid value `earlist` \
             for configuration auto.offset.reset. The value must be either 'earliest', 'latest', \
             'none' or of the format 'by_duration:<PnDTnHnMn.nS.>'."
        );
        assert_eq!(problems[0].hint.as_deref(), Some("did you mean earliest?"));
    }

    #[test]
    fn a_heartbeat_as_long_as_the_session_is_refused() {
        let problems = check(&[(SESSION, "3000")]).expect_err("refused");
        let text = "Heartbeat must be set lower than the session timeout";
        assert_eq!(problems[0].text, text);
        let expected = raised(ExceptionClass::IllegalArgument, HEARTBEAT, text.to_owned());
        assert_eq!(problems[0].error, expected.error);
    }

    #[test]
    fn a_key_of_producers_is_ignored_as_the_client_ignores_it() {
        let (_, notes) = check(&[("linger.ms", "5")]).expect("valid");
        assert_eq!(notes[0].kind, NoteKind::Unknown);
    }

    #[test]
    fn the_new_group_protocol_takes_no_keys_of_the_classic_one() {
        let problems = check(&[(GROUP_PROTOCOL, "consumer"), (SESSION, "9000")]);
        let text = "session.timeout.ms cannot be set when group.protocol=CONSUMER";
        assert_eq!(problems.expect_err("refused")[0].text, text);
    }
}
