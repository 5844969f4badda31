//! Fetching: one request to a broker at a time, for every partition without buffered records.
//!
//! Source: `AbstractFetch`, `FetchCollector`. Requests go out from `poll()` only, so while the
//! application is busy nothing is asked for beyond what is on its way.

use crate::kafka::error::ErrorCode;
use crate::sim::consumer::Consumer;
use crate::sim::consumer::call::{Ask, Fetch, FetchPart};
use crate::sim::consumer::connections::{About, Sent};
use crate::sim::context::Context;
use crate::sim::ids::{BrokerIndex, PartitionIndex};
use crate::sim::network::Lane;
use crate::sim::time::{SimSpan, SimTime};

/// A fetch request whose session (KIP-227) lists nothing that changed, and each partition that did:
/// estimates.
const FETCH_REQUEST_BYTES: u32 = 110;
const FETCH_REQUEST_PARTITION_BYTES: u32 = 33;

/// One partition that a consumer reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assigned {
    pub(super) partition: PartitionIndex,
    pub(super) position: Position,
    pub(super) fetch: FetchState,
    /// After an error: not before this moment.
    pub(super) not_before: SimTime,
    /// When it last was in a request, counted in fetches.
    turn: u64,
    /// Its next offset when it last committed, to see what is new.
    pub(super) committed: Option<u64>,
}

/// How far a partition is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// The group's committed offset is still to be asked for.
    Unknown,
    /// There is no offset to go on from: `auto.offset.reset` decides.
    Reset,
    /// The next offset that `poll()` returns.
    At(u64),
}

/// Where a partition's records are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FetchState {
    /// Nowhere: they can be asked for.
    Idle,
    /// Asked for.
    UnderWay(BrokerIndex),
    /// Here, not yet returned by `poll()`.
    Buffered,
}

/// Offsets of one partition from one answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffered {
    pub(super) partition: PartitionIndex,
    pub(super) content: Content,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) bytes: u64,
    /// How long decompressing them takes, in nanoseconds.
    pub(super) decompression_ns: u64,
    pub(super) high_watermark: u64,
}

/// What offsets hold for the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Records.
    Records,
    /// Control records or aborted ones: the position moves over them.
    Hidden,
}

impl Assigned {
    pub(super) fn new(partition: PartitionIndex) -> Self {
        Self {
            partition,
            position: Position::Unknown,
            fetch: FetchState::Idle,
            not_before: SimTime::ZERO,
            turn: 0,
            committed: None,
        }
    }

    /// The next offset that `poll()` returns, once known.
    pub(super) fn next_offset(&self) -> Option<u64> {
        match self.position {
            Position::At(offset) => Some(offset),
            Position::Unknown | Position::Reset => None,
        }
    }
}

impl Consumer {
    pub(super) fn assigned_mut(&mut self, partition: PartitionIndex) -> Option<&mut Assigned> {
        self.assigned
            .iter_mut()
            .find(|assigned| assigned.partition == partition)
    }

    pub(super) fn set_fetch_state(&mut self, partition: PartitionIndex, state: FetchState) {
        if let Some(assigned) = self.assigned_mut(partition) {
            assigned.fetch = state;
        }
    }

    pub(super) fn advance_position(&mut self, partition: PartitionIndex, offset: u64) {
        if let Some(assigned) = self.assigned_mut(partition) {
            assigned.position = Position::At(offset);
        }
    }

    /// Asks every leader without a fetch under way for what can be asked for there.
    pub(super) fn send_fetches(&mut self, ctx: &mut Context<'_>) {
        for broker in 0..ctx.config.brokers.len() as u16 {
            let broker = BrokerIndex(broker);
            if !self.is_asking_at(About::Fetch, broker) {
                self.send_fetch(ctx, broker);
            }
        }
        if self.has_leaderless() {
            self.metadata.request_update();
        }
    }

