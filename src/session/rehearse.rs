//! The rehearsal's side of a session: what was typed, hints, pages, the debrief.
//!
//! Deeds are remembered beside the journal: going back in time keeps them, as it keeps the
//! journal, until another command is given.

use crate::rehearsal::debrief::Debrief;
use crate::rehearsal::typed::{DEEDS_MAX, Deed, DeedKind};
use crate::rehearsal::{Rehearsal, Verdict};

use super::Session;

impl Session {
    /// The rehearsal, where the scenario is one.
    pub fn rehearsal(&self) -> Option<&Rehearsal> {
        self.rehearsal.as_ref()
    }

    /// What the person did, in order; after going back, also what lies ahead.
    pub fn deeds(&self) -> &[Deed] {
        &self.deeds
    }

    /// How the rehearsal stands.
    pub fn verdict(&self) -> Verdict {
        self.rehearsal
            .as_ref()
            .map_or(Verdict::UnderWay, |rehearsal| {
                rehearsal.verdict(&self.deeds)
            })
    }

    /// What the rehearsal came to so far.
    pub fn debrief(&self) -> Option<Debrief> {
        let rehearsal = self.rehearsal.as_ref()?;
        let names = (self.scenario.name.as_str(), self.scenario.title.as_str());
        Some(Debrief::of(
            names,
            (rehearsal, &self.deeds),
            &self.insight,
            &self.simulation,
        ))
    }

    /// The next hint, which costs score.
    pub fn take_hint(&mut self) -> Option<String> {
        let rehearsal = self.rehearsal.as_ref()?;
        let (id, text) = rehearsal.next_hint(&self.deeds)?;
        let text = text.to_owned();
        self.remember(&text, DeedKind::Hint(id));
        Some(text)
    }

    /// Somebody has seen that an alert fires.
    pub fn acknowledge(&mut self, alert: &str) {
        self.remember(alert, DeedKind::Acknowledged);
    }

    /// Somebody looks at something on the screen. Only the first look after a page is remembered:
    /// it is the one that tells when the page was noticed.
    pub fn viewed(&mut self, what: &str) {
        let Some(page) = self.rehearsal.as_ref().and_then(|all| all.pages().last()) else {
            return;
        };
        let (fired, now) = (page.fired, self.now());
        let mut since = self.deeds.iter().filter(|deed| fired <= deed.at);
        if !since.any(|deed| deed.at <= now && deed.kind.is_detection()) {
            self.remember(what, DeedKind::Viewed);
        }
    }

    /// The rehearsal is lost, and its cause may be told.
    pub fn give_up(&mut self) {
        if self.verdict() == Verdict::UnderWay {
            self.remember("give-up", DeedKind::GaveUp);
        }
    }

    /// Remembers what somebody did, where it is a rehearsal.
    pub(super) fn remember(&mut self, line: &str, kind: DeedKind) {
        if self.rehearsal.is_none() || DEEDS_MAX <= self.deeds.len() {
            return;
        }
        let at = self.now();
        // What was done after going back comes before what lies ahead.
        let place = self.deeds.partition_point(|deed| deed.at <= at);
        let line = line.trim().to_owned();
        self.deeds.insert(place, Deed { at, line, kind });
    }
}
