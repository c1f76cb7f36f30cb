package dev.tern.hugectr;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.embedding.config.Combiner;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.checkpoint.SavedTable;
import dev.tern.internal.json.Json;
import dev.tern.model.graph.Graph;
import dev.tern.model.graph.GraphInput;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The tables of a checkpoint as embeddings of HugeCTR.
 *
 * @param embeddings as the graph has them
 * @param parts for each embedding its tables
 * @param slotSizes for each slot how far the keys of the next one are shifted; empty for not at all
 */
record TableWriting(
    List<GraphWriting.Embedding> embeddings, List<List<Part>> parts, List<Long> slotSizes) {
  private static final int BLOCK = 1 << 10;

  /** The key that HugeCTR's tables cannot hold. */
  private static final long RESERVED = Long.MAX_VALUE;

  /**
   * A table in an embedding.
   *
   * @param table its number in the checkpoint
   * @param shift what is added to its ids
   */
  record Part(int table, long shift, long rows) {}

  /** The ids of a table. */
  private record Ids(long count, long least, long most) {}

  static TableWriting of(Checkpoint checkpoint, Graph graph, List<Combiner> combiners) {
    Schema schema = checkpoint.encoder().schema();
    List<GraphInput> inputs = inputs(graph, schema);
    boolean apart = isApart(inputs, schema);
    List<GraphWriting.Embedding> embeddings = new ArrayList<>();
    List<List<Part>> parts = new ArrayList<>();
    List<Long> sizes = new ArrayList<>();
    long shift = 0;
    for (GraphInput input : inputs) {
      List<Part> own = new ArrayList<>();
      List<Long> ownSizes = new ArrayList<>();
      List<String> tables = slots(input, schema).stream().map(Slot::table).distinct().toList();
      for (String name : tables) {
        int table = checkpoint.tables().indexOf(name);
        Ids ids = ids(checkpoint, table);
        requireKeys(name, ids, apart);
        own.add(new Part(table, shift, ids.count()));
        if (apart) {
          ownSizes.add(Math.max(1, ids.most() + 1));
          shift = Math.addExact(shift, ownSizes.getLast());
        }
      }
      sizes.addAll(ownSizes);
      parts.add(own);
      embeddings.add(embedding(checkpoint, input, own, ownSizes, combiners));
    }
    return new TableWriting(embeddings, parts, sizes);
  }

  private static List<Slot> slots(GraphInput input, Schema schema) {
    return input.columns().isEmpty()
        ? schema.slots()
        : input.columns().stream()
            .map(name -> schema.slots().get(schema.slotNames().indexOf(name)))
            .toList();
  }

  /** The embeddings: together they read each slot once, in the order of the data. */
  private static List<GraphInput> inputs(Graph graph, Schema schema) {
    List<GraphInput> inputs = new ArrayList<>();
    List<String> read = new ArrayList<>();
    for (GraphInput input : graph.inputs()) {
      boolean all = input.columns().isEmpty();
      switch (input.kind()) {
        case VECTORS -> {
          inputs.add(input);
          slots(input, schema).forEach(slot -> read.add(slot.name()));
        }
        case NUMBERS -> requireInput(all || input.columns().equals(schema.dense()), input);
        case FEATURES -> requireInput(false, input);
      }
    }
    if (inputs.isEmpty() || !read.equals(schema.slotNames())) {
      throw new DataException(
          "export: got inputs of the slots %s, expected each of %s once, in the order of the data, as HugeCTR gives each slot to one embedding"
              .formatted(read, schema.slotNames()));
    }
    return inputs;
  }

  private static void requireInput(boolean holds, GraphInput input) {
    if (!holds) {
      throw new DataException(
          "export: got the input %s of some numbers or of all features, expected vectors, and all numbers as one tensor; list them as inputs of their own"
              .formatted(input.name()));
    }
  }

  /** Whether each slot has a table of its own; else the slots of each input have one. */
  private static boolean isApart(List<GraphInput> inputs, Schema schema) {
    if (inputs.stream().allMatch(in -> tables(in, schema) == 1)
        && schema.tables().size() == inputs.size()) {
      return false;
    }
    if (schema.tables().size() == schema.slotCount()) {
      return true;
    }
    throw new DataException(
        "export: got the tables %s for the slots %s, expected a table for each slot, or one for all slots of an embedding, as HugeCTR shifts the keys of every slot or of none"
            .formatted(schema.tables(), schema.slotNames()));
  }

  private static long tables(GraphInput input, Schema schema) {
    return slots(input, schema).stream().map(Slot::table).distinct().count();
  }

  private static void requireKeys(String table, Ids ids, boolean apart) {
    if (ids.count() == 0) {
      return;
    }
    boolean small = ids.least() >= 0 && ids.most() < Integer.MAX_VALUE;
    if (apart && !small || ids.most() == RESERVED) {
      throw new DataException(
          "export: got ids from %d to %d in table %s, expected %s"
              .formatted(
                  ids.least(),
                  ids.most(),
                  table,
                  apart
                      ? "0 to below 2^31 - 1, as HugeCTR shifts the keys of each slot behind those"
                          + " of the slots before it; write data with such ids by tern data"
                          + " convert --encode"
                      : "none of 2^63 - 1, which its tables use for an empty place"));
    }
  }

  private static GraphWriting.Embedding embedding(
      Checkpoint checkpoint,
      GraphInput input,
      List<Part> parts,
      List<Long> sizes,
      List<Combiner> combiners) {
    Schema schema = checkpoint.encoder().schema();
    List<Slot> slots = slots(input, schema);
    List<Combiner> own =
        slots.stream()
            .map(slot -> combiners.get(schema.slotNames().indexOf(slot.name())))
            .distinct()
            .toList();
    List<Integer> widths =
        parts.stream()
            .map(part -> RowShape.of(checkpoint.tableFiles(part.table()).getLast()).width())
            .distinct()
            .toList();
    if (own.size() != 1 || own.getFirst() == Combiner.SQRTN || widths.size() != 1) {
      throw new DataException(
          "export: got combiners %s and rows of %s weights in the input %s, expected sum or mean and one width, as an embedding of HugeCTR has"
              .formatted(own, widths, input.name()));
    }
    int width = widths.getFirst();
    if (width > GraphFile.MOST_WIDTH) {
      throw new DataException(
          "export: got rows of %d weights in the input %s, expected at most %d, which HugeCTR takes"
              .formatted(width, input.name(), GraphFile.MOST_WIDTH));
    }
    long rows = parts.stream().mapToLong(Part::rows).sum();
    long most = Math.max(1, sizes.isEmpty() ? rows : sizes.stream().mapToLong(each -> each).sum());
    Json.Obj json =
        Json.object()
            .put("combiner", own.getFirst() == Combiner.MEAN ? "mean" : "sum")
            .put("embedding_vec_size", width)
            .put("max_vocabulary_size_global", most)
            .put("workspace_size_per_gpu_in_mb", 1 + most * width * Float.BYTES / (1 << 20));
    if (!sizes.isEmpty()) {
      json.put(
          "slot_size_array",
          new Json.Arr(sizes.stream().<Json>map(size -> new Json.Int(size)).toList()));
    }
    return new GraphWriting.Embedding(input, slots.stream().map(Slot::hotness).toList(), json);
  }

  private static Ids ids(Checkpoint checkpoint, int table) {
    long[] facts = {0, Long.MAX_VALUE, Long.MIN_VALUE};
    try {
      walk(
          checkpoint,
          table,
          (id, _) -> {
            facts[0]++;
            facts[1] = Math.min(facts[1], id);
            facts[2] = Math.max(facts[2], id);
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Ids(facts[0], facts[1], facts[2]);
  }

  /** Takes a row. */
  @FunctionalInterface
  private interface Row {
    void take(long id, float[] weights) throws IOException;
  }

  private static void walk(Checkpoint checkpoint, int table, Row each) throws IOException {
    List<Path> files = checkpoint.tableFiles(table);
    RowShape shape = RowShape.of(files.getLast());
    long[] ids = new long[BLOCK];
    float[] weights = new float[shape.width()];
    try (SavedTable rows = SavedTable.open(files, shape);
        Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(BLOCK * shape.packedBytes(), Long.BYTES);
      for (int count = rows.next(ids, memory); count > 0; count = rows.next(ids, memory)) {
        for (int i = 0; i < count; i++) {
          MemorySegment row = memory.asSlice(i * shape.packedBytes(), shape.packedBytes());
          MemorySegment.copy(row, ValueLayout.JAVA_FLOAT, 0, weights, 0, weights.length);
          each.take(ids[i], weights);
        }
      }
    }
  }

  /** Rows of all embeddings together. */
  long rows() {
    return parts.stream().flatMap(List::stream).mapToLong(Part::rows).sum();
  }

  /** Writes the folder of each embedding. */
  void write(Checkpoint checkpoint, Path folder) throws IOException {
    for (int e : IntStream.range(0, parts.size()).toArray()) {
      Path own = folder.resolve(HugeCtrExport.sparse(e));
      Files.createDirectories(own);
      try (OutputStream keys = stream(own.resolve(SparseFolder.KEY));
          OutputStream vectors = stream(own.resolve(SparseFolder.VECTOR))) {
        for (Part part : parts.get(e)) {
          append(checkpoint, part, keys, vectors);
        }
      }
    }
  }

  private static OutputStream stream(Path file) throws IOException {
    return new BufferedOutputStream(Files.newOutputStream(file), 1 << 16);
  }

  private static void append(
      Checkpoint checkpoint, Part part, OutputStream keys, OutputStream vectors)
      throws IOException {
    ByteBuffer key = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    int width = RowShape.of(checkpoint.tableFiles(part.table()).getLast()).width();
    ByteBuffer vector = ByteBuffer.allocate(Float.BYTES * width).order(ByteOrder.LITTLE_ENDIAN);
    walk(
        checkpoint,
        part.table(),
        (id, weights) -> {
          key.putLong(0, id + part.shift());
          vector.asFloatBuffer().put(weights);
          keys.write(key.array());
          vectors.write(vector.array());
        });
  }
}
