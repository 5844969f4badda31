//! Which classes a Java client finds on its class path.
//!
//! Invariant: a class within Kafka's own packages exists exactly where it is listed here for
//! the version; a class elsewhere belongs to the application, and is taken to exist.

use super::super::settings::PartitionerClass;
use super::super::version::KafkaVersion;
use super::nearest_name;

/// The package of all serializers that come with the client.
pub(super) const BYTE_ARRAY_SERIALIZER: &str =
    "org.apache.kafka.common.serialization.ByteArraySerializer";
/// The default partitioner up to 3.2.
pub(super) const DEFAULT_PARTITIONER: &str =
    "org.apache.kafka.clients.producer.internals.DefaultPartitioner";
pub(super) const UNIFORM_STICKY_PARTITIONER: &str =
    "org.apache.kafka.clients.producer.UniformStickyPartitioner";
const ROUND_ROBIN_PARTITIONER: &str = "org.apache.kafka.clients.producer.RoundRobinPartitioner";
/// Everything within is Kafka's own.
const KAFKA_PACKAGE: &str = "org.apache.kafka.";

/// Java's own classes that are on every class path and that somebody may take for something.
const JAVA_CLASSES: &[&str] = &["java.lang.Object", "java.lang.String"];

/// Serializers that come with the client, without package and `Serializer`.
const SERIALIZERS: &[&str] = &[
    "Boolean",
    "ByteArray",
    "ByteBuffer",
    "Bytes",
    "Double",
    "Float",
    "Integer",
    "List",
    "Long",
    "Short",
    "String",
    "UUID",
    "Void",
];

/// What a client makes an instance of a class for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Partitioner,
    Serializer,
}

impl Role {
    /// The interface that the class must implement.
    pub(super) const fn interface(self) -> &'static str {
        match self {
            Self::Partitioner => "org.apache.kafka.clients.producer.Partitioner",
            Self::Serializer => "org.apache.kafka.common.serialization.Serializer",
        }
    }
}

/// Whether the class is known well enough to say that it cannot play the role.
pub(super) fn is_miscast(class: &str, role: Role, version: KafkaVersion) -> bool {
    let plays_the_other = match role {
        Role::Partitioner => is_serializer(class),
        Role::Serializer => partitioner(class, version).is_some(),
    };
    plays_the_other || JAVA_CLASSES.contains(&class)
}

/// Whether a client of this version can find the class.
pub(super) fn may_exist(class: &str, version: KafkaVersion) -> bool {
    let is_named = !class.is_empty() && !class.contains(char::is_whitespace);
    let has_package = class.contains('.');
    is_named
        && has_package
        && (!class.starts_with(KAFKA_PACKAGE)
            || class.starts_with("org.apache.kafka.common.security.")
            || is_serializer(class)
            || partitioner(class, version).is_some())
}

/// The partitioner with this class name, if it comes with a client of this version.
pub(super) fn partitioner(class: &str, version: KafkaVersion) -> Option<PartitionerClass> {
    let before_4_0 = !version.at_least(4, 0);
    let since_2_4 = version.at_least(2, 4);
    match class {
        DEFAULT_PARTITIONER if before_4_0 && since_2_4 => Some(PartitionerClass::StickyByBatch),
        DEFAULT_PARTITIONER if before_4_0 => Some(PartitionerClass::KeylessRoundRobin),
        UNIFORM_STICKY_PARTITIONER if before_4_0 && since_2_4 => {
            Some(PartitionerClass::UniformSticky)
        }
        ROUND_ROBIN_PARTITIONER if since_2_4 => Some(PartitionerClass::RoundRobin),
        _ => None,
    }
}

/// The class that could be meant by one that does not exist, compared by simple names.
pub(super) fn nearest_class(class: &str, version: KafkaVersion) -> Option<String> {
    let simple = class.trim().rsplit('.').next().unwrap_or_default();
    let partitioners = [
        ROUND_ROBIN_PARTITIONER,
        UNIFORM_STICKY_PARTITIONER,
        DEFAULT_PARTITIONER,
    ]
    .into_iter()
    .filter(|known| partitioner(known, version).is_some())
    .map(str::to_owned);
    let serializers = SERIALIZERS
        .iter()
        .map(|name| format!("org.apache.kafka.common.serialization.{name}Serializer"));
    let known: Vec<String> = partitioners.chain(serializers).collect();
    let simple_of = |name: &'_ str| {
        name.rsplit('.')
            .next()
            .map(str::to_owned)
            .unwrap_or_default()
    };
    let simple_names: Vec<String> = known.iter().map(|name| simple_of(name)).collect();
    let nearest = nearest_name(simple, simple_names.iter().map(String::as_str))?;
    known.iter().find(|name| name.ends_with(nearest)).cloned()
}

fn is_serializer(class: &str) -> bool {
    class
        .strip_prefix("org.apache.kafka.common.serialization.")
        .and_then(|simple| simple.strip_suffix("Serializer"))
        .is_some_and(|name| SERIALIZERS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: KafkaVersion = KafkaVersion::new(3, 9, 0);
    const NEW: KafkaVersion = KafkaVersion::new(4, 0, 0);

    #[test]
    fn four_zero_removed_two_partitioners() {
        for class in [DEFAULT_PARTITIONER, UNIFORM_STICKY_PARTITIONER] {
            assert!(may_exist(class, OLD) && !may_exist(class, NEW), "{class}");
        }
        assert!(may_exist(ROUND_ROBIN_PARTITIONER, NEW));
    }

    #[test]
    fn classes_of_the_application_are_taken_to_exist() {
        assert!(may_exist("com.example.RegionPartitioner", NEW));
        assert!(!may_exist("RegionPartitioner", NEW));
        assert!(!may_exist("", NEW));
    }

    #[test]
    fn a_class_of_another_kind_cannot_play_the_role() {
        let serializer = BYTE_ARRAY_SERIALIZER;
        assert!(is_miscast(serializer, Role::Partitioner, NEW));
        assert!(!is_miscast(serializer, Role::Serializer, NEW));
        assert!(is_miscast(ROUND_ROBIN_PARTITIONER, Role::Serializer, NEW));
        assert!(!is_miscast("com.example.Mine", Role::Serializer, NEW));
    }

    #[test]
    fn a_misspelt_class_leads_to_the_whole_name_of_the_right_one() {
        let nearest = |class| nearest_class(class, NEW);
        assert_eq!(
            nearest("RoundRobinPartitoner").as_deref(),
            Some(ROUND_ROBIN_PARTITIONER)
        );
        assert_eq!(
            nearest("org.apache.kafka.common.serialisation.StringSerializer").as_deref(),
            Some("org.apache.kafka.common.serialization.StringSerializer")
        );
        assert_eq!(nearest("com.example.Unheard"), None);
    }
}
