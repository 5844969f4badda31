//! Rules about several keys of a Java producer, in the order in which the client applies them.
//!
//! Invariants: a rule speaks only if all its keys could be read; it either refuses, with the
//! client's words, or changes a setting and leaves a note.
//!
//! Source: `ProducerConfig.postProcessParsedConfig`, `CommonClientConfigs`, and the constructor
//! of `KafkaProducer`.

use std::sync::Arc;

use super::super::super::backoff::ExponentialBackoff;
use super::super::super::exception::ExceptionClass;
use super::super::super::settings::{
    Acks, JavaProducerSettings, PartitionerClass, PartitionerSettings,
};
use super::super::super::version::KafkaVersion;
use super::super::class_names::{self, Role};
use super::super::grammar;
use super::super::values::Values;
use super::super::{ConfigError, ConfigProblem, Note, NoteKind, RaisedIn};
use super::{PARTITIONER_CLASS, bootstrap, custom_partitioner};

const ACKS: &str = "acks";
const DELIVERY_TIMEOUT: &str = "delivery.timeout.ms";
const IDEMPOTENCE: &str = "enable.idempotence";
const IN_FLIGHT: &str = "max.in.flight.requests.per.connection";
const LINGER: &str = "linger.ms";
const RECONNECT_BACKOFF: &str = "reconnect.backoff.ms";
const RECONNECT_BACKOFF_MAX: &str = "reconnect.backoff.max.ms";
const REQUEST_TIMEOUT: &str = "request.timeout.ms";
const RETRIES: &str = "retries";
const TRANSACTIONAL_ID: &str = "transactional.id";
const TRANSACTION_TIMEOUT: &str = "transaction.timeout.ms";
/// The most requests in flight that keep an idempotent producer's order.
const IN_FLIGHT_IDEMPOTENT_MAX: u32 = 5;
/// Java's `Integer.MAX_VALUE`.
const INT_MAX: u64 = i32::MAX as u64;

/// What becomes of a configuration while the rules run.
pub(super) struct Outcome {
    pub(super) settings: JavaProducerSettings,
    pub(super) problems: Vec<ConfigProblem>,
    pub(super) notes: Vec<Note>,
}

impl Outcome {
    fn refuse(&mut self, key: &str, text: impl Into<String>) {
        self.problems.push(ConfigProblem::new(key, text.into()));
    }

    fn refuse_in_constructor(&mut self, key: &str, class: ExceptionClass, text: impl Into<String>) {
        let raised_in = RaisedIn::Constructor;
        self.problems.push(ConfigProblem {
            error: ConfigError::Exception { class, raised_in },
            ..ConfigProblem::new(key, text.into())
        });
    }

    fn note(&mut self, key: &str, text: String) {
        self.notes.push(Note::new(key, NoteKind::Changed, text));
    }
}

/// Applies all rules.
pub(super) fn apply(
    version: KafkaVersion,
    (values, pairs): (&Values, &[(String, String)]),
    outcome: &mut Outcome,
) {
    sasl_needs_a_mechanism(values, outcome);
    backoffs_above_their_maximum(version, outcome);
    reconnect_backoff_without_maximum(values, outcome);
    if values.are_read(&[IDEMPOTENCE, RETRIES, ACKS, IN_FLIGHT, TRANSACTIONAL_ID]) {
        if version.is_idempotent_by_default() {
            idempotence(version, values, outcome);
        } else {
            idempotence_on_demand(values, outcome);
        }
    }
    two_phase_commit(values, outcome);
    custom_partitioner_is_configured(version, (values, pairs), outcome);
    classes_play_their_roles(version, values, outcome);
    delivery_timeout(values, outcome);
    bootstrap_addresses(values, outcome);
    rack_aware_needs_a_rack(values, outcome);
}

/// V1.
fn sasl_needs_a_mechanism(values: &Values, outcome: &mut Outcome) {
    let protocol = values.text("security.protocol").unwrap_or_default();
    let is_sasl = protocol.to_ascii_uppercase().starts_with("SASL_");
    if is_sasl && values.text("sasl.mechanism") == Some("") {
        let why = "When the security.protocol configuration enables SASL, mechanism must be \
                   non-null and non-empty string.";
        outcome.refuse(
            "sasl.mechanism",
            grammar::invalid("sasl.mechanism", "null", why),
        );
    }
}

/// V2 and V3: the client warns, and waits the same time always.
fn backoffs_above_their_maximum(version: KafkaVersion, outcome: &mut Outcome) {
    let retry = outcome.settings.retry_backoff;
    if version.at_least(3, 7) && retry.initial_ms > retry.max_ms {
        outcome.note(
            "retry.backoff.ms",
            constant_wait("retry.backoff.max.ms", retry),
        );
    }
    if let Some(setup) = outcome.settings.connection_setup_timeout
        && setup.initial_ms > setup.max_ms
    {
        let text = constant_wait("socket.connection.setup.timeout.max.ms", setup);
        outcome.note("socket.connection.setup.timeout.ms", text);
    }
}

