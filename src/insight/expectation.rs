//! What must hold (`[[expect]]`): the specification that a scenario lowers to.

use crate::sim::fact::ErrorClass;
use crate::sim::ids::ProducerIndex;
use crate::sim::time::{SimSpan, SimTime};

/// One `[[expect]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Its `name`, or a sentence made from its parts.
    pub name: String,
    /// What is looked at.
    pub check: Check,
}

/// What is looked at.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    /// A sampled metric against bounds.
    Metric(MetricCheck),
    /// How often and when something happened.
    Event(EventCheck),
    /// The exact content of a partition's log, one line a record: `40 trip-9001`.
    Log {
        /// `TOPIC-N`.
        partition: String,
        /// The lines, in offset order.
        offsets: Vec<String>,
    },
    /// What must not be in the ledger.
    No(Vec<Harm>),
}

/// A sampled metric against bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricCheck {
    /// A path of DESIGN §5: `producer.trips.bufferpool-wait-ratio`, `ledger.records-acked`.
    pub path: String,
    /// Which samples.
    pub window: Window,
    /// What they must satisfy.
    pub bound: Bound,
}

/// Which samples an expectation looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// The last sample at or before this moment.
    At(SimTime),
    /// Samples from one moment to another (both included), reduced to one figure.
    Reduced {
        /// First moment.
        from: SimTime,
        /// Last moment.
        to: SimTime,
        /// How.
        reduce: Reduce,
    },
}

/// How samples become one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The mean over samples.
    Mean,
    /// The last one.
    Last,
    /// The 99th percentile (nearest rank).
    P99,
    /// The sum over samples.
    Sum,
}

/// What a figure must satisfy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Strictly below.
    Below(f64),
    /// Strictly above.
    Above(f64),
    /// Equal, to within rounding of the last digit written.
    Equals(f64),
    /// Within, both ends included.
    Between(f64, f64),
}

impl Bound {
    /// Whether `value` satisfies it.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::Below(limit) => value < limit,
            Self::Above(limit) => limit < value,
            Self::Between(low, high) => low <= value && value <= high,
            Self::Equals(wanted) => (value - wanted).abs() <= half_of_last_digit(wanted),
        }
    }
}

/// Half of the last digit of a number as it is written shortest: 0.05 for 0.4, 0.5 for 30720.
fn half_of_last_digit(written: f64) -> f64 {
    let text = format!("{written}");
    let decimals = text
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len());
    // A hair more, so that a value on the edge is not lost to its binary representation.
    (0..decimals).fold(0.5, |half, _| half / 10.0) * (1.0 + 1e-9)
}

/// How often and when something happened.
#[derive(Clone, Debug, PartialEq)]
pub struct EventCheck {
    /// What.
    pub event: EventKind,
    /// Only at this producer.
    pub producer: Option<ProducerIndex>,
    /// When the first must come, and how far from it at most.
    pub first_at: Option<(SimTime, SimSpan)>,
    /// Fewest, in all.
    pub at_least: u64,
    /// Most, in all; `None` is any number.
    pub at_most: Option<u64>,
}

/// A kind of fact, or an exception that the application received.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// Thrown or in a callback; a superclass matches its subclasses. One count a `send()` or batch.
    Exception(ErrorClass),
    /// A kind of fact by its name, as `kdrill`'s event pane shows it: `leader-changed`.
    Fact(String),
}

/// What must not be in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// A record was acknowledged and no log holds it.
    AcknowledgedLoss,
    /// A record stands more than once in a log.
    Duplicate,
    /// Records of one producer and partition stand in another order than they were sent in.
    Reorder,
    /// A key has records on more than one partition.
    SplitKey,
    /// A group reads a record after a later one of its key.
    OutOfOrderRead,
    /// A record's callback brought an error, and a log holds it all the same.
    FailedPresent,
}
