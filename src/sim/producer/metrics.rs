//! The client's own metrics, by Kafka's names and windows.
//!
//! Reading never changes a sensor; a look of the run's own monitoring agent does. Source:
//! `SenderMetricsRegistry`, `KafkaProducerMetrics`, `BufferPool`, `Selector`. Simplification: the
//! sender thread costs no time, so its `select` and `io` metrics have nothing to show and read as
//! absent.

use crate::kafka::metric_name::{ProducerMetric, ProducerNodeMetric, ProducerTopicMetric};
use crate::kafka::metric_window::{Figures, Group, MetricWindow, Sensor};
use crate::kafka::settings::JavaProducerSettings;
use crate::kafka::size::upper_bound_estimate;
use crate::sim::producer::batch::Batch;

/// All sensors of one client.
#[derive(Clone, Debug)]
pub struct ClientMetrics {
    window: MetricWindow,
    record_send: Sensor,
    records_per_request: Sensor,
    batch_size: Sensor,
    compression_rate: Sensor,
    record_size: Sensor,
    record_queue_time: Sensor,
    request_latency: Sensor,
    throttle_time: Sensor,
    record_retry: Sensor,
    record_error: Sensor,
    pool_wait: Sensor,
    buffer_exhausted: Sensor,
    batch_split: Sensor,
    flush_time_ns: u64,
    metadata_wait_ns: u64,
    connection_creation: Sensor,
    connection_close: Sensor,
    wire: Wire,
    topics: Vec<Option<Box<TopicMetrics>>>,
    nodes: Vec<Option<Box<NodeMetrics>>>,
}

/// Batches of one topic that one request takes along, recorded together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drained {
    /// Records in them.
    pub records: u64,
    bytes: Group,
    compression: Group,
    record_bytes: Group,
    queue_time_ms: Group,
}

impl Drained {
    /// Takes one more batch.
    pub fn add(&mut self, batch: &Batch, now_ms: u64) {
        self.records += u64::from(batch.records);
        self.bytes.add(f64::from(batch.written));
        self.compression.add(batch.compression_ratio().into());
        self.record_bytes
            .add(f64::from(upper_bound_estimate(batch.payload_max)));
        self.queue_time_ms.add(batch.age_ms(now_ms) as f64);
    }
}

/// What a `Selector` counts, for one node or for all: bytes of every request and response.
#[derive(Clone, Debug)]
struct Wire {
    sent: Sensor,
    received: Sensor,
}

#[derive(Clone, Debug)]
struct TopicMetrics {
    record_send: Sensor,
    bytes: Sensor,
    compression_rate: Sensor,
    record_retry: Sensor,
    record_error: Sensor,
}

#[derive(Clone, Debug)]
struct NodeMetrics {
    wire: Wire,
    request_latency: Sensor,
}

impl Wire {
    fn new(window: MetricWindow) -> Self {
        Self {
            sent: Sensor::new(window),
            received: Sensor::new(window),
        }
    }

    fn look(&mut self, now_ms: u64) {
        self.sent.look(now_ms, Figures::WithRate);
        self.received.look(now_ms, Figures::WithRate);
    }
}

impl ClientMetrics {
    /// Sensors without events.
    pub fn new(settings: &JavaProducerSettings, topics: usize, brokers: usize) -> Self {
        let metrics = settings.metrics;
        let (samples, millis) = (metrics.num_samples, metrics.sample_window_ms);
        let window = MetricWindow::of_version(settings.version, samples, millis);
        Self {
            window,
            record_send: Sensor::new(window),
            records_per_request: Sensor::new(window),
            batch_size: Sensor::new(window),
            compression_rate: Sensor::new(window),
            record_size: Sensor::new(window),
            record_queue_time: Sensor::new(window),
            request_latency: Sensor::new(window),
            throttle_time: Sensor::new(window),
            record_retry: Sensor::new(window),
            record_error: Sensor::new(window),
            pool_wait: Sensor::new(window),
            buffer_exhausted: Sensor::new(window),
            batch_split: Sensor::new(window),
            flush_time_ns: 0,
            metadata_wait_ns: 0,
            connection_creation: Sensor::new(window),
            connection_close: Sensor::new(window),
            wire: Wire::new(window),
            topics: vec![None; topics],
            nodes: vec![None; brokers * 2],
        }
    }

