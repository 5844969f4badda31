//! The story of one record, from `send()` to its last copy, in words.

use std::fmt::Write as _;

use super::diary::{Diary, Happened, Step};
use super::names;
use super::record_transaction::outcome;
use crate::sim::Simulation;
use crate::sim::config::Config;
use crate::sim::fact::Consumed;
use crate::sim::ids::{PartitionIndex, ProducerIndex};
use crate::sim::time::SimTime;

/// Records of a key that are listed at most, the latest.
pub const LISTED_MAX: usize = 40;
/// Readers that are told of one copy at most.
const READERS_MAX: usize = 8;

/// The story of one record.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    /// Its number among the records of its key, from 1.
    pub number: usize,
    /// Whose.
    pub producer: ProducerIndex,
    /// Where.
    pub partition: PartitionIndex,
    /// Its ordinal there.
    pub ordinal: u64,
    /// When its client took it.
    pub sent: SimTime,
    /// What became of it, in words.
    pub fate: &'static str,
    /// Where it stands in the log now.
    pub offsets: Vec<u64>,
    /// What happened to it, in order of time.
    pub steps: Vec<(SimTime, String)>,
    /// Whether something else happened than that it was sent, appended and acknowledged.
    pub is_troubled: bool,
}

/// A record while its story is gathered.
struct Gathered {
    producer: ProducerIndex,
    partition: PartitionIndex,
    ordinal: u64,
    sent: SimTime,
    steps: Vec<Step>,
    offsets: Vec<u64>,
    /// Each an offset.
    given: Vec<(u64, Consumed)>,
}

/// The stories of all records of a key that are remembered, in the order in which they were sent.
/// One pass over the diary and the logs, however many there are.
pub fn stories(diary: &Diary, simulation: &Simulation, key: &[u8]) -> Vec<Story> {
    let records = simulation.records_of_key(key).into_iter();
    let mut gathered: Vec<Gathered> = records
        .map(|(producer, partition, ordinal, sent)| Gathered {
            producer,
            partition,
            ordinal,
            sent,
            steps: Vec::new(),
            offsets: Vec::new(),
            given: Vec::new(),
        })
        .collect();
    gathered.sort_by_key(|record| (record.partition, record.producer, record.ordinal));
    for of_partition in gathered.chunk_by_mut(|one, two| one.partition == two.partition) {
        gather(diary, simulation, of_partition);
    }
    gathered.sort_by_key(|record| record.sent);
    let numbered = (1..).zip(&gathered);
    numbered
        .map(|(number, record)| tell(simulation, record, number))
        .collect()
}

/// Finds what happened to records of one partition, which are in order of producer and ordinal.
fn gather(diary: &Diary, simulation: &Simulation, records: &mut [Gathered]) {
    let Some(partition) = records.first().map(|record| record.partition) else {
        return;
    };
    for step in diary.steps(partition) {
        let from = records.partition_point(|record| {
            (record.producer, record.ordinal) < (step.producer, step.first_ordinal)
        });
        let to = records.partition_point(|record| {
            (record.producer, record.ordinal) < (step.producer, step.end_ordinal())
        });
        for record in &mut records[from..to] {
            record.steps.push(*step);
        }
    }
    let mut places: Vec<(u64, usize)> = Vec::new();
    for (offset, producer, ordinal) in simulation.log_records(partition) {
        let place = records.binary_search_by_key(&(producer, ordinal), |r| (r.producer, r.ordinal));
        if let Ok(place) = place {
            records[place].offsets.push(offset);
            places.push((offset, place));
        }
    }
    for given in diary.deliveries(partition) {
        let from = places.partition_point(|(offset, _)| *offset < given.from_offset);
        let to = places.partition_point(|(offset, _)| *offset < given.to_offset);
        for &(offset, place) in &places[from..to] {
            records[place].given.push((offset, *given));
        }
    }
}