fn constant_wait(max_key: &str, backoff: ExponentialBackoff) -> String {
    let ExponentialBackoff { initial_ms, max_ms } = backoff;
    format!(
        "{initial_ms} ms is larger than {max_key} ({max_ms} ms): the wait is constantly {max_ms} \
         ms, without jitter"
    )
}

/// R1.
fn reconnect_backoff_without_maximum(values: &Values, outcome: &mut Outcome) {
    if values.is_set(RECONNECT_BACKOFF) && !values.is_set(RECONNECT_BACKOFF_MAX) {
        let base_ms = outcome.settings.reconnect_backoff.initial_ms;
        outcome.settings.reconnect_backoff = ExponentialBackoff::constant(base_ms);
        let text = format!(
            "{RECONNECT_BACKOFF_MAX} is not set and follows: the wait is constantly {base_ms} ms, \
             without jitter"
        );
        outcome.note(RECONNECT_BACKOFF, text);
    }
}

/// V5 to V8, since 3.0 as it was meant: idempotence is on unless something speaks against it.
fn idempotence(version: KafkaVersion, values: &Values, outcome: &mut Outcome) {
    let is_explicit = values.is_set(IDEMPOTENCE);
    let problems_before = outcome.problems.len();
    if outcome.settings.idempotence {
        let mut obstacles = Vec::new();
        if outcome.settings.retries == 0 {
            obstacles.push((
                RETRIES,
                "Must set retries to non-zero when using the idempotent producer.",
            ));
        }
        if outcome.settings.acks != Acks::All {
            obstacles.push((ACKS, MUST_SET_ACKS));
        }
        let in_flight = outcome.settings.max_in_flight;
        let is_too_deep = in_flight > IN_FLIGHT_IDEMPOTENT_MAX;
        if is_too_deep && !version.refuses_deep_pipelines() {
            obstacles.push((IN_FLIGHT, MUST_SET_IN_FLIGHT));
        }
        for (key, refusal) in obstacles {
            if is_explicit {
                outcome.refuse(key, refusal);
            } else {
                let text = format!(
                    "idempotence is off because {key} is {}",
                    values.written(key)
                );
                outcome.note(key, text);
                outcome.settings.idempotence = false;
            }
        }
        if is_too_deep && version.refuses_deep_pipelines() {
            let text = format!(
                "To use the idempotent producer, {IN_FLIGHT} must be set to at most 5. Current \
                 value is {in_flight}."
            );
            outcome.refuse(IN_FLIGHT, text);
        }
    }
    if problems_before == outcome.problems.len() {
        transactions_need_idempotence(values, outcome);
    }
}

/// The rules up to 2.8, and of the two releases that only meant to be idempotent: idempotence is
/// on if it or transactions are asked for, and then brings `acks=all` along.
fn idempotence_on_demand(values: &Values, outcome: &mut Outcome) {
    let asked_for = values.is_set(IDEMPOTENCE) && values.flag(IDEMPOTENCE) == Some(true);
    let refused = values.is_set(IDEMPOTENCE) && !asked_for;
    outcome.settings.idempotence = asked_for || (values.is_set(TRANSACTIONAL_ID) && !refused);
    if !outcome.settings.idempotence {
        return transactions_need_idempotence(values, outcome);
    }
    if outcome.settings.retries == 0 {
        outcome.refuse(
            RETRIES,
            "Must set retries to non-zero when using the idempotent producer.",
        );
    }
    if outcome.settings.acks != Acks::All {
        if values.is_set(ACKS) {
            outcome.refuse(ACKS, MUST_SET_ACKS);
        } else {
            outcome.settings.acks = Acks::All;
            let cause = if asked_for {
                IDEMPOTENCE
            } else {
                TRANSACTIONAL_ID
            };
            outcome.note(
                cause,
                "acks is all, because an idempotent producer needs it".to_owned(),
            );
        }
    }
    if outcome.settings.max_in_flight > IN_FLIGHT_IDEMPOTENT_MAX {
        outcome.refuse_in_constructor(IN_FLIGHT, ExceptionClass::Config, MUST_SET_IN_FLIGHT);
    }
}

const MUST_SET_ACKS: &str = "Must set acks to all in order to use the idempotent producer. \
     Otherwise we cannot guarantee idempotence.";
const MUST_SET_IN_FLIGHT: &str = "Must set max.in.flight.requests.per.connection to at most 5 to \
     use the idempotent producer.";

