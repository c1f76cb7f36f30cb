package dev.tern.cli.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
 * Turns YAML into values by path, each with its line; refuses names that are neither a key nor a
 * section.
 */
final class YamlFile {
  private final String name;
  private final Map<String, Raw> values = new LinkedHashMap<>();

  private YamlFile(String name) {
    this.name = name;
  }

  /**
   * Values by path, as in {@code train.batch} and {@code data.sparse[0].encode}: members of a group
   * always carry an index.
   *
   * @param yaml the text
   * @param name the file's name for messages
   */
  static Map<String, Raw> read(String yaml, String name) {
    YamlFile file = new YamlFile(name);
    try {
      Optional<Node> root =
          new Compose(LoadSettings.builder().setLabel(name).build()).composeString(yaml);
      file.mapping(
          "",
          root.orElseThrow(() ->
              new ConfigException(
                  name
                      + ": got an empty file, expected sections data, model, run and train; see"
                      + " examples/")));
    } catch (MarkedYamlEngineException e) {
      String line = e.getProblemMark().map(mark -> " line " + (mark.getLine() + 1)).orElse("");
      throw new ConfigException(
          name
              + line
              + ": got broken YAML ("
              + Names.excerpt(e.getProblem())
              + "), expected keys and values; check indent, quotes and brackets",
          e);
    } catch (YamlEngineException e) {
      throw new ConfigException(
          name
              + ": got broken YAML ("
              + Names.excerpt(String.valueOf(e.getMessage()))
              + "), expected UTF-8 text of keys and values; check the file",
          e);
    } catch (StackOverflowError e) {
      throw new ConfigException(
          name
              + ": got broken YAML (brackets or indents nested thousands deep), expected keys and"
              + " values; check the file",
          e);
    }
    return file.values;
  }

  private void mapping(String path, Node node) {
    if (!(node instanceof MappingNode mapping)) {
      String what = path.isEmpty() ? "the file" : path;
      throw new ConfigException(
          where(node)
              + ": "
              + what
              + ": got "
              + shown(node)
              + ", expected keys and values; write them indented below it, as in \"key: value\"");
    }
    Map<String, Integer> lines = new LinkedHashMap<>();
    for (NodeTuple entry : mapping.getValue()) {
      String key =
          entry.getKeyNode() instanceof ScalarNode scalar
              ? scalar.getValue()
              : shown(entry.getKeyNode());
      String child = path.isEmpty() ? key : path + "." + key;
      Integer earlier = lines.put(key, line(entry.getKeyNode()));
      if (earlier != null) {
        throw new ConfigException(
            where(entry.getKeyNode())
                + ": got "
                + Names.excerpt(Keys.plain(child))
                + " a second time (first in line "
                + earlier
                + "), expected it once; remove one");
      }
      member(child, entry.getKeyNode(), entry.getValueNode());
    }
  }

  private void member(String path, Node key, Node value) {
    if (Keys.GROUPS.contains(path)) {
      groups(path, value);
    } else if (Keys.isSection(path)) {
      mapping(path, value);
    } else if (Keys.find(path).isPresent()) {
      values.put(path, raw(path, value));
    } else {
      throw new ConfigException(
          where(key)
              + ": got the unknown key "
              + Names.excerpt(Keys.plain(path))
              + "; "
              + Keys.advice(path));
    }
  }

  private void groups(String path, Node value) {
    List<Node> members =
        value instanceof SequenceNode sequence ? sequence.getValue() : List.of(value);
    for (int i = 0; i < members.size(); i++) {
      mapping(path + "[" + i + "]", members.get(i));
    }
  }

  private Raw raw(String path, Node node) {
    Raw.Source source = new Raw.Source(where(node), false);
    return switch (node) {
      case ScalarNode scalar -> scalar(scalar);
      case SequenceNode sequence -> {
        List<Raw.Scalar> items = new ArrayList<>();
        for (Node item : sequence.getValue()) {
          if (!(item instanceof ScalarNode scalar)) {
            throw new ConfigException(
                where(item)
                    + ": "
                    + Keys.plain(path)
                    + ": got "
                    + shown(item)
                    + " in a list, expected a single value; write the list on one level");
          }
          items.add(scalar(scalar));
        }
        yield new Raw.Sequence(items, source);
      }
      default ->
          throw new ConfigException(
              where(node)
                  + ": "
                  + Keys.plain(path)
                  + ": got "
                  + shown(node)
                  + ", expected "
                  + Keys.find(path).map(key -> key.kind().expected()).orElse("a value"));
    };
  }

  private Raw.Scalar scalar(ScalarNode node) {
    return new Raw.Scalar(node.getValue(), new Raw.Source(where(node), false));
  }

  private static String shown(Node node) {
    return switch (node) {
      case ScalarNode scalar ->
          scalar.getValue().isEmpty() ? "nothing" : Names.excerpt(scalar.getValue());
      case SequenceNode _ -> "a list";
      default -> "keys and values";
    };
  }

  private String where(Node node) {
    return name + " line " + line(node);
  }

  private static int line(Node node) {
    return node.getStartMark().map(Mark::getLine).orElse(0) + 1;
  }
}
