package dev.tern.predict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.DeltaRuns;
import dev.tern.data.Batch;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What versions of a served model find, beside a retriever of each one's checkpoint. */
final class ItemFinderTest {
  private static final int TOP = 7;
  private static final int[][] NONE = {};
  private static final ModelConfig TOWERS =
      ModelConfig.of(ModelConfig.Type.TWOTOWER, 4, 8, 6)
          .withMatching(Matching.of("ad", "tags", "price"));

  @TempDir Path folder;

  private static Candidates candidates(Checkpoint checkpoint) {
    Candidates all =
        new Candidates(checkpoint.encoder().rawSchema(), List.of("ad", "tags", "price"));
    all.add(ServedRuns.ROWS, row -> "ad " + ServedRuns.ROWS.ids(1)[row]);
    return all;
  }

  private ServedModel open(ServedOptions options, List<ModelEvent> events) {
    return ServedModel.open(
        folder.resolve("served"), options.withCandidates(ItemFinderTest::candidates), events::add);
  }

  @Test
  void eachVersionFindsWhatARetrieverOfItsCheckpointFinds() {
    Path archive = ServedRuns.archive(folder, DeltaRuns.options(), 6, TOWERS);
    List<String> names = ServedRuns.names(archive);
    Path served = folder.resolve("served");
    ServedRuns.deliver(archive, served, names.getFirst());
    try (ServedModel model = open(ServedOptions.DEFAULT, new ArrayList<>())) {
      model.warmUp();
      assertFinds(model);
      for (String name : names.subList(1, names.size())) {
        ServedRuns.deliver(archive, served, name);
        assertThat(model.refresh()).isTrue();
        assertFinds(model);
      }
      ItemFinder.Found last = found(model);
      model.rollBack(12);
      assertThat(found(model).scores()).isNotEqualTo(last.scores());
      model.goOn();
      assertThat(model.refresh()).isTrue();
      assertThat(found(model).scores()).isEqualTo(last.scores());
    }
  }

  private static ItemFinder.Found found(ServedModel model) {
    try (ModelVersion version = model.pin()) {
      return version.items().orElseThrow().top(ServedRuns.ROWS, TOP, NONE);
    }
  }

  private void assertFinds(ServedModel model) {
    Checkpoint latest = Checkpoint.openLatest(folder.resolve("served"));
    try (ModelVersion version = model.pin();
        Retriever retriever = Retriever.open(latest, ScoreOptions.DEFAULT.withThreads(2))) {
      assertThat(latest.mark().step()).isEqualTo(version.step());
      int[] numbers = retriever.add(ServedRuns.ROWS);
      ItemFinder finder = version.items().orElseThrow();
      assertThat(finder.size()).isEqualTo(retriever.size());
      assertThat(finder.bytes()).isPositive();
      for (int row = 0; row < numbers.length; row++) {
        long ad = ServedRuns.ROWS.ids(1)[row];
        assertThat(finder.find(ad)).isEqualTo(numbers[row]);
        assertThat(finder.candidates().name(numbers[row])).isEqualTo("ad " + ad);
      }
      TopItems expected = retriever.top(ServedRuns.ROWS, TOP);
      ItemFinder.Found found = finder.top(ServedRuns.ROWS, TOP, NONE);
      assertThat(found.most()).isEqualTo(TOP);
      assertThat(found.items()).isEqualTo(expected.items());
      assertThat(found.scores()).isEqualTo(expected.scores());
      assertThat(found.counts()).containsOnly(TOP);
    }
  }

  @Test
  void callsAtTheSameTimeFindTheSame() throws Exception {
    Path archive = ServedRuns.archive(folder, DeltaRuns.options(), 12, TOWERS);
    ServedRuns.deliver(archive, folder.resolve("served"), ServedRuns.names(archive).getFirst());
    try (ServedModel model = open(ServedOptions.DEFAULT, new ArrayList<>());
        ExecutorService pool = Executors.newFixedThreadPool(8)) {
      ItemFinder.Found expected = found(model);
      List<Future<ItemFinder.Found>> calls = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        int rows = 1 + i % 9;
        calls.add(
            pool.submit(
                (Callable<ItemFinder.Found>)
                    () -> {
                      Batch some = new Batch(ServedRuns.ROWS.schema(), rows);
                      some.appendRows(ServedRuns.ROWS, 0, rows);
                      try (ModelVersion version = model.pin()) {
                        return version.items().orElseThrow().top(some, TOP, NONE);
                      }
                    }));
      }
      for (Future<ItemFinder.Found> call : calls) {
        ItemFinder.Found found = call.get();
        int all = found.items().length;
        assertThat(found.items()).isEqualTo(Arrays.copyOf(expected.items(), all));
        assertThat(found.scores()).isEqualTo(Arrays.copyOf(expected.scores(), all));
      }
    }
  }

  @Test
  void changesAreTakenWithoutReadingTheFileAgain() {
    Path archive = ServedRuns.archive(folder, DeltaRuns.options(), 6, TOWERS);
    List<String> names = ServedRuns.names(archive);
    Path served = folder.resolve("served");
    ServedRuns.deliver(archive, served, names.getFirst());
    List<ModelEvent> events = new ArrayList<>();
    int[] reads = {0};
    ServedOptions failing =
        ServedOptions.DEFAULT.withCandidates(checkpoint -> {
          if (reads[0]++ > 0) {
            throw new DataException("items.csv: got nothing, expected a file");
          }
          return candidates(checkpoint);
        });
    try (ServedModel model = ServedModel.open(served, failing, events::add)) {
      ServedRuns.deliver(archive, served, names.get(1));
      assertThat(model.refresh()).as("changes need no file").isTrue();
      assertThat(reads[0]).isEqualTo(1);
      assertFinds(model);
    }
  }

  @Test
  void candidatesOfOtherModelsAndColumnsAreRefused() {
    Path archive = ServedRuns.archive(folder, DeltaRuns.options(), 12);
    ServedRuns.deliver(archive, folder.resolve("served"), ServedRuns.names(archive).getFirst());
    assertThatThrownBy(() -> open(ServedOptions.DEFAULT, new ArrayList<>()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got items for a model without vectors of them");
    assertThatThrownBy(() -> new Candidates(ServedRuns.ROWS.schema(), List.of("price")))
        .hasMessageContaining("got items named by price, which is no column of ids");
    Candidates all = new Candidates(ServedRuns.ROWS.schema(), List.of("tags"));
    assertThatThrownBy(() -> all.add(DeltaRuns.ROWS, row -> ""))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("got 100 values of tags in row 0");
  }

  @Test
  void anItemCountsOnceAndRowsWithoutOneAreCounted() {
    Candidates all = new Candidates(ServedRuns.ROWS.schema(), List.of("ad"));
    Batch rows = new Batch(ServedRuns.ROWS.schema(), 3);
    for (long ad : new long[] {7, -1, 9, 7}) {
      rows.setLabel(0, 0);
      rows.setDense(0, 1);
      rows.setDense(1, 1);
      if (ad >= 0) {
        rows.addId(1, ad);
      }
      rows.endRow();
    }
    all.add(rows, row -> "näme " + row);
    assertThat(all.size()).isEqualTo(2);
    assertThat(all.without()).isEqualTo(1);
    assertThat(List.of(all.name(0), all.name(1))).containsExactly("näme 0", "näme 2");
    assertThat(all.bytes()).isPositive();
  }
}
