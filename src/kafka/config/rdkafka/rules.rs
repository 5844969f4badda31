//! Rules about several properties of a librdkafka producer, in the order in which the client
//! applies them.
//!
//! Invariants: a rule speaks only if all its properties could be read; it either refuses, with
//! the client's words, or changes a setting and leaves a note. "Set" means set by somebody, to
//! whatever value.
//!
//! Source: `rd_kafka_conf_finalize`, `rd_kafka_topic_conf_finalize`, `rd_kafka_conf_warn`,
//! `rd_kafka_sasl_select_provider`.

use std::collections::BTreeMap;

use super::super::super::settings::{
    Acks, QueuingStrategy, RdkafkaIdempotence, RdkafkaProducerSettings, RequiredAcks,
};
use super::super::values::Values;
use super::super::{ConfigProblem, Note, NoteKind, RdkafkaCall};
use super::{ACKS, Level, effective, refused, table};

const BACKPRESSURE: &str = "queue.buffering.backpressure.threshold";
const BOOTSTRAP: &str = "metadata.broker.list";
const FAST_REFRESH: &str = "topic.metadata.refresh.fast.interval.ms";
const GAPLESS: &str = "enable.gapless.guarantee";
const IDEMPOTENCE: &str = "enable.idempotence";
const IN_FLIGHT: &str = "max.in.flight.requests.per.connection";
const LINGER: &str = "queue.buffering.max.ms";
const MAX_AGE: &str = "metadata.max.age.ms";
const MAX_IDLE: &str = "connections.max.idle.ms";
const MESSAGE_TIMEOUT: &str = "message.timeout.ms";
const QUEUING: &str = "queuing.strategy";
const RECONNECT_BACKOFF: &str = "reconnect.backoff.ms";
const RECONNECT_BACKOFF_MAX: &str = "reconnect.backoff.max.ms";
const REFRESH: &str = "topic.metadata.refresh.interval.ms";
const RETRIES: &str = "message.send.max.retries";
const RETRY_BACKOFF: &str = "retry.backoff.ms";
const RETRY_BACKOFF_MAX: &str = "retry.backoff.max.ms";
const SASL_MECHANISMS: &str = "sasl.mechanisms";
const SECURITY: &str = "security.protocol";
const SOCKET_TIMEOUT: &str = "socket.timeout.ms";
const STICKY_LINGER: &str = "sticky.partitioning.linger.ms";
const TRANSACTIONAL_ID: &str = "transactional.id";
const TRANSACTION_TIMEOUT: &str = "transaction.timeout.ms";
/// The most requests in flight on a connection that keep an idempotent producer's order.
const IN_FLIGHT_IDEMPOTENT_MAX: u32 = 5;
/// How much longer than a transaction an answer may take, and how much shorter it is by default.
const TRANSACTION_MARGIN_MS: u64 = 100;
/// The least that an answer may take in transactions by default.
const SOCKET_TIMEOUT_TRANSACTIONAL_MIN_MS: u64 = 900;
/// The most that messages stick to a partition.
const STICKY_LINGER_MAX_MS: u64 = 900_000;
/// What a linger above the message timeout is cut to, below that.
const LINGER_BELOW_TIMEOUT_MS: f64 = 0.1;
/// How long Azure's brokers keep idle connections, less ten seconds.
const IDLE_ON_AZURE_MAX_MS: u64 = 230_000;

/// What becomes of a configuration while the rules run.
pub(super) struct Outcome<'a> {
    pub(super) settings: RdkafkaProducerSettings,
    pub(super) problems: Vec<ConfigProblem>,
    pub(super) notes: Vec<Note>,
    /// Which of a property's names was written.
    pub(super) written: BTreeMap<&'static str, &'a str>,
}

impl Outcome<'_> {
    fn name(&self, property: &'static str) -> String {
        (*self.written.get(property).unwrap_or(&property)).to_owned()
    }

    fn refuse(&mut self, property: &'static str, text: &str) {
        self.refuse_in(RdkafkaCall::New, property, text);
    }

    fn refuse_in(&mut self, call: RdkafkaCall, property: &'static str, text: &str) {
        let name = self.name(property);
        self.problems.push(refused(call, &name, text.to_owned()));
    }

    fn note(&mut self, property: &'static str, text: String) {
        let name = self.name(property);
        self.notes.push(Note::new(&name, NoteKind::Changed, text));
    }

    fn warn(&mut self, property: &'static str, text: String) {
        let name = self.name(property);
        self.notes.push(Note::new(&name, NoteKind::Warned, text));
    }

    fn is_idempotent(&self) -> bool {
        self.settings.idempotence.is_on()
    }

    fn is_transactional(&self) -> bool {
        self.settings.transactional_id.is_some()
    }
}

