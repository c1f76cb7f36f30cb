package dev.tern.bench.endtoend;

import dev.tern.bench.Arguments;
import dev.tern.stream.KafkaBroker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * {@code bench end-to-end}: a model's day and the next one, in processes of their own. Day 1 is
 * trained and served, by its folder and over a topic of a broker in this process, and a client asks
 * both all along. Day 2 begins with the weights of day 1; its changes flow both ways. Trainer,
 * publisher and server are killed with SIGKILL and begun again. Before and after, scores are those
 * of {@code tern predict}, to the bit. Each check is a line: met, missed, or skipped where no
 * broker runs on this machine.
 */
public final class EndToEnd {
  private static final String FOLDER = "folder";
  private static final String TOPIC = "topic";
  private static final Pattern SERVING =
      Pattern.compile("serving \\S+ step \\d+ at (http://[^/]+)/");

  /** Something that a check tells of. */
  private record Checked(String what, boolean met, String got) {}

  private final Path work;
  private final Commands commands;
  private final int changes;
  private final List<Checked> checks = new ArrayList<>();
  private Optional<KafkaBroker> broker = Optional.empty();
  private String topic = "";
  private boolean needsBroker;

  private EndToEnd(Path work, Commands commands, int changes) {
    this.work = work;
    this.commands = commands;
    this.changes = changes;
  }

