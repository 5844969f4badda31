//! Transactions that follow each other at once, that meet markers which are late, whose coordinator
//! dies, and those who read beside them.
//!
//! The recording holds back `WriteTxnMarkers` alone. Here the way from the coordinator to the other
//! brokers is slow while markers leave; `__transaction_state` has one replica where nothing shall
//! fail, so that nothing else waits for that way. What was measured in milliseconds is the recording
//! machine's own time but for what the mechanism adds.

use std::fmt::Write;

use kdrill::kafka::hash::coordinator_partition;
use kdrill::sim::fact::Fact;
use kdrill::sim::ids::{ConsumerIndex, ProducerIndex};
use kdrill::sim::time::SimTime;
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance, median_and_spread};
use crate::golden;
use crate::trace::Trace;
use crate::transactions::{Tale, Told};

const MECHANISM: &str = "transactions: late markers, dead coordinators, readers";
/// Broker 3, which leads neither topic.
const COORDINATOR_PARTITION: u32 = 2;
const MACHINE: &str = "the recording machine's own time";

/// The client, and the transaction version of the cluster.
type Dialect = (&'static str, u32);

/// The recorded dialects. librdkafka speaks version 1 to whatever cluster it meets.
const DIALECTS: [(&str, Dialect); 3] = [
    ("java-1", ("java", 1)),
    ("java-2", ("java", 2)),
    ("rdkafka", ("librdkafka", 2)),
];

/// Four cases of each dialect.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("transactions");
    let mut comparisons = Vec::new();
    for (name, dialect) in DIALECTS {
        let of = |case: &str| {
            let name = format!("{name}/{case}");
            (golden.path(&name), &golden.cases[&name])
        };
        comparisons.push(back_to_back(of("back-to-back"), dialect));
        comparisons.push(concurrent(of("concurrent"), dialect));
        comparisons.push(coordinator_killed(of("coordinator-killed"), dialect));
        comparisons.push(readers(of("readers"), dialect));
    }
    comparisons
}

/// A story that is being written, each call at its moment.
struct Story {
    id: String,
    told: Vec<Told>,
    script: String,
    rest: String,
}

/// What the cluster keeps coordinators' logs on.
#[derive(Clone, Copy)]
enum StateLog {
    OneReplica,
    ThreeReplicas,
}

impl Story {
    fn new((client, version): Dialect, state_log: StateLog) -> Self {
        let is_there = |id: &String| coordinator_partition(id, 3) == COORDINATOR_PARTITION;
        let id = (0..100)
            .map(|number| format!("story-{number}"))
            .find(is_there);
        let id = id.expect("some id has that coordinator");
        let (replicas, min_isr) = match state_log {
            StateLog::OneReplica => (1, 1),
            StateLog::ThreeReplicas => (3, 2),
        };
        let rest = format!(
            "[cluster]\nbrokers = 3\ntransaction-version = {version}\n[cluster.config]\n\
             transaction.state.log.num.partitions = 3\n\
             transaction.state.log.replication.factor = {replicas}\n\
             transaction.state.log.min.isr = {min_isr}\n\
             broker.session.timeout.ms = 3000\nbroker.heartbeat.interval.ms = 500\n\
             group.initial.rebalance.delay.ms = 0\n\
             [[topic]]\nname = \"{id}-a\"\nreplication-factor = {replicas}\nleaders = [1]\n\
             [[topic]]\nname = \"{id}-b\"\nreplication-factor = {replicas}\nleaders = [2]\n"
        );
        let script = format!(
            "[[producer]]\nname = \"A\"\nclient = \"{client}\"\n\
             config.transactional.id = \"{id}\"\n"
        );
        let told = Vec::new();
        Self {
            id,
            told,
            script,
            rest,
        }
    }

    fn call(&mut self, at_ms: u64, call: &'static str) {
        self.write(at_ms, call);
        self.tell(at_ms, call, None);
    }