    /// A thread slept in the pool for this long, up to now.
    pub fn pool_wait(&mut self, slept_ns: u64, now_ms: u64) {
        self.pool_wait.record(slept_ns as f64, now_ms);
    }

    /// The windowed wait ratio as it would read if `unfinished_ns` of waiting ended now: the truth
    /// behind `bufferpool-wait-ratio`.
    pub fn true_wait_ratio(&self, unfinished_ns: u64, now_ms: u64) -> Option<f64> {
        let mut waits = self.pool_wait.clone();
        if unfinished_ns > 0 {
            waits.record(unfinished_ns as f64, now_ms);
        }
        waits.ratio_of_ns(now_ms)
    }

    /// A thread got no memory in time.
    pub fn buffer_exhausted(&mut self, now_ms: u64) {
        self.buffer_exhausted.record(1.0, now_ms);
    }

    /// A successful blocking metadata wait.
    pub fn metadata_wait(&mut self, waited_ns: u64) {
        self.metadata_wait_ns += waited_ns;
    }

    /// A `flush()` returned.
    pub fn flushed(&mut self, took_ns: u64) {
        self.flush_time_ns += took_ns;
    }

    /// `send()` itself failed.
    pub fn send_failed(&mut self, now_ms: u64) {
        self.record_error.record(1.0, now_ms);
    }

    /// Batches of one topic were put into a request.
    pub fn drained(&mut self, topic: usize, drained: &Drained, now_ms: u64) {
        if drained.records == 0 {
            return;
        }
        self.batch_size.record_group(&drained.bytes, now_ms);
        self.compression_rate
            .record_group(&drained.compression, now_ms);
        self.record_size.record_group(&drained.record_bytes, now_ms);
        self.record_queue_time
            .record_group(&drained.queue_time_ms, now_ms);
        let window = self.window;
        let topic = self.topics[topic].get_or_insert_with(|| Box::new(TopicMetrics::new(window)));
        topic.record_send.record(drained.records as f64, now_ms);
        topic.bytes.record(drained.bytes.sum, now_ms);
        topic
            .compression_rate
            .record_group(&drained.compression, now_ms);
    }

    /// A ready node got a request with so many records, or none.
    pub fn node_drained(&mut self, records: u64, now_ms: u64) {
        self.records_per_request.record(records as f64, now_ms);
        if records > 0 {
            self.record_send.record(records as f64, now_ms);
        }
    }

    /// A batch goes back to be sent again.
    pub fn batch_retried(&mut self, topic: usize, records: u32, now_ms: u64) {
        self.record_retry.record(f64::from(records), now_ms);
        if let Some(topic) = &mut self.topics[topic] {
            topic.record_retry.record(f64::from(records), now_ms);
        }
    }

    /// A batch was too large and became several.
    pub fn batch_split(&mut self, now_ms: u64) {
        self.batch_split.record(1.0, now_ms);
    }

    /// A batch failed.
    pub fn batch_failed(&mut self, topic: usize, records: u32, now_ms: u64) {
        self.record_error.record(f64::from(records), now_ms);
        if let Some(topic) = &mut self.topics[topic] {
            topic.record_error.record(f64::from(records), now_ms);
        }
    }

    /// A connection was opened, or closed.
    pub fn connection_opened(&mut self, now_ms: u64) {
        self.connection_creation.record(1.0, now_ms);
    }

    /// A connection was closed.
    pub fn connection_closed(&mut self, now_ms: u64) {
        self.connection_close.record(1.0, now_ms);
    }

    /// A request left for a node.
    pub fn request_sent(&mut self, slot: usize, bytes: u32, now_ms: u64) {
        self.wire.sent.record(f64::from(bytes), now_ms);
        let window = self.window;
        let node = self.nodes[slot].get_or_insert_with(|| Box::new(NodeMetrics::new(window)));
        node.wire.sent.record(f64::from(bytes), now_ms);
    }

