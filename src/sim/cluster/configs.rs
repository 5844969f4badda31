//! Topics whose configuration changes while the cluster runs.
//!
//! Simplification: a change reaches all brokers at once.

use crate::kafka::config::topic::altered;
use crate::sim::cluster::Cluster;
use crate::sim::cluster::quorum::NO_CONTROLLER;
use crate::sim::context::Context;
use crate::sim::ids::TopicIndex;

impl Cluster {
    /// `kafka-configs.sh --alter` of a topic: what has no value is the brokers' default again.
    pub fn set_topic(
        &mut self,
        ctx: &mut Context<'_>,
        topic: TopicIndex,
        changes: &[(String, Option<String>)],
    ) -> Result<(), &'static str> {
        let Some(first) = self.brokers.first() else {
            return Err("there are no brokers");
        };
        if !self.is_controlled(ctx) {
            return Err(NO_CONTROLLER);
        }
        if self.controller.image().topic(topic).partitions.is_empty() {
            return Err("the topic does not exist");
        }
        let defaults = first.settings.topic_defaults.clone();
        for &index in self.topics[topic.index()].clone().iter() {
            let partition = &mut self.partitions[index.index()];
            partition.settings = altered(ctx.config.kafka, &partition.settings, &defaults, changes)
                .map_err(|_| "the broker refuses this configuration")?;
            // A lower min.insync.replicas may commit what waited for it.
            if partition.advance_high_watermark() {
                self.check_purgatory(ctx, index);
            }
        }
        Ok(())
    }
}
