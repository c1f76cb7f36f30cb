package dev.tern.cli.config;

import java.util.List;
import java.util.stream.Collectors;

/** A value as written, before its key's {@link Kind} reads it. */
sealed interface Raw {
  /** Where it was written, for messages: a file and line, or the override. */
  Source source();

  /** The value in full. */
  String text();

  /** The value as a message shows it. */
  default String shown() {
    return text().isEmpty() ? "nothing" : Names.excerpt(text());
  }

  /** One scalar; {@code text} is what YAML makes of it, quotes removed. */
  record Scalar(String text, Source source) implements Raw {}

  /** A list of scalars. */
  record Sequence(List<Scalar> items, Source source) implements Raw {
    @Override
    public String text() {
      return items.stream().map(Scalar::text).collect(Collectors.joining(", ", "[", "]"));
    }
  }

  /**
   * Where a value was written.
   *
   * @param text for messages
   * @param override whether it was given by {@code --set}
   */
  record Source(String text, boolean override) {}
}