    /// A response came from a node, with the throttle time that it carries.
    pub fn response_received(
        &mut self,
        slot: usize,
        (bytes, throttle_ms): (u32, u32),
        now_ms: u64,
    ) {
        self.wire.received.record(f64::from(bytes), now_ms);
        self.throttle_time.record(f64::from(throttle_ms), now_ms);
        if let Some(node) = &mut self.nodes[slot] {
            node.wire.received.record(f64::from(bytes), now_ms);
        }
    }

    /// A Produce response came, so long after its request was created.
    pub fn produce_latency(&mut self, slot: usize, latency_ms: u64, now_ms: u64) {
        self.request_latency.record(latency_ms as f64, now_ms);
        if let Some(node) = &mut self.nodes[slot] {
            node.request_latency.record(latency_ms as f64, now_ms);
        }
    }

    /// Somebody reads everything.
    pub fn look(&mut self, now_ms: u64) {
        for rate in [
            &mut self.record_send,
            &mut self.record_retry,
            &mut self.record_error,
            &mut self.pool_wait,
            &mut self.buffer_exhausted,
            &mut self.batch_split,
            &mut self.connection_creation,
            &mut self.connection_close,
        ] {
            rate.look(now_ms, Figures::WithRate);
        }
        for values in [
            &mut self.records_per_request,
            &mut self.batch_size,
            &mut self.compression_rate,
            &mut self.record_size,
            &mut self.record_queue_time,
            &mut self.request_latency,
            &mut self.throttle_time,
        ] {
            values.look(now_ms, Figures::OfValues);
        }
        self.wire.look(now_ms);
        for topic in self.topics.iter_mut().flatten() {
            topic.look(now_ms);
        }
        for node in self.nodes.iter_mut().flatten() {
            node.wire.look(now_ms);
            node.request_latency.look(now_ms, Figures::OfValues);
        }
    }

    /// A metric of the whole producer; gauges are not sensors and read as absent here.
    pub fn read(&self, metric: ProducerMetric, now_ms: u64) -> Option<f64> {
        use ProducerMetric as M;
        match metric {
            M::RecordSendRate => self.record_send.rate(now_ms),
            M::RecordSendTotal => self.record_send.total(),
            M::RecordsPerRequestAvg => self.records_per_request.avg(now_ms),
            M::BatchSizeAvg => self.batch_size.avg(now_ms),
            M::BatchSizeMax => self.batch_size.max(now_ms),
            M::RecordSizeAvg => self.record_size.avg(now_ms),
            M::RecordSizeMax => self.record_size.max(now_ms),
            M::CompressionRateAvg => self.compression_rate.avg(now_ms),
            M::RecordQueueTimeAvg => self.record_queue_time.avg(now_ms),
            M::RecordQueueTimeMax => self.record_queue_time.max(now_ms),
            M::RequestLatencyAvg => self.request_latency.avg(now_ms),
            M::RequestLatencyMax => self.request_latency.max(now_ms),
            M::ProduceThrottleTimeAvg => self.throttle_time.avg(now_ms),
            M::ProduceThrottleTimeMax => self.throttle_time.max(now_ms),
            M::RecordRetryRate => self.record_retry.rate(now_ms),
            M::RecordRetryTotal => self.record_retry.total(),
            M::RecordErrorRate => self.record_error.rate(now_ms),
            M::RecordErrorTotal => self.record_error.total(),
            M::BufferpoolWaitRatio => self.pool_wait.ratio_of_ns(now_ms),
            M::BufferpoolWaitTimeNsTotal => self.pool_wait.total(),
            M::BufferExhaustedRate => self.buffer_exhausted.rate(now_ms),
            M::BufferExhaustedTotal => self.buffer_exhausted.total(),
            M::FlushTimeNsTotal => Some(self.flush_time_ns as f64),
            M::MetadataWaitTimeNsTotal => Some(self.metadata_wait_ns as f64),
            M::BatchSplitRate => self.batch_split.rate(now_ms),
            M::BatchSplitTotal => self.batch_split.total(),
            _ => self.read_wire(metric, now_ms),
        }
    }

