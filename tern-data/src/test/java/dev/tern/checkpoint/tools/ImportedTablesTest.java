package dev.tern.checkpoint.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.DeltaRuns;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.OwnOptions;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.checkpoint.AtomicFolder;
import dev.tern.internal.checkpoint.FileDigest;
import dev.tern.internal.checkpoint.SafeTensors;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.predict.Predictor;
import dev.tern.tensor.Device;
import dev.tern.train.PlantedRuns;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables that leave a checkpoint and come into another, with all that a run needs of them. */
final class ImportedTablesTest {
  private static final ModelConfig MODEL = ModelConfig.of(ModelConfig.Type.DEEPFM, 4, 8);
  private static final Batch ROWS = PlantedRuns.planted(1, 1500);

  @TempDir private Path folder;

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.01f)).batch(64).shuffleRows(500);
  }

  /** Options of a run whose linear weights have an optimizer of their own. */
  private static TrainOptions twoRules() {
    return options()
        .tableOptimizer(new Optimizer.Adagrad(0.05f, 0.1f, 1e-8f))
        .tables(t -> t.firstPart(new Optimizer.Ftrl(0.1f, 1, 0.01f, 0.01f)));
  }

  private Path saved(Batch rows, FeatureEncoder encoder, TrainOptions options) {
    Path target = folder.resolve("saved");
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder, MODEL, options)) {
      trainer.fit(Readers.inMemory(rows));
      trainer.save(target);
    }
    return target;
  }

  private Path saved(TrainOptions options) {
    return saved(ROWS, PlantedRuns.encoder(ROWS), options);
  }

  @Test
  void rowsOfHugeCtrBelongToTheSlotsOfTheirTable() throws IOException {
    Schema schema =
        new Schema(
            List.of("click"),
            List.of(),
            List.of(Slot.ragged("last"), Slot.oneHot("user"), Slot.oneHot("item")));
    Batch rows = new Batch(schema, 200);
    for (int i = 0; i < 200; i++) {
      rows.addId(0, 10 + i % 70);
      rows.addId(1, i % 50);
      rows.addId(2, i % 60);
      rows.setLabel(0, i % 2);
      rows.endRow();
    }
    IdEncoding ids = new IdEncoding.Vocabulary(false, 1, 1 << 20);
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(rows),
            List.of(),
            List.of(ids, ids, ids),
            Map.of("last", "item"),
            TextDictionary.none(),
            _ -> {});
    Checkpoint checkpoint = Checkpoint.open(saved(rows, encoder, options()));
    // Table 1 belongs to slot 2, the item. Slot 0 uses it too.
    Path model = folder.resolve("model");
    long count = TableExport.write(checkpoint, 1, TableFormat.HUGECTR, model);
    ByteBuffer slots = ByteBuffer.wrap(Files.readAllBytes(model.resolve("slot_id")));
    slots.order(ByteOrder.LITTLE_ENDIAN);
    assertThat(slots.getLong(0)).isEqualTo(2);
    slots.putLong(0, 0).putLong(8, 1);
    Files.write(model.resolve("slot_id"), slots.array());
    Path target = folder.resolve("imported");
    assertThat(TableImport.write(checkpoint, 1, TableFormat.HUGECTR, model, target))
        .isEqualTo(count - 1);
  }

  @Test
  void bucketsStayWhereRowsOfATableAreReplaced() throws IOException {
    TrainOptions options =
        options().tables(t -> t.unknown(new UnknownRow.Hashed(6)).rows(DeltaRuns.COUNTED));
    Path checkpoint = saved(options);
    Path text = Files.writeString(folder.resolve("rows.txt"), "5\t1\t2\t3\t4\t5\n");
    Path target = folder.resolve("imported");
    TableImport.write(Checkpoint.open(checkpoint), 1, TableFormat.TEXT, text, target);
    for (int t = 0; t < 3; t++) {
      assertThat(entry(target, t, "buckets")).isEqualTo(entry(checkpoint, t, "buckets"));
    }
    TableSummary summary = TableSummary.of(Checkpoint.open(target), 1, 1);
    assertThat(summary.rows()).isOne();
    assertThat(summary.layout().buckets()).isEqualTo(6);
    Path again = folder.resolve("again");
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.resume(device, target, MODEL, options)) {
      trainer.save(again);
    }
    assertThat(entry(again, 1, "buckets")).isEqualTo(entry(checkpoint, 1, "buckets"));
  }

  /** The bytes of an array in the file of a table. */
  private static byte[] entry(Path checkpoint, int table, String name) throws IOException {
    Path path = checkpoint.resolve("tables/" + table + ".safetensors");
    try (SafeTensors file = SafeTensors.open(path)) {
      byte[] bytes = Files.readAllBytes(path);
      long header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(0);
      SafeTensors.Entry entry = file.entry(name);
      int from = (int) (8 + header + entry.offset());
      int count = (int) (Float.BYTES * entry.shape().get(0) * entry.shape().get(1));
      assertThat(count).isPositive();
      return Arrays.copyOfRange(bytes, from, from + count);
    }
  }

  @Test
  void tablesOfTwoOptimizersComeInAgainWithTheStateThatRowsBeginWith() throws IOException {
    Path saved = saved(twoRules());
    Checkpoint checkpoint = Checkpoint.open(saved);
    Path rows = folder.resolve("rows.txt");
    Path imported = folder.resolve("imported");
    TableExport.write(checkpoint, 0, TableFormat.TEXT, rows);
    TableImport.write(checkpoint, 0, TableFormat.TEXT, rows, imported);
    assertThat(scores(imported)).isEqualTo(scores(saved));
    ByteBuffer state = ByteBuffer.wrap(entry(imported, 0, "state")).order(ByteOrder.LITTLE_ENDIAN);
    float[] first = new float[6];
    state.asFloatBuffer().get(first);
    // z and n of the linear weight, then the sums of squares of the vector.
    assertThat(first).containsExactly(0, 0, 0.1f, 0.1f, 0.1f, 0.1f);
  }

  @Test
  void rowsThatComeInHaveTheStateOfTheOptimizerOfTheirTable() throws IOException {
    Optimizer own = new Optimizer.Adagrad(0.05f, 0.25f, 1e-8f);
    TrainOptions options =
        twoRules().tables(t -> t.own("ad", OwnOptions.NONE.optimizer(own).storage(DType.BF16)));
    Checkpoint checkpoint = Checkpoint.open(saved(options));
    for (int table = 0; table < 2; table++) {
      Path text = Files.writeString(folder.resolve("rows.txt"), "5\t1\t2\t3\t4\t5\n");
      Path target = folder.resolve("imported" + table);
      TableImport.write(checkpoint, table, TableFormat.TEXT, text, target);
      ByteBuffer state = ByteBuffer.wrap(entry(target, table, "state"));
      float[] first = new float[6];
      state.order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(first);
      float start = table == 0 ? 0.1f : 0.25f;
      assertThat(first).containsExactly(0, 0, start, start, start, start);
      assertThat(scores(target)).doesNotContain(Float.NaN);
    }
  }

  private static float[] scores(Path checkpoint) {
    try (Predictor predictor = Predictor.open(checkpoint)) {
      return predictor.score(ROWS);
    }
  }

  @Test
  void anImportIntoACheckpointWhoseOptimizersKeepOtherStateIsRefused() throws IOException {
    Path saved = saved(twoRules());
    Path rows = folder.resolve("rows.txt");
    TableExport.write(Checkpoint.open(saved), 0, TableFormat.TEXT, rows);
    Path manifest = saved.resolve("manifest.json");
    String text = Files.readString(manifest);
    for (int width : new int[] {2, 0, 9, -1}) {
      String edited = text.replaceAll("\"firstPartWidth\":\\s*1", "\"firstPartWidth\":" + width);
      assertThat(edited).isNotEqualTo(text);
      Files.writeString(manifest, edited);
      Files.writeString(saved.resolve("manifest.sha256"), FileDigest.sha256(manifest));
      Checkpoint damaged = Checkpoint.open(saved);
      Path target = folder.resolve("imported");
      assertThatThrownBy(() -> TableImport.write(damaged, 0, TableFormat.TEXT, rows, target))
          .isInstanceOf(DataException.class)
          .hasMessageContainingAll(saved.toString(), "the checkpoint is damaged");
      assertThat(target).doesNotExist();
    }
  }

  @Test
  void aCheckpointThatAnotherTookThePlaceOfIsNotExported() throws IOException {
    Path place = saved(options());
    Checkpoint opened = Checkpoint.open(place);
    AtomicFolder.delete(place);
    saved(options().epochs(2));
    Path out = folder.resolve("out");
    Checkpoint other = Checkpoint.open(place);
    List<ThrowingCallable> readings =
        List.of(
            () -> TableExport.write(opened, 0, TableFormat.TEXT, out),
            () -> TableExport.writeChanges(opened, other, 0, TableFormat.SAFETENSORS, out));
    for (ThrowingCallable reading : readings) {
      assertThatThrownBy(reading)
          .isInstanceOf(DataException.class)
          .hasMessageContainingAll(place + ": got another checkpoint", "open it again");
      assertThat(out).doesNotExist();
    }
  }
}
