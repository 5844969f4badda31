package kdrill.conformance;

import java.util.HexFormat;

/** FNV-1a over bytes, 64 bits: enough to tell that two long lists are the same. */
public final class Digest {
    private long hash = 0xcbf29ce484222325L;

    public void add(int oneByte) {
        hash = (hash ^ (oneByte & 0xff)) * 0x100000001b3L;
    }

    public void add(byte[] bytes) {
        for (byte oneByte : bytes) {
            add(oneByte);
        }
    }

    /** Four bytes, the highest first. */
    public void addInt(int value) {
        for (int shift = 24; shift >= 0; shift -= 8) {
            add(value >>> shift);
        }
    }

    @Override
    public String toString() {
        return HexFormat.of().toHexDigits(hash);
    }
}
