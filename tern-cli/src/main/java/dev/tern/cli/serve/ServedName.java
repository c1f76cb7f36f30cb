package dev.tern.cli.serve;

import dev.tern.cli.config.ConfigException;
import dev.tern.predict.ScoreOptions;
import dev.tern.serve.http.ModelSource;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * An argument that names a model: {@code PATH}, {@code NAME=PATH} or {@code NAME@LABEL=PATH}.
 *
 * @param label {@link ModelSource#STABLE} where none is given
 */
record ServedName(String name, String label, Path path) {
  /** A folder whose own name says nothing of the model. */
  private static final Pattern NAMELESS =
      Pattern.compile("checkpoints|best|latest|step-\\d+(\\.delta)?|\\.{0,2}");

  static ServedName of(String argument) {
    int end = argument.indexOf('=');
    int folder = argument.indexOf('/');
    if (end <= 0 || folder >= 0 && folder < end) { // A folder may have one in its name.
      Path path = Path.of(argument);
      return new ServedName(folderName(path), ModelSource.STABLE, path);
    }
    String[] parts = argument.substring(0, end).split("@", 2);
    String label = parts.length == 1 ? ModelSource.STABLE : parts[1];
    return new ServedName(parts[0], label, Path.of(argument.substring(end + 1)));
  }

  /** The last folder of the path that names a run. */
  private static String folderName(Path path) {
    Path folder = path.toAbsolutePath().normalize();
    for (int at = folder.getNameCount() - 1; at >= 0; at--) {
      String name = folder.getName(at).toString();
      if (!NAMELESS.matcher(name).matches()) {
        return name;
      }
    }
    return path.toString();
  }

  ModelSource source(ModelSource.Follow follow, ScoreOptions scoring) {
    try {
      return new ModelSource(name, label, path, follow, scoring);
    } catch (IllegalArgumentException e) {
      throw new ConfigException(String.valueOf(e.getMessage()), e);
    }
  }
}
