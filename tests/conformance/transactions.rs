//! Transactions of versions 1 and 2: what every call of each owner gave, what stands in both logs,
//! and the steps in `__transaction_state`.
//!
//! A story is told in the probe's own words. Every call has a second to itself, so that the calls
//! of two owners come in the recorded order; after a wait the coordinator has given up.

use std::fmt::Write;

use kdrill::sim::fact::{ErrorClass, Exception, Fact, Remedy};
use kdrill::sim::ids::{ProducerIndex, TopicIndex, TopicPartition};
use kdrill::sim::time::SimTime;
use kdrill::sim::view::{EntryKind, TransactionalEntry};
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance};
use crate::golden;
use crate::trace::Trace;

const MECHANISM: &str = "transactions: calls, logs, coordinator";
/// Every call has so much time.
const CALL_SECONDS: u64 = 2;
const TIMEOUT_MS: u64 = 3_000;
/// What the probe sleeps for a timeout, and a scan.
const WAIT_SECONDS: u64 = 6;

/// The stories of the probe: owner, call, and what the call is about.
const STORIES: [(&str, &str); 16] = [
    (
        "commit-and-abort",
        "A init, A open 3, A commit, A open 2, A abort, A open 1, A commit",
    ),
    ("empty", "A init, A begin, A commit, A begin, A abort"),
    (
        "misuse",
        "A begin, B init, B send a outside, C init, C commit, D init, D begin, D begin",
    ),
    ("crash-idle", "A init, A crash, B init, B open 1, B commit"),
    (
        "crash-begun",
        "A init, A begin, A crash, B init, B open 1, B commit",
    ),
    (
        "crash-open",
        "A init, A open 1, A crash, B init, B open 1, B commit",
    ),
    (
        "crash-committing",
        "A init, A open 1, A commit swallowed, A crash, B init, B open 1, B commit",
    ),
    (
        "crash-committed",
        "A init, A open 1, A commit, A crash, B init, B open 1, B commit",
    ),
    ("crash-open-by-timeout", "A init, A open 1, A crash, wait"),
    (
        "second-owner-send",
        "A init, A open 1, B init, A send a late, A commit, A abort, B open 1, B commit",
    ),
    (
        "second-owner-commit",
        "A init, A open 1, B init, A commit, A abort, B open 1, B commit",
    ),
    (
        "second-owner-abort",
        "A init, A open 1, B init, A abort, B open 1, B commit",
    ),
    (
        "second-owner-idle",
        "A init, A open 1, A commit, B init, A begin, A send a late, A commit, A abort, \
         B open 1, B commit",
    ),
    (
        "timeout-send",
        "A init, A open 1, wait, A send a late, A abort, A begin, A send a next, A commit",
    ),
    (
        "timeout-commit",
        "A init, A open 1, wait, A commit, A abort, A begin, A send a next, A commit",
    ),
    (
        "timeout-abort",
        "A init, A open 1, wait, A abort, A begin, A send a next, A commit",
    ),
];

/// The recorded dialects: the client, and the transaction version of the cluster.
const DIALECTS: [(&str, &str, u32); 3] = [
    ("java-2", "java", 2),
    ("java-1", "java", 1),
    ("rdkafka", "librdkafka", 2),
];

/// Every recorded case that is a story, and the timeouts beyond the cap.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("transactions");
    let mut comparisons = Vec::new();
    for (dialect, client, version) in DIALECTS {
        for (case, story) in STORIES {
            let name = format!("{dialect}/{case}");
            let recorded = &golden.cases[&name];
            let version = (client, version);
            let timeout_ms = if case.contains("timeout") {
                TIMEOUT_MS
            } else {
                60_000
            };
            let told = tell(recorded, story, (version, timeout_ms, 1_000));
            comparisons.push(told.beside(&golden.path(&name), recorded));
        }
        let name = format!("{dialect}/timeout-too-long");
        let recorded = &golden.cases[&name];
        let told = tell(recorded, "A init", ((client, version), 900_001, 1_000));
        let calls = told.calls();
        comparisons.push(Comparison::new(golden.path(&name), MECHANISM).list(
            "what each call gave",
            &recorded_calls(recorded),
            &calls,
        ));
    }
    let name = "java-2/crash-open-by-timeout-at-defaults";
    let recorded = &golden.cases[name];
    let story = "A init, A open 1, A crash, wait, wait, wait";
    let told = tell(recorded, story, (("java", 2), TIMEOUT_MS, 10_000));
    comparisons.push(told.beside(&golden.path(name), recorded));
    comparisons
}

