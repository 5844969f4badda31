//! From a line to a command.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};

use crate::kafka::config::{MASK, is_secret};
use crate::kafka::error::ErrorCode;
use crate::sim::command::{
    BrokerFault, Command, ConsumerFault, CoordinatorKill, LinkFault, ProducerFault,
};
use crate::sim::config::Peer;
use crate::sim::ids::{BrokerIndex, GroupIndex, ProducerIndex, TopicPartition};

use super::grammar::{
    BrokerVerb, ConsumerVerb, CoordinatorVerb, DiskVerb, LATER, Line, LinkVerb, ProducerVerb,
    ResponsesVerb, SetVerb, Verb,
};
use super::names::Names;
use super::problem::CommandProblem;
use super::reference::usage;
use super::setting;
use super::text::{listed, nearest};
use super::words::{self, Word};

/// The longest line that is read, in bytes.
const LINE_BYTES_MAX: usize = 4096;

/// Reads one line.
pub fn parse(line: &str, names: &Names) -> Result<Command, CommandProblem> {
    if line.len() > LINE_BYTES_MAX {
        let message = format!("a command has at most {LINE_BYTES_MAX} bytes");
        return Err(CommandProblem::new(message, 0..0));
    }
    let words = words::split(line)
        .map_err(|open| CommandProblem::new("a quote is not closed", open.range))?;
    let place = Places {
        words: &words,
        end: line.trim_end().len(),
    };
    verb_exists(&place)?;
    let texts = words.iter().map(|word| word.text.as_str());
    let parsed = Line::try_parse_from(texts).map_err(|error| from_clap(&error, &place))?;
    Resolver { names, place }.verb(parsed.verb)
}

/// The words of the line, to point at.
pub(super) struct Places<'a> {
    words: &'a [Word],
    pub(super) end: usize,
}

impl Places<'_> {
    /// Whether a word gives a value to a secret key: a word too many is then part of that value,
    /// as when its quotes were forgotten.
    fn holds_secret(&self) -> bool {
        let mut settings = self
            .words
            .iter()
            .filter_map(|word| word.text.split_once('='));
        settings.any(|(key, _)| is_secret(key))
    }

    /// Where a word stands; the last one, since names follow verbs.
    pub(super) fn of(&self, text: &str) -> std::ops::Range<usize> {
        let same = |word: &&Word| {
            word.text == text
                || word
                    .text
                    .split_once('=')
                    .is_some_and(|(_, value)| value == text)
        };
        self.words
            .iter()
            .rev()
            .find(same)
            .map_or(self.end..self.end, |word| word.range.clone())
    }
}

/// The words that choose a command are known.
fn verb_exists(place: &Places<'_>) -> Result<(), CommandProblem> {
    let texts: Vec<&str> = place.words.iter().map(|word| word.text.as_str()).collect();
    if let Some(later) = LATER.iter().find(|later| texts.starts_with(later)) {
        let range = place.words[0].range.start..place.words[later.len() - 1].range.end;
        let message = format!("`{}` is not yet in this version", later.join(" "));
        return Err(CommandProblem::new(message, range));
    }
    let mut definition = Line::command();
    let mut words = place.words.iter();
    while definition.has_subcommands() {
        let known: Vec<String> = definition
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(|command| command.get_name().to_owned())
            .collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let choices = || format!("it can be {}", listed(&known, "or"));
        let Some(word) = next_verb(&mut words, &definition) else {
            let message = match place.words.last() {
                Some(last) => format!("`{}` what?", last.text),
                None => "an empty command".to_owned(),
            };
            return Err(CommandProblem::new(message, place.end..place.end).hint(choices()));
        };
        let Some(inner) = definition.find_subcommand(&word.text) else {
            let message = format!("unknown word `{}`", word.text);
            let near = nearest(&word.text, known.iter().copied());
            return Err(CommandProblem::new(message, word.range.clone()).maybe(near, choices));
        };
        definition = inner.clone();
    }
    Ok(())
}

/// The next word that chooses a command; flags of the command so far may stand before it.
fn next_verb<'a>(
    words: &mut impl Iterator<Item = &'a Word>,
    definition: &clap::Command,
) -> Option<&'a Word> {
    loop {
        let word = words.next()?;
        let mut arguments = definition.get_arguments();
        let is_flag = arguments.any(|arg| word.text.strip_prefix("--") == arg.get_long());
        if !is_flag || !word.text.starts_with("--") {
            return Some(word);
        }
        words.next(); // Its value.
    }
}