    fn produce(&mut self, at_ms: u64, topic: char, value: &str) {
        let id = &self.id;
        let line = format!("produce {id}-{topic} value={value} partition=0 await=true");
        self.write(at_ms, &line);
        self.tell(at_ms, "produce", Some(topic));
    }

    fn write(&mut self, at_ms: u64, line: &str) {
        let _written = write!(
            self.script,
            "[[producer.script]]\nat = \"{at_ms}ms\"\ndo = '{line}'\n"
        );
    }

    fn tell(&mut self, at_ms: u64, call: &'static str, record: Option<char>) {
        self.told.push(Told {
            owner: 'A',
            call,
            place: Some(self.told.len() as u32),
            record,
            at: SimTime::from_millis(at_ms),
        });
    }

    fn fault(&mut self, at_ms: u64, line: &str) {
        let _written = write!(
            self.rest,
            "[[timeline]]\nat = \"{at_ms}ms\"\ndo = '{line}'\n"
        );
    }

    /// A consumer of the first topic, from its start.
    fn read_by(&mut self, isolation: &str) {
        let topic = format!("{}-a", self.id);
        let _written = write!(
            self.rest,
            "[[consumer]]\ngroup = \"{isolation}\"\ntopic = \"{topic}\"\nstart = \"1s\"\n\
             isolation = \"{isolation}\"\nconfig.auto.offset.reset = \"earliest\"\n"
        );
    }

    /// The coordinator's way to both leaders takes so much longer for a moment.
    fn delay_markers(&mut self, (from_ms, to_ms): (u64, u64), by_ms: u64) {
        for leader in [1, 2] {
            self.fault(from_ms, &format!("link delay 3 {leader} {by_ms}ms"));
            self.fault(to_ms, &format!("link heal 3 {leader}"));
        }
    }

    fn tale(self, seconds: u64) -> Tale {
        let rest = self.rest + &self.script;
        let trace = Trace::to_end(&format!("{seconds}s"), &rest);
        Tale {
            told: self.told,
            owners: vec!['A'],
            trace,
            interval_ms: 10_000,
            first_producer_id: 0,
        }
    }
}

/// Transactions without a pause: which call waits for what the one before left to be done. Every
/// way is as long as makes a commit take what it took there.
fn back_to_back((path, recorded): (String, &Value), dialect: Dialect) -> Comparison {
    let mut story = Story::new(dialect, StateLog::ThreeReplicas);
    let link = "[cluster]\nlink = { rtt = \"4ms\", bandwidth = \"1Gbit/s\" }\n";
    story.rest = story.rest.replacen("[cluster]\n", link, 1);
    story.call(0, "init_transactions");
    let transactions = recorded["commit_ms"]["runs"].as_array().map_or(0, Vec::len);
    for _ in 0..transactions {
        story.call(2_000, "begin_transaction");
        story.produce(2_000, 'a', "A0");
        story.produce(2_000, 'b', "A0");
        story.call(2_000, "commit_transaction");
    }
    let tale = story.tale(30);
    let returns = returns(&tale.trace);
    let took = |kind: usize| {
        // The calls after `init_transactions`, four a transaction.
        let places = (0..transactions).map(|number| 4 * number + kind);
        let runs = places.map(|place| returns[place + 1] - returns[place]);
        median_and_spread(runs.collect()).0
    };
    let names = ["first produce", "second produce", "commit"];
    let keys = ["first_produce_ms", "second_produce_ms", "commit_ms"];
    let real = keys.map(|key| recorded[key]["median"].as_f64().unwrap_or(f64::NAN));
    let simulated = [took(1), took(2), took(3)];
    let order = |medians: &[f64; 3]| {
        let mut order: Vec<usize> = (0..3).collect();
        order.sort_by(|&one, &two| medians[two].total_cmp(&medians[one]));
        let order = order.iter().map(|&place| names[place]);
        order.collect::<Vec<_>>().join(", ")
    };
    let comparison = Comparison::new(path, MECHANISM)
        .text("from the slowest", order(&real), order(&simulated))
        .text(
            "transactions",
            transactions.to_string(),
            committed(&tale.trace).to_string(),
        );
    let figures = names.iter().zip(real).zip(simulated);
    figures.fold(comparison, |comparison, ((name, real), simulated)| {
        let tolerance = Tolerance::Absolute(50.0, MACHINE);
        comparison.number(format!("{name}, ms"), real, simulated, tolerance)
    })
}

