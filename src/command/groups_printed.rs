//! `kafka-consumer-groups.sh`: what it prints (`ConsumerGroupCommand`).
//!
//! Simplifications: groups come in the order of the scenario; a simulated machine has no address,
//! so each is 127.0.0.1, with the ports 19091, 19092 and so on; a member's id ends with its number.

use crate::kafka::settings::Assignor;
use crate::sim::Simulation;
use crate::sim::command::{Command, DryRun, GroupDetail, GroupsInquiry, ResetOffsets};
use crate::sim::ids::{BrokerIndex, GroupIndex, PartitionIndex};
use crate::sim::view::{GroupMemberView, GroupState, GroupView};

use super::text::append;

const NO_ACTION: &str = "WARN: No action will be performed as the --execute option is missing. In \
                         version 5.0, this command will require either --dry-run or --execute to \
                         be specified. You should add the --dry-run option explicitly if you are \
                         scripting this command and want to keep the current default behavior \
                         without prompting.\n";
/// Cells of names and addresses at least.
const NAME_CELLS: usize = 15;
/// Cells of assignments at least.
const ASSIGNMENT_CELLS: usize = 20;
/// The port of the first broker.
const FIRST_PORT: usize = 19_091;

/// What the tool shows, or why it does not.
pub(super) fn answer(inquiry: &GroupsInquiry, simulation: &Simulation) -> Result<String, String> {
    match inquiry {
        GroupsInquiry::List => {
            let known = groups(simulation).filter(|g| simulation.is_group_known(*g));
            let names = known.map(|group| format!("{}\n", name(simulation, group)));
            Ok(names.collect())
        }
        GroupsInquiry::Describe(Some(group), detail) => describe(simulation, *group, *detail),
        GroupsInquiry::Describe(None, detail) => {
            let known = groups(simulation).filter(|g| simulation.is_group_known(*g));
            known
                .map(|group| describe(simulation, group, *detail))
                .collect()
        }
        GroupsInquiry::PlanReset(reset, dry_run) => {
            let note = match dry_run {
                DryRun::Asked => "",
                DryRun::Assumed => NO_ACTION,
            };
            Ok(format!("{note}{}", planned(reset, simulation)?))
        }
    }
}

/// What an action of the tool prints, or why it is refused; nothing for other commands.
pub(super) fn outcome(
    command: &Command,
    simulation: &Simulation,
) -> Option<Result<String, String>> {
    match command {
        Command::ResetOffsets(reset) => Some(planned(reset, simulation)),
        Command::DeleteOffsets { group, scope } => {
            let allowed = simulation.check_delete_offsets(*group);
            let partitions = simulation.partitions_in_scope(*group, scope);
            Some(deleted_offsets(
                simulation,
                *group,
                &partitions,
                allowed.err().as_deref(),
            ))
        }
        Command::DeleteGroup(group) => {
            let name = name(simulation, *group);
            Some(match simulation.check_delete_group(*group) {
                Ok(()) => Ok(format!(
                    "Deletion of requested consumer groups ('{name}') was successful.\n"
                )),
                Err(why) => Err(format!(
                    "Error: Deletion of some consumer groups failed:\n* Group '{name}' could not \
                     be deleted due to: {why}"
                )),
            })
        }
        _ => None,
    }
}

fn groups(simulation: &Simulation) -> impl Iterator<Item = GroupIndex> {
    (0..simulation.config().groups.len() as u16).map(GroupIndex)
}

fn name(simulation: &Simulation, group: GroupIndex) -> &str {
    &simulation.config().groups[group.index()].name
}

fn topic(simulation: &Simulation, partition: PartitionIndex) -> &str {
    &simulation.config().topics[partition.name().topic.index()].name
}

fn address(broker: BrokerIndex) -> String {
    format!("127.0.0.1:{}", FIRST_PORT + broker.index())
}

