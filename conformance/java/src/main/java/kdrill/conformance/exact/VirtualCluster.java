package kdrill.conformance.exact;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.FindCoordinatorResponseData;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.message.MetadataRequestData;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.ProduceRequestData;
import org.apache.kafka.common.message.ProduceResponseData;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.FindCoordinatorRequest;
import org.apache.kafka.common.requests.FindCoordinatorResponse;
import org.apache.kafka.common.requests.InitProducerIdRequest;
import org.apache.kafka.common.requests.InitProducerIdResponse;
import org.apache.kafka.common.requests.MetadataRequest;
import org.apache.kafka.common.requests.MetadataResponse;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.requests.ProduceResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.requests.RequestTestUtils;
import org.apache.kafka.test.TestUtils;

/**
 * Brokers that answer the real client as a script says. They keep logs, know producers' sequences,
 * and do nothing else of what a broker does: a probe here is about the client.
 */
final class VirtualCluster {
    static final long PRODUCER_ID = 4001;
    private static final int PORT_BASE = 9000;
    private static final String CLUSTER_ID = "virtual";

    /**
     * What becomes of a request. A swallowed response takes all later ones on its connection with
     * it; a reset strikes before or after the broker did the work.
     */
    enum Fate { SENT, SWALLOWED, RESET_BEFORE, RESET_AFTER }

    /** Error for all partitions of a request, what becomes of the response, and the time taken. */
    record Verdict(Errors error, Fate fate, long serviceNanos) {
        static Verdict ok(long serviceNanos) {
            return new Verdict(Errors.NONE, Fate.SENT, serviceNanos);
        }
    }

    /** The `number`-th Produce request (from 1) that reaches a broker. */
    record Arrival(int broker, int number, long nanos, int bytes) {
    }

    interface Script {
        Verdict judge(Arrival arrival);
    }

    record Answer(ByteBuffer response, Fate fate, long serviceNanos) {
    }

    /** One batch of a Produce request, as its bytes say. */
    record Batch(
        int partition, int records, int bytes, long producerId, int epoch, int baseSequence) {
    }

    /** One Produce request, as its bytes say, and the first error that it met. */
    record Produce(
        long nanos, int broker, int number, int bytes, int responseBytes, int version,
        List<Batch> batches, Errors error) {
    }

    private final int brokers;
    private final Map<String, int[]> leadersByTopic = new TreeMap<>();
    private final Map<String, Log[]> logsByTopic = new TreeMap<>();
    private final Set<Integer> refusing = new HashSet<>();
    private final int[] produceCount;
    private Script script = arrival -> Verdict.ok(0);
    private int leaderEpoch = 1;
    private boolean hints;
    final List<Produce> produces = new ArrayList<>();

    VirtualCluster(int brokers) {
        this.brokers = brokers;
        this.produceCount = new int[brokers + 1];
    }

    void script(Script script) {
        this.script = script;
    }

    /** Partition p is led by `leaders[p]`, brokers counting from 1. */
    void topic(String name, int... leaders) {
        leadersByTopic.put(name, leaders);
        Log[] logs = new Log[leaders.length];
        for (int i = 0; i < logs.length; i++) {
            logs[i] = new Log();
        }
        logsByTopic.put(name, logs);
    }

    Log log(String topic, int partition) {
        return logsByTopic.get(topic)[partition];
    }

    /** Another broker leads all partitions of a topic; a response may or may not name it. */
    void move(String topic, int leader, boolean hints) {
        Arrays.fill(leadersByTopic.get(topic), leader);
        leaderEpoch++;
        this.hints = hints;
    }

    /** The broker refuses connections, and metadata names no leader for its partitions. */
    void kill(int broker) {
        refusing.add(broker);
        leaderEpoch++;
    }

    boolean refuses(int broker) {
        return refusing.contains(broker);
    }

