//! `Metadata` and `ProducerMetadata`: what a client knows of topics, and when it asks again.

use crate::kafka::backoff::ExponentialBackoff;
use crate::kafka::settings::MetadataSettings;
use crate::sim::ids::{BrokerIndex, TopicIndex};
use crate::sim::rng::Stream;

/// A client's metadata.
#[derive(Clone, Debug)]
pub struct ClientMetadata {
    topics: Vec<TopicState>,
    /// Brokers from the last response; none means that bootstrap addresses are used.
    pub nodes: Vec<BrokerIndex>,
    /// By broker: where the last response that named it said that it stands.
    standings: Vec<Standing>,
    /// Grows with every update, so that waiting threads look again.
    pub version: u64,
    /// Last successful full update (milliseconds of the client's clock).
    pub last_success_ms: Option<u64>,
    pending: Pending,
    not_before_ms: u64,
    failed_attempts: u32,
    equivalent_responses: u32,
    attempt_started_ms: Option<u64>,
    /// Whether a request is on its way.
    pub in_flight: InFlightUpdate,
}

/// A topic as the client sees it.
#[derive(Clone, Debug, Default)]
pub struct TopicState {
    /// Whether the application used it, and when last.
    used_ms: Option<u64>,
    /// Not asked for yet: a partial update suffices.
    is_new: bool,
    /// Partitions, once known; the places of their queues in the accumulator.
    pub queues: Vec<u32>,
    /// Whether `queues` may be used: a rebootstrap forgets.
    pub is_known: bool,
}

/// Where a broker stands, seen from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// One of the two has no rack, or the broker is not known.
    Unknown,
    /// In the client's own rack.
    SameRack,
    /// In another rack.
    OtherRack,
}

impl Standing {
    /// Of a broker with this `broker.rack`, for a client in this rack.
    pub fn of(client: Option<&str>, broker: Option<&str>) -> Self {
        match (client, broker) {
            (Some(client), Some(broker)) if client == broker => Self::SameRack,
            (Some(_), Some(_)) => Self::OtherRack,
            _ => Self::Unknown,
        }
    }
}

/// What has to be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Nothing,
    NewTopics,
    Everything,
}

/// Whether a metadata request is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InFlightUpdate {
    /// None.
    None,
    /// One that lists new topics only.
    Partial,
    /// One that lists all topics.
    Full,
}

impl ClientMetadata {
    /// Nothing known; the first update is due at once.
    pub fn new(topics: usize) -> Self {
        Self {
            topics: vec![TopicState::default(); topics],
            nodes: Vec::new(),
            standings: Vec::new(),
            version: 0,
            last_success_ms: None,
            pending: Pending::Everything,
            not_before_ms: 0,
            failed_attempts: 0,
            equivalent_responses: 0,
            attempt_started_ms: None,
            in_flight: InFlightUpdate::None,
        }
    }

    /// A topic.
    pub fn topic(&self, topic: TopicIndex) -> &TopicState {
        &self.topics[topic.index()]
    }

    /// A topic, to learn its partitions.
    pub fn topic_mut(&mut self, topic: TopicIndex) -> &mut TopicState {
        &mut self.topics[topic.index()]
    }

    /// Partitions of a topic, if its metadata is known.
    pub fn partitions(&self, topic: TopicIndex) -> Option<&[u32]> {
        let state = self.topic(topic);
        state.is_known.then_some(state.queues.as_slice())
    }

    /// The brokers that a response names, each with where it stands.
    pub fn learn_nodes(&mut self, nodes: impl Iterator<Item = (BrokerIndex, Standing)>) {
        self.nodes.clear();
        for (broker, standing) in nodes {
            self.nodes.push(broker);
            if self.standings.len() <= broker.index() {
                self.standings.resize(broker.index() + 1, Standing::Unknown);
            }
            self.standings[broker.index()] = standing;
        }
    }

    /// Where a broker stands.
    pub fn standing(&self, broker: BrokerIndex) -> Standing {
        let known = self.standings.get(broker.index());
        known.copied().unwrap_or(Standing::Unknown)
    }

    /// How many topics are known.
    pub fn topics_known(&self) -> u32 {
        self.topics.iter().filter(|topic| topic.is_known).count() as u32
    }

    /// `send()` touches a topic: unknown ones are fetched at once.
    pub fn touch(&mut self, topic: TopicIndex, now_ms: u64) {
        let state = &mut self.topics[topic.index()];
        let is_first = state.used_ms.replace(now_ms).is_none();
        if is_first && !state.is_known {
            state.is_new = true;
            self.equivalent_responses = 0;
            self.not_before_ms = 0;
            if self.pending == Pending::Nothing {
                self.pending = Pending::NewTopics;
            }
        }
    }

    /// A waiting `send()` asks for another look at its topic.
    pub fn request_topic(&mut self, topic: TopicIndex) {
        if self.topics[topic.index()].is_new {
            if self.pending == Pending::Nothing {
                self.pending = Pending::NewTopics;
            }
        } else {
            self.request_update();
        }
    }

    /// Everything should be fetched again, within the backoff.
    pub fn request_update(&mut self) {
        self.pending = Pending::Everything;
    }

    /// When the next update is due, on the client's clock.
    pub fn due_ms(&self, settings: &MetadataSettings) -> u64 {
        if self.in_flight != InFlightUpdate::None {
            return u64::MAX;
        }
        let wanted = match self.pending {
            Pending::Nothing => self
                .last_success_ms
                .unwrap_or(0)
                .saturating_add(settings.max_age_ms),
            Pending::NewTopics | Pending::Everything => 0,
        };
        wanted.max(self.not_before_ms)
    }

