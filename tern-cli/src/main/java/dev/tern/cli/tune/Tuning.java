package dev.tern.cli.tune;

import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.Every;
import dev.tern.cli.run.Format;
import dev.tern.cli.run.MetricsLine;
import dev.tern.cli.run.RunException;
import dev.tern.cli.run.RunFolder;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.train.Monitor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Trains the trials of a search one after another, each as a run in a folder of its own. A trial
 * that fails is noted, and the search goes on.
 */
final class Tuning {
  /** The configuration of the best trial, in the folder of the search. */
  static final String BEST = "best.yaml";

  private final Plan plan;
  private final Training.Session session;
  private final Path folder;
  private final List<Trial> trials;
  private final Config first;
  private TuneFile file;

  /** Epochs to train and those trained, by this process, and the seconds that these took. */
  private long planned;

  private long done;
  private double seconds;

  /** Whether this process has begun a trial. */
  private boolean trained;

  private Tuning(
      Plan plan, Training.Session session, List<Trial> trials, Config first, TuneFile file) {
    this.plan = plan;
    this.session = session;
    this.trials = trials;
    this.first = first;
    this.file = file;
    folder = first.run().dir();
  }

  /**
   * Makes a search ready; trains nothing.
   *
   * @param earlier what becomes of an earlier search in the folder
   * @throws ConfigException if no trial has a configuration that is good
   */
  static Tuning open(Plan plan, Training.Session session, RunFolder.Earlier earlier) {
    List<Trial> drawn = new ArrayList<>(plan.draw());
    if (drawn.size() < plan.trials()) {
      session.note(
          "got %s trials, as the search has no more that differ"
              .formatted(Format.whole(drawn.size())));
    }
    Config first = check(plan, drawn);
    requireEvaluation(first);
    Path folder = first.run().dir();
    Optional<TuneFile> before = TuneFile.read(folder);
    requireFolder(folder, before.isPresent(), earlier);
    FixedSettings fixed = FixedSettings.of(plan.searches(), first);
    if (before.isPresent() && earlier == RunFolder.Earlier.RESUME) {
      List<Trial> trials = new ArrayList<>(before.get().goingOn(folder, plan, fixed, drawn));
      TuneFile file = TuneFile.of(plan, fixed, trials).with(before.get().figure(), trials);
      Tuning tuning = new Tuning(plan, session, trials, first, file);
      tuning.requireSameConfigurations();
      tuning.noteFewer();
      return tuning;
    }
    before.ifPresent(file -> remove(folder, file));
    return new Tuning(plan, session, drawn, first, TuneFile.of(plan, fixed, drawn));
  }

  /**
   * Removes the runs of an earlier search, whose trials had other values, and what it found best.
   */
  private static void remove(Path folder, TuneFile before) {
    before.trials().forEach(trial -> RunFolder.remove(folder.resolve(trial.folder())));
    try {
      Files.deleteIfExists(folder.resolve(BEST));
    } catch (IOException e) {
      throw new UncheckedIOException(folder.resolve(BEST) + ": " + e.getMessage(), e);
    }
  }

  /** Loads the configurations of all trials: those that are refused have failed. */
  private static Config check(Plan plan, List<Trial> trials) {
    Optional<Config> first = Optional.empty();
    Optional<ConfigException> refused = Optional.empty();
    for (int i = 0; i < trials.size(); i++) {
      try {
        Config config = plan.of(trials.get(i));
        first = Optional.of(first.orElse(config));
      } catch (ConfigException e) {
        refused = Optional.of(refused.orElse(e));
        trials.set(i, trials.get(i).failed(message(e)));
      }
    }
    if (first.isEmpty()) {
      throw refused.orElseThrow();
    }
    return first.get();
  }

  private static void requireEvaluation(Config config) {
    if (!config.data().evaluates()) {
      throw new ConfigException(
          "tune: got no evaluation rows, expected some to compare trials on; give data.eval");
    }
    if (config.train().options().evaluateEvery() == Every.NEVER.steps()) {
      throw new ConfigException(
          "tune: got train.evaluate_every: never, expected evaluations to compare trials by; set it"
              + " to epoch or a number of steps");
    }
  }