    String bootstrap() {
        List<String> addresses = new ArrayList<>();
        for (int broker = 1; broker <= brokers; broker++) {
            addresses.add("127.0.0.1:" + (PORT_BASE + broker));
        }
        return String.join(",", addresses);
    }

    static int brokerAt(InetSocketAddress address) {
        return address.getPort() - PORT_BASE;
    }

    Node node(int broker) {
        return new Node(broker, "127.0.0.1", PORT_BASE + broker);
    }

    Answer handle(int broker, ByteBuffer request, long nanos) {
        int frame = request.remaining();
        request.getInt();
        RequestHeader header = RequestHeader.parse(request);
        AbstractRequest parsed = AbstractRequest.parseRequest(
            header.apiKey(), header.apiVersion(), new ByteBufferAccessor(request)).request;
        if (parsed instanceof ProduceRequest produce) {
            return produce(broker, header, produce, frame, nanos);
        }
        AbstractResponse response = switch (header.apiKey()) {
            case API_VERSIONS -> TestUtils.defaultApiVersionsResponse(
                0, ApiMessageType.ListenerType.BROKER, false);
            case METADATA -> metadata((MetadataRequest) parsed);
            case INIT_PRODUCER_ID -> new InitProducerIdResponse(new InitProducerIdResponseData()
                .setProducerId(PRODUCER_ID).setProducerEpoch((short) 0));
            case FIND_COORDINATOR -> coordinator((FindCoordinatorRequest) parsed);
            default -> throw new IllegalStateException("unexpected " + header);
        };
        return new Answer(serialized(header, response), Fate.SENT, 0);
    }

    private static ByteBuffer serialized(RequestHeader header, AbstractResponse response) {
        return RequestTestUtils.serializeResponseWithHeader(
            response, header.apiVersion(), header.correlationId());
    }

    private Answer produce(
            int broker, RequestHeader header, ProduceRequest request, int frame, long nanos) {
        int number = ++produceCount[broker];
        Verdict verdict = script.judge(new Arrival(broker, number, nanos, frame));
        if (verdict.fate == Fate.RESET_BEFORE) {
            return new Answer(null, verdict.fate, verdict.serviceNanos);
        }
        List<Batch> batches = new ArrayList<>();
        List<Errors> errors = new ArrayList<>();
        ProduceResponseData data = new ProduceResponseData();
        for (ProduceRequestData.TopicProduceData topic : request.data().topicData()) {
            String name = topicName(topic);
            ProduceResponseData.TopicProduceResponse answers =
                new ProduceResponseData.TopicProduceResponse()
                    .setName(topic.name()).setTopicId(topic.topicId());
            for (ProduceRequestData.PartitionProduceData partition : topic.partitionData()) {
                MemoryRecords records = (MemoryRecords) partition.records();
                RecordBatch batch = records.batches().iterator().next();
                batches.add(new Batch(
                    partition.index(), batch.countOrNull(), batch.sizeInBytes(),
                    batch.producerId(), batch.producerEpoch(), batch.baseSequence()));
                int leader = leadersByTopic.get(name)[partition.index()];
                answers.partitionResponses().add(leader == broker
                    ? append(log(name, partition.index()), partition.index(), batch, verdict.error)
                    : notLeader(partition.index(), leader));
            }
            data.responses().add(answers);
            answers.partitionResponses().stream()
                .map(answer -> Errors.forCode(answer.errorCode()))
                .filter(found -> found != Errors.NONE)
                .forEach(errors::add);
        }
        if (hints) {
            for (int id = 1; id <= brokers; id++) {
                data.nodeEndpoints().add(new ProduceResponseData.NodeEndpoint()
                    .setNodeId(id).setHost("127.0.0.1").setPort(PORT_BASE + id));
            }
        }
        boolean answered = request.acks() != 0;
        ByteBuffer response = answered ? serialized(header, new ProduceResponse(data)) : null;
        produces.add(new Produce(
            nanos, broker, number, frame, answered ? response.remaining() + 4 : 0,
            header.apiVersion(), batches,
            errors.isEmpty() ? Errors.NONE : errors.get(0)));
        return new Answer(response, verdict.fate, verdict.serviceNanos);
    }

