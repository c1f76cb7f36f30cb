package dev.tern.cli.convert;

import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.YamlText;
import dev.tern.cli.run.Format;
import dev.tern.convert.ImportReport;
import dev.tern.convert.ImportedModel;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.model.Loss;
import dev.tern.model.Task;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A configuration that trains an imported model on.
 *
 * @param format of files of rows
 * @param run the folder of the imported run
 */
record ImportedConfig(ImportedModel made, String format, Path run) {
  /** The file of the graph beside the configuration. */
  static final String GRAPH = "graph.json";

  /** The configuration's own file. */
  static final String CONFIG = "train.yaml";

  /** Throws if something is where a run is to be. */
  static void requireNew(Path run) {
    if (Files.exists(run)) {
      throw new ConfigException(
          "--out: got %s, which is there, expected a new folder; give another name".formatted(run));
    }
  }

  /**
   * Says what an import made, and how to train it on.
   *
   * @param settings of the command, as {@link #command} takes them
   */
  void print(ImportReport report, List<String> settings, PrintWriter print) {
    print.println(
        "%s layers, %s dense weights and %s rows of embeddings, run %s"
            .formatted(
                made.model().variant().graph().orElseThrow().layers().size(),
                Format.whole(report.parameters()),
                Format.whole(report.rows()),
                Format.path(run)));
    report.notes().forEach(note -> print.println("note: " + note));
    print.println("train on: " + command(settings));
    print.flush();
  }

  /** The files of the run, texts by name. */
  Map<String, String> files() {
    return Map.of(GRAPH, made.model().variant().graph().orElseThrow().lines(), CONFIG, yaml());
  }

  /**
   * The command that trains the run on.
   *
   * @param settings further keys
   */
  String command(List<String> settings) {
    StringBuilder command = new StringBuilder("tern train ");
    command.append(ShellText.quote(run.resolve(CONFIG))).append(" --set data.train=FILES");
    settings.forEach(key -> command.append(" --set ").append(ShellText.quote(key)));
    return command.toString();
  }

  /** Its text; whoever trains names the files. */
  String yaml() {
    Path folder = run.toAbsolutePath().normalize();
    Schema schema = made.schema();
    StringBuilder yaml = new StringBuilder();
    yaml.append("# Trains the imported model on. Name the files and begin with:\n");
    String command = new ImportedConfig(made, format, folder).command(List.of());
    yaml.append("#   ").append(command).append('\n');
    yaml.append("data:\n  format: ").append(format).append('\n');
    labels(yaml, made.model().tasks(schema));
    if (!schema.dense().isEmpty()) {
      yaml.append("  dense: {columns: ").append(list(schema.dense()));
      yaml.append(", transform: none}\n");
    }
    sparse(yaml);
    yaml.append("model:\n  type: graph\n  graph: ").append(path(folder.resolve(GRAPH)));
    yaml.append("\n  embedding: ").append(made.model().embedding());
    yaml.append("\ntrain:\n  from: ").append(path(folder));
    yaml.append("\nrun:\n  dir: ");
    yaml.append(path(folder.resolveSibling(folder.getFileName() + "-trained")));
    return yaml.append('\n').toString();
  }

  private static String path(Path path) {
    return YamlText.quote(path.toString());
  }

  private static String list(List<String> names) {
    return names.stream().map(YamlText::quote).collect(Collectors.joining(", ", "[", "]"));
  }

  private static void labels(StringBuilder yaml, List<Task> tasks) {
    if (tasks.size() == 1 && tasks.getFirst().equals(Task.of(tasks.getFirst().label()))) {
      yaml.append("  label: {column: ");
      yaml.append(YamlText.quote(tasks.getFirst().label())).append("}\n");
      return;
    }
    yaml.append("  labels:\n");
    String before = "";
    for (Task task : tasks) {
      if (task.column().equals(before)) {
        continue; // Another class of the same label.
      }
      before = task.column();
      yaml.append("    - {columns: ").append(list(List.of(task.column())));
      if (task.loss() instanceof Loss.OfClass(_, int classes)) {
        yaml.append(", loss: softmax, classes: ").append(classes);
      }
      if (task.optional()) {
        yaml.append(", missing: -1");
      }
      if (task.weight() != 1) {
        yaml.append(", weight: ").append(task.weight());
      }
      yaml.append("}\n");
    }
  }

  /** A group for each run of slots that differ in nothing, in the order of the data. */
  private void sparse(StringBuilder yaml) {
    List<Slot> slots = made.schema().slots();
    yaml.append(slots.isEmpty() ? "" : "  sparse:\n");
    int from = 0;
    for (int s = 1; s <= slots.size(); s++) {
      if (s == slots.size() || !options(slots.get(s)).equals(options(slots.get(from)))) {
        List<String> names = slots.subList(from, s).stream().map(Slot::name).toList();
        yaml.append("    - {columns: ").append(list(names)).append(", encode: id");
        yaml.append(options(slots.get(from))).append("}\n");
        from = s;
      }
    }
  }

  private String options(Slot slot) {
    StringBuilder options = new StringBuilder();
    boolean shared =
        made.schema().slots().stream()
            .anyMatch(other -> other.shares() && other.table().equals(slot.table()));
    if (shared) {
      options.append(", table: ").append(YamlText.quote(slot.table()));
    }
    if (slot.hotness() > 0 && (format.equals("norm") || format.equals("raw"))) {
      options.append(", hotness: ").append(slot.hotness());
    }
    Optional<Integer> width = Optional.ofNullable(made.model().widths().own().get(slot.table()));
    width.ifPresent(floats -> options.append(", embedding: ").append(floats));
    return made.averaged().contains(slot.name())
        ? options.append(", combiner: mean").toString()
        : options.toString();
  }
}
