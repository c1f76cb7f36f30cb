package dev.tern.cli.files;

import java.nio.file.Path;
import java.util.List;

/** How messages name several files. */
public final class FileNames {
  private FileNames() {}

  /** The name of the first of {@code files}, and how many follow it. */
  public static String of(List<Path> files) {
    String more = files.size() == 1 ? "" : " and " + (files.size() - 1) + " more files in order";
    return files.getFirst() + more;
  }
}
