//! What librdkafka counts for its statistics (`statistics.interval.ms`).
//!
//! Counters and gauges are as they are at the moment of a read. Windows are those of the latest
//! emit: that is all a dashboard ever gets, and every emit empties them. Without
//! `statistics.interval.ms` they are emitted every second, as if somebody had asked for it.
//!
//! Source: `rd_kafka_stats_emit_all`.

use crate::kafka::rdkafka_window::{RdkafkaWindow, RdkafkaWindowFigures};
use crate::sim::request::ApiKey;
use crate::sim::time::{SimSpan, SimTime};

/// How often windows are emitted where the configuration says never.
pub const EMIT_BY_DEFAULT: SimSpan = SimSpan::from_seconds(1);

/// A window and what its latest emit said.
#[derive(Clone, Debug, Default)]
pub struct Window {
    open: RdkafkaWindow,
    emitted: RdkafkaWindowFigures,
}

impl Window {
    /// Takes one value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.open.add(value);
    }

    /// What the latest emit said.
    pub fn emitted(&self) -> &RdkafkaWindowFigures {
        &self.emitted
    }

    fn emit(&mut self) {
        self.emitted = self.open.figures();
        self.open.reset();
    }
}

/// Counts of one broker's connection.
#[derive(Clone, Debug, Default)]
pub struct BrokerStatistics {
    /// `tx`, `txbytes`: requests written, and their bytes.
    pub tx: (u64, u64),
    /// `rx`, `rxbytes`.
    pub rx: (u64, u64),
    /// `rxcorriderrs`: answers to requests that were given up.
    pub rx_unmatched: u64,
    /// `req_timeouts`.
    pub request_timeouts: u64,
    /// `connects`, `disconnects`.
    pub connects: u64,
    /// Connections that ended.
    pub disconnects: u64,
    /// `wakeups`: how often the thread looked.
    pub wakeups: u64,
    /// `req.*`: requests written, by API as [`api_place`] counts.
    pub requests: [u64; 5],
    /// `int_latency` in µs: from `produce()` into a request, a sample a message.
    pub int_latency: Window,
    /// `outbuf_latency` in µs: from there to the socket, a sample a request.
    pub outbuf_latency: Window,
    /// `rtt` in µs.
    pub rtt: Window,
    /// `throttle` in ms. The client only counts it: it goes on sending.
    pub throttle: Window,
    /// When the last request was written, and the last answer read.
    pub last_tx: Option<SimTime>,
    /// When the last answer was read.
    pub last_rx: Option<SimTime>,
    /// Since when the connection is in its state.
    pub state_since: SimTime,
}

/// Counts of one topic.
#[derive(Clone, Debug, Default)]
pub struct TopicStatistics {
    /// `batchsize` in bytes.
    pub batch_size: Window,
    /// `batchcnt` in messages.
    pub batch_count: Window,
}

/// Counts of the whole client.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// By broker.
    pub brokers: Vec<BrokerStatistics>,
    /// By topic.
    pub topics: Vec<TopicStatistics>,
    /// `txmsgs`, `txmsg_bytes`: messages put into requests, keys and values only.
    pub messages: (u64, u64),
    /// Messages that `produce()` refused with `_QUEUE_FULL`.
    pub queue_full: u64,
    /// When windows are emitted next.
    pub emit_at: SimTime,
    interval: SimSpan,
}

impl Statistics {
    /// Nothing counted yet.
    pub fn new((brokers, topics): (usize, usize), interval_ms: Option<u64>, now: SimTime) -> Self {
        let interval = interval_ms.map_or(EMIT_BY_DEFAULT, SimSpan::from_millis);
        Self {
            brokers: vec![BrokerStatistics::default(); brokers],
            topics: vec![TopicStatistics::default(); topics],
            emit_at: now + interval,
            interval,
            ..Self::default()
        }
    }

    /// Emits what is due.
    pub fn run(&mut self, now: SimTime) {
        if now < self.emit_at {
            return;
        }
        self.emit_at = now + self.interval;
        for broker in &mut self.brokers {
            broker.int_latency.emit();
            broker.outbuf_latency.emit();
            broker.rtt.emit();
            broker.throttle.emit();
        }
        for topic in &mut self.topics {
            topic.batch_size.emit();
            topic.batch_count.emit();
        }
    }
}

impl BrokerStatistics {
    /// A request of so many bytes is written, after this wait.
    pub fn written(&mut self, api: ApiKey, bytes: u32, (now, waited): (SimTime, SimSpan)) {
        self.tx = (self.tx.0 + 1, self.tx.1 + u64::from(bytes));
        self.requests[api_place(api)] += 1;
        self.outbuf_latency.add(micros(waited));
        self.last_tx = Some(now);
    }

    /// An answer is read, so long after its request was written.
    pub fn read(&mut self, bytes: u32, (now, round_trip): (SimTime, SimSpan)) {
        self.rx = (self.rx.0 + 1, self.rx.1 + u64::from(bytes));
        self.rtt.add(micros(round_trip));
        self.last_rx = Some(now);
    }
}

/// An API's place in [`BrokerStatistics::requests`].
pub const fn api_place(api: ApiKey) -> usize {
    match api {
        ApiKey::ApiVersions => 0,
        ApiKey::Metadata => 1,
        ApiKey::InitProducerId => 2,
        ApiKey::Produce => 3,
        ApiKey::Transactional => 4,
    }
}

/// Whole microseconds.
pub const fn micros(span: SimSpan) -> u64 {
    span.as_nanos() / 1_000
}
