package dev.tern.files.parquet;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What wrote a file, by its own word, such as "parquet-mr version 1.8.0 (build 0fda28af84)". Some
 * writers had faults that readers know how to read.
 */
record ParquetWriterVersion(String application, int major, int minor, int patch) {
  private static final Pattern TEXT =
      Pattern.compile(
          "(\\S+)(?: version (\\d{1,6})(?:\\.(\\d{1,6}))?(?:\\.(\\d{1,6}))?)?.*", Pattern.DOTALL);

  /** The writer that {@code createdBy} names; version 0 where it names none. */
  static ParquetWriterVersion of(@Nullable String createdBy) {
    Matcher matcher = TEXT.matcher(createdBy == null ? "" : createdBy.strip());
    return matcher.matches()
        ? new ParquetWriterVersion(
            matcher.group(1),
            number(matcher.group(2)),
            number(matcher.group(3)),
            number(matcher.group(4)))
        : new ParquetWriterVersion("", 0, 0, 0);
  }

  private static int number(@Nullable String digits) {
    return digits == null ? 0 : Integer.parseInt(digits);
  }

  /** Whether this is {@code application} of a version before the one given. */
  boolean isBefore(String application, int major, int minor, int patch) {
    int[] difference = {this.major - major, this.minor - minor, this.patch - patch};
    for (int part : difference) {
      if (part != 0) {
        return part < 0 && this.application.equals(application);
      }
    }
    return false;
  }
}
