//! What is said against broken files, as a person sees it.

use super::*;

/// Several texts, each with what is said against it.
fn all(texts: &[String]) -> String {
    texts
        .iter()
        .map(|text| refused(text))
        .collect::<Vec<_>>()
        .join("\n")
}

fn replaced(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from}");
    SMALL.replace(from, to)
}

#[test]
fn syntax_errors_have_carets_and_the_rest_is_still_checked() {
    golden(
        "syntax_errors_have_carets_and_the_rest_is_still_checked",
        &all(&[
            replaced("duration = \"60s\"", "duration = 60s\ncolour = 1"),
            replaced("[cluster]", "[cluster"),
            replaced("name = \"trips\"", "name = \"trips\"\nname = \"fares\""),
            replaced(
                "name = \"trips\"",
                "name = \"trips\"\nconfig.sasl.mechanism = \"PLAIN\"\nconfig.sasl.mechanism.x = 1",
            ),
        ]),
    );
}

#[test]
fn unknown_and_missing_keys() {
    golden(
        "unknown_and_missing_keys",
        &all(&[
            replaced("brokers = 3", "broker = 3"),
            replaced("rate = 100", "rates = 100\nlinger.ms = 5"),
            replaced("[[producer]]", "[[producers]]"),
            replaced("[[topic]]", "[topic]"),
            "title = \"x\"\n".to_owned(),
            String::new(),
        ]),
    );
}

#[test]
fn wrong_types_units_and_bounds() {
    golden(
        "wrong_types_units_and_bounds",
        &all(&[
            replaced("duration = \"60s\"", "duration = 60"),
            replaced("duration = \"60s\"", "duration = \"60 sec\""),
            replaced("duration = \"60s\"", "duration = \"-1s\""),
            replaced("duration = \"60s\"", "duration = \"9000000h\""),
            replaced("duration = \"60s\"", "duration = \"0s\""),
            replaced("partitions = 6", "partitions = 1000000000"),
            replaced("partitions = 6", "partitions = \"6\""),
            replaced(
                "partitions = 6",
                "partitions = 99999999999999999999999999999999999999999",
            ),
            replaced("rate = 100", "rate = 0"),
            replaced("rate = 100", "rate = -5"),
            replaced("rate = 100", "rate = \"fast\""),
            replaced("rate = 100", "rate = nan"),
            replaced("rate = 100", "rate = 100000000"),
            small_and("await = \"eech\"\n"),
            replaced(
                "rate = 100",
                "rate = [{ from = \"5s\", rate = 1 }, { from = \"5s\", rate = 2 }]",
            ),
            replaced(
                "brokers = 3",
                "brokers = 3\nappend-rate = \"99999999999999TiB/s\"",
            ),
            replaced("brokers = 3", "brokers = 3\nappend-rate = \"2MiB\""),
            replaced(
                "brokers = 3",
                "brokers = 3\nlink = { rtt = \"0s\", bandwidth = \"0B/s\" }",
            ),
            replaced("title = \"Small\"", "title = \"Small\"\nkafka = \"3.9\""),
            replaced("title = \"Small\"", "title = \"Small\"\nkafka = \"four\""),
            replaced(
                "title = \"Small\"",
                "title = \"Small\"\nstart = \"yesterday\"",
            ),
            small_and("value = { bytes = 99999999999 }\n"),
            small_and("pacing = \"close\"\n"),
        ]),
    );
}

#[test]
fn control_characters_are_refused_and_never_shown() {
    let text = all(&[
        replaced("title = \"Small\"", "title = \"\\u001b[2Jgone\""),
        replaced("name = \"trips\"", "name = \"tr\\u001b]0;x\\u0007ips\""),
        replaced("name = \"events\"", "name = \"e\u{202e}vents\""),
        replaced("[cluster]", "[cluster]\n\"\\u001b[31m\" = 1"),
    ]);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{7}') && !text.contains('\u{202e}'));
    golden("control_characters_are_refused_and_never_shown", &text);
}

