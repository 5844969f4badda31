//! Reusable pieces of screens. Each draws plain values and reads nothing else.

pub mod bar;
pub mod chart;
pub mod frame;
pub mod legend;
pub mod raster;
pub mod table;
pub mod timeline;
