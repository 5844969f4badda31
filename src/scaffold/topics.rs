//! What `kafka-topics.sh --describe` printed, as tables of a scenario.

use crate::command::text::append;
use crate::kafka::config::topic as topic_config;

use super::quoted;

/// One topic as it was described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Topic {
    pub(super) name: String,
    /// By partition: its replicas by broker id, the leader first.
    pub(super) replicas: Vec<Vec<u32>>,
    /// Configuration, as it was set.
    pub(super) configs: Vec<(String, String)>,
}

impl Topic {
    /// The topic of a scenario that nobody described.
    pub(super) fn usual() -> Self {
        let replicas = (0..12).map(|place| (0..3).map(|next| 1 + (place + next) % 3).collect());
        Self {
            name: "events".to_owned(),
            replicas: replicas.collect(),
            configs: vec![("min.insync.replicas".to_owned(), "2".to_owned())],
        }
    }

    /// `[[topic]]`. What kdrill does not know of its configuration stays as a comment.
    pub(super) fn write(&self, text: &mut String) {
        let leaders: Vec<String> = self
            .replicas
            .iter()
            .filter_map(|replicas| replicas.first())
            .map(u32::to_string)
            .collect();
        let factor = self.replicas.iter().map(Vec::len).max().unwrap_or(1);
        append(
            text,
            format_args!(
                "\n[[topic]]\nname = {}\npartitions = {}\nreplication-factor = {factor}\n\
                 leaders = [{}]\n",
                quoted(&self.name),
                self.replicas.len(),
                leaders.join(", "),
            ),
        );
        for (key, value) in &self.configs {
            let mark = if topic_config::find(key).is_some() {
                ""
            } else {
                "# "
            };
            append(
                text,
                format_args!("{mark}config.{key} = {}\n", quoted(value)),
            );
        }
    }
}

/// The topics of the tool's output; the cluster's own are left out.
pub(super) fn described(text: &str) -> Result<Vec<Topic>, String> {
    let mut topics: Vec<Topic> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let cells = cells(line);
        let cell = |name: &str| {
            let mut found = cells.iter().filter(|(key, _)| *key == name);
            found.next().map(|(_, value)| *value)
        };
        let Some(name) = cell("Topic").filter(|name| !name.starts_with("__")) else {
            continue;
        };
        if let Some(partition) = cell("Partition") {
            let replicas = replicas(cell("Leader"), cell("Replicas").unwrap_or(""))
                .ok_or_else(|| format!("line {number} has no replicas that are broker ids"))?;
            let Some(topic) = topics.iter_mut().find(|topic| topic.name == name) else {
                return Err(format!(
                    "line {number} is of topic {name}, whose first line is missing"
                ));
            };
            if partition.parse() != Ok(topic.replicas.len()) {
                return Err(format!("line {number} is not the next partition of {name}"));
            }
            topic.replicas.push(replicas);
        } else {
            let configs = cell("Configs").unwrap_or("").split(',');
            let pairs = configs.filter_map(|pair| pair.split_once('='));
            topics.push(Topic {
                name: name.to_owned(),
                replicas: Vec::new(),
                configs: pairs.map(|(k, v)| (k.to_owned(), v.to_owned())).collect(),
            });
        }
    }
    topics.retain(|topic| !topic.replicas.is_empty());
    if topics.is_empty() {
        return Err("this is not what `kafka-topics.sh --describe` prints".to_owned());
    }
    Ok(topics)
}

/// `Topic: events`, `Partition: 0` and so on.
fn cells(line: &str) -> Vec<(&str, &str)> {
    let cells = line.split('\t').filter_map(|cell| cell.split_once(':'));
    cells
        .map(|(key, value)| (key.trim(), value.trim()))
        .collect()
}

/// Broker ids with the leader first; nothing where they are none.
fn replicas(leader: Option<&str>, replicas: &str) -> Option<Vec<u32>> {
    let ids: Result<Vec<u32>, _> = replicas.split(',').map(|id| id.trim().parse()).collect();
    let mut ids = ids.ok()?;
    let leader = leader.and_then(|id| id.parse::<u32>().ok());
    if let Some(place) = ids.iter().position(|id| Some(*id) == leader) {
        ids[..=place].rotate_right(1);
    }
    Some(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESCRIBED: &str = "Topic: a.b\tTopicId: x\tPartitionCount: 2\tReplicationFactor: 2\t\
        Configs: min.insync.replicas=2,foo.bar=1\n\
        \tTopic: a.b\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\n\
        \tTopic: a.b\tPartition: 1\tLeader: 4\tReplicas: 2,4\tIsr: 4\n\
        Topic: __consumer_offsets\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n\
        \tTopic: __consumer_offsets\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n";

    #[test]
    fn topics_are_read_with_their_leaders_first_and_without_the_clusters_own() {
        let topics = described(DESCRIBED).unwrap();
        assert_eq!(topics.len(), 1);
        assert_eq!(topics[0].replicas, [vec![1, 2], vec![4, 2]]);
    }

    #[test]
    fn what_kdrill_does_not_know_of_a_topic_stays_as_a_comment() {
        let mut text = String::new();
        described(DESCRIBED).unwrap()[0].write(&mut text);
        assert!(
            text.contains("\nconfig.min.insync.replicas = \"2\"\n"),
            "{text}"
        );
        assert!(text.contains("\n# config.foo.bar = \"1\"\n"), "{text}");
    }

    #[test]
    fn a_line_out_of_place_is_named_by_its_number() {
        let torn = DESCRIBED.replace("Partition: 1", "Partition: 3");
        assert_eq!(
            described(&torn).unwrap_err(),
            "line 3 is not the next partition of a.b"
        );
        assert!(described("hello\n").unwrap_err().contains("not what"));
    }
}
