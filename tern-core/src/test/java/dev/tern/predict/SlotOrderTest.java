package dev.tern.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Sequence;
import dev.tern.data.Slot;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.config.TableOptions;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelPart;
import dev.tern.model.Network;
import dev.tern.model.Scorer;
import dev.tern.model.Towers;
import dev.tern.nn.Form;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A model over slots in another order is the same model. Its tables are found by name. Layers know
 * their inputs by place: the rows of their weights move with the slots, and this test says for each
 * model which rows these are. The columns of a sequence keep their order among each other, as the
 * layers of attention know them by place.
 */
final class SlotOrderTest {
  private static final int D = 16;
  private static final int ROWS = 60;
  private static final int UNITS = 5;

  // No size of a layer is as large as the slots and numbers of a row together.
  private static final Matching ITEMS = Matching.of("item", "kind");

  private static ModelConfig model(ModelConfig.Type type) {
    ModelConfig model =
        ModelConfig.of(type, D, 7, 5)
            .withBottom(6)
            .withCrossLayers(2)
            .withAttention(9)
            .withMatching(ITEMS);
    model = model.withVariant(model.variant().withSizes(UNITS, 5, 2, 2));
    if (type.has(ModelPart.SECOND)) {
      model = model.withVariant(model.variant().withSecond(7));
    }
    if (type == ModelConfig.Type.PNN) {
      model = model.withVariant(model.variant().withForm(Form.BOTH));
    }
    return type.hasTowers()
        ? model.withTowers(new Towers(List.of(), List.of(8), 3, List.of(4)))
        : model;
  }

  private static Schema schema(ModelConfig.Type type, boolean cross) {
    boolean pair = type.isOfPairs();
    List<Slot> slots = new ArrayList<>(List.of(Slot.oneHot("user"), Slot.oneHot("item")));
    if (!pair) {
      slots.add(Slot.ragged("tags"));
      slots.add(Slot.weighted("words"));
      slots.add(Slot.oneHot("kind"));
      slots.add(Slot.ragged("rivals").withTable("item"));
    }
    if (type.readsSequences()) {
      slots.add(Slot.ragged("items").withTable("item").in(Sequence.last("seen", 4)));
      slots.add(Slot.ragged("kinds").withTable("kind").in(Sequence.last("seen", 4)));
    }
    List<String> labels =
        type == ModelConfig.Type.ESMM ? List.of("click", "buy") : List.of("click");
    return new Schema(
        labels, type == ModelConfig.Type.GMF || cross ? List.of() : List.of("age", "price"), slots);
  }

  /** The same columns; slots of sequences keep their order among each other. */
  private static Schema reordered(Schema schema, Random random) {
    List<Slot> slots = new ArrayList<>(schema.slots());
    do {
      Collections.shuffle(slots, random);
    } while (slots.getFirst().equals(schema.slots().getFirst()));
    List<Slot> sequences = schema.slots().stream().filter(s -> s.sequence().isPresent()).toList();
    int next = 0;
    for (int s = 0; s < slots.size(); s++) {
      if (slots.get(s).sequence().isPresent()) {
        slots.set(s, sequences.get(next++));
      }
    }
    return new Schema(schema.labels(), schema.dense(), slots);
  }

  private static Batch rows(Schema schema) {
    Batch rows = new Batch(schema, ROWS);
    Random random = new Random(5);
    for (int row = 0; row < ROWS; row++) {
      for (int f = 0; f < schema.denseDim(); f++) {
        rows.setDense(f, random.nextFloat(-2, 2));
      }
      int length = random.nextInt(5);
      for (int s = 0; s < schema.slotCount(); s++) {
        Slot slot = schema.slots().get(s);
        int count = slot.hotness() == 1 ? 1 : slot.sequence().isPresent() ? length : row % 4;
        for (int i = 0; i < count; i++) {
          long id = random.nextInt(20);
          if (slot.weighted()) {
            rows.addId(s, id, random.nextFloat(-1, 2));
          } else {
            rows.addId(s, id);
          }
        }
      }
      schema.labels().forEach(label -> rows.setLabel(schema.labels().indexOf(label), 0));
      rows.endRow();
    }
    return rows;
  }

  /** The rows with their slots as {@code schema} orders them. */
  private static Batch moved(Batch rows, Schema schema) {
    Batch moved = new Batch(schema, rows.size());
    for (int row = 0; row < rows.size(); row++) {
      for (int f = 0; f < schema.denseDim(); f++) {
        moved.setDense(f, rows.dense()[row * schema.denseDim() + f]);
      }
      for (int s = 0; s < schema.slotCount(); s++) {
        int from = rows.schema().slots().indexOf(schema.slots().get(s));
        for (int i = rows.offsets(from)[row]; i < rows.offsets(from)[row + 1]; i++) {
          if (schema.slots().get(s).weighted()) {
            moved.addId(s, rows.ids(from)[i], rows.weights(from)[i]);
          } else {
            moved.addId(s, rows.ids(from)[i]);
          }
        }
      }
      schema.labels().forEach(label -> moved.setLabel(schema.labels().indexOf(label), 0));
      moved.endRow();
    }
    return moved;
  }

