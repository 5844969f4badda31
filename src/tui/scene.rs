//! What a frame is drawn from: the screen's state and the run, both only read.

use crate::insight::metric::{Metric, PartitionFigure};
use crate::insight::names;
use crate::kafka::settings::JavaProducerSettings;
use crate::rehearsal::plan::Secrecy;
use crate::session::Session;
use crate::sim::config::Config;
use crate::sim::ids::{PartitionIndex, ProducerIndex};
use crate::sim::time::{SimSpan, SimTime};
use crate::sim::view::{ProducerView, QueueView};
use crate::tui::layout::Wants;
use crate::tui::model::{Detail, Model, Rehearsing};
use crate::tui::pane::Pane;
use crate::tui::seek::{self, Marks};
use crate::tui::theme::Theme;
use crate::tui::widget::chart::Sample;
use crate::tui::widget::raster::DOTS_X;
use crate::tui::zoom::TimeWindow;

/// Partitions whose rates panes ask for at most.
const PARTITIONS_ASKED_MAX: usize = 128;

/// What a frame is drawn from.
#[derive(Debug)]
pub struct Scene<'a> {
    /// The state of the screen.
    pub model: &'a Model,
    /// The run.
    pub session: &'a Session,
    /// Moments of faults and other commands, past and to come, in order.
    pub faults: Vec<SimTime>,
    /// The other branch, where the run was split: axes are shared with it.
    beside: Option<&'a Session>,
}

/// Asks the session to sample what panes show beyond what it samples anyway. The run does not
/// notice; where there is no room for more, panes show a dash.
pub fn ask_for_series(session: &mut Session) {
    let partitions = session.simulation().partitions();
    let names: Vec<_> = partitions
        .take(PARTITIONS_ASKED_MAX)
        .map(PartitionIndex::name)
        .collect();
    for name in names {
        let metric = Metric::Partition(name, PartitionFigure::BytesInRate);
        if session.ask(metric).is_err() {
            return;
        }
    }
}

/// Whether what would tell the cause is hidden now.
pub(crate) fn is_secret(model: &Model, session: &Session) -> bool {
    let plan = session.scenario().plan.as_ref();
    let is_blind = plan.is_some_and(|plan| plan.secrecy == Secrecy::Blind);
    is_blind
        && matches!(
            model.rehearsing,
            Rehearsing::Briefing | Rehearsing::UnderWay
        )
}

/// What stands in a pane's place.
#[derive(Clone, Debug)]
pub enum Content {
    /// What the pane shows of Java producers and of everything else.
    Usual(Pane),
    /// librdkafka's queue, where the accumulator of a Java producer stands.
    Queue(QueueView),
    /// What a full queue of librdkafka does, where `bufferpool-wait-ratio` stands.
    Room(QueueView),
    /// Consumer groups, where transaction markers stand while no producer is transactional.
    Consumers,
    /// Alerts, steps and goals, where expectations stand in a scenario that is no rehearsal.
    Playbook,
}

impl Content {
    /// The title of the pane.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Usual(pane) => pane.name(),
            Self::Queue(_) => "Queue: messages, bytes",
            Self::Room(_) => "QUEUE_FULL, time blocked",
            Self::Consumers => "Consumers",
            Self::Playbook => "Playbook",
        }
    }
}

impl<'a> Scene<'a> {
    /// The scene now.
    pub fn new(model: &'a Model, session: &'a Session) -> Self {
        // What is to be found out has no mark.
        let marks = if is_secret(model, session) {
            Marks::Typed
        } else {
            Marks::All
        };
        Self {
            model,
            session,
            faults: seek::faults(session, marks),
            beside: None,
        }
    }

    /// The scene of one of two branches.
    #[must_use]
    pub fn beside(self, beside: Option<&'a Session>) -> Self {
        Self { beside, ..self }
    }

    /// The scene of the other branch.
    pub fn other(&self) -> Option<Self> {
        let beside = self.beside?;
        Some(Self::new(self.model, beside).beside(Some(self.session)))
    }

    /// What the run would like to show.
    pub fn wants(&self) -> Wants {
        let cells = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        let config = self.config();
        Wants {
            partitions: cells(self.session.simulation().partitions().count()),
            machines: cells(config.brokers.len().saturating_add(config.producers.len())),
            consumers: cells(config.groups.len().saturating_add(config.consumers.len())),
            lanes: cells(self.lane_lines()),
            expectations: cells(self.session.insight().judgements().len()),
            playbook: cells(self.playbook_lines()),
        }
    }

    /// Lines that a playbook may come to need, about; 0 where there is none.
    fn playbook_lines(&self) -> usize {
        let plan = self.session.scenario().plan.as_ref();
        plan.map_or(0, |plan| {
            2 + 2 * plan.alerts.len() + plan.victory.len() + 2 * plan.steps.len()
        })
    }