    /// Whether updates have failed for so long that the client starts from the bootstrap again.
    pub fn must_rebootstrap(&self, settings: &MetadataSettings, now_ms: u64) -> bool {
        let (Some(trigger), Some(started)) =
            (settings.rebootstrap_trigger_ms, self.attempt_started_ms)
        else {
            return false;
        };
        now_ms.saturating_sub(started) > trigger
    }

    /// The topics that the next request lists.
    pub fn begin_update(&mut self, now_ms: u64, settings: &MetadataSettings) -> Vec<TopicIndex> {
        let age = now_ms.saturating_sub(self.last_success_ms.unwrap_or(0));
        let is_partial = self.pending == Pending::NewTopics && age < settings.max_age_ms;
        self.in_flight = if is_partial {
            InFlightUpdate::Partial
        } else {
            InFlightUpdate::Full
        };
        self.attempt_started_ms.get_or_insert(now_ms);
        self.drop_idle(now_ms, settings.max_idle_ms);
        self.topics
            .iter()
            .enumerate()
            .filter(|(_, topic)| topic.used_ms.is_some() && (topic.is_new || !is_partial))
            .map(|(place, _)| TopicIndex(place as u16))
            .collect()
    }

    /// The response came.
    pub fn end_update(
        &mut self,
        (news, now_ms): (News, u64),
        asked: &[TopicIndex],
        backoff: ExponentialBackoff,
        draws: &mut Stream,
    ) {
        if self.in_flight == InFlightUpdate::Full {
            self.last_success_ms = Some(now_ms);
        }
        self.in_flight = InFlightUpdate::None;
        self.failed_attempts = 0;
        self.attempt_started_ms = None;
        self.version += 1;
        for &topic in asked {
            self.topics[topic.index()].is_new = false;
        }
        self.equivalent_responses = match news {
            News::Newer => 0,
            News::Nothing => self.equivalent_responses.saturating_add(1),
        };
        let left = self.topics.iter().any(|topic| topic.is_new);
        self.pending = if left {
            Pending::NewTopics
        } else {
            Pending::Nothing
        };
        let wait = self.equivalent_responses.saturating_sub(1);
        self.not_before_ms = now_ms + backoff.backoff_ms(wait, draws.bits32());
    }

    /// The request failed, or its connection did.
    pub fn fail_update(&mut self, now_ms: u64, backoff: ExponentialBackoff, draws: &mut Stream) {
        self.in_flight = InFlightUpdate::None;
        let wait = backoff.backoff_ms(self.failed_attempts, draws.bits32());
        self.failed_attempts = self.failed_attempts.saturating_add(1);
        self.not_before_ms = now_ms + wait;
        self.pending = Pending::Everything;
    }

    /// Back to the bootstrap addresses: cached topics are gone.
    pub fn rebootstrap(&mut self) {
        self.nodes.clear();
        self.version += 1;
        self.pending = Pending::Everything;
        self.attempt_started_ms = None;
        for topic in &mut self.topics {
            topic.is_known = false;
        }
    }

    /// Forgets topics that nobody used for `metadata.max.idle.ms`.
    fn drop_idle(&mut self, now_ms: u64, max_idle_ms: u64) {
        for topic in &mut self.topics {
            if topic
                .used_ms
                .is_some_and(|used| now_ms.saturating_sub(used) > max_idle_ms)
            {
                (topic.used_ms, topic.is_new, topic.is_known) = (None, false, false);
            }
        }
    }
}

/// Whether a response told anything that was not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// A newer leader epoch, or a topic seen for the first time.
    Newer,
    /// Nothing.
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::version::KafkaVersion;

    const TOPIC: TopicIndex = TopicIndex(0);

    #[test]
    fn a_topic_that_send_meets_for_the_first_time_is_fetched_at_once() {
        let settings = MetadataSettings::defaults(KafkaVersion::DEFAULT);
        let mut metadata = ClientMetadata::new(1);
        metadata.pending = Pending::Nothing;
        metadata.not_before_ms = 500;
        metadata.touch(TOPIC, 100);
        assert_eq!(metadata.due_ms(&settings), 0);
        assert_eq!(metadata.begin_update(100, &settings), [TOPIC]);
    }

    #[test]
    fn without_anything_to_ask_metadata_is_refreshed_by_age() {
        let settings = MetadataSettings::defaults(KafkaVersion::DEFAULT);
        let mut metadata = ClientMetadata::new(1);
        metadata.pending = Pending::Nothing;
        metadata.last_success_ms = Some(1000);
        assert_eq!(metadata.due_ms(&settings), 301_000);
    }

    #[test]
    fn a_rack_is_the_clients_own_another_one_or_unknown() {
        let standing = |broker| Standing::of(Some("a"), broker);
        assert_eq!(standing(Some("a")), Standing::SameRack);
        assert_eq!(standing(Some("b")), Standing::OtherRack);
        assert_eq!(standing(None), Standing::Unknown);
        assert_eq!(Standing::of(None, Some("a")), Standing::Unknown);
        let mut metadata = ClientMetadata::new(1);
        metadata.learn_nodes([(BrokerIndex(2), Standing::OtherRack)].into_iter());
        let standings = [0, 2, 9].map(|broker| metadata.standing(BrokerIndex(broker)));
        assert_eq!(
            standings,
            [Standing::Unknown, Standing::OtherRack, Standing::Unknown]
        );
    }

    #[test]
    fn a_rebootstrap_forgets_topics() {
        let mut metadata = ClientMetadata::new(1);
        metadata.topic_mut(TOPIC).is_known = true;
        metadata.rebootstrap();
        assert_eq!(metadata.partitions(TOPIC), None);
    }
}