/// Applies all rules.
pub(super) fn apply(values: &Values, outcome: &mut Outcome) {
    let linger_ms = values.double(LINGER);
    transactions_need_idempotence(values, outcome);
    answers_within_transactions(values, outcome);
    idempotence(values, outcome);
    sticking_follows_linger(values, linger_ms, outcome);
    metadata(values, outcome);
    connections(values, outcome);
    linger_within_timeout(values, linger_ms, outcome);
    topics(values, outcome);
    linger_within_topic_timeout(values, linger_ms, outcome);
    logins_have_a_provider(values, outcome);
    warnings(values, outcome);
}

/// `rd_kafka_sasl_select_provider`. Kerberos is the default, and the builds that come with the
/// packages of other languages lack it; who names it is taken to have a build with it.
fn logins_have_a_provider(values: &Values, outcome: &mut Outcome) {
    let logs_in = values
        .text(SECURITY)
        .is_some_and(|protocol| protocol.starts_with("sasl_"));
    if logs_in && !values.is_set(SASL_MECHANISMS) && outcome.problems.is_empty() {
        let text = "No provider for SASL mechanism GSSAPI: recompile librdkafka with libsasl2 or \
                    openssl support. Current build options: PLAIN SASL_SCRAM OAUTHBEARER";
        outcome.refuse(SECURITY, text);
    }
}

fn transactions_need_idempotence(values: &Values, outcome: &mut Outcome) {
    if !outcome.is_transactional() || outcome.is_idempotent() || !values.are_read(&[IDEMPOTENCE]) {
        return;
    }
    if values.is_set(IDEMPOTENCE) {
        let text = "`transactional.id` requires `enable.idempotence=true`";
        return outcome.refuse(IDEMPOTENCE, text);
    }
    outcome.settings.idempotence = if values.is_true(GAPLESS) {
        RdkafkaIdempotence::Gapless
    } else {
        RdkafkaIdempotence::On
    };
    outcome.note(
        TRANSACTIONAL_ID,
        "idempotence is on, because transactions need it".to_owned(),
    );
}

fn answers_within_transactions(values: &Values, outcome: &mut Outcome) {
    if !outcome.is_transactional() || !values.are_read(&[SOCKET_TIMEOUT, TRANSACTION_TIMEOUT]) {
        return;
    }
    let transaction_ms = outcome.settings.transaction_timeout_ms;
    let socket_ms = &mut outcome.settings.connections.socket_timeout_ms;
    if !values.is_set(SOCKET_TIMEOUT) {
        *socket_ms = transaction_ms
            .saturating_sub(TRANSACTION_MARGIN_MS)
            .max(SOCKET_TIMEOUT_TRANSACTIONAL_MIN_MS);
    } else if transaction_ms + TRANSACTION_MARGIN_MS < *socket_ms {
        let text = "`socket.timeout.ms` must be set <= `transaction.timeout.ms` + 100";
        outcome.refuse(SOCKET_TIMEOUT, text);
    }
}

fn idempotence(values: &Values, outcome: &mut Outcome) {
    if !outcome.is_idempotent() {
        if values.is_true(GAPLESS) && values.are_read(&[IDEMPOTENCE]) {
            let text = "`enable.gapless.guarantee` requires `enable.idempotence` to be enabled";
            outcome.refuse(GAPLESS, text);
        }
        return;
    }
    let settings = &mut outcome.settings;
    if !values.is_set(IN_FLIGHT) {
        settings.max_in_flight = IN_FLIGHT_IDEMPOTENT_MAX;
        let cause = if values.is_set(IDEMPOTENCE) {
            IDEMPOTENCE
        } else {
            TRANSACTIONAL_ID
        };
        let text = format!("{IN_FLIGHT} is {IN_FLIGHT_IDEMPOTENT_MAX}");
        outcome.note(cause, text);
    } else if settings.max_in_flight > IN_FLIGHT_IDEMPOTENT_MAX {
        let text = "`max.in.flight` must be set <= 5 when `enable.idempotence` is true";
        outcome.refuse(IN_FLIGHT, text);
    }
    if values.is_set(RETRIES) && values.integer(RETRIES) == Some(0) {
        let text = "`retries` must be set >= 1 when `enable.idempotence` is true";
        outcome.refuse(RETRIES, text);
    }
    if outcome.settings.backpressure_requests_max > 1 {
        let text = "`queue.buffering.backpressure.threshold` must be set to 1 when \
                    `enable.idempotence` is true";
        outcome.refuse(BACKPRESSURE, text);
    }
}

