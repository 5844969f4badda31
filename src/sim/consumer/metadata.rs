//! What a consumer knows of its topics, and when it asks again.
//!
//! Source: `Metadata`, `ConsumerMetadata`. A consumer sees new partitions of a topic only when it
//! asks: by age, after an error, or while a topic it wants is unknown.

use std::sync::Arc;

use crate::kafka::wire::metadata_request_bytes;
use crate::sim::consumer::Consumer;
use crate::sim::consumer::call::Ask;
use crate::sim::consumer::connections::About;
use crate::sim::context::Context;
use crate::sim::fact::Fact;
use crate::sim::ids::{BrokerIndex, PartitionIndex};
use crate::sim::metadata::Image;
use crate::sim::network::Lane;
use crate::sim::time::{SimSpan, SimTime};

/// A consumer's metadata.
#[derive(Clone, Debug, Default)]
pub(super) struct Metadata {
    /// The latest that it was told.
    pub(super) image: Option<Arc<Image>>,
    wanted: Wanted,
    last_success: SimTime,
    not_before: SimTime,
    failed_attempts: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Wanted {
    /// By age only.
    Later,
    /// As soon as the backoff allows.
    #[default]
    Now,
}

impl Metadata {
    /// Something does not fit any more: ask again, within the backoff.
    pub(super) fn request_update(&mut self) {
        self.wanted = Wanted::Now;
    }

    /// Who leads a partition, as far as it knows.
    pub(super) fn leader(&self, partition: PartitionIndex) -> Option<BrokerIndex> {
        let image = self.image.as_ref()?;
        image.partitions.get(partition.index())?.leader
    }

    /// When it asks again.
    fn due(&self, max_age: SimSpan) -> SimTime {
        match self.wanted {
            Wanted::Now => self.not_before,
            Wanted::Later => (self.last_success + max_age).max(self.not_before),
        }
    }
}

impl Consumer {
    /// When metadata is asked for next.
    pub(super) fn metadata_due(&self) -> SimTime {
        if self.is_asking(About::Metadata) {
            return SimTime::NEVER;
        }
        let max_age = SimSpan::from_millis(self.settings.metadata_max_age_ms);
        self.metadata.due(max_age)
    }

    /// Asks for metadata, if that is due and somebody can be asked.
    pub(super) fn refresh_metadata(&mut self, ctx: &mut Context<'_>) {
        if self.metadata_due() > ctx.now {
            return;
        }
        let Some(broker) = self.least_loaded() else {
            return;
        };
        if !self.approach(ctx, broker, Lane::Regular) {
            return;
        }
        let name_bytes: Vec<u32> = self
            .topics
            .iter()
            .map(|topic| ctx.config.topics[topic.index()].name.len() as u32)
            .collect();
        let bytes = metadata_request_bytes(self.client_id_bytes(), &name_bytes);
        let ask = Ask::Metadata(self.topics.clone(), self.settings.topic_creation);
        self.call(ctx, (broker, Lane::Regular), (About::Metadata, ask), bytes);
    }

    /// Metadata arrived.
    pub(super) fn on_metadata(&mut self, ctx: &mut Context<'_>, image: &Arc<Image>) {
        let before = self.metadata.image.replace(Arc::clone(image));
        self.metadata.last_success = ctx.now;
        self.metadata.wanted = Wanted::Later;
        let mut is_missing = false;
        for &topic in &self.topics {
            let partitions = image.topic(topic).partitions.len() as u32;
            let known = before
                .as_ref()
                .map_or(0, |old| old.topic(topic).partitions.len() as u32);
            is_missing |= partitions == 0;
            if partitions != known {
                let fact = Fact::PartitionsDiscovered {
                    consumer: self.me,
                    topic,
                    partitions,
                };
                ctx.fact(self.rank, fact);
            }
        }
        let leaderless = |topic| {
            image
                .partitions_of(topic)
                .any(|partition| image.partition(partition).leader.is_none())
        };
        is_missing |= self.topics.iter().any(|&topic| leaderless(topic));
        if is_missing {
            self.metadata.wanted = Wanted::Now;
            self.metadata.failed_attempts = self.metadata.failed_attempts.saturating_add(1);
        } else {
            self.metadata.failed_attempts = 0;
        }
        self.back_off_metadata(ctx);
        self.notice_partitions();
    }

    /// The request failed.
    pub(super) fn on_metadata_failed(&mut self, ctx: &mut Context<'_>) {
        self.metadata.wanted = Wanted::Now;
        self.metadata.failed_attempts = self.metadata.failed_attempts.saturating_add(1);
        self.back_off_metadata(ctx);
    }

    fn back_off_metadata(&mut self, ctx: &Context<'_>) {
        let attempts = self.metadata.failed_attempts.saturating_sub(1);
        let wait_ms = self
            .settings
            .retry_backoff
            .backoff_ms(attempts, self.draws.bits32());
        self.metadata.not_before = ctx.now + SimSpan::from_millis(wait_ms);
    }
}
