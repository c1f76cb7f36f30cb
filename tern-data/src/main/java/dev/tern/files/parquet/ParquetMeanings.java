package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.internal.files.HivePath;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the values of columns mean by the files so far. Files may hold a column in different types,
 * as INT32 and DOUBLE, where equal values become equal numbers, ids or hashes. They may not where
 * one value would be several: 2026-01-31 is the number 20,484 as a DATE and 20,260,131 as an INT32.
 */
final class ParquetMeanings {
  private final List<Optional<Told>> told = new ArrayList<>();

  /** What a file says of a column; {@code meaning} is equal where equal values stay equal. */
  private record Told(Path file, String type, boolean list, String meaning) {}

  /**
   * Checks the columns of {@code file} against those of files before, and keeps what it tells.
   *
   * @throws DataException that names both files where a column is something else
   */
  void check(ParquetFile file, ParquetPlan plan) {
    List<Optional<Told>> now = new ArrayList<>();
    for (int i = 0; i < plan.targets().size(); i++) {
      Optional<Told> before = i < told.size() ? told.get(i) : Optional.empty();
      Optional<Told> here = tell(file, plan.targets().get(i), before);
      now.add(before.or(() -> here));
    }
    told.clear();
    told.addAll(now);
  }

  private static Optional<Told> tell(
      ParquetFile file, ParquetPlan.Target target, Optional<Told> before) {
    Optional<Told> here;
    try {
      here = tell(file, target);
    } catch (DataException e) {
      throw before.isEmpty() ? e : new DataException(e.getMessage() + "; " + as(before.get()), e);
    }
    if (before.isPresent() && here.isPresent() && differ(before.get(), here.get())) {
      throw new DataException(
          "%s: column %s: got %s, expected what it is in other files: %s; write all files with one schema"
              .formatted(file.path(), target.name(), here.get().type(), as(before.get())));
    }
    return here;
  }

  private static String as(Told told) {
    return told.type() + " in " + told.file();
  }

  private static boolean differ(Told before, Told here) {
    return before.list() != here.list()
        || !before.meaning().equals(here.meaning())
            && !before.meaning().isEmpty()
            && !here.meaning().isEmpty();
  }

  private static Optional<Told> tell(ParquetFile file, ParquetPlan.Target target) {
    if (ParquetConstant.isIn(file, target)) {
      String text = HivePath.of(file.path()).text(target.name());
      boolean number = target.use() == ParquetValues.Use.NUMBER;
      boolean id = target.use() == ParquetValues.Use.ID;
      return text.isEmpty()
          ? Optional.empty()
          : Optional.of(
              new Told(file.path(), "a folder's name", false, number || id ? "number" : ""));
    }
    ParquetField field = ParquetPlan.find(file, target);
    if (ParquetPlan.tellsNothing(field)) {
      return Optional.empty();
    }
    String meaning =
        ParquetPlan.part(field, target).isPresent() ? "" : meaning(field.type(), target.use());
    return Optional.of(new Told(file.path(), field.described(), field.list(), meaning));
  }

  /** The same for types whose equal values become the same; empty for one that fits any. */
  static String meaning(ParquetType type, ParquetValues.Use use) {
    ParquetType.Kind kind = type.kind();
    boolean days = kind == ParquetType.Kind.DATE;
    boolean instants = kind == ParquetType.Kind.TIMESTAMP;
    if (kind == ParquetType.Kind.TIME) {
      return "time of day";
    }
    return switch (use) {
      case NUMBER -> days || instants ? "days" : "number";
      case ID ->
          switch (kind) {
            case DATE -> "days";
            case TIMESTAMP -> "microseconds";
            case UUID -> "text";
            case BYTES -> "bytes";
            default -> "number";
          };
      case TEXT, POSITIVE ->
          switch (kind) {
            case TEXT, UUID, BYTES, NULL, OTHER -> "";
            case DATE -> "days";
            case TIMESTAMP -> type.utc() ? "instants" : "local times";
            case BOOLEAN -> "boolean";
            default -> "number";
          };
      case TIME ->
          switch (kind) {
            case DATE, TIMESTAMP -> "microseconds";
            case TEXT -> "text";
            case INT32, UINT32, INT64, UINT64 -> "integer";
            default -> "number";
          };
      case INSTANT -> "";
    };
  }
}
