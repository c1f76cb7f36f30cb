package dev.tern.cli.config;

import java.util.List;

/** The paths of keys, for tests of those who read them. */
public final class KeyPaths {
  private KeyPaths() {}

  /** Those below a section. */
  public static List<String> below(String section) {
    return Keys.ALL.stream().map(Key::path).filter(path -> path.startsWith(section + ".")).toList();
  }
}
