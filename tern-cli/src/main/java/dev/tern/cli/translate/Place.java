package dev.tern.cli.translate;

import dev.tern.cli.config.ConfigException;

/**
 * Where a setting stands.
 *
 * @param file its name
 * @param line from 1 on
 */
record Place(String file, int line) {
  /** An error of what stands here. */
  ConfigException wrong(String got) {
    return new ConfigException(this + ": " + got);
  }

  @Override
  public String toString() {
    return file + " line " + line;
  }
}