/// What `follow KEY` shows: every record of the key in a line, and one of them whole.
pub(super) fn follow(
    diary: &Diary,
    simulation: &Simulation,
    (key, record): (&str, Option<u32>),
) -> Result<String, String> {
    let mut all = stories(diary, simulation, key.as_bytes());
    if all.is_empty()
        && let Some(bytes) = from_hex(key)
    {
        all = stories(diary, simulation, &bytes);
    }
    if all.is_empty() {
        return Err(nothing(simulation, key));
    }
    let chosen = match record {
        Some(number) => all.iter().find(|story| story.number == number as usize),
        None => all
            .iter()
            .max_by_key(|story| (story.is_troubled, story.steps.len(), story.number)),
    };
    let chosen =
        chosen.ok_or_else(|| format!("{} has {} records so far", names::shown(key), all.len()))?;
    let config = simulation.config();
    let mut text = String::new();
    let head = match all.len() {
        1 => "1 record".to_owned(),
        count => format!("{count} records"),
    };
    let _written = writeln!(text, "{}: {head}", names::shown(key));
    if record.is_none() {
        let skipped = all.len().saturating_sub(LISTED_MAX);
        if skipped > 0 {
            let _written = writeln!(text, "  … {skipped} earlier ones");
        }
        for story in all.iter().skip(skipped) {
            let _written = writeln!(text, "  {}", in_a_line(story, config));
        }
        text.push('\n');
    }
    whole(&mut text, chosen, config);
    Ok(text)
}

/// A record and what became of it.
fn in_a_line(story: &Story, config: &Config) -> String {
    let offsets = match story.offsets.as_slice() {
        [] => String::new(),
        [one] => format!(", offset {one}"),
        many => format!(", offsets {}", listed(many)),
    };
    format!(
        "{:>3}  {:>10}  {} to {}: {}{offsets}",
        story.number,
        moment(story.sent),
        names::producer(config, story.producer),
        names::partition(config, story.partition),
        story.fate,
    )
}

fn whole(text: &mut String, story: &Story, config: &Config) {
    let _written = writeln!(text, "record {}", in_a_line(story, config).trim_start());
    for (at, words) in &story.steps {
        let _written = writeln!(text, "  {:>10}  {words}", moment(*at));
    }
}

/// Everything that is known of one record, in words.
fn tell(simulation: &Simulation, record: &Gathered, number: usize) -> Story {
    let config = simulation.config();
    let mut steps = record.steps.clone();
    steps.sort_by_key(|step| (step.at, step.happened.rank()));
    let offsets = &record.offsets;
    let mut told = vec![(record.sent, "taken by send()".to_owned())];
    let of_steps = steps.iter();
    told.extend(of_steps.map(|step| (step.at, words(step, record.ordinal, config))));
    for (offset, given) in record.given.iter().take(READERS_MAX) {
        let reader = names::consumer(config, given.consumer);
        told.push((given.at, format!("given to {reader}, from offset {offset}")));
    }
    told.sort_by_key(|(at, _)| *at);
    for &offset in offsets {
        let mut words = standing(simulation, record.partition, offset);
        let appended = appended_at(&steps, record.ordinal, offset);
        if let Some(outcome) = outcome(simulation, record.partition, (offset, appended)) {
            told.extend(outcome.decided);
            let _written = write!(words, "; {}", outcome.standing);
        }
        told.push((simulation.now(), words));
    }
    told.sort_by_key(|(at, _)| *at);
    let is_calm = |step: &Step| {
        matches!(
            step.happened,
            Happened::Sent { attempt: 1, .. }
                | Happened::Appended { .. }
                | Happened::Acknowledged(_)
        )
    };
    Story {
        number,
        producer: record.producer,
        partition: record.partition,
        ordinal: record.ordinal,
        sent: record.sent,
        fate: fate(&steps, offsets.len()),
        is_troubled: offsets.len() > 1 || !steps.iter().all(is_calm),
        offsets: offsets.clone(),
        steps: told,
    }
}

/// When a copy of a record was appended.
fn appended_at(steps: &[Step], ordinal: u64, offset: u64) -> SimTime {
    let appended = steps.iter().find(|step| match step.happened {
        Happened::Appended { base_offset } => {
            base_offset + (ordinal - step.first_ordinal) == offset
        }
        _ => false,
    });
    appended.map_or(SimTime::ZERO, |step| step.at)
}

