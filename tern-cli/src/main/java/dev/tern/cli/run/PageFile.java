package dev.tern.cli.run;

import dev.tern.cli.config.ConfigException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * A page that a command writes.
 *
 * @param file its place
 */
public record PageFile(Path file) {
  /**
   * Checks the place before the work is done.
   *
   * @param overwrite whether it may be there already
   * @throws ConfigException if its name is no page's, its folder is not there, or it is there
   */
  public void check(boolean overwrite) {
    String name = String.valueOf(file.getFileName()).toLowerCase(Locale.ROOT);
    if (!name.endsWith(".html") && !name.endsWith(".htm")) {
      throw new ConfigException(
          "--html: got " + file + ", expected a name that ends in .html; give another");
    }
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null || !Files.isDirectory(folder)) {
      throw new ConfigException(
          "--html: got " + file + ", expected a file in a folder that is there; make the folder");
    }
    if (Files.exists(file) && !overwrite) {
      throw new ConfigException(
          "--html: got " + file + ", which is there, expected a new file; give --overwrite");
    }
  }

  /** Writes the page, which appears whole or not at all. */
  public void write(String html) {
    RunFolder.write(file, html);
  }
}
