package dev.tern.files.parquet;

import dev.tern.base.DataException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.Statistics;

/**
 * Which row groups surely hold no row that is looked for. Statistics are trusted as the footer is;
 * groups that have none, or some of another form, are read.
 *
 * @param ranges what is looked for, in all of these
 */
record ParquetPruning(List<ParquetOptions.Range> ranges) {
  static final ParquetPruning NONE = new ParquetPruning(List.of());

  /** Rows of the groups that are read. */
  long rows(ParquetFile file) {
    return file.rowGroups().stream()
        .filter(group -> !leavesOut(file, group))
        .mapToLong(RowGroup::getNum_rows)
        .sum();
  }

  boolean leavesOut(ParquetFile file, RowGroup group) {
    return ranges.stream().anyMatch(range -> isOutside(file, group, range));
  }

  private static boolean isOutside(ParquetFile file, RowGroup group, ParquetOptions.Range range) {
    ParquetField field = field(file, range.column());
    ColumnMetaData data = group.getColumns().get(field.leaf()).getMeta_data();
    if (data == null || data.getType() != field.type().physical() || !data.isSetStatistics()) {
      return false;
    }
    Statistics statistics = data.getStatistics();
    // The older pair of bounds compares as signed numbers.
    boolean signed = !field.kind().equals(ParquetType.Kind.UINT32);
    signed &= !field.kind().equals(ParquetType.Kind.UINT64);
    double least = number(field, statistics.getMin_value());
    double greatest = number(field, statistics.getMax_value());
    if (Double.isNaN(least) && Double.isNaN(greatest) && signed) {
      least = number(field, statistics.getMin());
      greatest = number(field, statistics.getMax());
    }
    return least > range.greatest() || greatest < range.least();
  }

  private static ParquetField field(ParquetFile file, String name) {
    ParquetField field =
        file.schema().called(name).stream()
            .findFirst()
            .orElseThrow(() ->
                new DataException(
                    file.path()
                        + ": got no column "
                        + name
                        + " to look for values in, expected one; check its name"));
    boolean number =
        switch (field.kind()) {
          case INT32, UINT32, INT64, UINT64, DECIMAL, FLOAT16, FLOAT, DOUBLE -> !field.list();
          case DATE, TIME, TIMESTAMP, NULL -> !field.list();
          case BOOLEAN, UUID, BYTES, TEXT, OTHER -> false;
        };
    if (!number) {
      throw new DataException(
          file.path()
              + ": column "
              + name
              + ": got "
              + field.described()
              + ", expected one number a row to look for; name another column");
    }
    return field;
  }

  /** A bound, rounded, which keeps the order of bounds; NaN for none. */
  private static double number(ParquetField field, byte[] bytes) {
    ParquetType type = field.type();
    int width = type.width();
    // Bounds of values that are bytes have several orders, none of which is worth its trouble.
    if (bytes == null || type.isBytes() || bytes.length != width) {
      return Double.NaN;
    }
    ByteBuffer bound = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    boolean narrow = width == Integer.BYTES;
    return switch (field.kind()) {
      case FLOAT -> bound.getFloat();
      case DOUBLE -> bound.getDouble();
      case UINT32 -> Integer.toUnsignedLong(bound.getInt());
      case UINT64 -> unsigned(bound.getLong());
      case DECIMAL -> (narrow ? bound.getInt() : bound.getLong()) / Math.pow(10, type.scale());
      case DATE, TIME, TIMESTAMP -> (narrow ? bound.getInt() : bound.getLong()) / type.unitsOfDay();
      default -> narrow ? bound.getInt() : bound.getLong();
    };
  }

  private static double unsigned(long value) {
    return value >= 0 ? value : 2.0 * (value >>> 1 | value & 1);
  }
}