#[test]
fn names_that_clash_or_are_not_there() {
    golden(
        "names_that_clash_or_are_not_there",
        &all(&[
            small_and(
                "\n[[producer]]\nname = \"trips\"\n[[producer.load]]\ntopic = \"events\"\nrate = 1\n",
            ),
            small_and("\n[[topic]]\nname = \"events\"\n"),
            replaced("name = \"trips\"", "name = \"7\""),
            replaced("brokers = 3", "brokers = 3\n[[broker]]\nid = 9"),
            replaced(
                "partitions = 6",
                "partitions = 6\nleaders = [1, 9]\nstart-offsets = { 6 = 1 }",
            ),
            replaced("partitions = 6", "partitions = 6\nreplication-factor = 4"),
            small_and("\n[[link]]\nbetween = [\"trip\", 1]\nrtt = \"5ms\"\n"),
            small_and("\n[[timeline]]\nat = \"5s\"\ndo = \"link cut trip *\"\n"),
        ]),
    );
}

#[test]
fn times_outside_the_run_and_bad_commands() {
    golden(
        "times_outside_the_run_and_bad_commands",
        &all(&[
            small_and("\n[[timeline]]\nat = \"-5s\"\ndo = \"broker kill 1\"\n"),
            small_and("\n[[timeline]]\nat = \"61s\"\ndo = \"broker kill 1\"\n"),
            small_and("\n[[timeline]]\nat = \"1s\"\ndo = 'broker kill 1 --lose-tail \"many\"'\n"),
            small_and("\n[[timeline]]\nat = \"1s\"\ndo = \"broker \\u006bil 1\"\n"),
            small_and("\n[[timeline]]\nat = \"1s\"\ndo = \"coordinator kill t\"\n"),
            small_and("\n[[producer.script]]\nat = \"2s\"\ndo = 'produce events part=1'\n"),
            small_and("\n[[producer.script]]\ndo = 'close soon'\n"),
        ]),
    );
}

#[test]
fn consumers_that_cannot_be() {
    let consumer = |more: &str| {
        small_and(&format!(
            "\n[[consumer]]\ngroup = \"readers\"\ntopic = \"events\"\n{more}\n"
        ))
    };
    golden(
        "consumers_that_cannot_be",
        &all(&[
            consumer("config.auto.offset.reset = \"earlist\""),
            consumer("config.session.timeout.ms = 3000"),
            consumer("config.partition.assignment.strategy = \"RangeAssigner\""),
            consumer("config.fetch.min.byte = 5"),
            consumer("rate = 0"),
            consumer("members = 2000"),
            consumer("config.group.id = \"other\""),
            small_and("\n[[consumer]]\ngroup = \"trips\"\ntopic = \"events\"\n"),
            small_and("\n[[consumer]]\ngroup = \"7\"\ntopic = []\n"),
            small_and("\n[[consumer]]\ngroup = \"g\"\ntopic = \"event\"\n"),
            consumer("\n[[timeline]]\nat = \"1s\"\ndo = \"consumer crash readers/2\"\n"),
            consumer("\n[[expect]]\nmetric = \"consumer.readers.kdrill-lagg\"\nabove = 1\n"),
        ]),
    );
}

#[test]
fn what_is_not_yet_in_this_version_says_so() {
    golden(
        "what_is_not_yet_in_this_version_says_so",
        &all(&[
            small_and("transaction = { records = 5 }\nsource = { group = \"g\" }\n"),
            small_and("\n[[consumer]]\ngroup = \"g\"\ntopic = \"events\"\nisolation = \"x\"\n"),
            replaced(
                "name = \"trips\"",
                "name = \"trips\"\nconfig.transactional.id = \"t\"",
            ),
        ]),
    );
}

