package dev.tern.internal.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.embedding.config.TableOptions;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is found for users does not depend on how many are asked for together, nor on threads. */
final class UserSearchTest {
  private static final Schema SCHEMA =
      new Schema(List.of("click"), List.of(), List.of(Slot.oneHot("user"), Slot.oneHot("item")));
  private static final int ITEMS = 4096 + 70;
  private static final int USERS = 150;
  private static final int TOP = 20;

  private static Batch rows(int count, boolean ofItems) {
    Batch batch = new Batch(SCHEMA, count);
    for (int i = 0; i < count; i++) {
      batch.setLabel(0, 1);
      if (ofItems) {
        batch.addId(1, 7L * i);
      } else {
        batch.addId(0, i);
      }
      batch.endRow();
    }
    return batch;
  }

  /** Items and scores of all users, asked for in pieces. */
  private static void find(int threads, int piece, int[] items, float[] scores, int... capacities) {
    try (Device device = Device.cpu(threads, 1L << 28);
        Network network = network(device)) {
      VectorTowers towers = VectorTowers.of(network, encoder(), true).orElseThrow();
      try (ItemSet set = new ItemSet(towers);
          UserSearch search = new UserSearch(towers, capacities)) {
        set.add(rows(ITEMS, true));
        set.finish();
        assertThat(set.size()).isEqualTo(ITEMS);
        assertThat(set.find(7L * 4100)).isEqualTo(4100);
        assertThat(set.find(1)).isEqualTo(-1);
        Batch users = rows(USERS, false);
        for (int from = 0; from < USERS; from += piece) {
          int to = Math.min(USERS, from + piece);
          Batch some = new Batch(SCHEMA, to - from);
          some.appendRows(users, from, to);
          int[] found = new int[(to - from) * TOP];
          float[] values = new float[found.length];
          search.top(some, TOP, set, found, values);
          System.arraycopy(found, 0, items, from * TOP, found.length);
          System.arraycopy(values, 0, scores, from * TOP, found.length);
        }
      }
    }
  }

  private static FeatureEncoder encoder() {
    return ENCODER;
  }

  private static final FeatureEncoder ENCODER =
      FeatureEncoder.fit(
          Readers.inMemory(rows(USERS, false)),
          List.of(),
          List.of(IdEncoding.verbatim(), IdEncoding.verbatim()),
          TextDictionary.none(),
          read -> {});

  private static Network network(Device device) {
    ModelConfig model =
        ModelConfig.of(ModelConfig.Type.TWOTOWER, 8, 16, 12).withMatching(Matching.of("item"));
    return Network.create(
        device, ENCODER.schema(), model, TableOptions.of(Optimizer.lazyAdam(0.1f)), 3);
  }

  @Test
  void whatIsFoundDependsNeitherOnTheNumberOfUsersNorOnThreads() {
    int[] items = new int[USERS * TOP];
    float[] scores = new float[USERS * TOP];
    find(1, USERS, items, scores, 256);
    int[][] ways = {{1, 1, 1}, {2, 1, 256}, {1, 7, 2, 8, 64}, {3, 50, 16}, {2, USERS, 1, 130}};
    for (int[] way : ways) {
      int[] found = new int[items.length];
      float[] values = new float[items.length];
      find(way[0], way[1], found, values, Arrays.copyOfRange(way, 2, way.length));
      assertThat(found).isEqualTo(items);
      assertThat(values).isEqualTo(scores);
    }
  }

  @Test
  void excludedItemsAreLeftOutAndTheNextOnesCome() {
    try (Device device = Device.cpu(1, 1L << 28);
        Network network = network(device)) {
      VectorTowers towers = VectorTowers.of(network, ENCODER, true).orElseThrow();
      try (ItemSet set = new ItemSet(towers);
          UserSearch search = new UserSearch(towers, 4)) {
        set.add(rows(30, true));
        Batch users = rows(3, false);
        int[] all = new int[3 * 30];
        float[] scores = new float[all.length];
        search.top(users, 30, set, all, scores);
        int[] first = {all[0], all[2]};
        Arrays.sort(first);
        int[] every = IntStream.range(0, 30).toArray();
        int[] found = new int[3 * 10];
        float[] values = new float[found.length];
        int[] counts = search.top(users, 10, set, new int[][] {first, every}, found, values);
        assertThat(counts).containsExactly(10, 0, 10);
        assertThat(found).startsWith(all[1], all[3], all[4]);
        assertThat(values[1]).isEqualTo(scores[3]);
        assertThat(Arrays.copyOfRange(found, 20, 30)).isEqualTo(Arrays.copyOfRange(all, 60, 70));
      }
    }
  }
}