  /** Runs all; throws if a check is missed. */
  public static void run(List<String> args) {
    Map<String, String> defaults = new TreeMap<>();
    defaults.put("--rows", "200");
    defaults.put("--changes", "2");
    defaults.put("--broker", "wanted");
    Arguments arguments = Arguments.parse("end-to-end", args, defaults);
    try {
      Path work = Files.createTempDirectory("tern-end-to-end");
      boolean met;
      try (Commands commands = new Commands(work)) {
        EndToEnd all = new EndToEnd(work, commands, arguments.positive("--changes"));
        all.needsBroker = arguments.choice("--broker", "wanted", "required").equals("required");
        met = all.checkAll(arguments.positive("--rows"));
        if (!met) {
          System.out.println(commands.printed());
        }
      } finally {
        delete(work);
      }
      if (!met) {
        System.exit(1);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("end-to-end: cannot write files", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("end-to-end: interrupted", e);
    }
  }

  private boolean checkAll(int rows) throws IOException, InterruptedException {
    long start = System.nanoTime();
    try {
      prepare(rows);
      serveAndTrainOn();
    } catch (IllegalStateException e) {
      check("all ran to the end", false, String.valueOf(e.getMessage()));
    } finally {
      broker.ifPresent(KafkaBroker::close);
    }
    long missed = checks.stream().filter(each -> !each.met()).count();
    System.out.printf(
        "%d met, %d missed%s, in %.0f s%n",
        checks.size() - missed,
        missed,
        broker.isPresent() ? "" : ", those of the topic skipped",
        (System.nanoTime() - start) / 1e9);
    return missed == 0;
  }

  private void check(String what, boolean met, String got) {
    checks.add(new Checked(what, met, got));
    System.out.println((met ? "met      " : "missed   ") + what + (met ? "" : ": " + got));
  }

  private List<String> models() {
    return broker.isPresent() ? List.of(FOLDER, TOPIC) : List.of(FOLDER);
  }

  /** Rows to ask for, the run of day 1, and a broker. */
  private void prepare(int rows) throws IOException, InterruptedException {
    Files.writeString(
        work.resolve("run.yaml"),
        """
        data: {format: criteo-synthetic, rows: 20000, eval_rows: 0, scale: 0.001, sparse: {encode: id}, dense: {transform: log1p}}
        model: {type: deepfm, embedding: 4, hidden: [8]}
        run: {dir: %s}
        train: {batch: 100, epochs: 1, threads: 1, memory: 256m, optimizer: {type: adam, lr: 0.001, lazy: true}, delta: {seconds: 1}}
        """
            .formatted(commands.path("day1")));
    Commands.Running training = commands.start("train", commands.path("run.yaml"));
    try {
      KafkaBroker started = KafkaBroker.start(work.resolve("broker"));
      broker = Optional.of(started);
      topic = started.topic("ads").toString();
    } catch (RuntimeException | LinkageError e) {
      if (needsBroker) {
        throw new IllegalStateException("no broker starts here: " + e, e);
      }
      System.out.println("skipped  what needs a broker, as none starts here: " + e);
    }
    Commands.Running generating =
        commands.start(
            "data",
            "generate",
            "--rows",
            Integer.toString(rows),
            "--scale",
            "0.001",
            "--first-row",
            "5000000",
            "--out",
            commands.path("asked.csv"));
    training.require();
    generating.require();
    link("day1");
    // The server waits for what this sends.
    broker.ifPresent(
        _ -> commands.start("publish", commands.path("day1"), "--to", topic, "--create"));
  }

  /** Lets {@code current} be another run, from one moment to the next. */
  private void link(String run) throws IOException {
    Path next = work.resolve("next");
    Files.createSymbolicLink(next, work.resolve(run));
    Files.move(next, work.resolve("current"), StandardCopyOption.ATOMIC_MOVE);
  }

  private void serveAndTrainOn() throws IOException, InterruptedException {
    AskedRows rows = AskedRows.read(work.resolve("asked.csv"));
    Commands.Running server = serve();
    try (Asking asking = new Asking(rows)) {
      String url = url(server);
      for (String model : models()) {
        checkScores(asking, url, model, "day1", "after day 1");
      }
      try (Load load = new Load(asking, models(), url)) {
        trainOn(load);
        double refused = refused(asking, url);
        server = killServer(server, load);
        String now = url(server);
        load.up(now);
        finish(load);
        for (String model : models()) {
          checkScores(asking, now, model, "day2", "after day 2 and all kills");
        }
        check(
            "%,d answers all along, of %d steps: each is of one step, and all of a step are alike"
                .formatted(load.answers(), load.steps()),
            load.faults().isEmpty() && load.steps() > 2,
            load.faults().toString());
        refused += refused(asking, now);
        check("nothing was refused", refused == 0, refused + " refusals");
      }
      int code = server.stop();
      check("the server ends when it is asked to", code == 0, "exit code " + code);
    }
  }

  private double refused(Asking asking, String url) throws IOException, InterruptedException {
    double feeds = broker.isPresent() ? asking.metric(url, "tern_feed_refused_total") : 0;
    return feeds + asking.metric(url, "tern_reload_failures_total");
  }

  private Commands.Running serve() throws InterruptedException {
    List<String> arguments = new ArrayList<>(List.of("serve"));
    arguments.add(FOLDER + "=" + commands.path("current"));
    if (broker.isPresent()) {
      arguments.add(TOPIC + "=" + topic);
    }
    arguments.addAll(List.of("--port", "0", "--grace", "0s", "--spool", commands.path("spool")));
    arguments.addAll(List.of("--max-inflight", "2")); // Fewer to be made warm.
    Commands.Running server = commands.start(arguments.toArray(String[]::new));
    server.await("server", () -> SERVING.matcher(server.printed()).find());
    return server;
  }

  private static String url(Commands.Running server) {
    Matcher match = SERVING.matcher(server.printed());
    if (!match.find()) {
      throw new IllegalStateException("no server: " + server.printed());
    }
    return match.group(1);
  }

  private void checkScores(Asking asking, String url, String model, String run, String when)
      throws IOException, InterruptedException {
    Path file = work.resolve(run + ".csv");
    if (!Files.exists(file)) {
      commands
          .start(
              "predict",
              commands.path(run),
              "--latest",
              commands.path("asked.csv"),
              "--set",
              "data.format=csv",
              "--out",
              file.toString())
          .require();
    }
    List<Float> expected =
        Files.readAllLines(file).stream().skip(1).map(Float::parseFloat).toList();
    List<Float> got = asking.all(url, model);
    check(
        "%d scores by the %s %s are those of tern predict".formatted(got.size(), model, when),
        got.equals(expected),
        "others, such as %s for %s".formatted(got.getFirst(), expected.getFirst()));
  }

  private Commands.Running train(boolean resume) {
    List<String> arguments = new ArrayList<>(List.of("train", commands.path("run.yaml")));
    arguments.addAll(List.of("--set", "data.rows=1000000000"));
    arguments.addAll(List.of("--set", "run.dir=" + commands.path("day2")));
    arguments.addAll(resume ? List.of("--resume") : List.of("--from", commands.path("day1")));
    return commands.start(arguments.toArray(String[]::new));
  }

  private Optional<Commands.Running> publish() {
    return broker.map(_ ->
        commands.start("publish", commands.path("day2"), "--to", topic, "--follow", "--take-over"));
  }

  /** Trains day 2 until changes came all ways, and kills trainer and publisher. */
  private void trainOn(Load load) throws IOException, InterruptedException {
    Commands.Running training = train(false);
    Optional<Commands.Running> publishing = publish();
    training.await("checkpoint", () -> !commands.checkpoints("day2").isEmpty());
    link("day2");
    training.await(
        "changes that are served",
        () -> {
          List<String> there = commands.checkpoints("day2");
          List<Long> late = there.stream().skip(changes).map(Commands::step).toList();
          return models().stream().allMatch(model -> late.contains(load.step(model)));
        });
    training.kill();
    if (publishing.isPresent()) {
      publishing.get().kill();
    }
    check("changes of day 2 were served %s".formatted(models()), true, "");
  }

  private Commands.Running killServer(Commands.Running server, Load load)
      throws InterruptedException {
    load.down();
    server.kill();
    return serve();
  }

  /** Resumes day 2, ends it, and waits until its last step is served. */
  private void finish(Load load) throws InterruptedException {
    long before = Commands.step(commands.checkpoints("day2").getLast());
    Commands.Running training = train(true);
    Optional<Commands.Running> publishing = publish();
    training.await(
        "checkpoint after the kill",
        () -> Commands.step(commands.checkpoints("day2").getLast()) > before);
    training.stop();
    long last = Commands.step(commands.checkpoints("day2").getLast());
    boolean served = await(() -> models().stream().allMatch(model -> load.step(model) == last));
    check(
        "the last step of a run that was killed and resumed is served",
        served,
        "step %s, expected %d".formatted(models().stream().map(load::step).toList(), last));
    if (publishing.isPresent()) {
      int code = publishing.get().stop();
      check("the publisher ends when it is asked to", code == 0, "exit code " + code);
    }
  }

  private static boolean await(Callable<Boolean> condition) throws InterruptedException {
    try {
      for (int i = 0; i < 2_000; i++) {
        if (condition.call()) {
          return true;
        }
        Thread.sleep(10);
      }
      return false;
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> below = Files.walk(folder)) {
      for (Path each : below.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    }
  }
}
