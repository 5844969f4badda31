//! A log in segments: when one is closed, and which are too old or too many.
//!
//! Source: `LogSegment.shouldRoll`, `UnifiedLog.deleteOldSegments`. Simplifications: segments are
//! as old as their appends; `segment.jitter.ms` is 0; no index is ever full.

use std::collections::VecDeque;

use crate::kafka::settings::TopicSettings;
use crate::sim::time::{SimSpan, SimTime};

/// The segments of one log, oldest first; the last one is active.
#[derive(Clone, Debug, Default)]
pub struct Segments {
    list: VecDeque<Segment>,
}

/// A stretch of a log in one file.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Offset of its first record.
    pub base_offset: u64,
    /// Bytes appended to it.
    pub bytes: u64,
    /// When its first batch was appended.
    pub first_at: SimTime,
    /// When its last batch was appended.
    pub last_at: SimTime,
}

/// Which limit old segments are over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Retention {
    /// `retention.bytes`.
    Bytes,
    /// `retention.ms`.
    Time,
}

impl Segments {
    /// All of them, oldest first.
    pub fn list(&self) -> &VecDeque<Segment> {
        &self.list
    }

    /// The leader appended a batch: to the active segment, or to a new one.
    pub fn note_append(
        &mut self,
        settings: &TopicSettings,
        (base_offset, bytes): (u64, u32),
        now: SimTime,
    ) {
        let bytes = u64::from(bytes);
        let age_max = SimSpan::from_millis(settings.segment_ms);
        if let Some(active) = self.list.back_mut()
            && active.bytes + bytes <= u64::from(settings.segment_bytes)
            && now.since(active.first_at) <= age_max
        {
            active.bytes += bytes;
            active.last_at = now;
            return;
        }
        self.list.push_back(Segment {
            base_offset,
            bytes,
            first_at: now,
            last_at: now,
        });
    }

    /// The log was cut at an offset.
    pub fn truncate(&mut self, offset: u64) {
        while self
            .list
            .back()
            .is_some_and(|last| last.base_offset >= offset)
        {
            self.list.pop_back();
        }
    }

    /// Forgets the segments that begin before an offset.
    pub fn drop_before(&mut self, offset: u64) {
        self.list.retain(|segment| segment.base_offset >= offset);
    }

    /// The offset that the log begins with once everything over this limit is gone, if anything
    /// is. Segments go whole, from the oldest on, and only where consumers may read all of them;
    /// the active one goes, too.
    pub fn too_much(
        &self,
        limit: Retention,
        settings: &TopicSettings,
        (high_watermark, end_offset): (u64, u64),
        now: SimTime,
    ) -> Option<u64> {
        let bytes: u64 = self.list.iter().map(|segment| segment.bytes).sum();
        let mut over = match (limit, settings.retention_bytes) {
            (Retention::Bytes, limit) => bytes.saturating_sub(limit?),
            (Retention::Time, _) => 0,
        };
        let age_max = SimSpan::from_millis(settings.retention_ms.unwrap_or(u64::MAX));
        let mut starts_at = None;
        for (place, segment) in self.list.iter().enumerate() {
            let next = self.list.get(place + 1);
            let end = next.map_or(end_offset, |next| next.base_offset);
            let goes = match limit {
                Retention::Bytes => segment.bytes <= over,
                Retention::Time => {
                    settings.retention_ms.is_some() && now.since(segment.last_at) > age_max
                }
            };
            if !goes || end > high_watermark {
                break;
            }
            over = over.saturating_sub(segment.bytes);
            starts_at = Some(end);
        }
        starts_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four segments of two batches of 400 bytes and ten records each, one batch a second.
    fn segments() -> (Segments, TopicSettings) {
        let settings = TopicSettings {
            segment_bytes: 1_000,
            ..TopicSettings::defaults()
        };
        let mut segments = Segments::default();
        for second in 0..8 {
            let now = SimTime::from_seconds(second);
            segments.note_append(&settings, (second * 10, 400), now);
        }
        (segments, settings)
    }

    fn starts_at(limit: Retention, change: fn(&mut TopicSettings), second: u64) -> Option<u64> {
        let (segments, mut settings) = segments();
        change(&mut settings);
        let now = SimTime::from_seconds(second);
        segments.too_much(limit, &settings, (80, 80), now)
    }

    #[test]
    fn a_segment_goes_when_its_last_record_is_too_old() {
        let limited: fn(&mut TopicSettings) = |settings| settings.retention_ms = Some(5_000);
        assert_eq!(starts_at(Retention::Time, limited, 6), None);
        assert_eq!(starts_at(Retention::Time, limited, 7), Some(20));
        assert_eq!(starts_at(Retention::Time, limited, 9), Some(40));
    }

    #[test]
    fn the_active_segment_goes_too() {
        let limited: fn(&mut TopicSettings) = |settings| settings.retention_ms = Some(5_000);
        assert_eq!(starts_at(Retention::Time, limited, 60), Some(80));
    }

    #[test]
    fn as_much_stays_as_retention_bytes_and_less_than_a_segment_more() {
        let limited: fn(&mut TopicSettings) = |settings| settings.retention_bytes = Some(2_000);
        // 3,200 bytes: one segment of 800 goes, a second one would leave 1,600.
        assert_eq!(starts_at(Retention::Bytes, limited, 8), Some(20));
    }

    #[test]
    fn without_limits_everything_stays() {
        let unlimited: fn(&mut TopicSettings) = |settings| settings.retention_ms = None;
        assert_eq!(starts_at(Retention::Time, unlimited, 100), None);
        assert_eq!(starts_at(Retention::Bytes, unlimited, 100), None);
    }

    #[test]
    fn what_consumers_may_not_read_yet_stays() {
        let (segments, settings) = segments();
        let limited = TopicSettings {
            retention_ms: Some(1),
            ..settings
        };
        let now = SimTime::from_seconds(100);
        let start = segments.too_much(Retention::Time, &limited, (45, 80), now);
        assert_eq!(start, Some(40));
    }
}