  // Rows of FFM have a vector for each slot by place; in FIBINET pairs have a left and a right one.
  @ParameterizedTest
  @EnumSource(
      value = ModelConfig.Type.class,
      mode = EnumSource.Mode.EXCLUDE,
      names = {"FFM", "FIBINET"})
  void slotsInAnotherOrderWithTheirWeightsGiveTheSameScores(ModelConfig.Type type) {
    List<ModelConfig> models = new ArrayList<>(List.of(model(type)));
    if (type == ModelConfig.Type.DCNV2) {
      models.add(model(type).withCross(3, 0));
      models.add(model(type).withCross(3, 2));
    }
    for (ModelConfig model : models) {
      for (boolean numbers : new boolean[] {true, false}) {
        Schema schema = schema(type, !numbers);
        requireSame(model, schema, reordered(schema, new Random(3)));
        requireSame(model, schema, reordered(schema, new Random(4)));
      }
    }
  }

  private static void requireSame(ModelConfig model, Schema schema, Schema other) {
    TableOptions tables = TableOptions.of(Optimizer.sgd(1)).initRange(0.5f);
    Batch rows = rows(schema);
    try (Device device = Device.cpu(1, 1L << 28);
        Network network = Network.create(device, schema, model, tables, 1);
        Network moved = Network.create(device, other, model, tables, 2)) {
      network.tables().tables().forEach(SlotOrderTest::fill);
      moved.tables().tables().forEach(SlotOrderTest::fill);
      copy(model.type(), network, moved);
      float[] expected = logits(network, rows);
      float[] got = logits(moved, moved(rows, other));
      for (int i = 0; i < expected.length; i++) {
        assertThat(got[i])
            .as("%s over %s, then %s", model, schema.slotNames(), other.slotNames())
            .isCloseTo(expected[i], within(1e-4f * (1 + Math.abs(expected[i]))));
      }
      assertThat(spread(expected)).isGreaterThan(1e-3f);
    }
  }