  private static void requireFolder(Path folder, boolean searched, RunFolder.Earlier earlier) {
    if (searched && earlier == RunFolder.Earlier.REFUSE) {
      throw new RunException(
          folder
              + ": got a folder with an earlier search, expected a new one; give --resume to go on"
              + " with it, --overwrite to replace it, or --set run.dir=OTHER");
    }
    if (searched || !Files.isDirectory(folder)) {
      return;
    }
    try (Stream<Path> inside = Files.list(folder)) {
      Optional<Path> found =
          inside.filter(path -> !path.toString().endsWith(".part")).sorted().findFirst();
      if (found.isPresent()) {
        throw new RunException(
            folder
                + ": got a folder that holds "
                + found.get().getFileName()
                + " and no search of Tern's, expected a new or an empty one; give --set"
                + " run.dir=OTHER");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(folder + ": cannot be read", e);
    }
  }

  /** Trials that have begun keep what they reached, so their configuration must be that of now. */
  private void requireSameConfigurations() {
    for (Trial trial : trials) {
      Optional<Path> written = RunFolder.earlier(dir(trial));
      if (written.isPresent()) {
        Config now = plan.of(trial, dir(trial), Optional.empty());
        TuneFile.requireUnchanged(folder, now.changesFrom(Config.loadEarlier(written.get())));
      }
    }
  }

  /** Says what becomes of trials beyond those that are asked for now. */
  private void noteFewer() {
    if (plan.trials() < trials.size()) {
      session.note(
          "--trials: got %s for a search that has %s; those beyond stay as they are"
              .formatted(Format.whole(plan.trials()), Format.whole(trials.size())));
    }
  }

  private Path dir(Trial trial) {
    return folder.resolve(trial.folder());
  }

  /** Trains what is not trained yet; whether it was interrupted. */
  boolean run() {
    makeFolder();
    save();
    List<Long> rounds =
        plan.halving() ? Plan.rounds(first.train().options().epochs()) : List.of(0L);
    planned = epochsLeft(rounds);
    List<Integer> going = new ArrayList<>();
    for (int i = 0; i < trials.size(); i++) {
      going.add(i);
    }
    for (int round = 0; round < rounds.size(); round++) {
      long epochs = rounds.get(round);
      if (plan.halving()) {
        session.note(
            "round %d of %d: %d trials to %s epochs"
                .formatted(round + 1, rounds.size(), going.size(), Format.whole(epochs)));
      }
      for (int i : going) {
        if (isOpen(trials.get(i), epochs) && train(i, epochs)) {
          return true;
        }
      }
      going = best(going, epochs, Plan.inRound(trials.size(), round + 1));
    }
    if (!trained) {
      session.note("no trial was left to train; the table has what the search reached before");
    }
    return false;
  }

  private void makeFolder() {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(folder + ": cannot be made", e);
    }
  }

  /** Whether a trial has still to reach {@code epochs}, 0 for those of its configuration. */
  private boolean isOpen(Trial trial, long epochs) {
    boolean reached = epochs == 0 ? !trial.rounds().isEmpty() : !Double.isNaN(trial.value(epochs));
    return trial.number() <= plan.trials() && trial.failure().isEmpty() && !reached;
  }

  /** The epochs that are left, about: which trials go on is not known yet. */
  private long epochsLeft(List<Long> rounds) {
    if (!plan.halving()) {
      return trials.stream()
          .filter(trial -> isOpen(trial, 0))
          .mapToLong(trial -> plan.of(trial).train().options().epochs())
          .sum();
    }
    long left = 0;
    for (int round = 0; round < rounds.size(); round++) {
      long epochs = rounds.get(round);
      long each = epochs - (round == 0 ? 0 : rounds.get(round - 1));
      long reached = trials.stream().filter(trial -> !Double.isNaN(trial.value(epochs))).count();
      left += Math.max(0, Plan.inRound(trials.size(), round) - reached) * each;
    }
    return left;
  }

