package dev.tern.serve;

import dev.tern.serve.wire.RefusedException;
import org.jspecify.annotations.Nullable;

/** A tensor of a request: what the request says about it, and where its values are. */
final class InferInput {
  static final int NONE = -1;

  /** What the values are to the column. */
  enum Role {
    VALUES("a value of each row"),
    OFFSETS(":offsets"),
    WEIGHTS(":weights");

    final String suffix;

    Role(String suffix) {
      this.suffix = suffix;
    }
  }

  String name = "";
  int column;
  Role role;
  @Nullable Datatype type;

  /** Dimensions, 0 where the shape is not known yet. */
  int rank;

  long rows;

  /** The second dimension; 1 where there is one alone. */
  long width;

  /** Bytes of the binary tensor, or {@link #NONE}. */
  int binary;

  /** Where the JSON of the values begins, or the bytes of the binary tensor; or {@link #NONE}. */
  int at;

  /** Where a message of the values lies, or {@link #NONE}. */
  int contentsFrom;

  int contentsTo;

  /** Whether the values are in the batch. */
  boolean filled;

  /** Whether one value is for all rows. */
  boolean once;

  // The value that stands for a missing one.
  @Nullable String emptyText;
  @Nullable Double emptyNumber;
  long emptyInteger;

  InferInput() {
    role = Role.VALUES;
    clear();
  }

  void clear() {
    name = "";
    column = NONE;
    role = Role.VALUES;
    type = null;
    rank = 0;
    rows = 0;
    width = 1;
    binary = NONE;
    at = NONE;
    contentsFrom = NONE;
    contentsTo = NONE;
    filled = false;
    once = false;
    emptyText = null;
    emptyNumber = null;
    emptyInteger = 0;
  }

  Datatype type() {
    Datatype known = type;
    if (known == null) {
      throw new RefusedException(400, name + ": got no datatype, expected one such as FP32");
    }
    return known;
  }

  /** The values that the shape has. */
  long count() {
    return rows * width;
  }

  String shape() {
    return rank == 2 ? "[" + rows + "," + width + "]" : "[" + rows + "]";
  }

  boolean hasEmpty() {
    return emptyText != null || emptyNumber != null;
  }
}
