package dev.tern.cli.serve;

import dev.tern.cli.config.ConfigException;
import dev.tern.embedding.config.RowFormat;
import dev.tern.predict.Candidates;
import dev.tern.predict.ScoreOptions;
import dev.tern.serve.http.ModelSource;
import dev.tern.stream.TopicAddress;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * An argument that names a model: {@code PATH}, {@code NAME=PATH} or {@code NAME@LABEL=PATH}; in
 * the place of a path may stand a topic, as in {@code kafka://broker:9092/ads}.
 *
 * @param label {@link ModelSource#STABLE} where none is given
 * @param path empty while its topic is not brought into a folder
 * @param own what this model has otherwise than others
 */
record ServedName(String name, String label, Path path, Optional<TopicAddress> topic, Own own) {
  /**
   * What a model says for itself.
   *
   * @param candidates makes what reads its items from the folder that it is opened from
   */
  record Own(
      Optional<ModelSource.Follow> follow,
      Optional<RowFormat> tables,
      Optional<Function<Path, Candidates.Source>> candidates,
      OptionalLong memory) {
    static final Own NOTHING =
        new Own(Optional.empty(), Optional.empty(), Optional.empty(), OptionalLong.empty());

    Own withMemory(long bytes) {
      return new Own(follow, tables, candidates, OptionalLong.of(bytes));
    }
  }

  /** A folder whose own name says nothing of the model. */
  private static final Pattern NAMELESS =
      Pattern.compile("checkpoints|best|latest|step-\\d+(\\.delta)?|\\.{0,2}");

  /** One of a folder. */
  ServedName(String name, String label, Path path) {
    this(name, label, path, Optional.empty(), Own.NOTHING);
  }

  static ServedName of(String argument) {
    int end = argument.indexOf('=');
    int folder = argument.indexOf('/');
    if (end <= 0 || folder >= 0 && folder < end) { // A folder may have one in its name.
      return TopicAddress.isMeant(argument)
          ? ofTopic("", ModelSource.STABLE, argument)
          : new ServedName(folderName(Path.of(argument)), ModelSource.STABLE, Path.of(argument));
    }
    String[] parts = argument.substring(0, end).split("@", 2);
    String label = parts.length == 1 ? ModelSource.STABLE : parts[1];
    String place = argument.substring(end + 1);
    return TopicAddress.isMeant(place)
        ? ofTopic(parts[0], label, place)
        : new ServedName(parts[0], label, Path.of(place));
  }

  static ServedName ofTopic(String name, String label, String place) {
    TopicAddress topic = topic(place);
    return new ServedName(
        name.isEmpty() ? topic.topic() : name, label, Path.of(""), Optional.of(topic), Own.NOTHING);
  }

  /** The topic that an argument names. */
  static TopicAddress topic(String argument) {
    try {
      return TopicAddress.of(argument);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(String.valueOf(e.getMessage()), e);
    }
  }

  /** The last folder of the path that names a run. */
  static String folderName(Path path) {
    Path folder = path.toAbsolutePath().normalize();
    for (int at = folder.getNameCount() - 1; at >= 0; at--) {
      String name = folder.getName(at).toString();
      if (!NAMELESS.matcher(name).matches()) {
        return name;
      }
    }
    return path.toString();
  }

  /** The same in a folder. */
  ServedName in(Path folder) {
    return new ServedName(name, label, folder, topic, own);
  }

  /** The same with something of its own. */
  ServedName with(Own other) {
    return new ServedName(name, label, path, topic, other);
  }

  /** Which checkpoint is served, where {@code usual} holds for models that do not say. */
  ModelSource.Follow follow(ModelSource.Follow usual) {
    return own.follow().orElse(usual);
  }

  ModelSource source(ModelSource.Follow follow, ScoreOptions scoring) {
    try {
      return new ModelSource(
          name,
          label,
          path,
          follow(follow),
          own.tables().map(scoring::withTables).orElse(scoring),
          own.candidates().map(reading -> reading.apply(path)),
          own.memory());
    } catch (IllegalArgumentException e) {
      throw new ConfigException(String.valueOf(e.getMessage()), e);
    }
  }
}
