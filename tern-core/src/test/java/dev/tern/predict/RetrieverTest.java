package dev.tern.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The best items of a saved model beside a predictor's scores of all pairs. */
final class RetrieverTest {
  private static final Schema SCHEMA =
      new Schema(
          List.of("click"),
          List.of("price"),
          List.of(Slot.oneHot("user"), Slot.oneHot("item"), Slot.ragged("tags")));
  private static final int GROUPS = 5;

  @TempDir Path folder;

  /** Users choose items of their own group. */
  private static Batch clicks(int rows, int items) {
    Batch batch = new Batch(SCHEMA, rows);
    Random random = new Random(rows);
    for (int i = 0; i < rows; i++) {
      int user = random.nextInt(40);
      int item = random.nextInt(items / GROUPS) * GROUPS + user % GROUPS;
      put(batch, user, item);
    }
    return batch;
  }

  private static void put(Batch batch, long user, long item) {
    batch.setLabel(0, 1);
    batch.setDense(0, item % 3);
    batch.addId(0, user);
    batch.addId(1, item);
    batch.addId(2, user % 7);
    batch.endRow();
  }

  private Path saved(ModelConfig model, Batch rows) {
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(rows),
            List.of(NumberEncoding.standardize()),
            List.of(IdEncoding.verbatim(), IdEncoding.verbatim(), IdEncoding.verbatim()),
            TextDictionary.none(),
            read -> {});
    TrainOptions options =
        TrainOptions.of(Optimizer.lazyAdam(0.02f)).batch(100).epochs(4).shuffleRows(1000);
    Path checkpoint = folder.resolve("saved");
    try (Device device = Device.cpu(2, 1L << 28);
        Trainer trainer = Trainer.create(device, encoder, model, options)) {
      trainer.fit(Readers.inMemory(rows));
      trainer.save(checkpoint);
    }
    return checkpoint;
  }

  private static ModelConfig towers() {
    return ModelConfig.of(ModelConfig.Type.TWOTOWER, 8, 16, 8)
        .withMatching(Matching.of("item", "price"));
  }

  private static ScoreOptions threads(int count) {
    return ScoreOptions.DEFAULT.withThreads(count);
  }

  @Test
  void theBestItemsAreThoseWithTheHighestScoresOfAllPairs() {
    int items = 100;
    Path checkpoint = saved(towers(), clicks(4000, items));
    try (Predictor predictor = Predictor.open(checkpoint);
        Retriever retriever = Retriever.open(checkpoint, threads(2))) {
      Batch all = new Batch(SCHEMA, items);
      IntStream.range(0, items).forEach(item -> put(all, 0, item));
      assertThat(retriever.add(all)).isEqualTo(IntStream.range(0, items).toArray());
      Batch users = new Batch(SCHEMA, 300);
      IntStream.range(0, 300).forEach(row -> put(users, row % 40, row % items));
      TopItems best = retriever.top(users, 10);
      int own = 0;
      for (int row = 0; row < 300; row++) {
        Batch pairs = new Batch(SCHEMA, items);
        int user = row % 40;
        IntStream.range(0, items).forEach(item -> put(pairs, user, item));
        float[] logits = new float[items];
        predictor.logits(pairs, logits);
        List<Integer> order =
            IntStream.range(0, items)
                .boxed()
                .sorted(Comparator.comparingDouble(item -> -logits[item]))
                .toList();
        for (int rank = 0; rank < 10; rank++) {
          float score = best.scores()[row * 10 + rank];
          assertThat(score).isCloseTo(logits[order.get(rank)], within(1e-4f));
          assertThat(score).isCloseTo(logits[best.items()[row * 10 + rank]], within(1e-4f));
          own += best.items()[row * 10 + rank] % GROUPS == user % GROUPS ? 1 : 0;
        }
        assertThat(retriever.number(users, row)).isEqualTo(row % items);
      }
      assertThat(own).isGreaterThan(2850);
    }
  }

  @Test
  void anItemCountsOnceAndARowWithoutOneIsNone() {
    Path checkpoint = saved(towers(), clicks(500, 50));
    try (Retriever retriever = Retriever.open(checkpoint, threads(1))) {
      assertThat(retriever.itemColumns()).containsExactly("item", "price");
      Batch rows = new Batch(retriever.schema(), 4);
      retriever.encoder().addRow(Map.of("item", 7, "price", 1), rows);
      retriever.encoder().addRow(Map.of("price", 1), rows);
      retriever.encoder().addRow(Map.of("item", 9, "price", 0), rows);
      retriever.encoder().addRow(Map.of("item", 7, "price", 2), rows);
      assertThat(retriever.add(rows)).containsExactly(0, -1, 1, 0);
      assertThat(retriever.size()).isEqualTo(2);
      Batch user = new Batch(retriever.schema(), 1);
      retriever.encoder().addRow(Map.of("user", 3), user);
      TopItems best = retriever.top(user, 10);
      assertThat(best.most()).isEqualTo(2);
      assertThat(best.items()).containsExactlyInAnyOrder(0, 1);
      assertThat(best.scores()[0]).isGreaterThanOrEqualTo(best.scores()[1]);
      assertThat(retriever.number(user, 0)).isEqualTo(-1);
      assertThatThrownBy(() -> retriever.top(user, 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("got 0 items a row, expected 1 or more");
    }
  }

  @Test
  void moreItemsThanABlockAreAllComparedOnAnyNumberOfThreads() {
    Path checkpoint = saved(towers(), clicks(500, 50));
    int items = 9000;
    Batch all = new Batch(SCHEMA, items);
    IntStream.range(0, items).forEach(item -> put(all, 0, item));
    Batch user = new Batch(SCHEMA, 2);
    put(user, 3, 0);
    put(user, 4, 0);
    List<TopItems> found = new ArrayList<>();
    for (int threads : new int[] {1, 3}) {
      try (Retriever retriever = Retriever.open(checkpoint, threads(threads))) {
        assertThat(retriever.top(user, 5).most()).isZero();
        retriever.add(all);
        found.add(retriever.top(user, items));
      }
    }
    TopItems one = found.getFirst();
    assertThat(one.items()).isEqualTo(found.getLast().items());
    assertThat(one.scores()).isEqualTo(found.getLast().scores());
    for (int row = 0; row < 2; row++) {
      int[] of = Arrays.copyOfRange(one.items(), row * items, (row + 1) * items);
      assertThat(Arrays.stream(of).distinct().count()).isEqualTo(items);
      for (int i = row * items + 1; i < (row + 1) * items; i++) {
        boolean falls = one.scores()[i] < one.scores()[i - 1];
        boolean tie = one.scores()[i] == one.scores()[i - 1];
        assertThat(falls || tie && one.items()[i] > one.items()[i - 1]).isTrue();
      }
    }
  }

  @Test
  void otherModelsAndVectorsThatAreNoNumbersAreRefused() {
    Batch rows = clicks(200, 50);
    Path other = saved(ModelConfig.of(ModelConfig.Type.LR, 4), rows);
    assertThatThrownBy(() -> Retriever.open(other, threads(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got a model without vectors of items");
    Path checkpoint = saved(towers(), rows);
    try (Retriever retriever = Retriever.open(checkpoint, threads(1))) {
      Batch huge = new Batch(retriever.schema(), 2);
      retriever.encoder().addRow(Map.of("item", 1, "price", 1), huge);
      retriever.encoder().addRow(Map.of("item", 2, "price", 3e38f), huge);
      assertThatThrownBy(() -> retriever.add(huge))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("in the vector of the item of row 1 of a batch, expected a finite");
    }
  }
}