/// Which replicas hold an offset now.
fn standing(simulation: &Simulation, partition: PartitionIndex, offset: u64) -> String {
    let config = simulation.config();
    let ends = simulation.replica_ends(partition);
    let (with, without): (Vec<_>, Vec<_>) = ends.iter().partition(|(_, end)| offset < *end);
    let brokers = |list: &[&(crate::sim::ids::BrokerIndex, u64)]| {
        let ids = list
            .iter()
            .map(|(broker, _)| names::broker(config, *broker));
        ids.collect::<Vec<_>>().join(", ")
    };
    let mut words = format!("stands at offset {offset} on broker {}", brokers(&with));
    if !without.is_empty() {
        let _written = write!(words, ", not on {}", brokers(&without));
    }
    words
}

fn fate(steps: &[Step], copies: usize) -> &'static str {
    let happened = |is_it: fn(&Happened) -> bool| steps.iter().any(|step| is_it(&step.happened));
    let is_present = copies > 0;
    if happened(|h| matches!(h, Happened::Acknowledged(_))) {
        match copies {
            0 => "acknowledged and lost",
            1 => "acknowledged and present",
            _ => "acknowledged and duplicated",
        }
    } else if happened(|h| matches!(h, Happened::Failed(_))) {
        if is_present {
            "failed but present"
        } else {
            "failed and absent"
        }
    } else if happened(|h| matches!(h, Happened::Abandoned)) {
        if is_present {
            "gone with its process but present"
        } else {
            "gone with its process and absent"
        }
    } else if is_present {
        "under way, and present"
    } else {
        "under way"
    }
}

fn words(step: &Step, ordinal: u64, config: &Config) -> String {
    let place = ordinal - step.first_ordinal;
    let batch = match step.records {
        1 => "alone in its batch".to_owned(),
        records => format!("record {} of {records} in its batch", place + 1),
    };
    match step.happened {
        Happened::Sent { broker, attempt } => format!(
            "sent to broker {}, attempt {attempt}, {batch}",
            names::broker(config, broker)
        ),
        Happened::Appended { base_offset } => format!("appended at offset {}", base_offset + place),
        Happened::Recognised {
            broker,
            base_offset,
        } => format!(
            "broker {} has it already, at offset {}, and appends nothing",
            names::broker(config, broker),
            base_offset + place
        ),
        Happened::Retried(error) => {
            format!("back at the client, to be sent again: {}", error.name())
        }
        Happened::Acknowledged(ref acked) => format!(
            "acknowledged; reached the broker at {}, answered at {}",
            moment(acked.arrived),
            moment(acked.answered)
        ),
        Happened::Failed(error) => format!("failed: its callback brings {}", error.name()),
        Happened::Abandoned => "gone with its process".to_owned(),
        Happened::Truncated { from_offset } => {
            format!(
                "cut off the log, where it stood at offset {}",
                from_offset + place
            )
        }
        Happened::SentAgain { partition, ordinal } => format!(
            "sent by the application in place of record {ordinal} of {}",
            names::partition(config, partition)
        ),
    }
}

fn nothing(simulation: &Simulation, key: &str) -> String {
    let config = simulation.config();
    let topics = (0..config.topics.len() as u16).map(crate::sim::ids::TopicIndex);
    let remembers = topics
        .filter(|topic| simulation.remembers_records(*topic))
        .count();
    if remembers == 0 {
        return "no topic remembers its records; give one `history = \"records\"`, or a producer \
                `trace = [\"KEY\"]`"
            .to_owned();
    }
    format!("no record with key {} was sent so far", names::shown(key))
}

fn moment(at: SimTime) -> String {
    format!("{:.3} s", at.as_seconds())
}

fn listed(offsets: &[u64]) -> String {
    let texts: Vec<String> = offsets.iter().map(u64::to_string).collect();
    texts.join(", ")
}

/// The bytes of `0x2a00`.
fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?;
    if digits.is_empty() || !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return None;
    }
    let pairs = (0..digits.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_no_text_are_written_in_hexadecimal() {
        assert_eq!(from_hex("0x2a00"), Some(vec![0x2a, 0]));
        assert_eq!(from_hex("0x2"), None);
        assert_eq!(from_hex("user-1"), None);
        assert_eq!(from_hex("0xzz"), None);
    }
}