/// One call of a story.
pub struct Told {
    /// Who calls.
    pub owner: char,
    /// As the probe records it.
    pub call: &'static str,
    /// Its place in the owner's script; none for what is no call.
    pub place: Option<u32>,
    /// The topic of a record.
    pub record: Option<char>,
    /// When, or a moment less than two seconds before it is over.
    pub at: SimTime,
}

/// A story and what became of it.
pub struct Tale {
    /// Its calls, in their order.
    pub told: Vec<Told>,
    /// The owners, in the order of their producers.
    pub owners: Vec<char>,
    /// The run.
    pub trace: Trace,
    /// How often the coordinator looks for what took too long, in milliseconds.
    pub interval_ms: u64,
    /// Producer ids are counted from this one.
    pub first_producer_id: i64,
}

/// The script of a story, being written.
#[derive(Default)]
struct Script {
    told: Vec<Told>,
    owners: Vec<char>,
    lines: Vec<String>,
    timeline: String,
    millis: u64,
}

fn tell(
    recorded: &Value,
    story: &str,
    ((client, version), timeout_ms, scan_ms): ((&str, u32), u64, u64),
) -> Tale {
    let id = transactional_id(recorded);
    let mut script = Script::default();
    for step in story.split(", ") {
        script.step(step);
    }
    let mut rest = format!(
        "[cluster]\nbrokers = 3\ntransaction-version = {version}\n[cluster.config]\n\
         transaction.state.log.num.partitions = 3\n\
         transaction.abort.timed.out.transaction.cleanup.interval.ms = {scan_ms}\n\
         [[topic]]\nname = \"{id}-a\"\nreplication-factor = 3\nleaders = [1]\n\
         [[topic]]\nname = \"{id}-b\"\nreplication-factor = 3\nleaders = [2]\n"
    );
    for (owner, lines) in script.owners.iter().zip(&script.lines) {
        let start = script.first_call(*owner);
        let _written = write!(
            rest,
            "[[producer]]\nname = \"{owner}\"\nstart = \"{start}ms\"\nclient = \"{client}\"\n\
             config.transactional.id = \"{id}\"\nconfig.transaction.timeout.ms = {timeout_ms}\n\
             config.client.id = \"owner-{owner}\"\n{}",
            lines.replace("ID", &id),
        );
    }
    rest += &script.timeline;
    let seconds = script.millis / 1_000 + 4;
    Tale {
        trace: Trace::to_end(&format!("{seconds}s"), &rest),
        told: script.told,
        owners: script.owners,
        interval_ms: scan_ms,
        first_producer_id: 0,
    }
}

/// The id that the recorded topics and messages name; any will do where nothing does.
fn transactional_id(recorded: &Value) -> String {
    let text = recorded["calls"].to_string();
    let quoted = text
        .split_once("TransactionalId ")
        .and_then(|(_, rest)| rest.split_once(':'))
        .map(|(id, _)| id);
    let named = text
        .split_once("transactionalId '")
        .and_then(|(_, rest)| rest.split_once('\''))
        .map(|(id, _)| id);
    let produced = text
        .split_once("ProduceRequest for ")
        .and_then(|(_, rest)| rest.split_once("-a ["))
        .map(|(id, _)| id);
    quoted.or(named).or(produced).unwrap_or("story").to_owned()
}

