package dev.tern.cli.config;

import java.util.List;
import java.util.Optional;

/**
 * One configuration key.
 *
 * @param path sections and name joined by dots, as in {@code train.optimizer.lr}
 * @param kind what values it takes
 * @param fallback the value where none is given; empty when one must be given
 * @param doc its meaning in one sentence
 * @param condition when it applies
 * @param <T> the value's type
 */
record Key<T>(
    String path, Kind<T> kind, Optional<T> fallback, String doc, Optional<Condition> condition) {
  /**
   * The key applies only where the value of {@code path}, which stands earlier in the table, is one
   * of {@code values}.
   */
  record Condition(String path, List<String> values) {}

  static <T> Key<T> of(String path, Kind<T> kind, T fallback, String doc) {
    return new Key<>(path, kind, Optional.of(fallback), doc, Optional.empty());
  }

  /** A key that must be given where it applies. */
  static <T> Key<T> required(String path, Kind<T> kind, String doc) {
    return new Key<>(path, kind, Optional.empty(), doc, Optional.empty());
  }

  Key<T> when(Key<String> other, String... values) {
    return new Key<>(
        path, kind, fallback, doc, Optional.of(new Condition(other.path, List.of(values))));
  }

  /** The section it stands in, without its own name. */
  String section() {
    return path.substring(0, path.lastIndexOf('.'));
  }

  /** Its own name, the last part of its path. */
  String name() {
    return path.substring(path.lastIndexOf('.') + 1);
  }

  /** The default as YAML, or empty when a value must be given. */
  Optional<String> writtenFallback() {
    return fallback.map(kind::write);
  }
}
