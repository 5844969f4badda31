//! Pure Kafka arithmetic.
