package dev.tern.cli.serve;

import dev.tern.cli.config.ConfigException;
import dev.tern.predict.ScoreOptions;
import dev.tern.serve.ModelSource;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An argument that names a model: {@code PATH}, {@code NAME=PATH} or {@code NAME@LABEL=PATH}.
 *
 * @param label {@link ModelSource#STABLE} where none is given
 */
record ServedName(String name, String label, Path path) {
  private static final Pattern NAMED = Pattern.compile("([^=/@]+)(?:@([^=/@]+))?=(.+)");

  /** A folder whose own name says nothing of the model. */
  private static final Pattern NAMELESS =
      Pattern.compile("checkpoints|best|latest|step-\\d+(\\.delta)?|\\.{0,2}");

  static ServedName of(String argument) {
    Matcher named = NAMED.matcher(argument);
    if (!named.matches()) {
      Path path = Path.of(argument);
      return new ServedName(folderName(path), ModelSource.STABLE, path);
    }
    String label = named.group(2) == null ? ModelSource.STABLE : named.group(2);
    return new ServedName(named.group(1), label, Path.of(named.group(3)));
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
