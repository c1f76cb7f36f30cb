package dev.tern.bench.parity;

import dev.tern.bench.Arguments;
import dev.tern.bench.Machine;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.internal.cuda.driver.CudaLibraries;
import dev.tern.internal.cuda.driver.SimulatedCuda;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelPart;
import dev.tern.nn.Form;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.train.TrainOptions;
import dev.tern.train.Trainer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * Every model, and once more with numbers that have vectors, beside the same one in PyTorch: from
 * equal weights, on equal batches, the loss of each step. A difference of more than {@value #MOST}
 * of the loss is an error. Both update all weights by plain gradient descent, so a wrong gradient
 * shows in the losses that follow.
 *
 * <p>{@code --device cuda} compares a CUDA device with the processor instead ({@link
 * DeviceParity}).
 */
public final class ParityBench {
  private static final double MOST = 1e-5;
  private static final int STEPS = 20;
  private static final float RATE = 0.5f;

  private final Arguments arguments;

  private ParityBench(Arguments arguments) {
    this.arguments = arguments;
  }

  /** All but lists of layers, which GraphModelTest compares with their equations. */
  static List<ModelConfig.Type> ofPapers() {
    return Stream.of(ModelConfig.Type.values()).filter(type -> !type.has(ModelPart.GRAPH)).toList();
  }

  /** Runs it. */
  public static void run(List<String> args) {
    Map<String, String> defaults = new LinkedHashMap<>();
    defaults.put("--models", "");
    defaults.put("--peer-python", "python3");
    defaults.put("--peers", Machine.peers());
    defaults.put("--device", "");
    ParityBench bench = new ParityBench(Arguments.parse("parity", args, defaults));
    if (!bench.arguments.json()) {
      System.out.println(Machine.line());
    }
    List<ModelConfig.Type> types =
        bench.arguments.text("--models").isEmpty()
            ? ofPapers()
            : Arrays.stream(bench.arguments.text("--models").split(","))
                .map(name -> ModelConfig.Type.valueOf(name.toUpperCase(Locale.ROOT)))
                .toList();
    if (!bench.arguments.text("--device").isEmpty()) {
      String device = bench.arguments.choice("--device", "cuda", "simulated");
      if (device.equals("simulated")) {
        System.setProperty(CudaLibraries.PATH_PROPERTY, SimulatedCuda.library().toString());
      }
      DeviceParity.run(device, types);
      return;
    }
    List<String> apart = new ArrayList<>();
    for (ModelConfig.Type type : types) {
      List<ModelConfig> models = ParityCases.models(type);
      for (int m = 0; m < models.size(); m++) {
        String name = name(models.get(m), m);
        if (bench.compare(models.get(m), name, false) > MOST) {
          apart.add(name);
        }
      }
      String name = name(models.getFirst(), 0) + "+numbers";
      if (ParityCases.takesVectors(type) && bench.compare(models.getFirst(), name, true) > MOST) {
        apart.add(name);
      }
    }
    if (!apart.isEmpty()) {
      throw new IllegalStateException(
          "bench parity: got losses more than %s apart for %s, expected less in each step"
              .formatted(MOST, apart));
    }
  }

  /**
   * The largest difference of a loss, as a share of it.
   *
   * @param name of the case
   * @param vectors whether numbers have vectors
   */
  private double compare(ModelConfig model, String name, boolean vectors) {
    Path folder = temporary();
    try {
      double[] own = losses(model, vectors, folder);
      double[] peer =
          peer(arguments.text("--peer-python"), Path.of(arguments.text("--peers")), folder);
      double most = 0;
      for (int step = 0; step < STEPS; step++) {
        most = Math.max(most, Math.abs(own[step] - peer[step]) / Math.abs(peer[step]));
      }
      System.out.printf(
          Locale.ROOT,
          arguments.json()
              ? "{\"bench\":\"parity\",\"case\":\"%s\",\"value\":%.3g,\"unit\":\"largest relative"
                    + " difference\",\"steps\":%d,\"loss\":[%.6f,%.6f],\"peer\":\"pytorch\",\"peer_loss\":[%.6f,%.6f]}%n"
              : "%-24s largest difference %.3g in %d steps, loss %.6f to %.6f, PyTorch's %.6f to"
                  + " %.6f%n",
          name,
          most,
          STEPS,
          own[0],
          own[STEPS - 1],
          peer[0],
          peer[STEPS - 1]);
      return Double.isNaN(most) ? Double.MAX_VALUE : most;
    } finally {
      delete(folder);
    }
  }

  /** Tern's losses of a case, which {@code folder} then holds for a peer. */
  static double[] losses(ModelConfig model, boolean vectors, Path folder) {
    Schema raw = ParityCases.schema(model.type());
    FeatureEncoder encoder =
        vectors ? ParityCases.encoder(raw, ParityCases.vectors()) : ParityCases.encoder(raw);
    SplittableRandom random = new SplittableRandom(7);
    TrainOptions options =
        TrainOptions.of(Optimizer.sgd(RATE))
            .batch(ParityCases.BATCH)
            .tables(t -> t.initRange(0.3f));
    double[] losses = new double[STEPS];
    try (Device device = Device.cpu(2, 1L << 30);
        Trainer trainer = Trainer.create(device, encoder, model, options)) {
      ParityFolder written = new ParityFolder(folder);
      written.parameters(trainer.network());
      written.tables(trainer.network(), ParityCases.IDS);
      Batch encoded = new Batch(encoder.schema(), ParityCases.BATCH);
      for (int step = 0; step < STEPS; step++) {
        Batch batch = ParityCases.batch(raw, random, vectors);
        encoder.apply(batch, encoded);
        written.batch(step, batch, encoded);
        losses[step] = trainer.step(encoded).loss();
      }
      written.write(model, encoder, RATE, STEPS);
    }
    return losses;
  }

  /** The name of a type's case; those after the first have their form or number. */
  static String name(ModelConfig model, int number) {
    String name = model.type().name().toLowerCase(Locale.ROOT);
    Form form = model.variant().form();
    String which =
        form == Form.NONE ? String.valueOf(number) : form.name().toLowerCase(Locale.ROOT);
    return number == 0 ? name : name + "-" + which;
  }

  /** The losses that {@code parity.py} has from what {@code folder} holds. */
  static double[] peer(String python, Path peers, Path folder) {
    List<String> command =
        List.of(python, peers.resolve("parity.py").toString(), folder.toString());
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      String output =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      if (process.waitFor() != 0 || !output.matches("\\[[-0-9.e, na]+]")) {
        throw new IllegalStateException("peer: got " + output + ", expected a list of losses");
      }
      return Arrays.stream(output.substring(1, output.length() - 1).split(", "))
          .mapToDouble(Double::parseDouble)
          .toArray();
    } catch (IOException e) {
      throw new UncheckedIOException("peer: cannot run " + command.getFirst(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("peer: interrupted", e);
    }
  }

  /** A new folder. */
  public static Path temporary() {
    try {
      return Files.createTempDirectory("tern-parity");
    } catch (IOException e) {
      throw new UncheckedIOException("parity: cannot make a folder", e);
    }
  }

  /** Deletes a folder with all that it holds. */
  public static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("parity: cannot remove " + folder, e);
    }
  }
}
