package dev.tern.model;

import dev.tern.base.Shape;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.embedding.BatchLookup;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.FileTier;
import dev.tern.embedding.SlotTables;
import dev.tern.embedding.config.Admission;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.Eviction;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.RowRule;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.TableOptions;
import dev.tern.embedding.config.VectorSource;
import dev.tern.nn.Features;
import dev.tern.nn.Model;
import dev.tern.nn.Parameters;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A model on a device: its parameters, its layers' statistics, and the embedding tables that it
 * looks up.
 */
public final class Network implements AutoCloseable {
  private final Device device;
  private final Schema schema;
  private final Model model;
  private final List<Variable> parameters;
  private final List<Variable> variables;
  private final TaskLabels tasks;
  private final SlotTables tables;

  /** The sequences that the model reads: their slots. */
  private final Map<String, List<Integer>> sequences;

  /** For each slot the width of the last part of its rows. */
  private final List<Integer> slotWidths;

  private final Optional<ItemRates> itemRates;
  private final Optional<ItemPool> itemPool;

  private Network(
      Device device, Schema schema, Parameters parameters, SlotTables tables, Modelled modelled) {
    this.device = device;
    this.schema = schema;
    model = modelled.model();
    tasks = modelled.tasks();
    this.parameters = List.copyOf(parameters.all());
    variables = Stream.concat(this.parameters.stream(), parameters.statistics().stream()).toList();
    this.tables = tables;
    itemRates = modelled.rates();
    itemPool = modelled.pool();
    sequences = model.readsSequences() ? schema.sequences() : Map.of();
    slotWidths = schema.slots().stream().map(slot -> lastPart(model, slot.table())).toList();
  }

  /** A model, what it predicts, and what training knows of items if it has any. */
  private record Modelled(
      Model model, TaskLabels tasks, Optional<ItemRates> rates, Optional<ItemPool> pool) {
    static Modelled of(Model model, TaskLabels tasks, Schema schema, Parameters parameters) {
      if (model.itemSlot().isEmpty()) {
        return new Modelled(model, tasks, Optional.empty(), Optional.empty());
      }
      String slot = model.itemSlot().get();
      // The pool comes last, so that statistics stand in their usual order without it.
      Optional<ItemPool> pool =
          model instanceof RetrievalModel towers && towers.sampled().negatives() > 0
              ? Optional.of(
                  ItemPool.of(
                      parameters,
                      schema,
                      PartColumns.ofItems(schema, towers.itemColumns()),
                      slot,
                      towers.sampled()))
              : Optional.empty();
      ItemRates rates = ItemRates.of(parameters, schema, slot, pool);
      return new Modelled(model, tasks, Optional.of(rates), pool);
    }

    /** Drawn items would count as met, where tables count what they meet. */
    void requireRowsForGood(Schema schema, List<EmbeddingTable> tables) {
      if (pool.isEmpty() || !(model instanceof RetrievalModel towers)) {
        return;
      }
      for (Slot slot : schema.slots()) {
        RowPolicy rows = tables.get(schema.tables().indexOf(slot.table())).config().rows();
        if (towers.itemColumns().contains(slot.name())
            && !(rows.admission() instanceof Admission.Always
                && rows.eviction() instanceof Eviction.Never)) {
          throw new IllegalArgumentException(
              "network: got %d drawn negatives and the policy %s for rows of table %s, expected rows for all ids, for good, as drawn items would count as met; leave the policy of this table out, or model.negatives"
                  .formatted(pool.get().negatives(), rows, slot.table()));
        }
      }
    }
  }

  /** Width of the last part of the rows of a table. */
  private static int lastPart(Model model, String table) {
    List<Integer> parts = model.embeddingParts();
    return parts.getLast() + model.embeddingWidth(table) - model.embeddingWidth();
  }

  /**
   * Makes a model with initial values drawn by {@code seed}, and empty tables.
   *
   * @throws IllegalArgumentException if the options name a table that the schema does not have, or
   *     an optimizer of the first part for a model with rows of one part
   */
  public static Network create(
      Device device, Schema schema, ModelFactory factory, TableOptions options, long seed) {
    return create(device, schema, factory, options, Optional.empty(), seed);
  }

