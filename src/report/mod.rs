//! What a run amounts to, and the formats that say so.
//!
//! One [`Report`] model, one file per format. Invariants: no figure of a real clock, keys sorted,
//! floats rounded to six decimals, `null` where a figure does not exist; so two equal runs give
//! equal bytes.

mod build;
mod csv;
mod exposition;
mod json;
mod junit;
mod model;
mod openmetrics;
pub mod output;
mod text;

pub use model::{
    ConsumerSummary, Expected, Fates, Happening, Latencies, LedgerSummary, Measured, MetricSummary,
    PartitionSummary, ProducerSummary, RecordStory, Report, SeriesRow, StoryStep, Totals,
    TransactionSummary, Warned,
};

/// What a report is written as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people, 80 columns wide.
    #[default]
    Text,
    /// For programs.
    Json,
    /// For CI servers: a suite a scenario, a case an expectation.
    Junit,
    /// The sampled series, a row a bucket.
    Csv,
    /// The same for Prometheus, with moments.
    Openmetrics,
}

impl Format {
    /// Whether it shows the sampled series.
    pub const fn shows_series(self) -> bool {
        matches!(self, Self::Csv | Self::Openmetrics)
    }
}

/// One scenario of an invocation.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It ran.
    Ran(Box<Report>),
    /// It could not be loaded.
    Unloadable {
        /// Its name or path, as given.
        scenario: String,
        /// What is wrong, as shown to people.
        problem: String,
    },
}

/// All scenarios of an invocation, as one text.
pub fn render(outcomes: &[Outcome], format: Format) -> String {
    match format {
        Format::Text => text::render(outcomes),
        Format::Json => json::render(outcomes),
        Format::Junit => junit::render(outcomes),
        Format::Csv => csv::render(outcomes),
        Format::Openmetrics => openmetrics::render(outcomes),
    }
}
