//! What `kafka-transactions.sh` prints, in its own columns and words.
//!
//! Source: `TransactionsCommand`, `ToolsUtils.prettyPrintTable`, `AbortTransactionHandler`,
//! `DescribeProducersHandler`, `DescribeTransactionsHandler`.

use crate::kafka::error::ErrorCode;
use crate::kafka::transaction::{ProducerIdAndEpoch, TransactionState};

/// What the tool shows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TransactionsAnswer {
    /// `list`.
    Listed(Vec<ListedTransaction>),
    /// `describe`.
    Described(Box<DescribedTransaction>),
    /// `describe-producers`.
    Producers(Vec<ActiveProducer>),
    /// `find-hanging`.
    Hanging(Vec<HangingTransaction>),
}

/// `TransactionListing`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ListedTransaction {
    /// Which id.
    pub transactional_id: String,
    /// Its coordinator's id.
    pub coordinator: u32,
    /// Its producer id.
    pub producer_id: i64,
    /// Its state.
    pub state: TransactionState,
}

/// `TransactionDescription`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DescribedTransaction {
    /// The coordinator's id.
    pub coordinator: u32,
    /// Which id.
    pub transactional_id: String,
    /// Its producer id and epoch.
    pub producer: ProducerIdAndEpoch,
    /// Its state.
    pub state: TransactionState,
    /// `transaction.timeout.ms` of its owner.
    pub timeout_ms: u64,
    /// When the transaction began, in milliseconds, and how long ago that is.
    pub started_ms: Option<(u64, u64)>,
    /// `topic-partition` of each that still takes part.
    pub partitions: Vec<String>,
}

/// `ProducerState`: what a partition knows of one producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ActiveProducer {
    /// Its producer id and epoch.
    pub producer: ProducerIdAndEpoch,
    /// Of the coordinator that wrote its last marker.
    pub coordinator_epoch: Option<u32>,
    /// Sequence of its last record; -1 if none of this epoch is there.
    pub last_sequence: i32,
    /// When its last batch or marker was written, in milliseconds.
    pub last_timestamp_ms: u64,
    /// First offset of its open transaction.
    pub start_offset: Option<u64>,
}

/// An open transaction that no coordinator knows of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HangingTransaction {
    /// Which topic.
    pub topic: String,
    /// Which of its partitions.
    pub partition: u32,
    /// What the partition knows of its producer.
    pub producer: ActiveProducer,
    /// How long ago its last record was written, in whole minutes.
    pub minutes: u64,
}

/// `AbortTransactionSpec`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AbortTransactionSpec {
    /// `topic-partition`.
    pub partition: String,
    /// Whose transaction.
    pub producer: ProducerIdAndEpoch,
    /// The marker says that it comes from this one.
    pub coordinator_epoch: u32,
}

const LISTED: &[&str] = &[
    "TransactionalId",
    "Coordinator",
    "ProducerId",
    "TransactionState",
];
const DESCRIBED: &[&str] = &[
    "CoordinatorId",
    "TransactionalId",
    "ProducerId",
    "ProducerEpoch",
    "TransactionState",
    "TransactionTimeoutMs",
    "CurrentTransactionStartTimeMs",
    "TransactionDurationMs",
    "TopicPartitions",
];
const PRODUCERS: &[&str] = &[
    "ProducerId",
    "ProducerEpoch",
    "LatestCoordinatorEpoch",
    "LastSequence",
    "LastTimestamp",
    "CurrentTransactionStartOffset",
];
const HANGING: &[&str] = &[
    "Topic",
    "Partition",
    "ProducerId",
    "ProducerEpoch",
    "CoordinatorEpoch",
    "StartOffset",
    "LastTimestamp",
    "Duration(min)",
];

impl TransactionsAnswer {
    /// The tool's table.
    pub fn table(&self) -> String {
        pretty_print_table(self.headers(), &self.rows())
    }

    /// The table in one line: every column's name before its value, row by row.
    pub fn line(&self) -> String {
        let rows = self.rows();
        if rows.is_empty() {
            return "nothing".to_owned();
        }
        let headers = self.headers();
        let rows = rows.iter().map(|row| {
            let cells = headers.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
            let cells = cells.map(|(header, cell)| format!("{header} {cell}"));
            cells.collect::<Vec<_>>().join(" ")
        });
        rows.collect::<Vec<_>>().join("; ")
    }

    fn headers(&self) -> &'static [&'static str] {
        match self {
            Self::Listed(_) => LISTED,
            Self::Described(_) => DESCRIBED,
            Self::Producers(_) => PRODUCERS,
            Self::Hanging(_) => HANGING,
        }
    }

    fn rows(&self) -> Vec<Vec<String>> {
        match self {
            Self::Listed(listed) => listed.iter().map(listed_row).collect(),
            Self::Described(described) => vec![described_row(described)],
            Self::Producers(producers) => producers.iter().map(producer_row).collect(),
            Self::Hanging(hanging) => hanging.iter().map(hanging_row).collect(),
        }
    }
}

