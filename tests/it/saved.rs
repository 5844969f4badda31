//! A run that is saved is the same run when it is run again, to the digest.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kdrill::scenario::{self, Overrides, Paint, Scenario, Source};
use kdrill::session::Session;
use kdrill::sim::time::{SimSpan, SimTime};

use crate::support::{run_to_end, seconds};

/// Two clients, a group, a timeline of its own.
const LIVELY: &str = r#"# Is a saved run the same run?
[scenario]
format = 1
title = "Lively"
duration = "6s"
[cluster]
brokers = 3
append-rate = "512KiB/s"
[[topic]]
name = "events"
partitions = 4
replication-factor = 3
config.min.insync.replicas = 2
[[producer]]
name = "trips"
config.buffer.memory = 524288
config.delivery.timeout.ms = 2000
config.request.timeout.ms = 1000
config.max.block.ms = 500
[[producer.load]]
topic = "events"
rate = 300
key = { uniform = 50, format = "rider-{n}" }
value = { bytes = 1024 }
[[producer]]
name = "fares"
client = "librdkafka"
config.message.timeout.ms = 2000
[[producer.load]]
topic = "events"
rate = 40
arrival = "poisson"
key = { uniform = 9, format = "fare-{n}" }
value = { bytes = 200 }
[[consumer]]
group = "readers"
topic = "events"
rate = 1000
[[timeline]]
at = "2s"
do = "link cut trips 1"
[[timeline]]
at = "3.5s"
do = "link heal trips 1"
"#;

const COMMANDS: &[&str] = &[
    "link cut trips 2",
    "link heal trips *",
    "link delay fares * 20ms",
    "link loss trips 1 2%",
    "broker kill 2",
    "broker start 2",
    "broker pause 3",
    "broker resume 3",
    "broker slow 1 5ms",
    "rate trips 700",
    "rate trips 10.5",
    "rate fares 100",
    "set producer trips linger.ms=20",
    "set producer trips compression.type=zstd",
    "producer pause trips",
    "producer resume trips",
    "producer crash fares",
    "producer restart fares",
    "inject NOT_LEADER_OR_FOLLOWER --partition events-1 --count 2",
    "inject NOT_LEADER_OR_FOLLOWER --partition events-5 --count 1",
    "responses swallow 1 --count 2",
    "kafka-topics.sh --alter --topic events --partitions 6",
    "kafka-leader-election.sh --election-type preferred --all-topic-partitions",
    "consumer rate readers 50",
    "disk slow 2 100KiB/s",
    "kafka-topics.sh --describe --topic events",
];

/// Draws for one session; a few lines, so that a seed says all.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn moment(&mut self, end: SimTime) -> SimTime {
        match self.below(4) {
            // Where the timeline and samples are, too.
            0 => seconds(self.below(13) as f64 / 2.0).min(end),
            1 => SimTime::from_millis(self.below(end.as_millis())),
            _ => {
                SimTime::from_nanos(self.below(end.as_millis()) * 1_000_000 + self.below(1_000_000))
            }
        }
    }
}

/// Somebody plays with a run: goes on, back, and types; then it goes to its end.
fn play(session: &mut Session, dice: &mut Dice) {
    for _ in 0..12 {
        match dice.below(5) {
            0 | 1 => {
                let command = COMMANDS[dice.below(COMMANDS.len() as u64) as usize];
                // What is refused is not kept.
                let _reply = session.command(command);
            }
            2 => {
                let _reached = session.step();
            }
            3 if dice.below(4) == 0 => session.step_back(),
            _ => {
                let at = dice.moment(session.end());
                session.approach(at);
                let _reached = session.advance_to(at, u64::MAX);
            }
        }
    }
    finish(session);
}

fn finish(session: &mut Session) {
    while !session.is_over() {
        let _reached = session.advance_to(session.end(), 100_000);
    }
}

fn loaded(source: Source, overrides: &Overrides) -> Arc<Scenario> {
    let loaded = scenario::load(source, overrides);
    Arc::new(loaded.unwrap_or_else(|problems| panic!("{}", problems.render(Paint::Plain))))
}

fn read_back(path: &Path) -> u64 {
    let source = Source::Path(path.to_owned());
    run_to_end(loaded(source, &Overrides::default())).digest()
}

fn lively_in(folder: &Path) -> Source {
    let path = folder.join("lively.toml");
    fs::write(&path, LIVELY).expect("a folder of the test");
    Source::Path(path)
}

fn given() -> Source {
    Source::Text {
        name: "lively".to_owned(),
        text: LIVELY.to_owned(),
    }
}

