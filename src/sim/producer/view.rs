//! What a producer looks like from outside. Nothing here changes anything.

use crate::kafka::metric_name::{ProducerMetric, ProducerNodeMetric, ProducerTopicMetric};
use crate::kafka::rdkafka_partitioner::Choice;
use crate::sim::config::{ClientConfig, Pacing};
use crate::sim::fact::Node;
use crate::sim::ids::TopicIndex;
use crate::sim::network::Network;
use crate::sim::producer::Producer;
use crate::sim::producer::application::{Application, Thread, Waiting};
use crate::sim::producer::batch::{Origin, Stage};
use crate::sim::producer::client::Client;
use crate::sim::producer::connections::Connections;
use crate::sim::producer::dialect::{Dialect, Library, with_client};
use crate::sim::producer::idempotence::ProducerIdState;
use crate::sim::request::Requests;
use crate::sim::time::SimTime;
use crate::sim::view::{
    BufferView, ConnectionState, ConnectionView, ProcessState, ProducerTotals, ProducerView,
    RdkafkaFigure, ThreadState, ThreadView, TransactionalClientView,
};

impl Producer {
    /// Everything at once.
    pub fn view(&self, network: &Network, now: SimTime) -> ProducerView {
        let client = self.live_client();
        let (java, rdkafka) = (
            client.and_then(Library::java),
            client.and_then(Library::rdkafka),
        );
        let application = self.application.as_ref();
        ProducerView {
            index: self.me,
            state: self.state,
            buffer: java.map(|client| client.buffer(now)).unwrap_or_default(),
            queue: rdkafka.map(|client| client.queue_view(now)),
            threads: application
                .map(|app| app.threads_at(now))
                .unwrap_or_default(),
            connections: client
                .map(|client| with_client!(client, client => client.connection_views(network, now)))
                .unwrap_or_default(),
            producer_id: client
                .and_then(|client| with_client!(client, client => client.producer_id())),
            topics_known: match client {
                Some(Library::Java(client)) => client.metadata.topics_known(),
                Some(Library::Rdkafka(client)) => client.topics_known(),
                None => 0,
            },
            rate_asked: application.map_or(0.0, |app| app.rate_asked(now)),
            totals: self.totals(now),
        }
    }

    /// The client, while its process exists.
    fn live_client(&self) -> Option<&Library> {
        self.client
            .as_ref()
            .filter(|_| self.state != ProcessState::Exited)
    }

    /// The Java client, even after its process ended.
    fn java_client(&self) -> Option<&Client> {
        self.client.as_ref()?.java()
    }

    /// Its transactions as the client sees them; nothing without a client or a transactional id.
    pub fn transaction_view(&self) -> Option<TransactionalClientView> {
        match self.client.as_ref()? {
            Library::Java(client) => Some(client.transaction.as_ref()?.view(self.me)),
            Library::Rdkafka(client) => client.transaction_view(),
        }
    }

    /// Counts since the start of the run.
    pub fn totals(&self, now: SimTime) -> ProducerTotals {
        let mut client = self.earlier.client;
        if let Some(present) = &self.client {
            client.add(with_client!(present, present => present.counts()));
        }
        let mut application = self.earlier.application;
        if let Some(present) = &self.application {
            application.add(present.counts_at(now));
        }
        ProducerTotals {
            records_sent: client.sent,
            records_acked: client.acked,
            records_failed: client.failed,
            records_refused: application.refused,
            records_abandoned: self.earlier.abandoned,
            true_wait: application.memory_wait,
            cross_rack_bytes: client.cross_rack_bytes,
        }
    }

    /// Where every record of this key goes among so many partitions; none where that depends on
    /// more than the key.
    pub fn partition_of_key(&self, key: &[u8], partitions: u32) -> Option<u32> {
        match &self.settings {
            ClientConfig::Java(settings) => settings.partitioner.partition_of(key, partitions),
            ClientConfig::Rdkafka(settings) => {
                match settings.partitioner.choice(Some(key), partitions) {
                    Choice::Partition(number) => Some(number),
                    Choice::Free => None,
                }
            }
        }
    }

    /// A metric as the client would report it now.
    pub fn metric(&self, metric: ProducerMetric, now: SimTime) -> Option<f64> {
        self.live_client()?.java()?.metric(metric, now)
    }

    /// `bufferpool-wait-ratio` as it would read if all waits ended now.
    pub fn true_wait_ratio(&self, now: SimTime) -> Option<f64> {
        let client = self.java_client()?;
        let unfinished: u64 = client
            .pool
            .waiters()
            .map(|waiter| now.since(waiter.recorded).as_nanos())
            .sum();
        client.metrics.true_wait_ratio(unfinished, now.as_millis())
    }

    /// A metric of one topic.
    pub fn topic_metric(
        &self,
        topic: TopicIndex,
        metric: ProducerTopicMetric,
        now: SimTime,
    ) -> Option<f64> {
        self.java_client()?
            .metrics
            .read_topic(topic.index(), metric, now.as_millis())
    }

    /// A metric of one connection.
    pub fn node_metric(&self, node: Node, metric: ProducerNodeMetric, now: SimTime) -> Option<f64> {
        let client = self.java_client()?;
        let slot = match node {
            Node::Bootstrap(broker) => Connections::bootstrap_slot(broker),
            Node::Broker(broker) => client.connections.slot_of(broker),
        };
        client
            .metrics
            .read_node(slot as usize, metric, now.as_millis())
    }