fn sticking_follows_linger(values: &Values, linger_ms: Option<f64>, outcome: &mut Outcome) {
    let Some(linger_ms) = linger_ms.filter(|_| !values.is_set(STICKY_LINGER)) else {
        return;
    };
    let sticky_ms = ((2.0 * linger_ms) as u64).min(STICKY_LINGER_MAX_MS);
    outcome.settings.sticky_linger_ms = sticky_ms;
    if sticky_ms == 0 {
        let text = format!(
            "{STICKY_LINGER} is not set and follows: keyless messages do not stick to a partition"
        );
        outcome.note(LINGER, text);
    }
}

fn metadata(values: &Values, outcome: &mut Outcome) {
    let metadata = &mut outcome.settings.metadata;
    if let Some(interval_ms) = metadata.refresh_interval_ms
        && !values.is_set(MAX_AGE)
        && values.are_read(&[REFRESH])
    {
        metadata.max_age_ms = interval_ms * 3;
    }
}

fn connections(values: &Values, outcome: &mut Outcome) {
    let settings = &mut outcome.settings;
    let connections = settings.connections;
    let is_inverted = connections.reconnect_backoff_max_ms < connections.reconnect_backoff_ms;
    if !values.is_set(FAST_REFRESH) {
        settings.metadata.refresh_fast_interval_ms = settings.retry_backoff_ms;
    }
    let brokers = values.text(BOOTSTRAP).unwrap_or_default();
    if !values.is_set(MAX_IDLE) && brokers.to_ascii_lowercase().contains("azure") {
        settings.connections.idle_max_ms = Some(IDLE_ON_AZURE_MAX_MS);
        let text = format!("{MAX_IDLE} is {IDLE_ON_AZURE_MAX_MS}, because this looks like Azure");
        outcome.note(BOOTSTRAP, text);
    }
    if is_inverted && values.are_read(&[RECONNECT_BACKOFF, RECONNECT_BACKOFF_MAX]) {
        let text = "`reconnect.backoff.max.ms` must be >= `reconnect.backoff.ms`";
        let property = if values.is_set(RECONNECT_BACKOFF_MAX) {
            RECONNECT_BACKOFF_MAX
        } else {
            RECONNECT_BACKOFF
        };
        outcome.refuse(property, text);
    }
}

const LINGER_TOO_LONG: &str = "`message.timeout.ms` must be greater than `linger.ms`";

/// Whether messages time out before they have lingered.
fn is_linger_too_long(linger_ms: f64, outcome: &Outcome) -> bool {
    let timeout_ms = outcome.settings.message_timeout_ms;
    timeout_ms.is_some_and(|timeout_ms| timeout_ms as f64 <= linger_ms)
}

/// Whether the client has a topic configuration already when it starts; otherwise it makes one
/// with the first topic, and checks it then.
fn has_topic_configuration(values: &Values) -> bool {
    let mut topics = table::TOPIC.iter();
    topics.any(|property| property.level == Level::Topic && values.is_set(property.key.name))
}

/// Before transactions change the message timeout: a linger that nobody set gives way.
fn linger_within_timeout(values: &Values, linger_ms: Option<f64>, outcome: &mut Outcome) {
    let Some(linger_ms) = linger_ms.filter(|_| values.are_read(&[MESSAGE_TIMEOUT])) else {
        return;
    };
    if !has_topic_configuration(values) || !is_linger_too_long(linger_ms, outcome) {
        return;
    }
    if values.is_set(LINGER) {
        return outcome.refuse(at_fault(values), LINGER_TOO_LONG);
    }
    let Some(timeout_ms) = outcome.settings.message_timeout_ms else {
        return;
    };
    let cut_ms = timeout_ms as f64 - LINGER_BELOW_TIMEOUT_MS;
    outcome.settings.linger_us = effective::linger_us(cut_ms);
    let text = format!("{LINGER} is not set and gives way: it is {cut_ms}");
    outcome.note(MESSAGE_TIMEOUT, text);
}

