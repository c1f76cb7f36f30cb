package dev.tern.cli.serve;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.config.Names;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * What a file says for {@code tern serve}: options by their names without dashes in front, and the
 * models, each with keys of its own.
 *
 * @param options values by name, in the order of the file
 * @param models in the order of the file
 */
record ServeFile(Map<String, Value> options, List<Map<String, Value>> models) {
  /** The key of the list of models. */
  static final String MODELS = "models";

  /** Keys of a model. */
  static final List<String> OF_MODEL =
      List.of("name", "label", "path", "follow", "tables", "candidates", "memory");

  /** A file that is longer says something else. */
  private static final long MOST_BYTES = 1 << 20;

  /**
   * A value as it is written.
   *
   * @param where file and line, for messages
   * @param texts one, or those of a list
   */
  record Value(String where, List<String> texts) {
    /** The one text. */
    String text(String key) {
      if (texts.size() != 1) {
        throw new ConfigException(
            "%s: %s: got %d values, expected one".formatted(where, key, texts.size()));
      }
      return texts.getFirst();
    }
  }

  /**
   * Reads a file.
   *
   * @param known names of options
   */
  static ServeFile read(Path file, Set<String> known) {
    try {
      if (Files.size(file) > MOST_BYTES) {
        throw new ConfigException(
            file + ": got over 1 MiB, expected options and models of tern serve; check the file");
      }
      return parse(Files.readString(file), file.toString(), known);
    } catch (IOException e) {
      throw new ConfigException(
          "%s: got no text that can be read (%s), expected options and models of tern serve; check the path"
              .formatted(file, DataException.reason(e)),
          e);
    }
  }

  static ServeFile parse(String yaml, String name, Set<String> known) {
    try {
      Node root =
          new Compose(LoadSettings.builder().setLabel(name).build())
              .composeString(yaml)
              .orElseThrow(() ->
                  new ConfigException(
                      name + ": got an empty file, expected models: and options of tern serve"));
      return new Reading(name, known).read(root);
    } catch (MarkedYamlEngineException e) {
      String line = e.getProblemMark().map(mark -> " line " + (mark.getLine() + 1)).orElse("");
      throw new ConfigException(
          "%s%s: got broken YAML (%s), expected keys and values; check indent, quotes and brackets"
              .formatted(name, line, excerpt(String.valueOf(e.getProblem()))),
          e);
    } catch (YamlEngineException | StackOverflowError e) {
      throw new ConfigException(
          name + ": got broken YAML, expected UTF-8 text of keys and values; check the file", e);
    }
  }

  private static String excerpt(String text) {
    return Shown.line(text.length() <= 80 ? text : text.substring(0, 77) + "...");
  }

  /** One file as it is read. */
  private record Reading(String file, Set<String> known) {
    ServeFile read(Node root) {
      Map<String, Value> options = new LinkedHashMap<>();
      List<Map<String, Value>> models = new ArrayList<>();
      Set<String> seen = new HashSet<>();
      for (NodeTuple entry : mapping(root, "the file").getValue()) {
        String key = key(entry.getKeyNode(), seen);
        if (!key.equals(MODELS)) {
          require(entry.getKeyNode(), key, known, MODELS);
          options.put(key, value(entry.getValueNode(), key));
          continue;
        }
        List<Node> members =
            entry.getValueNode() instanceof SequenceNode list
                ? list.getValue()
                : List.of(entry.getValueNode());
        for (Node member : members) {
          models.add(model(member));
        }
      }
      return new ServeFile(options, models);
    }

    private Map<String, Value> model(Node node) {
      Map<String, Value> model = new LinkedHashMap<>();
      Set<String> seen = new HashSet<>();
      for (NodeTuple entry : mapping(node, MODELS).getValue()) {
        String key = key(entry.getKeyNode(), seen);
        require(entry.getKeyNode(), key, Set.copyOf(OF_MODEL), "");
        model.put(key, value(entry.getValueNode(), key));
      }
      if (!model.containsKey("path")) {
        throw new ConfigException(
            where(node)
                + ": models: got a model without path, expected a run's folder or a checkpoint;"
                + " give path: runs/census");
      }
      return model;
    }

    private MappingNode mapping(Node node, String what) {
      if (node instanceof MappingNode mapping) {
        return mapping;
      }
      throw new ConfigException(
          where(node) + ": " + what + ": got " + shown(node) + ", expected keys and values");
    }

    private String key(Node node, Set<String> seen) {
      String key = node instanceof ScalarNode scalar ? scalar.getValue() : shown(node);
      if (!seen.add(key)) {
        throw new ConfigException(
            where(node) + ": got " + excerpt(key) + " a second time, expected it once; remove one");
      }
      return key;
    }

    private void require(Node node, String key, Set<String> names, String other) {
      if (names.contains(key)) {
        return;
      }
      Set<String> all = new HashSet<>(names);
      if (!other.isEmpty()) {
        all.add(other);
      }
      Optional<String> near =
          all.contains(key.replace('_', '-'))
              ? Optional.of(key.replace('_', '-'))
              : Names.nearest(key, all);
      throw new ConfigException(
          "%s: got the unknown key %s; %s"
              .formatted(
                  where(node),
                  excerpt(key),
                  near.map(name -> "did you mean " + name + "?")
                      .orElse("expected one of " + Shown.list(all.stream().sorted().toList()))));
    }

    private Value value(Node node, String key) {
      return switch (node) {
        case ScalarNode scalar -> new Value(where(node), List.of(scalar.getValue()));
        case SequenceNode list -> {
          List<String> texts = new ArrayList<>();
          for (Node each : list.getValue()) {
            if (!(each instanceof ScalarNode scalar)) {
              throw new ConfigException(
                  where(each)
                      + ": "
                      + key
                      + ": got "
                      + shown(each)
                      + " in a list, expected values");
            }
            texts.add(scalar.getValue());
          }
          yield new Value(where(node), texts);
        }
        default ->
            throw new ConfigException(
                where(node) + ": " + key + ": got " + shown(node) + ", expected a value");
      };
    }

    private static String shown(Node node) {
      return switch (node) {
        case ScalarNode scalar ->
            scalar.getValue().isEmpty() ? "nothing" : excerpt(scalar.getValue());
        case SequenceNode _ -> "a list";
        default -> "keys and values";
      };
    }

    private String where(Node node) {
      return file + " line " + (node.getStartMark().map(Mark::getLine).orElse(0) + 1);
    }
  }
}
