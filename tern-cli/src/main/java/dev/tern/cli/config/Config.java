package dev.tern.cli.config;

import dev.tern.base.DataException;
import dev.tern.model.ModelConfig;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a run, resolved: every key has a value, every path is absolute.
 *
 * @param data files and columns
 * @param model the model and its sizes
 * @param run where the run's results go
 * @param train how it is trained
 * @param yaml the same as text; reading it gives an equal configuration
 */
public record Config(
    DataConfig data, ModelConfig model, RunConfig run, TrainConfig train, String yaml) {
  /** Keys that say how files are read where rows have labels: rows to be scored are all read. */
  private static final Set<Key<?>> WITH_LABELS =
      Set.of(DataKeys.POSITIVE, DataKeys.WEIGHT, DataKeys.BAD_RECORDS, DataKeys.MOST_BAD);

  private static final String QUICKSTART = "/quickstart.yaml";

  /**
   * Reads a file.
   *
   * @param file YAML
   * @param overrides {@code key=value} each, put over the file's values in order
   * @throws ConfigException if the file cannot be read, a key is unknown, missing or of the wrong
   *     kind, or two keys contradict each other
   */
  public static Config load(Path file, List<String> overrides) {
    return parse(text(file), file.toString(), overrides);
  }

  /**
   * The configuration of {@code tern quickstart}.
   *
   * @param source what messages name
   * @param overrides {@code key=value} each, put over its values in order
   * @throws ConfigException as for {@link #load}
   */
  public static Config quickstart(String source, List<String> overrides) {
    try (InputStream in = Config.class.getResourceAsStream(QUICKSTART)) {
      byte[] yaml = Objects.requireNonNull(in, QUICKSTART).readAllBytes();
      return parse(new String(yaml, StandardCharsets.UTF_8), source, overrides);
    } catch (IOException e) {
      throw new UncheckedIOException(QUICKSTART, e);
    }
  }

  /**
   * Reads the configuration that a run wrote, of this build or an earlier one. A key that the run
   * did not know means what that build did ({@link Key#before}). Nothing is checked: the run did
   * what it did.
   *
   * @throws ConfigException if the file cannot be read, or is no configuration
   */
  public static Config loadEarlier(Path file) {
    return of(earlier(file, List.of()));
  }

  /**
   * Reads a file for a run that goes on, if there is one. Keys whose default has changed keep the
   * value of that run, unless the file or {@code overrides} give one.
   *
   * @param earlier for the folder of a run the configuration that an earlier run wrote there
   * @throws ConfigException as for {@link #load}
   */
  public static Config loadResumed(
      Path file, List<String> overrides, Function<Path, Optional<Path>> earlier) {
    Map<String, Raw> written = YamlFile.read(text(file), file.toString());
    Path dir = Settings.resolve(file.toString(), written, overrides).get(Keys.DIR);
    Settings.Absent absent =
        earlier
            .apply(dir)
            .<Settings.Absent>map(run -> new Settings.Absent.Earlier(earlier(run, List.of())))
            .orElseGet(Settings.Absent.Default::new);
    Settings settings = Settings.resolve(file.toString(), written, overrides, Keys.ALL, absent);
    Checks.run(settings);
    return of(settings);
  }

  private static Settings earlier(Path file, List<String> overrides) {
    return Settings.resolve(
        file.toString(),
        YamlFile.read(text(file), file.toString()),
        overrides,
        Keys.ALL,
        new Settings.Absent.Before());
  }

  /**
   * Reads the configuration that a model was trained with, in order to read files for the model.
   * The model's columns are the default, and overrides may name another format.
   *
   * @throws ConfigException as for {@link #load}
   */
  public static Config loadTrained(Path file, List<String> overrides) {
    List<String> all = new ArrayList<>(overrides);
    if (overrides.stream().anyMatch(override -> override.strip().startsWith("data.format"))) {
      // A model of generated rows names no training files, which other formats must; none is read.
      all.add("data.train=none");
    }
    Settings settings = earlier(file, all);
    Checks.columns(settings, false); // Where labels are read, the reader misses the column.
    return of(settings);
  }

  /**
   * How files are read, as JSON for {@link DataConfig#saved}: keys that differ from their default,
   * and no path.
   */
  public String reading() {
    return ReadingKeys.write(YamlFile.read(yaml, "config"));
  }

  /** All values as text by their paths, as {@code data.dense[0].columns}. */
  public Map<String, String> values() {
    return flat(this);
  }

  /** Configurations with the same text are equal: everything follows from it. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Config config && config.yaml.equals(yaml);
  }

  @Override
  public int hashCode() {
    return yaml.hashCode();
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      throw new ConfigException(
          file + ": got no such file, expected a configuration; check the path", e);
    } catch (CharacterCodingException e) {
      throw new ConfigException(
          file
              + ": got bytes that are not UTF-8, expected a configuration in YAML; save it as"
              + " UTF-8",
          e);
    } catch (IOException e) {
      throw new ConfigException(
          file
              + ": got an error reading it ("
              + DataException.reason(e)
              + "), expected a configuration file; check the path",
          e);
    }
  }

  /**
   * Reads text.
   *
   * @param name stands for the file in messages
   * @throws ConfigException as for {@link #load}
   */
  public static Config parse(String yaml, String name, List<String> overrides) {
    Settings settings = Settings.resolve(name, YamlFile.read(yaml, name), overrides);
    Checks.run(settings);
    return of(settings);
  }

  private static Config of(Settings settings) {
    return new Config(
        DataConfig.of(settings),
        ModelKeys.model(settings),
        new RunConfig(settings.get(Keys.DIR)),
        TrainConfig.of(settings),
        settings.toYaml());
  }

  /**
   * The same with the columns of which {@code data.dense.transform: auto} took the logarithm.
   *
   * @param log1p the names of all such columns
   */
  public Config withLog1p(List<String> log1p) {
    Map<String, Raw> written = YamlFile.read(yaml, "config");
    List<DataConfig.Dense> groups = data.dense();
    for (int i = 0; i < groups.size(); i++) {
      DataConfig.Dense group = groups.get(i);
      if (group.findsLog1p()) {
        Raw.Source source = new Raw.Source("config", false);
        List<Raw.Scalar> columns =
            log1p.stream()
                .filter(column -> data.group(column).filter(group::equals).isPresent())
                .map(column -> new Raw.Scalar(column, source))
                .toList();
        written.put(Settings.path(DataKeys.LOG1P, i), new Raw.Sequence(columns, source));
      }
    }
    return of(Settings.resolve("config", written, List.of()));
  }

  /** The model's name, as it is written in a configuration. */
  public String modelName() {
    return ModelKeys.name(model);
  }

  /** The model in one line, with the sizes that matter to its type. */
  public String modelSummary() {
    return ModelKeys.summary(model);
  }

  /**
   * The override that has a run begin with the weights of {@code run}.
   *
   * @throws ConfigException for an empty path, which would be no run
   */
  public static String from(Path run) {
    if (run.toString().isEmpty()) {
      throw new ConfigException(
          "--from: got nothing, expected the folder of a run or of a checkpoint; name one, or leave"
              + " --from out");
    }
    return TrainKeys.FROM.path() + "=[" + YamlText.quote(run.toString()) + "]";
  }

  /**
   * The keys that differ from {@code before} and that a resumed run may not change, as {@code key:
   * VALUE, was VALUE}. Keys declared with {@code mayChange} may differ.
   */
  public List<String> changesFrom(Config before) {
    Map<String, String> then = flat(before);
    Map<String, String> now = flat(this);
    for (Map<String, String> values : List.of(then, now)) {
      values.keySet().removeIf(path -> Keys.find(path).filter(Key::changeable).isPresent());
    }
    return changes(then, now);
  }

  /**
   * The keys whose values differ, as {@code key: VALUE, was VALUE}.
   *
   * @param then as {@link #values} gives them
   * @param now as {@link #values} gives them
   */
  public static List<String> changes(Map<String, String> then, Map<String, String> now) {
    Set<String> paths = new TreeSet<>(then.keySet());
    paths.addAll(now.keySet());
    return paths.stream()
        .filter(path -> !now.getOrDefault(path, "").equals(then.getOrDefault(path, "")))
        .map(path -> path + ": " + shown(now.get(path)) + ", was " + shown(then.get(path)))
        .toList();
  }

  /**
   * What a key meant where it was not known yet, as {@link #values} has it; empty for one that must
   * be given.
   */
  public static Optional<String> unknown(String path) {
    return Keys.find(path)
        .flatMap(Key::writtenEarlier)
        .map(written -> text(Keys.plain(path).split("\\."), written));
  }

  private static String text(String[] path, String written) {
    StringBuilder yaml = new StringBuilder();
    for (int i = 0; i < path.length; i++) {
      yaml.append(i > 0 ? "\n" : "").append("  ".repeat(i)).append(path[i]).append(": ");
    }
    Map<String, Raw> values = YamlFile.read(yaml + written, "config");
    return values.values().iterator().next().text();
  }

  private static String shown(@Nullable String value) {
    return value == null || value.isEmpty() ? "nothing" : Names.excerpt(value);
  }

  private static Map<String, String> flat(Config config) {
    Map<String, String> flat = new TreeMap<>();
    YamlFile.read(config.yaml, "config").forEach((path, raw) -> flat.put(path, raw.text()));
    return flat;
  }

  /**
   * Refuses overrides without an effect on a model from a checkpoint: all except keys that say how
   * files are read.
   *
   * @param labels whether labels are read
   * @throws ConfigException that names the keys with an effect
   */
  public static void requireReading(List<String> overrides, boolean labels) {
    List<String> keys =
        Keys.ALL.stream()
            .filter(Key::forReading)
            .filter(key -> labels || !WITH_LABELS.contains(key))
            .map(Key::path)
            .toList();
    for (String override : overrides) {
      String path = Overrides.key(override).path();
      if (!keys.contains(path)) {
        throw new ConfigException(
            "--set "
                + Names.excerpt(override)
                + ": got "
                + path
                + ", which has no effect on a trained model, expected a key that says how files are"
                + " read ("
                + String.join(", ", keys)
                + "); remove it");
      }
    }
  }

  /**
   * Refuses a path that is no key.
   *
   * @param option that names it, for the message
   * @throws ConfigException with the key that may have been meant
   */
  public static void requireKey(String option, String path) {
    if (Keys.isSection(path)) {
      throw new ConfigException(
          "%s: got the section %s, expected one of its keys; %s"
              .formatted(option, path, Keys.members(Keys.plain(path))));
    }
    if (Keys.find(path).isEmpty()) {
      throw new ConfigException(
          "%s: got the unknown key %s, expected one of a configuration; %s"
              .formatted(option, Names.excerpt(path), Keys.advice(path)));
    }
  }

  /** All keys with kind, default, condition and meaning, for people. */
  public static String help() {
    return KeyHelp.text();
  }
}