    fn send_fetch(&mut self, ctx: &mut Context<'_>, broker: BrokerIndex) {
        let mut wanted: Vec<(u64, usize, u64)> = Vec::new();
        let mut wake = SimTime::NEVER;
        for (place, assigned) in self.assigned.iter().enumerate() {
            let Some(from) = assigned.next_offset() else {
                continue;
            };
            let is_here = self.metadata.leader(assigned.partition) == Some(broker);
            if !is_here || assigned.fetch != FetchState::Idle {
                continue;
            }
            if assigned.not_before > ctx.now {
                wake = wake.min(assigned.not_before);
            } else {
                wanted.push((assigned.turn, place, from));
            }
        }
        self.wake_by(wake);
        if wanted.is_empty() || !self.approach(ctx, broker, Lane::Regular) {
            return;
        }
        // Partitions take turns: those that were asked for longest ago come first.
        wanted.sort_unstable();
        self.fetches += 1;
        let mut parts = Vec::with_capacity(wanted.len());
        for (_, place, from) in wanted {
            let assigned = &mut self.assigned[place];
            assigned.fetch = FetchState::UnderWay(broker);
            assigned.turn = self.fetches;
            parts.push(FetchPart {
                partition: assigned.partition,
                from,
                to: from,
                bytes: 0,
                decompression: SimSpan::ZERO,
                high_watermark: 0,
                error: None,
            });
        }
        let bytes = FETCH_REQUEST_BYTES + FETCH_REQUEST_PARTITION_BYTES * parts.len() as u32;
        let limits = self.settings.fetch;
        let hidden = Vec::new();
        let ask = Ask::Fetch(Fetch {
            limits,
            parts,
            hidden,
        });
        self.call(ctx, (broker, Lane::Regular), (About::Fetch, ask), bytes);
    }

    /// Whether some partition has nobody to be asked, as far as metadata says.
    fn has_leaderless(&self) -> bool {
        self.assigned.iter().any(|assigned| {
            assigned.next_offset().is_some() && self.metadata.leader(assigned.partition).is_none()
        })
    }

    /// A fetch was answered.
    pub(super) fn on_fetched(&mut self, ctx: &mut Context<'_>, fetch: &Fetch, took: SimSpan) {
        let (mut records, mut bytes) = (0, 0);
        for part in &fetch.parts {
            let backoff = SimSpan::from_millis(self.settings.retry_backoff.initial_ms);
            let retry_at = ctx.now + backoff;
            let Some(assigned) = self.assigned_mut(part.partition) else {
                continue;
            };
            // What was revoked, or moved, since the request is not wanted any more.
            let is_wanted = matches!(assigned.fetch, FetchState::UnderWay(_))
                && assigned.next_offset() == Some(part.from);
            if !is_wanted {
                continue;
            }
            match part.error {
                None if part.to > part.from => {
                    assigned.fetch = FetchState::Buffered;
                    records += self.buffer(part, &fetch.hidden);
                    bytes += part.bytes;
                }
                None => assigned.fetch = FetchState::Idle,
                Some(ErrorCode::OffsetOutOfRange) => {
                    assigned.fetch = FetchState::Idle;
                    assigned.position = Position::Reset;
                }
                Some(_) => {
                    assigned.fetch = FetchState::Idle;
                    assigned.not_before = retry_at;
                    self.metadata.request_update();
                }
            }
        }
        self.metrics.fetched(records, bytes, took, ctx.now);
        self.totals.fetches += 1;
    }

    /// Keeps what came of a partition for `poll()`; says how many records it can return.
    fn buffer(&mut self, part: &FetchPart, hidden: &[(PartitionIndex, u64, u64)]) -> u64 {
        let (mut from, mut records) = (part.from, 0);
        let own = hidden
            .iter()
            .filter(|(partition, ..)| *partition == part.partition);
        for &(_, hidden_from, hidden_to) in own {
            records += self.buffer_stretch(part, (from, hidden_from), Content::Records);
            self.buffer_stretch(part, (hidden_from, hidden_to), Content::Hidden);
            from = hidden_to;
        }
        records + self.buffer_stretch(part, (from, part.to), Content::Records)
    }

    fn buffer_stretch(
        &mut self,
        part: &FetchPart,
        (from, to): (u64, u64),
        content: Content,
    ) -> u64 {
        if from >= to {
            return 0;
        }
        // A batch's bytes are spread evenly here.
        let (some, all) = (u128::from(to - from), u128::from(part.to - part.from));
        let share = |of: u64| (u128::from(of) * some / all) as u64;
        self.buffered.push_back(Buffered {
            partition: part.partition,
            content,
            from,
            to,
            bytes: share(part.bytes),
            decompression_ns: share(part.decompression.as_nanos()),
            high_watermark: part.high_watermark,
        });
        to - from
    }

    /// What was fetched of a partition may be returned by now: then it is asked for again.
    pub(super) fn note_returned(&mut self, partition: PartitionIndex) {
        let mut buffered = self.buffered.iter();
        if !buffered.any(|other| other.partition == partition) {
            self.set_fetch_state(partition, FetchState::Idle);
        }
    }

    /// A fetch was lost with its connection.
    pub(super) fn on_fetch_lost(&mut self, ctx: &Context<'_>, sent: Sent) {
        let backoff = SimSpan::from_millis(self.settings.retry_backoff.initial_ms);
        for assigned in &mut self.assigned {
            if assigned.fetch == FetchState::UnderWay(sent.broker) {
                assigned.fetch = FetchState::Idle;
                assigned.not_before = ctx.now + backoff;
            }
        }
        self.metadata.request_update();
    }
}
