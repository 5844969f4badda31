//! The grammar as people meet it.

use proptest::prelude::*;

use super::*;
use crate::kafka::error::ErrorCode;
use crate::kafka::quota::{QuotaEntity, QuotaName};
use crate::sim::command::{
    AbortTransaction, BrokerFault, ConsumerFault, CoordinatorKill, EarlierMoves, ElectionType,
    HangingScope, Inquiry, LinkFault, Placement, ProducerFault, Reassign, Throttles,
    TransactionToAbort, TransactionsInquiry,
};
use crate::sim::config::Peer;
use crate::sim::ids::{
    BrokerIndex, ConsumerIndex, GroupIndex, ProducerIndex, TopicIndex, TopicPartition,
};
use crate::sim::time::SimSpan;

fn names() -> Names {
    Names::for_tests(
        &["trips", "fares"],
        &[1, 2, 3],
        &[("events", 12), ("rides-eu", 2)],
    )
    .with_groups(&[("billing", 1), ("timelines", 3)])
    .with_transactional_ids(&["fares-0", "fares-1"])
}

/// The line with a caret line below, the message and the hint.
fn problem(line: &str) -> String {
    let problem = parse(line, &names()).unwrap_err();
    let blanks = " ".repeat(problem.range.start);
    let carets = "^".repeat(problem.range.len().max(1));
    format!(
        "{}\n{blanks}{carets} {problem}",
        line.replace('\u{1b}', "␛")
    )
}

