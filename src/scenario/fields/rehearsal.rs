//! What makes a scenario a rehearsal: alerts, the playbook, what has to be reached.

use super::expect::{ANY, COUNT};
use super::{DURATION, Field, Kind, Merge, SHARE, TableSpec, default, optional, required};

const METRIC: Field = optional(
    "metric",
    Kind::Text,
    "a path: producer.trips.bufferpool-wait-ratio; looked at at every sample",
);
const BELOW: Field = optional(
    "below",
    ANY,
    "strictly below this, in the metric's own unit",
);
const ABOVE: Field = optional("above", ANY, "strictly above this");
const EQUALS: Field = optional("equals", ANY, "equal, to within rounding of the last digit");
const BETWEEN: Field = optional("between", Kind::List(&ANY), "[a, b], both ends included");
const GROWTH: Field = optional(
    "increase-over",
    DURATION,
    "the figure is what the metric grew by over this time, as PromQL's increase()",
);
const EVENT: Field = optional(
    "event",
    Kind::Name,
    "an exception that the application received, or a kind of event: leader-changed",
);
const PRODUCER: Field = optional("producer", Kind::Name, "only at this producer");
const OFTEN: Field = optional(
    "count",
    Kind::Table(&COUNT),
    "how often since the start; by default at least once",
);
const FOR: Field = default(
    "for",
    DURATION,
    "0s",
    "how long it must hold without a break",
);
const ALERT_NAME: Field = optional("alert", Kind::Text, "an alert that fires, by its name");

pub(crate) static REHEARSAL: TableSpec = TableSpec {
    name: "[rehearsal]",
    help: "What makes a scenario a rehearsal",
    fields: &[
        required(
            "briefing",
            Kind::Text,
            "what the person on call knows at the start",
        ),
        required(
            "cause",
            Kind::Text,
            "what really happened; told in the debrief",
        ),
        optional(
            "solution",
            Kind::List(&Kind::Text),
            "commands that win, each with its moment: \"at 75s broker start 2\" or, after the \
             first page, \"at page+5s broker start 2\"",
        ),
        optional(
            "trap",
            Kind::List(&Kind::Text),
            "what is usually tried and does not help, as in solution; told in the debrief",
        ),
        optional(
            "begins",
            DURATION,
            "nothing is decided before; by default the first moment of the timeline",
        ),
        optional(
            "deadline",
            DURATION,
            "it is lost when it is not won by then; by default the end of the run",
        ),
        optional(
            "objective",
            Kind::Table(&OBJECTIVE),
            "which share of records must be acknowledged in time: the error budget",
        ),
        optional(
            "vary",
            Kind::Tables(&VARY, Merge::Replace),
            "what is drawn anew by a seed, so that it cannot be learnt by heart",
        ),
    ],
};

static OBJECTIVE: TableSpec = TableSpec {
    name: "objective = { … }",
    help: "A service level objective; refused, failed, lost and late records count against it",
    fields: &[
        required("share", SHARE, "share of records that must be good"),
        default(
            "within",
            DURATION,
            "2s",
            "from a batch's first record to its acknowledgement",
        ),
    ],
};

static VARY: TableSpec = TableSpec {
    name: "vary = [{ … }]",
    help: "One value that is drawn anew: exactly one of between and one-of",
    fields: &[
        required(
            "path",
            Kind::Text,
            "what --set would change: cluster.append-rate, timeline.1.at",
        ),
        optional(
            "between",
            Kind::List(&Kind::Either(&[Kind::Text, ANY])),
            "[a, b]: durations, byte rates or numbers, both ends included",
        ),
        optional(
            "one-of",
            Kind::List(&Kind::Either(&[Kind::Text, ANY, Kind::List(&Kind::Text)])),
            "values of which one is taken",
        ),
        optional(
            "together",
            Kind::Name,
            "entries with the same word here take the same place of their `one-of`",
        ),
    ],
};

pub(crate) static ALERT: TableSpec = TableSpec {
    name: "[[alert]]",
    help: "A rule that pages, inactive, pending, firing and resolved as Prometheus has it; it \
           looks at every sample",
    fields: &[
        required("name", Kind::Text, "what the page is called"),
        METRIC,
        BELOW,
        ABOVE,
        EQUALS,
        BETWEEN,
        GROWTH,
        EVENT,
        PRODUCER,
        OFTEN,
        FOR,
        optional("say", Kind::Text, "what the page says"),
    ],
};

static CONDITION: TableSpec = TableSpec {
    name: "when = { … }",
    help: "A condition: exactly one of metric, event and alert",
    fields: &[
        METRIC, BELOW, ABOVE, EQUALS, BETWEEN, GROWTH, EVENT, PRODUCER, OFTEN, ALERT_NAME, FOR,
    ],
};

pub(crate) static VICTORY: TableSpec = TableSpec {
    name: "[[victory]]",
    help: "What has to be reached; all of them at once, after the first page",
    fields: &[
        optional(
            "name",
            Kind::Text,
            "a sentence; by default one is made from the parts",
        ),
        METRIC,
        BELOW,
        ABOVE,
        EQUALS,
        BETWEEN,
        GROWTH,
        EVENT,
        PRODUCER,
        OFTEN,
        FOR,
    ],
};

pub(crate) static STEP: TableSpec = TableSpec {
    name: "[[step]]",
    help: "One step of the playbook",
    fields: &[
        required(
            "when",
            Kind::Either(&[DURATION, Kind::Table(&CONDITION)]),
            "when it opens: a moment, or a condition such as { alert = \"SendErrors\" }",
        ),
        required("say", Kind::Text, "what is told then"),
        optional(
            "require",
            Kind::Either(&[
                Kind::Command,
                Kind::List(&Kind::Command),
                Kind::Table(&CONDITION),
            ]),
            "what has to be done: a command, one of several, or a condition",
        ),
        optional(
            "before",
            DURATION,
            "how long after it opened at most; later costs score",
        ),
        optional(
            "hints",
            Kind::List(&Kind::Text),
            "what helps, the vaguest first; each costs score",
        ),
    ],
};
