package dev.tern.nn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.Shape;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.Lookup;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.memory.Allocator;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.KeyedRagged;
import dev.tern.tensor.Levels;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.RaggedVariable;
import dev.tern.tensor.SequencePooling;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Sequences of ids from batches through one planned computation to the rows of a table. */
final class RaggedTrainingTest {
  private static final int ROWS = 16;
  private static final int MOST_IDS = 16 * 9;
  private static final int WIDTH = 4;

  /** Attention over the ids of a row, then their pooled rows against a label. */
  @Test
  void oneComputationLearnsFromBatchesOfAnyLengths() {
    Random random = new Random(5);
    try (Device device = Device.cpu(2, 64 << 20);
        Allocator memory = Allocator.of(64 << 20);
        EmbeddingTable table = EmbeddingTable.create(config(), memory);
        RaggedVariable embedded =
            RaggedVariable.of(device, "ids", ROWS, Shape.of(MOST_IDS, WIDTH));
        Variable labels = Variable.zeros(device, "labels", Shape.of(ROWS))) {
      Ragged x = embedded.ragged();
      Ragged shares = x.with(x.values().sum(1)).softmax();
      Tensor logits = x.weighted(shares.values()).pool(SequencePooling.SUM).sum(1);
      Tensor loss = logits.bceWithLogits(labels.tensor());
      List<Tensor> gradients = Tensor.gradients(loss, List.of(x.values()));
      try (Computation step = Computation.of(device, List.of(loss, gradients.get(0)), Map.of())) {
        Lookup lookup = new Lookup();
        double first = 0;
        double last = 0;
        for (int i = 1; i <= 300; i++) {
          Batch batch = batch(random);
          labels.set(batch.labels());
          int count = batch.idCount(0);
          table.find(batch.ids(0), count, lookup, true);
          embedded.setOffsets(batch.offsets(0), batch.size());
          table.ragged(lookup, embedded.memory().address());
          step.run();
          int[] positions = IntStream.rangeClosed(0, count).toArray();
          table.apply(
              lookup, positions, count, Combiner.SUM, step.output(1).address(), WIDTH, 0.5f, i);
          first += i <= 30 ? step.item(0) : 0;
          last += i > 270 ? step.item(0) : 0;
        }
        assertThat(last).isLessThan(0.5 * first);
      }
    }
  }

  @Test
  void slotsOfABatchBecomeSequencesByKey() {
    List<Slot> slots = List.of(Slot.ragged("clicks"), Slot.oneHot("city"));
    Batch batch = new Batch(new Schema(List.of(), List.of(), slots), 4);
    for (int row = 0; row < 3; row++) {
      for (int i = 0; i < row; i++) {
        batch.addId(0, 10 * row + i);
      }
      batch.addId(1, -row);
      batch.endRow();
    }
    Levels levels = Levels.merge(List.of(batch.levels(0), batch.levels(1)));
    float[] ids = {10, 20, 21, 0, -1, -2};
    assertThat(batch.ids(0)).startsWith(10, 20, 21);
    Ragged all = Ragged.of(Tensor.of(Shape.of(6), ids), levels);
    KeyedRagged keyed = KeyedRagged.of(List.of("clicks", "city"), all);
    assertThat(keyed.get("clicks").levels()).isEqualTo(Levels.ofLengths(new int[] {0, 1, 2}));
    assertThat(keyed.pool(SequencePooling.SUM).toArray()).containsExactly(0, 0, 10, -1, 41, -2);
  }

  private static TableConfig config() {
    return new TableConfig(
        "clicks", 10, WIDTH, 42, TableOptions.of(Optimizer.sgd(1)).initRange(0.1f));
  }

  /** The label says whether an id of the row is below 5; some rows have no ids. */
  private static Batch batch(Random random) {
    Schema schema = new Schema(List.of("label"), List.of(), List.of(Slot.ragged("clicks")));
    Batch batch = new Batch(schema, ROWS);
    for (int row = 0; row < ROWS; row++) {
      boolean found = false;
      for (int i = random.nextInt(5); i > 0; i--) {
        int id = random.nextInt(20);
        found |= id < 5;
        batch.addId(0, id);
      }
      batch.setLabel(0, found ? 1 : 0);
      batch.endRow();
    }
    return batch;
  }
}