fn golden(name: &str, text: &str) {
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn faults_and_knobs_read_as_commands() {
    let read = |line| parse(line, &names()).unwrap();
    assert_eq!(
        read("link cut trips *"),
        Command::Link(Peer::Producer(ProducerIndex(0)), Peer::Any, LinkFault::Cut)
    );
    assert_eq!(
        read("broker kill 2 --lose-tail 200"),
        Command::Broker(
            BrokerIndex(1),
            BrokerFault::Kill {
                lose_tail_records: 200
            }
        )
    );
    assert_eq!(
        read("inject not_enough_replicas --partition rides-eu-1 --count 2"),
        Command::Inject {
            error: ErrorCode::NotEnoughReplicas,
            partition: TopicPartition {
                topic: TopicIndex(1),
                number: 1
            },
            count: 2
        }
    );
    assert_eq!(
        read("set producer fares 'linger.ms=20'"),
        Command::SetClient {
            producer: ProducerIndex(1),
            key: "linger.ms".into(),
            value: "20".into()
        }
    );
    assert_eq!(
        read("rate trips 0.5"),
        Command::SetRate {
            producer: ProducerIndex(0),
            micro_records_per_second: 500_000
        }
    );
}

#[test]
fn problems_point_at_the_word() {
    let lines = [
        "",
        "lnik cut trips *",
        "link",
        "link cutt trips *",
        "link cut trip *",
        "link cut trips",
        "link cut trips * now",
        "link cut trips fares",
        "link delay trips 2 5",
        "link limit trips 2 0B/s",
        "link loss trips * 101%",
        "broker kill 7",
        "broker kill 2 --lose-tail many",
        "broker kill 2 --lose-tails 5",
        "broker kill 2 --lose-tail",
        "responses swallow 1 --count 0",
        "inject REQUEST_TIMED_OU --partition events-3",
        "inject REQUEST_TIMED_OUT --partition events-12",
        "inject REQUEST_TIMED_OUT",
        "set producer trips linger.ms",
        "set producer trips linger=5",
        "set producer trips linger.ms=soon",
        "set producer trips acks=2",
        "set producer trips delivery.timeout.ms=1000",
        "set producer trips transactional.id=t",
        "rate trips -5",
        "rate trips 10000001",
        "rate 'trips 5",
        "producer clone trips",
        "kafka-topics.sh --topic events",
        "kafka-topics.sh --create --topic rides",
        "kafka-topics.sh --alter --topic event --partitions 6",
        "kafka-topics.sh --alter --topic events",
        "kafka-configs.sh --describe",
        "kafka-configs.sh --alter --entity-type clients --entity-name shop",
        "kafka-configs.sh --alter --entity-type clients --add-config producer_byte_rate=1",
        "kafka-configs.sh --alter --client shop --add-config producer_byte_rate=fast",
        "kafka-configs.sh --alter --client shop --add-config producer_byte_rate=0",
        "kafka-configs.sh --alter --client shop --add-config consumer_byte_rate=1",
        "kafka-configs.sh --alter --topic missing --add-config retention.ms=1",
        "kafka-configs.sh --alter --topic events --add-config no.such.config=1",
        "kafka-configs.sh --alter --topic events --add-config min.insync.replicas=0",
        "kafka-configs.sh --alter --topic events --add-config cleanup.policy=compact",
        "coordinator",
        "coordinator kill",
        "coordinator kill fare-0",
        "coordinator kill fares-0 --lose-tail all",
        "kafka-transactions.sh",
        "kafka-transactions.sh find",
        "kafka-transactions.sh --bootstrap-server localhost:9092 find-hanging",
        "kafka-transactions.sh find-hanging --broker-id 1 --partition 0",
        "kafka-transactions.sh describe-producers --topic event --partition 0",
        "kafka-transactions.sh describe-producers --topic events --partition 12",
        "kafka-transactions.sh abort --topic events --partition 0",
        "kafka-transactions.sh abort --topic events --partition 0 --producer-id 4001",
        "kafka-transactions.sh forceTerminateTransaction",
        "rate tr\u{1b}[2J 5",
    ];
    let shown: Vec<String> = lines.iter().map(|line| problem(line)).collect();
    golden("problems_point_at_the_word", &shown.join("\n\n"));
}

#[test]
fn completion_follows_the_grammar() {
    let texts = |line: &str| -> Vec<String> {
        complete(line, line.len(), &names())
            .into_iter()
            .map(|offer| offer.text)
            .collect()
    };
    assert_eq!(texts("li"), ["link"]);
    assert_eq!(texts("link re"), ["refuse", "reset"]);
    assert_eq!(texts("disk h"), ["heal"]);
    assert_eq!(texts("disk heal "), ["1", "2", "3"]);
    assert_eq!(
        texts("link cut "),
        [
            "trips",
            "fares",
            "billing",
            "timelines",
            "1",
            "2",
            "3",
            "controller",
            "*"
        ]
    );
    assert_eq!(texts("broker kill 2 "), ["--lose-tail"]);
    assert_eq!(texts("coordinator kill f"), ["fares-0", "fares-1"]);
    assert_eq!(texts("coordinator kill fares-1 "), ["--lose-tail"]);
    assert_eq!(
        texts("inject REQUEST_TIMED_OUT --partition rides"),
        ["rides-eu-0", "rides-eu-1"]
    );
    assert_eq!(
        texts("inject REQUEST_TIMED_OUT --partition rides-eu-0 --c"),
        ["--count"]
    );
    assert!(texts("set producer trips linger").contains(&"linger.ms=".to_owned()));
    let middle = complete("link c trips *", 6, &names());
    assert_eq!(middle[0].replace, 5..6);
}

#[test]
fn the_reference_lists_every_command() {
    let lines: Vec<String> = reference()
        .into_iter()
        .map(|(usage, help)| format!("{usage}\n    {help}"))
        .collect();
    golden("the_reference_lists_every_command", &lines.join("\n"));
}

fn any_inquiry() -> impl Strategy<Value = Inquiry> {
    prop_oneof![
        Just(Inquiry::ListTopics),
        Just(Inquiry::DescribeTopics(None)),
        (0..2_u16).prop_map(|topic| Inquiry::DescribeTopics(Some(TopicIndex(topic)))),
        Just(Inquiry::ListReassignments),
        Just(Inquiry::ProposeMoves {
            topics: vec![TopicIndex(1), TopicIndex(0)],
            brokers: vec![BrokerIndex(0), BrokerIndex(2)],
        }),
        (0..2_u16).prop_map(|topic| Inquiry::DescribeTopicConfigs(TopicIndex(topic))),
        any_entity().prop_map(Inquiry::DescribeQuotas),
        any_transactions_inquiry().prop_map(Inquiry::Transactions),
    ]
}

fn any_partition() -> impl Strategy<Value = TopicPartition> {
    let topic = TopicIndex(0);
    (0..12_u32).prop_map(move |number| TopicPartition { topic, number })
}

fn any_transactions_inquiry() -> impl Strategy<Value = TransactionsInquiry> {
    let broker = || (0..3_u16).prop_map(BrokerIndex);
    let filter = prop::option::of(0..i64::MAX as u64);
    let scope = prop_oneof![
        broker().prop_map(HangingScope::Broker),
        prop::option::of(broker()).prop_map(|at| HangingScope::Topic(TopicIndex(1), at)),
        any_partition().prop_map(HangingScope::Partition),
    ];
    prop_oneof![
        filter.prop_map(|longer_than_ms| TransactionsInquiry::List { longer_than_ms }),
        "[ -~]{1,12}".prop_map(TransactionsInquiry::Describe),
        (any_partition(), prop::option::of(broker())).prop_map(|(partition, broker)| {
            TransactionsInquiry::DescribeProducers { partition, broker }
        }),
        (scope, any::<u32>()).prop_map(|(scope, max_transaction_timeout_minutes)| {
            TransactionsInquiry::FindHanging {
                scope,
                max_transaction_timeout_minutes,
            }
        }),
    ]
}

fn any_abort() -> impl Strategy<Value = Command> {
    let producer = (any::<i64>(), any::<i16>(), 0..i32::MAX as u32);
    let which = prop_oneof![
        any::<u64>().prop_map(TransactionToAbort::StartOffset),
        producer.prop_map(|(id, epoch, coordinator)| {
            TransactionToAbort::Producer((id, epoch), coordinator)
        }),
    ];
    (any_partition(), which).prop_map(|(partition, which)| {
        Command::AbortTransaction(AbortTransaction { partition, which })
    })
}

fn any_entity() -> impl Strategy<Value = QuotaEntity> {
    let name = || {
        prop_oneof![
            "[ -~]{1,12}".prop_map(|name| QuotaName::Of(format!("a{}", name.trim()))),
            Just(QuotaName::Default)
        ]
    };
    (prop::option::of(name()), name()).prop_map(|(user, client_id)| QuotaEntity {
        user,
        client_id: Some(client_id),
    })
}

fn any_configuration() -> impl Strategy<Value = Command> {
    let quota = (any_entity(), prop::option::of(1..1_u64 << 53)).prop_map(|(entity, rate)| {
        Command::SetQuota {
            entity,
            producer_byte_rate: rate,
        }
    });
    let changes = (prop::option::of(1_048_576..u32::MAX / 2), any::<bool>()).prop_map(
        |(segment_bytes, is_unclean)| {
            let unclean = is_unclean.then(|| "true".to_owned());
            let bytes = segment_bytes.map(|bytes| bytes.to_string());
            let mut changes = vec![
                ("segment.bytes".to_owned(), bytes),
                ("unclean.leader.election.enable".to_owned(), unclean),
            ];
            changes.sort_by_key(|(_, value)| value.is_none());
            changes
        },
    );
    let topic = (0..2_u16, changes).prop_map(|(topic, changes)| Command::SetTopic {
        topic: TopicIndex(topic),
        changes,
    });
    let id = "[ -~]{1,12}".prop_map(Command::ForceTerminate);
    let placed = (1..6_usize, 0..2_u16).prop_map(|(partitions, broker)| {
        let replicas = vec![BrokerIndex(broker), BrokerIndex(2)];
        Command::PlacePartitions {
            topic: TopicIndex(1),
            replicas: vec![replicas; partitions],
        }
    });
    prop_oneof![quota, topic, id, placed]
}

fn any_election() -> impl Strategy<Value = Command> {
    let election = prop_oneof![Just(ElectionType::Preferred), Just(ElectionType::Unclean)];
    let topic = TopicIndex(0);
    let partition =
        prop::option::of((0..12_u32).prop_map(move |number| TopicPartition { topic, number }));
    (election, partition).prop_map(|(election, partition)| Command::ElectLeaders {
        election,
        partition,
    })
}

fn any_reassignment() -> impl Strategy<Value = Command> {
    let replicas = Just(vec![BrokerIndex(0), BrokerIndex(1), BrokerIndex(2)]).prop_shuffle();
    let partition = TopicPartition {
        topic: TopicIndex(0),
        number: 3,
    };
    let plan = replicas.prop_map(move |replicas| {
        vec![Placement {
            partition,
            replicas,
        }]
    });
    let throttle = prop::option::of(1..u64::MAX);
    (plan, throttle, 0..3).prop_map(|(plan, throttle_bytes_per_second, what)| {
        Command::Reassign(match what {
            0 => Reassign::Execute {
                plan,
                throttle_bytes_per_second,
                earlier: EarlierMoves::Continue,
            },
            1 => Reassign::Verify {
                plan,
                throttles: Throttles::Lifted,
            },
            _ => Reassign::Cancel {
                plan,
                throttles: Throttles::Preserved,
            },
        })
    })
}

fn any_tool() -> impl Strategy<Value = Command> {
    prop_oneof![
        any_inquiry().prop_map(Command::Inquire),
        any_election(),
        any_reassignment(),
        any_configuration(),
        any_abort(),
    ]
}

fn any_coordinator() -> impl Strategy<Value = Command> {
    let id = prop_oneof![Just("fares-0"), Just("fares-1")];
    (id, any::<u64>()).prop_map(|(id, lose_tail_records)| {
        Command::KillCoordinator(CoordinatorKill {
            transactional_id: id.to_owned(),
            lose_tail_records,
            found: None,
        })
    })
}

fn any_follow() -> impl Strategy<Value = Command> {
    let follow = |(key, record)| Command::Follow { key, record };
    ("[ -~]{1,12}", prop::option::of(1..=u32::MAX)).prop_map(follow)
}

fn any_link() -> impl Strategy<Value = LinkFault> {
    prop_oneof![
        Just(LinkFault::Cut),
        Just(LinkFault::Heal),
        Just(LinkFault::Reset),
        any::<u64>().prop_map(|nanos| LinkFault::Delay(SimSpan::from_nanos(nanos))),
        prop::option::of(1_u64..u64::MAX / 8).prop_map(LinkFault::Limit),
        (0..=1_000_000_u32).prop_map(LinkFault::Loss),
    ]
}

fn any_command() -> impl Strategy<Value = Command> {
    let broker = || (0..3_u16).prop_map(BrokerIndex);
    let producer = || (0..2_u16).prop_map(ProducerIndex);
    let span = || any::<u64>().prop_map(SimSpan::from_nanos);
    let rate = || prop::option::of(1_u64..u64::MAX / 8);
    let fault = prop_oneof![
        any::<u64>().prop_map(|n| BrokerFault::Kill {
            lose_tail_records: n
        }),
        Just(BrokerFault::Stop),
        Just(BrokerFault::Fence),
        Just(BrokerFault::DiskFull),
        Just(BrokerFault::DiskHeal),
        rate().prop_map(BrokerFault::DiskRate),
        span().prop_map(BrokerFault::Slow),
    ];
    let end = prop_oneof![
        broker().prop_map(Peer::Broker),
        Just(Peer::Controller),
        Just(Peer::Any)
    ];
    prop_oneof![
        (broker(), fault).prop_map(|(broker, fault)| Command::Broker(broker, fault)),
        (producer(), end, any_link()).prop_map(|(p, b, fault)| Command::Link(
            Peer::Producer(p),
            b,
            fault
        )),
        (broker(), 1..u32::MAX)
            .prop_map(|(broker, count)| Command::SwallowResponses { broker, count }),
        (0..14_u32, 1..u32::MAX, 0..ErrorCode::ALL.len()).prop_map(|(p, count, e)| {
            Command::Inject {
                error: ErrorCode::ALL[e],
                partition: TopicPartition {
                    topic: TopicIndex(u16::from(p >= 12)),
                    number: p % 12,
                },
                count,
            }
        }),
        (0..2_u16, 0..u32::MAX).prop_map(|(topic, partitions)| Command::AddPartitions {
            topic: TopicIndex(topic),
            partitions
        }),
        any_tool(),
        prop_oneof![any_follow(), any_coordinator()],
        producer().prop_map(|p| Command::Producer(p, ProducerFault::Restart)),
        (0..4_u16).prop_map(|c| Command::Consumer(ConsumerIndex(c), ConsumerFault::Close)),
        (0..2_u16).prop_map(|g| Command::Group(GroupIndex(g), ConsumerFault::Pause)),
        (0..2_u16, 1..10_000_000_000_000_u64).prop_map(|(g, rate)| Command::SetConsumerRate {
            group: GroupIndex(g),
            micro_records_per_second: rate
        }),
        (producer(), "[ -~]{0,12}").prop_map(|(producer, value)| Command::SetClient {
            producer,
            key: "client.id".into(),
            value: value.trim().to_owned(),
        }),
        (producer(), 0..10_000_000_000_000_u64).prop_map(|(producer, rate)| Command::SetRate {
            producer,
            micro_records_per_second: rate
        }),
    ]
}

#[test]
fn a_consumer_is_a_group_or_one_of_its_members() {
    let read = |line| parse(line, &names()).unwrap();
    let crash = ConsumerFault::Crash;
    assert_eq!(
        read("consumer crash timelines/2"),
        Command::Consumer(ConsumerIndex(2), crash)
    );
    assert_eq!(
        read("consumer crash timelines"),
        Command::Group(GroupIndex(1), crash)
    );
    let member = Peer::Member(GroupIndex(1), 3);
    assert_eq!(
        read("link cut timelines/3 *"),
        Command::Link(member, Peer::Any, LinkFault::Cut)
    );
    let cases = [
        "consumer crash timelines/4",
        "consumer pause timeline",
        "consumer rate timelines 0",
        "link cut timelines trips",
    ];
    golden(
        "consumers_that_are_not_there",
        &cases.map(problem).join("\n\n"),
    );
}

#[test]
fn a_quota_can_be_said_as_the_real_tool_takes_it() {
    let long = "kafka-configs.sh --bootstrap-server localhost:9092 --alter --add-config \
                'producer_byte_rate=1048576' --entity-type clients --entity-name shop";
    let command = parse(long, &names()).unwrap();
    let entity = QuotaEntity {
        user: None,
        client_id: Some(QuotaName::Of("shop".to_owned())),
    };
    assert_eq!(
        command,
        Command::SetQuota {
            entity,
            producer_byte_rate: Some(1_048_576)
        }
    );
    let short = "kafka-configs.sh --alter --client shop --add-config producer_byte_rate=1048576";
    assert_eq!(render(&command, &names()), short);
}

proptest! {
    #[test]
    fn every_command_reads_back_from_its_line(command in any_command()) {
        let line = render(&command, &names());
        prop_assert_eq!(parse(&line, &names()), Ok(command), "{}", line);
    }

    #[test]
    fn no_line_panics(line in "\\PC{0,40}", cursor in 0_usize..50) {
        let _ = parse(&line, &names());
        let _ = complete(&line, cursor, &names());
    }

    #[test]
    fn no_row_of_words_panics(words in prop::collection::vec(prop::sample::select(vec![
        "broker", "link", "cut", "kill", "trips", "1", "*", "--count", "--lose-tail", "set",
        "kafka-topics.sh", "--alter", "--topic", "--list", "events", "--partitions", "6",
        "producer", "consumer", "timelines/2", "rate", "linger.ms=5", "-5", "--", "inject", "=", "5ms", "disk", "slow",
    ]), 0..7)) {
        let line = words.join(" ");
        let _ = parse(&line, &names());
        let _ = complete(&line, line.len(), &names());
    }
}
