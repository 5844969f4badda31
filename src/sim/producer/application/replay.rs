//! Loads that copy a topic: records from the inbox instead of drawn ones.

use crate::kafka::size::{key_bytes, payload_bytes};
use crate::sim::producer::application::{Application, InHand, Load, Thread, Waiting};
use crate::sim::producer::dialect::Dialect;
use crate::sim::records::NotedValue;
use crate::sim::replay::Replayed;
use crate::sim::time::SimTime;

impl Application {
    /// Records that a load has read and not sent.
    pub fn inbox_records(&self, load: usize) -> usize {
        self.loads.get(load).map_or(0, |load| load.inbox.len())
    }

    /// A load has read these: its thread goes on if it waited for them.
    pub fn on_replayed(&mut self, now: SimTime, load: usize, records: Vec<Replayed>) {
        let Some(state) = self.loads.get_mut(load) else {
            return;
        };
        state.inbox.extend(records);
        let threads = self.threads.iter_mut();
        for thread in threads.filter(|thread| thread.load == Some(load)) {
            if thread.waiting == Waiting::Working && thread.next_at == SimTime::NEVER {
                thread.next_at = now;
            }
        }
    }
}

impl Load {
    /// Whether it copies a topic and has nothing more to send now.
    pub(super) fn waits_for_replay(&self) -> bool {
        self.config.replay.is_some() && self.inbox.is_empty()
    }

    /// The next record: read from another topic, or drawn.
    pub(super) fn next<C: Dialect>(&mut self, thread: &mut Thread, client: &C) -> InHand {
        let Some(record) = self.inbox.pop_front() else {
            return self.draw(thread, client);
        };
        let key = record.key.as_deref();
        let route = client.route(key.map(|key| (key, client.hash(key))));
        let key_length = key.map(|key| key.len() as u32);
        let (payload, value) = match record.value {
            // Key and value have one form: what one of them leaves is the other.
            NotedValue::Payload(bytes) => (bytes, key_bytes(bytes, key_length.unwrap_or(0))),
            NotedValue::Tombstone => (payload_bytes(key_length, None, &[]), 0),
        };
        let topic = self.config.topic;
        self.replayed = Some(record);
        InHand {
            topic,
            route,
            payload,
            value,
            key: None,
            await_ack: false,
            before: None,
        }
    }
}
