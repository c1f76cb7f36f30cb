package dev.tern.bench.exchange;

import dev.tern.bench.Arguments;
import dev.tern.bench.Machine;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * {@code bench ranks}: training steps of several ranks, each a process with one thread on one
 * processor, beside the steps of one such rank alone. Each rank computes {@code --batch} rows a
 * step in {@code --lanes} lanes, so n ranks train on n times the rows. First a short training of
 * all ranks is held against that of one, to the bit; then {@link TrainingRank} times both by turns.
 */
public final class RankBench {
  private RankBench() {}

  static Arguments arguments(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--models", "deepfm");
    defaults.put("--ranks", "2");
    defaults.put("--batch", "4096");
    defaults.put("--lanes", "8");
    defaults.put("--optimizer", "adam");
    defaults.put("--rows-total", "1000000");
    defaults.put("--seed", "1");
    defaults.put("--steps", "20");
    defaults.put("--warmup-seconds", "20");
    defaults.put("--repeats", "5");
    defaults.put("--kind", "tcp");
    defaults.put("--pinned", "yes");
    defaults.put("--peers", Machine.peers());
    return Arguments.parse("ranks", args, defaults);
  }

  public static void run(List<String> args) {
    Arguments arguments = arguments(args);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    int ranks = arguments.positive("--ranks");
    if (Integer.bitCount(ranks) != 1) {
      throw new IllegalArgumentException(
          "--ranks: got %d, expected a power of two, as other numbers share the work unevenly"
              .formatted(ranks));
    }
    boolean pinned = arguments.choice("--pinned", "yes", "no").equals("yes");
    RankProcesses processes =
        new RankProcesses("ranks", TrainingRank.class.getName(), List.of("-Xmx3g"), pinned);
    for (String model : arguments.list("--models")) {
      List<String> own = new ArrayList<>(List.of(model));
      own.addAll(args);
      processes.run(ranks, own);
    }
  }
}
