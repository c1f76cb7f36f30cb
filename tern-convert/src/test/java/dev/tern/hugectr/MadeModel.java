package dev.tern.hugectr;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * A model of HugeCTR with weights at random: its files, rows for it, and the logits of these rows
 * by a {@link PlainGraph}.
 */
final class MadeModel {
  /** Keys of a table; keys from here on are unknown. */
  static final int KEYS = 40;

  private static final int ROWS = 13;

  final Path folder;
  final Json.Obj graph;
  final List<Map<Long, float[]>> tables = new ArrayList<>();
  final PlainGraph.Rows rows;
  final double[][] logits;
  final float[] dense;
  private final List<Integer> embeddings = new ArrayList<>();

  /** A model of a graph of the test's resources. */
  static MadeModel of(Path folder, String name) {
    return of(folder, graph(name), 0);
  }

  /** A model of a graph, whose cross layers have matrices of a rank, or vectors for 0. */
  static MadeModel of(Path folder, Json.Obj graph, int projection) {
    try {
      return new MadeModel(folder, graph, projection);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A graph of the test's resources. */
  static Json.Obj graph(String name) {
    return Json.parseObject(text(name), name);
  }

  static String text(String name) {
    try (InputStream in = MadeModel.class.getResourceAsStream(name + ".json")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private MadeModel(Path folder, Json.Obj graph, int projection) throws IOException {
    this.folder = folder;
    this.graph = graph;
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("graph.json"), graph.toString());
    Random random = new Random(graph.toString().hashCode());
    for (Json layer : graph.array("layers")) {
      Json.Obj json = layer.asObject("layer");
      if (json.text("type").contains("SparseEmbedding")) {
        int width = (int) json.object("sparse_embedding_hparam").integer("embedding_vec_size");
        embeddings.add(width);
        tables.add(table(random, width));
        writeTable(tables.size() - 1);
      }
    }
    rows = rows(random, graph.array("layers").getFirst().asObject("data"));
    List<Float> drawn = new ArrayList<>();
    List<double[]> means = new ArrayList<>();
    List<double[]> variances = new ArrayList<>();
    PlainGraph plain =
        new PlainGraph(
            graph,
            rows,
            tables,
            () -> {
              float weight = (float) (random.nextGaussian() * 0.4);
              drawn.add(weight);
              return weight;
            },
            (layer, variance, width) -> {
              List<double[]> all = variance ? variances : means;
              double[] values = new double[width];
              for (int i = 0; i < width; i++) {
                double value = variance ? 0.2 + random.nextDouble() : random.nextGaussian();
                values[i] = (float) (Math.round(value * 1e6) / 1e6);
              }
              all.add(values);
              return values;
            },
            projection);
    logits = plain.logits();
    dense = new float[drawn.size()];
    for (int i = 0; i < dense.length; i++) {
      dense[i] = drawn.get(i);
    }
    Files.write(dense(), bytes(dense));
    if (!means.isEmpty()) {
      Files.writeString(statistics(), statistics(means, variances));
    }
  }

  private static Map<Long, float[]> table(Random random, int width) {
    Map<Long, float[]> table = new HashMap<>();
    for (long key = 0; key < KEYS; key++) {
      float[] row = new float[width];
      for (int i = 0; i < width; i++) {
        row[i] = (float) (random.nextGaussian() * 0.5);
      }
      table.put(key, row);
    }
    return table;
  }

  /** Rows whose ids are known, unknown, several or none, as their slots may have them. */
  private static PlainGraph.Rows rows(Random random, Json.Obj data) {
    int width = (int) data.object("dense").integer("dense_dim");
    double[][] dense = new double[ROWS][width];
    List<Integer> most = new ArrayList<>();
    for (Json each : data.array("sparse")) {
      Json.Obj sparse = each.asObject("sparse");
      for (int s = 0; s < sparse.integer("slot_num"); s++) {
        most.add(sparse.flag("is_fixed_length") ? 1 : 3);
      }
    }
    long[][][] keys = new long[ROWS][most.size()][];
    for (int b = 0; b < ROWS; b++) {
      for (int f = 0; f < width; f++) {
        dense[b][f] = (float) Math.abs(random.nextGaussian() * 2);
      }
      for (int s = 0; s < most.size(); s++) {
        int count = most.get(s) == 1 ? 1 : random.nextInt(most.get(s) + 1);
        keys[b][s] = random.longs(count, 0, KEYS + 8).toArray();
      }
    }
    return new PlainGraph.Rows(dense, keys);
  }

  static byte[] bytes(float... values) {
    ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return bytes.array();
  }

  private static String statistics(List<double[]> means, List<double[]> variances) {
    StringBuilder text = new StringBuilder("{\n  \"layers\": [\n");
    for (int i = 0; i < means.size(); i++) {
      text.append(i == 0 ? "" : ",\n").append("    {\n      \"type\": \"BatchNorm\",\n");
      text.append("      \"mean\": ").append(numbers(means.get(i))).append(",\n");
      text.append("      \"var\": ").append(numbers(variances.get(i))).append("\n    }");
    }
    return text.append("\n  ]\n}\n").toString();
  }

  private static List<String> numbers(double[] values) {
    return Arrays.stream(values).mapToObj(v -> String.format(Locale.ROOT, "%.6f", v)).toList();
  }

  private void writeTable(int number) throws IOException {
    Path own = sparse(number);
    Files.createDirectories(own);
    Map<Long, float[]> table = tables.get(number);
    // In an order of its own, as HugeCTR writes rows in the order of its hash table.
    List<Long> keys =
        table.keySet().stream().sorted((a, b) -> Long.compare(b * 7 % 41, a * 7 % 41)).toList();
    ByteBuffer key = ByteBuffer.allocate(8 * keys.size()).order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer vector =
        ByteBuffer.allocate(4 * embeddings.get(number) * keys.size())
            .order(ByteOrder.LITTLE_ENDIAN);
    for (long each : keys) {
      key.putLong(each);
      for (float weight : table.get(each)) {
        vector.putFloat(weight);
      }
    }
    Files.write(own.resolve("key"), key.array());
    Files.write(own.resolve("emb_vector"), vector.array());
  }

  Path dense() {
    return folder.resolve("m_dense_1.model");
  }

  Path statistics() {
    return folder.resolve("m_dense_1.model.ntp.json");
  }

  Path sparse(int number) {
    return folder.resolve("m" + number + "_sparse_1.model");
  }

  HugeCtrImport.Sources sources() {
    List<Path> sparse = new ArrayList<>();
    for (int i = 0; i < tables.size(); i++) {
      sparse.add(sparse(i));
    }
    return new HugeCtrImport.Sources(
        folder.resolve("graph.json"), dense(), Optional.empty(), sparse);
  }

  /** The rows as a batch of a schema; labels are 0. */
  Batch batch(Schema schema) {
    return batch(schema, rows);
  }

  static Batch batch(Schema schema, PlainGraph.Rows rows) {
    Schema unlabelled = new Schema(List.of(), schema.dense(), ragged(schema));
    Batch batch = new Batch(unlabelled, rows.dense().length);
    for (int b = 0; b < rows.dense().length; b++) {
      for (int f = 0; f < schema.denseDim(); f++) {
        batch.setDense(f, (float) rows.dense()[b][f]);
      }
      for (int s = 0; s < schema.slotCount(); s++) {
        for (long key : rows.keys()[b][s]) {
          batch.addId(s, key);
        }
      }
      batch.endRow();
    }
    return batch;
  }

  private static List<Slot> ragged(Schema schema) {
    return schema.slots().stream().map(slot -> slot.withHotness(0)).toList();
  }
}
