package kdrill.conformance.live;

import java.util.concurrent.locks.LockSupport;

/** A line of limited bandwidth: each frame occupies it for its length, one after the other. */
final class RelayPace {
    static final RelayPace UNLIMITED = new RelayPace(0);
    private final double bytesPerSecond;
    private long freeAtNanos = System.nanoTime();

    RelayPace(double bytesPerSecond) {
        this.bytesPerSecond = bytesPerSecond;
    }

    /** Returns when the frame's last byte has left. */
    void transmit(int bytes) {
        if (bytesPerSecond <= 0) {
            return;
        }
        long due;
        synchronized (this) {
            due = Math.max(freeAtNanos, System.nanoTime()) + (long) (bytes * 1e9 / bytesPerSecond);
            freeAtNanos = due;
        }
        waitUntil(due);
    }

    static void waitUntil(long dueNanos) {
        for (long left; (left = dueNanos - System.nanoTime()) > 0; ) {
            LockSupport.parkNanos(left);
        }
    }
}
