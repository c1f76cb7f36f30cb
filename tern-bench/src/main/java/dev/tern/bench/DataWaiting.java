package dev.tern.bench;

import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.data.encode.IdEncoding;
import dev.tern.data.encode.NumberEncoding;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.readers.Readers;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.Progress;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** How long training waits for a reader: DLRM on the rows of a file. */
final class DataWaiting {
  private static final int BATCH = 2048;
  private static final int REPORT = 20;
  private static final int REPORTS = 6;
  private static final long MEMORY = 4L << 30;

  private DataWaiting() {}

  /**
   * Trains on some rows of {@code reader}, which it closes; the share of the time that each report
   * but the first, in which code is compiled, says it waited, in percent.
   *
   * @param threads that compute; one more reads
   */
  static List<Double> percent(DataReader reader, int threads) {
    Schema schema = reader.schema();
    FeatureEncoder encoder =
        FeatureEncoder.fit(
            Readers.inMemory(schema, List.of()),
            Collections.nCopies(schema.denseDim(), new NumberEncoding.Scaled(true, false, 0)),
            Collections.nCopies(schema.slotCount(), IdEncoding.verbatim()),
            TextDictionary.none(),
            read -> {});
    TrainOptions options =
        TrainOptions.of(Optimizer.sgd(0.01f)).batch(BATCH).epochs(1).shuffleRows(0);
    List<Double> shares = new ArrayList<>();
    DataReader rows = Readers.take(reader, (long) BATCH * REPORT * (REPORTS + 1));
    try (Device device = Device.cpu(threads, MEMORY);
        Trainer trainer =
            Trainer.create(device, encoder, BenchModels.of("dlrm"), options.reportEvery(REPORT))) {
      trainer.fit(rows, Optional.empty(), report -> add(report, shares));
    }
    return shares.subList(1, shares.size());
  }

  private static void add(Progress report, List<Double> shares) {
    shares.add(100 * report.pace().waiting());
  }
}
