//! Public reports with numbers, reproduced: the ids are those of the collection of cases.

mod blocking;
mod delivery;
mod growing;
mod librdkafka;
mod limits;
mod partitions;
mod transactions;
