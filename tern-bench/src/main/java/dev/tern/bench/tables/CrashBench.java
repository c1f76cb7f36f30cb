package dev.tern.bench.tables;

import dev.tern.bench.Arguments;
import dev.tern.bench.Children;
import dev.tern.bench.Machine;
import dev.tern.checkpoint.Checkpoint;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * {@code bench crash}: a training run is killed with SIGKILL again and again, and resumed each
 * time. After each kill the last checkpoint must be whole and no older than the one before. At the
 * end the weights must equal, byte for byte, the weights of a run that was never killed.
 *
 * <p>Each kill waits for one of the three moments of {@link Moment}, in turn. So a slow machine
 * sees the same kinds of kills as a fast one. More kills than asked for follow until one came while
 * a checkpoint was written.
 */
public final class CrashBench {
  /** How many times as many kills there may be, until they were of every kind. */
  private static final int MOST_TIMES = 10;

  /** When a process is killed. */
  private enum Moment {
    /** A random time after its first step. */
    ANY,
    /** After it wrote two checkpoints, so that the last one holds changes only. */
    WRITTEN,
    /** While the files of a checkpoint are being written. */
    WRITING
  }

  private final Arguments arguments;
  private final Path folder;
  private final SplittableRandom random;
  private long step;
  private int halves;
  private int longest;

  private CrashBench(Arguments arguments, Path folder) {
    this.arguments = arguments;
    this.folder = folder;
    random = new SplittableRandom(arguments.integer("--seed"));
  }

  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--kills", "100");
    defaults.put("--rows", "200000");
    defaults.put("--steps", "0");
    defaults.put("--millis", "1000");
    defaults.put("--within", "3000");
    defaults.put("--seed", "1");
    Arguments arguments = Arguments.parse("crash", args, defaults);
    if (!arguments.json()) {
      System.out.println(Machine.line());
    }
    try {
      Path folder = Files.createTempDirectory("tern-crash");
      try {
        new CrashBench(arguments, folder).measure();
      } finally {
        delete(folder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("crash: cannot run java or write files", e);
    }
  }

  private void measure() throws IOException {
    int least = arguments.positive("--kills");
    int kills = 0;
    while (kills < least || halves == 0 && kills < MOST_TIMES * least) {
      Moment[] all = Moment.values();
      trainAndKill(kills < least ? all[kills % all.length] : Moment.WRITING);
      kills++;
      verify(kills);
    }
    require(step > 0, kills + " kills without a checkpoint");
    require(longest > 1, kills + " kills without a checkpoint of changes");
    require(halves > 0, kills + " kills, none while a checkpoint was written");
    long last = step + 20;
    String steps = Long.toString(last);
    byte[] killed = finish("killed", steps, arguments.text("--steps"), arguments.text("--millis"));
    byte[] whole = finish("whole", steps, "0", "0");
    require(Arrays.equals(killed, whole), "weights other than of a run never killed");
    if (arguments.json()) {
      System.out.printf(
          "{\"suite\":\"crash\",\"kills\":%d,\"steps\":%d,\"halves\":%d,\"bytes\":%d}%n",
          kills, last, halves, whole.length);
    } else {
      System.out.printf(
          "%d kills in %d steps: every time a whole checkpoint, of up to %d parts; %d came while"
              + " one was written; in the end the same %d bytes as a run never killed%n",
          kills, last, longest, halves, whole.length);
    }
  }

  private void trainAndKill(Moment moment) throws IOException {
    String[] options =
        options("killed", Long.toString(Long.MAX_VALUE), text("--steps"), text("--millis"));
    List<String> command = Children.command(List.of("-Xmx1g"), CrashRun.class.getName(), options);
    Path output = folder.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .redirectOutput(output.toFile())
            .start();
    try {
      while (process.isAlive() && !Files.readString(output).contains("step ")) {
        Thread.sleep(5);
      }
      await(moment, process);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("crash: interrupted", e);
    } finally {
      process.destroyForcibly();
      process.onExit().join();
    }
    String printed = Files.readString(output);
    String from = "from " + step + "\n";
    require(printed.startsWith(from), "a process that did not go on \"" + from + "\": " + printed);
    // 128 + SIGKILL: else it ended before.
    require(process.exitValue() == 137, "a process with status " + process.exitValue());
  }

  private void await(Moment moment, Process process) throws IOException, InterruptedException {
    switch (moment) {
      case ANY -> Thread.sleep(random.nextInt(arguments.positive("--within")));
      case WRITTEN -> {
        for (int seen = 0; seen < 2 && process.isAlive(); seen++) {
          Set<String> before = checkpoints();
          while (process.isAlive() && before.containsAll(checkpoints())) {
            Thread.sleep(1);
          }
        }
      }
      case WRITING -> {
        while (process.isAlive() && !isHalfWritten()) {
          Thread.onSpinWait();
        }
      }
    }
  }

  private boolean isHalfWritten() throws IOException {
    return names(folder.resolve("killed")).stream().anyMatch(name -> name.endsWith(".writing"));
  }

  /** Names of the checkpoints in the run's folder that are whole. */
  private Set<String> checkpoints() throws IOException {
    return names(folder.resolve("killed")).stream()
        .filter(name -> name.startsWith("step-") && !name.endsWith(".writing"))
        .collect(Collectors.toSet());
  }

  private void verify(int kill) throws IOException {
    Path run = folder.resolve("killed");
    boolean half = isHalfWritten();
    halves += half ? 1 : 0;
    long before = step;
    int parts = 0;
    if (Checkpoint.existsAt(run)) {
      Checkpoint latest = Checkpoint.openLatest(run);
      step = latest.step();
      parts = latest.parts().size();
    }
    longest = Math.max(longest, parts);
    require(step >= before, "step " + step + " after step " + before);
    if (!arguments.json()) {
      String state = half ? ", half of another" : "";
      System.out.printf("kill %3d  step %6d of %2d parts%s%n", kill, step, parts, state);
    }
  }

  /** Trains to the end in a process of its own; the bytes of all files of the last weights. */
  private byte[] finish(String run, String last, String steps, String millis) throws IOException {
    Children.output(List.of("-Xmx1g"), CrashRun.class.getName(), options(run, last, steps, millis));
    try (Stream<Path> files = Files.walk(folder.resolve(run + "-end"))) {
      var all = new ByteArrayOutputStream();
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile).sorted()::iterator) {
        all.write(Files.readAllBytes(file));
      }
      return all.toByteArray();
    }
  }

  private String[] options(String run, String last, String steps, String millis) {
    String end = folder.resolve(run + "-end").toString();
    return new String[] {folder.resolve(run).toString(), text("--rows"), last, steps, millis, end};
  }

  private String text(String name) {
    return arguments.text(name);
  }

  private static List<String> names(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> children = Files.list(folder)) {
      return children.map(child -> String.valueOf(child.getFileName())).toList();
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> below = Files.walk(folder)) {
      for (Path path : below.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  private static void require(boolean holds, String got) {
    if (!holds) {
      throw new IllegalStateException("crash: got " + got);
    }
  }
}
