package kdrill.conformance.live;

/** A fault that waits for one request or response to strike, once. */
final class RelayFault {
    enum Kind {
        /** The connection gives no response any more, from the struck one on. */
        SWALLOW,
        /** Both ends are reset before the struck frame is forwarded. */
        RESET
    }

    static final int ANY_API = -1;

    final Kind kind;
    private final int api;
    private final boolean onResponse;
    private final String clientPrefix;
    private int left;

    private RelayFault(Kind kind, int api, int strikeAt, boolean onResponse, String clientPrefix) {
        this.kind = kind;
        this.api = api;
        this.left = strikeAt;
        this.onResponse = onResponse;
        this.clientPrefix = clientPrefix;
    }

    static RelayFault swallow(int api, int after, String clientPrefix) {
        return new RelayFault(Kind.SWALLOW, api, after + 1, true, clientPrefix);
    }

    static RelayFault reset(int api, int count, String direction, String clientPrefix) {
        boolean onResponse = direction.equals("response");
        return new RelayFault(Kind.RESET, api, count, onResponse, clientPrefix);
    }

    static boolean matches(int wanted, int api, String clientPrefix, String client) {
        return (wanted == ANY_API || wanted == api) && client.startsWith(clientPrefix);
    }

    /** Counts a frame; true when it is the one to strike. */
    synchronized boolean strikes(boolean response, RelayRequest request) {
        if (response != onResponse
                || !matches(api, request.api(), clientPrefix, request.client())) {
            return false;
        }
        left -= 1;
        return left == 0;
    }
}
