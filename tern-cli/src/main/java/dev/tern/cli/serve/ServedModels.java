package dev.tern.cli.serve;

import dev.tern.base.Shown;
import dev.tern.cli.config.ConfigException;
import dev.tern.embedding.config.RowFormat;
import dev.tern.predict.Candidates;
import dev.tern.serve.http.ModelSource;
import dev.tern.stream.TopicAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import picocli.CommandLine.TypeConversionException;

/**
 * The models to serve, as arguments and a file name them.
 *
 * @param reading reads files of items
 */
record ServedModels(CandidateReading reading) {
  /**
   * The models that arguments name.
   *
   * @param candidates files of items as {@code NAME=FILE}; as {@code FILE} for the only model
   */
  List<ServedName> of(List<String> arguments, List<String> candidates) {
    List<ServedName> names = arguments.stream().map(ServedName::of).toList();
    Map<String, List<Path>> files = new LinkedHashMap<>();
    for (String each : candidates) {
      int end = each.indexOf('=');
      boolean isNamed = end > 0 && isName(names, each.substring(0, end));
      if (!isNamed && names.size() != 1) {
        throw new ConfigException(
            "--candidates: got %s for %d models, expected the name of one of them before it, as in %s=%s"
                .formatted(
                    each, names.size(), names.isEmpty() ? "shop" : names.getFirst().name(), each));
      }
      String name = isNamed ? each.substring(0, end) : names.getFirst().name();
      files
          .computeIfAbsent(name, _ -> new ArrayList<>())
          .addAll(paths(isNamed ? each.substring(end + 1) : each));
    }
    return names.stream()
        .map(name ->
            name.with(
                new ServedName.Own(
                    Optional.empty(),
                    Optional.empty(),
                    candidates(files.getOrDefault(name.name(), List.of())),
                    OptionalLong.empty())))
        .toList();
  }

  private static boolean isName(List<ServedName> names, String text) {
    return names.stream().anyMatch(each -> each.name().equals(text));
  }

  private static List<Path> paths(String files) {
    return Arrays.stream(files.split(",")).map(Path::of).toList();
  }

  private Optional<Function<Path, Candidates.Source>> candidates(List<Path> files) {
    for (Path file : files) {
      if (file.toString().equals("-")) {
        throw new ConfigException(
            "--candidates: got the standard input, expected files, which are read again when a"
                + " model is replaced; write it to a file");
      }
    }
    return files.isEmpty() ? Optional.empty() : Optional.of(model -> reading.of(model, files));
  }

  /** A model of a file. */
  ServedName of(Map<String, ServeFile.Value> model) {
    String place = text(model, "path").orElseThrow();
    String name = text(model, "name").orElse("");
    String label = text(model, "label").orElse(ModelSource.STABLE);
    List<Path> files =
        Optional.ofNullable(model.get("candidates"))
            .map(ServeFile.Value::texts)
            .orElse(List.of())
            .stream()
            .map(Path::of)
            .toList();
    ServedName named =
        TopicAddress.isMeant(place)
            ? ServedName.ofTopic(name, label, place)
            : new ServedName(
                name.isEmpty() ? ServedName.folderName(Path.of(place)) : name,
                label,
                Path.of(place));
    return named.with(
        new ServedName.Own(
            choice(model, "follow", ModelSource.Follow.class),
            choice(model, "tables", RowFormat.class),
            candidates(files),
            Optional.ofNullable(model.get("memory"))
                .map(value -> OptionalLong.of(bytes(value, "memory")))
                .orElse(OptionalLong.empty())));
  }

  private static long bytes(ServeFile.Value value, String key) {
    try {
      return new Amounts.Bytes().convert(value.text(key));
    } catch (TypeConversionException e) {
      throw new ConfigException("%s: %s: %s".formatted(value.where(), key, e.getMessage()), e);
    }
  }

  /**
   * The models with the limits of memory that options name.
   *
   * @param limits those of all models are left out
   */
  static List<ServedName> limited(List<ServedName> names, List<Amounts.Limit> limits) {
    List<ServedName> limited = new ArrayList<>(names);
    // Of all labels first, so that the limit of one label stands.
    List<Amounts.Limit> ordered =
        limits.stream()
            .filter(limit -> !limit.model().isEmpty())
            .sorted(Comparator.comparing((Amounts.Limit limit) -> limit.model().contains("@")))
            .toList();
    for (Amounts.Limit limit : ordered) {
      boolean isNamed = false;
      for (int i = 0; i < limited.size(); i++) {
        ServedName each = limited.get(i);
        if (limit.isOf(each)) {
          isNamed = true;
          limited.set(i, each.with(each.own().withMemory(limit.bytes())));
        }
      }
      if (!isNamed) {
        throw new ConfigException(
            "--memory: got %s, expected the name of a model that is served, one of %s"
                .formatted(
                    limit.model(),
                    Shown.list(names.stream().map(ServedName::name).distinct().toList())));
      }
    }
    return limited;
  }

  private static Optional<String> text(Map<String, ServeFile.Value> model, String key) {
    return Optional.ofNullable(model.get(key)).map(value -> value.text(key));
  }

  private static <E extends Enum<E>> Optional<E> choice(
      Map<String, ServeFile.Value> model, String key, Class<E> type) {
    return Optional.ofNullable(model.get(key)).map(value -> choice(value, key, type));
  }

  /** One of the constants of an enum, as options take them. */
  static <E extends Enum<E>> E choice(ServeFile.Value value, String key, Class<E> type) {
    String text = value.text(key);
    for (E each : type.getEnumConstants()) {
      if (each.name().equalsIgnoreCase(text)) {
        return each;
      }
    }
    throw new ConfigException(
        "%s: %s: got %s, expected one of %s"
            .formatted(
                value.where(),
                key,
                text,
                String.join(
                    ", ",
                    Arrays.stream(type.getEnumConstants())
                        .map(each -> each.name().toLowerCase(Locale.ROOT))
                        .toList())));
  }
}
