//! The shape of a configuration table: what a key is called, holds, admits and defaults to.
//!
//! Invariants: tables are constants; a default is written as somebody would type it, and passes
//! its own key's grammar and validator; histories are in descending order of versions.

use super::super::version::KafkaVersion;

/// A release line: major and minor number.
pub type Line = (u16, u16);

/// One key of a configuration.
///
/// Source: `ConfigDef.ConfigKey`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfigKey {
    /// The name, such as `linger.ms`.
    pub name: &'static str,
    /// What the value is parsed as.
    pub kind: ValueKind,
    /// What values are admitted.
    pub valid: Valid,
    /// How much it matters, in Kafka's judgement.
    pub importance: Importance,
    /// The first line that knows the key.
    pub since: Line,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// What becomes of it in a simulation.
    pub modelling: Modelling,
    default: DefaultValue,
    earlier: Option<(Line, DefaultValue)>,
}

/// What a value is parsed as (`ConfigDef.Type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `true` or `false`, in any case.
    Boolean,
    /// A 16-bit integer.
    Short,
    /// A 32-bit integer.
    Int,
    /// A 64-bit integer.
    Long,
    /// A floating-point number.
    Double,
    /// A text, trimmed.
    String,
    /// A comma-separated list.
    List,
    /// The name of a class.
    Class,
    /// A text that must not be shown.
    Password,
}

impl ValueKind {
    /// The name as Kafka's documentation has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Short => "short",
            Self::Int => "int",
            Self::Long => "long",
            Self::Double => "double",
            Self::String => "string",
            Self::List => "list",
            Self::Class => "class",
            Self::Password => "password",
        }
    }
}

/// What values a key admits, beyond its kind (`ConfigDef.Validator`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Valid {
    /// Everything.
    Any,
    /// Numbers from here on.
    AtLeast(i64),
    /// Numbers from the first to the second, both included.
    Between(i64, i64),
    /// Floating-point numbers from the first to the second, both included.
    BetweenDoubles(f64, f64),
    /// 1 to 9, or −1: the levels of gzip.
    GzipLevel,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// One of these texts in any case; the order is that of Kafka's message.
    OneOfIgnoringCase(&'static [&'static str]),
    /// Texts of at least one character.
    NonEmpty,
    /// Lists of non-empty items, of which repeated ones count once (since 4.2).
    DistinctItems,
    /// The same, with at least one item.
    DistinctItemsNotEmpty,
    /// Lists of these items.
    ItemsOf(&'static [&'static str]),
}

/// How much a key matters (`ConfigDef.Importance`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Importance {
    /// Look at it last.
    Low,
    /// Look at it when there is a reason.
    Medium,
    /// Look at it first.
    High,
}

impl Importance {
    /// The name as Kafka's documentation has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// What becomes of a key in a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Modelling {
    /// Its effect is simulated.
    Modelled,
    /// It is checked as the real component checks it, and has no further effect.
    Checked,
    /// It is accepted and has no effect; a note says so.
    Ignored,
}

/// What a key is when nobody set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    /// Nothing: it must be set.
    Required,
    /// Java's null.
    Null,
    /// This text.
    Text(&'static str),
}

impl ConfigKey {
    /// A modelled key of low importance that every version knows and that admits everything.
    pub(super) const fn new(
        name: &'static str,
        kind: ValueKind,
        default: &'static str,
        help: &'static str,
    ) -> Self {
        Self {
            name,
            kind,
            valid: Valid::Any,
            importance: Importance::Low,
            since: (0, 0),
            help,
            modelling: Modelling::Modelled,
            default: DefaultValue::Text(default),
            earlier: None,
        }
    }

    /// The same key, null when nobody set it.
    pub(super) const fn null(mut self) -> Self {
        self.default = DefaultValue::Null;
        self
    }

    /// The same key, to be set by everybody.
    pub(super) const fn required(mut self) -> Self {
        self.default = DefaultValue::Required;
        self
    }

    /// The same key, admitting only these values.
    pub(super) const fn valid(mut self, valid: Valid) -> Self {
        self.valid = valid;
        self
    }

    /// The same key, of medium importance.
    pub(super) const fn medium(mut self) -> Self {
        self.importance = Importance::Medium;
        self
    }

    /// The same key, of high importance.
    pub(super) const fn high(mut self) -> Self {
        self.importance = Importance::High;
        self
    }

    /// The same key, known from this line on.
    pub(super) const fn since(mut self, major: u16, minor: u16) -> Self {
        self.since = (major, minor);
        self
    }

    /// The same key, with another default before this line.
    pub(super) const fn before(mut self, major: u16, minor: u16, default: DefaultValue) -> Self {
        self.earlier = Some(((major, minor), default));
        self
    }

    /// The same key, checked but without effect.
    pub(super) const fn checked(mut self) -> Self {
        self.modelling = Modelling::Checked;
        self
    }

    /// The same key, accepted but without effect.
    pub(super) const fn ignored(mut self) -> Self {
        self.modelling = Modelling::Ignored;
        self
    }

    /// Whether it must be set.
    pub fn is_required(&self) -> bool {
        self.default == DefaultValue::Required
    }

    /// Whether a component of this version knows the key.
    pub fn is_known_to(&self, version: KafkaVersion) -> bool {
        version.at_least(self.since.0, self.since.1)
    }

    /// What the key is in this version when nobody set it.
    pub fn default(&self, version: KafkaVersion) -> DefaultValue {
        match self.earlier {
            Some(((major, minor), default)) if !version.at_least(major, minor) => default,
            _ => self.default,
        }
    }

    /// What the key is in the youngest version when nobody set it.
    pub const fn default_of_newest(&self) -> DefaultValue {
        self.default
    }

    /// The admitted values in words, for help and schemas; empty where everything is.
    pub fn valid_text(&self) -> String {
        match self.valid {
            Valid::Any => String::new(),
            Valid::AtLeast(min) => format!("[{min},...]"),
            Valid::Between(min, max) => format!("[{min},...,{max}]"),
            Valid::BetweenDoubles(min, max) => format!("[{min},...,{max}]"),
            Valid::GzipLevel => "[1,...,9] or -1".to_owned(),
            Valid::OneOf(texts) => format!("[{}]", texts.join(", ")),
            Valid::OneOfIgnoringCase(texts) => {
                format!("(case insensitive) [{}]", texts.join(", "))
            }
            Valid::NonEmpty => "non-empty string".to_owned(),
            Valid::DistinctItems => "no empty items; repeated ones count once".to_owned(),
            Valid::DistinctItemsNotEmpty => {
                "at least one item, none empty; repeated ones count once".to_owned()
            }
            Valid::ItemsOf(items) => format!("items of [{}]", items.join(", ")),
        }
    }
}
