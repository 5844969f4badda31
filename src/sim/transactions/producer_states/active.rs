//! Who is active in a partition, for those who look (`ProducerStateManager.activeProducers`).

use std::collections::BTreeMap;

use crate::kafka::transactions_command::ActiveProducer;
use crate::sim::partition::ProducerState;
use crate::sim::time::SimTime;

use super::{ProducerStates, State};

impl ProducerStates {
    /// Every transactional producer, by its id.
    pub fn active(&self) -> impl Iterator<Item = ActiveProducer> + '_ {
        self.now.producers.values().map(active)
    }

    /// When each producer id last wrote.
    pub fn last_writes(&self) -> BTreeMap<i64, SimTime> {
        let producers = self.now.producers.iter();
        producers
            .map(|(&id, state)| (id, state.batches.last_write()))
            .collect()
    }
}

fn active(state: &State) -> ActiveProducer {
    ActiveProducer {
        coordinator_epoch: state.coordinator_epoch,
        start_offset: state.open_since,
        ..state.batches.active()
    }
}

impl ProducerState {
    /// As one that has no transaction.
    pub fn active(&self) -> ActiveProducer {
        ActiveProducer {
            producer: (self.producer_id(), self.epoch()),
            coordinator_epoch: None,
            last_sequence: self.last_sequence().unwrap_or(-1),
            last_timestamp_ms: self.last_write().as_millis(),
            start_offset: None,
        }
    }
}