  /**
   * Makes a model whose tables share the memory of {@code tier}, if there is one, and keep rows
   * without room in its files.
   */
  public static Network create(
      Device device,
      Schema schema,
      ModelFactory factory,
      TableOptions options,
      Optional<FileTier> tier,
      long seed) {
    Parameters parameters = new Parameters(device, seed);
    TaskLabels tasks = TaskLabels.of(schema, factory.tasks(schema));
    Model model = factory.create(schema, parameters);
    requireSequences(model, schema);
    Modelled modelled = Modelled.of(model, tasks, schema, parameters);
    TableOptions told = withFirstPart(model, options);
    List<String> names = schema.tables();
    Set<String> named = new TreeSet<>(options.rowsOf().keySet());
    named.addAll(options.frozenOf());
    named.addAll(options.own().keySet());
    requireNames(names, named);
    List<EmbeddingTable> tables = new ArrayList<>();
    try {
      for (String name : names) {
        int width = width(model, name);
        TableConfig config = new TableConfig(name, tables.size(), width, seed, told);
        tables.add(
            tier.isPresent()
                ? EmbeddingTable.create(config, tier.get(), device)
                : EmbeddingTable.create(config, device));
      }
      modelled.requireRowsForGood(schema, tables);
    } catch (RuntimeException | Error e) {
      tables.forEach(EmbeddingTable::close);
      throw e;
    }
    List<Integer> ofSlots =
        schema.slots().stream().map(slot -> names.indexOf(slot.table())).toList();
    SlotTables slots = new SlotTables(tables, ofSlots, combiners(model, schema, options));
    return new Network(device, schema, parameters, slots, modelled);
  }

  private static int width(Model model, String table) {
    int width = model.embeddingWidth(table);
    if (lastPart(model, table) < 1 || model.pairsWithin() && width != model.embeddingWidth()) {
      throw new IllegalArgumentException(
          "network: got rows of %d floats in table %s for %s, expected %s"
              .formatted(
                  width,
                  table,
                  model.getClass().getSimpleName(),
                  model.pairsWithin()
                      ? model.embeddingWidth() + " as in all tables of a model with pairs in slots"
                      : "the parts "
                          + model.embeddingParts()
                          + " with 1 float or more in the last"));
    }
    return width;
  }

  private static List<Combiner> combiners(Model model, Schema schema, TableOptions options) {
    for (String name : options.combinersOf().keySet()) {
      int slot = schema.slotNames().indexOf(name);
      boolean read =
          slot >= 0 && schema.slots().get(slot).sequence().isPresent() && model.readsSequences();
      boolean number = slot >= 0 && schema.slots().get(slot).number();
      if (slot < 0 || read || number) {
        throw new IllegalArgumentException(
            "network: got a combiner for slot %s, %s; leave it out"
                .formatted(
                    name,
                    slot < 0
                        ? "expected one of " + schema.slotNames()
                        : number
                            ? "whose ids are those of one number"
                            : "whose ids "
                                + model.getClass().getSimpleName()
                                + " reads one by one"));
      }
    }
    return schema.slots().stream()
        .map(slot ->
            slot.number()
                ? Combiner.SUM
                : options.combinersOf().getOrDefault(slot.name(), options.combiner()))
        .toList();
  }

  private static void requireSequences(Model model, Schema schema) {
    if (!model.readsSequences()) {
      return;
    }
    if (model.embeddingParts().size() > 1 || model.pairsWithin()) {
      throw new IllegalArgumentException(
          "network: got %s, which reads sequences and has rows of several parts or pairs within slots, expected one of these"
              .formatted(model.getClass().getSimpleName()));
    }
    for (Slot slot : schema.slots()) {
      if (slot.sequence().isPresent() && slot.weighted()) {
        throw new IllegalArgumentException(
            "network: got weights in slot %s, which is read as a sequence, expected none; leave its values out"
                .formatted(slot.name()));
      }
    }
  }

  private static TableOptions withFirstPart(Model model, TableOptions options) {
    if (options.firstPart().isEmpty()) {
      return options;
    }
    List<Integer> parts = model.embeddingParts();
    if (parts.size() < 2) {
      throw new IllegalArgumentException(
          "network: got an optimizer for the first part of rows, but %s has rows of one part, of %d weights; leave it out"
              .formatted(model.getClass().getSimpleName(), model.embeddingWidth()));
    }
    Optimizer first = options.firstPart().get();
    return options.rule(RowRule.withHead(parts.getFirst(), first, options.optimizer()));
  }

  private static void requireNames(List<String> tables, Set<String> named) {
    for (String name : named) {
      if (!tables.contains(name)) {
        throw new IllegalArgumentException(
            "network: got rows of table %s, expected names of tables, which are %s"
                .formatted(name, String.join(", ", tables)));
      }
    }
  }