/// Of message timeout and linger, the one to point at.
fn at_fault(values: &Values) -> &'static str {
    if values.is_set(MESSAGE_TIMEOUT) {
        MESSAGE_TIMEOUT
    } else {
        LINGER
    }
}

fn topics(values: &Values, outcome: &mut Outcome) {
    if !outcome.is_idempotent() {
        return;
    }
    if outcome.settings.acks != RequiredAcks::Valid(Acks::All) {
        let text = "`acks` must be set to `all` when `enable.idempotence` is true";
        outcome.refuse(ACKS, text);
    }
    if outcome.settings.queuing != QueuingStrategy::Fifo {
        let text = "`queuing.strategy` must be set to `fifo` when `enable.idempotence` is true";
        outcome.refuse(QUEUING, text);
    }
    if !outcome.is_transactional() || !values.are_read(&[MESSAGE_TIMEOUT, TRANSACTION_TIMEOUT]) {
        return;
    }
    let transaction_ms = outcome.settings.transaction_timeout_ms;
    if !values.is_set(MESSAGE_TIMEOUT) {
        outcome.settings.message_timeout_ms = Some(transaction_ms);
    } else if outcome.settings.message_timeout_ms > Some(transaction_ms) {
        let text = "`message.timeout.ms` must be set <= `transaction.timeout.ms`";
        outcome.refuse(MESSAGE_TIMEOUT, text);
    }
}

/// After it, and where there was no topic configuration before: a linger that was set does not.
fn linger_within_topic_timeout(values: &Values, linger_ms: Option<f64>, outcome: &mut Outcome) {
    let is_said = |problem: &ConfigProblem| problem.text == LINGER_TOO_LONG;
    let Some(linger_ms) = linger_ms.filter(|_| values.is_set(LINGER)) else {
        return;
    };
    if !values.are_read(&[MESSAGE_TIMEOUT, TRANSACTION_TIMEOUT])
        || !is_linger_too_long(linger_ms, outcome)
        || outcome.problems.iter().any(is_said)
    {
        return;
    }
    let call = if has_topic_configuration(values) {
        RdkafkaCall::New
    } else {
        RdkafkaCall::NewTopic
    };
    outcome.refuse_in(call, at_fault(values), LINGER_TOO_LONG);
}

/// What the client warns of, and does as it is told.
fn warnings(values: &Values, outcome: &mut Outcome) {
    let RdkafkaProducerSettings {
        retry_backoff_ms,
        retry_backoff_max_ms: max_ms,
        metadata,
        ..
    } = outcome.settings;
    let cut = |first_ms| {
        format!("{first_ms} ms is larger than {RETRY_BACKOFF_MAX} ({max_ms} ms), which is the wait")
    };
    if !values.are_read(&[RETRY_BACKOFF, RETRY_BACKOFF_MAX, FAST_REFRESH]) {
        return;
    }
    if retry_backoff_ms > max_ms {
        outcome.warn(RETRY_BACKOFF, cut(retry_backoff_ms));
    }
    if values.is_set(FAST_REFRESH) && metadata.refresh_fast_interval_ms > max_ms {
        outcome.warn(FAST_REFRESH, cut(metadata.refresh_fast_interval_ms));
    }
    // A transaction's coordinator already counts as a broker.
    let has_addresses = values.text(BOOTSTRAP).is_some() || outcome.is_transactional();
    if values.is_set(BOOTSTRAP) && !has_addresses {
        let text = "no addresses: the client would never connect; the simulated one does";
        outcome.warn(BOOTSTRAP, text.to_owned());
    }
    if let RequiredAcks::Refused(acks) = outcome.settings.acks {
        let text = format!("brokers refuse {acks} (INVALID_REQUIRED_ACKS); the client does not");
        outcome.note(ACKS, text);
    }
}
