//! A connection that is reset between a real client and a real broker, without idempotence: what was
//! in flight decides what the log holds.
//!
//! The relay strikes by count: the third request, or its response, sets it off. The same moment is
//! found here in a run without a reset. The relay stands at the client, and both ends hear of the
//! reset at once. It counts the requests that it read: one that was written while it reset the
//! connection was under way for the client, and none for the relay.

use std::fmt::Write;
use std::ops::RangeInclusive;

use kdrill::sim::fact::{Fact, Node};
use kdrill::sim::ids::BrokerIndex;
use kdrill::sim::time::SimTime;
use serde_json::Value;

use crate::comparison::{Comparison, Tolerance, median_and_spread};
use crate::golden;
use crate::retries::{log_of, scenario};
use crate::trace::{Trace, millis, warm_up};

const MECHANISM: &str = "retries between a real client and a real broker";
const START_MS: u64 = 500;
const RECORDS: u64 = 20;
/// The request, or response, that sets the reset off; the batch that warms up has number 0.
const STRUCK: usize = 3;
/// Times that the recording's broker may take for a request, in milliseconds: they are not recorded,
/// and grew shorter from case to case while it warmed up.
const REQUEST_TIMES_MS: RangeInclusive<u32> = 1..=11;
/// Times that relay and broker may take until a new connection serves its first request, in
/// milliseconds; not recorded either.
const SETUP_TIMES_MS: [f64; 4] = [0.2, 4.0, 8.0, 12.0];
/// Draws of the two backoffs, which are not recorded either.
const SEEDS: RangeInclusive<u32> = 1..=2;
/// The recorded clock starts that long before the first record: its program says meanwhile that it
/// started. Without acknowledgements the last callback comes with the last record, 190 ms after the
/// first, and was recorded 204.7 to 216.2 ms after the clock's start in six runs: this is the median.
const CLOCK_AHEAD_MS: f64 = 21.0;
/// A request that was written so shortly before a reset may not have been read.
const UNREAD_MS: f64 = 1.5;
/// What the wire itself takes one way, in milliseconds, and the relay in addition.
const WIRE_MS: f64 = 0.1;
const RELAY_MS: f64 = 14.9;
/// Commands come after everything else of their moment.
const JUST_BEFORE_MS: f64 = 0.001;

/// Every case with a reset and without idempotence.
pub fn compare() -> Vec<Comparison> {
    let golden = golden::of("retries-live");
    let cases = golden.cases.iter();
    cases
        .filter_map(|(case, real)| Reset::named(case)?.compare(&golden.path(case), real))
        .collect()
}

struct Reset<'a> {
    strikes: Strikes,
    acks: &'a str,
    in_flight: u32,
}

/// What the connection is reset instead of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strikes {
    Request,
    Response,
}

/// What became of a run.
struct Simulated {
    log: String,
    requests: RangeInclusive<usize>,
    settled_ms: f64,
}

impl Simulated {
    fn is_recorded(&self, log: &str, requests: u64) -> bool {
        self.log == log && self.requests.contains(&(requests as usize))
    }
}

impl<'a> Reset<'a> {
    /// `reset-after|before-acks-ACKS-in-flight-N`.
    fn named(case: &'a str) -> Option<Self> {
        let (when, rest) = case.strip_prefix("reset-")?.split_once("-acks-")?;
        let (acks, in_flight) = rest.split_once("-in-flight-")?;
        let strikes = if when == "after" {
            Strikes::Response
        } else {
            Strikes::Request
        };
        Some(Self {
            strikes,
            acks,
            in_flight: in_flight.parse().ok()?,
        })
    }

    /// Every log that was recorded, with as many requests, must be what the simulation says for some
    /// time that the broker takes and some draw of the backoffs, and the last callback of that run
    /// must come when it did.
    fn compare(&self, path: &str, real: &Value) -> Option<Comparison> {
        let simulated: Vec<_> = REQUEST_TIMES_MS
            .flat_map(|time| self.simulate(time))
            .collect();
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let requests = list(&real["produce_requests"]["runs"]);
        let settled = list(&real["last_settled_ms"]["runs"]);
        let (_, spread) = median_and_spread(settled.iter().filter_map(Value::as_f64).collect());
        let mut comparison = Comparison::new(path, MECHANISM);
        let mut seen: Vec<String> = Vec::new();
        for (run, log) in list(&real["logs"]).iter().enumerate() {
            let log = log.as_str()?.to_string();
            if seen.contains(&log) {
                continue;
            }
            let (settled_ms, count) = (settled[run].as_f64()?, requests[run].as_u64()?);
            let settled_ms = settled_ms - CLOCK_AHEAD_MS;
            let distance = |one: &&Simulated| (one.settled_ms - settled_ms).abs();
            let nearest = simulated
                .iter()
                .filter(|one| one.is_recorded(&log, count))
                .min_by(|a, b| distance(a).total_cmp(&distance(b)))
                .or(simulated.first())?;
            let run = run + 1;
            let counted = if nearest.requests.contains(&(count as usize)) {
                count as f64
            } else {
                *nearest.requests.end() as f64
            };
            comparison = comparison
                .text(format!("the log of run {run}"), &log, &nearest.log)
                .number(
                    format!("Produce requests of run {run}"),
                    count as f64,
                    counted,
                    Tolerance::Exact,
                );
            // Without acknowledgements it is where the recorded clock is known from.
            if self.acks != "0" {
                comparison = comparison.number(
                    format!("the last callback of run {run}, ms"),
                    settled_ms,
                    nearest.settled_ms,
                    Tolerance::Share(spread + 0.05, "the runs' own spread plus 5 %"),
                );
            }
            seen.push(log);
        }
        Some(comparison)
    }

