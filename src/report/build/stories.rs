//! What happened to single records of traced keys.

use std::collections::BTreeMap;

use crate::insight::names;
use crate::insight::story::{self, Story};
use crate::report::model::{RecordStory, StoryStep, rounded};
use crate::session::Session;
use crate::sim::config::Config;
use crate::sim::ids::TopicIndex;

/// Records of one key and topic that are told at most.
const STORIES_MAX: usize = 20;

/// The stories of all traced keys in a topic.
pub(super) fn of(session: &Session, topic: TopicIndex) -> BTreeMap<String, Vec<RecordStory>> {
    let (simulation, insight) = (session.simulation(), session.insight());
    let config = simulation.config();
    let mut told = BTreeMap::new();
    for key in simulation.traced_keys() {
        let mut stories = story::stories(insight.diary(), simulation, key);
        stories.retain(|story| story.partition.name().topic == topic);
        // Those in trouble come first; of each kind the latest are kept.
        stories.sort_by_key(|story| (!story.is_troubled, std::cmp::Reverse(story.number)));
        stories.truncate(STORIES_MAX);
        stories.sort_by_key(|story| (!story.is_troubled, story.number));
        if !stories.is_empty() {
            let stories = stories.iter().map(|story| of_record(story, config));
            told.insert(names::key(key), stories.collect());
        }
    }
    told
}

fn of_record(story: &Story, config: &Config) -> RecordStory {
    let steps = story.steps.iter().map(|(at, text)| StoryStep {
        seconds: rounded(at.as_seconds()),
        text: text.clone(),
    });
    RecordStory {
        number: story.number,
        producer: names::producer(config, story.producer).to_owned(),
        partition: names::partition(config, story.partition),
        sent_seconds: rounded(story.sent.as_seconds()),
        fate: story.fate.to_owned(),
        offsets: story.offsets.clone(),
        troubled: story.is_troubled,
        steps: steps.collect(),
    }
}
