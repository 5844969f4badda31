package kdrill.conformance.exact;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import org.apache.kafka.common.network.NetworkSend;
import org.apache.kafka.common.network.TransferableChannel;

/**
 * Takes a request but for its last byte, which it takes when the wire has the rest: until then the
 * client counts the request as not written, and sends no other on the connection.
 */
final class WireChannel implements GatheringByteChannel, TransferableChannel {
    private final NetworkSend send;
    private final ByteBuffer taken;
    private int room;

    WireChannel(NetworkSend send) {
        this.send = send;
        this.taken = ByteBuffer.allocate((int) send.size());
        this.room = (int) send.size() - 1;
        takeAll();
    }

    /** Takes the last byte. */
    void finish() {
        room++;
        takeAll();
    }

    /** The whole request. */
    ByteBuffer bytes() {
        return taken.duplicate().flip();
    }

    private void takeAll() {
        try {
            long before = -1;
            while (!send.completed() && taken.position() != before) {
                before = taken.position();
                send.writeTo(this);
            }
        } catch (IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public int write(ByteBuffer source) {
        int count = Math.min(room, source.remaining());
        ByteBuffer part = source.duplicate();
        part.limit(part.position() + count);
        taken.put(part);
        source.position(source.position() + count);
        room -= count;
        return count;
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) {
        long count = 0;
        for (int at = offset; at < offset + length; at++) {
            count += write(sources[at]);
        }
        return count;
    }

    @Override
    public long write(ByteBuffer[] sources) {
        return write(sources, 0, sources.length);
    }

    @Override
    public boolean hasPendingWrites() {
        return false;
    }

    @Override
    public long transferFrom(java.nio.channels.FileChannel file, long position, long count) {
        throw new UnsupportedOperationException("records are sent from memory");
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public void close() {
    }
}
