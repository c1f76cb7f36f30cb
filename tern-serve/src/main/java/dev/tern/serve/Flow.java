package dev.tern.serve;

import dev.tern.data.encode.RowFiller;

/** The values of a tensor, one after the other, flat. */
interface Flow {
  /** Goes to the next value; false where there is none. */
  boolean next();

  /** Whether the value at hand stands for a missing one. */
  boolean isMissing();

  /** Sets a column of the row at hand to the value. */
  void set(RowFiller filler, int column);

  /** Adds the value to the list of a column that is being filled. */
  void add(RowFiller filler, int column);

  /** The value as a number. */
  float number();

  /** The value as a whole number that is not negative; -1 where it is none or too large. */
  int whole();
}