fn planned(reset: &ResetOffsets, simulation: &Simulation) -> Result<String, String> {
    let planned = simulation
        .plan_reset(reset)
        .map_err(|why| format!("Error: {why}"))?;
    let group = name(simulation, reset.group);
    let mut text = format!(
        "\n{:<15} {:<15} {:<10} NEW-OFFSET",
        "GROUP", "TOPIC", "PARTITION"
    );
    for (partition, offset) in planned {
        let topic = topic(simulation, partition);
        let number = partition.name().number;
        append(
            &mut text,
            format_args!("\n{group:<15} {topic:<15} {number:<10} {offset}"),
        );
    }
    text.push('\n');
    Ok(text)
}

fn deleted_offsets(
    simulation: &Simulation,
    group: GroupIndex,
    partitions: &[PartitionIndex],
    refused: Option<&str>,
) -> Result<String, String> {
    let group = name(simulation, group);
    let mut text = match refused {
        None => format!("Request succeeded for deleting offsets from group {group}.\n"),
        Some(_) => format!("Error: Encountered some partition-level error for group {group}:\n"),
    };
    append(
        &mut text,
        format_args!("\n{:<15} {:<10} {:<15}", "TOPIC", "PARTITION", "STATUS"),
    );
    let status = refused.map_or("Successful".to_owned(), |why| format!("Error: {why}"));
    for &partition in partitions {
        let topic = topic(simulation, partition);
        let number = partition.name().number;
        append(
            &mut text,
            format_args!("\n{topic:<15} {number:<10} {status:<15}"),
        );
    }
    text.push('\n');
    if refused.is_some() {
        Err(text)
    } else {
        Ok(text)
    }
}

fn describe(
    simulation: &Simulation,
    group: GroupIndex,
    detail: GroupDetail,
) -> Result<String, String> {
    let name = name(simulation, group);
    if !simulation.is_group_known(group) {
        return Err(format!(
            "Error: Executing consumer group command failed due to \
             org.apache.kafka.common.errors.GroupIdNotFoundException: Group {name} not found."
        ));
    }
    let view = simulation.group(group);
    let members = simulation.group_members(group);
    let mut text = match view.state {
        GroupState::Empty => format!("\nConsumer group '{name}' has no active members.\n"),
        GroupState::PreparingRebalance | GroupState::CompletingRebalance => {
            format!("\nWarning: Consumer group '{name}' is rebalancing.\n")
        }
        GroupState::Stable => String::new(),
    };
    match detail {
        GroupDetail::Offsets => offsets(simulation, (name, &view), &members, &mut text),
        GroupDetail::State => state(simulation, (name, &view), &mut text),
        GroupDetail::Members | GroupDetail::MembersVerbose if members.is_empty() => {}
        GroupDetail::Members => {
            members_table(name, &members, &mut text, |_| " ".to_owned(), " ");
        }
        GroupDetail::MembersVerbose => {
            let header = format!(
                " {:<15} {:<20} {:<15} {:<20}",
                "CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT"
            );
            let verbose = |member: &GroupMemberView| {
                let assigned = assignment(simulation, member);
                format!(
                    " {:<15} {assigned:<ASSIGNMENT_CELLS$} {:<15} {:<20}",
                    "-", "-", "-"
                )
            };
            members_table(name, &members, &mut text, verbose, &header);
        }
    }
    text.push('\n');
    Ok(text)
}

/// `CLIENT_ID-UUID`
fn member_id(member: &GroupMemberView) -> String {
    format!(
        "{}-00000000-0000-0000-0000-{:012}",
        member.client_id, member.id
    )
}

