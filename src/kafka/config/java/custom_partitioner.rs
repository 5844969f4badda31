//! The example partitioners that an application may name in `partitioner.class`, and the keys of
//! the producer's configuration that reach them through `configure()`.
//!
//! Invariant: a key here means something only to its class; any other client ignores it.

use std::collections::BTreeSet;

use super::super::super::custom_partitioner::CustomPartitioner;
use super::super::super::version::KafkaVersion;
use super::super::definition::{ConfigKey, Valid, ValueKind};
use super::super::values::Values;
use super::super::{ConfigError, ConfigProblem, RaisedIn};

/// Where examples live.
const HOT_KEY_SPREAD: &str = "com.example.HotKeySpread";
const VIP_ROUTING: &str = "com.example.VipRouting";
const CRC32: &str = "com.example.Crc32";

/// One class with its keys.
pub struct CustomClass {
    /// The name in `partitioner.class`.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// Its keys in the producer's configuration.
    pub keys: &'static [ConfigKey],
}

/// All of them.
pub const CUSTOM_CLASSES: &[CustomClass] = &[
    CustomClass {
        name: HOT_KEY_SPREAD,
        help: "Spreads the records of hot keys over several partitions.",
        keys: &[
            ConfigKey::new(
                "hot.keys",
                ValueKind::List,
                "",
                "Keys with so many records that one partition is too few.",
            )
            .valid(Valid::DistinctItemsNotEmpty)
            .required()
            .high(),
            ConfigKey::new(
                "hot.keys.spread",
                ValueKind::Int,
                "4",
                "How many partitions share the records of a hot key.",
            )
            .valid(Valid::AtLeast(1)),
        ],
    },
    CustomClass {
        name: VIP_ROUTING,
        help: "Sets the last partitions of a topic apart for some keys.",
        keys: &[
            ConfigKey::new(
                "vip.keys",
                ValueKind::List,
                "",
                "Keys that have partitions to themselves.",
            )
            .valid(Valid::DistinctItemsNotEmpty)
            .required()
            .high(),
            ConfigKey::new(
                "vip.partitions",
                ValueKind::Int,
                "1",
                "How many partitions are set apart, from the last one on.",
            )
            .valid(Valid::AtLeast(1)),
        ],
    },
    CustomClass {
        name: CRC32,
        help: "Hashes keys as librdkafka's consistent_random does.",
        keys: &[],
    },
];

/// The class with this name.
pub(super) fn find(name: &str) -> Option<&'static CustomClass> {
    CUSTOM_CLASSES.iter().find(|class| class.name == name)
}

/// Makes an instance, as the constructor does; says what its `configure()` refuses.
pub(super) fn configure(
    class: &'static CustomClass,
    version: KafkaVersion,
    pairs: &[(String, String)],
) -> Result<CustomPartitioner, Vec<ConfigProblem>> {
    let (values, mut problems) = Values::read(class.keys.iter(), version, pairs);
    for key in class.keys {
        if key.is_required() && !values.is_set(key.name) {
            let name = key.name;
            let text =
                format!("Missing required configuration \"{name}\" which has no default value.");
            problems.push(ConfigProblem::new(super::PARTITIONER_CLASS, text));
        }
    }
    for problem in &mut problems {
        if let ConfigError::Exception { raised_in, .. } = &mut problem.error {
            *raised_in = RaisedIn::Constructor;
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let keys = |name: &str| -> BTreeSet<Vec<u8>> {
        let items = values.list(name).iter();
        items.map(|item| item.as_bytes().to_vec()).collect()
    };
    let count = |name| values.unsigned::<u32>(name).unwrap_or(1).max(1);
    Ok(match class.name {
        HOT_KEY_SPREAD => CustomPartitioner::HotKeySpread {
            hot_keys: keys("hot.keys"),
            spread: count("hot.keys.spread"),
        },
        VIP_ROUTING => CustomPartitioner::VipRouting {
            vip_keys: keys("vip.keys"),
            reserved: count("vip.partitions"),
        },
        _ => CustomPartitioner::Crc32,
    })
}
