//! Errors as applications see them, from either client.

use std::hash::{Hash, Hasher};

use crate::kafka::exception::ExceptionClass;
use crate::kafka::rdkafka_error::RdkafkaError;

/// An exception as the application sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// What it is called.
    pub class: ErrorClass,
    /// The client's own text.
    pub text: String,
    /// What librdkafka says that helps; the Java client says it by the class.
    pub remedy: Remedy,
}

impl Hash for Exception {
    /// One without a remedy hashes as class and text: digests are those of runs without
    /// librdkafka's transactions.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.class.hash(state);
        self.text.hash(state);
        if self.remedy != Remedy::None {
            self.remedy.hash(state);
        }
    }
}

/// What helps after an error of librdkafka's transactional calls (`rd_kafka_error_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Remedy {
    /// Nothing is said.
    None,
    /// The same call again (`rd_kafka_error_is_retriable`).
    Retry,
    /// `abort_transaction()` (`rd_kafka_error_txn_requires_abort`).
    Abort,
    /// Another client (`rd_kafka_error_is_fatal`).
    NewClient,
}

impl Remedy {
    /// The flag's name, in words; nothing where none is set.
    pub const fn words(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Retry => "retriable",
            Self::Abort => "txn_requires_abort",
            Self::NewClient => "fatal",
        }
    }
}

/// What an error is called by the client that reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorClass {
    /// A class of the Java client.
    Java(ExceptionClass),
    /// An error code of librdkafka.
    Rdkafka(RdkafkaError),
}

impl Hash for ErrorClass {
    /// A Java class hashes as itself: digests are those of runs without librdkafka.
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Java(class) => class.hash(state),
            Self::Rdkafka(error) => error.hash(state),
        }
    }
}

impl ErrorClass {
    /// `TimeoutException`, `_QUEUE_FULL`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Java(class) => class.simple_name(),
            Self::Rdkafka(error) => error.name(),
        }
    }

    /// The error of this name: a class with or without its package, or a code.
    pub fn from_name(name: &str) -> Option<Self> {
        let java = ExceptionClass::from_name(name).map(Self::Java);
        java.or_else(|| RdkafkaError::from_name(name).map(Self::Rdkafka))
    }

    /// Every name there is.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        let java = ExceptionClass::ALL.iter().map(|class| class.simple_name());
        java.chain(RdkafkaError::ALL.iter().map(|error| error.name()))
    }

    /// Whether this is `other` or, of Java classes, descends from it.
    pub fn is_a(self, other: Self) -> bool {
        match (self, other) {
            (Self::Java(class), Self::Java(other)) => class.is_a(other),
            (own, other) => own == other,
        }
    }

    /// Whether this is one of the Java client's exceptions, of this class or below it.
    pub fn is_java(self, class: ExceptionClass) -> bool {
        self.is_a(Self::Java(class))
    }
}

impl From<ExceptionClass> for ErrorClass {
    fn from(class: ExceptionClass) -> Self {
        Self::Java(class)
    }
}

impl From<RdkafkaError> for ErrorClass {
    fn from(error: RdkafkaError) -> Self {
        Self::Rdkafka(error)
    }
}
