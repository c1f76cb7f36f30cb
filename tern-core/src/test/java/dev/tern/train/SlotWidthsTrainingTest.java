package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DataException;
import dev.tern.base.Shape;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.config.TableOptions;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelConfig.Type;
import dev.tern.model.Network;
import dev.tern.model.Scorer;
import dev.tern.nn.Features;
import dev.tern.nn.Pass;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Models whose slots have vectors of unequal widths. */
final class SlotWidthsTrainingTest {
  private static final int ROWS = 300;
  private static final Schema SCHEMA =
      new Schema(
          List.of("click"),
          List.of("age"),
          List.of(
              Slot.oneHot("user"),
              Slot.ragged("tags"),
              Slot.oneHot("item"),
              Slot.ragged("seen").withTable("item")));

  @TempDir private Path folder;

  private static ModelConfig model(Type type) {
    return ModelConfig.of(type, 4, 8)
        .withMatching(Matching.of("item"))
        .withEmbedding("tags", 2)
        .withEmbedding("item", 3);
  }

  private static Batch rows() {
    Batch rows = new Batch(SCHEMA, ROWS);
    Random random = new Random(4);
    for (int row = 0; row < ROWS; row++) {
      rows.setDense(0, random.nextFloat(-1, 1));
      rows.setLabel(0, random.nextInt(2));
      rows.addId(0, random.nextInt(15));
      rows.addId(2, random.nextInt(15));
      for (int i = random.nextInt(4); i > 0; i--) {
        rows.addId(1, random.nextInt(15));
        rows.addId(3, random.nextInt(15));
      }
      rows.endRow();
    }
    return rows;
  }

  private static FeatureEncoder encoder(Batch rows) {
    return FeatureEncoder.fit(
        Readers.inMemory(rows),
        List.of(NumberEncoding.none()),
        Collections.nCopies(4, IdEncoding.verbatim()),
        Map.of("seen", "item"),
        TextDictionary.none(),
        read -> {});
  }

  private static TrainOptions options() {
    return TrainOptions.of(Optimizer.adam(0.01f)).batch(50).tables(t -> t.initRange(0.3f));
  }

  /**
   * Gives each id its weights: a function of table, id and column, and 0 where the mixed has none.
   */
  private static void fill(EmbeddingTable table, int front, int kept) {
    int[] left = {15};
    int floats = table.config().rowFloats();
    table.importFrom((ids, values) -> {
      int count = Math.min(left[0], ids.length);
      for (int i = 0; i < count; i++) {
        ids[i] = --left[0];
        Random random = new Random(table.config().name().hashCode() + 31 * ids[i]);
        for (int j = 0; j < table.config().width(); j++) {
          float weight = j < front + kept ? (float) random.nextGaussian() : 0;
          values.setAtIndex(ValueLayout.JAVA_FLOAT, (long) i * floats + j, weight);
        }
      }
      return count;
    });
  }

  private static float[] logits(Network network, Batch rows) {
    float[] logits = new float[rows.size()];
    try (Scorer scorer = new Scorer(network, rows.size())) {
      scorer.logits(rows, logits, 0);
    }
    return logits;
  }

  /** Places of the inputs of the mixed model among those of one with vectors of width 4. */
  private static List<Integer> places() {
    List<Integer> places = new ArrayList<>();
    List<Integer> widths = List.of(4, 2, 3, 3);
    for (int slot = 0; slot < 4; slot++) {
      for (int j = 0; j < widths.get(slot); j++) {
        places.add(4 * slot + j);
      }
    }
    places.add(16); // The number.
    return places;
  }

  @ParameterizedTest
  @EnumSource(names = {"WDL", "SHAREDBOTTOM", "DEEPCROSSING"})
  void itIsTheModelOfEqualWidthsWithoutTheColumnsThatAreZero(Type type) {
    ModelConfig equal = ModelConfig.of(type, 4, 8);
    int front = type == Type.WDL ? 1 : 0;
    TableOptions tables = TableOptions.of(Optimizer.sgd(1));
    Batch rows = rows();
    try (Device device = Device.cpu(1, 1L << 27);
        Network mixed = Network.create(device, encoder(rows).schema(), model(type), tables, 1);
        Network whole = Network.create(device, encoder(rows).schema(), equal, tables, 2)) {
      assertThat(mixed.slotWidths()).containsExactly(4, 2, 3, 3);
      List<Integer> kept = List.of(4, 2, 3);
      for (int t = 0; t < 3; t++) {
        assertThat(mixed.tables().tables().get(t).config().width()).isEqualTo(front + kept.get(t));
        fill(mixed.tables().tables().get(t), front, kept.get(t));
        fill(whole.tables().tables().get(t), front, kept.get(t));
      }
      for (int p = 0; p < whole.variables().size(); p++) {
        copy(mixed.variables().get(p), whole.variables().get(p));
      }
      float[] got = logits(mixed, rows);
      float[] expected = logits(whole, rows);
      for (int i = 0; i < ROWS; i++) {
        assertThat(got[i]).isCloseTo(expected[i], within(1e-4f * (1 + Math.abs(expected[i]))));
      }
      assertThat(got[0]).isNotEqualTo(got[1]);
    }
  }