#[test]
fn keys_and_values_in_the_wrong_words() {
    golden(
        "keys_and_values_in_the_wrong_words",
        &all(&[
            small_and("key = { uniform = 5, zipf = 1.1 }\n"),
            small_and("key = { zipf = 1.1 }\n"),
            small_and("key = { uniform = 5, format = \"same\" }\n"),
            small_and("key = { uniform = 2000000 }\n"),
            small_and("key = { weighted = [\"a\"], as = \"int32\" }\n"),
            small_and("key = []\n"),
            small_and("key = { file = \"keys.txt\" }\n"),
            small_and("value = { min = 5 }\n"),
            small_and("value = { min = 5, max = 4 }\n"),
            small_and(
                "throttle = { metric = \"bufferpool-wait-ration\", above = 0.1, factor = 2 }\n",
            ),
            small_and(
                &"[[producer.load]]\ntopic = \"events\"\nrate = 1\nkey = { cycle = 1000000 }\n"
                    .repeat(5),
            ),
        ]),
    );
}

#[test]
fn the_client_itself_refuses_its_configuration() {
    let config =
        |config: &str| replaced("name = \"trips\"", &format!("name = \"trips\"\n{config}"));
    golden(
        "the_client_itself_refuses_its_configuration",
        &all(&[
            config("config.linger.ms = \"5ms\"\nconfig.buffer.memory = \"32MiB\"\nconfig.acks = 2"),
            config("config.max.in.flight.requests.per.connection = 6"),
            config("config.delivery.timeout.ms = 1000"),
            config("config.linger.ms = 5\nconfig.\"linger.ms\" = 6"),
            replaced(
                "partitions = 6",
                "partitions = 6\nconfig.min.insync.replica = 1",
            ),
            replaced(
                "brokers = 3",
                "brokers = 3\nconfig.num.io.threads = \"many\"",
            ),
        ]),
    );
}

#[test]
fn expectations_that_cannot_be_checked() {
    let expect = |text: &str| small_and(&format!("\n[[expect]]\n{text}\n"));
    golden(
        "expectations_that_cannot_be_checked",
        &all(&[
            expect("name = \"nothing\""),
            expect("metric = \"producer.trip.record-send-rate\"\nabove = 1"),
            expect("metric = \"producer.trips.record-sent-rate\"\nabove = 1"),
            expect("metric = \"producer.trips.record-send-rate\"\nabove = 1\nbelow = 2"),
            expect("metric = \"producer.trips.record-send-rate\"\nat = \"61s\"\nabove = 1"),
            expect("metric = \"broker.9.x\"\nabove = 1\nevent = \"connected\""),
            expect("metric = \"lag\"\nabove = 1\noffsets = []"),
            expect("event = \"TimeoutExeption\""),
            expect(
                "event = \"leader-change\"\nproducer = \"fares\"\ncount = { exactly = 1, at-least = 2 }",
            ),
            expect("log = \"events-6\""),
            expect("no = [\"acknowledged-los\"]"),
        ]),
    );
}

#[test]
fn notes_are_no_problems() {
    golden(
        "notes_are_no_problems",
        &noted(
            &small_and("at-end = \"close\"\npartition = 9\n")
                .replace("topic = \"events\"", "topic = \"event\"")
                .replace(
                    "name = \"trips\"",
                    "name = \"trips\"\nrack = \"a\"\nconfig.linger = 5\nconfig.acks = 1",
                ),
        ),
    );
}

#[test]
fn overrides_are_pointed_at_too() {
    let sets: [&[&str]; 7] = [
        &["producer.trips.config.linger.ms=soon"],
        &["producer.trip.config.linger.ms=5"],
        &["producer.trips.rat=5"],
        &["scenario.duration"],
        &["=5"],
        &["scenario.seed.x=5"],
        &["cluster.broker=5", "scenario.title=\u{1b}[2J"],
    ];
    let shown: Vec<String> = sets
        .iter()
        .map(|set| match load_with(SMALL, set) {
            Ok(_) => "nothing is wrong".to_owned(),
            Err(problems) => problems.render(Paint::Plain),
        })
        .collect();
    golden("overrides_are_pointed_at_too", &shown.join("\n"));
}
