package dev.tern.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.grading.GradingResult;

/**
 * {@code bench stress}: has jcstress run the tests of {@code dev.tern.bench.stress}, each in
 * processes of its own, and prints what they saw. Ends in an error where that is forbidden, or a
 * test did not run. With {@code --modes all} each runs in every mode of the JVM that jcstress
 * knows, its threads compiled in every combination: half a minute a test and more.
 */
final class StressBench {
  private final Map<String, Map<String, Seen>> tests = new TreeMap<>();
  private final List<String> failures = new ArrayList<>();

  /** How often an outcome was seen, and whether it may be. */
  private record Seen(long count, boolean forbidden) {
    Seen plus(Seen other) {
      return new Seen(count + other.count, forbidden || other.forbidden);
    }
  }

  private StressBench() {}

  static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--tests", "dev.tern.bench.stress");
    defaults.put("--millis", "300");
    defaults.put("--iterations", "5");
    defaults.put("--modes", "one");
    Arguments arguments = Arguments.parse("stress", args, defaults);
    try {
      Path folder = Files.createTempDirectory("tern-stress");
      try {
        StressBench bench = new StressBench();
        bench.read(results(arguments, folder));
        bench.report(arguments.json());
      } finally {
        delete(folder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("stress: cannot run java or write files", e);
    }
  }

  /** Runs all in a child that works in {@code folder}. */
  private static Collection<TestResult> results(Arguments arguments, Path folder)
      throws IOException {
    boolean all = arguments.choice("--modes", "one", "all").equals("all");
    List<String> command =
        Children.command(
            List.of(),
            org.openjdk.jcstress.Main.class.getName(),
            "-t",
            arguments.text("--tests"),
            "-time",
            Integer.toString(arguments.positive("--millis")),
            "-iters",
            Integer.toString(arguments.positive("--iterations")),
            // Each state holds a table.
            "-strideSize",
            "32",
            "-strideCount",
            "4",
            "-sc",
            Boolean.toString(all),
            all ? "-jvmArgsPrepend" : "-jvmArgs",
            "--add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED");
    Path log = folder.resolve("log");
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    int status;
    try {
      status = process.waitFor();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
      throw new IllegalStateException("stress: interrupted", e);
    }
    List<Path> files = binaries(folder);
    if (files.size() != 1) {
      throw new IllegalStateException(
          "stress: got status " + status + " without results: " + Files.readString(log));
    }
    InProcessCollector results = new InProcessCollector();
    DiskReadCollector reader = new DiskReadCollector(files.getFirst().toString(), results);
    try {
      reader.dump();
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("stress: got results that are none of jcstress", e);
    } finally {
      reader.close();
    }
    return results.getTestResults();
  }

  private static List<Path> binaries(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".bin.gz")).toList();
    }
  }

  private void read(Collection<TestResult> results) {
    for (TestResult result : results) {
      Map<String, Seen> seen = tests.computeIfAbsent(result.getName(), _ -> new TreeMap<>());
      for (GradingResult outcome : result.grading().gradingResults.values()) {
        if (outcome.count > 0) {
          boolean forbidden = outcome.expect == Expect.FORBIDDEN;
          seen.merge(outcome.id, new Seen(outcome.count, forbidden), Seen::plus);
        }
      }
      if (result.status() != Status.NORMAL) {
        failures.add(result.getName() + ": " + result.status() + " " + result.getMessages());
      }
    }
  }

  private void report(boolean json) {
    long forbidden = 0;
    for (Map.Entry<String, Map<String, Seen>> test : tests.entrySet()) {
      long wrong = 0;
      for (Seen seen : test.getValue().values()) {
        wrong += seen.forbidden ? seen.count : 0;
      }
      forbidden += wrong;
      if (json) {
        System.out.printf(
            "{\"suite\":\"stress\",\"test\":\"%s\",\"outcomes\":{%s},\"forbidden\":%d}%n",
            test.getKey(), outcomes(test.getValue(), "\"%s\":%d", ","), wrong);
      } else {
        String name = test.getKey().substring(test.getKey().lastIndexOf("stress.") + 7);
        System.out.printf(
            "%-36s %s; %d forbidden%n", name, outcomes(test.getValue(), "(%s) %d", ", "), wrong);
      }
    }
    failures.forEach(System.err::println);
    if (tests.isEmpty() || forbidden > 0 || !failures.isEmpty()) {
      throw new IllegalStateException(
          "stress: got %d forbidden outcomes of %d tests, %d of which failed to run"
              .formatted(forbidden, tests.size(), failures.size()));
    }
  }

  private static String outcomes(Map<String, Seen> seen, String format, String between) {
    return seen.entrySet().stream()
        .map(outcome -> format.formatted(outcome.getKey(), outcome.getValue().count))
        .collect(Collectors.joining(between));
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> below = Files.walk(folder)) {
      for (Path path : below.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
