package dev.tern.cli.config;

import dev.tern.base.DataException;
import dev.tern.model.graph.Graph;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The file that {@code model.graph} names. */
final class GraphFile {
  /** More bytes than any graph takes. */
  private static final int MOST_BYTES = 1 << 24;

  private GraphFile() {}

  /** Reads the layers of a model: of one file, or those of a graph that names none. */
  static Graph read(List<Path> files) {
    if (files.size() > 1) {
      throw new ConfigException(
          "model.graph: got %d files, expected one with all layers; name one"
              .formatted(files.size()));
    }
    return files.isEmpty() ? Graph.DEFAULT : read(files.getFirst());
  }

  private static Graph read(Path file) {
    try {
      if (Files.size(file) > MOST_BYTES) {
        throw new ConfigException(
            "model.graph: got %d bytes in %s, expected a list of layers of at most %d; check the path"
                .formatted(Files.size(file), file, MOST_BYTES));
      }
      String text = Files.readString(file, StandardCharsets.UTF_8);
      return Graph.parse(text, file.toString());
    } catch (IOException e) {
      throw new ConfigException(
          "model.graph: got %s at %s, expected a file with the layers of the model; check the path"
              .formatted(DataException.reason(e), file),
          e);
    } catch (DataException | IllegalArgumentException e) {
      throw new ConfigException("model.graph: " + e.getMessage(), e);
    }
  }
}
