package dev.tern.onnx;

import dev.tern.base.DType;
import dev.tern.embedding.config.RowSource;
import dev.tern.embedding.config.TableConfig;
import dev.tern.internal.json.Json;
import dev.tern.internal.onnx.ElementType;
import dev.tern.internal.onnx.SavedModel;
import dev.tern.internal.onnx.SavedTensor;
import dev.tern.internal.onnx.TensorData;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;

/**
 * A table of an exported model: its rows, as {@link ExportedTable} wrote them, and the ids that
 * they belong to.
 *
 * @param count rows of ids
 * @param rows all rows
 * @param firstId of ids without a gap; empty if a tensor or a property has them
 */
record ImportedTable(
    String name, DType storage, int width, long count, SavedTensor rows, String firstId) {
  private static final String TABLES = "tern.tables";

  /** The table of a configuration. */
  static ImportedTable of(SavedModel saved, TableConfig config) {
    return of(saved, config.name(), config.storage(), config.width(), config.unknown().buckets());
  }

  /**
   * A table of a model.
   *
   * @throws dev.tern.base.DataException if the model does not have it, or of other sizes
   */
  static ImportedTable of(SavedModel saved, String name, DType storage, int width, int buckets) {
    String source = saved.path().toString();
    for (Json each :
        Json.parse(saved.properties().getOrDefault(TABLES, "[]"), source).asArray(TABLES)) {
      Json.Obj table = each.asObject(TABLES);
      if (table.text("name").equals(name)) {
        long count = table.integer("rows");
        if (count < 0 || count > Integer.MAX_VALUE) {
          throw saved.fault(count + " rows of table " + name, "0 to 2^31 - 1");
        }
        SavedTensor rows =
            saved.require(
                ExportedTable.ROWS + name,
                ElementType.ofStorage(storage),
                count + Math.max(1, buckets) + 1,
                width);
        return new ImportedTable(name, storage, width, count, rows, table.text("first_id"));
      }
    }
    throw saved.fault("no table " + name + " in " + TABLES, "one");
  }

  int rowBytes() {
    return storage.bytes() * width;
  }

  /** The rows, packed, with the state that each begins with. */
  RowSource source(SavedModel saved, TensorData data, float[] state) {
    Ids ids = ids(saved, data);
    long[] at = {0};
    long[] before = {0};
    return (block, values) -> {
      int some = (int) Math.min(block.length, count - at[0]);
      byte[] weights = data.bytes(rows, at[0], some, rowBytes());
      ByteBuffer stored = ByteBuffer.wrap(weights).order(ByteOrder.LITTLE_ENDIAN);
      ids.read(at[0], some, block);
      long to = 0;
      for (int row = 0; row < some; row++) {
        if (at[0] + row > 0 && block[row] <= before[0]) {
          throw saved.fault(
              "the id %d after %d in table %s".formatted(block[row], before[0], name),
              "ascending ids");
        }
        before[0] = block[row];
        for (int j = 0; j < width; j++, to += 4) {
          values.set(ValueLayout.JAVA_FLOAT, to, finite(saved, next(stored), block[row]));
        }
        MemorySegment.copy(state, 0, values, ValueLayout.JAVA_FLOAT, to, state.length);
        to += 4L * state.length;
      }
      at[0] += some;
      return some;
    };
  }

  private float next(ByteBuffer stored) {
    return switch (storage) {
      case F32 -> stored.getFloat();
      case F16 -> Float.float16ToFloat(stored.getShort());
      case BF16 -> Float.intBitsToFloat(stored.getShort() << 16);
      case I32, I64, BOOL -> throw new AssertionError(storage);
    };
  }

  private float finite(SavedModel saved, float weight, long id) {
    if (!Float.isFinite(weight)) {
      throw saved.fault(
          "the weight %s of id %d in table %s".formatted(weight, id, name), "finite weights");
    }
    return weight;
  }

  /** Gives ids from a place on. */
  @FunctionalInterface
  private interface Ids {
    void read(long from, int some, long[] block);
  }

  private Ids ids(SavedModel saved, TensorData data) {
    if (!firstId.isEmpty()) {
      long first = first(saved);
      return (from, some, block) -> {
        for (int i = 0; i < some; i++) {
          block[i] = first + from + i;
        }
      };
    }
    String tensor = ExportedTable.IDS + name;
    String property = saved.properties().get("tern." + tensor);
    if (property == null && count > 0) {
      SavedTensor ids = saved.require(tensor, ElementType.INT64, count);
      return (from, some, block) ->
          longs(data.bytes(ids, from, some, 8)).asLongBuffer().get(block, 0, some);
    }
    ByteBuffer all = longs(decoded(saved, property == null ? "" : property));
    return (from, some, block) -> all.asLongBuffer().get((int) from, block, 0, some);
  }

  private long first(SavedModel saved) {
    try {
      return Long.parseLong(firstId);
    } catch (NumberFormatException e) {
      throw saved.fault("the first id " + firstId + " of table " + name, "an integer");
    }
  }

  private byte[] decoded(SavedModel saved, String text) {
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      bytes = new byte[0];
    }
    if (bytes.length != 8 * count) {
      throw saved.fault(
          "%d bytes of ids of table %s".formatted(bytes.length, name), count + " ids in base 64");
    }
    return bytes;
  }

  private static ByteBuffer longs(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
