//! Folds over facts and samples: series, histograms, warnings, expectations, the ledger.

pub mod expectation;
