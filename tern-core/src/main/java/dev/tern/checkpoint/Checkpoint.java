package dev.tern.checkpoint;

import dev.tern.base.DType;
import dev.tern.base.DataException;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.TableShard;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.RowRule;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.checkpoint.AtomicFolder;
import dev.tern.internal.checkpoint.TableFile;
import dev.tern.internal.checkpoint.VariablesFile;
import dev.tern.internal.json.Json;
import dev.tern.model.Model;
import dev.tern.model.ModelConfig;
import dev.tern.model.Network;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A model as a folder: {@code dense.safetensors} (parameters, and statistics of layers), {@code
 * optimizer.safetensors} (the parameters' optimizer state), {@code tables/N.safetensors} for table
 * {@code N} (see {@link TableFile}), {@code encoders.json}, {@code manifest.json} with the format's
 * version, the model, the position of the run and digests of these files, and {@code
 * manifest.sha256} with that of the manifest. All are checked on opening.
 *
 * <p>One of changes holds of tables only what changed since the checkpoint that it follows, and no
 * encoders; it stands for what both are together.
 */
public final class Checkpoint {
  static final String DENSE = "dense.safetensors";
  static final String OPTIMIZER = "optimizer.safetensors";
  static final String ENCODERS = "encoders.json";

  private final CheckpointChain chain;
  private final FeatureEncoder encoder;

  private Checkpoint(CheckpointChain chain, FeatureEncoder encoder) {
    this.chain = chain;
    this.encoder = encoder;
  }

  /**
   * Opens a checkpoint, or of a folder of checkpoints (a run's folder, or its {@code checkpoints})
   * the best; checks every file's hash.
   */
  public static Checkpoint open(Path path) {
    return read(locate(path, false));
  }

  /**
   * As {@link #open}, but of several checkpoints the latest, where a run goes on: the best one only
   * where it stands alone.
   */
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
                    + Manifest.NAME
                    + " or a run's folder; give the folder that training wrote"));
  }

  private static Optional<Path> find(Path path, boolean latest) {
    Path folder = AtomicFolder.current(path);
    if (Manifest.isIn(folder)) {
      return Optional.of(folder);
    }
    Path inside = path.resolve("checkpoints");
    Path parent = Files.isDirectory(inside) ? inside : path;
    return latest ? CheckpointFolder.latest(parent) : CheckpointFolder.best(parent);
  }

  private static Checkpoint read(Path folder) {
    CheckpointChain chain = CheckpointChain.read(folder);
    Path encoders = chain.base().file(ENCODERS);
    return new Checkpoint(
        chain, FeatureEncoder.fromJson(Manifest.text(encoders), encoders.toString()));
  }

  /** Turns raw rows into the model's features. */
  public FeatureEncoder encoder() {
    return encoder;
  }

  /** Steps that the model was trained for. */
  public long step() {
    return chain.last().json().object("state").integer("step");
  }

  /** Where it lies. */
  public Path folder() {
    return chain.last().folder();
  }

  /**
   * The checkpoints that it is made of, in order: a full one, then those of changes, the last of
   * which is itself.
   */
  public List<Path> parts() {
    return chain.parts().stream().map(Manifest::folder).toList();
  }

  /** The model's name and sizes, if it is one of Tern's. */
  public Optional<ModelConfig> model() {
    Json.Obj manifest = chain.last().json();
    return manifest.has("modelConfig")
        ? Optional.of(ModelJson.read(manifest.object("modelConfig")))
        : Optional.empty();
  }

  /** The model's name and sizes as text; of one that is not Tern's its class. */
  public String modelText() {
    return model().map(ModelConfig::toString).orElseGet(() -> chain.last().json().text("model"));
  }

  /** Whether equal values have equal ids in another. */
  public boolean encodesAs(Checkpoint other) {
    // Of a run, or one made from another, the files are the same; vocabularies as text are long.
    return encodersDigest().equals(other.encodersDigest()) || encoder.encodesIdsAs(other.encoder);
  }

  private String encodersDigest() {
    return chain.base().json().object("files").text(ENCODERS);
  }

  /** The model with its weights, to score with. */
  public Network load(Device device) {
    return load(device, RowFormat.STORED);
  }

  /** Likewise, with rows of tables that lie in memory in another way. */
  public Network load(Device device, RowFormat format) {
    return load(
        device,
        model()
            .orElseThrow(() ->
                new DataException(
                    folder()
                        + ": got a checkpoint of "
                        + modelText()
                        + ", expected one of Tern's models; pass the model's factory")),
        format);
  }

  /** As {@link #load(Device)} for a model of one's own. */
  public Network load(Device device, Model.Factory factory) {
    return load(device, factory, RowFormat.STORED);
  }

  /** As {@link #load(Device, RowFormat)} for a model of one's own. */
  public Network load(Device device, Model.Factory factory, RowFormat format) {
    Json.Obj manifest = chain.last().json();
    Json.Obj tables = manifest.object("tables");
    // Scoring inserts, evicts and updates nothing: it needs no row policy and no limits.
    TableOptions plain =
        TableOptions.of(OptimizerJson.read(tables.object("optimizer")))
            .initRange((float) tables.number("initRange"))
            .l2((float) tables.number("l2"))
            .combiner(Combiner.valueOf(tables.text("combiner")))
            .unknown(UnknownRowJson.read(tables))
            .storage(storage(tables))
            .format(format);
    TableOptions options = firstPart(tables).map(plain::firstPart).orElse(plain);
    Network network =
        Network.create(device, encoder.schema(), factory, options, manifest.integer("seed"));
    try {
      readWeights(network);
      chain.requireUnchanged();
    } catch (RuntimeException | Error e) {
      network.close();
      throw e;
    }
    return network;
  }

  private static DType storage(Json.Obj tables) {
    return tables.has(RunFacts.STORAGE) ? DType.valueOf(tables.text(RunFacts.STORAGE)) : DType.F32;
  }

  /**
   * Fills the network and the optimizer state of a new run; returns the state of the run to resume.
   *
   * @param optimizer state of the dense parameters, in the order of {@link Network#parameters()}
   */
  public RunState restore(Network network, List<Variable> optimizer) {
    readWeights(network);
    VariablesFile.read(chain.last().file(OPTIMIZER), optimizer);
    chain.requireUnchanged();
    return RunFacts.state(chain.last().json());
  }

  private void readWeights(Network network) {
    VariablesFile.read(chain.last().file(DENSE), network.variables());
    List<EmbeddingTable> tables = network.tables().tables();
    for (int s = 0; s < tables.size(); s++) {
      TableFile.read(tableFiles(s), tables.get(s), TableShard.WHOLE);
    }
  }

  /** Names of the tables, in the order of their numbers. */
  public List<String> tables() {
    return encoder.schema().tables();
  }

  /** Numbers of the slots that use a table, first of the one whose it is. */
  public List<Integer> slotsOf(int table) {
    List<Slot> slots = encoder.schema().slots();
    String name = tables().get(table);
    return IntStream.range(0, slots.size())
        .filter(slot -> slots.get(slot).table().equals(name))
        .boxed()
        .sorted(Comparator.comparing(slot -> slots.get(slot).shares()))
        .toList();
  }

  private static Optional<Optimizer> firstPart(Json.Obj tables) {
    return tables.has(RunFacts.FIRST_PART)
        ? Optional.of(OptimizerJson.read(tables.object(RunFacts.FIRST_PART)))
        : Optional.empty();
  }

  /**
   * The optimizer state of a new row of a table.
   *
   * @param width weights of the row
   * @param floats floats of optimizer state that rows have in the table's file
   * @throws DataException if the optimizer keeps another number of floats
   */
  public float[] initialState(int width, int floats) {
    float[] state;
    try {
      state = rowRule().initialState(width);
    } catch (IllegalArgumentException e) {
      throw new DataException(folder() + ": " + e.getMessage() + "; the checkpoint is damaged", e);
    }
    if (state.length != floats) {
      throw new DataException(
          "%s: got rows with %d floats of optimizer state, expected %d as its optimizers keep; the checkpoint is damaged"
              .formatted(folder(), floats, state.length));
    }
    return state;
  }

  private RowRule rowRule() {
    Json.Obj json = chain.last().json();
    Json.Obj tables = json.object("tables");
    Optimizer optimizer = OptimizerJson.read(tables.object("optimizer"));
    return firstPart(tables)
        .map(first -> RowRule.withHead((int) json.integer(RunFacts.FIRST_WIDTH), first, optimizer))
        .orElse(RowRule.of(optimizer));
  }

  /** The files of the table of a slot, the oldest first. */
  public List<Path> tableFiles(int slot) {
    List<Path> files = new ArrayList<>();
    for (Manifest part : chain.parts()) {
      for (TableShard shard : TableShard.allOf(part.shards())) {
        files.add(part.file(tableName(slot, shard)));
      }
    }
    return files;
  }

  /**
   * Fills an empty table with the rows that the table of a slot has in one shard, whatever shards
   * the checkpoint's tables lie in. Under a row policy the table takes the history of all.
   *
   * @throws DataException if the checkpoint is of a table of another kind
   */
  public void restore(int slot, TableShard shard, EmbeddingTable table) {
    TableFile.read(tableFiles(slot), table, shard);
    chain.requireUnchanged();
  }

  /**
   * Writes it as one full checkpoint, the same bytes as if it had been written so: a full one and
   * the changes after it become one folder. Holds no table in memory.
   *
   * @param target a new folder
   * @throws DataException if something is there
   */
  public void compact(Path target) {
    reshard(target, 1);
  }

  /**
   * As {@link #compact}, with each table in so many files, one a {@link TableShard}. The bytes
   * depend on what the tables hold and on the number of shards, not on how many they were in.
   *
   * @param target a new folder
   * @param shards a power of two, of at most {@link TableShard#MOST}
   * @throws DataException if something is at {@code target}
   */
  public void reshard(Path target, int shards) {
    rewrite(
        target,
        shards,
        (slot, shard, file) -> TableFile.merge(file, tableFiles(slot), tables().get(slot), shard));
  }

  /** Writes a shard of the table of a slot into a file. */
  @FunctionalInterface
  public interface TableWriting {
    void write(int slot, TableShard shard, Path file);
  }

  /** Writes it as one full checkpoint with tables that {@code writing} writes. */
  public void rewrite(Path target, int shards, TableWriting writing) {
    List<TableShard> all = TableShard.allOf(shards);
    AtomicFolder.writeNew(
        target,
        folder -> {
          try {
            Files.createDirectories(folder.resolve("tables"));
            Files.copy(chain.last().file(DENSE), folder.resolve(DENSE));
            Files.copy(chain.last().file(OPTIMIZER), folder.resolve(OPTIMIZER));
            Files.copy(chain.base().file(ENCODERS), folder.resolve(ENCODERS));
            List<String> names = new ArrayList<>(List.of(DENSE, OPTIMIZER, ENCODERS));
            for (int slot = 0; slot < tables().size(); slot++) {
              for (TableShard shard : all) {
                writing.write(slot, shard, folder.resolve(tableName(slot, shard)));
                names.add(tableName(slot, shard));
              }
            }
            chain.requireUnchanged();
            Map<String, String> digests = Manifest.digests(folder, names);
            Manifest.write(folder, digests, chain.last().facts(), Optional.empty(), shards);
          } catch (IOException e) {
            throw AtomicFolder.unwritten(target, e);
          }
        });
  }

  private static String tableName(int slot, TableShard shard) {
    return shard.count() == 1
        ? tableName(slot)
        : "tables/" + slot + "." + shard.number() + ".safetensors";
  }

  static String tableName(int slot) {
    return "tables/" + slot + ".safetensors";
  }

  /** Throws if a run of this model and these options would not go on as this one stopped. */
  public void requireSame(Model.Factory factory, RunSettings options) {
    RunFacts.requireSame(chain.last().json(), folder(), factory, options);
  }

  /**
   * Checks that no other checkpoint has taken its place since it was opened.
   *
   * @throws DataException if one has, or if it is gone
   */
  public void requireUnchanged() {
    chain.requireUnchanged();
  }
}