/// When each call of the script returned, in milliseconds.
fn returns(trace: &Trace) -> Vec<f64> {
    let facts = trace.facts.iter();
    let returns = facts.filter_map(|stamped| match stamped.fact {
        Fact::CallReturned { producer, .. } => {
            (producer == ProducerIndex(0)).then(|| millis(stamped.at))
        }
        _ => None,
    });
    returns.collect()
}

fn millis(at: SimTime) -> f64 {
    at.as_nanos() as f64 / 1e6
}

fn committed(trace: &Trace) -> usize {
    let facts = trace.facts.iter();
    let ends = facts.filter(|stamped| {
        matches!(&stamped.fact,
            Fact::TransactionChanged { state, .. } if state.name() == "CompleteCommit")
    });
    ends.count()
}

/// The markers of one transaction are late, and the next begins meanwhile.
fn concurrent((path, recorded): (String, &Value), dialect: Dialect) -> Comparison {
    const HELD_MS: u64 = 1_000;
    const BEFORE_NEXT_MS: u64 = 200;
    let mut story = Story::new(dialect, StateLog::OneReplica);
    story.call(0, "init_transactions");
    let runs = recorded["produce_ms"]["runs"]
        .as_array()
        .map_or(0, Vec::len);
    let mut nexts = Vec::new();
    for run in 0..runs as u64 {
        let start = 4_000 + 10_000 * run;
        story.call(start, "begin_transaction");
        story.produce(start, 'a', "A0");
        story.produce(start + 2_000, 'b', "A0");
        story.delay_markers((start + 3_900, start + 4_100), HELD_MS + BEFORE_NEXT_MS);
        story.call(start + 4_000, "commit_transaction");
        let next = start + 4_000 + BEFORE_NEXT_MS;
        story.call(next, "begin_transaction");
        nexts.push((story.told.len(), next));
        story.produce(next, 'a', "next");
        story.call(start + 7_000, "commit_transaction");
    }
    let tale = story.tale(4 + 10 * runs as u64);
    let returns = returns(&tale.trace);
    let took = nexts.iter().map(|&(place, at)| returns[place] - at as f64);
    let (simulated, _) = median_and_spread(took.collect());
    let real = recorded["produce_ms"]["median"]
        .as_f64()
        .unwrap_or(f64::NAN);
    let tolerance = Tolerance::Absolute(200.0, "where in its retries the markers meet the client");
    tale.beside(&path, recorded).number(
        "the next transaction's first record, ms",
        real,
        simulated,
        tolerance,
    )
}

/// The coordinator dies when the commit is decided and no marker has arrived. It leads neither
/// topic: a marker to itself cannot be late here.
fn coordinator_killed((path, recorded): (String, &Value), dialect: Dialect) -> Comparison {
    const KILLED_MS: u64 = 10_500;
    let mut story = Story::new(dialect, StateLog::ThreeReplicas);
    story.call(0, "init_transactions");
    story.call(4_000, "begin_transaction");
    story.produce(4_000, 'a', "A0");
    story.produce(6_000, 'b', "A0");
    story.delay_markers((7_950, KILLED_MS), 1_000);
    story.call(8_000, "commit_transaction");
    story.fault(KILLED_MS, "broker kill 3");
    let tale = story.tale(20);
    let killed = KILLED_MS as f64;
    let mut comparison = tale.beside(&path, recorded);
    for (topic, place) in [("a", 0), ("b", 1)] {
        let facts = tale.trace.facts.iter();
        let mut markers = facts.filter_map(|stamped| match &stamped.fact {
            Fact::MarkerWritten { partition, .. } => {
                (partition.name().topic.0 == place).then(|| millis(stamped.at) - killed)
            }
            _ => None,
        });
        let real = recorded["marker_after_kill_ms"][topic][0].as_f64();
        let tolerance = Tolerance::Absolute(
            700.0,
            "when the last heartbeat was, and how fast the next one loads",
        );
        let simulated = markers.next().unwrap_or(f64::NAN);
        let name = format!("from the kill to the marker in {topic}, ms");
        comparison = comparison.number(name, real.unwrap_or(f64::NAN), simulated, tolerance);
    }
    comparison
}

