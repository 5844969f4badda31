package kdrill.conformance.exact;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.internals.BufferPool;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;

/**
 * The application's threads, in lock-step with the sender's: only one of them all runs at a time.
 *
 * <p>A call first runs on the driving thread. When Kafka would block it there, because memory or
 * metadata is short, nothing has been done yet: the call is made again on a thread of its own, and
 * that may block and gets a chance to go on after each pass of the sender. A thread that waits for
 * memory does so in real time, so `max.block.ms` never ends here; one that waits for metadata does
 * so on the virtual clock.
 */
final class Application implements VirtualClock.Waiting {
    private static final int SPINS = 200;
    private static final long NAP_NANOS = 20_000;

    private final VirtualClock clock;
    private final Agenda agenda;
    private final Deque<Worker> workers = new ArrayDeque<>();
    private Pool pool;

    Application(VirtualClock clock, Agenda agenda) {
        this.clock = clock;
        this.agenda = agenda;
    }

    /** Kafka's pool; it does not block the driving thread. */
    BufferPool pool(long memory, int batchSize, Metrics metrics, Time time) {
        pool = new Pool(memory, batchSize, metrics, time);
        return pool;
    }

    /** Thrown through Kafka on the driving thread where it would block. */
    private static final class WouldBlock extends RuntimeException {
        WouldBlock() {
            super("would block", null, false, false);
        }
    }

    private static final class Pool extends BufferPool {
        private volatile int wanted;

        Pool(long memory, int batchSize, Metrics metrics, Time time) {
            super(memory, batchSize, metrics, time, "producer-metrics");
        }

        @Override
        public ByteBuffer allocate(int size, long maxTimeToBlockMs)
                throws InterruptedException {
            if (size <= totalMemory() && availableMemory() < size) {
                if (!(Thread.currentThread() instanceof Worker)) {
                    throw new WouldBlock();
                }
                wanted = size;
            }
            return super.allocate(size, maxTimeToBlockMs);
        }

        /** Whether a thread waits and nothing was freed for it. */
        boolean starving() {
            return queued() > 0 && availableMemory() < wanted;
        }
    }

    /** A call that blocks, as a thread of its own. */
    private static final class Worker extends Thread {
        private final Runnable call;
        private volatile boolean finished;
        private volatile Throwable problem;
        // While it waits for metadata.
        private volatile Object monitor;
        private volatile Supplier<Boolean> condition;
        private volatile long deadlineMs;

        Worker(Runnable call) {
            this.call = call;
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                call.run();
            } catch (Throwable thrown) {
                problem = thrown;
            }
            finished = true;
        }
    }

    /** Makes a call into Kafka, then what follows it, now or when the call has returned. */
    void call(Runnable call, Runnable returned) {
        try {
            call.run();
        } catch (WouldBlock blocked) {
            Worker worker = new Worker(() -> {
                call.run();
                returned.run();
            });
            workers.add(worker);
            worker.start();
            settle(worker);
            return;
        }
        returned.run();
    }

    /** Lets blocked threads go on that can. */
    void resume() {
        if (!workers.isEmpty()) {
            for (Worker worker : workers.toArray(new Worker[0])) {
                settle(worker);
            }
        }
    }

    /** Waits until the worker is done or stands still inside Kafka. */
    private void settle(Worker worker) {
        for (int spins = 0; !worker.finished && !stuck(worker); spins++) {
            Object monitor = worker.monitor;
            if (monitor != null) {
                synchronized (monitor) {
                    monitor.notifyAll();
                }
            }
            if (spins > SPINS) {
                LockSupport.parkNanos(NAP_NANOS);
            }
        }
        if (worker.finished) {
            workers.remove(worker);
            if (worker.problem != null) {
                throw new IllegalStateException(worker.problem);
            }
        }
    }

    private boolean stuck(Worker worker) {
        Object monitor = worker.monitor;
        if (monitor != null) {
            synchronized (monitor) {
                Supplier<Boolean> condition = worker.condition;
                return condition != null && !condition.get()
                    && clock.milliseconds() < worker.deadlineMs;
            }
        }
        return worker.getState() == Thread.State.TIMED_WAITING && pool.starving();
    }

    @Override
    public void await(Object monitor, Supplier<Boolean> condition, long deadlineMs)
            throws InterruptedException {
        if (!(Thread.currentThread() instanceof Worker worker)) {
            throw new WouldBlock();
        }
        agenda.at(VirtualClock.nanosAt(deadlineMs), () -> { });
        synchronized (monitor) {
            worker.condition = condition;
            worker.deadlineMs = deadlineMs;
            worker.monitor = monitor;
            while (!condition.get() && clock.milliseconds() < deadlineMs) {
                monitor.wait();
            }
            worker.monitor = null;
            worker.condition = null;
            if (!condition.get()) {
                throw new TimeoutException("Condition not satisfied before deadline");
            }
        }
    }
}