  /** Sets the parameter of the wider model to that of the mixed one, and 0 where that has none. */
  private static void copy(Variable from, Variable to) {
    assertThat(to.name()).isEqualTo(from.name());
    float[] values = new float[to.shape().elements()];
    List<Integer> places = places();
    int rows = from.shape().rank() == 2 ? from.shape().size(0) : 1;
    int columns = from.shape().elements() / rows;
    int wide = to.shape().elements() / (to.shape().rank() == 2 ? to.shape().size(0) : 1);
    float[] narrow = from.toArray();
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < columns; j++) {
        int row = rows == places.size() ? places.get(i) : i;
        int column = columns == places.size() ? places.get(j) : j;
        values[row * wide + column] = narrow[i * columns + j];
      }
    }
    to.set(values);
  }

  @Test
  void theWidePartOfWdlIsOneWeightOfEachIdBesideAVectorOfAnyWidth() {
    TableOptions tables =
        TableOptions.of(Optimizer.sgd(1)).firstPart(new Optimizer.Ftrl(1, 1, 0, 0));
    Batch rows = rows();
    try (Device device = Device.cpu(1, 1L << 27);
        Network network =
            Network.create(device, encoder(rows).schema(), model(Type.WDL), tables, 1)) {
      List<EmbeddingTable> all = network.tables().tables();
      assertThat(all.stream().map(table -> table.config().width())).containsExactly(5, 3, 4);
      // FTRL keeps two numbers of the wide weight; SGD none of the deep ones.
      assertThat(all.stream().map(table -> table.config().stateFloats())).containsOnly(2);
      all.forEach(table -> fill(table, 1, 0));
      network.variables().forEach(v -> v.set(new float[v.shape().elements()]));
      float[] logits = logits(network, rows);
      for (int row = 0; row < ROWS; row++) {
        double sum = 0;
        for (int slot = 0; slot < 4; slot++) {
          String table = SCHEMA.slots().get(slot).table();
          for (int i = rows.offsets(slot)[row]; i < rows.offsets(slot)[row + 1]; i++) {
            sum += new Random(table.hashCode() + 31 * rows.ids(slot)[i]).nextGaussian();
          }
        }
        assertThat(logits[row]).isCloseTo((float) sum, within(1e-5f));
      }
    }
  }

  @Test
  void aModelFindsTheVectorsOfEachSlotWhateverTheirWidths() {
    Tensor dense = Tensor.of(Shape.of(2, 1), new float[] {8, 9});
    float[] numbers = {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16};
    Features mixed =
        new Features(
            dense,
            List.of(Tensor.of(Shape.of(2, 6), numbers)),
            List.of(1, 3, 2),
            Optional.empty(),
            Map.of(),
            Optional.empty(),
            Pass.scoring());
    assertThat(mixed.slots(1, 2).toArray()).containsExactly(2, 3, 4, 12, 13, 14);
    assertThat(mixed.slots(1, 3).toArray()).containsExactly(2, 3, 4, 5, 6, 12, 13, 14, 15, 16);
    assertThat(mixed.flat(mixed.embedded()).toArray())
        .containsExactly(1, 2, 3, 4, 5, 6, 8, 11, 12, 13, 14, 15, 16, 9);
    Features equal =
        new Features(dense, List.of(Tensor.of(Shape.of(2, 3, 2), numbers)), Pass.scoring());
    assertThat(equal.slots(1, 3).toArray()).containsExactly(3, 4, 5, 6, 13, 14, 15, 16);
  }

  private Path saved(Device device, ModelConfig model) {
    Batch rows = rows();
    Path target = folder.resolve("before");
    try (Trainer trainer = Trainer.create(device, encoder(rows), model, options())) {
      trainer.fit(Readers.inMemory(rows));
      trainer.save(target);
    }
    return target;
  }

  @Test
  void aCheckpointKnowsTheWidths() {
    try (Device device = Device.cpu(1, 1L << 27)) {
      Checkpoint checkpoint = Checkpoint.open(saved(device, model(Type.WDL)));
      assertThat(checkpoint.model()).contains(model(Type.WDL));
      assertThatThrownBy(() ->
              Trainer.resume(
                  device,
                  folder.resolve("before"),
                  model(Type.WDL).withEmbedding("tags", 5),
                  options()))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("the checkpoint is of another model");
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"WDL", "TWOTOWER"})
  void aRunMayBeginWithOneWhoseSlotsHadOtherWidths(Type type) {
    try (Device device = Device.cpu(1, 1L << 27)) {
      Checkpoint before = Checkpoint.open(saved(device, model(type)));
      ModelConfig wider = model(type).withEmbedding("tags", 6);
      try (Trainer trainer =
          Trainer.warmStart(device, before, before.encoder(), wider, options())) {
        String layer = type == Type.WDL ? "deep.0.weight" : "user.out.weight";
        assertThat(trainer.fresh()).containsExactly(layer, "table tags");
      }
      // Four numbers of users and three of items; the layers would take them for each other.
      ModelConfig swapped = model(type).withEmbedding("user", 2).withEmbedding("tags", 4);
      assertThatThrownBy(
              () -> Trainer.warmStart(device, before, before.encoder(), swapped, options()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("begin: got embeddings of the widths [2, 4, ")
          .hasMessageContaining("weights would meet other columns");
    }
  }

  @Test
  void columnsOfOneTowerThatChangeWidthsAreRefusedThoughTheOtherTowerGrows() {
    ModelConfig before =
        model(Type.TWOTOWER).withMatching(Matching.of("item", "tags")).withEmbedding("user", 4);
    ModelConfig after = before.withEmbedding("item", 2).withEmbedding("tags", 3);
    try (Device device = Device.cpu(1, 1L << 27)) {
      Checkpoint saved = Checkpoint.open(saved(device, before));
      assertThatThrownBy(() -> Trainer.warmStart(device, saved, saved.encoder(), after, options()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("[3, 2] for the slots [tags, item]");
    }
  }

  @Test
  void vectorsFromElsewhereAreAsWideAsTheirTable() {
    Batch rows = rows();
    try (Device device = Device.cpu(1, 1L << 27);
        Trainer trainer = Trainer.create(device, encoder(rows), model(Type.WDL), options())) {
      Network network = trainer.network();
      assertThat(network.vectorWidths("tags")).containsExactly(2, 3);
      assertThat(network.vectorWidths("user")).containsExactly(4, 5);
      int[] left = {1};
      network.begin(
          "tags",
          2,
          (ids, numbers) -> {
            ids[0] = 7;
            numbers[0] = 0.5f;
            numbers[1] = 0.25f;
            return left[0]--;
          });
      assertThat(network.tables().rows()).isEqualTo(1);
      assertThatThrownBy(() -> network.begin("user", 2, (ids, numbers) -> 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got vectors of 2 numbers for table user, expected [4, 5]");
    }
  }

  @ParameterizedTest
  @EnumSource(Type.class)
  void aModelThatMultipliesVectorsRefusesUnequalOnes(Type type) {
    ModelConfig equal = ModelConfig.of(type, 4, 8).withEmbedding("tags", 4);
    assertThat(equal.widths().differ()).isFalse();
    if (!type.takesWidths()) {
      assertThatThrownBy(() -> equal.withEmbedding("tags", 2))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got embedding [2] for the slots [tags] beside 4 for others");
    } else {
      assertThat(equal.withEmbedding("tags", 2).widths().differ()).isTrue();
    }
  }

  @Test
  void slotsOfOneTableHaveOneWidthAndEachIsASlotOfTheRows() {
    TableOptions tables = TableOptions.of(Optimizer.sgd(1));
    Schema schema = encoder(rows()).schema();
    try (Device device = Device.cpu(1, 1L << 27)) {
      ModelConfig disagree = model(Type.WDL).withEmbedding("seen", 2);
      assertThatThrownBy(() -> Network.create(device, schema, disagree, tables, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(
              "got embedding 3 for the slot item and 2 for seen, which share the table item");
      ModelConfig unknown = model(Type.WDL).withEmbedding("tag", 2);
      assertThatThrownBy(() -> Network.create(device, schema, unknown, tables, 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("for the slot tag, expected one of [user, tags, item, seen]");
      assertThatThrownBy(() -> model(Type.WDL).withEmbedding("tags", 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got embedding 0 for the slot tags");
      ModelConfig byReader = ModelConfig.of(Type.WDL, 4, 8).withEmbedding("seen", 2);
      try (Network network = Network.create(device, schema, byReader, tables, 1)) {
        assertThat(network.slotWidths()).containsExactly(4, 4, 2, 2);
      }
    }
  }
}