fn listed_row(listed: &ListedTransaction) -> Vec<String> {
    vec![
        listed.transactional_id.clone(),
        listed.coordinator.to_string(),
        listed.producer_id.to_string(),
        listed.state.name().to_owned(),
    ]
}

fn described_row(described: &DescribedTransaction) -> Vec<String> {
    let (started, took) = (described.started_ms, described.started_ms);
    vec![
        described.coordinator.to_string(),
        described.transactional_id.clone(),
        described.producer.0.to_string(),
        described.producer.1.to_string(),
        described.state.name().to_owned(),
        described.timeout_ms.to_string(),
        or_none(started.map(|(at, _)| at)),
        or_none(took.map(|(_, span)| span)),
        described.partitions.join(","),
    ]
}

fn producer_row(producer: &ActiveProducer) -> Vec<String> {
    vec![
        producer.producer.0.to_string(),
        producer.producer.1.to_string(),
        or_minus_one(producer.coordinator_epoch),
        producer.last_sequence.to_string(),
        producer.last_timestamp_ms.to_string(),
        or_none(producer.start_offset),
    ]
}

fn hanging_row(hanging: &HangingTransaction) -> Vec<String> {
    let producer = &hanging.producer;
    let start = producer.start_offset;
    vec![
        hanging.topic.clone(),
        hanging.partition.to_string(),
        producer.producer.0.to_string(),
        producer.producer.1.to_string(),
        or_minus_one(producer.coordinator_epoch),
        start.map_or_else(|| "-1".to_owned(), |start| start.to_string()),
        producer.last_timestamp_ms.to_string(),
        hanging.minutes.to_string(),
    ]
}

fn or_none(value: Option<u64>) -> String {
    value.map_or_else(|| "None".to_owned(), |value| value.to_string())
}

fn or_minus_one(value: Option<u32>) -> String {
    value.map_or_else(|| "-1".to_owned(), |value| value.to_string())
}

/// `ToolsUtils.prettyPrintTable`: every cell as wide as its column, and a tab behind it.
fn pretty_print_table(headers: &[&str], rows: &[Vec<String>]) -> String {
    let width = |place: usize| {
        let cells = rows.iter().filter_map(|row| row.get(place));
        let widest = cells.map(|cell| cell.chars().count()).max();
        widest.unwrap_or(0).max(headers[place].len())
    };
    let widths: Vec<usize> = (0..headers.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells = cells.zip(&widths);
        let cells = cells.map(|(cell, &width)| format!("{cell:width$}\t"));
        cells.collect::<Vec<_>>().concat() + "\n"
    };
    let mut text = line(&mut headers.iter().copied());
    for row in rows {
        text.push_str(&line(&mut row.iter().map(String::as_str)));
    }
    text
}

impl AbortTransactionSpec {
    /// `AbortTransactionSpec.toString`.
    fn text(&self) -> String {
        let (id, epoch) = self.producer;
        format!(
            "AbortTransactionSpec(topicPartition={}, producerId={id}, producerEpoch={epoch}, \
             coordinatorEpoch={})",
            self.partition, self.coordinator_epoch
        )
    }

    /// What the tool prints when the leader refuses the marker.
    pub fn refused(&self, error: ErrorCode) -> String {
        let spec = self.text();
        let request = format!("WriteTxnMarkers request with {spec} failed");
        let why = match error {
            ErrorCode::InvalidProducerEpoch => {
                format!("{request} due an invalid producer epoch")
            }
            ErrorCode::TransactionCoordinatorFenced => format!(
                "{request} since the provided coordinator epoch {} has been fenced by the active \
                 coordinator",
                self.coordinator_epoch
            ),
            error => format!(
                "{request} due to unexpected error: {}",
                error.default_message()
            ),
        };
        failure(&format!("Failed to abort transaction {spec}"), &why)
    }
}

/// No open transaction begins where `abort --start-offset` says.
pub fn no_open_transaction(start_offset: u64, partition: &str) -> String {
    format!(
        "Could not find any open transactions starting at offset {start_offset} on partition \
         {partition}"
    )
}

/// `describe` of an id that no coordinator knows.
pub fn unknown_id(transactional_id: &str) -> String {
    let why = format!(
        "DescribeTransactions request for transactionalId `{transactional_id}` failed because the \
         ID could not be found"
    );
    undescribed(transactional_id, &why)
}

/// `describe` that failed.
pub fn undescribed(transactional_id: &str, why: &str) -> String {
    let what =
        format!("Failed to describe transaction state of transactional-id `{transactional_id}`");
    failure(&what, why)
}

/// `describe-producers` on a broker that is no replica.
pub fn no_replica(partition: &str, broker: u32) -> String {
    let what = format!("Failed to describe producers for partition {partition} on broker {broker}");
    let why = format!(
        "Failed to describe active producers for partition {partition} on brokerId {broker}"
    );
    failure(&what, &why)
}

/// What the tool prints when something failed (`TransactionsCommand.printErrorAndExit`).
pub fn failure(what: &str, why: &str) -> String {
    format!("{what}: {why}. Enable debug logging for additional detail.")
}
