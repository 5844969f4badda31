package kdrill.conformance.live;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** What a request's header says: enough to know which request a response answers. */
record RelayRequest(int api, int version, int correlationId, String client) {
    /** Reads the header of a frame that still has its length in front. */
    static RelayRequest read(byte[] frame) {
        ByteBuffer header = ByteBuffer.wrap(frame, Integer.BYTES, frame.length - Integer.BYTES);
        int api = header.getShort();
        int version = header.getShort();
        int correlationId = header.getInt();
        return new RelayRequest(api, version, correlationId, readClient(header));
    }

    private static String readClient(ByteBuffer header) {
        int length = header.remaining() < Short.BYTES ? -1 : header.getShort();
        if (length < 0) {
            return "";
        }
        byte[] name = new byte[length];
        header.get(name);
        return new String(name, StandardCharsets.UTF_8);
    }
}
