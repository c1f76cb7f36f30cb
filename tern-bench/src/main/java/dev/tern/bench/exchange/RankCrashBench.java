package dev.tern.bench.exchange;

import dev.tern.bench.Arguments;
import dev.tern.bench.Machine;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.train.PlantedRuns;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * {@code bench rank-crash}: several ranks, each a process, train one model. At a random moment one
 * of them is killed (SIGKILL) or stands still (SIGSTOP). All others must end within their deadline;
 * then as many ranks as a random number says go on from the last checkpoint. At the end the weights
 * must equal, byte for byte, those of one rank that was never stopped.
 */
public final class RankCrashBench {
  /** Beyond the deadline of a silent peer: the machine may be busy. */
  private static final long MORE_MILLIS = 10_000;

  private static final int MOST_RANKS = 4;

  /** What happens to a rank. */
  private enum Fault {
    KILL,
    STOP
  }

  private final Arguments arguments;
  private final Path folder;
  private final SplittableRandom random;
  private final RankProcesses processes =
      new RankProcesses("rank-crash", CrashRank.class.getName(), List.of("-Xmx512m"), false);

  private int faults;
  private int kills;
  private long longest;

  private RankCrashBench(Arguments arguments, Path folder) {
    this.arguments = arguments;
    this.folder = folder;
    random = new SplittableRandom(arguments.integer("--seed"));
  }

  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--runs", "20");
    defaults.put("--faults", "2");
    defaults.put("--within", "1500");
    defaults.put("--seed", "1");
    Arguments arguments = Arguments.parse("rank-crash", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    Path folder = RankProcesses.folder();
    try {
      new RankCrashBench(arguments, folder).measure();
    } catch (IOException e) {
      throw new UncheckedIOException("rank-crash: cannot run java or write files", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("rank-crash: interrupted", e);
    } finally {
      RankProcesses.delete(folder);
    }
  }

  private void measure() throws IOException, InterruptedException {
    CrashRank.alone(folder.resolve("alone"));
    byte[] expected = PlantedRuns.contents(folder.resolve("alone"));
    int runs = arguments.positive("--runs");
    for (int run = 1; run <= runs; run++) {
      Path own = Files.createDirectory(folder.resolve("run-" + run));
      String story = trainThrough(own);
      Checkpoint.open(own.resolve("end")).reshard(own.resolve("one"), 1);
      if (!Arrays.equals(PlantedRuns.contents(own.resolve("one")), expected)) {
        throw new IllegalStateException(
            "rank-crash: got other weights than of one rank after " + story);
      }
      if (!arguments.json()) {
        System.out.printf("run %3d: %s%n", run, story);
      }
      RankProcesses.delete(own);
    }
    System.out.printf(
        arguments.json()
            ? "{\"bench\":\"rank-crash\",\"runs\":%d,\"faults\":%d,\"kills\":%d,\"longest_ms\":%d,\"bytes\":%d}%n"
            : "%d runs through %d faults, %d of them kills: the others ended after %,d ms at most,"
                + " and all runs came to the same %,d bytes as one rank that was never stopped%n",
        runs,
        faults,
        kills,
        longest,
        expected.length);
  }

  /** Trains with faults in between; returns what happened. */
  private String trainThrough(Path own) throws IOException, InterruptedException {
    StringBuilder story = new StringBuilder();
    int wanted = arguments.positive("--faults");
    for (int attempt = 0; ; attempt++) {
      // A rank alone is lost whole; some must be left to see it.
      int ranks = random.nextInt(attempt < wanted ? 2 : 1, MOST_RANKS + 1);
      Path links = Files.createDirectory(own.resolve("links-" + attempt));
      List<Process> running = new ArrayList<>();
      try {
        for (int rank = 0; rank < ranks; rank++) {
          List<String> more =
              List.of(
                  String.valueOf(attempt),
                  own.resolve("run").toString(),
                  own.resolve("end").toString());
          running.add(processes.start(rank, ranks, links, more));
        }
        story.append(ranks).append(" ranks");
        if (attempt == wanted) {
          requireEnd(running);
          return story.toString();
        }
        story.append(", ").append(fault(running)).append(", ");
      } finally {
        running.forEach(Process::destroyForcibly);
        for (Process each : running) {
          each.waitFor();
        }
      }
    }
  }

  private static void requireEnd(List<Process> running) throws IOException, InterruptedException {
    for (Process each : running) {
      each.getInputStream().transferTo(OutputStream.nullOutputStream());
      if (each.waitFor() != 0) {
        throw new IllegalStateException(
            "rank-crash: got status %d of a rank that nobody disturbed, expected 0"
                .formatted(each.exitValue()));
      }
    }
  }

  /** Has something happen to one of the ranks; returns what. */
  private String fault(List<Process> running) throws IOException, InterruptedException {
    BufferedReader lines = running.getFirst().inputReader();
    if (lines.readLine() == null) {
      throw new IllegalStateException("rank-crash: a rank ended before its first step");
    }
    Thread.ofVirtual().start(() -> lines.lines().forEach(_ -> {}));
    Thread.sleep(random.nextInt(arguments.positive("--within")));
    int rank = random.nextInt(running.size());
    Fault fault = Fault.values()[random.nextInt(Fault.values().length)];
    Process victim = running.get(rank);
    long start = System.nanoTime();
    if (fault == Fault.KILL) {
      victim.destroyForcibly();
      kills++;
    } else {
      new ProcessBuilder("kill", "-STOP", String.valueOf(victim.pid())).start().waitFor();
    }
    faults++;
    long most = CrashRank.SILENCE.toMillis() + MORE_MILLIS;
    boolean ended = true;
    for (Process each : running) {
      long left = most - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      if (each == victim) {
        continue;
      }
      if (!each.waitFor(Math.max(1, left), TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException(
            "rank-crash: got a rank that still runs %,d ms after %s of rank %d, expected it to end"
                .formatted(most, fault, rank));
      }
      ended &= each.exitValue() == 0 || each.exitValue() == CrashRank.ENDED;
    }
    if (!ended) {
      throw new IllegalStateException(
          "rank-crash: got another error than that of a lost rank after %s of rank %d"
              .formatted(fault, rank));
    }
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    longest = Math.max(longest, millis);
    return "%s rank %d, others ended after %,d ms".formatted(fault, rank, millis);
  }
}
