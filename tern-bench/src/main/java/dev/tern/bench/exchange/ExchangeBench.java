package dev.tern.bench.exchange;

import dev.tern.bench.Arguments;
import dev.tern.bench.Machine;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * {@code bench exchange}: ranks in processes of their own on this machine, connected by Unix
 * sockets or by TCP over loopback, with and without encryption. First all operations are checked
 * beside a plain evaluation, to the bit; then {@link ExchangeRank} times them. The CPU time of a
 * byte is that of one rank, for a byte sent and one received. Garbage is that of all threads of all
 * ranks.
 */
public final class ExchangeBench {
  private ExchangeBench() {}

  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--ranks", "2");
    defaults.put("--kinds", "unix,tcp");
    defaults.put("--encrypted", "no,yes");
    defaults.put("--seconds", "1");
    defaults.put("--frame", "131072");
    Arguments arguments = Arguments.parse("exchange", args, defaults);
    int ranks = arguments.positive("--ranks");
    if (!arguments.json()) {
      System.out.println(Machine.line() + ", load " + load() + ", " + ranks + " ranks");
      System.out.println(ExchangeRank.HEAD);
    }
    RankProcesses processes =
        new RankProcesses("exchange", ExchangeRank.class.getName(), List.of("-Xmx512m"), false);
    for (String kind : arguments.list("--kinds")) {
      for (String encrypted : arguments.list("--encrypted")) {
        processes.run(
            ranks,
            List.of(
                kind,
                encrypted,
                arguments.text("--seconds"),
                arguments.text("--frame"),
                String.valueOf(arguments.json())));
      }
    }
    if (!arguments.json()) {
      System.out.println("# load " + load());
    }
  }

  private static String load() {
    return "%.1f".formatted(ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
  }
}