/// V8.
fn transactions_need_idempotence(values: &Values, outcome: &mut Outcome) {
    if values.is_set(TRANSACTIONAL_ID) && !outcome.settings.idempotence {
        let text = "Cannot set a transactional.id without also enabling idempotence.";
        outcome.refuse(TRANSACTIONAL_ID, text);
    }
}

/// V9.
fn two_phase_commit(values: &Values, outcome: &mut Outcome) {
    let is_two_phase = values.flag("transaction.two.phase.commit.enable") == Some(true);
    if is_two_phase && values.is_set(TRANSACTION_TIMEOUT) {
        let text = "Cannot set transaction.timeout.ms when transaction.two.phase.commit.enable is \
                    set to true. Transactions will not expire with two-phase commit enabled.";
        outcome.refuse(TRANSACTION_TIMEOUT, text);
    }
}

/// The constructor makes an instance of the application's partitioner, and `configure()` of that
/// looks at all that the producer was given.
fn custom_partitioner_is_configured(
    version: KafkaVersion,
    (values, pairs): (&Values, &[(String, String)]),
    outcome: &mut Outcome,
) {
    let Some(class) = values
        .text(PARTITIONER_CLASS)
        .and_then(custom_partitioner::find)
    else {
        return;
    };
    match custom_partitioner::configure(class, version, pairs) {
        Ok(partitioner) => {
            let partitioning = &mut outcome.settings.partitioner;
            *partitioning = PartitionerSettings {
                class: PartitionerClass::Custom(Arc::new(partitioner)),
                ignore_keys: false,
                adaptive: false,
                availability_timeout_ms: partitioning.availability_timeout_ms,
                preferred_rack: None,
            };
        }
        Err(problems) => outcome.problems.extend(problems),
    }
}

/// The constructor makes the instances first, and looks at what they are.
fn classes_play_their_roles(version: KafkaVersion, values: &Values, outcome: &mut Outcome) {
    for (key, role) in [
        (PARTITIONER_CLASS, Role::Partitioner),
        ("key.serializer", Role::Serializer),
        ("value.serializer", Role::Serializer),
    ] {
        let class = values.text(key).unwrap_or_default();
        if class_names::is_miscast(class, role, version) {
            let interface = role.interface();
            let text = format!("class {class} is not an instance of {interface}");
            outcome.refuse_in_constructor(key, ExceptionClass::Kafka, text);
        }
    }
}

/// C1, and the limit on `linger.ms` that comes with it.
fn delivery_timeout(values: &Values, outcome: &mut Outcome) {
    if !values.are_read(&[DELIVERY_TIMEOUT, LINGER, REQUEST_TIMEOUT]) {
        return;
    }
    if outcome.settings.linger_ms > INT_MAX {
        outcome.settings.linger_ms = INT_MAX;
        outcome.note(
            LINGER,
            format!("the client lingers for at most {INT_MAX} ms"),
        );
    }
    let settings = &mut outcome.settings;
    let needed_ms = (settings.linger_ms + settings.request_timeout_ms).min(INT_MAX);
    if settings.delivery_timeout_ms >= needed_ms {
        return;
    }
    if values.is_set(DELIVERY_TIMEOUT) {
        let text = "delivery.timeout.ms should be equal to or larger than linger.ms + \
                    request.timeout.ms";
        outcome.refuse_in_constructor(DELIVERY_TIMEOUT, ExceptionClass::Config, text);
        return;
    }
    settings.delivery_timeout_ms = needed_ms;
    let cause = if values.is_set(REQUEST_TIMEOUT) {
        REQUEST_TIMEOUT
    } else {
        LINGER
    };
    let text = format!(
        "{DELIVERY_TIMEOUT} should be equal to or larger than {LINGER} + {REQUEST_TIMEOUT}; it is \
         raised to {needed_ms} ms"
    );
    outcome.note(cause, text);
}

/// C2.
fn bootstrap_addresses(values: &Values, outcome: &mut Outcome) {
    const BOOTSTRAP: &str = "bootstrap.servers";
    if values.is_set(BOOTSTRAP)
        && values.are_read(&[BOOTSTRAP])
        && let Some(text) = bootstrap::refusal(values.list(BOOTSTRAP))
    {
        outcome.refuse_in_constructor(BOOTSTRAP, ExceptionClass::Config, text);
    }
}

/// C3.
fn rack_aware_needs_a_rack(values: &Values, outcome: &mut Outcome) {
    const RACK_AWARE: &str = "partitioner.rack.aware";
    let rack = values.text("client.rack").unwrap_or_default();
    if values.flag(RACK_AWARE) == Some(true) && rack.is_empty() {
        let text = "client.rack must be provided if partitioner.rack.aware is enabled";
        outcome.refuse_in_constructor(RACK_AWARE, ExceptionClass::Config, text);
    }
}