  /**
   * The same model again with variables of its own, of any content, so that two states of it can
   * score at once.
   *
   * @param factory made this model
   * @param view this network's tables, perhaps {@link SlotTables#beneath} changes
   */
  public Network beside(ModelFactory factory, SlotTables view) {
    Parameters again = new Parameters(device, 0);
    try {
      Model same = factory.create(schema, again);
      Modelled modelled = Modelled.of(same, tasks, schema, again);
      return new Network(device, schema, again, view, modelled);
    } catch (RuntimeException | Error e) {
      again.all().forEach(Variable::close);
      again.statistics().forEach(Variable::close);
      throw e;
    }
  }

  public Device device() {
    return device;
  }

  /** The encoded rows that the model takes. */
  public Schema schema() {
    return schema;
  }

  public Model model() {
    return model;
  }

  /** What the model's logits predict. */
  public TaskLabels tasks() {
    return tasks;
  }

  /** Dense parameters, in the order in which the model made them. */
  public List<Variable> parameters() {
    return parameters;
  }

  /**
   * Everything except the tables that scoring reads: parameters, then values that layers keep
   * without learning them, such as moving averages.
   */
  public List<Variable> variables() {
    return variables;
  }

  public SlotTables tables() {
    return tables;
  }

  /**
   * How wide vectors that {@link #begin} takes may be: as the last part of a row of the table,
   * which is the vector that hidden layers and pairs read, or as a whole row. A row of FM, DEEPFM
   * and WDL has its linear weight in front, one of NEUMF the vector of the product.
   *
   * @throws IllegalArgumentException if there is no such table
   */
  public List<Integer> vectorWidths(String table) {
    requireNames(schema.tables(), Set.of(table));
    int last = lastPart(model, table);
    int whole = model.embeddingWidth(table);
    return last == whole ? List.of(last) : List.of(last, whole);
  }

  /** For each slot the width of its vector, the last part of its table's rows. */
  public List<Integer> slotWidths() {
    return slotWidths;
  }

  /** The same for pooled slots, in order. */
  List<Integer> pooledWidths() {
    List<Integer> pooled = new ArrayList<>(slotWidths);
    sequences.values().stream()
        .flatMap(List::stream)
        .sorted(Comparator.reverseOrder())
        .forEach(slot -> pooled.remove((int) slot));
    return pooled;
  }

  /** The shapes of what a model reads of pooled slots in {@code batch} rows, part by part. */
  List<Shape> partShapes(int batch) {
    List<Integer> widths = pooledWidths();
    List<Shape> shapes = new ArrayList<>();
    List<Integer> parts = model.embeddingParts();
    for (int part : parts.subList(0, parts.size() - 1)) {
      shapes.add(Shape.of(batch, widths.size(), part));
    }
    boolean unequal = widths.stream().distinct().count() > 1;
    int last = widths.isEmpty() ? parts.getLast() : widths.getFirst();
    shapes.add(
        unequal
            ? Shape.of(batch, widths.stream().mapToInt(Integer::intValue).sum())
            : Shape.of(batch, widths.size(), last));
    return shapes;
  }

  /**
   * Gives a table without rows vectors by id, such as those that were trained elsewhere; {@link
   * dev.tern.data.encode.ValueIds} has the ids of values. Where they are narrower than rows, the
   * parts in front begin as in any new row. Call it before the first step: {@code
   * trainer.network().begin("item", 16, vectors)}.
   *
   * @param width numbers of a vector, one of {@link #vectorWidths(String)}
   * @throws IllegalArgumentException if there is no such table, and as {@link EmbeddingTable#begin}
   * @throws IllegalStateException if the table has rows
   */
  public void begin(String table, int width, VectorSource vectors) {
    if (!vectorWidths(table).contains(width)) {
      throw new IllegalArgumentException(
          "network: got vectors of %d numbers for table %s, expected %s"
              .formatted(width, table, vectorWidths(table)));
    }
    int rows = model.embeddingWidth(table);
    VectorSource own = tables.shard().of(vectors, width);
    tables.tables().get(schema.tables().indexOf(table)).begin(rows - width, width, own);
  }

  /** The sequences that the model reads by name, each with its slots; none if it pools all. */
  public Map<String, List<Integer>> sequences() {
    return sequences;
  }

  /** Slots that are pooled, {@code S}. */
  int pooledSlots() {
    return pooledWidths().size();
  }

  /** What training knows of items, for a model with an {@link Model#itemSlot}. */
  Optional<ItemRates> itemRates() {
    return itemRates;
  }

