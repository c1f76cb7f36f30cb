package dev.tern.cli.convert;

import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.DataConfig;
import dev.tern.data.Reading;
import java.util.ArrayList;
import java.util.List;

/**
 * What {@code --set} says of the data of an imported model.
 *
 * @param keys of {@code data}, as in a configuration
 */
record ImportSettings(List<String> keys) {
  private static final String OWN =
      "data[.](format|label[.]column|labels[.]columns|dense[.]columns|sparse[.]columns)=.*";

  ImportSettings {
    keys = List.copyOf(keys);
  }

  /** With a format where {@code settings} name none. */
  static ImportSettings of(List<String> settings, String format) {
    List<String> keys = new ArrayList<>();
    for (String each : settings) {
      if (!each.strip().startsWith("data.")) {
        throw new ConfigException(
            "--set: got %s, expected keys of data alone; others are of training".formatted(each));
      }
      keys.add(each.strip());
    }
    if (keys.stream().noneMatch(key -> key.startsWith("data.format="))) {
      keys.addFirst("data.format=" + format);
    }
    return new ImportSettings(keys);
  }

  private DataConfig config() {
    return DataConfig.saved("{}", "--set", keys);
  }

  String format() {
    return config().format();
  }

  /** Names of labels; none where they are not named. */
  List<String> labels() {
    boolean named = keys.stream().anyMatch(key -> key.startsWith("data.label"));
    return named ? config().labels() : List.of();
  }

  /** Names of numbers. */
  List<String> numbers() {
    List<String> numbers = new ArrayList<>();
    config().dense().forEach(group -> numbers.addAll(group.columns()));
    return numbers;
  }

  /** Names of slots. */
  List<String> slots() {
    List<String> slots = new ArrayList<>();
    config().sparse().forEach(group -> slots.addAll(group.columns()));
    return slots;
  }

  /** Keys that the configuration of an imported model does not have. */
  List<String> others() {
    return keys.stream().filter(key -> !key.matches(OWN)).toList();
  }

  /** How files are read: as the configuration says, and what the user said beside columns. */
  Reading reading(ImportedConfig config) {
    return Reading.PLAIN.withSettings(
        DataConfig.reading(config.yaml(), ImportedConfig.CONFIG, others()));
  }
}