impl Script {
    fn step(&mut self, step: &str) {
        let mut words = step.split(' ');
        let Some(owner) = words.next().filter(|word| *word != "wait") else {
            self.millis += WAIT_SECONDS * 1_000;
            return;
        };
        let owner = owner.chars().next().expect("an owner");
        let rest: Vec<&str> = words.collect();
        match rest[..] {
            ["init"] => self.call(owner, "init_transactions"),
            ["begin"] => self.call(owner, "begin_transaction"),
            ["abort"] => self.call(owner, "abort_transaction"),
            ["commit"] => self.call(owner, "commit_transaction"),
            ["commit", "swallowed"] => {
                self.call(owner, "commit_transaction");
                // The request is there, and its answer is not back.
                self.millis -= CALL_SECONDS * 1_000;
                let (seconds, millis) = (self.millis / 1_000, self.millis % 1_000);
                let _written = write!(
                    self.timeline,
                    "[[timeline]]\nat = \"{seconds}.{millis:03}7s\"\ndo = 'producer crash {owner}'\n"
                );
                self.millis += CALL_SECONDS * 1_000;
                if let Some(told) = self.told.last_mut() {
                    told.place = None;
                }
            }
            ["open", records] => {
                self.call(owner, "begin_transaction");
                let records = records.parse().expect("a number of records");
                for topic in ['a', 'b'] {
                    for number in 0..records {
                        self.produce(owner, topic, &format!("{owner}{number}"));
                    }
                }
            }
            ["send", topic, value] => {
                let topic = topic.chars().next().expect("a topic");
                self.produce(owner, topic, value);
            }
            ["crash"] => {
                if !self.timeline.contains(&format!("crash {owner}")) {
                    let _written = write!(
                        self.timeline,
                        "[[timeline]]\nat = \"{}ms\"\ndo = 'producer crash {owner}'\n",
                        self.millis
                    );
                }
                self.tell(owner, "crash", None);
            }
            _ => panic!("a step that nobody understands: {step}"),
        }
    }

    fn produce(&mut self, owner: char, topic: char, value: &str) {
        let line = format!("produce ID-{topic} value={value} partition=0 await=true");
        self.write(owner, &line);
        self.tell(owner, "produce", Some(topic));
        self.millis += CALL_SECONDS * 1_000;
    }

    fn call(&mut self, owner: char, call: &'static str) {
        self.write(owner, call);
        self.tell(owner, call, None);
        self.millis += CALL_SECONDS * 1_000;
    }

    fn write(&mut self, owner: char, line: &str) {
        let place = self.place_of(owner);
        let at = self.millis;
        let _written = write!(
            self.lines[place],
            "[[producer.script]]\nat = \"{at}ms\"\ndo = '{line}'\n"
        );
    }

    fn place_of(&mut self, owner: char) -> usize {
        if let Some(place) = self.owners.iter().position(|known| *known == owner) {
            return place;
        }
        self.owners.push(owner);
        self.lines.push(String::new());
        self.owners.len() - 1
    }

    fn tell(&mut self, owner: char, call: &'static str, record: Option<char>) {
        let own = self.told.iter().filter(|told| told.owner == owner);
        let place = own.filter(|told| told.call != "crash").count() as u32;
        self.told.push(Told {
            owner,
            call,
            place: (call != "crash").then_some(place),
            record,
            at: SimTime::from_millis(self.millis),
        });
    }

    fn first_call(&self, owner: char) -> u64 {
        let first = self.told.iter().find(|told| told.owner == owner);
        first.map_or(0, |told| told.at.as_millis())
    }
}