fn offsets(
    simulation: &Simulation,
    (name, view): (&str, &GroupView),
    members: &[GroupMemberView],
    text: &mut String,
) {
    let owner_of = |partition: PartitionIndex| {
        members
            .iter()
            .find(|member| member.assigned.contains(&partition))
    };
    let ids = members.iter().map(|member| member_id(member).len());
    let id_cells = ids.max().unwrap_or(0).max(NAME_CELLS);
    let topics = view
        .partitions
        .iter()
        .map(|read| topic(simulation, read.partition).len());
    let topic_cells = topics.max().unwrap_or(0).max(NAME_CELLS);
    let group_cells = name.len().max(NAME_CELLS);
    append(
        text,
        format_args!(
            "\n{:<group_cells$} {:<topic_cells$} {:<10} {:<15} {:<15} {:<15} {:<id_cells$} {:<15} \
             CLIENT-ID",
            "GROUP",
            "TOPIC",
            "PARTITION",
            "CURRENT-OFFSET",
            "LOG-END-OFFSET",
            "LAG",
            "CONSUMER-ID",
            "HOST",
        ),
    );
    let shown = view
        .partitions
        .iter()
        .filter(|read| read.committed.is_some() || owner_of(read.partition).is_some());
    for read in shown {
        let owner = owner_of(read.partition);
        let number = |offset: Option<u64>| offset.map_or("-".to_owned(), |n| n.to_string());
        let lag = read
            .committed
            .map(|at| read.high_watermark.saturating_sub(at));
        append(
            text,
            format_args!(
                "\n{name:<group_cells$} {:<topic_cells$} {:<10} {:<15} {:<15} {:<15} \
                 {:<id_cells$} {:<15} {}",
                topic(simulation, read.partition),
                read.partition.name().number,
                number(read.committed),
                read.high_watermark,
                number(lag),
                owner.map_or("-".to_owned(), member_id),
                owner.map_or("-", |_| "/127.0.0.1"),
                owner.map_or("-", |owner| owner.client_id.as_str()),
            ),
        );
    }
}

fn state(simulation: &Simulation, (name, view): (&str, &GroupView), text: &mut String) {
    let coordinator = view.coordinator.map_or("-".to_owned(), |broker| {
        let id = simulation.config().brokers[broker.index()].id;
        format!("{}  ({id})", address(broker))
    });
    let strategy = match (view.state, view.assignor) {
        (GroupState::Empty, _) | (_, None) => "-",
        (_, Some(assignor)) => Assignor::name(assignor),
    };
    append(
        text,
        format_args!(
            "\n{:<15} {:<25} {:<20} {:<20} #MEMBERS\n{name:<15} {coordinator:<25} {strategy:<20} \
             {:<20} {}",
            "GROUP",
            "COORDINATOR (ID)",
            "ASSIGNMENT-STRATEGY",
            "STATE",
            view.state.name(),
            view.members,
        ),
    );
}

fn members_table(
    name: &str,
    members: &[GroupMemberView],
    text: &mut String,
    rest: impl Fn(&GroupMemberView) -> String,
    rest_header: &str,
) {
    let ids = members.iter().map(|member| member_id(member).len());
    let id_cells = ids.max().unwrap_or(0).max(NAME_CELLS);
    append(
        text,
        format_args!(
            "\n{:<15} {:<id_cells$} {:<15} {:<15} {:<15}{rest_header}",
            "GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"
        ),
    );
    for member in members {
        append(
            text,
            format_args!(
                "\n{name:<15} {:<id_cells$} {:<15} {:<15} {:<15}{}",
                member_id(member),
                "/127.0.0.1",
                member.client_id,
                member.assigned.len(),
                rest(member),
            ),
        );
    }
}

/// `events:0,1,2;other:0`
fn assignment(simulation: &Simulation, member: &GroupMemberView) -> String {
    let mut text = String::new();
    let mut assigned = member.assigned.clone();
    assigned.sort_by_key(|partition| partition.name());
    let mut last = None;
    for partition in assigned {
        let name = partition.name();
        if last == Some(name.topic) {
            append(&mut text, format_args!(",{}", name.number));
        } else {
            let gap = if last.is_some() { ";" } else { "" };
            let topic = topic(simulation, partition);
            append(&mut text, format_args!("{gap}{topic}:{}", name.number));
        }
        last = Some(name.topic);
    }
    if text.is_empty() {
        text.push('-');
    }
    text
}
