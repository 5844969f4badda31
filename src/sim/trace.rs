//! What happens to single batches beside their normal way: attempts, retries, records that their
//! application sent again.
//!
//! A look, not part of the world: traces do not enter the digest of a run, and nothing that
//! happens depends on them. Attempts are told of topics whose records are remembered one by one;
//! everything else is rare, and told always.

use crate::kafka::error::ErrorCode;
use crate::sim::exception::ErrorClass;
use crate::sim::ids::{BrokerIndex, PartitionIndex, ProducerIndex};
use crate::sim::time::SimTime;

/// A step of records in a row, by producer, partition and ordinals there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    /// When.
    pub at: SimTime,
    /// Whose.
    pub producer: ProducerIndex,
    /// Where.
    pub partition: PartitionIndex,
    /// Ordinal of the first record.
    pub first_ordinal: u64,
    /// How many.
    pub records: u32,
    /// What.
    pub step: TraceStep,
}

/// What happened to records in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceStep {
    /// Their client wrote them to a connection.
    Sent {
        /// To whom.
        broker: BrokerIndex,
        /// How often it did so by now.
        attempt: u32,
    },
    /// Their client has them back, and will send them again.
    Retried {
        /// Why.
        error: ErrorCode,
    },
    /// Their client failed them: their callbacks brought this.
    Failed {
        /// What the application got.
        error: ErrorClass,
    },
    /// Their process ended while its client held them.
    Abandoned,
    /// They left the last log that held them.
    Truncated {
        /// Where the first of them stood.
        from_offset: u64,
    },
    /// A leader recognised them: they stand in its log already.
    Recognised {
        /// Whose log.
        broker: BrokerIndex,
        /// Where the first of them stands.
        base_offset: u64,
    },
    /// Their application, told of a failure, sent one record again; these are the new one.
    SentAgain {
        /// Where it was sent before.
        partition: PartitionIndex,
        /// Its ordinal there.
        ordinal: u64,
    },
}
