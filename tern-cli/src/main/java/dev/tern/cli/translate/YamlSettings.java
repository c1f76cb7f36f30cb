package dev.tern.cli.translate;

import dev.tern.base.Shown;
import dev.tern.cli.config.ConfigException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;
import org.snakeyaml.engine.v2.nodes.Tag;

/** Reads YAML as settings. A key whose value is null says nothing and is left out. */
final class YamlSettings {
  /** Mappings and lists in each other. */
  static final int MOST_DEPTH = 64;

  /** Values of a file, where each place counts that an alias stands in. */
  static final int MOST_VALUES = 500_000;

  /** Of lists that the loaders of FuxiCTR make tuples. */
  private static final Tag TUPLE = new Tag("tag:yaml.org,2002:python/tuple");

  private final String file;
  private int values;

  private YamlSettings(String file) {
    this.file = file;
  }

  /**
   * Reads a file.
   *
   * @throws ConfigException with the line where the text is no YAML with names at its top
   */
  static Section read(String text, String file) {
    YamlSettings settings = new YamlSettings(file);
    try {
      Optional<Node> root =
          new Compose(LoadSettings.builder().setLabel(file).build()).composeString(text);
      if (root.isEmpty() || !(root.get() instanceof MappingNode mapping)) {
        throw new Place(file, 1).wrong("got no names with values, expected some; check the file");
      }
      Section section = new Section("", new Place(file, 1));
      settings.fill(section, mapping, 0);
      return section;
    } catch (MarkedYamlEngineException e) {
      int line = e.getProblemMark().map(mark -> mark.getLine() + 1).orElse(1);
      throw new ConfigException(broken(new Place(file, line), e.getProblem()), e);
    } catch (YamlEngineException e) {
      throw new ConfigException(broken(new Place(file, 1), String.valueOf(e.getMessage())), e);
    } catch (StackOverflowError e) {
      throw new ConfigException(broken(new Place(file, 1), "nested thousands deep"), e);
    }
  }

  private static String broken(Place place, String problem) {
    return "%s: got broken YAML (%s), expected names and values; check indent, quotes and brackets"
        .formatted(place, Shown.line(problem));
  }

  private void fill(Section section, MappingNode mapping, int depth) {
    for (NodeTuple entry : mapping.getValue()) {
      if (!(entry.getKeyNode() instanceof ScalarNode key)) {
        throw place(entry.getKeyNode()).wrong("got a list as a name, expected a text; change it");
      }
      String name = key.getValue();
      value(section, name, place(key), entry.getValueNode(), depth)
          .ifPresent(value -> section.add(name, value));
    }
  }

  /** The value of a node; none where it is null. */
  private Optional<Setting> value(Section around, String name, Place place, Node node, int depth) {
    if (depth > MOST_DEPTH) {
      throw place.wrong("got values more than %d deep, expected fewer".formatted(MOST_DEPTH));
    }
    if (++values > MOST_VALUES) {
      throw place.wrong("got more than %,d values, expected fewer".formatted(MOST_VALUES));
    }
    return switch (node) {
      case MappingNode mapping -> {
        Section section = new Section(around.path(name), place);
        fill(section, mapping, depth + 1);
        yield Optional.of(section);
      }
      case SequenceNode list -> {
        List<Setting> items = new ArrayList<>();
        for (Node item : list.getValue()) {
          value(around, name, place(item), item, depth + 1).ifPresent(items::add);
        }
        yield Optional.of(new Setting.Many(items, list.getTag().equals(TUPLE), place));
      }
      case ScalarNode scalar when isNull(scalar) -> Optional.empty();
      case ScalarNode scalar -> Optional.of(new Setting.Text(name, scalar.getValue(), place));
      default -> throw place.wrong("got an alias of nothing, expected a value; change it");
    };
  }

  private static boolean isNull(ScalarNode scalar) {
    return scalar.getScalarStyle() == ScalarStyle.PLAIN
        && List.of("", "~", "null", "Null", "NULL", "None").contains(scalar.getValue());
  }

  private Place place(Node node) {
    return new Place(file, node.getStartMark().map(Mark::getLine).orElse(0) + 1);
  }
}