  private static float spread(float[] values) {
    float least = Float.POSITIVE_INFINITY;
    float most = Float.NEGATIVE_INFINITY;
    for (float value : values) {
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    return most - least;
  }

  /** Gives each table rows of ids 0 to 19 that depend on its name alone. */
  private static void fill(EmbeddingTable table) {
    Random random = new Random(table.config().name().hashCode());
    int[] left = {20};
    table.importFrom((ids, values) -> {
      int count = Math.min(left[0], ids.length);
      for (int i = 0; i < count; i++) {
        ids[i] = --left[0];
        for (int j = 0; j < table.config().width(); j++) {
          long at = (long) i * table.config().rowFloats() + j;
          values.setAtIndex(ValueLayout.JAVA_FLOAT, at, (float) random.nextGaussian());
        }
      }
      return count;
    });
  }

  /** Gives {@code to} the parameters of {@code from}, their rows moved with the slots. */
  private static void copy(ModelConfig.Type type, Network from, Network to) {
    for (int p = 0; p < from.variables().size(); p++) {
      Variable variable = from.variables().get(p);
      Variable target = to.variables().get(p);
      assertThat(target.name()).isEqualTo(variable.name());
      float[] values = variable.toArray();
      int[] sizes = variable.shape().toArray();
      for (int axis = 0; axis < sizes.length; axis++) {
        int[] places = places(type, variable.name(), sizes[axis], from.schema(), to.schema());
        values = along(values, sizes, axis, places);
      }
      target.set(values);
    }
  }

  /** The old place of each entry of an axis of {@code size}. */
  private static int[] places(
      ModelConfig.Type type, String parameter, int size, Schema from, Schema to) {
    List<Slot> before = pooled(type, from);
    List<Slot> after = pooled(type, to);
    int[] same = IntStream.range(0, size).toArray();
    switch (type) {
      case LR, FM, TRANSFORMER, NFM, AFM -> {
        // No layer knows slots by place.
      }
      case DLRM -> {
        if (parameter.equals("top.0.weight") && size > 7) {
          movePairsWithBottom(same, before, after);
        }
      }
      case FWFM -> {
        if (parameter.equals("pairs.weight") && size > 1) {
          movePairs(same, 0, before, after);
        }
      }
      case PNN -> {
        if (size > before.size() * D) {
          moveVectors(same, before, after);
          movePairs(same, before.size() * D + from.denseDim(), before, after);
        }
      }
      case AUTOINT -> {
        if (parameter.equals("attention.out.weight") && size > 1) {
          int block = size / (before.size() + from.denseDim());
          moveBlocks(same, from.denseDim() * block, block, before, after);
        } else if (parameter.startsWith("deep")) {
          moveVectors(same, before, after);
        }
      }
      case XDEEPFM -> {
        int slots = before.size();
        boolean first = parameter.equals("cross.0.weight");
        if (parameter.startsWith("cross.") && size % slots == 0) {
          for (int i = 0; i < size; i++) {
            int row = first ? before.indexOf(after.get(i / slots)) : i / slots;
            same[i] = row * slots + before.indexOf(after.get(i % slots));
          }
        } else if (parameter.startsWith("deep")) {
          moveVectors(same, before, after);
        }
      }
      case WUKONG -> {
        int tokens = before.size() + from.denseDim();
        boolean reads = size == tokens || size == tokens * UNITS;
        if (parameter.startsWith("cross.0") && reads) {
          int block = size / tokens;
          moveBlocks(same, from.denseDim() * block, block, before, after);
        }
      }
      case EULERNET -> {
        int tokens = before.size() + from.denseDim();
        boolean reads = parameter.equals("lengths") || parameter.startsWith("cross.0");
        if (reads && (size == tokens || size == tokens * D)) {
          int block = size / tokens;
          moveBlocks(same, from.denseDim() * block, block, before, after);
        }
      }
      case DLRM_DCNV2 -> {
        if (size == D + before.size() * D) {
          moveBlocks(same, D, D, before, after);
        }
      }
      case TWOTOWER -> {
        boolean item = parameter.equals("item.0.weight");
        if (item || parameter.equals("user.0.weight")) {
          before.removeIf(slot -> ITEMS.itemColumns().contains(slot.name()) != item);
          after.removeIf(slot -> ITEMS.itemColumns().contains(slot.name()) != item);
          moveVectors(same, before, after);
        }
      }
      default -> {
        // The vectors of all pooled slots side by side, perhaps with more behind them.
        boolean attention =
            Stream.of("attention", "transformer", "interest").anyMatch(parameter::startsWith);
        if (!attention) {
          moveVectors(same, before, after);
        }
      }
    }
    return same;
  }

  /** Moves the places of the vectors of slots, if there are as many. */
  private static void moveVectors(int[] places, List<Slot> before, List<Slot> after) {
    for (int i = 0; places.length >= before.size() * D && i < after.size() * D; i++) {
      places[i] = before.indexOf(after.get(i / D)) * D + i % D;
    }
  }

  private static List<Slot> pooled(ModelConfig.Type type, Schema schema) {
    List<Slot> slots = new ArrayList<>(schema.slots());
    slots.removeIf(slot -> type.readsSequences() && slot.sequence().isPresent());
    return slots;
  }

  /** The bottom's vector, then the dot products of all pairs of vectors, the bottom's first. */
  private static void movePairsWithBottom(int[] places, List<Slot> before, List<Slot> after) {
    int at = D;
    for (int i = 0; i <= after.size(); i++) {
      for (int j = 0; j < i; j++) {
        int one = i == 0 ? 0 : 1 + before.indexOf(after.get(i - 1));
        int two = j == 0 ? 0 : 1 + before.indexOf(after.get(j - 1));
        int larger = Math.max(one, two);
        places[at++] = D + larger * (larger - 1) / 2 + Math.min(one, two);
      }
    }
  }

  /** The pairs of slots from {@code at} on, the later one first. */
  private static void movePairs(int[] places, int at, List<Slot> before, List<Slot> after) {
    int next = at;
    for (int i = 0; i < after.size(); i++) {
      for (int j = 0; j < i; j++) {
        int one = before.indexOf(after.get(i));
        int two = before.indexOf(after.get(j));
        int larger = Math.max(one, two);
        places[next++] = at + larger * (larger - 1) / 2 + Math.min(one, two);
      }
    }
  }

  /** Blocks of numbers from {@code at} on, one for each slot. */
  private static void moveBlocks(
      int[] places, int at, int block, List<Slot> before, List<Slot> after) {
    for (int i = 0; i < after.size() * block; i++) {
      places[at + i] = at + before.indexOf(after.get(i / block)) * block + i % block;
    }
  }

  private static float[] along(float[] values, int[] sizes, int axis, int[] places) {
    int inner = 1;
    for (int a = axis + 1; a < sizes.length; a++) {
      inner *= sizes[a];
    }
    float[] moved = new float[values.length];
    for (int i = 0; i < values.length; i++) {
      int place = i / inner % sizes[axis];
      moved[i] = values[i + (places[place] - place) * inner];
    }
    return moved;
  }

  private static float[] logits(Network network, Batch rows) {
    float[] logits = new float[rows.size() * network.tasks().count()];
    try (Scorer scorer = new Scorer(network, rows.size())) {
      scorer.logits(rows, logits, 0);
    }
    return logits;
  }
}