    private ProduceResponseData.PartitionProduceResponse notLeader(int partition, int leader) {
        ProduceResponseData.PartitionProduceResponse answer =
            new ProduceResponseData.PartitionProduceResponse()
                .setIndex(partition).setBaseOffset(-1).setLogStartOffset(-1)
                .setErrorCode(Errors.NOT_LEADER_OR_FOLLOWER.code());
        if (hints) {
            answer.setCurrentLeader(new ProduceResponseData.LeaderIdAndEpoch()
                .setLeaderId(leader).setLeaderEpoch(leaderEpoch));
        }
        return answer;
    }

    private static ProduceResponseData.PartitionProduceResponse append(
            Log log, int partition, RecordBatch batch, Errors scripted) {
        Errors error = scripted;
        long offset = -1;
        if (error == Errors.NONE) {
            offset = log.append(batch);
            if (offset < 0) {
                error = Errors.OUT_OF_ORDER_SEQUENCE_NUMBER;
                offset = -1;
            }
        }
        return new ProduceResponseData.PartitionProduceResponse()
            .setIndex(partition).setErrorCode(error.code()).setBaseOffset(offset)
            .setLogStartOffset(error == Errors.NONE ? 0 : -1);
    }

    private String topicName(ProduceRequestData.TopicProduceData topic) {
        return leadersByTopic.keySet().stream()
            .filter(name -> id(name).equals(topic.topicId()) || name.equals(topic.name()))
            .findFirst().orElseThrow();
    }

    private static Uuid id(String topic) {
        return new Uuid(0x6b6472696c6cL, topic.hashCode() & 0xffffffffL);
    }

    private MetadataResponse metadata(MetadataRequest request) {
        MetadataResponseData data = new MetadataResponseData()
            .setClusterId(CLUSTER_ID).setControllerId(1);
        for (int broker = 1; broker <= brokers; broker++) {
            if (refusing.contains(broker)) {
                continue;
            }
            data.brokers().add(new MetadataResponseData.MetadataResponseBroker()
                .setNodeId(broker).setHost("127.0.0.1").setPort(PORT_BASE + broker));
        }
        if (request.data().topics() != null) {
            for (MetadataRequestData.MetadataRequestTopic topic : request.data().topics()) {
                data.topics().add(topicMetadata(topic.name()));
            }
        }
        return new MetadataResponse(data, request.version());
    }

    private MetadataResponseData.MetadataResponseTopic topicMetadata(String name) {
        MetadataResponseData.MetadataResponseTopic topic =
            new MetadataResponseData.MetadataResponseTopic().setName(name).setTopicId(id(name));
        int[] leaders = leadersByTopic.get(name);
        for (int partition = 0; partition < leaders.length; partition++) {
            int replica = leaders[partition];
            boolean led = !refusing.contains(replica);
            topic.partitions().add(new MetadataResponseData.MetadataResponsePartition()
                .setErrorCode(led ? Errors.NONE.code() : Errors.LEADER_NOT_AVAILABLE.code())
                .setPartitionIndex(partition).setLeaderId(led ? replica : -1)
                .setLeaderEpoch(leaderEpoch)
                .setReplicaNodes(List.of(replica)).setIsrNodes(List.of(replica)));
        }
        return topic;
    }

    private FindCoordinatorResponse coordinator(FindCoordinatorRequest request) {
        FindCoordinatorResponseData data = new FindCoordinatorResponseData();
        for (String key : request.data().coordinatorKeys()) {
            data.coordinators().add(new FindCoordinatorResponseData.Coordinator()
                .setKey(key).setNodeId(1).setHost("127.0.0.1").setPort(PORT_BASE + 1));
        }
        return new FindCoordinatorResponse(data);
    }
}
