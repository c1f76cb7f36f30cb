package dev.tern.spark;

import dev.tern.checkpoint.Checkpoint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;

/**
 * Trains on a Spark of several processes, by {@code tools/check-spark}: undisturbed, with another
 * number of workers, and with an executor that is killed. All must come to the same weights.
 */
final class ClusterRun {
  private static final int ROWS = 100_000;

  private ClusterRun() {}

  /** A folder, then the options of java for executors. */
  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]);
    String flags = String.join(" ", Arrays.asList(args).subList(1, args.length));
    try (SparkSession spark =
        SparkSession.builder()
            .master("local-cluster[2,1,1024]")
            .appName("tern")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.executor.memory", "700m")
            .config("spark.executor.extraClassPath", System.getProperty("java.class.path"))
            .config("spark.executor.extraJavaOptions", flags)
            .config("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s")
            .getOrCreate()) {
      spark.sparkContext().setLogLevel("ERROR");
      Dataset<Row> rows = rows(spark);
      Map<String, Integer> two = fit(folder, "two workers", rows, 2);
      require(two, fit(folder, "one worker", rows, 1), "one worker");
      Thread killer = Thread.ofPlatform().daemon().start(() -> kill(folder.resolve("killed")));
      require(two, fit(folder, "killed", rows, 2), "an executor killed");
      killer.join();
    }
  }

  private static Dataset<Row> rows(SparkSession spark) {
    Column id = functions.col("id");
    return spark
        .range(0, ROWS, 1, 4)
        .select(
            functions.pmod(functions.xxhash64(id), functions.lit(3)).equalTo(0).as("click"),
            functions.pmod(id, functions.lit(50)).cast("double").as("age"),
            functions.pmod(functions.hash(id), functions.lit(5000)).as("user"),
            functions
                .concat(functions.lit("item "), functions.pmod(id, functions.lit(997)))
                .as("item"));
  }

  private static Map<String, Integer> fit(Path folder, String run, Dataset<Row> rows, int workers)
      throws IOException {
    long start = System.nanoTime();
    TernModel model =
        new TernClassifier()
            .setLabelCol("click")
            .setDenseCols("age")
            .setSparseCols("user", "item")
            .setHiddenSizes(64, 32)
            .setBatchSize(512)
            .setMaxIter(3)
            .setNumWorkers(workers)
            .setWorkerMemory(1L << 28)
            .setCheckpointInterval(25)
            .setRunPath(folder.resolve(run).toString())
            .fit(rows);
    System.out.printf("%-14s trained in %.1f s%n", run, (System.nanoTime() - start) / 1e9);
    Path whole = folder.resolve(run + " whole");
    Checkpoint.open(Path.of(model.getCheckpoint())).reshard(whole, 1);
    Map<String, Integer> files = new TreeMap<>();
    try (Stream<Path> below = Files.walk(whole)) {
      for (Path each : (Iterable<Path>) below.filter(Files::isRegularFile)::iterator) {
        files.put(whole.relativize(each).toString(), Arrays.hashCode(Files.readAllBytes(each)));
      }
    }
    return files;
  }

  private static void require(
      Map<String, Integer> expected, Map<String, Integer> got, String what) {
    if (!got.equals(expected)) {
      throw new IllegalStateException("check-spark: got other weights with " + what);
    }
    System.out.println("met  the weights of two workers, with " + what);
  }

  /** Kills an executor once the run has a checkpoint. */
  private static void kill(Path run) {
    Path checkpoints = run.resolve("checkpoints");
    try {
      while (!Checkpoint.existsAt(checkpoints)) {
        Thread.sleep(20);
      }
      Thread.sleep(500);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    List<ProcessHandle> executors =
        ProcessHandle.current()
            .descendants()
            .filter(each -> each.info().command().orElse("").endsWith("java"))
            .toList();
    ProcessHandle victim = executors.getFirst();
    System.out.printf(
        "kills executor %d of %d at step %d%n",
        victim.pid(), executors.size(), Checkpoint.openLatest(checkpoints).step());
    victim.destroyForcibly();
  }
}
