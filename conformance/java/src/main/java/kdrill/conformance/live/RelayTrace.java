package kdrill.conformance.live;

/** Notes of the frames that passed: {@code time_us,direction,connection,api,version,bytes}. */
final class RelayTrace {
    private StringBuilder notes;
    private long beganNanos;

    synchronized void begin() {
        notes = new StringBuilder();
        beganNanos = System.nanoTime();
    }

    synchronized void note(String direction, int connection, RelayRequest request, int bytes) {
        if (notes == null) {
            return;
        }
        notes.append((System.nanoTime() - beganNanos) / 1000).append(',').append(direction);
        notes.append(',').append(connection).append(',').append(request.api());
        notes.append(',').append(request.version()).append(',').append(bytes).append(';');
    }

    synchronized String text() {
        return notes == null ? "" : notes.toString();
    }
}