impl Tale {
    /// Calls, logs and steps beside what was recorded.
    pub fn beside(&self, path: &str, recorded: &Value) -> Comparison {
        let mut comparison = Comparison::new(path, MECHANISM).list(
            "what each call gave",
            &recorded_calls(recorded),
            &self.calls(),
        );
        if recorded["logs"].is_null() {
            return comparison;
        }
        for (topic, place) in [("a", 0), ("b", 1)] {
            let name = format!("the log of {topic}");
            let real = recorded_log(&recorded["logs"][topic]);
            comparison = comparison.list(&name, &real, &self.log(place));
        }
        let states = recorded_states(recorded);
        comparison = comparison.list("steps of the coordinator", &states, &self.states());
        let after = &recorded["abort_after_ms"];
        let after = after.as_f64().or(after["median"].as_f64());
        if let Some(real) = after {
            let tolerance = Tolerance::Absolute(
                self.interval_ms as f64,
                "where in its interval the coordinator's scan falls",
            );
            let simulated = self.abort_after_ms();
            comparison = comparison.number("from start to abort, ms", real, simulated, tolerance);
        }
        comparison
    }

    /// What each call gave.
    fn calls(&self) -> Vec<String> {
        let calls = self.told.iter().map(|told| {
            let (owner, call) = (told.owner, told.call);
            let Some(place) = told.place else {
                return format!("{owner} {call}");
            };
            match self.exception_of(told, place) {
                Some(exception) => format!("{owner} {call}: {}", error(exception, call)),
                None => format!("{owner} {call}: ok"),
            }
        });
        calls.collect()
    }

    /// What a call threw, or what the callback of its record brought.
    fn exception_of(&self, told: &Told, place: u32) -> Option<&Exception> {
        let owner = self.owners.iter().position(|known| *known == told.owner)?;
        let owner = ProducerIndex(owner as u16);
        let until = SimTime::from_millis(told.at.as_millis() + CALL_SECONDS * 1_000);
        let facts = self.trace.facts.iter();
        let mut own = facts.filter(|stamped| stamped.at >= told.at && stamped.at < until);
        own.find_map(|stamped| match &stamped.fact {
            // An application of librdkafka hears of fatal errors whatever it calls.
            Fact::ClientFailed {
                producer,
                exception,
            } if *producer == owner => Some(&**exception),
            Fact::CallReturned {
                producer,
                call,
                exception: Some(exception),
            } if *producer == owner && *call == place => Some(&**exception),
            Fact::BatchFailed {
                producer,
                exception,
                ..
            } if *producer == owner && told.record.is_some() => Some(&**exception),
            _ => None,
        })
    }

    fn log(&self, topic: u16) -> Vec<String> {
        let simulation = self.trace.simulation();
        let (topic, number) = (TopicIndex(topic), 0);
        let Some(index) = simulation.find_partition(TopicPartition { topic, number }) else {
            return Vec::new();
        };
        let entries = simulation.transactional_entries(index);
        let counted = |entry: &TransactionalEntry| self.log_line(entry);
        entries.iter().map(counted).collect()
    }

    fn log_line(&self, entry: &TransactionalEntry) -> String {
        let (producer_id, epoch) = entry.producer;
        let producer_id = producer_id - self.first_producer_id;
        let offset = entry.offset;
        match entry.what {
            EntryKind::Records {
                records,
                base_sequence,
                bytes,
            } => format!(
                "{offset}: {records} of {producer_id}/{epoch} from {base_sequence}, {bytes} bytes"
            ),
            EntryKind::Marker(result) => {
                format!("{offset}: {} {producer_id}/{epoch}", result.name())
            }
        }
    }

    fn states(&self) -> Vec<String> {
        let facts = self.trace.facts.iter();
        let steps = facts.filter_map(|stamped| match &stamped.fact {
            Fact::TransactionChanged {
                state,
                producer_id,
                epoch,
                partitions,
                ..
            } if *producer_id >= self.first_producer_id => {
                let producer_id = producer_id - self.first_producer_id;
                let topics = partitions.iter().map(|index| index.name().topic.0);
                let mut topics: Vec<_> = topics.map(|topic| ["a", "b"][topic as usize]).collect();
                topics.sort_unstable();
                let members = topics.join(" ");
                Some(format!(
                    "{} {producer_id}/{epoch} [{members}]",
                    state.name()
                ))
            }
            _ => None,
        });
        steps.collect()
    }

