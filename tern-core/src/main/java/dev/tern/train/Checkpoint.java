package dev.tern.train;

import dev.tern.data.DataException;
import dev.tern.data.FeatureEncoder;
import dev.tern.embedding.Combiner;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.RowPolicy;
import dev.tern.embedding.UnknownRow;
import dev.tern.internal.json.Json;
import dev.tern.model.Model;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.tensor.DType;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A model as a folder: {@code dense.safetensors} (parameters, and statistics of layers), {@code
 * optimizer.safetensors} (the parameters' optimizer state), {@code tables/S.safetensors} for slot
 * {@code S} (see {@link TableFile}), {@code encoders.json}, {@code manifest.json} with the format's
 * version, the model, the position of the run and the SHA-256 of these files, and {@code
 * manifest.sha256} with that of the manifest. All are checked on opening.
 */
public final class Checkpoint {
  private static final long FORMAT = 1;
  private static final String MANIFEST = "manifest.json";
  private static final String MANIFEST_HASH = "manifest.sha256";
  private static final String DAMAGED = "the checkpoint was changed or damaged, use another one";

  /** How tables store weights; where it is absent, as F32. */
  private static final String STORAGE = "storage";

  private static final String DENSE = "dense.safetensors";
  private static final String OPTIMIZER = "optimizer.safetensors";
  private static final String ENCODERS = "encoders.json";

  private final Path folder;
  private final Json.Obj manifest;
  private final FeatureEncoder encoder;

  private Checkpoint(Path folder, Json.Obj manifest, FeatureEncoder encoder) {
    this.folder = folder;
    this.manifest = manifest;
    this.encoder = encoder;
  }

  /**
   * Opens a checkpoint, or of a folder of checkpoints (a run's folder, or its {@code checkpoints})
   * the best; checks every file's hash.
   */
  public static Checkpoint open(Path path) {
    return read(locate(path, false));
  }

  /** As {@link #open}, but of several checkpoints the latest: where a run goes on. */
  public static Checkpoint openLatest(Path path) {
    return read(locate(path, true));
  }

  /** Whether there is a checkpoint to open at {@code path}. */
  public static boolean existsAt(Path path) {
    return find(path, true).isPresent();
  }

  private static Path locate(Path path, boolean latest) {
    return find(path, latest)
        .orElseThrow(() ->
            new DataException(
                path
                    + ": got no checkpoint, expected a folder with "
                    + MANIFEST
                    + " or a run's folder; give the folder that training wrote"));
  }

  private static Optional<Path> find(Path path, boolean latest) {
    Path folder = AtomicFolder.current(path);
    if (Files.exists(folder.resolve(MANIFEST))) {
      return Optional.of(folder);
    }
    Path inside = path.resolve("checkpoints");
    Path parent = Files.isDirectory(inside) ? inside : path;
    return latest ? CheckpointFolder.latest(parent) : CheckpointFolder.best(parent);
  }

  private static Checkpoint read(Path folder) {
    Path file = folder.resolve(MANIFEST);
    Json.Obj manifest = readManifest(file);
    if (!(manifest.fields().get("format") instanceof Json.Int(long format)) || format != FORMAT) {
      throw new DataException(
          file
              + ": got checkpoint format "
              + manifest.fields().get("format")
              + ", expected "
              + FORMAT
              + "; use the version of Tern that wrote it");
    }
    checkHash(file, text(folder.resolve(MANIFEST_HASH)).strip());
    Json.Obj files = manifest.object("files");
    for (String name : files.fields().keySet()) {
      checkHash(folder.resolve(name), files.text(name));
    }
    Path encoders = folder.resolve(ENCODERS);
    return new Checkpoint(
        folder, manifest, FeatureEncoder.fromJson(text(encoders), encoders.toString()));
  }

  private static Json.Obj readManifest(Path file) {
    try {
      return Json.parseObject(text(file), file.toString());
    } catch (DataException e) {
      throw new DataException(e.getMessage() + "; " + DAMAGED, e);
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new DataException(
          file
              + ": got an error reading it ("
              + DataException.reason(e)
              + "), expected a file of a checkpoint; "
              + DAMAGED,
          e);
    }
  }

  private static void checkHash(Path file, String expected) {
    if (!Files.exists(file)) {
      throw new DataException(
          file + ": got no such file, expected one as " + MANIFEST + " says; " + DAMAGED);
    }
    String got = sha256(file);
    if (!got.equals(expected)) {
      throw new DataException(
          file + ": got SHA-256 " + got + ", expected " + expected + "; " + DAMAGED);
    }
  }

  private static String sha256(Path file) {
    try (DigestInputStream in =
        new DigestInputStream(Files.newInputStream(file), MessageDigest.getInstance("SHA-256"))) {
      byte[] buffer = new byte[1 << 16];
      while (in.read(buffer) >= 0) {
        // Reading feeds the digest.
      }
      return HexFormat.of().formatHex(in.getMessageDigest().digest());
    } catch (IOException e) {
      throw new UncheckedIOException(
          file + ": cannot be read: " + DataException.reason(e) + "; " + DAMAGED, e);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }

  /** Turns raw rows into the model's features. */
  public FeatureEncoder encoder() {
    return encoder;
  }

  /** Steps that the model was trained for. */
  public long step() {
    return manifest.object("state").integer("step");
  }

  /** Where it lies. */
  public Path folder() {
    return folder;
  }

  /** The model's name and sizes, if it is one of Tern's. */
  public Optional<ModelConfig> model() {
    return manifest.has("modelConfig")
        ? Optional.of(ModelJson.read(manifest.object("modelConfig")))
        : Optional.empty();
  }

  /** The model with its weights, to score with. */
  public Network load(Device device) {
    return load(
        device,
        model()
            .orElseThrow(() ->
                new DataException(
                    folder
                        + ": got a checkpoint of "
                        + manifest.text("model")
                        + ", expected one of Tern's models; pass the model's factory")));
  }

  /** As {@link #load(Device)} for a model of one's own. */
  public Network load(Device device, Model.Factory factory) {
    Json.Obj tables = manifest.object("tables");
    Network.Tables options =
        new Network.Tables(
            OptimizerJson.read(tables.object("optimizer")),
            (float) tables.number("initRange"),
            (float) tables.number("l2"),
            Combiner.valueOf(tables.text("combiner")),
            UnknownRow.valueOf(tables.text("unknown")),
            tables.has(STORAGE) ? DType.valueOf(tables.text(STORAGE)) : DType.F32,
            // Scoring inserts and evicts nothing.
            RowPolicy.ALL);
    Network network =
        Network.create(device, encoder.schema(), factory, options, manifest.integer("seed"));
    try {
      readWeights(network);
    } catch (RuntimeException | Error e) {
      network.close();
      throw e;
    }
    return network;
  }

  /** Fills a fresh network and optimizer; returns where the run stands. */
  RunState restore(Network network, DenseOptimizer optimizer) {
    readWeights(network);
    readVariables(folder.resolve(OPTIMIZER), optimizer.state());
    Json.Obj state = manifest.object("state");
    String best = state.text("bestAuc");
    return new RunState(
        state.integer("step"),
        (int) state.integer("epoch"),
        state.integer("rows"),
        Double.parseDouble(best),
        state.integer("bestStep"),
        (int) state.integer("stale"));
  }

  private void readWeights(Network network) {
    readVariables(folder.resolve(DENSE), network.variables());
    List<EmbeddingTable> tables = network.tables().tables();
    for (int s = 0; s < tables.size(); s++) {
      TableFile.read(folder.resolve(tableName(s)), tables.get(s));
    }
  }

  private static String tableName(int slot) {
    return "tables/" + slot + ".safetensors";
  }

  static void write(
      Path target,
      Network network,
      DenseOptimizer optimizer,
      Model.Factory factory,
      FeatureEncoder encoder,
      RunState state,
      TrainOptions options) {
    AtomicFolder.write(
        target,
        folder -> {
          writeVariables(folder.resolve(DENSE), network.variables());
          writeVariables(folder.resolve(OPTIMIZER), optimizer.state());
          List<EmbeddingTable> tables = network.tables().tables();
          try {
            Files.createDirectories(folder.resolve("tables"));
            Files.writeString(folder.resolve(ENCODERS), encoder.toJson());
            for (int s = 0; s < tables.size(); s++) {
              TableFile.write(folder.resolve(tableName(s)), tables.get(s));
            }
            Json.Obj manifest = manifest(folder, network, factory, state, options);
            Files.writeString(folder.resolve(MANIFEST), manifest.toString());
            Files.writeString(folder.resolve(MANIFEST_HASH), sha256(folder.resolve(MANIFEST)));
          } catch (IOException e) {
            throw new UncheckedIOException(
                target
                    + ": got an error writing it ("
                    + DataException.reason(e)
                    + "), expected room on the disk; free some or choose another folder",
                e);
          }
        });
  }

  private static Json.Obj manifest(
      Path folder, Network network, Model.Factory factory, RunState state, TrainOptions options) {
    Json.Obj files = Json.object();
    for (String name : List.of(DENSE, OPTIMIZER, ENCODERS)) {
      files.put(name, sha256(folder.resolve(name)));
    }
    for (int s = 0; s < network.schema().slotCount(); s++) {
      files.put(tableName(s), sha256(folder.resolve(tableName(s))));
    }
    Json.Obj manifest = Json.object().put("format", FORMAT);
    if (factory instanceof ModelConfig config) {
      manifest.put("model", config.type().name()).put("modelConfig", ModelJson.write(config));
    } else {
      manifest.put("model", network.model().getClass().getName());
    }
    told(options).fields().forEach(manifest::put);
    return manifest
        .put(
            "state",
            Json.object()
                .put("step", state.step())
                .put("epoch", state.epoch())
                .put("rows", state.rows())
                .put("bestAuc", Double.toString(state.bestAuc()))
                .put("bestStep", state.bestStep())
                .put("stale", state.stale()))
        .put("files", files);
  }

  /** What a resumed run must be told again, or its weights would be others. */
  private static Json.Obj told(TrainOptions options) {
    Json.Obj optimizer = OptimizerJson.write(options.optimizer());
    if (options.weightDecay() > 0) {
      optimizer.put("weightDecay", (double) options.weightDecay());
    }
    if (options.clipNorm() > 0) {
      optimizer.put("clipNorm", (double) options.clipNorm());
    }
    Json.Obj tables =
        Json.object()
            .put("optimizer", OptimizerJson.write(options.tableOptimizer()))
            .put("initRange", (double) options.initRange())
            .put("l2", (double) options.l2())
            .put("combiner", options.combiner().name())
            .put("unknown", options.unknown().name());
    if (options.tableStorage() != DType.F32) {
      tables.put(STORAGE, options.tableStorage().name());
    }
    if (!options.rows().isAll()) {
      tables.put("rows", RowPolicyJson.write(options.rows()));
    }
    return Json.object()
        .put("seed", options.seed())
        .put("optimizer", optimizer)
        .put("tables", tables)
        .put("schedule", options.schedule().toString())
        .put("batch", (long) options.batch())
        .put("shuffleRows", (long) options.shuffleRows());
  }

  /** Throws if a run of this model and these options would not go on as this one stopped. */
  void requireSame(Model.Factory factory, TrainOptions options) {
    Json.Obj given = told(options);
    if (factory instanceof ModelConfig config) {
      given.put("modelConfig", ModelJson.write(config));
    }
    given
        .fields()
        .forEach((name, value) -> {
          String saved = String.valueOf(manifest.fields().get(name));
          if (!saved.equals(value.toString())) {
            throw new IllegalArgumentException(
                "resume: got "
                    + name
                    + " "
                    + value
                    + ", expected "
                    + saved
                    + " as in "
                    + folder
                    + "; give the options of the run, or start a new one");
          }
        });
  }

  private static void writeVariables(Path path, List<Variable> variables) {
    SafeTensors.Layout layout = new SafeTensors.Layout();
    for (Variable variable : variables) {
      layout.add(variable.name(), DType.F32, sizes(variable));
    }
    try (SafeTensors file = SafeTensors.create(path, layout, Map.of())) {
      for (Variable variable : variables) {
        ByteBuffer bytes = bytes(variable);
        for (float value : variable.toArray()) {
          bytes.putFloat(value);
        }
        file.write(variable.name(), 0, bytes.flip());
      }
    }
  }

  private static void readVariables(Path path, List<Variable> variables) {
    try (SafeTensors file = SafeTensors.open(path)) {
      List<String> expected = variables.stream().map(Variable::name).toList();
      if (!List.copyOf(file.names()).equals(expected)) {
        throw new DataException(
            path
                + ": got the arrays "
                + file.names()
                + ", expected "
                + expected
                + "; the checkpoint is of another model or optimizer");
      }
      for (Variable variable : variables) {
        SafeTensors.Entry entry = file.entry(variable.name());
        long[] sizes = entry.shape().stream().mapToLong(Long::longValue).toArray();
        if (!Arrays.equals(sizes, sizes(variable))) {
          throw new DataException(
              path
                  + ": got "
                  + variable.name()
                  + " of shape "
                  + entry.shape()
                  + ", expected "
                  + variable.shape()
                  + "; the checkpoint is of another model");
        }
        ByteBuffer bytes = bytes(variable);
        file.read(variable.name(), 0, bytes);
        bytes.flip();
        float[] values = new float[variable.shape().elements()];
        bytes.asFloatBuffer().get(values);
        variable.set(values);
      }
    }
  }

  private static ByteBuffer bytes(Variable variable) {
    return ByteBuffer.allocate(4 * variable.shape().elements()).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static long[] sizes(Variable variable) {
    long[] sizes = new long[variable.shape().rank()];
    for (int i = 0; i < sizes.length; i++) {
      sizes[i] = variable.shape().size(i);
    }
    return sizes;
  }
}
