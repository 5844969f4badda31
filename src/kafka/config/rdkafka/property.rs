//! The shape of librdkafka's table: what its properties have beyond a key's own shape.

use super::super::definition::{ConfigKey, DefaultValue, Valid, ValueKind};

/// One property, with its other names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Property {
    /// Name, kind, range, default and help, as any table has them.
    pub key: ConfigKey,
    /// Other names for it; messages always use [`ConfigKey::name`].
    pub aliases: &'static [&'static str],
    /// Which clients look at it.
    pub role: Role,
    /// Where it belongs.
    pub level: Level,
    /// What the client thinks of it.
    pub standing: Standing,
}

/// Which clients look at a property (the column `C/P` of librdkafka's documentation).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Producers and consumers.
    Both,
    /// Producers.
    Producer,
    /// Consumers; a producer warns and ignores it.
    Consumer,
}

/// Where a property belongs; both kinds are set on the global object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The client.
    Global,
    /// The configuration that topics start from.
    Topic,
}

/// What the client thinks of a property; all but the first are worth a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Nothing special.
    Current,
    /// To be given up.
    Deprecated,
    /// Not to be relied on.
    Experimental,
    /// Both.
    DeprecatedAndExperimental,
}

impl Property {
    const fn new(key: ConfigKey) -> Self {
        Self {
            key,
            aliases: &[],
            role: Role::Both,
            level: Level::Global,
            standing: Standing::Current,
        }
    }

    /// A number from the first to the second, both included.
    pub(super) const fn integer(
        name: &'static str,
        (min, max): (i64, i64),
        default: &'static str,
        help: &'static str,
    ) -> Self {
        let key = ConfigKey::new(name, ValueKind::Int, default, help);
        Self::new(key.valid(Valid::Between(min, max)))
    }

    /// A number with a fraction.
    pub(super) const fn float(
        name: &'static str,
        (min, max): (f64, f64),
        default: &'static str,
        help: &'static str,
    ) -> Self {
        let key = ConfigKey::new(name, ValueKind::Double, default, help);
        Self::new(key.valid(Valid::BetweenDoubles(min, max)))
    }

    /// True or false.
    pub(super) const fn flag(
        name: &'static str,
        default: &'static str,
        help: &'static str,
    ) -> Self {
        Self::new(ConfigKey::new(name, ValueKind::Boolean, default, help))
    }

    /// One of some words, in any case.
    pub(super) const fn word(
        name: &'static str,
        words: &'static [&'static str],
        default: &'static str,
        help: &'static str,
    ) -> Self {
        let key = ConfigKey::new(name, ValueKind::String, default, help);
        Self::new(key.valid(Valid::OneOfIgnoringCase(words)))
    }

    /// Some of some words, in any case, with commas between.
    pub(super) const fn words(
        name: &'static str,
        words: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        let key = ConfigKey::new(name, ValueKind::List, "", help);
        Self::new(key.valid(Valid::ItemsOf(words)))
    }

    /// Any text, with a default.
    pub(super) const fn text(
        name: &'static str,
        default: &'static str,
        help: &'static str,
    ) -> Self {
        Self::new(ConfigKey::new(name, ValueKind::String, default, help))
    }

    /// Any text, and none by default.
    pub(super) const fn optional(name: &'static str, help: &'static str) -> Self {
        Self::new(ConfigKey::new(name, ValueKind::String, "", help).null())
    }

    /// A text that must not be shown, and none by default.
    pub(super) const fn secret(name: &'static str, help: &'static str) -> Self {
        Self::new(ConfigKey::new(name, ValueKind::Password, "", help).null())
    }

    /// The same, admitting only these texts.
    pub(super) const fn valid(mut self, valid: Valid) -> Self {
        self.key = self.key.valid(valid);
        self
    }

    /// The same under one more name.
    pub(super) const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// The same, for producers only.
    pub(super) const fn producer(mut self) -> Self {
        self.role = Role::Producer;
        self
    }

    /// The same, for consumers only, and so without effect.
    pub(super) const fn consumer(mut self) -> Self {
        self.role = Role::Consumer;
        self.ignored()
    }

    /// The same, of topics.
    pub(super) const fn topic(mut self) -> Self {
        self.level = Level::Topic;
        self
    }

    /// The same, to be given up, and so without effect.
    pub(super) const fn deprecated(mut self) -> Self {
        self.standing = Standing::Deprecated;
        self.ignored()
    }

    /// The same, of another standing.
    pub(super) const fn standing(mut self, standing: Standing) -> Self {
        self.standing = standing;
        self
    }

    /// The same, of medium importance.
    pub(super) const fn medium(mut self) -> Self {
        self.key = self.key.medium();
        self
    }

    /// The same, of high importance.
    pub(super) const fn high(mut self) -> Self {
        self.key = self.key.high();
        self
    }

    /// The same, checked but without effect.
    pub(super) const fn checked(mut self) -> Self {
        self.key = self.key.checked();
        self
    }

    /// The same, accepted but without effect.
    pub(super) const fn ignored(mut self) -> Self {
        self.key = self.key.ignored();
        self
    }

    /// Whether somebody may write this for it.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.key.name == name || self.aliases.contains(&name)
    }

    /// Every name.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.key.name).chain(self.aliases.iter().copied())
    }

    /// What it is when nobody set it.
    pub fn default(&self) -> DefaultValue {
        self.key.default_of_newest()
    }
}
