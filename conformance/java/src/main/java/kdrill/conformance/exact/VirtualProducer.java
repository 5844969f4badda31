package kdrill.conformance.exact;

import java.lang.reflect.Field;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import kdrill.conformance.SplitMix64;
import org.apache.kafka.clients.ApiVersions;
import org.apache.kafka.clients.ClientUtils;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.MetadataRecoveryStrategy;
import org.apache.kafka.clients.NetworkClient;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.ProducerAccess;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.internals.ProducerMetadata;
import org.apache.kafka.clients.producer.internals.RecordAccumulator;
import org.apache.kafka.clients.producer.internals.Sender;
import org.apache.kafka.clients.producer.internals.SenderAccess;
import org.apache.kafka.clients.producer.internals.SenderMetricsRegistry;
import org.apache.kafka.clients.producer.internals.TransactionManager;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.internals.ClusterResourceListeners;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Sensor;
import org.apache.kafka.common.utils.LogContext;

/**
 * The whole real producer — KafkaProducer, accumulator, pool, sender, transaction manager, network
 * client, metadata, metrics — on a virtual clock above a virtual network.
 *
 * <p>One thread drives everything: the sender's passes, and the application's sends as entries of
 * the agenda. Only a send that blocks gets a thread, see {@link Application}. Kafka's random
 * draws are seeded where they decide anything: the sticky partition and the least loaded node.
 */
final class VirtualProducer {
    static final String CLIENT_ID = "producer-1";
    private static final LogContext LOG = new LogContext();
    /** So often the sender may loop without anything happening before time goes on. */
    private static final int IDLE_PASSES_MAX = 100;

    final VirtualClock clock = new VirtualClock();
    final Agenda agenda = new Agenda();
    final VirtualCluster cluster;
    final VirtualNetwork network;
    final KafkaProducer<byte[], byte[]> producer;
    private final Metrics metrics;
    private final ProducerMetadata metadata;
    private final NetworkClient client;
    private final Sender sender;
    private final Application application = new Application(clock, agenda);

    /** A bandwidth of 0 is without limit; the seed is for Kafka's random draws. */
    VirtualProducer(
            VirtualCluster cluster, Map<String, Object> configs, long rttNanos,
            double bytesPerSecond, long seed) {
        this.cluster = cluster;
        clock.waitVia(application);
        network = new VirtualNetwork(clock, agenda, cluster, rttNanos, bytesPerSecond);
        ProducerConfig config = new ProducerConfig(completed(cluster, configs));
        metrics = metrics(config);
        metadata = metadata(config);
        ApiVersions apiVersions = new ApiVersions();
        TransactionManager transactionManager = transactionManager(config, apiVersions);
        Partitioner partitioner = config.getConfiguredInstance(
            ProducerConfig.PARTITIONER_CLASS_CONFIG, Partitioner.class);
        RecordAccumulator accumulator =
            accumulator(config, transactionManager, partitioner == null, new SplitMix64(seed));
        SenderMetricsRegistry registry = new SenderMetricsRegistry(metrics);
        client = networkClient(config, apiVersions, Sender.throttleTimeSensor(registry));
        seedLeastLoadedNode(client, seed);
        sender = sender(config, accumulator, transactionManager, registry);
        producer = ProducerAccess.assemble(
            config, metrics, metadata, accumulator, transactionManager, sender, partitioner, clock);
    }

    // === The parts, put together as KafkaProducer's constructor does it

    private Metrics metrics(ProducerConfig config) {
        MetricConfig metricConfig = new MetricConfig()
            .samples(config.getInt(ProducerConfig.METRICS_NUM_SAMPLES_CONFIG))
            .timeWindow(
                config.getLong(ProducerConfig.METRICS_SAMPLE_WINDOW_MS_CONFIG),
                TimeUnit.MILLISECONDS)
            .tags(Map.of("client-id", CLIENT_ID));
        return new Metrics(metricConfig, List.of(), clock);
    }

    private ProducerMetadata metadata(ProducerConfig config) {
        ProducerMetadata metadata = new ProducerMetadata(
            config.getLong(ProducerConfig.RETRY_BACKOFF_MS_CONFIG),
            config.getLong(ProducerConfig.RETRY_BACKOFF_MAX_MS_CONFIG),
            config.getLong(ProducerConfig.METADATA_MAX_AGE_CONFIG),
            config.getLong(ProducerConfig.METADATA_MAX_IDLE_CONFIG),
            LOG, new ClusterResourceListeners(), clock);
        metadata.bootstrap(ClientUtils.parseAndValidateAddresses(config));
        return metadata;
    }

    private static TransactionManager transactionManager(
            ProducerConfig config, ApiVersions apiVersions) {
        if (!config.getBoolean(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG)) {
            return null;
        }
        return new TransactionManager(
            LOG, config.getString(ProducerConfig.TRANSACTIONAL_ID_CONFIG),
            config.getInt(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG),
            config.getLong(ProducerConfig.RETRY_BACKOFF_MS_CONFIG), apiVersions, false);
    }

