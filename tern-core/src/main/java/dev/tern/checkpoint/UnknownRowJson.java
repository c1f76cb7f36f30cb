package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.json.Json;

/** What an id without a row reads as, among what a manifest says of tables. */
final class UnknownRowJson {
  private static final String UNKNOWN = "unknown";
  private static final String HASH = "HASH";
  private static final String BUCKETS = "buckets";

  private UnknownRowJson() {}

  static void write(UnknownRow row, Json.Obj tables) {
    switch (row) {
      case UnknownRow.Derived derived -> tables.put(UNKNOWN, derived.name());
      case UnknownRow.Hashed(int buckets) -> tables.put(UNKNOWN, HASH).put(BUCKETS, (long) buckets);
    }
  }

  static UnknownRow read(Json.Obj tables) {
    String name = tables.text(UNKNOWN);
    try {
      return name.equals(HASH)
          ? new UnknownRow.Hashed(Math.toIntExact(tables.integer(BUCKETS)))
          : UnknownRow.Derived.valueOf(name);
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new DataException(
          "\"%s\": got %s (%s), expected a row of unknown ids; use the version of Tern that wrote it"
              .formatted(UNKNOWN, name, e.getMessage()),
          e);
    }
  }
}
