package dev.tern.checkpoint.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.DeltaRuns;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.WhenFull;
import dev.tern.internal.checkpoint.LongColumn;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.checkpoint.SafeTensors;
import dev.tern.internal.checkpoint.SavedTable;
import dev.tern.internal.json.Json;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.PlantedRuns;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.DoubleSummaryStatistics;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Tables of checkpoints looked into, compared, moved and merged. */
final class SavedTableTest {
  private static final TrainOptions OPTIONS =
      DeltaRuns.options()
          .tables(t ->
              t.rows(
                  DeltaRuns.COUNTED
                      .withMaxRows(20, WhenFull.UNKNOWN)
                      .withRoomMadeBy(new Eviction.LeastFrequent(), 20)));

  @TempDir Path folder;

  /** A run of {@code steps} steps whose checkpoint has several parts. */
  private Path trained(TrainOptions options, long steps) {
    Path run = folder.resolve("run-" + steps);
    TrainOptions often = options.checkpoints(run, 0).deltas(DeltaRuns.everySteps(1, 100));
    DeltaRuns.run(run, often, false, steps);
    return run;
  }

  static List<TrainOptions> runs() {
    return DeltaRuns.runs();
  }

  @ParameterizedTest
  @MethodSource("runs")
  void mergedPartsAreTheBytesOfTheFullCheckpoint(TrainOptions options) throws IOException {
    Path run = folder.resolve("run");
    Path full = folder.resolve("full");
    TrainOptions often = options.checkpoints(run, 0).deltas(DeltaRuns.everySteps(1, 100));
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer =
            Trainer.create(device, PlantedRuns.encoder(DeltaRuns.ROWS), DeltaRuns.MODEL, often)) {
      trainer.fit(
          Readers.inMemory(DeltaRuns.ROWS),
          Optional.empty(),
          progress -> {
            if (progress.step() == 6) {
              trainer.requestStop();
            }
          });
      trainer.save(full);
    }
    Path merged = folder.resolve("merged");
    Checkpoint.openLatest(run).compact(merged);
    assertThat(PlantedRuns.contents(merged)).isEqualTo(PlantedRuns.contents(full));
    assertThatThrownBy(() -> Checkpoint.openLatest(run).compact(merged))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("give another name");
  }

  /** Writes what a new path is asked for. */
  @FunctionalInterface
  private interface Writing {
    void to(Path target);
  }

  @Test
  void newFilesAndFoldersLeaveWhatLiesBesideThemAsItIs() throws IOException {
    Checkpoint checkpoint = Checkpoint.openLatest(trained(OPTIONS, 3));
    TableFormat text = TableFormat.TEXT;
    List<Writing> writings =
        List.of(
            target -> TableExport.write(checkpoint, 1, text, target),
            target -> TableExport.write(checkpoint, 1, TableFormat.HUGECTR, target),
            target -> TableExport.writeChanges(checkpoint, checkpoint, 1, text, target),
            checkpoint::compact);
    for (int i = 0; i < writings.size(); i++) {
      Writing writing = writings.get(i);
      Path parent = Files.createDirectories(folder.resolve("out-" + i));
      Path target = parent.resolve("new");
      Path mine = Files.writeString(parent.resolve("new.writing"), "mine");
      Path replaced = Files.createDirectories(parent.resolve("new.replaced"));
      Path old = Files.writeString(replaced.resolve("file"), "old");
      assertThatThrownBy(() -> writing.to(target))
          .isInstanceOf(DataException.class)
          .hasMessageContaining(target + ": got a path that new.replaced stands for");
      assertThat(DeltaRuns.names(parent)).containsExactly("new.replaced", "new.writing");
      assertThat(old).hasContent("old");
      Files.move(replaced, parent.resolve("moved"));
      writing.to(target);
      assertThat(DeltaRuns.names(parent)).containsExactly("moved", "new", "new.writing");
      assertThat(mine).hasContent("mine");
    }
  }

  private static List<Long> ids(Checkpoint checkpoint, int slot) {
    List<Long> ids = new ArrayList<>();
    List<Path> files = checkpoint.tableFiles(slot);
    RowShape shape = RowShape.of(files.getLast());
    try (SavedTable table = SavedTable.open(files, shape);
        RowWalk rows = new RowWalk(shape, table)) {
      while (rows.next()) {
        ids.add(rows.id());
      }
    }
    return ids;
  }

  /** An array of the file of a table that lies in one: {@code F32} or {@code I32}, by rows. */
  private static int[][] column(Checkpoint checkpoint, int slot, String name) {
    List<Path> files = checkpoint.tableFiles(slot);
    assertThat(files).hasSize(1);
    try (SafeTensors file = SafeTensors.open(files.getFirst())) {
      List<Long> shape = file.entry(name).shape();
      int[][] rows = new int[shape.get(0).intValue()][shape.get(1).intValue()];
      ByteBuffer bytes =
          ByteBuffer.allocate((int) file.entry(name).bytes()).order(ByteOrder.LITTLE_ENDIAN);
      file.read(name, 0, bytes);
      bytes.flip();
      for (int[] row : rows) {
        for (int j = 0; j < row.length; j++) {
          row[j] = bytes.getInt();
        }
      }
      return rows;
    }
  }

  private Checkpoint compacted(Checkpoint checkpoint, String name) {
    checkpoint.compact(folder.resolve(name));
    return Checkpoint.open(folder.resolve(name));
  }

  private static double norm(int[] row) {
    double squares = 0;
    for (int weight : row) {
      squares += Math.pow(Float.intBitsToFloat(weight), 2);
    }
    return Math.sqrt(squares);
  }

  /** Of three ids in ascending order, the largest numbers first. */
  private static void requireTop(List<TableSummary.Top> got, List<Long> ids, double[] numbers) {
    List<Integer> order = new ArrayList<>(IntStream.range(0, ids.size()).boxed().toList());
    order.sort((a, b) -> Double.compare(numbers[b], numbers[a]));
    assertThat(got).hasSize(3);
    for (int i = 0; i < 3; i++) {
      assertThat(got.get(i).id()).isEqualTo(ids.get(order.get(i)));
      assertThat(got.get(i).value()).isCloseTo(numbers[order.get(i)], within(1e-9));
    }
  }

  @Test
  void aSummarySaysWhatTheColumnsOfTheFileHold() {
    Checkpoint checkpoint = Checkpoint.openLatest(trained(OPTIONS, 9));
    for (int slot = 0; slot < 3; slot++) {
      TableSummary summary = TableSummary.of(checkpoint, slot, 3);
      Checkpoint whole = compacted(checkpoint, "whole-" + slot);
      List<Long> ids = ids(whole, slot);
      double[] norms =
          Arrays.stream(column(whole, slot, "weights")).mapToDouble(row -> norm(row)).toArray();
      double[] times =
          Arrays.stream(column(whole, slot, "metadata")).mapToDouble(row -> row[1]).toArray();
      DoubleSummaryStatistics all = Arrays.stream(norms).summaryStatistics();
      assertThat(summary.norms().least()).isCloseTo(all.getMin(), within(1e-9));
      assertThat(summary.norms().mean()).isCloseTo(all.getAverage(), within(1e-9));
      assertThat(summary.norms().largest()).isCloseTo(all.getMax(), within(1e-9));
      requireTop(summary.topByNorm(), ids, norms);
      requireTop(summary.topByFrequency(), ids, times);
      List<TableSummary.Bin> bins = new ArrayList<>();
      for (long from = 1; from <= Arrays.stream(times).max().orElseThrow(); from *= 2) {
        long first = from;
        long rows = Arrays.stream(times).filter(t -> t >= first && t < 2 * first).count();
        bins.add(new TableSummary.Bin(from, 2 * from - 1, rows));
      }
      assertThat(summary.frequencies()).isEqualTo(bins);
      assertThat(bins.stream().filter(bin -> bin.rows() > 0).count()).isGreaterThan(1);
    }
  }

  @Test
  void aSummaryCountsRowsNormsAndFrequencies() {
    Checkpoint checkpoint = Checkpoint.openLatest(trained(OPTIONS, 4));
    TableSummary summary = TableSummary.of(checkpoint, 0, 3);
    assertThat(summary.name()).isEqualTo("site");
    assertThat(summary.rows()).isEqualTo(10);
    assertThat(summary.layout().fileBytesPerRow()).isEqualTo(8 + 4 * (5 + 10 + 2));
    assertThat(summary.frequencies().stream().mapToLong(TableSummary.Bin::rows).sum())
        .isEqualTo(10);
    assertThat(summary.norms().least()).isPositive().isLessThan(summary.norms().mean());
    assertThat(summary.topByNorm()).hasSize(3);
    assertThat(summary.topByNorm().getFirst().value()).isEqualTo(summary.norms().largest());
    assertThat(summary.topByFrequency().getFirst().value()).isGreaterThanOrEqualTo(9);
    Json.Obj json = Json.parseObject(summary.toJson(), "summary");
    assertThat(json.integer("rows")).isEqualTo(10);
    assertThat(json.integer("file_bytes_per_row")).isEqualTo(summary.layout().fileBytesPerRow());
    assertThat(json.array("top_frequency")).hasSize(3);
  }

  @Test
  void aTableWithoutRowsHasASummaryToo() {
    Path empty = folder.resolve("empty");
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer =
            Trainer.create(device, PlantedRuns.encoder(DeltaRuns.ROWS), DeltaRuns.MODEL, OPTIONS)) {
      trainer.save(empty);
    }
    TableSummary summary = TableSummary.of(Checkpoint.open(empty), 2, 3);
    assertThat(summary.rows()).isZero();
    assertThat(summary.topByNorm()).isEmpty();
    assertThat(Json.parseObject(summary.toJson(), "summary").has("norm")).isFalse();
  }

  @Test
  void aDifferenceCountsWhatCameWentAndMoved() {
    Checkpoint first = Checkpoint.openLatest(trained(OPTIONS, 3));
    Checkpoint second = Checkpoint.openLatest(trained(OPTIONS, 20));
    for (int slot = 0; slot < 3; slot++) {
      List<Long> before = ids(first, slot);
      List<Long> after = ids(second, slot);
      TableDifference difference = TableDifference.of(first, second, slot);
      assertThat(difference.added())
          .isEqualTo(after.stream().filter(id -> !before.contains(id)).count());
      assertThat(difference.removed())
          .isEqualTo(before.stream().filter(id -> !after.contains(id)).count());
      assertThat(difference.changed() + difference.same() + difference.added())
          .isEqualTo(after.size());
      assertThat(TableDifference.of(first, first, slot))
          .isEqualTo(
              new TableDifference(difference.name(), 0, 0, 0, before.size(), Optional.empty()));
    }
    TableDifference sites = TableDifference.of(first, second, 0);
    assertThat(sites.changed()).isPositive();
    assertThat(sites.toJson()).contains("\"distance\":");
  }

  @Test
  void aDifferenceTellsRowsThatMovedFromThoseThatDidNot() throws IOException {
    Checkpoint first = Checkpoint.openLatest(trained(OPTIONS, 3));
    Checkpoint second = Checkpoint.openLatest(trained(OPTIONS, 4));
    long changed = 0;
    long same = 0;
    for (int slot = 0; slot < 3; slot++) {
      TableDifference difference = TableDifference.of(first, second, slot);
      TableExport.write(first, slot, TableFormat.TEXT, folder.resolve("before-" + slot));
      TableExport.write(second, slot, TableFormat.TEXT, folder.resolve("after-" + slot));
      Map<String, String> before = lines(folder.resolve("before-" + slot));
      Map<String, String> after = lines(folder.resolve("after-" + slot));
      before.keySet().retainAll(after.keySet());
      Map<String, Double> moved = new HashMap<>();
      before.forEach((id, line) -> {
        if (!line.equals(after.get(id))) {
          moved.put(id, distance(line, after.get(id)));
        }
      });
      assertThat(difference.changed()).isEqualTo(moved.size());
      assertThat(difference.same()).isEqualTo(before.size() - moved.size());
      changed += difference.changed();
      same += difference.same();
      if (!moved.isEmpty()) {
        Map.Entry<String, Double> farthest =
            Collections.max(moved.entrySet(), Map.Entry.comparingByValue());
        TableSummary.Top largest = difference.largest().orElseThrow();
        assertThat(largest.id()).isEqualTo(Long.parseLong(farthest.getKey()));
        assertThat(largest.value()).isCloseTo(farthest.getValue(), within(1e-9));
      }
    }
    assertThat(changed).isPositive();
    assertThat(same).isPositive();
  }

  /** Between the weights of two lines. */
  private static double distance(String line, String other) {
    String[] from = line.split("\t");
    String[] to = other.split("\t");
    double squares = 0;
    for (int j = 1; j < from.length; j++) {
      squares += Math.pow((double) Float.parseFloat(from[j]) - Float.parseFloat(to[j]), 2);
    }
    return Math.sqrt(squares);
  }

  @ParameterizedTest
  @EnumSource(TableFormat.class)
  void whatWasExportedComesBackWithTheSameWeights(TableFormat format) {
    Path run = trained(OPTIONS, 5);
    Checkpoint checkpoint = Checkpoint.openLatest(run);
    Path exported = folder.resolve("exported");
    long rows = TableExport.write(checkpoint, 1, format, exported);
    assertThat(rows).isEqualTo(ids(checkpoint, 1).size()).isPositive();
    Path target = folder.resolve("imported");
    assertThat(TableImport.write(checkpoint, 1, format, exported, target)).isEqualTo(rows);
    Checkpoint imported = Checkpoint.open(target);
    for (int slot = 0; slot < 3; slot++) {
      TableDifference difference = TableDifference.of(checkpoint, imported, slot);
      assertThat(difference.same()).isEqualTo(ids(checkpoint, slot).size());
      assertThat(difference.added() + difference.removed() + difference.changed()).isZero();
    }
    try (Device device = Device.cpu(1, 1L << 27)) {
      Trainer.resume(device, target, DeltaRuns.MODEL, OPTIONS).close();
    }
    assertThatThrownBy(() -> TableExport.write(checkpoint, 1, format, exported))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("give another name");
  }

  static List<Arguments> imports() {
    Eviction score = new Eviction.LowScore(0.9, 0.01f, 0.5f, 2);
    List<Arguments> imports = new ArrayList<>();
    for (TableFormat format : TableFormat.values()) {
      imports.add(Arguments.of(format, OPTIONS, 0f));
      imports.add(
          Arguments.of(
              format,
              OPTIONS
                  .tables(t -> t.rows(DeltaRuns.COUNTED.withEviction(score)))
                  .tableOptimizer(new Optimizer.Adagrad(0.1f, 0.25f, 1e-8f)),
              0.25f));
      imports.add(
          Arguments.of(
              format,
              OPTIONS
                  .tables(t -> t.rows(RowPolicy.ALL))
                  .tableOptimizer(new Optimizer.RowWiseAdagrad(0.1f, 0.5f, 1e-8f)),
              0.5f));
    }
    return imports;
  }

  @ParameterizedTest
  @MethodSource("imports")
  void importedRowsHaveTheStateOfTheirFormatAndCountAsSeenOnceInTheLastStep(
      TableFormat format, TrainOptions options, float firstState) {
    Checkpoint checkpoint = compacted(Checkpoint.openLatest(trained(options, 5)), "whole");
    Path exported = folder.resolve("exported");
    TableExport.write(checkpoint, 1, format, exported);
    Path target = folder.resolve("imported");
    TableImport.write(checkpoint, 1, format, exported, target);
    Checkpoint imported = Checkpoint.open(target);
    int[][] before = column(checkpoint, 1, "state");
    int[][] after = column(imported, 1, "state");
    assertThat(before.length).isPositive();
    assertThat(Arrays.stream(before).flatMapToInt(Arrays::stream))
        .as("trained state")
        .anyMatch(bits -> bits != Float.floatToRawIntBits(firstState));
    if (format == TableFormat.SAFETENSORS) {
      assertThat(after).isDeepEqualTo(before);
    } else {
      assertThat(after).hasDimensions(before.length, before[0].length);
      assertThat(Arrays.stream(after).flatMapToInt(Arrays::stream))
          .containsOnly(Float.floatToRawIntBits(firstState));
    }
    if (options.tables().rows().isAll()) {
      return;
    }
    int[] once = {5, 1, Float.floatToRawIntBits(1)};
    int columns = column(checkpoint, 1, "metadata")[0].length;
    assertThat(columns)
        .isEqualTo(options.tables().rows().eviction() instanceof Eviction.LowScore ? 3 : 2);
    int[][] kept = column(checkpoint, 1, "metadata");
    assertThat(Arrays.deepEquals(kept, column(imported, 1, "metadata"))).isFalse();
    for (int[] row : column(imported, 1, "metadata")) {
      assertThat(row).isEqualTo(Arrays.copyOf(once, columns));
    }
  }

  @Test
  void aFolderOfHugeCtrHoldsKeysVectorsAndSlots() throws IOException {
    Checkpoint checkpoint = Checkpoint.openLatest(trained(OPTIONS, 5));
    Path exported = folder.resolve("sparse");
    TableExport.write(checkpoint, 1, TableFormat.HUGECTR, exported);
    List<Long> ids = ids(checkpoint, 1);
    assertThat(longs(exported.resolve("key"))).isEqualTo(ids);
    assertThat(longs(exported.resolve("slot_id"))).hasSize(ids.size()).containsOnly(1L);
    assertThat(Files.size(exported.resolve("emb_vector"))).isEqualTo(20L * ids.size());
    Files.write(exported.resolve("emb_vector"), new byte[7]);
    assertThatThrownBy(() ->
            TableImport.write(checkpoint, 1, TableFormat.HUGECTR, exported, folder.resolve("bad")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("emb_vector: got 7 bytes, expected " + 20L * ids.size());
    assertThat(folder.resolve("bad")).doesNotExist();
  }

  private static Map<String, String> lines(Path file) throws IOException {
    return Files.readAllLines(file).stream()
        .collect(Collectors.toMap(line -> line.split("\t", 2)[0], line -> line));
  }

  @Test
  void exportedChangesMakeTheEarlierTableTheLaterOne() throws IOException {
    Checkpoint first = Checkpoint.openLatest(trained(OPTIONS, 3));
    Checkpoint second = Checkpoint.openLatest(trained(OPTIONS, 20));
    Path before = folder.resolve("before");
    Path after = folder.resolve("after");
    long gone = 0;
    for (int slot = 0; slot < 3; slot++) {
      Path text = folder.resolve("changes-" + slot);
      TableExport.write(first, slot, TableFormat.TEXT, before);
      TableExport.write(second, slot, TableFormat.TEXT, after);
      TableDifference difference = TableDifference.of(first, second, slot);
      TableExport.Changes expected =
          new TableExport.Changes(difference.added() + difference.changed(), difference.removed());
      gone += expected.gone();
      assertThat(TableExport.writeChanges(first, second, slot, TableFormat.TEXT, text))
          .isEqualTo(expected);
      Map<String, String> served = lines(before);
      lines(text)
          .forEach((id, line) -> served.compute(id, (_, _) -> line.equals(id) ? null : line));
      assertThat(served).isEqualTo(lines(after));

      Path tensors = folder.resolve("tensors-" + slot);
      assertThat(TableExport.writeChanges(first, second, slot, TableFormat.SAFETENSORS, tensors))
          .isEqualTo(expected);
      requireSame(tensors, Files.readAllLines(text));
      Files.delete(before);
      Files.delete(after);
    }
    assertThat(gone).isPositive();
  }

  /** The arrays hold what the lines say. */
  private static void requireSame(Path tensors, List<String> lines) {
    List<String> whole = lines.stream().filter(line -> line.contains("\t")).toList();
    try (SafeTensors file = SafeTensors.open(tensors)) {
      assertThat(file.names()).containsExactly("ids", "weights", "state", "gone");
      long[] gone = new long[(int) file.entry("gone").elements()];
      new LongColumn(file, "gone").read(0, gone, gone.length);
      assertThat(Arrays.stream(gone).mapToObj(Long::toString))
          .isEqualTo(lines.stream().filter(line -> !line.contains("\t")).toList());
      long[] ids = new long[whole.size()];
      new LongColumn(file, "ids").read(0, ids, ids.length);
      ByteBuffer weights = ByteBuffer.allocate(20 * ids.length).order(ByteOrder.LITTLE_ENDIAN);
      file.read("weights", 0, weights);
      weights.flip();
      for (int i = 0; i < ids.length; i++) {
        StringBuilder line = new StringBuilder(Long.toString(ids[i]));
        for (int j = 0; j < 5; j++) {
          line.append('\t').append(weights.getFloat());
        }
        assertThat(line).hasToString(whole.get(i));
      }
    }
  }

  @Test
  void changesAreNotTakenForATableNorWrittenWhereNothingSaysWhatWent() {
    Checkpoint first = Checkpoint.openLatest(trained(DeltaRuns.options(), 3));
    Path changes = folder.resolve("changes");
    TableExport.writeChanges(first, first, 1, TableFormat.SAFETENSORS, changes);
    assertThatThrownBy(() ->
            TableImport.write(
                first, 1, TableFormat.SAFETENSORS, changes, folder.resolve("imported")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining(changes + ": got the changes of a table, expected a whole one");
    Path model = folder.resolve("model");
    assertThatThrownBy(() -> TableExport.writeChanges(first, first, 1, TableFormat.HUGECTR, model))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("expected text or safetensors");
    assertThat(model).doesNotExist();
  }

  @ParameterizedTest
  @EnumSource(TableFormat.class)
  void anExportThatFailsLeavesNothing(TableFormat format) throws IOException {
    Checkpoint checkpoint = Checkpoint.openLatest(trained(OPTIONS, 5));
    Path table = checkpoint.tableFiles(1).getFirst();
    byte[] bytes = Files.readAllBytes(table);
    // The first id is what a later one has to be above.
    int ids = 8 + (int) ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(0);
    Arrays.fill(bytes, ids, ids + 7, (byte) -1);
    bytes[ids + 7] = 127;
    Files.write(table, bytes);
    Path target = folder.resolve("exported");
    assertThatThrownBy(() -> TableExport.write(checkpoint, 1, format, target))
        .isInstanceOf(DataException.class)
        .hasMessageContaining(table.toString());
    assertThat(DeltaRuns.names(folder)).containsExactly("run-5");
  }

  private static List<Long> longs(Path file) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    List<Long> values = new ArrayList<>();
    while (bytes.hasRemaining()) {
      values.add(bytes.getLong());
    }
    return values;
  }

  @Test
  void linesThatAreNoRowsAreNamed() throws IOException {
    Checkpoint checkpoint = Checkpoint.openLatest(trained(OPTIONS, 3));
    Path lines = folder.resolve("lines");
    List<List<String>> faults =
        List.of(
            List.of("1\t1\t2\t3\t4\t5\n7\t1\t2\n", "line 2: got 2 weights, expected 5"),
            List.of(
                "1\t1\t2\t3\t4\t5\n1\t1\t2\t3\t4\t5\n",
                "line 2: got id 1 as at line 1, expected each"),
            List.of("one\t1\t2\t3\t4\t5\n", "line 1: got For input string: \"one\""));
    for (List<String> fault : faults) {
      Files.writeString(lines, fault.get(0));
      assertThatThrownBy(() ->
              TableImport.write(checkpoint, 1, TableFormat.TEXT, lines, folder.resolve("bad")))
          .isInstanceOf(DataException.class)
          .hasMessageContaining(lines + ": " + fault.get(1));
    }
    Files.writeString(lines, "9\t1\t2\t3\t4\t5\n-3\t0\t0\t0\t0\t0.5\n");
    TableImport.write(checkpoint, 1, TableFormat.TEXT, lines, folder.resolve("good"));
    assertThat(ids(Checkpoint.open(folder.resolve("good")), 1)).containsExactly(-3L, 9L);
  }
}
