package kdrill.conformance;

/** The generator behind every seeded input: SplitMix64, one 64-bit state. */
public final class SplitMix64 {
    private long state;

    public SplitMix64(long seed) {
        this.state = seed;
    }

    public long next() {
        state += 0x9E3779B97F4A7C15L;
        long mixed = state;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }

    /** Unsigned remainder of the next draw. */
    public int below(int bound) {
        return (int) Long.remainderUnsigned(next(), bound);
    }
}