  /**
   * Forgets how often items occurred, for a model with an {@link Model#itemSlot}: where its ids
   * mean something else than before.
   *
   * @return whether there was anything to forget
   */
  public boolean forgetItems() {
    itemRates.ifPresent(ItemRates::clear);
    forgetItemPool();
    return itemRates.isPresent();
  }

  /**
   * Forgets the items that negatives are drawn from, {@link RetrievalModel#sampled}: where ids of
   * the item's columns mean something else than before.
   *
   * @return whether there was anything to forget
   */
  public boolean forgetItemPool() {
    itemPool.ifPresent(ItemPool::clear);
    return itemPool.isPresent();
  }

  /** Items that are drawn for each batch in training: {@link RetrievalModel#sampled}. */
  public int sampledItems() {
    return itemPool.map(ItemPool::negatives).orElse(0);
  }

  /**
   * Lets {@code to} have the rows of an encoded batch, then rows with the items that are drawn for
   * it. What is drawn depends on the batches that were counted before it, {@link
   * ModelInputs#countItems}; for the first one on its own items.
   *
   * @param seed of the draw
   * @throws IllegalStateException if the model has no {@link #sampledItems}
   */
  public void sampleItems(Batch batch, Batch to, long seed) {
    ItemPool pool =
        itemPool.orElseThrow(() ->
            new IllegalStateException(
                "network: got a call to draw items for a model without sampled ones"));
    if (pool.size() == 0) {
      itemRates.orElseThrow().addItems(batch, batch.size());
    }
    to.clear();
    to.appendRows(batch, 0, batch.size());
    pool.draw(to, seed);
  }

  /** Memory for what the model reads of {@code batch} rows, without sequences. */
  public ModelInputs newInputs(int batch) {
    return newInputs(batch, sequences.keySet().stream().map(_ -> 0).toList());
  }

  /**
   * Memory for what the model reads of {@code batch} rows.
   *
   * @param rooms elements that each of {@link #sequences} has room for, in all rows together
   */
  public ModelInputs newInputs(int batch, List<Integer> rooms) {
    return new ModelInputs(this, batch, rooms);
  }

  /** The elements of each of {@link #sequences} in all rows of {@code batch}. */
  public List<Integer> elements(Batch batch) {
    return elements(batch, 0, batch.size());
  }

  /** The elements of each of {@link #sequences} in rows {@code [from, to)} of {@code batch}. */
  public List<Integer> elements(Batch batch, int from, int to) {
    if (sequences.isEmpty()) {
      return List.of(); // A row that is scored makes no garbage.
    }
    return sequences.values().stream()
        .map(slots -> batch.offsets(slots.getFirst()))
        .map(offsets -> offsets[to] - offsets[from])
        .toList();
  }

  /** A new lookup of batches in the tables, which fills what {@link #newInputs} made. */
  public BatchLookup newLookup() {
    List<Integer> parts = model.embeddingParts();
    return model.pairsWithin()
        ? tables.newPairLookup(parts)
        : tables.newMixedLookup(
            parts.subList(0, parts.size() - 1), List.copyOf(sequences.values()));
  }

  /**
   * The model's logits: {@code [B]}, or {@code [B, K]} of {@code K} tasks. In scoring they hold for
   * data with all negative rows, {@link Task#negativeRate}. Those of classes are log-odds of each
   * against the others, {@link Loss.OfClass}.
   *
   * @throws IllegalArgumentException if the model gives another shape
   */
  public Tensor logits(Features features) {
    Tensor logits = model.logits(features);
    int rows = features.batch();
    Shape expected = tasks.count() == 1 ? Shape.of(rows) : Shape.of(rows, tasks.count());
    if (!logits.shape().equals(expected)) {
      throw new IllegalArgumentException(
          tasks.count() == 1
              ? "%s: got logits %s, expected one for each row, %s; end with reshape(-1)"
                  .formatted(model.getClass().getName(), logits.shape(), expected)
              : "%s: got logits %s, expected one for each row and label, %s; join them with concat(1, ...), or pick labels with ModelFactory.withTasks"
                  .formatted(model.getClass().getName(), logits.shape(), expected));
    }
    Optional<Tensor> offsets = features.pass().isTraining() ? Optional.empty() : tasks.offsets();
    Tensor odds = tasks.classLogits().against(logits);
    return offsets.map(odds::add).orElse(odds);
  }

  /** Frees tables and parameters. */
  @Override
  public void close() {
    tables.close();
    variables.forEach(Variable::close);
  }
}