    fn abort_after_ms(&self) -> f64 {
        let moment = |wanted: &str| {
            let mut facts = self.trace.facts.iter();
            let found = facts.find(|stamped| {
                matches!(&stamped.fact,
                    Fact::TransactionChanged { state, .. } if state.name() == wanted)
            });
            found.map_or(f64::NAN, |stamped| stamped.at.as_nanos() as f64 / 1e6)
        };
        moment("PrepareAbort") - moment("Ongoing")
    }
}

/// An error as the probe records it. What `produce()` of the recording's application refuses, it
/// tells in its own words.
fn error(exception: &Exception, call: &str) -> String {
    let Exception {
        class,
        text,
        remedy,
    } = exception;
    let ErrorClass::Rdkafka(known) = class else {
        return format!("{}: {text}", class.name());
    };
    let text = if call == "produce" && *remedy == Remedy::None {
        format!("Unable to produce message: {}", known.text())
    } else {
        text.clone()
    };
    format!("{} [{}]: {}", class.name(), remedy.words(), anybody(&text))
}

/// Which broker coordinates depends on the id and on the cluster.
fn anybody(text: &str) -> String {
    match text.split_once("TxnCoordinator/") {
        Some((before, rest)) => {
            let rest = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
            format!("{before}TxnCoordinator/N{rest}")
        }
        None => text.to_owned(),
    }
}

fn recorded_log(batches: &Value) -> Vec<String> {
    let line = |batch: &Value| {
        let (id, epoch) = (&batch["producer_id"], &batch["epoch"]);
        let offset = &batch["offset"];
        match batch["marker"].as_str() {
            Some(marker) => format!("{offset}: {marker} {id}/{epoch}"),
            None => format!(
                "{offset}: {} of {id}/{epoch} from {}, {} bytes",
                batch["count"], batch["sequence"], batch["bytes"]
            ),
        }
    };
    batches.as_array().into_iter().flatten().map(line).collect()
}

fn recorded_states(recorded: &Value) -> Vec<String> {
    let line = |state: &Value| {
        let partitions = state["transactionPartitions"].as_array();
        let topics = partitions.into_iter().flatten();
        let topics = topics.filter_map(|partition| partition["topic"].as_str());
        let mut topics: Vec<_> = topics.map(|topic| &topic[topic.len() - 1..]).collect();
        topics.sort_unstable();
        let status = state["transactionStatus"].as_str().unwrap_or("?");
        let (id, epoch) = (&state["producerId"], &state["producerEpoch"]);
        format!("{status} {id}/{epoch} [{}]", topics.join(" "))
    };
    let states = recorded["states"].as_array();
    states.into_iter().flatten().map(line).collect()
}

/// What each call gave; the cause of an exception is left out.
fn recorded_calls(recorded: &Value) -> Vec<String> {
    let line = |call: &Value| {
        let text = |key: &str| call[key].as_str().unwrap_or("?").to_owned();
        let (owner, what) = (text("by"), text("do"));
        let error = &call["error"];
        if what == "crash" || call["answer"].is_string() {
            return format!("{owner} {what}");
        }
        if error.is_null() {
            return format!("{owner} {what}: ok");
        }
        if let Some(code) = error["code"].as_str() {
            let flags = [
                ("retriable", "retriable"),
                ("abort_required", "txn_requires_abort"),
                ("fatal", "fatal"),
            ];
            let set = flags.iter().find(|(key, _)| error[*key] == true);
            let flag = set.map_or("", |(_, words)| words);
            let text = anybody(error["text"].as_str().unwrap_or("?"));
            return format!("{owner} {what}: {code} [{flag}]: {text}");
        }
        let class = error["class"].as_str().unwrap_or("?");
        let class = class.rsplit('.').next().unwrap_or(class);
        format!(
            "{owner} {what}: {class}: {}",
            error["text"].as_str().unwrap_or("?")
        )
    };
    let calls = recorded["calls"].as_array();
    calls.into_iter().flatten().map(line).collect()
}
