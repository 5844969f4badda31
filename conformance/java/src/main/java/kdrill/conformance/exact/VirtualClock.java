package kdrill.conformance.exact;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/**
 * Kafka's clock on virtual time, in nanoseconds. Kafka's own MockTime knows no less than a
 * millisecond, and load of 10,000 records/s needs a tenth of that.
 */
final class VirtualClock implements Time {
    /** What simulated wall clocks show at 0: 2026-01-01T00:00:00Z. */
    private static final long WALL_MS = 1_767_225_600_000L;

    private volatile long nanos;
    private Waiting waiting;

    /** Somebody who can tell that an application thread waits for a condition. */
    interface Waiting {
        void await(Object monitor, Supplier<Boolean> condition, long deadlineMs)
            throws InterruptedException;
    }

    void waitVia(Waiting waiting) {
        this.waiting = waiting;
    }

    void advanceTo(long target) {
        nanos = Math.max(nanos, target);
    }

    @Override
    public long milliseconds() {
        return WALL_MS + TimeUnit.NANOSECONDS.toMillis(nanos);
    }

    @Override
    public long nanoseconds() {
        return nanos;
    }

    @Override
    public void sleep(long ms) {
        nanos += TimeUnit.MILLISECONDS.toNanos(ms);
    }

    @Override
    public void waitObject(Object monitor, Supplier<Boolean> condition, long deadlineMs)
            throws InterruptedException {
        waiting.await(monitor, condition, deadlineMs);
    }

    /** When the wall clock will show `ms`. */
    static long nanosAt(long ms) {
        return TimeUnit.MILLISECONDS.toNanos(ms - WALL_MS);
    }
}