    /// Lines that lanes and transactional ids may come to need: nothing moves when they do.
    fn lane_lines(&self) -> usize {
        let producers = self.config().producers.iter();
        let mut ids: Vec<_> = producers
            .filter_map(|producer| producer.client.transactional_id())
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let partitions = self.session.simulation().partitions().count();
        if ids.is_empty() {
            0
        } else {
            3 * ids.len() + 2 * partitions
        }
    }

    /// What stands in a pane's place in this run.
    pub fn content(&self, pane: Pane) -> Content {
        match (pane, self.queue()) {
            (Pane::Fill, Some(queue)) => Content::Queue(queue),
            (Pane::Wait, Some(queue)) => Content::Room(queue),
            (Pane::Markers, _) if self.shows_consumers() => Content::Consumers,
            (Pane::Expectations, _) if self.session.rehearsal().is_some() => Content::Playbook,
            _ => Content::Usual(pane),
        }
    }

    /// The name of what stands in a pane's place where there is little room.
    pub fn short_name(&self, pane: Pane) -> &'static str {
        match self.content(pane) {
            Content::Playbook => "Play",
            _ => pane.short_name(),
        }
    }

    /// Whether consumer groups stand where markers would.
    fn shows_consumers(&self) -> bool {
        let config = self.config();
        !config.groups.is_empty() && !config.is_transactional()
    }

    /// Whether what would tell the cause is hidden: in a blind rehearsal, until it is decided.
    pub fn is_secret(&self) -> bool {
        is_secret(self.model, self.session)
    }

    /// Looks.
    pub fn theme(&self) -> &'a Theme {
        &self.model.theme
    }

    /// What is run.
    pub fn config(&self) -> &'a Config {
        self.session.simulation().config()
    }

    /// The present.
    pub fn now(&self) -> SimTime {
        self.session.now()
    }

    /// Simulated time on the charts.
    pub fn window(&self) -> TimeWindow {
        self.model.zoom.window(self.now(), self.session.end())
    }

    /// Whether a pane has the whole screen.
    pub fn is_expanded(&self) -> bool {
        self.model.detail == Detail::Expanded
    }

    /// The producer that panes of one producer show, if there is any.
    pub fn producer(&self) -> Option<ProducerIndex> {
        let last = self.config().producers.len().checked_sub(1)?;
        Some(ProducerIndex(self.model.producer.min(last) as u16))
    }

    /// A producer's state now.
    pub fn view(&self, producer: ProducerIndex) -> ProducerView {
        self.session.simulation().producer(producer)
    }

    /// A producer's name, and its place among several.
    pub fn producer_words(&self, producer: ProducerIndex) -> String {
        let name = names::producer(self.config(), producer);
        match self.config().producers.len() {
            1 => name.to_owned(),
            count => format!("{name} ({} of {count})", producer.index() + 1),
        }
    }

    /// The client settings of a producer with a Java client.
    pub fn settings(&self, producer: ProducerIndex) -> Option<&'a JavaProducerSettings> {
        self.config()
            .producers
            .get(producer.index())
            .and_then(|producer| producer.client.java())
    }

    /// The queue of the producer that the scene shows, if librdkafka is its client.
    pub fn queue(&self) -> Option<QueueView> {
        self.view(self.producer()?).queue
    }

    /// A figure over the window of the charts, two samples for each of `cells`.
    pub fn samples(&self, metric: Metric, cells: u16) -> Vec<Option<Sample>> {
        let columns = usize::from(cells) * DOTS_X;
        let Some(series) = self.session.insight().series(metric) else {
            return vec![None; columns];
        };
        let window = self.window();
        series
            .columns(window.from, window.to, columns)
            .iter()
            .map(|bucket| {
                bucket.mean().map(|mean| Sample {
                    min: bucket.min,
                    mean,
                    max: bucket.max,
                })
            })
            .collect()
    }

    /// The mean of a figure over the last while, if it is sampled and had a value.
    pub fn recent(&self, metric: Metric, span: SimSpan) -> Option<f64> {
        let series = self.session.insight().series(metric)?;
        let span = span.max(series.bucket_span());
        let to = self.now() + SimSpan::from_nanos(1);
        series.columns(to - span, to, 1).first()?.mean()
    }

    /// A figure at the last sample, if it is sampled and had a value.
    pub fn last(&self, metric: Metric) -> Option<f64> {
        let series = self.session.insight().series(metric)?;
        // Not `Series::last`, which walks through all buckets.
        let bucket = series.buckets().next_back()?;
        (!bucket.is_empty()).then_some(bucket.last)
    }
}
