//! What a librdkafka client looks like from outside. Nothing here changes anything.

use crate::sim::network::Network;
use crate::sim::producer::rdkafka::Rdkafka;
use crate::sim::producer::rdkafka::toppar::Toppar;
use crate::sim::time::SimTime;
use crate::sim::view::{ConnectionView, QueueView, TransactionalClientView};

impl Rdkafka {
    /// The queue and what is in it.
    pub fn queue_view(&self, now: SimTime) -> QueueView {
        let limits = &self.settings.queue;
        let mut view = QueueView {
            messages: self.queue.messages,
            messages_max: limits.messages_max,
            value_bytes: self.queue.value_bytes,
            value_bytes_max: limits.value_bytes_max,
            reported: self.reports.messages(),
            reports: self.reports.operations(),
            full: self.statistics.queue_full,
            ..QueueView::default()
        };
        let oldest_message = |toppar: &Toppar| toppar.head().map(|(head, _)| head.enqueued);
        for toppar in &self.toppars {
            view.retrying += toppar.returned.len() as u64;
            view.waiting += toppar.fresh.len() as u64;
            view.in_flight += toppar.in_flight;
        }
        for topic in &self.topics {
            view.unassigned += topic.unassigned.len() as u64;
        }
        let waiting = self.toppars.iter().filter_map(oldest_message);
        let on_wire = self
            .batches
            .in_use()
            .filter_map(|batch| batch.messages.first())
            .map(|message| message.enqueued);
        let oldest = waiting.chain(on_wire).chain(self.oldest_unassigned()).min();
        view.oldest_age = oldest.map(|enqueued| now.since(enqueued));
        view
    }

    /// Its connections, as far as any was ever made.
    pub fn connection_views(&self, network: &Network, now: SimTime) -> Vec<ConnectionView> {
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

    /// Producer id and epoch, once assigned.
    pub fn producer_id(&self) -> Option<(i64, i16)> {
        self.producer_ids.current()
    }

    /// Its transactions as it sees them.
    pub fn transaction_view(&self) -> Option<TransactionalClientView> {
        let own = self.transactions.as_ref()?;
        Some(own.view(self.me))
    }

    /// Topics that the client has metadata for.
    pub fn topics_known(&self) -> u32 {
        let known = super::partitioning::Knowledge::Known;
        self.topics
            .iter()
            .filter(|topic| topic.knowledge == known)
            .count() as u32
    }

    /// Batches and bytes for each partition, added to `sums`: what waits counts as one batch, and
    /// every request as another.
    pub fn add_queued(&self, sums: &mut [(u32, u64)]) {
        for toppar in &self.toppars {
            let (batches, bytes) = &mut sums[toppar.partition.index()];
            *batches += u32::from(toppar.queued.messages > 0);
            *bytes += toppar.queued.bytes;
        }
        for batch in self.batches.in_use() {
            let toppar = &self.toppars[batch.toppar as usize];
            let (batches, bytes) = &mut sums[toppar.partition.index()];
            *batches += 1;
            *bytes += batch
                .runs
                .iter()
                .map(|run| u64::from(run.bytes))
                .sum::<u64>();
        }
    }
}
