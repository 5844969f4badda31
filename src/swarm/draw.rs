//! From a seed to a [`Plan`]: a random cluster, topics, producers of both clients, consumer
//! groups, and what goes wrong.
//!
//! Every configuration is one that its client accepts, every fault is cured by [`HEALED_MS`], and
//! timeouts are short enough for everything to be decided at the end of the run.
//!
//! [`HEALED_MS`]: super::plan::HEALED_MS

mod cluster;
mod faults;
mod groups;
mod load;
mod producers;
mod topics;

use super::dice::{Dice, Subject};
use super::plan::{Part, Plan};

/// What the other parts of a plan need to know of each.
#[derive(Debug)]
struct World {
    brokers: u64,
    /// Whether brokers are noticed dead, and followers slow, within seconds.
    pace: Pace,
    controllers: Controllers,
    topics: Vec<Topic>,
    producers: Vec<Producer>,
    /// Names, with their numbers of members.
    groups: Vec<(String, u64)>,
}

/// How soon the controller and leaders notice that somebody is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// Within two or three seconds.
    Quick,
    /// As Kafka does by default: 9 s and 30 s.
    Usual,
}

/// Who controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Controllers {
    /// Machines of their own, which never fail.
    Apart,
    /// The brokers themselves.
    Brokers,
}

#[derive(Debug)]
struct Topic {
    name: String,
    partitions: u64,
}

#[derive(Debug)]
struct Producer {
    name: String,
    client: Client,
    transactional_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Client {
    Java,
    Librdkafka,
}

/// What a load has to know of the client that it sends with.
#[derive(Debug)]
struct Habits {
    client: Client,
    batches: Batches,
    /// How many loads share it.
    loads: u32,
    /// How many records a transaction has at most, where that is what ends it.
    transaction_records: Option<u64>,
}

/// Whether a client runs transactions. Those from before 2.5 do not, and none with few retries:
/// once a record is lost nothing that they send is taken any more, until they are closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transactions {
    Some,
    None,
}

/// How many records a client puts into a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Batches {
    /// One, so that a request a record has to do.
    Single,
    /// As many as there are.
    Deep,
}

/// The plan of a seed.
pub fn draw(seed: u64) -> Plan {
    let dice = |subject| Dice::new(seed, subject);
    let mut of_cluster = dice(Subject::Cluster);
    let mut world = World {
        brokers: of_cluster.pick(&[1, 2, 3, 3, 3, 3, 4, 5]),
        pace: if of_cluster.chance(75) {
            Pace::Quick
        } else {
            Pace::Usual
        },
        controllers: Controllers::Apart,
        topics: Vec::new(),
        producers: Vec::new(),
        groups: Vec::new(),
    };
    let cluster = cluster::draw(&mut of_cluster, &mut world);
    let topics = topics::draw(&mut dice(Subject::Topics), &mut world);
    let producers = producers::draw(&mut dice(Subject::Producers), &mut world);
    let groups = groups::draw(&mut dice(Subject::Groups), &mut world);
    let episodes = faults::draw(&mut dice(Subject::Faults), &world);
    Plan {
        seed,
        seconds: match world.pace {
            Pace::Quick => 80,
            Pace::Usual => 130,
        },
        cluster,
        topics,
        producers,
        groups,
        episodes,
    }
}

/// Lines of TOML, one pushed after the other.
#[derive(Debug, Default)]
struct Lines(String);

impl Lines {
    fn push(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// `key = value`, for a number, a word of TOML, or a text in quotes.
    fn set(&mut self, key: &str, value: impl std::fmt::Display) {
        self.push(&format!("{key} = {value}"));
    }

    /// `key = "value"`.
    fn text(&mut self, key: &str, value: impl std::fmt::Display) {
        self.push(&format!("{key} = \"{value}\""));
    }

    fn part(self, name: &str) -> Part {
        Part {
            name: name.to_owned(),
            toml: self.0,
        }
    }
}