  /** The best trials of a round, in their order. */
  private List<Integer> best(List<Integer> going, long epochs, int count) {
    if (file.figure().isEmpty()) {
      return List.of(); // All failed.
    }
    Goal by = file.figure().get();
    Comparator<Integer> better =
        Comparator.comparingDouble(
            i -> by.more() ? -trials.get(i).value(epochs) : trials.get(i).value(epochs));
    return going.stream()
        .filter(i -> !Double.isNaN(trials.get(i).value(epochs)))
        .sorted(better)
        .limit(count)
        .sorted()
        .toList();
  }

  /**
   * Trains one trial; whether it was interrupted.
   *
   * @throws ConfigException if what it has trained cannot go on; the trial stays as it is
   */
  private boolean train(int index, long epochs) {
    Trial trial = trials.get(index);
    long before = System.nanoTime();
    session.note("trial %d of %d: %s".formatted(trial.number(), trials.size(), trial.shown()));
    long own = 0;
    trained = true;
    boolean begun = RunFolder.earlier(dir(trial)).isPresent();
    try {
      Optional<Long> most = epochs == 0 ? Optional.empty() : Optional.of(epochs);
      Config config = plan.of(trial, dir(trial), most);
      own = config.train().options().epochs() - trial.last().map(Trial.Round::epochs).orElse(0L);
      Training.Result result = session.train(config);
      if (result.stopped()) {
        session.note("--resume goes on with trial " + trial.number());
        return true;
      }
      trials.set(index, ended(trial, config, result));
    } catch (ConfigException | IllegalArgumentException e) {
      if (begun) {
        throw e; // A refusal to go on says nothing about the trial's values.
      }
      trials.set(index, trial.failed(message(e)));
    } catch (IllegalStateException | OutOfBudgetException e) {
      trials.set(index, trial.failed(message(e)));
    }
    seconds += (System.nanoTime() - before) / 1e9;
    done += own;
    file = file.with(file.figure(), trials);
    save();
    session.note(ended(trials.get(index)));
    return false;
  }

  private Trial ended(Trial trial, Config config, Training.Result result) {
    Monitor monitor = config.train().options().monitor();
    Optional<MetricsLine> best = result.best();
    double value = best.map(line -> Goal.value(monitor, line)).orElse(Double.NaN);
    if (Double.isNaN(value)) {
      return trial.failed(
          "evaluations have no figure to compare it by; check data.eval and train.monitor");
    }
    file = file.with(Optional.of(Goal.of(monitor, best.orElseThrow())), trials);
    return trial.after(
        new Trial.Round(
            config.train().options().epochs(), value, best.orElseThrow().step(), result.seconds()));
  }

  /** A line about a trial that ended: its figure, the best so far, the time left. */
  private String ended(Trial trial) {
    String own =
        trial
            .failure()
            .map(why -> "failed: " + why)
            .orElseGet(() -> name() + " " + Format.fixed(trial.value(), 5));
    String top =
        best()
            .map(best ->
                best.number() == trial.number()
                    ? ", the best so far"
                    : ", the best so far %s of trial %d"
                        .formatted(Format.fixed(best.value(), 5), best.number()))
            .orElse("");
    String left =
        done > 0 && planned > done
            ? "; " + Format.time(seconds / done * (planned - done)) + " left"
            : "";
    return "trial %d  %s%s%s".formatted(trial.number(), own, top, left);
  }

  private void save() {
    file.write(folder);
    TuneFile.write(folder.resolve("tune.html"), new TunePage(plan, file, folder).html());
    best()
        .ifPresent(trial ->
            TuneFile.write(
                folder.resolve(BEST),
                plan.of(trial, folder.resolve(Plan.BEST), Optional.empty()).yaml()));
  }

  private static String message(Exception e) {
    return e.getMessage() == null ? e.toString() : e.getMessage();
  }

  /** The name of the figure. */
  String name() {
    return file.figure().map(Goal::name).orElse("");
  }

  /** The best trial so far; of equal ones the first. */
  Optional<Trial> best() {
    return sorted().stream().findFirst();
  }

  /** The trials that reached something, the best first. */
  List<Trial> sorted() {
    return file.sorted();
  }

  /** All trials. */
  List<Trial> trials() {
    return List.copyOf(trials);
  }

  /** The folder of the search. */
  Path folder() {
    return folder;
  }
}
