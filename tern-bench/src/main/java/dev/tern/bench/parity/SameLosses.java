package dev.tern.bench.parity;

import dev.tern.bench.rows.TrainData;
import dev.tern.data.Batch;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.Lookup;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.nio.file.Path;
import java.util.List;

/**
 * A model of any size on few rows: some steps beside PyTorch, from equal weights. Whoever compares
 * the speed of both knows then that they compute the same.
 */
public final class SameLosses {
  private static final double MOST = 1e-5;
  private static final int ROWS = 64;
  private static final int STEPS = 3;
  private static final float RATE = 0.1f;

  private final ModelConfig model;
  private final TrainData data;
  private final Path folder;

  /**
   * A check.
   *
   * @param data small tables: all their rows are written
   * @param folder for weights and batches, where they stay
   */
  public SameLosses(ModelConfig model, TrainData data, Path folder) {
    this.model = model;
    this.data = data;
    this.folder = folder;
  }

  /**
   * Compares.
   *
   * @param python has PyTorch
   * @param peers folder of its scripts
   * @throws IllegalStateException if losses differ
   */
  public void require(String python, Path peers) {
    double[] own = losses();
    double[] peer = ParityBench.peer(python, peers, folder);
    for (int step = 0; step < STEPS; step++) {
      if (!(Math.abs(own[step] - peer[step]) <= MOST * Math.abs(peer[step]))) {
        throw new IllegalStateException(
            "%s: got the loss %s in step %d, expected PyTorch's %s"
                .formatted(model.type(), own[step], step, peer[step]));
      }
    }
  }

  private double[] losses() {
    FeatureEncoder encoder = data.encoder();
    TrainOptions options =
        TrainOptions.of(Optimizer.sgd(RATE)).batch(ROWS).tables(t -> t.initRange(0.3f));
    double[] losses = new double[STEPS];
    try (Device device = Device.cpu(2, 4L << 30);
        Trainer trainer = Trainer.create(device, encoder, model, options)) {
      ParityFolder written = new ParityFolder(folder);
      written.parameters(trainer.network());
      List<EmbeddingTable> tables = trainer.network().tables().tables();
      for (int t = 0; t < tables.size(); t++) {
        written.table(tables.get(t), Math.toIntExact(data.sizes()[t]), new Lookup());
      }
      List<Batch> batches = data.batches(STEPS, ROWS);
      Batch encoded = new Batch(encoder.schema(), ROWS);
      for (int step = 0; step < STEPS; step++) {
        encoder.apply(batches.get(step), encoded);
        written.batch(step, batches.get(step), encoded);
        losses[step] = trainer.step(encoded).loss();
      }
      written.write(model, encoder, RATE, STEPS);
    }
    return losses;
  }
}
