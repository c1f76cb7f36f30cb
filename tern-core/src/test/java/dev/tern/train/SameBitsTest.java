package dev.tern.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.tern.data.Batch;
import dev.tern.data.readers.Readers;
import dev.tern.internal.kernel.VectorSupport;
import dev.tern.model.ModelConfig;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Weights after a few steps, byte for byte: on one, two and three threads, in vectors of every
 * length that this machine has and in scalar code. Each length is a process of its own, in which
 * vector kernels serve from the first call on.
 */
@Tag("unchecked") // Its processes have vectors, which are not checked.
final class SameBitsTest {
  private static final List<ModelConfig.Type> MODELS =
      List.of(ModelConfig.Type.DEEPFM, ModelConfig.Type.DLRM, ModelConfig.Type.DCNV2);
  private static final int ROWS = 700;
  private static final int[] THREADS = {1, 2, 3};

  @TempDir private static Path folder;

  private static List<String> scalar = List.of();

  @BeforeAll
  static void trainInScalarCode() throws IOException, InterruptedException {
    scalar = lines(0);
  }

  /** Prints the lanes of a vector, then a line of digests for each model, one for each count. */
  public static void main(String[] args) throws IOException, NoSuchAlgorithmException {
    System.out.println(VectorSupport.lanes());
    for (ModelConfig.Type type : MODELS) {
      List<String> digests = new ArrayList<>();
      for (int threads : THREADS) {
        digests.add(digest(type, threads, Path.of(args[0], type + "-" + threads)));
      }
      System.out.println(type + " " + String.join(" ", digests));
    }
  }

  private static String digest(ModelConfig.Type type, int threads, Path target)
      throws IOException, NoSuchAlgorithmException {
    Batch rows = PlantedRuns.planted(1, ROWS);
    ModelConfig model =
        ModelConfig.of(type, 8, 70, 33).withDropout(0.1f).withBottom(17, 8).withCrossLayers(2);
    TrainOptions options =
        TrainOptions.of(Optimizer.adam(0.01f)).batch(100).epochs(1).shuffleRows(ROWS);
    try (Device device = Device.cpu(threads, 1L << 28);
        Trainer trainer = Trainer.create(device, PlantedRuns.encoder(rows), model, options)) {
      trainer.fit(Readers.inMemory(rows));
      trainer.save(target);
    }
    MessageDigest sha = MessageDigest.getInstance("SHA-256");
    return HexFormat.of().formatHex(sha.digest(PlantedRuns.contents(target)));
  }

  /** The lines that a process with vectors of {@code bits} prints. */
  private static List<String> lines(int bits) throws IOException, InterruptedException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--add-modules",
            "jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            "-Dtern.kernels=eager",
            "-Dtern.vector.bits=" + bits,
            "-cp",
            System.getProperty("java.class.path"),
            SameBitsTest.class.getName(),
            folder.resolve(Integer.toString(bits)).toString());
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output.lines().toList();
  }

  @Test
  void weightsDoNotDependOnThreads() {
    assertThat(scalar).hasSize(1 + MODELS.size()).startsWith("1");
    for (String line : scalar.subList(1, scalar.size())) {
      String[] words = line.split(" ");
      assertThat(List.of(words).subList(1, words.length)).hasSize(3).containsOnly(words[1]);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {512, 256, 128})
  void weightsDoNotDependOnTheLengthOfVectors(int bits) throws IOException, InterruptedException {
    int most = 32 * VectorSupport.lanes();
    assumeThat(most)
        .as("vectors of %d bits; this machine has none longer than %d", bits, most)
        .isGreaterThanOrEqualTo(bits);
    List<String> vectors = lines(bits);
    assertThat(vectors.getFirst()).isEqualTo(Integer.toString(bits / 32));
    assertThat(vectors.subList(1, vectors.size())).isEqualTo(scalar.subList(1, scalar.size()));
  }
}
