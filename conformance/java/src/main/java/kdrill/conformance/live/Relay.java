package kdrill.conformance.live;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A TCP relay that knows where Kafka's frames begin, with faults by command.
 *
 * <p>Prints the port of its control socket, then takes one command a line there and answers each
 * with {@code ok} or {@code error}. Ends when its standard input closes, so it never outlives the
 * harness.
 */
public final class Relay {
    private final Map<String, RelayLink> links = new ConcurrentHashMap<>();

    public static void main(String[] args) throws IOException {
        Relay relay = new Relay();
        ServerSocket control = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        System.out.println(control.getLocalPort());
        new Thread(Relay::endWithStandardInput, "standard-input").start();
        while (true) {
            Socket client = control.accept();
            new Thread(() -> relay.serve(client), "control").start();
        }
    }

    private static void endWithStandardInput() {
        try {
            while (System.in.read() >= 0) {
                // Nothing is said here; only the end matters.
            }
        } catch (IOException e) {
            // As good as the end.
        }
        Runtime.getRuntime().halt(0);
    }

    private void serve(Socket client) {
        try (client;
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(client.getInputStream()));
                PrintStream answers = new PrintStream(client.getOutputStream(), true)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                answers.println(answer(line.trim().split(" ")));
            }
        } catch (IOException e) {
            // The harness went away in mid-command.
        }
    }

    private String answer(String[] words) {
        try {
            return "ok " + obey(words);
        } catch (Exception e) {
            return "error " + e;
        }
    }

    private String obey(String[] words) throws IOException {
        if (words[0].equals("link")) {
            int listenPort = Integer.parseInt(words[2]);
            int targetPort = Integer.parseInt(words[3]);
            links.put(words[1], new RelayLink(listenPort, targetPort));
            return "";
        }
        if (words[0].equals("bandwidth")) {
            RelayPace pace = new RelayPace(Double.parseDouble(words[2]));
            for (String name : words[1].split(",")) {
                link(name).pace(pace);
            }
            return "";
        }
        return obey(link(words[1]), words);
    }

    private RelayLink link(String name) {
        RelayLink link = links.get(name);
        if (link == null) {
            throw new IllegalArgumentException("no link " + name);
        }
        return link;
    }

    private static String obey(RelayLink link, String[] words) throws IOException {
        switch (words[0]) {
            case "delay" -> link.delay(
                    Double.parseDouble(words[2]), Double.parseDouble(words[3]), client(words, 4));
            case "cut" -> link.cut(RelayLink.NewConnections.HANG);
            case "swallow_all" -> link.cut(RelayLink.NewConnections.SWALLOW);
            case "refuse" -> link.refuse();
            case "reset" -> link.reset();
            case "restore" -> link.restore();
            case "swallow" -> link.add(
                    RelayFault.swallow(number(words, 2), number(words, 3), client(words, 4)));
            case "reset_at" -> link.add(
                    RelayFault.reset(
                            number(words, 2), number(words, 3), words[4], client(words, 5)));
            case "forget_faults" -> link.forgetFaults();
            case "hold" -> link.hold(number(words, 2), client(words, 3));
            case "release" -> link.release();
            case "trace" -> link.trace().begin();
            case "frames" -> {
                return link.trace().text();
            }
            default -> throw new IllegalArgumentException("no command " + words[0]);
        }
        return "";
    }

    private static int number(String[] words, int index) {
        return Integer.parseInt(words[index]);
    }

    private static String client(String[] words, int index) {
        return index < words.length ? words[index] : "";
    }
}