    fn read_wire(&self, metric: ProducerMetric, now_ms: u64) -> Option<f64> {
        use ProducerMetric as M;
        match metric {
            M::ConnectionCreationRate => self.connection_creation.rate(now_ms),
            M::ConnectionCreationTotal => self.connection_creation.total(),
            M::ConnectionCloseRate => self.connection_close.rate(now_ms),
            M::ConnectionCloseTotal => self.connection_close.total(),
            M::OutgoingByteRate => self.wire.sent.rate(now_ms),
            M::OutgoingByteTotal => self.wire.sent.total(),
            M::IncomingByteRate => self.wire.received.rate(now_ms),
            M::IncomingByteTotal => self.wire.received.total(),
            M::RequestRate => self.wire.sent.event_rate(now_ms),
            M::RequestTotal => self.wire.sent.event_total(),
            M::ResponseRate => self.wire.received.event_rate(now_ms),
            M::ResponseTotal => self.wire.received.event_total(),
            M::RequestSizeAvg => self.wire.sent.avg(now_ms),
            M::RequestSizeMax => self.wire.sent.max(now_ms),
            M::NetworkIoRate => {
                let sent = self.wire.sent.event_rate(now_ms)?;
                Some(sent + self.wire.received.event_rate(now_ms)?)
            }
            M::NetworkIoTotal => {
                let sent = self.wire.sent.event_total()?;
                Some(sent + self.wire.received.event_total()?)
            }
            _ => None,
        }
    }

    /// A metric of one topic; absent before its first batch was put into a request.
    pub fn read_topic(
        &self,
        topic: usize,
        metric: ProducerTopicMetric,
        now_ms: u64,
    ) -> Option<f64> {
        use ProducerTopicMetric as M;
        let topic = self.topics.get(topic)?.as_deref()?;
        match metric {
            M::RecordSendRate => topic.record_send.rate(now_ms),
            M::RecordSendTotal => topic.record_send.total(),
            M::ByteRate => topic.bytes.rate(now_ms),
            M::ByteTotal => topic.bytes.total(),
            M::CompressionRate => topic.compression_rate.avg(now_ms),
            M::RecordRetryRate => topic.record_retry.rate(now_ms),
            M::RecordRetryTotal => topic.record_retry.total(),
            M::RecordErrorRate => topic.record_error.rate(now_ms),
            M::RecordErrorTotal => topic.record_error.total(),
        }
    }

    /// A metric of one connection, by its place; absent before its first request.
    pub fn read_node(&self, slot: usize, metric: ProducerNodeMetric, now_ms: u64) -> Option<f64> {
        use ProducerNodeMetric as M;
        let node = self.nodes.get(slot)?.as_deref()?;
        match metric {
            M::RequestRate => node.wire.sent.event_rate(now_ms),
            M::RequestTotal => node.wire.sent.event_total(),
            M::RequestSizeAvg => node.wire.sent.avg(now_ms),
            M::RequestSizeMax => node.wire.sent.max(now_ms),
            M::OutgoingByteRate => node.wire.sent.rate(now_ms),
            M::OutgoingByteTotal => node.wire.sent.total(),
            M::ResponseRate => node.wire.received.event_rate(now_ms),
            M::ResponseTotal => node.wire.received.event_total(),
            M::IncomingByteRate => node.wire.received.rate(now_ms),
            M::IncomingByteTotal => node.wire.received.total(),
            M::RequestLatencyAvg => node.request_latency.avg(now_ms),
            M::RequestLatencyMax => node.request_latency.max(now_ms),
        }
    }
}

impl TopicMetrics {
    fn new(window: MetricWindow) -> Self {
        Self {
            record_send: Sensor::new(window),
            bytes: Sensor::new(window),
            compression_rate: Sensor::new(window),
            record_retry: Sensor::new(window),
            record_error: Sensor::new(window),
        }
    }

    fn look(&mut self, now_ms: u64) {
        for rate in [
            &mut self.record_send,
            &mut self.bytes,
            &mut self.record_retry,
            &mut self.record_error,
        ] {
            rate.look(now_ms, Figures::WithRate);
        }
        self.compression_rate.look(now_ms, Figures::OfValues);
    }
}

impl NodeMetrics {
    fn new(window: MetricWindow) -> Self {
        Self {
            wire: Wire::new(window),
            request_latency: Sensor::new(window),
        }
    }
}
