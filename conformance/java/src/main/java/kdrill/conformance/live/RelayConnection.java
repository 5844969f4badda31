package kdrill.conformance.live;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * One client connection and its twin to the broker.
 *
 * <p>Each direction has a reader and a writer with a queue between them: the reader takes a frame
 * off the line, the writer forwards it when its delay is over. The queue is unbounded on purpose: on
 * a delayed link any number of frames is under way; a limited bandwidth or a cut holds the reader
 * back, and with it the sender.
 */
final class RelayConnection {
    private static final int BUFFER_BYTES = 256 * 1024;

    private final RelayLink link;
    private final int number;
    private final Socket client;
    private final Socket broker;
    private final Map<Integer, RelayRequest> unanswered = new ConcurrentHashMap<>();
    private final BlockingQueue<Frame> requests = new LinkedBlockingQueue<>();
    private final BlockingQueue<Frame> responses = new LinkedBlockingQueue<>();
    private volatile boolean swallowing;

    private record Frame(RelayRequest request, byte[] bytes, long dueNanos) {
        static final Frame END = new Frame(null, null, 0);
    }

    RelayConnection(RelayLink link, int number, Socket client, Socket broker) {
        this.link = link;
        this.number = number;
        this.client = client;
        this.broker = broker;
    }

    void start() throws IOException {
        client.setTcpNoDelay(true);
        if (broker.isConnected()) {
            broker.setTcpNoDelay(true);
            run(this::readRequests, requests);
            run(this::writeRequests, null);
            run(this::readResponses, responses);
            run(this::writeResponses, null);
        }
    }

    /** Both ends see a reset, as from a crashed process. */
    void reset() {
        for (Socket socket : new Socket[] {client, broker}) {
            try {
                socket.setSoLinger(true, 0);
                socket.close();
            } catch (IOException e) {
                // Closed already.
            }
        }
        link.forget(this);
    }

    private interface Work {
        void run() throws IOException, InterruptedException;
    }

    /** A reader tells its writer when the line has ended. */
    private void run(Work work, BlockingQueue<Frame> queue) {
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                work.run();
                            } catch (IOException | InterruptedException e) {
                                // One end closed; the writers close the other.
                            }
                            if (queue != null) {
                                queue.add(Frame.END);
                            }
                        });
        thread.setDaemon(true);
        thread.start();
    }

    private void readRequests() throws IOException, InterruptedException {
        DataInputStream in =
                new DataInputStream(new BufferedInputStream(client.getInputStream(), BUFFER_BYTES));
        while (true) {
            byte[] bytes = readFrame(in);
            link.waitWhileCut();
            RelayRequest request = RelayRequest.read(bytes);
            link.trace().note("request", number, request, bytes.length);
            link.pace().transmit(bytes.length);
            long due = System.nanoTime() + link.requestDelayNanos(request.client());
            requests.add(new Frame(request, bytes, due));
        }
    }

    private void writeRequests() throws IOException, InterruptedException {
        OutputStream out = broker.getOutputStream();
        try {
            for (Frame frame; (frame = requests.take()) != Frame.END; ) {
                RelayPace.waitUntil(frame.dueNanos);
                link.waitWhileHeld(frame.request);
                if (link.isCut()) {
                    continue;
                }
                if (strikes(false, frame)) {
                    return;
                }
                unanswered.put(frame.request.correlationId(), frame.request);
                out.write(frame.bytes);
            }
        } finally {
            closeUnlessCut(broker);
        }
    }

    private void readResponses() throws IOException, InterruptedException {
        DataInputStream in =
                new DataInputStream(new BufferedInputStream(broker.getInputStream(), BUFFER_BYTES));
        while (true) {
            byte[] bytes = readFrame(in);
            link.waitWhileCut();
            int correlationId = ByteBuffer.wrap(bytes).getInt(Integer.BYTES);
            RelayRequest request = unanswered.remove(correlationId);
            if (request == null) {
                throw new IOException("a response to no request");
            }
            long due = System.nanoTime() + link.responseDelayNanos(request.client());
            responses.add(new Frame(request, bytes, due));
        }
    }

    private void writeResponses() throws IOException, InterruptedException {
        OutputStream out = client.getOutputStream();
        try {
            for (Frame frame; (frame = responses.take()) != Frame.END; ) {
                RelayPace.waitUntil(frame.dueNanos);
                if (swallowing || link.isCut()) {
                    continue;
                }
                if (strikes(true, frame)) {
                    continue;
                }
                link.trace().note("response", number, frame.request, frame.bytes.length);
                out.write(frame.bytes);
            }
        } finally {
            closeUnlessCut(client);
            link.forget(this);
        }
    }

    /** Whether the frame must not be forwarded. */
    private boolean strikes(boolean response, Frame frame) {
        RelayFault fault = link.struck(response, frame.request);
        if (fault == null) {
            return false;
        }
        switch (fault.kind) {
            case SWALLOW -> swallowing = true;
            case RESET -> reset();
        }
        return true;
    }

    private static byte[] readFrame(DataInputStream in) throws IOException {
        int length = in.readInt();
        byte[] frame = new byte[Integer.BYTES + length];
        ByteBuffer.wrap(frame).putInt(length);
        in.readFully(frame, Integer.BYTES, length);
        return frame;
    }

    /** On a cut link not even the end of a connection gets through. */
    private void closeUnlessCut(Socket socket) throws IOException {
        if (!link.isCut()) {
            socket.close();
        }
    }
}