    private RecordAccumulator accumulator(
            ProducerConfig config, TransactionManager transactionManager, boolean builtIn,
            SplitMix64 draws) {
        int batchSize = Math.max(1, config.getInt(ProducerConfig.BATCH_SIZE_CONFIG));
        boolean adaptive = builtIn && config.getBoolean(
            ProducerConfig.PARTITIONER_ADAPTIVE_PARTITIONING_ENABLE_CONFIG);
        long lingerMs = config.getLong(ProducerConfig.LINGER_MS_CONFIG);
        String codec = config.getString(ProducerConfig.COMPRESSION_TYPE_CONFIG);
        return SenderAccess.seededAccumulator(
            batchSize, Compression.of(codec).build(), (int) Math.min(lingerMs, Integer.MAX_VALUE),
            config.getLong(ProducerConfig.RETRY_BACKOFF_MS_CONFIG),
            config.getLong(ProducerConfig.RETRY_BACKOFF_MAX_MS_CONFIG),
            config.getInt(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG),
            new RecordAccumulator.PartitionerConfig(adaptive, config.getLong(
                ProducerConfig.PARTITIONER_AVAILABILITY_TIMEOUT_MS_CONFIG)),
            metrics, clock, transactionManager,
            application.pool(
                config.getLong(ProducerConfig.BUFFER_MEMORY_CONFIG), batchSize, metrics, clock),
            () -> (int) (draws.next() >>> 32));
    }

    private NetworkClient networkClient(
            ProducerConfig config, ApiVersions apiVersions, Sensor throttleTime) {
        return new NetworkClient(
            network, metadata, CLIENT_ID,
            config.getInt(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION),
            config.getLong(ProducerConfig.RECONNECT_BACKOFF_MS_CONFIG),
            config.getLong(ProducerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG),
            config.getInt(ProducerConfig.SEND_BUFFER_CONFIG),
            config.getInt(ProducerConfig.RECEIVE_BUFFER_CONFIG),
            config.getInt(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG),
            config.getLong(ProducerConfig.SOCKET_CONNECTION_SETUP_TIMEOUT_MS_CONFIG),
            config.getLong(ProducerConfig.SOCKET_CONNECTION_SETUP_TIMEOUT_MAX_MS_CONFIG),
            clock, true, apiVersions, throttleTime, LOG,
            MetadataRecoveryStrategy.forName(
                config.getString(CommonClientConfigs.METADATA_RECOVERY_STRATEGY_CONFIG)));
    }

    private Sender sender(
            ProducerConfig config, RecordAccumulator accumulator,
            TransactionManager transactionManager, SenderMetricsRegistry registry) {
        boolean keepsOrder =
            config.getInt(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION) == 1;
        return new Sender(
            LOG, client, metadata, accumulator, keepsOrder,
            config.getInt(ProducerConfig.MAX_REQUEST_SIZE_CONFIG),
            Short.parseShort(config.getString(ProducerConfig.ACKS_CONFIG)),
            config.getInt(ProducerConfig.RETRIES_CONFIG), registry, clock,
            config.getInt(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG),
            config.getLong(ProducerConfig.RETRY_BACKOFF_MS_CONFIG), transactionManager);
    }

    private static Map<String, Object> completed(
            VirtualCluster cluster, Map<String, Object> configs) {
        Map<String, Object> completed = new LinkedHashMap<>(configs);
        completed.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, cluster.bootstrap());
        completed.put(ProducerConfig.CLIENT_ID_CONFIG, CLIENT_ID);
        String serializer = "org.apache.kafka.common.serialization.ByteArraySerializer";
        completed.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, serializer);
        completed.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, serializer);
        return completed;
    }

    /** Which node is asked first where several are equally idle. */
    private static void seedLeastLoadedNode(NetworkClient client, long seed) {
        try {
            Field offset = NetworkClient.class.getDeclaredField("randOffset");
            offset.setAccessible(true);
            offset.set(client, new Random(seed));
        } catch (ReflectiveOperationException changed) {
            throw new IllegalStateException(changed);
        }
    }

    // === Time

    /** Goes on for a while so that metadata, producer id and all connections are there. */
    void warmUp(String topic, long nanos, int brokers) {
        metadata.add(topic, clock.milliseconds());
        runUntil(clock.nanoseconds() + nanos / 2);
        for (int broker = 1; broker <= brokers; broker++) {
            client.ready(cluster.node(broker), clock.milliseconds());
        }
        runUntil(clock.nanoseconds() + nanos / 2);
        cluster.produces.clear();
    }

    /** One call into Kafka at a moment, and what follows when it has returned. */
    void callAt(long nanos, Runnable call, Runnable returned) {
        agenda.at(nanos, () -> application.call(call, returned));
    }

    /** One call into Kafka at a moment. */
    void at(long nanos, Runnable call) {
        callAt(nanos, call, () -> { });
    }

    /** Lets virtual time go on to a moment. */
    void runUntil(long nanos) {
        network.endAt(nanos);
        int idlePasses = 0;
        while (clock.nanoseconds() < nanos) {
            long before = clock.nanoseconds();
            SenderAccess.runOnce(sender);
            application.resume();
            idlePasses = clock.nanoseconds() == before ? idlePasses + 1 : 0;
            if (idlePasses > IDLE_PASSES_MAX) {
                // The real sender spins through such a moment.
                clock.advanceTo(Math.min(
                    Math.max(agenda.nextNanos(), before + 1), before + 1_000_000));
                idlePasses = 0;
            }
        }
    }

    /** A figure of group `producer-metrics`; NaN where there is none. */
    double metric(String name) {
        for (Map.Entry<MetricName, ? extends Metric> entry : metrics.metrics().entrySet()) {
            MetricName found = entry.getKey();
            if (found.name().equals(name) && found.group().equals("producer-metrics")) {
                return ((Number) entry.getValue().metricValue()).doubleValue();
            }
        }
        return Double.NaN;
    }
}
