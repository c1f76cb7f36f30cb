package dev.tern.embedding.config;

import java.lang.foreign.MemorySegment;

/** Takes the rows of a table, block after block. */
@FunctionalInterface
public interface RowSink {
  /**
   * Takes the next rows. Ids and values are valid during the call.
   *
   * @param ids the ids, in {@code ids[0 .. count)}; they ascend within and across blocks when all
   *     rows are exported
   * @param values {@code count x rowFloats} packed floats ({@link TableConfig#rowFloats()}), with
   *     weights widened to F32
   * @param count rows, 1 or more
   */
  void accept(long[] ids, MemorySegment values, int count);
}
