package dev.tern.cli.tune;

import dev.tern.base.DataException;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.RunException;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The state of a search in {@code tune.json}: what is searched and what each trial reached so far.
 * It is written anew after each trial and appears whole, so a search that was killed goes on behind
 * the last trial that ended.
 *
 * @param searches keys with the texts of their values
 * @param fixed the settings that all trials share; empty in files of earlier builds
 * @param figure by which trials are compared; empty before the first trial has ended
 */
record TuneFile(
    Map<String, String> searches,
    long seed,
    boolean halving,
    Optional<FixedSettings> fixed,
    Optional<Goal> figure,
    List<Trial> trials) {
  private static final String NAME = "tune.json";
  private static final int VERSION = 1;

  TuneFile {
    searches = new LinkedHashMap<>(searches);
    trials = List.copyOf(trials);
  }

  /** A search that begins. */
  static TuneFile of(Plan plan, FixedSettings fixed, List<Trial> trials) {
    Map<String, String> searches = new LinkedHashMap<>();
    plan.searches().forEach(search -> searches.put(search.key(), search.text()));
    return new TuneFile(
        searches, plan.seed(), plan.halving(), Optional.of(fixed), Optional.empty(), trials);
  }

  /** The same with what the trials have reached now. */
  TuneFile with(Optional<Goal> by, List<Trial> now) {
    return new TuneFile(searches, seed, halving, fixed, by, now);
  }

  /**
   * The trials that reached something and did not fail, the best first, of equal ones the first.
   * With halving those of fewer epochs are among them by what they reached in these.
   */
  List<Trial> sorted() {
    if (figure.isEmpty()) {
      return List.of();
    }
    boolean more = figure.get().more();
    Comparator<Trial> order =
        Comparator.comparingDouble(trial -> more ? -trial.value() : trial.value());
    return trials.stream()
        .filter(trial -> trial.failure().isEmpty() && !Double.isNaN(trial.value()))
        .sorted(order.thenComparingInt(Trial::number))
        .toList();
  }

  /** The file in the folder of a search. */
  static Path in(Path folder) {
    return folder.resolve(NAME);
  }

  /** Writes it to the folder of the search. */
  void write(Path folder) {
    write(in(folder), json().toString() + "\n");
  }

  /** Writes a file that appears whole or not at all. */
  static void write(Path file, String text) {
    try {
      Path part = file.resolveSibling("." + file.getFileName() + ".part");
      Files.writeString(part, text);
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new RunException(
          file
              + ": got an error writing it ("
              + DataException.reason(e)
              + "), expected a folder that can be written and free space; check run.dir",
          e);
    }
  }

  private Json.Obj json() {
    Json.Obj keys = Json.object();
    searches.forEach(keys::put);
    Json.Obj json = Json.object().put("version", VERSION).put("search", keys).put("seed", seed);
    json.put("halving", halving);
    fixed.ifPresent(settings -> {
      Json.Obj values = Json.object();
      settings.values().forEach(values::put);
      json.put("fixed", values);
    });
    figure.ifPresent(by -> json.put("figure", by.name()).put("more_is_better", by.more()));
    List<Json> all = new ArrayList<>();
    trials.forEach(trial -> all.add(json(trial)));
    return json.put("trials", new Json.Arr(all));
  }

  private static Json json(Trial trial) {
    Json.Obj values = Json.object();
    trial.values().forEach(values::put);
    List<Json> rounds = new ArrayList<>();
    for (Trial.Round round : trial.rounds()) {
      rounds.add(
          Json.object()
              .put("epochs", round.epochs())
              .put("value", round.value())
              .put("step", round.step())
              .put("seconds", round.seconds()));
    }
    Json.Obj json =
        Json.object()
            .put("trial", trial.number())
            .put("folder", trial.folder())
            .put("values", values)
            .put("rounds", new Json.Arr(rounds));
    trial.failure().ifPresent(why -> json.put("failure", why));
    return json;
  }

  /**
   * Reads the file of {@code folder}, if it is there.
   *
   * @throws DataException if it is no file of a search
   */
  static Optional<TuneFile> read(Path folder) {
    Path file = in(folder);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      Json.Obj json = Json.parse(Files.readAllBytes(file), file.toString()).asObject("tune.json");
      return Optional.of(parse(json));
    } catch (IOException e) {
      throw new RunException(file + ": cannot be read (" + DataException.reason(e) + ")", e);
    } catch (DataException e) {
      throw new DataException(
          "%s: got no state of a search (%s), expected that of tern tune; move it away, or give another run.dir"
              .formatted(file, e.getMessage()),
          e);
    }
  }

  private static TuneFile parse(Json.Obj json) {
    if (json.integer("version") != VERSION) {
      throw new DataException(
          "\"version\": got %d, expected %d".formatted(json.integer("version"), VERSION));
    }
    Optional<Goal> figure =
        json.has("figure")
            ? Optional.of(new Goal(json.text("figure"), json.flag("more_is_better")))
            : Optional.empty();
    Optional<FixedSettings> fixed =
        json.has("fixed")
            ? Optional.of(new FixedSettings(texts(json.object("fixed"))))
            : Optional.empty();
    List<Trial> trials = new ArrayList<>();
    for (Json each : json.array("trials")) {
      trials.add(trial(each.asObject("trial")));
    }
    return new TuneFile(
        texts(json.object("search")),
        json.integer("seed"),
        json.flag("halving"),
        fixed,
        figure,
        trials);
  }

  private static Trial trial(Json.Obj json) {
    List<Trial.Round> rounds = new ArrayList<>();
    for (Json each : json.array("rounds")) {
      Json.Obj round = each.asObject("round");
      rounds.add(
          new Trial.Round(
              round.integer("epochs"),
              round.number("value"),
              round.integer("step"),
              round.number("seconds")));
    }
    long number = json.integer("trial");
    if (number < 1 || number > TuneCommand.MOST_TRIALS) {
      throw new DataException("\"trial\": got %d, expected the number of one".formatted(number));
    }
    return new Trial(
        (int) number,
        texts(json.object("values")),
        rounds,
        json.has("failure") ? Optional.of(json.text("failure")) : Optional.empty());
  }

  private static Map<String, String> texts(Json.Obj json) {
    Map<String, String> texts = new LinkedHashMap<>();
    json.fields().keySet().forEach(key -> texts.put(key, json.text(key)));
    return texts;
  }

  /**
   * The trials of a search that goes on: those that {@code drawn} has in common with this one keep
   * what they reached.
   *
   * @param folder of the search, for messages
   * @param now the settings that its trials would share
   * @throws ConfigException if another search was asked for
   */
  List<Trial> goingOn(Path folder, Plan plan, FixedSettings now, List<Trial> drawn) {
    TuneFile asked = of(plan, now, drawn);
    requireSame("--search", searches.toString(), asked.searches.toString());
    requireSame("--seed", Long.toString(seed), Long.toString(plan.seed()));
    requireSame("--halving", Boolean.toString(halving), Boolean.toString(plan.halving()));
    if (halving && drawn.size() != trials.size()) {
      requireSame("--trials", Integer.toString(trials.size()), Integer.toString(drawn.size()));
    }
    fixed.ifPresent(before -> requireUnchanged(folder, now.changesFrom(before)));
    List<Trial> all = new ArrayList<>();
    for (Trial trial : drawn) {
      all.add(
          trials.stream()
              .filter(before -> before.number() == trial.number())
              .findFirst()
              .orElse(trial));
    }
    // Fewer trials than before are asked for: the others stay as they are.
    trials.stream().skip(drawn.size()).forEach(all::add);
    return all;
  }

  /** Refuses {@code changed}, each as {@code key: VALUE, was VALUE}, if there are any. */
  static void requireUnchanged(Path folder, List<String> changed) {
    if (!changed.isEmpty()) {
      throw new ConfigException(
          "%s: got another configuration for --resume (%s), expected the one the search began with; change it back, or begin anew with --overwrite"
              .formatted(folder, String.join("; ", changed)));
    }
  }

  private static void requireSame(String option, String before, String now) {
    if (!before.equals(now)) {
      throw new ConfigException(
          "%s: got %s for --resume, expected %s, with which the search began; give that, or begin anew with --overwrite"
              .formatted(option, now, before));
    }
  }
}
