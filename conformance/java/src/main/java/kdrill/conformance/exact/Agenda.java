package kdrill.conformance.exact;

import java.util.PriorityQueue;

/** What will happen when, in order of time and then of entry. */
final class Agenda {
    private final PriorityQueue<Entry> entries = new PriorityQueue<>();
    private long count;

    private record Entry(long nanos, long number, Runnable action) implements Comparable<Entry> {
        @Override
        public int compareTo(Entry other) {
            int byTime = Long.compare(nanos, other.nanos);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }

    synchronized void at(long nanos, Runnable action) {
        entries.add(new Entry(nanos, count++, action));
    }

    /** When the next entry is due; the end of time when there is none. */
    synchronized long nextNanos() {
        return entries.isEmpty() ? Long.MAX_VALUE : entries.peek().nanos;
    }

    /** Does the next entry if it is due; says whether it was. */
    boolean runDue(long nowNanos) {
        Entry entry;
        synchronized (this) {
            if (nextNanos() > nowNanos) {
                return false;
            }
            entry = entries.poll();
        }
        entry.action.run();
        return true;
    }
}
