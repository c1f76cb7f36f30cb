package dev.tern.spark;

import dev.tern.data.DataReader;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.exchange.Mesh;
import dev.tern.files.Columns;
import dev.tern.files.parquet.ParquetOptions;
import dev.tern.files.parquet.ParquetReader;
import dev.tern.model.ModelConfig;
import dev.tern.tensor.Device;
import dev.tern.train.Progress;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.TaskKilledException;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;

/**
 * What each worker does: it takes its place among the ranks of the training, then trains with them
 * to the end. A worker that is lost ends all; Spark begins the stage again, and the run goes on
 * from its last checkpoint.
 */
final class TrainTask extends AbstractFunction1<Iterator<Integer>, Iterator<Long>>
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Steps between looks whether the job was cancelled. */
  private static final int REPORT_EVERY = 10;

  private static final int LOG_EVERY = 100;
  private static final Logger LOG = LoggerFactory.getLogger(TrainTask.class);

  private final RunFolder folder;
  private final Inputs inputs;
  private final String stagedSchema;
  private final String encoder;
  private final Settings settings;
  private final byte[] secret;

  /**
   * A task of a run.
   *
   * @param staged the columns that were staged
   * @param encoder {@link FeatureEncoder#toJson}; nothing for a run that goes on
   * @param secret that the workers of this training alone know
   */
  TrainTask(
      RunFolder folder,
      Inputs inputs,
      StructType staged,
      String encoder,
      Settings settings,
      byte[] secret) {
    this.folder = folder;
    this.inputs = inputs;
    this.stagedSchema = staged.json();
    this.encoder = encoder;
    this.settings = settings;
    this.secret = secret;
  }

  /** Gives the steps that were trained, of rank 0 alone. */
  @Override
  public Iterator<Long> apply(Iterator<Integer> numbers) {
    BarrierTaskContext context = BarrierTaskContext.get();
    long steps = train(context);
    List<Long> given = context.partitionId() == 0 ? List.of(steps) : List.of();
    return CollectionConverters.asScala(given.iterator());
  }

  private long train(BarrierTaskContext context) {
    ModelConfig model = settings.model();
    TrainOptions options =
        settings
            .options()
            .reportEvery(REPORT_EVERY)
            .checkpoints(folder.checkpoints(), settings.checkpointEvery());
    Place place = Place.open(context, secret, folder.newestName());
    Optional<Path> from = place.newest().map(folder.checkpoints()::resolve);
    try (Mesh mesh = place.connect();
        Device device = Device.cpu(Math.max(1, context.cpus()), settings.memory());
        DataReader rows = rows(folder, inputs, stagedSchema);
        Trainer trainer =
            from.isPresent()
                ? Trainer.resume(device, from.get(), model, options, mesh)
                : Trainer.create(
                    device, FeatureEncoder.fromJson(encoder, "encoder"), model, options, mesh)) {
      if (from.isPresent()) {
        LOG.info("Tern goes on from step {}", trainer.step());
      }
      trainer.fit(rows, Optional.empty(), progress -> heard(context, progress));
      return trainer.step();
    }
  }

  private static void heard(BarrierTaskContext context, Progress progress) {
    if (context.isInterrupted()) {
      throw new TaskKilledException("the training was cancelled");
    }
    if (context.partitionId() == 0 && progress.step() % LOG_EVERY == 0) {
      LOG.info(
          "Tern: step {}, loss {}, {} samples/s",
          progress.step(),
          progress.rows().loss(),
          Math.round(progress.pace().samplesPerSecond()));
    }
  }

  /** The staged rows. */
  static DataReader rows(RunFolder folder, Inputs inputs, String stagedSchema) {
    Columns columns = inputs.columns((StructType) DataType.fromJson(stagedSchema));
    return ParquetReader.open(folder.files(), ParquetOptions.DEFAULT, columns);
  }
}