fn save(session: &Session, path: &Path) -> PathBuf {
    session
        .save(Some(path))
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_hundred_random_sessions_end_in_the_same_run_when_they_are_run_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = folder.path().join("kept");
    fs::create_dir(&other).expect("a folder");
    let named = lively_in(folder.path());
    let mut typed = 0;
    for seed in 0..100 {
        let mut dice = Dice(seed);
        let overrides = Overrides {
            seed: (dice.below(2) == 0).then_some(seed),
            until: (dice.below(5) == 0).then_some(SimSpan::from_millis(4_321)),
            set: match dice.below(3) {
                0 => vec!["producer.trips.load.1.rate=200".to_owned()],
                _ => Vec::new(),
            },
            ..Overrides::default()
        };
        let source = if dice.below(2) == 0 {
            named.clone()
        } else {
            given()
        };
        let mut session = Session::new(loaded(source, &overrides));
        play(&mut session, &mut dice);
        typed += session.journal().len();
        let to = if dice.below(2) == 0 {
            folder.path()
        } else {
            &other
        };
        let path = save(&session, &to.join("again"));
        let text = fs::read_to_string(&path).expect("it was written");
        assert_eq!(
            read_back(&path),
            session.digest(),
            "session {seed}:\n{text}"
        );
    }
    assert!(
        200 < typed,
        "too little was typed to prove anything: {typed}"
    );
}

#[test]
fn a_saved_run_extends_what_it_was_and_says_what_was_typed_and_when() {
    let folder = tempfile::tempdir().expect("a folder");
    let overrides = Overrides {
        seed: Some(7),
        set: vec!["producer.trips.config.linger.ms=20".to_owned()],
        ..Overrides::default()
    };
    let mut session = Session::new(loaded(lively_in(folder.path()), &overrides));
    let _reached = session.advance_to(SimTime::from_nanos(2_000_000_001), u64::MAX);
    session.command("rate trips 700").expect("a command");
    session
        .command("set producer trips acks=1")
        .expect("a command");
    let path = save(&session, &folder.path().join("again.toml"));
    insta::assert_snapshot!(fs::read_to_string(path).expect("it was written"));
}

#[test]
fn a_run_of_the_library_extends_it_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = Source::Embedded("full-buffer".to_owned());
    let mut session = Session::new(loaded(source, &Overrides::default()));
    let _reached = session.advance_to(seconds(1.0), u64::MAX);
    session.command("link cut trips 1").expect("a command");
    let path = save(&session, &folder.path().join("mine.toml"));
    let text = fs::read_to_string(path).expect("it was written");
    assert!(text.starts_with("extends = \"full-buffer\"\n"), "{text}");
    assert!(
        text.contains("at = \"60s\"\ndo = \"link cut trips *\""),
        "{text}"
    );
    // The file's own name would be meant in its folder.
    let path = save(&session, &folder.path().join("full-buffer.toml"));
    let text = fs::read_to_string(path).expect("it was written");
    assert!(
        text.starts_with("extends = \"buffer/full-buffer\"\n"),
        "{text}"
    );
}

#[test]
fn no_file_is_written_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(loaded(lively_in(folder.path()), &Overrides::default()));
    let wanted = folder.path().join("mine.toml");
    let names: Vec<_> = (0..3).map(|_| save(&session, &wanted)).collect();
    let named = ["mine.toml", "mine-2.toml", "mine-3.toml"];
    assert_eq!(names, named.map(|name| folder.path().join(name)));
    let files = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(files, 4, "the original, three saved runs and nothing else");
}

#[test]
fn a_run_whose_file_changed_meanwhile_is_saved_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = lively_in(folder.path());
    let mut session = Session::new(loaded(source, &Overrides::default()));
    let changed = LIVELY.replace("rate = 300", "rate = 301");
    fs::write(folder.path().join("lively.toml"), changed).expect("a folder of the test");
    session.command("rate fares 1").expect("a command");
    finish(&mut session);
    let path = save(&session, &folder.path().join("again.toml"));
    let text = fs::read_to_string(&path).expect("it was written");
    assert!(
        text.starts_with("# Is a saved run the same run?\n[scenario]"),
        "{text}"
    );
    assert_eq!(read_back(&path), session.digest());
}

#[test]
fn a_run_that_goes_nowhere_is_not_saved_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let session = Session::new(loaded(given(), &Overrides::default()));
    let nowhere = folder.path().join("no/such/folder.toml");
    let error = session
        .save(Some(&nowhere))
        .expect_err("there is no such folder");
    assert!(error.to_string().starts_with("could not write "), "{error}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn what_is_typed_after_the_end_is_refused() {
    let mut session = Session::new(loaded(given(), &Overrides::default()));
    finish(&mut session);
    let refused = session.command("rate trips 1").expect_err("it is over");
    assert_eq!(refused.message, "the run is over");
    assert!(session.command("kafka-topics.sh --list").is_ok());
}
