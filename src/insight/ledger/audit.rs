//! The ledger against the logs themselves, where all of a log can still be seen.

use super::Ledger;
use crate::insight::interval::CountMap;
use crate::sim::Simulation;
use crate::sim::ids::{PartitionIndex, ProducerIndex};

/// What a comparison with the logs came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audit {
    /// No log can be seen whole: older batches are folded into sums, cleaned, or past retention.
    NothingSeen,
    /// So many logs hold what the ledger says.
    Agrees(u32),
    /// They do not; where, in words.
    Differs(String),
}

impl Ledger {
    /// Compares what stands in the logs with what the ledger says of it. Logs of topics with
    /// `history = "records"` or `"batches"` can be seen whole, as long as nothing was cleaned away.
    pub fn audit(&self, simulation: &Simulation) -> Audit {
        let mut seen = 0;
        for partition in simulation.partitions() {
            if !is_whole(simulation, partition) {
                continue;
            }
            seen += 1;
            if let Some(text) = self.difference(simulation, partition) {
                return Audit::Differs(text);
            }
        }
        if seen == 0 {
            Audit::NothingSeen
        } else {
            Audit::Agrees(seen)
        }
    }

    fn difference(&self, simulation: &Simulation, partition: PartitionIndex) -> Option<String> {
        let producers = simulation.config().producers.len();
        let mut logs = vec![CountMap::default(); producers];
        for (_, producer, ordinal) in simulation.log_records(partition) {
            logs[producer.index()].add(ordinal, ordinal + 1, 1);
        }
        for (place, mut log) in logs.into_iter().enumerate() {
            let producer = ProducerIndex(place as u16);
            let mut entries = self.entries.iter();
            let entry =
                entries.find(|entry| (entry.producer, entry.partition) == (producer, partition));
            let said = match entry {
                None => CountMap::default(),
                Some(entry) => {
                    let (present, floor) = entry.present();
                    log.cut_below(floor);
                    present.clone()
                }
            };
            if log != said {
                return Some(format!(
                    "{} holds {} records of {}, the ledger says {}",
                    simulation.partition_name(partition),
                    log.sum_within(0, u64::MAX),
                    simulation.config().producers[place].name,
                    said.sum_within(0, u64::MAX),
                ));
            }
        }
        None
    }
}

/// Whether every record that was ever kept in a partition can still be seen.
fn is_whole(simulation: &Simulation, partition: PartitionIndex) -> bool {
    let view = simulation.partition(partition);
    let name = partition.name();
    let config = simulation.config();
    let topic = config.topics[name.topic.index()].existing.as_ref();
    let start = topic.and_then(|topic| topic.start_offsets.get(name.number as usize));
    let start = start.copied().unwrap_or(0);
    let first = simulation.log_records(partition).next();
    let first = first.map_or(view.log_end_offset, |(offset, ..)| offset);
    let kept = view.log_end_offset - view.log_start_offset;
    view.log_start_offset == start && first == start && view.records_kept == kept
}
