package dev.tern.bench.parity;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.Lookup;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.tensor.Variable;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What {@code peers/parity.py} reads: {@code data.bin} with arrays one after the other, and {@code
 * index.json} with the model's sizes and, for each array, its name, first byte, type and shape.
 */
final class ParityFolder {
  private final Path folder;
  private final StringBuilder entries = new StringBuilder();
  private final ByteArrayOutputStream data = new ByteArrayOutputStream();

  ParityFolder(Path folder) {
    this.folder = folder;
  }

  private void add(String name, String type, byte[] bytes, int... shape) {
    entries.append(entries.isEmpty() ? "" : ",\n  ");
    entries.append(
        "\"%s\": {\"at\": %d, \"type\": \"%s\", \"shape\": %s}"
            .formatted(name, data.size(), type, Arrays.toString(shape)));
    data.writeBytes(bytes);
  }

  private void floats(String name, float[] values, int... shape) {
    int count = Arrays.stream(shape).reduce(1, (a, b) -> a * b);
    ByteBuffer buffer = ByteBuffer.allocate(4 * count).order(ByteOrder.LITTLE_ENDIAN);
    buffer.asFloatBuffer().put(values, 0, count);
    add(name, "f32", buffer.array(), shape);
  }

  private void longs(String name, long[] values, int count) {
    ByteBuffer buffer = ByteBuffer.allocate(8 * count).order(ByteOrder.LITTLE_ENDIAN);
    buffer.asLongBuffer().put(values, 0, count);
    add(name, "i64", buffer.array(), count);
  }

  /** Adds all parameters under their names. */
  void parameters(Network network) {
    for (Variable parameter : network.parameters()) {
      floats(parameter.name(), parameter.toArray(), parameter.shape().toArray());
    }
  }

  /** Gives ids 0 to {@code rows - 1} of each table their rows, and adds these. */
  void tables(Network network, int rows) {
    for (EmbeddingTable table : network.tables().tables()) {
      table(table, rows, new Lookup());
    }
  }

  /** Does so with one table. */
  void table(EmbeddingTable table, int rows, Lookup lookup) {
    long[] ids = IntStream.range(0, rows).asLongStream().toArray();
    table.find(ids, rows, lookup, true);
    int width = table.config().width();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(4L * rows * width);
      table.ragged(lookup, memory);
      float[] values = memory.toArray(ValueLayout.JAVA_FLOAT);
      floats("table." + table.config().name(), values, rows, width);
    }
  }

  /**
   * Adds batch {@code number}.
   *
   * @param encoded its numbers as the model reads them
   */
  void batch(int number, Batch batch, Batch encoded) {
    Schema schema = batch.schema();
    String name = "batch." + number + ".";
    int rows = batch.size();
    floats(name + "labels", batch.labels(), rows, schema.labelDim());
    floats(name + "dense", encoded.dense(), rows, encoded.schema().denseDim());
    for (int f = 0; f < schema.denseDim(); f++) {
      float[] column = new float[rows];
      for (int row = 0; row < rows; row++) {
        column[row] = batch.dense()[row * schema.denseDim() + f];
      }
      floats(name + "raw." + schema.dense().get(f), column, rows);
    }
    for (int s = 0; s < schema.slotCount(); s++) {
      String slot = name + schema.slotNames().get(s);
      longs(slot + ".ids", batch.ids(s), batch.idCount(s));
      long[] offsets = Arrays.stream(batch.offsets(s), 0, rows + 1).asLongStream().toArray();
      longs(slot + ".offsets", offsets, rows + 1);
    }
  }

  /** Writes both files. */
  void write(ModelConfig model, FeatureEncoder encoder, float rate, int steps) {
    Schema schema = encoder.schema();
    int ofIds = encoder.rawSchema().slotCount();
    String slots =
        Stream.concat(
                schema.slots().stream().limit(ofIds).map(ParityFolder::slot),
                schema.slots().stream().skip(ofIds).map(slot -> number(slot, encoder)))
            .collect(Collectors.joining(", "));
    String index =
        """
        {"model": "%s", "form": "%s", "embedding": %d, "heads": %d, "experts": %d, "rate": %s, "steps": %d,
         "numbers": [%s], "items": [%s], "temperature": %s, "auxiliary": %s,
         "slots": [%s],
         "arrays": {
          %s}}
        """
            .formatted(
                model.type().name().toLowerCase(Locale.ROOT),
                model.variant().form().name().toLowerCase(Locale.ROOT),
                model.embedding(),
                model.heads(),
                model.towers().experts(),
                rate,
                steps,
                quoted(schema.dense()),
                quoted(model.matching().itemColumns()),
                model.matching().temperature(),
                model.variant().auxiliary(),
                slots,
                entries);
    try {
      Files.write(folder.resolve("data.bin"), data.toByteArray());
      Files.writeString(folder.resolve("index.json"), index);
    } catch (IOException e) {
      throw new UncheckedIOException("parity: cannot write " + folder, e);
    }
  }

  private static String slot(Slot slot) {
    List<String> words =
        List.of(slot.name(), slot.table(), slot.sequence().isPresent() ? "sequence" : "pooled");
    return "[" + quoted(words) + "]";
  }

  /** The slot of a number, and how it is one: its bounds, where it has some. */
  private static String number(Slot slot, FeatureEncoder encoder) {
    NumberEncoding encoding = encoder.dense().get(encoder.rawSchema().dense().indexOf(slot.name()));
    NumberEncoding own =
        encoding instanceof NumberEncoding.Beside(NumberEncoding _, NumberEncoding beside)
            ? beside
            : encoding;
    String way =
        switch (own) {
          case NumberEncoding.Field _ -> "\"field\", []";
          case NumberEncoding.PiecesBetween(List<Float> edges) -> "\"piecewise\", " + edges;
          case NumberEncoding.Boundaries(List<Float> values) -> "\"buckets\", " + values;
          default -> throw new AssertionError(own);
        };
    return "[" + quoted(List.of(slot.name(), slot.table())) + ", " + way + "]";
  }

  private static String quoted(List<String> words) {
    return words.stream().map(word -> '"' + word + '"').collect(Collectors.joining(", "));
  }
}
