package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.TableChanges;
import dev.tern.embedding.TableShard;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.RowRule;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.checkpoint.AtomicFolder;
import dev.tern.internal.checkpoint.FiniteWeights;
import dev.tern.internal.checkpoint.TableFile;
import dev.tern.internal.checkpoint.VariablesFile;
import dev.tern.internal.json.Json;
import dev.tern.model.Matching;
import dev.tern.model.ModelConfig;
import dev.tern.model.ModelFactory;
import dev.tern.model.Network;
import dev.tern.model.RetrievalModel;
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
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * A saved model: a folder of files, all of which are checked on opening. {@code manifest.json}
 * holds the version of the format, the model, settings and state of the run, and a digest of each
 * file:
 *
 * <ul>
 *   <li>{@code dense.safetensors}: parameters, and statistics of layers;
 *   <li>{@code optimizer.safetensors}: optimizer state of the parameters;
 *   <li>{@code tables/N.safetensors}: table {@code N};
 *   <li>{@code encoders.json}: the {@link FeatureEncoder}.
 * </ul>
 *
 * <p>A delta checkpoint holds only the table rows that changed since the checkpoint that it
 * follows, and no encoders. Opening it opens the whole chain.
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
   * Opens a checkpoint and checks the digest of every file. In a run's folder, or its folder {@code
   * checkpoints}, it opens the best one.
   */
  public static Checkpoint open(Path path) {
    return open(path, false);
  }

  /**
   * As {@link #open}, but in a run's folder it opens the latest checkpoint, from which a run
   * resumes. Opens the best one only if there is no other.
   */
  public static Checkpoint openLatest(Path path) {
    return open(path, true);
  }

  /** Whether {@code path} is the folder of a checkpoint itself. */
  public static boolean isAt(Path path) {
    return Manifest.isIn(AtomicFolder.current(path));
  }

  /** Whether there is a checkpoint to open at {@code path}. */
  public static boolean existsAt(Path path) {
    return find(path, true).isPresent();
  }

  private static Checkpoint open(Path path, boolean latest) {
    Path folder =
        find(path, latest)
            .orElseThrow(() ->
                new DataException(
                    "%s: got no checkpoint, expected a folder with %s or a run's folder; give the folder that training wrote"
                        .formatted(path, Manifest.NAME)));
    return of(CheckpointChain.read(folder));
  }

  /** The checkpoint of a chain that is whole. */
  static Checkpoint of(CheckpointChain chain) {
    Path encoders = chain.base().file(ENCODERS);
    return new Checkpoint(
        chain, FeatureEncoder.fromJson(Manifest.text(encoders), encoders.toString()));
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

  /** The encoder that turns raw rows into the features of the model. */
  public FeatureEncoder encoder() {
    return encoder;
  }

  /** Training steps of the model. */
  public long step() {
    return chain.last().json().object("state").integer("step");
  }

  /** What tells this checkpoint from all others. */
  public CheckpointMark mark() {
    return CheckpointMark.of(chain.parts());
  }

  /** The folder of the checkpoint. */
  public Path folder() {
    return chain.last().folder();
  }

  /** The folders of its parts in order: a full checkpoint, then deltas; the last is its own. */
  public List<Path> parts() {
    return chain.parts().stream().map(Manifest::folder).toList();
  }

  /** Its parts in order as files: a full checkpoint, then deltas. They were checked on opening. */
  public List<CheckpointFiles> files() {
    return chain.parts().stream().map(CheckpointFiles::new).toList();
  }

  /** Name and sizes of the model; empty for a model that is not one of Tern's. */
  public Optional<ModelConfig> model() {
    Json.Obj manifest = chain.last().json();
    return manifest.has("modelConfig")
        ? Optional.of(ModelJson.read(manifest.object("modelConfig")))
        : Optional.empty();
  }

  /** Name and sizes of the model as text; the class name of a model that is not Tern's. */
  public String modelText() {
    return model().map(ModelConfig::toString).orElseGet(() -> chain.last().json().text("model"));
  }

  /** Whether equal values have equal ids in both checkpoints. */
  public boolean encodesAs(Checkpoint other) {
    // The digests settle most cases; comparing vocabularies as text is slow.
    return encodersDigest().equals(other.encodersDigest()) || encoder.encodesIdsAs(other.encoder);
  }

  /** Two checkpoints with one digest have the same {@link #encoder}. */
  public String encodersDigest() {
    return chain.base().json().object("files").text(ENCODERS);
  }

  /** The model with its weights, for scoring. */
  public Network load(Device device) {
    return load(device, RowFormat.STORED);
  }

  /**
   * The model with its weights, for scoring; tables keep their rows in memory as {@code format}.
   */
  public Network load(Device device, RowFormat format) {
    return load(device, requireModel(), format);
  }

  /** Name and sizes of the model, which is one of Tern's. */
  public ModelConfig requireModel() {
    return model()
        .orElseThrow(() ->
            new DataException(
                "%s: got a checkpoint of %s, expected one of Tern's models; pass the model's factory"
                    .formatted(folder(), modelText())));
  }

  /**
   * A model of another factory with its weights, for scoring.
   *
   * @param format how tables keep their rows in memory
   */
  public Network load(Device device, ModelFactory factory, RowFormat format) {
    return load(device, factory, format, false);
  }

  /**
   * The same.
   *
   * @param finite whether to refuse weights that are infinite or NaN
   * @throws DataException if there are such weights
   */
  public Network load(Device device, ModelFactory factory, RowFormat format, boolean finite) {
    return load(device, factory, format, network -> readWeights(network, finite));
  }

  /**
   * The model of {@code factory} with the weights of its layers and empty tables, for who reads
   * their rows from {@link #tableFiles}.
   */
  public Network loadLayers(Device device, ModelFactory factory) {
    return load(device, factory, RowFormat.STORED, network -> readDense(network, true));
  }

  /** What the model, one of Tern's, is made of but its weights. */
  public ModelRecipe recipe() {
    return ModelRecipe.of(chain.last().json(), encoder, requireModel());
  }

  private Network load(
      Device device, ModelFactory factory, RowFormat format, Consumer<Network> weights) {
    Json.Obj manifest = chain.last().json();
    RunFacts.requireLabels(manifest, folder(), factory, encoder.schema());
    TableOptions options =
        TableOptionsJson.read(manifest.object("tables"))
            .format(format)
            .knownOnly(encoder.tablesOfKnown());
    Network network =
        Network.create(device, encoder.schema(), factory, options, manifest.integer("seed"));
    try {
      weights.accept(network);
      chain.requireUnchanged();
    } catch (RuntimeException | Error e) {
      network.close();
      throw e;
    }
    return network;
  }

  /**
   * Fills the network and the optimizer state of a new run; returns the state of the run to resume.
   *
   * @param optimizer state of the dense parameters, in the order of {@link Network#parameters()}
   */
  public RunState restore(Network network, List<Variable> optimizer) {
    readWeights(network, false);
    VariablesFile.read(chain.last().file(OPTIMIZER), optimizer);
    chain.requireUnchanged();
    return RunFacts.state(chain.last().json());
  }

  /**
   * Gives a new network the weights of this checkpoint where it has them: parameters by name and
   * shape, and the rows of tables by name, if they are as wide and the ids mean the same. Optimizer
   * state begins anew.
   *
   * @param factory of the network
   * @param grown the network's encoder
   * @throws IllegalArgumentException if weights of as many columns would meet others than before,
   *     numbers of another scale, or labels of other names
   * @return what keeps its initial values: names of parameters, {@code table NAME}, and {@code
   *     buckets of table NAME} for the rows of ids without one
   */
  public List<String> begin(Network network, ModelFactory factory, FeatureEncoder grown) {
    RunFacts.requireLabels(chain.last().json(), folder(), factory, grown.schema());
    SamePlaces.require(this, network, grown);
    List<String> fresh = new ArrayList<>();
    VariablesFile.readSome(chain.last().file(DENSE), network.variables())
        .forEach(variable -> fresh.add(variable.name()));
    Optional<String> items = network.model().itemSlot().map(slot -> table(grown.schema(), slot));
    if (items.isPresent() && !grown.keepsIds(encoder, items.get()) && network.forgetItems()) {
      fresh.add("rates of items");
    }
    if (!keepsItems(network, grown) && network.forgetItemPool()) {
      fresh.add("items to draw from");
    }
    List<EmbeddingTable> tables = network.tables().tables();
    for (EmbeddingTable table : tables) {
      String name = table.config().name();
      int saved = tables().indexOf(name);
      boolean same = saved >= 0 && grown.keepsIds(encoder, name);
      if (!same || !TableFile.readWeights(tableFiles(saved), table)) {
        fresh.add("table " + name);
      } else if (table.config().unknown().buckets() > 0) {
        fresh.add("buckets of table " + name);
      }
    }
    chain.requireUnchanged();
    return fresh;
  }

  /**
   * Throws if a new run of the models of {@code factory} cannot begin with these weights.
   *
   * @throws IllegalArgumentException if one of Tern's models is not of this model's type
   */
  public void requireSameType(ModelFactory factory) {
    Optional<ModelConfig.Type> before = model().map(ModelConfig::type);
    if (factory instanceof ModelConfig now && before.filter(now.type()::equals).isEmpty()) {
      throw new IllegalArgumentException(
          "warm start: got the model %s, expected %s as in %s"
              .formatted(now.type(), before.map(Enum::name).orElse("one of its own"), folder()));
    }
    List<String> items = model().map(ModelConfig::matching).orElse(Matching.DEFAULT).itemColumns();
    if (factory instanceof ModelConfig now && !sameItems(items, now.matching().itemColumns())) {
      throw new IllegalArgumentException(
          "warm start: got the columns of items %s, expected %s as in %s; weights would meet other columns"
              .formatted(now.matching().itemColumns(), items, folder()));
    }
  }

  /** Whether the same columns make an item, and the same one names it. */
  private static boolean sameItems(List<String> one, List<String> other) {
    return one.stream().limit(1).toList().equals(other.stream().limit(1).toList())
        && Set.copyOf(one).equals(Set.copyOf(other));
  }

  /** Whether the ids of all columns of an item mean the same. */
  private boolean keepsItems(Network network, FeatureEncoder grown) {
    return !(network.model() instanceof RetrievalModel towers)
        || grown.schema().slots().stream()
            .filter(slot -> towers.itemColumns().contains(slot.name()))
            .allMatch(slot -> grown.keepsIds(encoder, slot.table()));
  }

  private static String table(Schema schema, String slot) {
    return schema.slots().get(schema.slotNames().indexOf(slot)).table();
  }

  /**
   * As {@link #begin}, with all that the earlier run had: its optimizers' state, what tables know
   * of their rows, and its count of steps. Nothing begins anew but the epoch and evaluations.
   *
   * @param optimizer state of the dense parameters, in the order of {@link Network#parameters()}
   * @throws IllegalArgumentException as {@link #begin}, and if optimizers or tables keep other
   *     state
   * @throws DataException if a parameter or table is missing, or of another shape
   */
  public RunState beginWithState(
      Network network,
      List<Variable> optimizer,
      ModelFactory factory,
      FeatureEncoder grown,
      RunSettings options) {
    RunFacts.requireLabels(chain.last().json(), folder(), factory, grown.schema());
    RunFacts.requireSameState(chain.last().json(), folder(), options);
    SamePlaces.require(this, network, grown);
    List<String> now = grown.schema().tables();
    if (!now.equals(tables()) || !now.stream().allMatch(name -> grown.keepsIds(encoder, name))) {
      throw new IllegalArgumentException(
          "begin: got the tables %s, expected %s of the same ids as in %s, whose state it goes on with; begin with the weights alone"
              .formatted(Shown.list(now), Shown.list(tables()), folder()));
    }
    long step = restore(network, optimizer).step();
    return new RunState(step, 0, 0, Double.NaN, 0, 0);
  }

  /**
   * Gives a network the weights of its layers.
   *
   * @throws DataException if one is infinite or NaN, or they are of another model
   */
  public void readDense(Network network) {
    readDense(network, true);
  }

  /**
   * Reads what tables have otherwise than the tables of a network, which {@link #load} made of
   * another checkpoint of the same run.
   *
   * @param into for each table, empty changes of it
   * @param most bytes of memory that all of them may take
   * @return whether they did not take more
   * @throws DataException if a weight is infinite or NaN, or a table is of another kind
   */
  public boolean readDifferences(List<EmbeddingTable> tables, List<TableChanges> into, long most) {
    long left = most;
    for (int t = 0; t < tables.size(); t++) {
      if (!TableFile.readDifferences(tableFiles(t), tables.get(t), into.get(t), left)) {
        return false;
      }
      left -= into.get(t).bytes();
    }
    return true;
  }

  /**
   * Reads some rows as changes that change nothing.
   *
   * @param into for each table, empty changes of it
   * @param most rows of each table, or a block more
   * @return false where a table has one of them otherwise
   * @throws DataException if a weight is infinite or NaN, or a table is of another kind
   */
  public boolean readSame(List<EmbeddingTable> tables, List<TableChanges> into, long most) {
    for (int t = 0; t < tables.size(); t++) {
      if (!TableFile.readSame(tableFiles(t), tables.get(t), into.get(t), most)) {
        return false;
      }
    }
    return true;
  }

  private void readDense(Network network, boolean finite) {
    Path dense = chain.last().file(DENSE);
    VariablesFile.read(dense, network.variables());
    if (finite) {
      FiniteWeights.requireRead(dense, network.variables());
    }
  }

  private void readWeights(Network network, boolean finite) {
    readDense(network, finite);
    List<EmbeddingTable> tables = network.tables().tables();
    for (int s = 0; s < tables.size(); s++) {
      TableFile.read(tableFiles(s), tables.get(s), network.tables().shard(), finite);
    }
  }

  /** Names of the tables, in the order of their numbers. */
  public List<String> tables() {
    return encoder.schema().tables();
  }

  /** Numbers of the slots that use a table. The slot that owns the table comes first. */
  public List<Integer> slotsOf(int table) {
    List<Slot> slots = encoder.schema().slots();
    String name = tables().get(table);
    return IntStream.range(0, slots.size())
        .filter(slot -> slots.get(slot).table().equals(name))
        .boxed()
        .sorted(Comparator.comparing(slot -> slots.get(slot).shares()))
        .toList();
  }

  /**
   * The optimizer state of a new row of a table.
   *
   * @param table its number
   * @param width weights of the row
   * @param floats floats of optimizer state that rows have in the table's file
   * @throws DataException if the optimizer keeps another number of floats
   */
  public float[] initialState(int table, int width, int floats) {
    float[] state;
    try {
      state = rowRule(tables().get(table)).initialState(width);
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

  private RowRule rowRule(String table) {
    Json.Obj json = chain.last().json();
    Json.Obj tables = json.object("tables");
    Optimizer optimizer = TableOptionsJson.optimizer(tables, table);
    return TableOptionsJson.firstPart(tables)
        .map(first -> RowRule.withHead((int) json.integer(RunFacts.FIRST_WIDTH), first, optimizer))
        .orElse(RowRule.of(optimizer));
  }

  /** The files of table {@code table}, the oldest first. */
  public List<Path> tableFiles(int table) {
    List<Path> files = new ArrayList<>();
    for (Manifest part : chain.parts()) {
      for (TableShard shard : TableShard.allOf(part.shards())) {
        files.add(part.file(tableName(table, shard)));
      }
    }
    return files;
  }

  /**
   * Fills an empty table with one shard of the rows of table {@code slot}, whatever shards the
   * checkpoint's own files are. Under a row policy the table takes the history of all rows.
   *
   * @throws DataException if the checkpoint has a table of another kind
   */
  public void restore(int slot, TableShard shard, EmbeddingTable table) {
    TableFile.read(tableFiles(slot), table, shard);
    chain.requireUnchanged();
  }

  /**
   * Writes a full checkpoint made of the chain's full one and deltas: the bytes that the run would
   * have written for a full checkpoint at this step. Holds no table in memory.
   *
   * @param target a new folder
   * @throws DataException if something is there
   */
  public void compact(Path target) {
    reshard(target, 1);
  }

  /**
   * As {@link #compact}, but splits each table into {@code shards} files, each a {@link
   * TableShard}. The bytes depend only on the content of the tables and on {@code shards}, not on
   * how this checkpoint is split.
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

  /** Writes one shard of a table into a file. */
  @FunctionalInterface
  public interface TableWriting {
    void write(int slot, TableShard shard, Path file);
  }

  /** Writes a full checkpoint with the files of this one; {@code writing} writes the tables. */
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

  /** The file of a table: {@code tables/3.safetensors}, or its first shard: {@code 3.0}. */
  static String tableName(int table, TableShard shard) {
    String part = shard.count() == 1 ? "" : "." + shard.number();
    return "tables/" + table + part + ".safetensors";
  }

  /**
   * Checks that a run of this model and these settings would continue as this one stopped.
   *
   * @throws IllegalArgumentException if a setting differs
   */
  public void requireSame(ModelFactory factory, RunSettings options) {
    RunFacts.requireSame(chain.last().json(), folder(), factory, encoder.schema(), options);
  }

  /**
   * Checks that the folder still holds the checkpoint that was opened.
   *
   * @throws DataException if it holds another one or none
   */
  public void requireUnchanged() {
    chain.requireUnchanged();
  }
}