/// Five transactions of five records, 100 ms apart, and one that is aborted, with a reader of each
/// isolation level beside them.
fn readers((path, recorded): (String, &Value), dialect: Dialect) -> Comparison {
    const ISOLATIONS: [&str; 2] = ["read_uncommitted", "read_committed"];
    const RECORDS: u64 = 5;
    const RUNS: u64 = 5;
    let mut story = Story::new(dialect, StateLog::ThreeReplicas);
    story.call(0, "init_transactions");
    for isolation in ISOLATIONS {
        story.read_by(isolation);
    }
    let (mut sent, mut commits) = (Vec::new(), Vec::new());
    for run in 0..RUNS {
        let start = 6_000 + 3_000 * run;
        story.call(start, "begin_transaction");
        for number in 0..RECORDS {
            let at = start + 100 * number;
            sent.push(at as f64);
            story.produce(at, 'a', "0-0");
        }
        commits.push(story.told.len());
        story.call(start + 500, "commit_transaction");
    }
    let aborted = 6_000 + 3_000 * RUNS;
    story.call(aborted, "begin_transaction");
    story.produce(aborted, 'a', "aborted");
    story.call(aborted + 100, "abort_transaction");
    let tale = story.tale(aborted / 1_000 + 3);
    let returns = returns(&tale.trace);
    let seen = [0, 1].map(|place| seen(&tale.trace, ConsumerIndex(place)));
    let records = (RUNS * RECORDS) as usize;
    let after_send = (0..records).map(|number| seen[0][number] - sent[number]);
    let after_commit = (0..records).map(|number| {
        let committed = returns[commits[number / RECORDS as usize]];
        seen[1][number] - committed
    });
    let simulated = [after_send.collect(), after_commit.collect::<Vec<f64>>()];
    let mut comparison = Comparison::new(path, MECHANISM);
    let keys = [
        "read_uncommitted_after_send_ms",
        "read_committed_after_commit_ms",
    ];
    for (place, isolation) in ISOLATIONS.iter().enumerate() {
        let consumer = tale
            .trace
            .simulation()
            .consumer(ConsumerIndex(place as u16));
        let position = consumer.assigned.first().and_then(|it| it.position);
        let saw_aborted = seen[place].len() > records;
        let median = recorded[keys[place]]["median"].as_f64().unwrap_or(f64::NAN);
        comparison = comparison
            .text(
                format!("{isolation}: position"),
                recorded["positions"][isolation].to_string(),
                position.map_or_else(|| "none".to_owned(), |position| position.to_string()),
            )
            .text(
                format!("{isolation}: saw what was aborted"),
                recorded["saw_aborted"][isolation].to_string(),
                saw_aborted.to_string(),
            )
            .number(
                format!("{isolation}: seen after, ms"),
                median,
                median_and_spread(simulated[place].clone()).0,
                Tolerance::Absolute(15.0, MACHINE),
            );
    }
    comparison
}

/// When each record was returned by `poll()`, in milliseconds.
fn seen(trace: &Trace, consumer: ConsumerIndex) -> Vec<f64> {
    let read = trace.consumed.iter();
    let read = read.filter(|read| read.consumer == consumer);
    let each = read.flat_map(|read| (read.from_offset..read.to_offset).map(|_| millis(read.at)));
    each.collect()
}
