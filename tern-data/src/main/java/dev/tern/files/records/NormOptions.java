package dev.tern.files.records;

import dev.tern.data.Schema;
import dev.tern.files.KeyType;
import java.util.Objects;
import java.util.Optional;

/**
 * What a Norm file does not say of itself.
 *
 * @param keys width of keys, U32 or I64; empty: found out from the records
 * @param schema names for the columns; where it gives a slot a hotness, every row must have it.
 *     Empty: label0, dense0, slot0 and so on
 */
public record NormOptions(Optional<KeyType> keys, Optional<Schema> schema) {
  /** Everything found out from the files. */
  public static final NormOptions DETECT = new NormOptions(Optional.empty(), Optional.empty());

  public NormOptions {
    Objects.requireNonNull(keys, "keys");
    Objects.requireNonNull(schema, "schema");
    if (keys.isPresent() && keys.get() == KeyType.I32) {
      throw new IllegalArgumentException("norm: got keys I32, expected U32 or I64");
    }
  }

  /** These options with keys of a known width. */
  public NormOptions withKeys(KeyType keys) {
    return new NormOptions(Optional.of(keys), schema);
  }

  /** These options with names for the columns. */
  public NormOptions withSchema(Schema schema) {
    return new NormOptions(keys, Optional.of(schema));
  }
}
