//! The story of one record, from `send()` to its last copy, in words.

use std::fmt::Write as _;

use super::diary::{Diary, Happened, Step};
use super::names;
use crate::sim::Simulation;
use crate::sim::config::Config;
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

/// The stories of all records of a key that are remembered, in the order in which they were sent.
pub fn stories(diary: &Diary, simulation: &Simulation, key: &[u8]) -> Vec<Story> {
    let mut records = simulation.records_of_key(key);
    records.sort_by_key(|&(producer, partition, ordinal, at)| (at, producer, partition, ordinal));
    let numbered = (1..).zip(records);
    numbered
        .map(|(number, (producer, partition, ordinal, sent))| {
            let identity = (producer, partition, ordinal);
            Story {
                number,
                sent,
                ..tell(diary, simulation, identity)
            }
        })
        .collect()
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
        None => all.iter().max_by_key(|story| (story.is_troubled, story.steps.len(), story.number)),
    };
    let chosen = chosen.ok_or_else(|| {
        format!("{} has {} records so far", names::shown(key), all.len())
    })?;
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

/// Everything that is known of one record.
fn tell(
    diary: &Diary,
    simulation: &Simulation,
    (producer, partition, ordinal): (ProducerIndex, PartitionIndex, u64),
) -> Story {
    let config = simulation.config();
    let steps = diary.steps_of(producer, partition, ordinal);
    let in_log = simulation.log_records(partition);
    let mine = in_log.filter(|&(_, whose, number)| (whose, number) == (producer, ordinal));
    let offsets: Vec<u64> = mine.map(|(offset, ..)| offset).collect();
    let mut told: Vec<(SimTime, String)> = steps
        .iter()
        .map(|step| (step.at, words(step, ordinal, config)))
        .collect();
    for &offset in &offsets {
        for given in diary.deliveries_of(partition, offset).iter().take(READERS_MAX) {
            let reader = names::consumer(config, given.consumer);
            told.push((given.at, format!("given to {reader}, from offset {offset}")));
        }
    }
    told.sort_by_key(|(at, _)| *at);
    let now = simulation.now();
    for &offset in &offsets {
        told.push((now, standing(simulation, partition, offset)));
    }
    let is_calm = |step: &Step| {
        matches!(
            step.happened,
            Happened::Sent { attempt: 1, .. } | Happened::Appended { .. } | Happened::Acknowledged(_)
        )
    };
    Story {
        number: 0,
        producer,
        partition,
        ordinal,
        sent: SimTime::ZERO,
        fate: fate(&steps, offsets.len()),
        is_troubled: offsets.len() > 1 || !steps.iter().all(is_calm),
        offsets,
        steps: told,
    }
}

/// Which replicas hold an offset now.
fn standing(simulation: &Simulation, partition: PartitionIndex, offset: u64) -> String {
    let config = simulation.config();
    let ends = simulation.replica_ends(partition);
    let (with, without): (Vec<_>, Vec<_>) = ends.iter().partition(|(_, end)| offset < *end);
    let brokers = |list: &[&(crate::sim::ids::BrokerIndex, u64)]| {
        let ids = list.iter().map(|(broker, _)| names::broker(config, *broker));
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
        match is_present {
            true => "failed but present",
            false => "failed and absent",
        }
    } else if happened(|h| matches!(h, Happened::Abandoned)) {
        match is_present {
            true => "gone with its process but present",
            false => "gone with its process and absent",
        }
    } else {
        match is_present {
            true => "under way, and present",
            false => "under way",
        }
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
            format!("cut off the log, where it stood at offset {}", from_offset + place)
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
    let remembers = topics.filter(|topic| simulation.remembers_records(*topic)).count();
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
