package dev.tern.train;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.embedding.config.TableOptions;
import dev.tern.model.Network;
import dev.tern.optim.Optimizer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Checks of what a run is given. */
final class TrainChecks {
  private TrainChecks() {}

  /** Buckets are for ids that training leaves without a row. */
  static void requireUnknown(FeatureEncoder encoder, TableOptions tables) {
    if (tables.unknown().buckets() > 0
        && !tables.rows().leavesIdsWithout()
        && !encoder.leavesIdsWithout()) {
      throw new IllegalArgumentException(
          ("train options: got %s where training gives each id a row, expected ids without one, or"
               + " buckets would learn nothing; give a vocabulary a least count, admit by count or"
               + " probability, or leave ids beyond maxRows without a row")
              .formatted(tables.unknown()));
    }
  }

  /** Labels are taken by their place: those of several must stand in the encoder's order. */
  static void requireLabels(FeatureEncoder encoder, DataReader rows) {
    List<String> expected = encoder.rawSchema().labels();
    List<String> labels = rows.schema().labels();
    if (expected.size() > 1 && !labels.equals(expected)) {
      throw new IllegalArgumentException(
          "rows: got the labels %s, expected %s as in the rows that the encoder was fitted on; read them in that order"
              .formatted(labels, expected));
    }
    Optional<String> weight = encoder.rawSchema().weight();
    if (weight.isPresent() != rows.schema().weighted()) {
      throw new IllegalArgumentException(
          "rows: got %s, expected %s as in the rows that the encoder was fitted on; read them alike, or take FeatureEncoder.withWeight"
              .formatted(weights(rows.schema().weight()), weights(weight)));
    }
  }

  private static String weights(Optional<String> column) {
    return column.map(name -> "the column of weights " + name).orElse("no weights");
  }

  /** Throws if a batch is not one of encoded rows with labels. */
  static void requireTrainable(FeatureEncoder encoder, Batch batch) {
    Schema expected = encoder.schema();
    if (batch.schema() != expected) {
      // The schema itself, not an equal one: encoded rows may have the columns of raw ones.
      String kind =
          batch.schema().equals(encoder.withSequences(Map.of()).rawSchema())
                  || batch.schema().equals(encoder.rawSchema())
              ? "raw rows"
              : batch.schema().equals(expected) ? "another encoder" : "other columns";
      throw new IllegalArgumentException(
          ("train: got a batch of %s, expected one encoded by trainer.encoder(); take batches"
                  + " from trainer.batches(reader), or encode them")
              .formatted(kind));
    }
    if (batch.size() == 0 || batch.isClosed()) {
      throw new IllegalArgumentException(
          "train: got a batch that is %s, expected rows; train on a batch before it is closed"
              .formatted(batch.isClosed() ? "closed" : "empty"));
    }
    if (expected.labelDim() == 0) {
      throw new IllegalArgumentException(
          "train: got rows without a label, expected one; fit the encoder on rows with labels");
    }
  }

  /** Throws if an optimizer makes each weight anew from its state, which a warm start has not. */
  static void requireNoFtrl(TrainOptions options) {
    Stream<Optimizer> optimizers =
        Stream.concat(Stream.of(options.optimizer()), options.tables().optimizers().stream());
    if (optimizers.anyMatch(Optimizer.Ftrl.class::isInstance)) {
      throw new IllegalArgumentException(
          "warm start: got FTRL, which makes each weight anew from its sums, expected another"
              + " optimizer; use Adagrad, or resume the run");
    }
  }

  /** Throws if an earlier run had weights for nothing of a network. */
  static void requireSomeWeights(Network network, List<String> fresh, Path from) {
    int parts = network.variables().size() + network.tables().tables().size();
    if (fresh.stream().filter(name -> !name.startsWith("buckets of ")).count() == parts) {
      throw new IllegalArgumentException(
          "warm start: got no parameter and no table with a name and size of %s, expected some; give another checkpoint, or start without one"
              .formatted(from));
    }
  }
}
