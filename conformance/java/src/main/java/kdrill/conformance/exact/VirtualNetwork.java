package kdrill.conformance.exact;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.network.ChannelState;
import org.apache.kafka.common.network.NetworkReceive;
import org.apache.kafka.common.network.NetworkSend;
import org.apache.kafka.common.network.Selectable;

/**
 * The sockets below the real NetworkClient, on virtual time.
 *
 * <p>Each broker has a link with a one-way delay and a bandwidth of its own in each direction. A
 * connection opens after a round trip. A request is written when its last byte is on the wire and
 * arrives one delay later; a broker works on one request of a connection at a time. Computing costs
 * no time. `poll` is where time passes: it goes on to the next event, or to its timeout. Long
 * sleeps end a millisecond late, as real timers do: the client looks for requests that are older
 * than their timeout at the end of a sleep of that length, and would miss them by nothing.
 */
final class VirtualNetwork implements Selectable {
    /** The sleeps that end late, and by how much. */
    private static final long LONG_SLEEP_NANOS = 500_000_000L;
    private static final long LATE_NANOS = 1_000_000L;

    private final VirtualClock clock;
    private final Agenda agenda;
    private final VirtualCluster cluster;
    private final long oneWayNanos;
    private final Map<Integer, Long> extraOneWayNanos = new HashMap<>();
    private final double bytesPerSecond;
    private final Map<String, Connection> connections = new LinkedHashMap<>();
    private final Map<Integer, Long> wireFreeForth = new HashMap<>();
    private final Map<Integer, Long> wireFreeBack = new HashMap<>();

    private final List<NetworkSend> completedSends = new ArrayList<>();
    private final List<NetworkReceive> completedReceives = new ArrayList<>();
    private final Map<String, ChannelState> disconnected = new HashMap<>();
    private final List<String> connected = new ArrayList<>();
    // What happened since the last poll.
    private final List<NetworkSend> newSends = new ArrayList<>();
    private final Map<String, ChannelState> newDisconnected = new HashMap<>();
    private final List<String> newConnected = new ArrayList<>();

    private boolean woken;
    private long endNanos;

    private static final class Connection {
        private final String id;
        private final int broker;
        private final Deque<NetworkReceive> received = new ArrayDeque<>();
        private final Deque<ByteBuffer> arrived = new ArrayDeque<>();
        private boolean open;
        private boolean ready;
        private boolean swallowing;
        private boolean reset;
        private boolean brokerBusy;

        Connection(String id, int broker) {
            this.id = id;
            this.broker = broker;
            this.open = true;
        }
    }

    /** A bandwidth of 0 is without limit. */
    VirtualNetwork(
            VirtualClock clock, Agenda agenda, VirtualCluster cluster, long rttNanos,
            double bytesPerSecond) {
        this.clock = clock;
        this.agenda = agenda;
        this.cluster = cluster;
        this.oneWayNanos = rttNanos / 2;
        this.bytesPerSecond = bytesPerSecond;
    }

    /** Makes the link to a broker longer. */
    void delay(int broker, long extraRttNanos) {
        extraOneWayNanos.put(broker, extraRttNanos / 2);
    }

    private long oneWay(Connection connection) {
        return oneWayNanos + extraOneWayNanos.getOrDefault(connection.broker, 0L);
    }

    /** Time stands still at this moment: `poll` returns without going past it. */
    void endAt(long nanos) {
        endNanos = nanos;
    }

    @Override
    public void poll(long timeoutMs) {
        completedSends.clear();
        completedReceives.clear();
        disconnected.clear();
        connected.clear();
        long now = clock.nanoseconds();
        long timeoutNanos = TimeUnit.MILLISECONDS.toNanos(Math.min(timeoutMs, 1_000_000_000L));
        long late = timeoutNanos < LONG_SLEEP_NANOS ? 0 : LATE_NANOS;
        long deadline = now + timeoutNanos + late;
        while (true) {
            while (agenda.runDue(clock.nanoseconds())) {
                // Everything of this moment happens before the client looks.
            }
            collect();
            boolean anything = !completedSends.isEmpty() || !completedReceives.isEmpty()
                || !disconnected.isEmpty() || !connected.isEmpty();
            if (anything || woken || clock.nanoseconds() >= Math.min(deadline, endNanos)) {
                woken = false;
                return;
            }
            clock.advanceTo(Math.min(agenda.nextNanos(), Math.min(deadline, endNanos)));
        }
    }