/// Says in our words what clap found, and where.
fn from_clap(error: &clap::Error, place: &Places<'_>) -> CommandProblem {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    };
    let argument = text(ContextKind::InvalidArg).replace(['<', '>'], "");
    let value = text(ContextKind::InvalidValue);
    let usage = || format!("usage: {}", usage_of(place));
    match error.kind() {
        ErrorKind::MissingRequiredArgument => {
            let message = format!("{argument} is missing");
            CommandProblem::new(message, place.end..place.end).hint(usage())
        }
        ErrorKind::UnknownArgument => {
            let shown = if place.holds_secret() {
                MASK
            } else {
                &argument
            };
            let message = format!("`{shown}` does not belong here");
            CommandProblem::new(message, place.of(&argument)).hint(usage())
        }
        ErrorKind::ValueValidation | ErrorKind::InvalidValue if value.is_empty() => {
            let message = format!("{argument} needs a value");
            CommandProblem::new(message, place.end..place.end).hint(usage())
        }
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let why = error
                .source()
                .map_or_else(String::new, |source| format!(": {source}"));
            CommandProblem::new(format!("`{value}`{why}"), place.of(&value)).hint(usage())
        }
        _ => {
            let first = error.to_string();
            let first = first
                .lines()
                .next()
                .unwrap_or("")
                .trim_start_matches("error: ");
            CommandProblem::new(first, place.of(&argument)).hint(usage())
        }
    }
}

/// The usage of the command that the words chose.
fn usage_of(place: &Places<'_>) -> String {
    let mut definition = Line::command();
    let mut path = Vec::new();
    for word in place.words {
        match definition.find_subcommand(&word.text) {
            Some(inner) => {
                path.push(word.text.clone());
                definition = inner.clone();
            }
            None => break,
        }
    }
    usage(&path, &definition)
}

/// Looks names up.
pub(super) struct Resolver<'a> {
    pub(super) names: &'a Names,
    pub(super) place: Places<'a>,
}

