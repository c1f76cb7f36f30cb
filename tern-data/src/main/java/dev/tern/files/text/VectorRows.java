package dev.tern.files.text;

import dev.tern.base.DataException;

/** Values with their vectors, one after another. */
interface VectorRows extends AutoCloseable {
  /** Numbers of each vector. */
  int width();

  /**
   * Goes to the next vector.
   *
   * @param to takes its {@link #width} numbers from {@code at} on
   * @return false at the end
   * @throws DataException if there is no value with such a vector
   */
  boolean next(float[] to, int at);

  /** The value of the current vector. */
  String value();

  /** An error about that value; {@code got} says the rest behind it. */
  DataException fault(String got);

  @Override
  void close();
}