    /** As the real selector: at most one response of each connection at a time. */
    private void collect() {
        completedSends.addAll(newSends);
        newSends.clear();
        disconnected.putAll(newDisconnected);
        newDisconnected.clear();
        connected.addAll(newConnected);
        newConnected.clear();
        for (Connection connection : connections.values()) {
            NetworkReceive receive = connection.received.poll();
            if (receive != null) {
                completedReceives.add(receive);
            }
        }
    }

    @Override
    public void connect(String id, InetSocketAddress address, int sendBuffer, int receiveBuffer) {
        Connection connection = new Connection(id, VirtualCluster.brokerAt(address));
        connections.put(id, connection);
        agenda.at(clock.nanoseconds() + 2 * oneWay(connection), () -> {
            if (!connection.open) {
                return;
            }
            if (cluster.refuses(connection.broker)) {
                drop(connection);
            } else {
                connection.ready = true;
                newConnected.add(id);
            }
        });
    }

    @Override
    public void send(NetworkSend send) {
        Connection connection = connections.get(send.destinationId());
        WireChannel wire = new WireChannel(send);
        long written = transmit(wireFreeForth, connection.broker, (int) send.size());
        agenda.at(written, () -> {
            wire.finish();
            if (connection.open) {
                newSends.add(send);
            }
        });
        agenda.at(written + oneWay(connection), () -> arrive(connection, wire.bytes()));
    }

    /** When the last byte of a message that is handed to the link now is on the wire. */
    private long transmit(Map<Integer, Long> wireFree, int broker, int bytes) {
        long free = Math.max(clock.nanoseconds(), wireFree.getOrDefault(broker, 0L));
        long written = bytesPerSecond == 0 ? free : free + (long) (bytes / bytesPerSecond * 1e9);
        wireFree.put(broker, written);
        return written;
    }

    private void arrive(Connection connection, ByteBuffer request) {
        connection.arrived.add(request);
        if (!connection.brokerBusy) {
            work(connection);
        }
    }

    /** The broker takes the next request of a connection. */
    private void work(Connection connection) {
        ByteBuffer request = connection.arrived.poll();
        connection.brokerBusy = request != null && !connection.reset;
        if (!connection.brokerBusy) {
            return;
        }
        if (cluster.refuses(connection.broker)) {
            // Nobody is there: the host resets what reaches it.
            reset(connection);
            return;
        }
        long now = clock.nanoseconds();
        VirtualCluster.Answer answer = cluster.handle(connection.broker, request, now);
        agenda.at(now + answer.serviceNanos(), () -> {
            respond(connection, answer);
            work(connection);
        });
    }

    private void respond(Connection connection, VirtualCluster.Answer answer) {
        connection.swallowing |= answer.fate() == VirtualCluster.Fate.SWALLOWED;
        if (answer.fate() == VirtualCluster.Fate.RESET_BEFORE
                || answer.fate() == VirtualCluster.Fate.RESET_AFTER) {
            resetAll(connection.broker);
        } else if (answer.response() != null && !connection.swallowing) {
            int bytes = answer.response().remaining() + 4;
            long written = transmit(wireFreeBack, connection.broker, bytes);
            agenda.at(written + oneWay(connection), () -> {
                if (connection.open) {
                    connection.received.add(new NetworkReceive(connection.id, answer.response()));
                }
            });
        }
    }

    private void reset(Connection connection) {
        connection.reset = true;
        agenda.at(clock.nanoseconds() + oneWay(connection), () -> drop(connection));
    }

    private void drop(Connection connection) {
        if (connection.open) {
            connection.open = false;
            connections.remove(connection.id, connection);
            newDisconnected.put(connection.id, ChannelState.READY);
        }
    }

    /** Resets every connection to a broker. */
    void resetAll(int broker) {
        for (Connection connection : List.copyOf(connections.values())) {
            if (connection.broker == broker) {
                reset(connection);
            }
        }
    }

    @Override
    public void wakeup() {
        woken = true;
    }

    @Override
    public void close() {
    }

    @Override
    public void close(String id) {
        Connection connection = connections.remove(id);
        if (connection != null) {
            connection.open = false;
        }
    }

    @Override
    public List<NetworkSend> completedSends() {
        return completedSends;
    }

    @Override
    public Collection<NetworkReceive> completedReceives() {
        return completedReceives;
    }

    @Override
    public Map<String, ChannelState> disconnected() {
        return disconnected;
    }

    @Override
    public List<String> connected() {
        return connected;
    }

    @Override
    public boolean isChannelReady(String id) {
        Connection connection = connections.get(id);
        return connection != null && connection.ready;
    }

    @Override
    public void mute(String id) {
    }

    @Override
    public void unmute(String id) {
    }

    @Override
    public void muteAll() {
    }

    @Override
    public void unmuteAll() {
    }
}
