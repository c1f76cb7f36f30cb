package dev.tern.cli.config;

/**
 * A configuration that cannot be used. The message names the file and line or the override, and
 * what to do.
 */
public final class ConfigException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ConfigException(String message) {
    super(message);
  }

  public ConfigException(String message, Throwable cause) {
    super(message, cause);
  }
}
