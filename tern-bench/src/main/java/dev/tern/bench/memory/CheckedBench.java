package dev.tern.bench.memory;

import dev.tern.bench.Arguments;
import dev.tern.bench.Machine;
import dev.tern.bench.Ratios;
import dev.tern.bench.Result;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.memory.Memory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;

/**
 * {@code bench checked}: what the checked mode of {@link Memory} costs while it is off. The same
 * loops run through {@code Memory} and on a plain segment, in turn. Both must compute the same, and
 * C2 must make as many bytes of machine code of both: then nothing is left of the check. With
 * {@code TERN_JAVA_OPTS=-Dtern.memory=checked} it shows what the mode costs while it is on.
 */
public final class CheckedBench {
  private static final int COUNT = 1 << 12;
  private static final long BYTES = 64L * COUNT;
  private static final int FULL_TIER = 4;
  private static final String COMPILATION = "jdk.Compilation";
  private static final int WARM_UPS = 20_000;
  private static final int BATCHES = 100;
  private static final int BATCH = 50;

  private final MemoryLoops own = new MemoryLoops.Checkable();
  private final MemoryLoops plain = new MemoryLoops.Plain();
  private final boolean json;
  private final int rounds;
  private final long from;
  private final long to;
  private final List<Double> ratios = new ArrayList<>();
  private long sum;

  private CheckedBench(Arguments arguments, Allocator allocator) {
    json = arguments.json();
    rounds = arguments.positive("--rounds");
    from = allocator.allocate(BYTES, "source");
    to = allocator.allocate(BYTES, "target");
  }

  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--rounds", "15");
    Arguments arguments = Arguments.parse("checked", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line() + (Memory.CHECKED ? ", checked" : ""));
    }
    try (Allocator allocator = Allocator.of(1 << 24);
        Recording compilations = new Recording()) {
      compilations.enable(COMPILATION).withoutThreshold();
      compilations.start();
      CheckedBench bench = new CheckedBench(arguments, allocator);
      bench.check();
      bench.times();
      compilations.stop();
      bench.sizes(codeBytes(compilations));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Both ways give the same bytes. */
  private void check() {
    requireSame("floats", loops -> loops.floats(from, to, COUNT));
    requireSame("longs", loops -> Memory.setLong(to, loops.longs(from, COUNT)));
    requireSame("small", loops -> loops.small(from, to, COUNT));
    requireSame("rows", loops -> loops.rows(from, to, COUNT));
  }

  /** Work by the one or the other. */
  @FunctionalInterface
  private interface Work {
    void by(MemoryLoops loops);
  }

  private void requireSame(String name, Work work) {
    List<Long> results = new ArrayList<>();
    for (MemoryLoops loops : List.of(own, plain)) {
      fill();
      work.by(loops);
      long hash = 0;
      for (long at = 0; at < BYTES; at += Long.BYTES) {
        hash = 31 * hash + Memory.getLong(to + at);
      }
      results.add(hash);
    }
    if (!results.get(0).equals(results.get(1))) {
      throw new IllegalStateException("checked: " + name + " differ between both ways");
    }
  }

  /** Floats from 0 on in both. */
  private void fill() {
    for (int i = 0; i < BYTES / Float.BYTES; i++) {
      Memory.setFloat(from + 4L * i, i);
      Memory.setFloat(to + 4L * i, i);
    }
  }

  private void times() {
    time("floats", loops -> loops.floats(from, to, COUNT));
    time("longs", loops -> sum += loops.longs(from, COUNT));
    time("small", loops -> loops.small(from, to, COUNT));
    time("rows", loops -> loops.rows(from, to, COUNT));
    Ratios.print("checked", 1, ratios, json);
  }

  private void time(String name, Work work) {
    fill();
    // Both are compiled before either is timed.
    for (int i = 0; i < WARM_UPS; i++) {
      work.by(own);
      work.by(plain);
    }
    List<Double> ours = new ArrayList<>();
    List<Double> others = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      List<Double> ourBatches = new ArrayList<>();
      List<Double> otherBatches = new ArrayList<>();
      for (int batch = 0; batch < BATCHES; batch++) {
        ourBatches.add(nanos(work, own));
        otherBatches.add(nanos(work, plain));
      }
      ours.add(Result.median(ourBatches));
      others.add(Result.median(otherBatches));
    }
    Result result = new Result("checked", name, 1, rates(ours), "M/s", "plain", rates(others));
    ratios.add(result.ratio());
    System.out.println(json ? result.toJson() : result.toText());
  }

  /** Nanoseconds a call, of a batch short enough that no other process comes in between. */
  private static double nanos(Work work, MemoryLoops loops) {
    long start = System.nanoTime();
    for (int i = 0; i < BATCH; i++) {
      work.by(loops);
    }
    return (System.nanoTime() - start) / (double) BATCH;
  }

  private static List<Double> rates(List<Double> nanos) {
    return nanos.stream().map(each -> 1e3 * COUNT / each).toList();
  }

  /** Bytes of machine code, by class and method, of the last compilation that calls enter. */
  private static Map<String, Long> codeBytes(Recording compilations) throws IOException {
    Path file = Files.createTempFile("tern-", ".jfr");
    try {
      compilations.dump(file);
      Map<String, Long> bytes = new HashMap<>();
      for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
        if (!event.getEventType().getName().equals(COMPILATION)) {
          continue;
        }
        RecordedMethod method = event.getValue("method");
        String type = method.getType().getName();
        if (type.contains("MemoryLoops$")
            && event.getLong("compileLevel") == FULL_TIER
            && !event.getBoolean("isOsr")) {
          String name = type.substring(type.indexOf('$') + 1) + "." + method.getName();
          bytes.put(name, event.getLong("codeSize"));
        }
      }
      return bytes;
    } finally {
      Files.delete(file);
    }
  }

  private void sizes(Map<String, Long> bytes) {
    boolean isSame = true;
    for (String loop : List.of("floats", "longs", "small", "rows")) {
      long ours = bytes.getOrDefault("Checkable." + loop, 0L);
      long others = bytes.getOrDefault("Plain." + loop, 0L);
      String form =
          json
              ? "{\"bench\":\"checked\",\"case\":\"code of %s\",\"value\":%d,\"unit\":\"bytes\","
                  + "\"plain\":%d}"
              : "checked  code of %-26s %d bytes, plain %d";
      System.out.println(String.format(Locale.ROOT, form, loop, ours, others));
      isSame &= ours > 0 && ours == others;
    }
    if (!isSame && !Memory.CHECKED) {
      throw new IllegalStateException("checked: got other code than of the plain class");
    }
  }
}
