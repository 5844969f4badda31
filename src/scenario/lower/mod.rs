//! From a checked tree to what the engine is built from: everything that values mean together.
//!
//! Invariant: whatever comes out without a problem keeps the promises of [`crate::sim::config`].
//! What is wrong is said and stands in as something harmless, so that the rest is still checked.

mod cluster;
mod compression;
mod consumer;
mod dialect;
mod expect;
mod keys;
mod load;
mod metric;
mod producer;
mod quota;
mod rdkafka;
mod rehearsal;
mod script;
mod settings;
mod timeline;
mod topic;
mod values;

use crate::command::Names;
use crate::insight::expectation::Expectation;
use crate::kafka::version::KafkaVersion;
use crate::rehearsal::plan::Plan;
use crate::sim::config::{BrokerConfig, Config, DURATION_MAX, TopicConfig};
use crate::sim::ids::TopicIndex;
use crate::sim::time::{SimSpan, SimTime};

use super::Overrides;
use super::problem::{Findings, Problem};
use super::read::Fields;
use super::sources::Sources;
use super::tree::{Place, SourceId};
use dialect::Dialect;

/// Keys and sampled sizes of all producers together at most.
pub const LOAD_ENTRIES_MAX: usize = 4_000_000;
/// The finest sampling of figures.
pub const SAMPLE_MIN: SimSpan = SimSpan::from_millis(1);

/// What a scenario lowers to.
pub(crate) struct Lowered {
    pub(crate) config: Config,
    pub(crate) expectations: Vec<Expectation>,
    pub(crate) plan: Option<Plan>,
}

/// What the parts of a scenario share while they are lowered.
struct World<'w> {
    findings: &'w mut Findings,
    sources: &'w mut Sources,
    /// The file that the scenario was loaded from: the folder for `--set`'s paths.
    main: SourceId,
    kafka: KafkaVersion,
    duration: SimSpan,
    brokers: Vec<BrokerConfig>,
    topics: Vec<TopicConfig>,
    producers: Vec<String>,
    /// Consumer groups with the number of their members.
    groups: Vec<(String, u16)>,
    /// Keys and sampled values that may still be used, of [`LOAD_ENTRIES_MAX`].
    entries_left: usize,
    /// Payload samples that were read: loads share them.
    samples: Vec<values::ReadSample>,
}

/// Lowers a whole tree.
pub(crate) fn lower(
    root: Fields<'_>,
    overrides: &Overrides,
    (sources, main): (&mut Sources, SourceId),
    findings: &mut Findings,
) -> Option<Lowered> {
    let scenario = root.table("scenario")?;
    let mut world = World {
        findings,
        sources,
        main,
        kafka: scenario.version("kafka").unwrap_or(KafkaVersion::DEFAULT),
        duration: SimSpan::ZERO,
        brokers: Vec::new(),
        topics: Vec::new(),
        producers: Vec::new(),
        groups: Vec::new(),
        entries_left: LOAD_ENTRIES_MAX,
        samples: Vec::new(),
    };
    let sample = world.times(&scenario);
    world.broker_line(&scenario);
    cluster::brokers(&mut world, root);
    let plans = producer::plan(&mut world, root);
    consumer::groups(&mut world, root);
    topic::topics(&mut world, root);
    let link = cluster::default_link(&mut world, root);
    let links = cluster::links(&mut world, root, link);
    let producers: Vec<_> = plans
        .iter()
        .flat_map(|plan| producer::producers(&mut world, plan))
        .collect();
    let (groups, consumers) = consumer::consumers(&mut world, root);
    topic::histories(&mut world, root, &producers);
    let quotas = quota::quotas(&mut world, root);
    let mut config = Config {
        seed: overrides.seed.or(scenario.whole("seed")).unwrap_or(1),
        duration: overrides.until.unwrap_or(world.duration),
        kafka: world.kafka,
        start_epoch_ms: scenario.instant("start").unwrap_or(0),
        sample,
        brokers: world.brokers.clone(),
        links,
        link,
        topics: world.topics.clone(),
        producers,
        groups,
        consumers,
        quotas,
        timeline: Vec::new(),
        transactions: cluster::transactions(root),
        controllers: cluster::controllers(&mut world, root),
        moved_leader: cluster::moved_leader(root),
    };
    let names = Names::of(&config);
    config.timeline = timeline::timeline(&mut world, root, &names);
    compression::curves(&mut world, root, &mut config);
    let expectations = expect::expectations(&mut world, root, &config);
    let plan = rehearsal::plan(&mut world, root, &config);
    Some(Lowered {
        config,
        expectations,
        plan,
    })
}