impl Resolver<'_> {
    fn verb(&self, verb: Verb) -> Result<Command, CommandProblem> {
        Ok(match verb {
            Verb::Broker(verb) => self.broker_verb(verb)?,
            Verb::Coordinator(CoordinatorVerb::Kill {
                transactional_id,
                lose_tail,
            }) => self.coordinator_kill(transactional_id, lose_tail)?,
            Verb::Link(verb) => self.link_verb(verb)?,
            Verb::Responses(ResponsesVerb::Swallow { broker, count }) => {
                Command::SwallowResponses {
                    broker: self.broker(&broker)?,
                    count,
                }
            }
            Verb::Disk(verb) => self.disk_verb(verb)?,
            Verb::Inject {
                error,
                partition,
                count,
            } => Command::Inject {
                error: self.error(&error)?,
                partition: self.partition(&partition)?,
                count,
            },
            Verb::Producer(verb) => self.producer_verb(verb)?,
            Verb::Consumer(verb) => self.consumer_verb(verb)?,
            Verb::Set(SetVerb::Producer { producer, setting }) => {
                let index = self.producer(&producer)?;
                let range = self.place.of(&setting);
                let client = self.names.client(index);
                let (key, value) = setting::parse(&setting, client, range)?;
                Command::SetClient {
                    producer: index,
                    key,
                    value,
                }
            }
            Verb::Follow { key, record } => Command::Follow { key, record },
            Verb::KafkaTopics(tool) => self.kafka_topics(&tool)?,
            Verb::KafkaLeaderElection(tool) => self.kafka_leader_election(&tool)?,
            Verb::KafkaReassignPartitions(tool) => self.kafka_reassign_partitions(&tool)?,
            Verb::KafkaConfigs(tool) => self.kafka_configs(&tool)?,
            Verb::KafkaTransactions(tool) => self.kafka_transactions(&tool.verb)?,
            Verb::KafkaConsumerGroups(tool) => self.kafka_consumer_groups(&tool)?,
            Verb::KafkaGetOffsets(tool) => self.kafka_get_offsets(&tool)?,
            Verb::Rate { producer, rate } => Command::SetRate {
                producer: self.producer(&producer)?,
                micro_records_per_second: rate,
            },
        })
    }

    fn broker_verb(&self, verb: BrokerVerb) -> Result<Command, CommandProblem> {
        let (broker, fault) = match verb {
            BrokerVerb::Kill { broker, lose_tail } => (
                broker,
                BrokerFault::Kill {
                    lose_tail_records: lose_tail,
                },
            ),
            BrokerVerb::Stop { broker } => (broker, BrokerFault::Stop),
            BrokerVerb::Start { broker } => (broker, BrokerFault::Start),
            BrokerVerb::Pause { broker } => (broker, BrokerFault::Pause),
            BrokerVerb::Resume { broker } => (broker, BrokerFault::Resume),
            BrokerVerb::Slow { broker, by } => (broker, BrokerFault::Slow(by)),
            BrokerVerb::Fence { broker } => (broker, BrokerFault::Fence),
        };
        Ok(Command::Broker(self.broker(&broker)?, fault))
    }

    fn coordinator_kill(
        &self,
        transactional_id: String,
        lose_tail_records: u64,
    ) -> Result<Command, CommandProblem> {
        let known = self.names.transactional_ids();
        if !known.contains(&transactional_id) {
            return Err(self.unknown("transactional id", &transactional_id, known));
        }
        Ok(Command::KillCoordinator(CoordinatorKill {
            transactional_id,
            lose_tail_records,
            found: None,
        }))
    }

    fn link_verb(&self, verb: LinkVerb) -> Result<Command, CommandProblem> {
        let (ends, fault) = match verb {
            LinkVerb::Cut(ends) => (ends, LinkFault::Cut),
            LinkVerb::Heal(ends) => (ends, LinkFault::Heal),
            LinkVerb::Refuse(ends) => (ends, LinkFault::Refuse),
            LinkVerb::Reset(ends) => (ends, LinkFault::Reset),
            LinkVerb::Delay { ends, by } => (ends, LinkFault::Delay(by)),
            LinkVerb::Limit { ends, rate } => {
                self.above_zero(rate.0)?;
                (ends, LinkFault::Limit(rate.0))
            }
            LinkVerb::Loss { ends, share } => (ends, LinkFault::Loss(share)),
        };
        let (a, b) = (self.peer(&ends.a)?, self.peer(&ends.b)?);
        let is_client =
            |peer| matches!(peer, Peer::Producer(_) | Peer::Group(_) | Peer::Member(..));
        if (is_client(a) && is_client(b)) || (a == b && a != Peer::Any) {
            let message = format!("there is no link between {} and {}", ends.a, ends.b);
            return Err(CommandProblem::new(message, self.place.of(&ends.b))
                .hint("a link has a broker or the controller at one end"));
        }
        Ok(Command::Link(a, b, fault))
    }

    fn disk_verb(&self, verb: DiskVerb) -> Result<Command, CommandProblem> {
        let (broker, fault) = match verb {
            DiskVerb::Slow { broker, rate } => {
                self.above_zero(rate.0)?;
                (broker, BrokerFault::DiskRate(rate.0))
            }
            DiskVerb::Full { broker } => (broker, BrokerFault::DiskFull),
            DiskVerb::Heal { broker } => (broker, BrokerFault::DiskHeal),
        };
        Ok(Command::Broker(self.broker(&broker)?, fault))
    }

    fn producer_verb(&self, verb: ProducerVerb) -> Result<Command, CommandProblem> {
        let (producer, fault) = match verb {
            ProducerVerb::Pause { producer } => (producer, ProducerFault::Pause),
            ProducerVerb::Resume { producer } => (producer, ProducerFault::Resume),
            ProducerVerb::Crash { producer } => (producer, ProducerFault::Crash),
            ProducerVerb::Restart { producer } => (producer, ProducerFault::Restart),
        };
        Ok(Command::Producer(self.producer(&producer)?, fault))
    }

    fn consumer_verb(&self, verb: ConsumerVerb) -> Result<Command, CommandProblem> {
        let (name, fault) = match verb {
            ConsumerVerb::Pause { consumer } => (consumer, ConsumerFault::Pause),
            ConsumerVerb::Resume { consumer } => (consumer, ConsumerFault::Resume),
            ConsumerVerb::Crash { consumer } => (consumer, ConsumerFault::Crash),
            ConsumerVerb::Restart { consumer } => (consumer, ConsumerFault::Restart),
            ConsumerVerb::Close { consumer } => (consumer, ConsumerFault::Close),
            ConsumerVerb::Rate { group, rate } => {
                if rate == 0 {
                    let range = self
                        .place
                        .words
                        .last()
                        .map_or(0..0, |word| word.range.clone());
                    return Err(CommandProblem::new("the rate must be above 0", range)
                        .hint("consumers that do not read: consumer pause GROUP"));
                }
                return Ok(Command::SetConsumerRate {
                    group: self.group(&group)?,
                    micro_records_per_second: rate,
                });
            }
        };
        if let Some(member) = self.names.member(&name) {
            return Ok(Command::Consumer(member.consumer, fault));
        }
        match name.rsplit_once('/') {
            None => Ok(Command::Group(self.group(&name)?, fault)),
            Some((group, _)) => {
                self.group(group)?;
                let known: Vec<String> = self.names.members().collect();
                Err(self.unknown("consumer", &name, &known))
            }
        }
    }

    fn group(&self, name: &str) -> Result<GroupIndex, CommandProblem> {
        self.names.group(name).ok_or_else(|| {
            let known: Vec<String> = self.names.groups().map(str::to_owned).collect();
            self.unknown("consumer group", name, &known)
        })
    }

    pub(super) fn broker(&self, id: &str) -> Result<BrokerIndex, CommandProblem> {
        self.names.broker(id).ok_or_else(|| {
            let known: Vec<String> = self.names.brokers().map(|id| id.to_string()).collect();
            self.unknown("broker", id, &known)
        })
    }

    fn producer(&self, name: &str) -> Result<ProducerIndex, CommandProblem> {
        self.names.producer(name).ok_or_else(|| {
            let known: Vec<String> = self.names.producers().map(str::to_owned).collect();
            self.unknown("producer", name, &known)
        })
    }

    fn partition(&self, name: &str) -> Result<TopicPartition, CommandProblem> {
        self.names.partition(name).ok_or_else(|| {
            let topic = name.rsplit_once('-').map_or(name, |(topic, _)| topic);
            let own = format!("{topic}-");
            let known: Vec<String> = self.names.partitions().collect();
            match known.iter().filter(|known| known.starts_with(&own)).count() {
                0 => self.unknown("partition", name, &known),
                count => CommandProblem::new(
                    format!("there is no partition `{name}`"),
                    self.place.of(name),
                )
                .hint(format!("{topic} has partitions 0 to {}", count - 1)),
            }
        })
    }

    fn peer(&self, name: &str) -> Result<Peer, CommandProblem> {
        self.names.peer(name).ok_or_else(|| {
            let producers = self.names.producers().map(str::to_owned);
            let brokers = self.names.brokers().map(|id| id.to_string());
            let others = ["controller".to_owned(), "*".to_owned()];
            let groups = self.names.groups().map(str::to_owned);
            let known: Vec<String> = producers
                .chain(groups)
                .chain(brokers)
                .chain(others)
                .collect();
            self.unknown("end of a link", name, &known)
        })
    }

    fn error(&self, name: &str) -> Result<ErrorCode, CommandProblem> {
        ErrorCode::from_name(name).ok_or_else(|| {
            let upper = name.to_uppercase();
            let near = nearest(&upper, ErrorCode::ALL.iter().map(|error| error.name()));
            CommandProblem::new(format!("there is no error `{name}`"), self.place.of(name))
                .maybe(near, || {
                    "use a name of Kafka's Errors, such as REQUEST_TIMED_OUT".to_owned()
                })
        })
    }

    pub(super) fn unknown(&self, what: &str, name: &str, known: &[String]) -> CommandProblem {
        const SHOWN_MAX: usize = 12;
        let near = nearest(name, known.iter().map(String::as_str)).filter(|near| near.len() > 1);
        let problem =
            CommandProblem::new(format!("there is no {what} `{name}`"), self.place.of(name));
        problem.maybe(near, || {
            let shown: Vec<&str> = known.iter().take(SHOWN_MAX).map(String::as_str).collect();
            match known.len() {
                0 => "there are none".to_owned(),
                len if len > SHOWN_MAX => format!("there are {}, …", shown.join(", ")),
                1 => format!("there is {}", shown[0]),
                _ => format!("there are {}", listed(&shown, "and")),
            }
        })
    }

    fn above_zero(&self, rate: Option<u64>) -> Result<(), CommandProblem> {
        if rate != Some(0) {
            return Ok(());
        }
        let range = self
            .place
            .words
            .last()
            .map_or(0..0, |word| word.range.clone());
        Err(CommandProblem::new("the rate must be above 0", range).hint("`none` lifts the limit"))
    }
}