    /// By draw of the backoffs, and by what a new connection takes.
    fn simulate(&self, request_time_ms: u32) -> Vec<Simulated> {
        let strikes_ms = self.strikes_ms(request_time_ms);
        let each = SEEDS.flat_map(|seed| SETUP_TIMES_MS.map(|setup_ms| (seed, setup_ms)));
        each.map(|(seed, setup_ms)| self.strike((seed, request_time_ms), (strikes_ms, setup_ms)))
            .collect()
    }

    fn strike(&self, run: (u32, u32), (strikes_ms, setup_ms): (f64, f64)) -> Simulated {
        let one_way_ms = setup_ms / 2.0;
        let struck = [
            (strikes_ms, "link reset trips 1".to_string()),
            (strikes_ms, format!("link delay trips 1 {one_way_ms}ms")),
        ];
        // Without the relay's delay, ApiVersions is answered a round trip after the handshake.
        let undelayed = self.run(run, &struck);
        let handshake_ends_ms =
            ready_ms(&undelayed, strikes_ms) - 2.0 * (one_way_ms + WIRE_MS) - 0.5 * WIRE_MS;
        let [reset, no_delay] = struck;
        let commands = [reset, no_delay, (handshake_ends_ms, relay())];
        let trace = self.run(run, &commands);
        let is_retry = |fact: &Fact| matches!(fact, Fact::BatchRetried { .. });
        let retries = trace.facts.iter().filter(|f| is_retry(&f.fact)).count();
        let last = trace.acknowledged.last().map(|batch| batch.at);
        // Every batch has a request of its own; that which warmed up does not count.
        let requests = (trace.acknowledged.len() + retries).saturating_sub(1);
        let unread = usize::from(self.may_be_unread(strikes_ms));
        Simulated {
            log: log_of(&trace).join(" "),
            requests: requests.saturating_sub(unread)..=requests,
            settled_ms: last.map_or(f64::NAN, |at| in_ms(at) - START_MS as f64),
        }
    }

    /// With several requests in flight each record is written when it comes, every 10 ms.
    fn may_be_unread(&self, strikes_ms: f64) -> bool {
        self.in_flight > 1 && (strikes_ms - START_MS as f64) % 10.0 < UNREAD_MS
    }

    /// Just before the third request is at the broker, or its response at the client.
    fn strikes_ms(&self, request_time_ms: u32) -> f64 {
        let untouched = self.run((1, request_time_ms), &[]);
        let moment = match self.strikes {
            Strikes::Response => untouched.acknowledged.get(STRUCK).map(|b| in_ms(b.at)),
            Strikes::Request => untouched
                .appended
                .get(STRUCK)
                .map(|batch| in_ms(batch.at) - f64::from(request_time_ms)),
        };
        moment.unwrap_or(f64::NAN) - JUST_BEFORE_MS
    }

    /// The other brokers of the recording's cluster are not behind the relay.
    fn run(&self, (seed, request_time_ms): (u32, u32), commands: &[(f64, String)]) -> Trace {
        let mut rest = warm_up(1..2);
        for number in 0..RECORDS {
            let at = START_MS + number * 10;
            let call = format!("produce events value=r{number} partition=0");
            let _written = writeln!(rest, "[[producer.script]]\nat = \"{at}ms\"\ndo = '{call}'");
        }
        for (at, command) in [(0.0, relay())].iter().chain(commands) {
            let _written = writeln!(rest, "[[timeline]]\nat = \"{at:.4}ms\"\ndo = '{command}'");
        }
        let cluster = format!(
            "link = {{ rtt = \"{}ms\", bandwidth = \"1Gbit/s\" }}\n\
             request-time = \"{request_time_ms}ms\"",
            2.0 * WIRE_MS,
        );
        let setting = (self.acks, false, self.in_flight);
        let scenario = scenario(&cluster, setting, &rest)
            .replace("brokers = 1", "brokers = 3")
            .replace(
                "replication-factor = 1",
                "replication-factor = 1\nleaders = [1, 1]",
            );
        Trace::to_end("2s", &format!("seed = {seed}\n{scenario}"))
    }
}

fn relay() -> String {
    format!("link delay trips 1 {RELAY_MS}ms")
}

/// When the connection to the struck broker may be used again.
fn ready_ms(trace: &Trace, after_ms: f64) -> f64 {
    let ready = trace.facts.iter().find(|stamped| {
        let node = Node::Broker(BrokerIndex(0));
        let is_it = matches!(stamped.fact, Fact::Connected { node: of, .. } if of == node);
        is_it && in_ms(stamped.at) > after_ms
    });
    ready.map_or(f64::NAN, |stamped| in_ms(stamped.at))
}

fn in_ms(at: SimTime) -> f64 {
    at.since(millis(0)).as_nanos() as f64 / 1e6
}