impl World<'_> {
    fn problem(&mut self, problem: Problem) {
        self.findings.problem(problem);
    }

    /// Checks the run's length, and answers with the time between samples.
    fn times(&mut self, scenario: &Fields<'_>) -> SimSpan {
        self.duration = scenario.duration("duration").unwrap_or(DURATION_MAX);
        let place = scenario.place_of("duration");
        if self.duration == SimSpan::ZERO {
            self.problem(Problem::new("`duration` is nothing").at(place, "expected some time"));
        }
        if self.duration > DURATION_MAX {
            let days = DURATION_MAX.as_seconds() / 86_400.0;
            let label = format!("a run takes at most {days} days");
            self.problem(Problem::new("`duration` is too long").at(place, label));
        }
        let sample = scenario
            .duration("sample")
            .unwrap_or(SimSpan::from_millis(100));
        if sample < SAMPLE_MIN {
            let label = "figures are sampled every 1ms at most";
            let place = scenario.place_of("sample");
            self.problem(Problem::new("`sample` is too short").at(place, label));
            return SAMPLE_MIN;
        }
        sample
    }

    /// Brokers are simulated from a younger line on than clients.
    fn broker_line(&mut self, scenario: &Fields<'_>) {
        if !self.kafka.is_supported_broker() {
            let title = format!("brokers of {} cannot be simulated", self.kafka);
            let (oldest, newest) = (KafkaVersion::OLDEST_BROKER, KafkaVersion::NEWEST);
            self.problem(
                Problem::new(title)
                    .at(
                        scenario.place_of("kafka"),
                        format!("expected {oldest} to {newest}"),
                    )
                    .hint("an older client is a producer's `version`")
                    .hint(
                        "of older brokers, [cluster] knows moved-leader = \"unnamed\" (before 3.7)",
                    ),
            );
        }
    }

    /// A moment of the run; `None`, with a problem, when it comes after the end.
    fn moment(&mut self, fields: &Fields<'_>, name: &str) -> Option<SimTime> {
        let span = fields.duration(name)?;
        if span > self.duration {
            let end = crate::command::units::show_duration(self.duration);
            self.problem(
                Problem::new(format!("`{name}` comes after the end of the run"))
                    .at(fields.place_of(name), format!("the run ends at {end}")),
            );
            return None;
        }
        Some(SimTime::ZERO + span)
    }

    /// The topic with this name; a name that the cluster does not have becomes an unknown topic.
    fn topic(&mut self, name: &str, place: Place, dialect: Dialect) -> TopicIndex {
        self.topic_that(name, place, dialect.of_unknown_topic())
    }

    /// The same, where a topic that is missing means something else.
    fn topic_that(&mut self, name: &str, place: Place, waits: &str) -> TopicIndex {
        if let Some(at) = self.topics.iter().position(|topic| topic.name == name) {
            return TopicIndex(at as u16);
        }
        let known = self.topics.iter().filter(|topic| topic.existing.is_some());
        let near = crate::command::text::nearest(name, known.map(|topic| topic.name.as_str()));
        let note = Problem::new(format!("the cluster has no topic `{name}`"))
            .at(place, waits)
            .maybe(near);
        self.findings.note(note);
        self.topics.push(TopicConfig {
            name: name.to_owned(),
            existing: None,
        });
        TopicIndex((self.topics.len() - 1) as u16)
    }

    /// Takes some of the keys and sizes that all loads share; `false` when they are used up.
    fn take_entries(&mut self, count: usize, place: Place) -> bool {
        if count <= self.entries_left {
            self.entries_left -= count;
            return true;
        }
        let title = format!("more than {LOAD_ENTRIES_MAX} keys and sampled sizes");
        self.problem(
            Problem::new(title)
                .at(place, format!("{count} more here"))
                .hint("use fewer keys, or fewer loads"),
        );
        self.entries_left = 0;
        false
    }

    /// The file that a value stands in, as the start of relative paths.
    fn home(&self, place: Place) -> SourceId {
        let is_option = self.sources.path(place.source) == super::set::SHOWN_AS;
        if is_option { self.main } else { place.source }
    }
}

/// Names that a producer cannot have: they mean something else in commands.
fn is_reserved(name: &str) -> bool {
    name == "controller" || name.bytes().all(|byte| byte.is_ascii_digit())
}

/// A problem about a limit over all of something.
fn too_many(what: &str, most: usize, place: Place) -> Problem {
    Problem::new(format!("too many {what}")).at(place, format!("a run has at most {most}"))
}
