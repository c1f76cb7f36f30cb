package dev.tern.bench.tables;

import dev.tern.bench.Arguments;
import dev.tern.bench.BenchModels;
import dev.tern.bench.Result;
import dev.tern.bench.TrainBench;
import dev.tern.bench.rows.CriteoLike;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.readers.Readers;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.Progress;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Training of DLRM on one thread that writes a full checkpoint of its 26 tables every so many
 * steps. It compares samples a second in two kinds of steps: steps beside which a checkpoint was
 * written, the step that began it included, and steps after it. It also reports the checkpoints'
 * bytes a second. {@link SnapshotBench} and the tests check the results.
 *
 * <p>A second time in memory that the system has at hand: there, before each checkpoint, a file of
 * as many bytes is written and removed. A virtual machine may have given memory that is not in use
 * back to its host, and what the page cache takes comes anew at the host's pace.
 */
final class TrainingSnapshots implements Progress.Listener {
  private static final int BATCH = 2048;
  private static final int WIDTH = 16;
  private static final int DISTINCT_BATCHES = 16;

  /** Steps from one checkpoint to the next; the first of them do not count. */
  private static final int EVERY = 80;

  private static final int WARM_UP = 2;

  private final Trainer trainer;
  private final Path folder;
  private final int rounds;

  /** Whether memory for the files is taken and given back before each checkpoint. */
  private final boolean atHand;

  /** Samples a second beside a checkpoint and after it, and bytes a nanosecond, of each. */
  private final List<Double> beside = new ArrayList<>();

  private final List<Double> alone = new ArrayList<>();
  private final List<Double> writing = new ArrayList<>();

  private long last;
  private boolean ended;
  private long nanosBeside;
  private int stepsBeside;
  private long nanosAlone;
  private int stepsAlone;

  private TrainingSnapshots(Trainer trainer, Path folder, int rounds, boolean atHand) {
    this.trainer = trainer;
    this.folder = folder;
    this.rounds = rounds;
    this.atHand = atHand;
  }

  static void run(Arguments arguments) throws IOException {
    run(arguments, false);
    run(arguments, true);
  }

  private static void run(Arguments arguments, boolean atHand) throws IOException {
    Path run = Files.createTempDirectory(Path.of(arguments.text("--folder")), "tern-training");
    Path listing = Path.of(arguments.text("--peers"), "criteo_cardinalities.json");
    int rows = arguments.positive("--rows");
    CriteoLike data = new CriteoLike(listing, rows, 1);
    List<Batch> batches = data.batches(DISTINCT_BATCHES, BATCH);
    TrainOptions options =
        TrainOptions.of(Optimizer.rowWiseAdagrad(1e-2f))
            .batch(BATCH)
            .epochs(1)
            .shuffleRows(0)
            .reportEvery(1)
            .checkpoints(run, EVERY);
    try (Device device = Device.cpu(1, 32L << 30);
        Trainer trainer = Trainer.create(device, data.encoder(), BenchModels.of("dlrm"), options)) {
      TrainBench.fill(trainer, data.sizes());
      TrainingSnapshots bench =
          new TrainingSnapshots(trainer, run, arguments.positive("--rounds"), atHand);
      DataReader reader = Readers.repeat(Readers.inMemory(data.schema(), batches), 1 << 20);
      trainer.fit(reader, Optional.empty(), bench);
      bench.print(arguments, rows);
    } finally {
      SnapshotBench.delete(run);
    }
  }

  /** Called at the end of each step, before a checkpoint of it. */
  @Override
  public void report(Progress progress) {
    long now = System.nanoTime();
    long nanos = now - last;
    last = now;
    long since = progress.step() % EVERY;
    long begun = progress.step() - (since == 0 ? EVERY : since);
    if (begun < EVERY) {
      return;
    }
    measure(begun, since, nanos);
    if (since == 0 && atHand) {
      takeMemory(folder.resolve("step-" + begun));
      last = System.nanoTime();
    }
  }

  /** Counts the step that ended for the checkpoint that began {@code since} steps ago. */
  private void measure(long begun, long since, long nanos) {
    if (ended) {
      nanosAlone += nanos;
      stepsAlone++;
    } else {
      // The step in which it ends is one beside it.
      nanosBeside += nanos;
      stepsBeside++;
      ended = !Files.exists(folder.resolve("step-" + begun + ".writing"));
      if (ended) {
        ended(begun);
      }
    }
    if (since == 0) {
      count(begun / EVERY);
    }
  }

  /** From the first file's end to the last one's. */
  private void ended(long step) {
    try {
      Path done = folder.resolve("step-" + step);
      long from = Files.getLastModifiedTime(done.resolve("dense.safetensors")).toMillis();
      long to = Files.getLastModifiedTime(done.resolve("manifest.sha256")).toMillis();
      writing.add(SnapshotBench.bytes(done) / (1e6 * Math.max(1, to - from)));
    } catch (IOException e) {
      throw new IllegalStateException("snapshot bench: cannot read " + folder, e);
    }
  }

  private void takeMemory(Path like) {
    Path file = folder.resolve("pages");
    byte[] zeros = new byte[1 << 20];
    try {
      try (OutputStream out = Files.newOutputStream(file)) {
        for (long left = SnapshotBench.bytes(like); left > 0; left -= zeros.length) {
          out.write(zeros);
        }
      }
      Files.delete(file);
    } catch (IOException e) {
      throw new IllegalStateException("snapshot bench: cannot write " + file, e);
    }
  }

  private void count(long round) {
    if (round <= WARM_UP) {
      writing.clear();
    } else {
      beside.add(1e9 * BATCH * stepsBeside / nanosBeside);
      alone.add(1e9 * BATCH * stepsAlone / nanosAlone);
    }
    ended = false;
    nanosBeside = 0;
    stepsBeside = 0;
    nanosAlone = 0;
    stepsAlone = 0;
    if (beside.size() == rounds) {
      trainer.requestStop();
    }
  }

  private void print(Arguments arguments, int rows) {
    String where = atHand ? ", in memory at hand" : "";
    String name = String.format(Locale.ROOT, "%s, %d rows x %d%s", "%s", rows, WIDTH, where);
    List<Result> results =
        List.of(
            new Result(
                "snapshot",
                String.format(Locale.ROOT, name, "checkpoint beside dlrm"),
                1,
                writing,
                "GB/s",
                "",
                List.of()),
            new Result(
                "snapshot",
                String.format(Locale.ROOT, name, "dlrm beside a checkpoint"),
                1,
                beside,
                "samples/s",
                "alone",
                alone));
    for (Result result : results) {
      System.out.println(arguments.json() ? result.toJson() : result.toText());
    }
  }
}