    /// A figure of librdkafka's statistics, as its client would report it.
    pub fn rdkafka_figure(
        &self,
        requests: &Requests,
        figure: RdkafkaFigure,
        now: SimTime,
    ) -> Option<f64> {
        let client = self.live_client()?.rdkafka()?;
        match figure {
            RdkafkaFigure::Client(metric) => Some(client.figure(metric, now)),
            RdkafkaFigure::Broker(broker, metric) => {
                client.broker_figure(requests, (broker, metric), now)
            }
            RdkafkaFigure::Topic(topic, metric) => client.topic_figure(topic, metric, now),
            RdkafkaFigure::Partition(partition, metric) => {
                client.partition_figure(partition, metric)
            }
        }
    }

    /// Batches and bytes for each partition, in flight included, added to `sums`.
    pub fn add_queued(&self, sums: &mut [(u32, u64)]) {
        let client = match &self.client {
            Some(Library::Java(client)) => client,
            Some(Library::Rdkafka(client)) => return client.add_queued(sums),
            None => return,
        };
        for (id, batch) in client.accumulator.batches.in_use() {
            let partition = client.accumulator.queues[batch.queue as usize].partition;
            let (batches, bytes) = &mut sums[partition.index()];
            *batches += 1;
            *bytes += u64::from(client.accumulator.size_of(id).1);
        }
    }
}

impl Client {
    /// A metric as this client would report it at `now`: a sensor or a gauge.
    pub fn metric(&self, metric: ProducerMetric, now: SimTime) -> Option<f64> {
        use ProducerMetric as M;
        match metric {
            M::RequestsInFlight => Some(self.connections.in_flight() as f64),
            M::MetadataAge => {
                let since = now.as_millis() - self.metadata.last_success_ms?.min(now.as_millis());
                Some(since as f64 / 1000.0)
            }
            M::BufferTotalBytes => Some(self.pool.total_bytes() as f64),
            M::BufferAvailableBytes => Some(self.pool.available_bytes() as f64),
            M::WaitingThreads => Some(self.pool.waiters().len() as f64),
            M::ConnectionCount => {
                let open = |(_, c): &(u16, &super::connections::Connection)| {
                    c.state != ConnectionState::Disconnected
                };
                Some(self.connections.iter().filter(open).count() as f64)
            }
            metric => self.metrics.read(metric, now.as_millis()),
        }
    }

    fn producer_id(&self) -> Option<(i64, i16)> {
        match self.idempotence.state {
            ProducerIdState::Ready { producer_id, epoch } => Some((producer_id, epoch)),
            _ => None,
        }
    }

    fn buffer(&self, now: SimTime) -> BufferView {
        let mut view = BufferView {
            total_bytes: self.pool.total_bytes(),
            available_bytes: self.pool.available_bytes(),
            waiting_threads: self.pool.waiters().len() as u32,
            ..BufferView::default()
        };
        let mut oldest = None;
        for (id, batch) in self.accumulator.batches.in_use() {
            // Parts of a split batch lie outside the pool.
            let bytes = match batch.origin {
                Origin::Appended => u64::from(batch.limit),
                Origin::Split => 0,
            };
            match batch.stage {
                Stage::Open => view.open_bytes += bytes,
                Stage::Closed => view.ready_bytes += bytes,
                Stage::InFlight | Stage::ExpiredInFlight => view.in_flight_bytes += bytes,
                Stage::Retrying => view.retrying_bytes += bytes,
                Stage::Free => continue,
            }
            let (records, written) = self.accumulator.size_of(id);
            view.written_bytes += u64::from(written);
            view.batches += 1;
            view.records += u64::from(records);
            oldest = Some(oldest.map_or(batch.created, |at: SimTime| at.min(batch.created)));
        }
        view.oldest_batch_age = oldest.map(|created| now.since(created));
        view
    }

    fn connection_views(&self, network: &Network, now: SimTime) -> Vec<ConnectionView> {
        self.connections
            .iter()
            .filter(|(_, connection)| connection.generation > 0)
            .map(|(slot, connection)| ConnectionView {
                node: self.connections.node_of(slot),
                state: connection.state,
                in_flight: connection.in_flight.len() as u32,
                is_throttled: connection.is_throttled(now),
                link: network.state(network.client(self.me, self.connections.broker_of(slot))),
            })
            .collect()
    }
}

impl Application {
    fn threads_at(&self, now: SimTime) -> Vec<ThreadView> {
        self.threads
            .iter()
            .map(|thread| self.thread_at(thread, now))
            .collect()
    }

    fn thread_at(&self, thread: &Thread, now: SimTime) -> ThreadView {
        let state = match thread.waiting {
            Waiting::Working | Waiting::NewClient => ThreadState::Working,
            Waiting::Blocked { on, since, .. } => ThreadState::Blocked { on, since },
            Waiting::Pausing => ThreadState::Pausing {
                until: thread.next_at,
            },
            Waiting::Done => ThreadState::Done,
        };
        let load = thread.load.map(|at| &self.loads[at]);
        let outside = load
            .filter(|load| load.config.pacing == Pacing::Open && state != ThreadState::Done)
            .map_or(0, |load| {
                let interval = (load.pace.step(now).interval >> 32).max(1);
                let late = u128::from(now.since(thread.arrives_at).as_nanos());
                if now < thread.arrives_at {
                    0
                } else {
                    (late / interval) as u64 + 1
                }
            });
        ThreadView {
            state,
            outside,
            spilled: thread.backlog.len() as u64,
        }
    }
}
