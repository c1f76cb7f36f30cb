package dev.tern.files.text;

import dev.tern.base.DataException;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.TextHash;
import dev.tern.data.encode.ValueIds;
import dev.tern.internal.files.InputFiles;
import dev.tern.model.Network;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/**
 * A file of vectors that were trained elsewhere, to begin a table with. A line has a value, a tab,
 * and numbers with tabs, spaces or commas between them. Instead of the tab behind values all lines
 * may have a space, as word2vec and GloVe write them, or a comma. The file may have the header of
 * word2vec, {@code 2 4} in this example, and be compressed by gzip:
 *
 * <pre>
 * 2 4
 * Oslo 0.5 -1.25 0 2e-3
 * Bergen 0.25 0.75 -0.5 1
 * </pre>
 *
 * <p>Or it is a Parquet file. Values are in the column that is called as the table, or else in its
 * first one; all others have numbers, which stand side by side in a vector: one LIST of as many in
 * each row, or a column for each number.
 */
public final class VectorFile {
  private final VectorRows lines;
  private final ValueIds ids;
  private final LongSet values = new LongSet();
  private final LongSet given = new LongSet();
  private long rows;
  private long outside;
  private long shared;

  private VectorFile(VectorRows lines, ValueIds ids) {
    this.lines = lines;
    this.ids = ids;
  }

  /**
   * What became of a file's vectors.
   *
   * @param rows vectors that a table begins with
   * @param outside vectors of values outside the column's vocabulary, and of missing ones
   * @param shared vectors of values whose id, a bucket of {@code hash}, an earlier value had
   * @param without values of the vocabulary without a vector; empty where ids are no vocabulary's
   */
  public record Result(long rows, long outside, long shared, OptionalLong without) {}

  /**
   * Gives a table of a new run the vectors of a file, before its first step:
   *
   * <pre>{@code
   * VectorFile.begin(Path.of("cities.txt"), trainer.encoder(), trainer.network(), "city");
   * }</pre>
   *
   * @param table name of the table, a column of values
   * @throws DataException naming file, line and byte, or row, if the file has no vectors, one of
   *     another width ({@link Network#vectorWidths(String)}), a value twice, or anything but finite
   *     numbers
   * @throws IllegalArgumentException if there is no such table
   * @throws IllegalStateException if it has rows
   */
  public static Result begin(Path file, FeatureEncoder encoder, Network network, String table) {
    ValueIds ids = ValueIds.of(encoder, table);
    try (VectorRows lines = open(file, table, network.vectorWidths(table))) {
      VectorFile vectors = new VectorFile(lines, ids);
      try {
        network.begin(table, lines.width(), vectors::next);
      } catch (IllegalArgumentException e) {
        throw new DataException(file + ": " + e.getMessage(), e);
      }
      return vectors.result(file, table);
    }
  }

  private static VectorRows open(Path file, String table, List<Integer> widths) {
    return InputFiles.isParquet(file)
        ? ParquetVectors.open(file, table, widths)
        : VectorLines.open(file, widths);
  }

  private int next(long[] block, float[] numbers) {
    int count = 0;
    while (count < block.length && lines.next(numbers, count * lines.width())) {
      OptionalLong id = id();
      if (id.isEmpty()) {
        outside++;
      } else if (given.add(id.getAsLong())) {
        block[count++] = id.getAsLong();
      } else if (ids.shares()) {
        shared++;
      } else {
        throw lines.fault("as the value, which another one has, too; keep one of them");
      }
    }
    rows += count;
    return count;
  }

  private OptionalLong id() {
    String value = lines.value();
    if (!values.add(TextHash.of(value))) {
      throw lines.fault("a second time, expected each value once; keep one of them");
    }
    try {
      return ids.id(value);
    } catch (IllegalArgumentException e) {
      throw lines.fault("as a value, expected an integer of 64 bits as the column has them");
    }
  }

  private Result result(Path file, String table) {
    if (rows == 0) {
      throw new DataException(
          "%s: got %d vectors and none of a value of column %s, expected some; compare its values with those of the data"
              .formatted(file, outside, table));
    }
    OptionalLong vocabulary = ids.vocabulary();
    return new Result(
        rows,
        outside,
        shared,
        vocabulary.isPresent()
            ? OptionalLong.of(vocabulary.getAsLong() - rows)
            : OptionalLong.empty());
  }
}
