package kdrill.conformance.exact;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.internals.BufferPool;

/**
 * The application's thread, in lock-step with the sender's: only one of the two runs at a time.
 *
 * <p>Work that cannot block runs at once on the caller's thread. Work that may block, because memory
 * or metadata is short, gets a thread; the caller goes on when that thread is done or waits inside
 * Kafka, and gives it a chance again after each pass of the sender. A thread that waits for memory
 * waits in real time, so `max.block.ms` never ends here; one that waits for metadata does so on the
 * virtual clock.
 */
final class Application implements VirtualClock.Waiting {
    private final VirtualClock clock;
    private final Agenda agenda;
    private final BufferPool pool;
    private final int batchSize;
    private final Deque<Worker> workers = new ArrayDeque<>();

    Application(VirtualClock clock, Agenda agenda, BufferPool pool, int batchSize) {
        this.clock = clock;
        this.agenda = agenda;
        this.pool = pool;
        this.batchSize = batchSize;
    }

    /** Work that may block, as a thread of its own. */
    private final class Worker extends Thread {
        private final Runnable work;
        private volatile boolean finished;
        private volatile Throwable problem;
        // While it waits for metadata.
        private volatile Object monitor;
        private volatile Supplier<Boolean> condition;
        private volatile long deadlineMs;

        Worker(Runnable work) {
            this.work = work;
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                work.run();
            } catch (Throwable thrown) {
                problem = thrown;
            }
            finished = true;
        }

        /** Whether it stands inside Kafka and nothing has happened that would let it go on. */
        boolean stuck() {
            Object waitsFor = monitor;
            if (waitsFor != null) {
                return !satisfied(waitsFor);
            }
            return getState() == State.TIMED_WAITING && pool.queued() > 0
                && pool.availableMemory() < batchSize;
        }

        private boolean satisfied(Object waitsFor) {
            synchronized (waitsFor) {
                Supplier<Boolean> wanted = condition;
                return wanted == null || wanted.get() || clock.milliseconds() >= deadlineMs;
            }
        }
    }

    void run(Runnable work) {
        if (workers.isEmpty() && pool.availableMemory() >= 2L * batchSize && metadataKnown) {
            work.run();
            return;
        }
        Worker worker = new Worker(work);
        workers.add(worker);
        worker.start();
        settle(worker);
        metadataKnown = worker.finished;
    }

    private boolean metadataKnown;

    /** Lets blocked threads go on that can. */
    void resume() {
        for (Worker worker : workers.toArray(new Worker[0])) {
            settle(worker);
        }
    }

    /** Waits until the worker is done or stuck. */
    private void settle(Worker worker) {
        while (!worker.finished && !worker.stuck()) {
            Object waitsFor = worker.monitor;
            if (waitsFor != null) {
                synchronized (waitsFor) {
                    waitsFor.notifyAll();
                }
            }
            Thread.onSpinWait();
        }
        if (worker.finished) {
            workers.remove(worker);
            if (worker.problem != null) {
                throw new IllegalStateException(worker.problem);
            }
        }
    }

    @Override
    public void await(Object monitor, Supplier<Boolean> condition, long deadlineMs)
            throws InterruptedException {
        if (!(Thread.currentThread() instanceof Worker worker)) {
            throw new IllegalStateException("the driving thread would block");
        }
        agenda.at(VirtualClock.nanosAt(deadlineMs), () -> { });
        synchronized (monitor) {
            worker.condition = condition;
            worker.deadlineMs = deadlineMs;
            worker.monitor = monitor;
            while (!condition.get() && clock.milliseconds() < deadlineMs) {
                monitor.wait();
            }
            boolean met = condition.get();
            worker.monitor = null;
            worker.condition = null;
            if (!met) {
                throw new org.apache.kafka.common.errors.TimeoutException(
                    "Condition not satisfied before deadline");
            }
        }
    }
}
