//! The ledger: every record in its class, and the causes of duplicates.

use crate::insight::ledger::{Account, Audit, DuplicateCause};
use crate::insight::names;
use crate::report::model::{Fates, LedgerSummary};
use crate::session::Session;
use crate::sim::ids::ProducerIndex;

/// What became of every record of a run.
pub(super) fn of(session: &Session) -> LedgerSummary {
    let (simulation, insight) = (session.simulation(), session.insight());
    let config = simulation.config();
    let producers = (0..config.producers.len()).map(|place| ProducerIndex(place as u16));
    let of_producer = |producer: ProducerIndex| {
        let sent = simulation.producer_totals(producer).records_sent;
        let account = insight.ledger().account_of(producer, sent);
        (
            names::producer(config, producer).to_owned(),
            fates(&account),
        )
    };
    let (logs_agreeing, difference) = match insight.audit() {
        Audit::NothingSeen => (0, None),
        Audit::Agrees(logs) => (*logs, None),
        Audit::Differs(text) => (0, Some(text.clone())),
    };
    LedgerSummary {
        all: fates(&insight.account(simulation)),
        producers: producers.map(of_producer).collect(),
        logs_agreeing,
        difference,
    }
}

fn fates(account: &Account) -> Fates {
    let tally = &account.tally;
    let causes = DuplicateCause::ALL.into_iter();
    let causes = causes.map(|cause| (cause.name().to_owned(), tally.duplicated_by(cause)));
    Fates {
        records_acked_present: tally.acknowledged_present,
        records_lost_acknowledged: tally.acknowledged_lost,
        records_unconfirmed: tally.unconfirmed,
        records_failed_absent: tally.failed_absent,
        records_failed_present: tally.failed_present,
        records_abandoned_absent: tally.abandoned_absent,
        records_abandoned_present: tally.abandoned_present,
        records_refused: tally.refused,
        records_under_way: account.under_way,
        records_duplicated: tally.duplicated,
        duplicated: causes.filter(|(_, count)| *count > 0).collect(),
        records_reordered: tally.reordered,
    }
}
