package dev.tern.cli.translate;

import dev.tern.base.Shown;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.Names;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The files of a configuration of FuxiCTR: experiments in {@code model_config.yaml} and data sets
 * in {@code dataset_config.yaml}, or both in folders of these names.
 */
final class FuxiFiles {
  private static final String BASE = "Base";

  private final Map<String, Section> experiments = new LinkedHashMap<>();
  private final Map<String, Section> datasets = new LinkedHashMap<>();
  private Optional<Section> base = Optional.empty();

  /**
   * An experiment with its data set, as FuxiCTR joins them.
   *
   * @param settings those of all experiments, then its own, then those of the data set
   */
  record Experiment(String name, String dataset, Section settings) {}

  /** Reads files or their folder. */
  static FuxiFiles read(List<Path> paths) {
    FuxiFiles files = new FuxiFiles();
    List<Path> found = new ArrayList<>();
    paths.forEach(path -> found.addAll(Files.isDirectory(path) ? inside(path) : List.of(path)));
    for (Path file : found) {
      Section root = YamlSettings.read(ForeignFiles.text(file), ForeignFiles.name(file));
      for (String name : root.names()) {
        files.add(name, root, file);
      }
    }
    return files;
  }

  /** What FuxiCTR reads in a folder. */
  private static List<Path> inside(Path folder) {
    List<Path> found = new ArrayList<>();
    for (String kind : List.of("model_config", "dataset_config")) {
      Path file = folder.resolve(kind + ".yaml");
      List<Path> each =
          Files.exists(file) ? List.of(file) : ForeignFiles.yaml(folder.resolve(kind));
      if (each.isEmpty()) {
        throw new ConfigException(
            "%s: got a folder without %s.yaml, expected the configuration of FuxiCTR; name both files where they lie apart"
                .formatted(folder, kind));
      }
      found.addAll(each);
    }
    return found;
  }

  private void add(String name, Section root, Path file) {
    if (!(root.any(name).orElseThrow() instanceof Section section)) {
      throw new ConfigException(
          "%s: got %s with a value, expected experiments and data sets with their settings; check the file"
              .formatted(file, Shown.excerpt(name)));
    }
    if (name.equals(BASE)) {
      base = Optional.of(section);
    } else if (section.has("model")) {
      experiments.put(name, section);
    } else {
      datasets.put(name, section);
    }
  }

  /** The experiment of a name; the only one where none is given. */
  Experiment experiment(Optional<String> asked) {
    if (experiments.isEmpty()) {
      throw new ConfigException(
          "config from: got no experiment of FuxiCTR, expected settings with a model in"
              + " model_config.yaml; name that file");
    }
    if (asked.isEmpty() && experiments.size() > 1) {
      throw new ConfigException(
          "--experiment: got none for a file with the experiments %s, expected one of them; name it"
              .formatted(Shown.list(experiments.keySet())));
    }
    String name = asked.orElseGet(() -> experiments.keySet().iterator().next());
    Section own = find(experiments, name, "--experiment");
    List<Section> parts = new ArrayList<>(base.stream().toList());
    parts.add(own);
    String dataset = Section.merged(parts).text("dataset_id").map(Setting.Text::text).orElse("");
    parts.add(find(datasets, dataset, own.place() + ": dataset_id"));
    return new Experiment(name, dataset, Section.merged(parts));
  }

  private static Section find(Map<String, Section> all, String name, String where) {
    Section found = all.get(name);
    if (found == null) {
      String advice =
          Names.nearest(name, all.keySet())
              .map(near -> "did you mean " + near + "?")
              .orElse("name one of them, or the file that has it");
      throw new ConfigException(
          "%s: got %s, expected one of %s; %s"
              .formatted(where, Shown.quoted(name), Shown.list(all.keySet()), advice));
    }
    return found;
  }
}
