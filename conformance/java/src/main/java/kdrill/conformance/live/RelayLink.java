package kdrill.conformance.live;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** One listening port, the broker's port behind it, and the state of the line between. */
final class RelayLink {
    /** What a cut link does with connections that are opened while it is cut. */
    enum NewConnections {
        /** The handshake never ends, as when packets are dropped. */
        HANG,
        /** They are accepted and nothing is ever answered. */
        SWALLOW
    }

    private static final int FILLERS_MAX = 20;
    private static final int FILLER_TIMEOUT_MS = 250;
    private static final int BIND_ATTEMPTS_MAX = 400;
    private static final int BIND_PAUSE_MS = 5;

    final int targetPort;
    private final int listenPort;
    private final Set<RelayConnection> connections = ConcurrentHashMap.newKeySet();
    private final List<RelayFault> faults = new CopyOnWriteArrayList<>();
    private final List<Socket> fillers = new ArrayList<>();
    private final RelayTrace trace = new RelayTrace();
    private ServerSocket listener;
    private int connectionsMade;
    private volatile RelayPace pace = RelayPace.UNLIMITED;
    private volatile Delay delay = new Delay(0, 0, "");
    private volatile boolean cut;
    private Hold hold;

    private record Delay(long requestNanos, long responseNanos, String clientPrefix) {}

    private record Hold(int api, String clientPrefix) {}

    RelayLink(int listenPort, int targetPort) throws IOException {
        this.listenPort = listenPort;
        this.targetPort = targetPort;
        listen(50);
    }

    // === Commands

    void pace(RelayPace pace) {
        this.pace = pace;
    }

    void delay(double requestMs, double responseMs, String clientPrefix) {
        delay = new Delay((long) (requestMs * 1e6), (long) (responseMs * 1e6), clientPrefix);
    }

    void add(RelayFault fault) {
        faults.add(fault);
    }

    void forgetFaults() {
        faults.clear();
    }

    RelayTrace trace() {
        return trace;
    }

    synchronized void hold(int api, String clientPrefix) {
        hold = new Hold(api, clientPrefix);
    }

    synchronized void release() {
        hold = null;
        notifyAll();
    }

    synchronized void cut(NewConnections newConnections) throws IOException {
        cut = true;
        if (newConnections == NewConnections.HANG) {
            // The kernel drops handshakes only when the queue of accepted connections is full.
            listener.close();
            openListener(1);
            fillQueue();
        }
    }

    synchronized void refuse() throws IOException {
        listener.close();
        reset();
    }

    void reset() {
        for (RelayConnection connection : connections) {
            connection.reset();
        }
    }

    synchronized void restore() throws IOException {
        listener.close();
        for (Socket filler : fillers) {
            filler.close();
        }
        fillers.clear();
        if (cut) {
            reset();
        }
        cut = false;
        notifyAll();
        listen(50);
    }

    // === Asked by connections

    boolean isCut() {
        return cut;
    }

    RelayPace pace() {
        return pace;
    }

    long requestDelayNanos(String client) {
        Delay now = delay;
        return client.startsWith(now.clientPrefix) ? now.requestNanos : 0;
    }

    long responseDelayNanos(String client) {
        Delay now = delay;
        return client.startsWith(now.clientPrefix) ? now.responseNanos : 0;
    }

    synchronized void waitWhileCut() throws InterruptedException {
        while (cut) {
            wait();
        }
    }

    synchronized void waitWhileHeld(RelayRequest request) throws InterruptedException {
        while (hold != null
                && RelayFault.matches(
                        hold.api, request.api(), hold.clientPrefix, request.client())) {
            wait();
        }
    }

    /** The fault that this frame sets off, or null. */
    RelayFault struck(boolean response, RelayRequest request) {
        for (RelayFault fault : faults) {
            if (fault.strikes(response, request)) {
                faults.remove(fault);
                return fault;
            }
        }
        return null;
    }

    void forget(RelayConnection connection) {
        connections.remove(connection);
    }

    // === Listening

    private void listen(int backlog) throws IOException {
        openListener(backlog);
        ServerSocket current = listener;
        new Thread(() -> acceptAll(current), "accept-" + listenPort).start();
    }

    /** The port of a closed listener stays taken until the thread that accepts has noticed. */
    private void openListener(int backlog) throws IOException {
        InetSocketAddress address =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), listenPort);
        for (int attempt = 1; ; attempt++) {
            listener = new ServerSocket();
            listener.setReuseAddress(true);
            try {
                listener.bind(address, backlog);
                return;
            } catch (BindException stillTaken) {
                listener.close();
                if (attempt == BIND_ATTEMPTS_MAX) {
                    throw stillTaken;
                }
                pause();
            }
        }
    }

    private static void pause() throws IOException {
        try {
            Thread.sleep(BIND_PAUSE_MS);
        } catch (InterruptedException interrupted) {
            throw new IOException(interrupted);
        }
    }

    private void acceptAll(ServerSocket current) {
        try {
            while (true) {
                Socket client = current.accept();
                connect(client);
            }
        } catch (IOException e) {
            // The listener was closed by a command.
        }
    }

    /** A broker that cannot be reached looks like one that closes at once. */
    private void connect(Socket client) throws IOException {
        try {
            Socket broker = cut ? new Socket() : new Socket("127.0.0.1", targetPort);
            connectionsMade += 1;
            RelayConnection connection =
                    new RelayConnection(this, connectionsMade, client, broker);
            connections.add(connection);
            connection.start();
        } catch (IOException e) {
            client.setSoLinger(true, 0);
            client.close();
        }
    }

    private void fillQueue() throws IOException {
        for (int i = 0; i < FILLERS_MAX; i++) {
            Socket filler = new Socket();
            try {
                filler.connect(
                        new InetSocketAddress("127.0.0.1", listenPort), FILLER_TIMEOUT_MS);
                fillers.add(filler);
            } catch (IOException e) {
                filler.close();
                return;
            }
        }
        throw new IOException("connections to port " + listenPort + " do not hang");
    }
}
