//! Which client library a producer uses, and what follows from it for the application around it.

use std::fmt::Display;

use crate::kafka::rdkafka_version::RdkafkaVersion;
use crate::kafka::settings::DeliveryReports;
use crate::kafka::version::KafkaVersion;
use crate::scenario::problem::Problem;
use crate::scenario::read::Fields;

use super::World;

/// A client library, as far as the parts of a producer differ by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Apache Kafka's Java client.
    Java,
    /// librdkafka, whose application hears of these messages.
    Librdkafka(DeliveryReports),
}

impl Dialect {
    /// What becomes of records for a topic that the cluster does not have.
    pub(super) const fn of_unknown_topic(self) -> &'static str {
        match self {
            Self::Java => "send() waits for its metadata, up to max.block.ms",
            Self::Librdkafka(_) => {
                "messages wait for it, for topic.metadata.propagation.max.ms, and then fail"
            }
        }
    }

    /// What becomes of records for a partition that the topic does not have.
    pub(super) const fn of_unknown_partition(self) -> &'static str {
        match self {
            Self::Java => "send() waits for this one, up to max.block.ms",
            Self::Librdkafka(_) => "messages for this one fail (_UNKNOWN_PARTITION)",
        }
    }
}

/// The version of a Java client: its own, or the cluster's.
pub(super) fn java_version(world: &mut World<'_>, fields: &Fields<'_>) -> KafkaVersion {
    let Some(version) = fields.version("version") else {
        return world.kafka;
    };
    if !version.is_supported_client() {
        let (oldest, newest) = (KafkaVersion::OLDEST_CLIENT, KafkaVersion::NEWEST);
        let problem = unknown_version(fields, "Java client", &version);
        world.problem(problem.hint(format!(
            "clients from {oldest} to {newest} are known, and librdkafka is another `client`"
        )));
    }
    version
}

/// The release of librdkafka: its own, or the youngest known; clusters have other numbers.
pub(super) fn rdkafka_version(world: &mut World<'_>, fields: &Fields<'_>) -> RdkafkaVersion {
    let Some(KafkaVersion {
        major,
        minor,
        patch,
    }) = fields.version("version")
    else {
        return RdkafkaVersion::DEFAULT;
    };
    let version = RdkafkaVersion::new(major, minor, patch);
    if version.is_supported() {
        return version;
    }
    let (oldest, newest) = (RdkafkaVersion::OLDEST, RdkafkaVersion::NEWEST);
    let problem = unknown_version(fields, "librdkafka", &version);
    world.problem(problem.hint(format!("releases from {oldest} to {newest} are known")));
    RdkafkaVersion::DEFAULT
}

fn unknown_version(fields: &Fields<'_>, client: &str, version: &dyn Display) -> Problem {
    Problem::new(format!("{client} {version} cannot be simulated"))
        .at(fields.place_of("version"), "not known")
}
