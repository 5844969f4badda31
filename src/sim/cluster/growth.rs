//! Topics that get more partitions.
//!
//! Source: `ReplicationControlManager.createPartitions`. What exists stays as it is, records
//! included; new partitions are empty and begin at offset 0. Brokers create their logs with the
//! metadata that tells them, and clients learn of them at their own next metadata update.
//!
//! Simplification: the tool reaches the controller at once and through no link.

use std::borrow::Cow;
use std::sync::Arc;

use crate::sim::cluster::Cluster;
use crate::sim::cluster::placement::RackList;
use crate::sim::cluster::quorum::NO_CONTROLLER;
use crate::sim::config::{Config, HistoryDetail, PARTITIONS_MAX};
use crate::sim::context::Context;
use crate::sim::fact::Fact;
use crate::sim::ids::{BrokerIndex, PartitionIndex, TopicIndex, TopicPartition};
use crate::sim::metadata::{Image, PartitionImage};
use crate::sim::partition::{Partition, Replica};
use crate::sim::queue::Rank;
use crate::sim::rng::{Purpose, Stream};

/// Nobody who lives shall have a replica.
const NOBODY_ALIVE: &str = "none of the brokers that are named for a partition is alive";

impl Cluster {
    /// The partition of this name, if it exists; `__transaction_state` comes behind all topics.
    pub fn find(&self, name: TopicPartition) -> Option<PartitionIndex> {
        let partitions = match self.topics.get(name.topic.index()) {
            Some(of_topic) => of_topic,
            None => self.transactions.state_log(),
        };
        let found = partitions.get(name.number as usize).copied();
        found.filter(|index| index.name() == name)
    }

    /// Whether a topic can get so many partitions; if not, why, in the controller's words.
    pub fn check_growth(
        &self,
        config: &Config,
        topic: TopicIndex,
        partitions: u32,
    ) -> Result<(), String> {
        let image = self.controller.image();
        let name = &config.topics[topic.index()].name;
        let has = image.topic(topic).partitions.len() as u32;
        if has == 0 {
            return Err(format!("Topic '{name}' does not exist as expected"));
        }
        if partitions == has {
            return Err(format!("Topic already has {has} partition(s)."));
        }
        if partitions < has {
            return Err(format!(
                "The topic {name} currently has {has} partition(s); {partitions} would not be an \
                 increase."
            ));
        }
        if self.partitions.len() as u32 + (partitions - has) > PARTITIONS_MAX {
            return Err(format!(
                "a run has at most {PARTITIONS_MAX} partitions over all topics."
            ));
        }
        if !image.unfenced.contains(&true) {
            return Err("All brokers are currently fenced.".to_owned());
        }
        Ok(())
    }

    /// Whether a topic can get partitions on these brokers; if not, why.
    pub fn check_placement(
        &self,
        config: &Config,
        topic: TopicIndex,
        replicas: &[Vec<BrokerIndex>],
    ) -> Result<(), String> {
        self.check_growth(config, topic, replicas.len() as u32)?;
        let image = &self.controller.image;
        let mut placed = replicas.iter().skip(image.topic(topic).partitions.len());
        if placed.any(|replicas| !replicas.iter().any(|b| image.unfenced[b.index()])) {
            return Err(NOBODY_ALIVE.to_owned());
        }
        Ok(())
    }

    /// A topic gets so many partitions; the new ones have as many replicas as its first.
    pub fn add_partitions(
        &mut self,
        ctx: &mut Context<'_>,
        topic: TopicIndex,
        partitions: u32,
    ) -> Result<(), Cow<'static, str>> {
        self.check_growth(ctx.config, topic, partitions)?;
        if !self.is_controlled(ctx) {
            return Err(NO_CONTROLLER.into());
        }
        let image = &self.controller.image;
        let ids = &image.topic(topic).partitions;
        let from = ids.len() as u32;
        let factor = self.partitions[ids[0].index()].replicas.len();
        let mut draws = Stream::new(
            ctx.config.seed,
            Purpose::Placement,
            u32::from(topic.0),
            from as u16,
        );
        let mut racks = RackList::new(&ctx.config.brokers, &image.unfenced, &mut draws);
        let placed = (from..partitions).map(|_| racks.place(factor)).collect();
        self.grow(ctx, topic, placed);
        Ok(())
    }

    /// A topic gets partitions on brokers that somebody names, behind those that it has.
    pub fn place_partitions(
        &mut self,
        ctx: &mut Context<'_>,
        topic: TopicIndex,
        replicas: &[Vec<BrokerIndex>],
    ) -> Result<(), Cow<'static, str>> {
        self.check_placement(ctx.config, topic, replicas)?;
        if !self.is_controlled(ctx) {
            return Err(NO_CONTROLLER.into());
        }
        let has = self.controller.image.topic(topic).partitions.len();
        let placed = replicas.iter().skip(has).cloned().collect();
        self.grow(ctx, topic, placed);
        Ok(())
    }

    /// New partitions with these replicas.
    fn grow(&mut self, ctx: &mut Context<'_>, topic: TopicIndex, placed: Vec<Vec<BrokerIndex>>) {
        let mut image = (*self.controller.image).clone();
        let mut ids = image.topic(topic).partitions.to_vec();
        let from = ids.len() as u32;
        let settings = self.partitions[ids[0].index()].settings.clone();
        let detail = detail_of(ctx.config, topic);
        for (number, replicas) in (from..).zip(placed) {
            let name = TopicPartition { topic, number };
            let mut partition = Partition::new((topic, number), &settings, &replicas, 0, detail);
            // Nobody serves it before its leader has heard of it.
            partition.serving = None;
            for replica in &mut partition.replicas {
                *replica = Replica::new(replica.broker, 0);
            }
            ids.push(self.add(&mut image, name, partition));
        }
        self.topics[topic.index()] = ids.into();
        image.topics[topic.index()].partitions = Arc::clone(&self.topics[topic.index()]);
        let to = self.topics[topic.index()].len() as u32;
        ctx.fact(Rank::CONTROLLER, Fact::PartitionsAdded { topic, from, to });
        self.publish(ctx, image);
    }

    /// One more partition; its ISR is who is alive, and the first of them leads.
    fn add(
        &mut self,
        image: &mut Image,
        name: TopicPartition,
        mut partition: Partition,
    ) -> PartitionIndex {
        let index = PartitionIndex::new(self.partitions.len() as u32, name);
        let replicas = partition.replicas.iter().map(|replica| replica.broker);
        let isr: Vec<BrokerIndex> = replicas.filter(|b| image.unfenced[b.index()]).collect();
        partition.isr.clone_from(&isr);
        image.partitions.push(PartitionImage::new(isr));
        for replica in &partition.replicas {
            self.brokers[replica.broker.index()].replica_of.push(index);
        }
        self.partitions.push(partition);
        index
    }
}

/// How much of a topic's logs is kept.
fn detail_of(config: &Config, topic: TopicIndex) -> HistoryDetail {
    let existing = config.topics[topic.index()].existing.as_ref();
    existing.map_or(HistoryDetail::Sums, |existing| existing.history)
}
