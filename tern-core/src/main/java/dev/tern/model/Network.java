package dev.tern.model;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.data.Schema;
import dev.tern.embedding.BatchLookup;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.FileTier;
import dev.tern.embedding.SlotTables;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.RowFormat;
import dev.tern.embedding.config.RowLimits;
import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.RowRule;
import dev.tern.embedding.config.TableConfig;
import dev.tern.embedding.config.UnknownRow;
import dev.tern.internal.memory.Allocator;
import dev.tern.internal.runtime.DeviceAccess;
import dev.tern.nn.Parameters;
import dev.tern.optim.Optimizer;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** A model on a device, with its embedding tables. */
public final class Network implements AutoCloseable {
  /**
   * How tables are made.
   *
   * @param optimizer update rule of the rows; its state lies beside them
   * @param firstPart that of the first of the parts that the model splits rows into, where it is
   *     another one
   * @param initRange initial weights are uniform in [-initRange, initRange)
   * @param l2 share of a row's weights added to its gradient
   * @param combiner how several ids of one slot become one vector
   * @param unknown what an id without a row reads as
   * @param storage how weights of rows lie in memory and in checkpoints: F32, F16 or BF16
   * @param rows which ids have rows, in tables that have no rule of their own
   * @param rowsOf such rules by the names of their tables
   * @param limits what updates of rows must keep to
   * @param format how rows lie in memory
   * @param tier where rows go that memory has no room for; none where all are to be in memory
   */
  public record Tables(
      Optimizer optimizer,
      Optional<Optimizer> firstPart,
      float initRange,
      float l2,
      Combiner combiner,
      UnknownRow unknown,
      DType storage,
      RowPolicy rows,
      Map<String, RowPolicy> rowsOf,
      RowLimits limits,
      RowFormat format,
      Optional<FileTier> tier) {
    public Tables {
      rowsOf = Map.copyOf(rowsOf);
    }

    /**
     * Sum pooling, a deviation of 0.01, zeros for unknown ids, F32, all rows, no limits, in memory.
     */
    public static Tables of(Optimizer optimizer) {
      return new Tables(
          optimizer,
          Optional.empty(),
          0.0173f,
          0,
          Combiner.SUM,
          UnknownRow.ZEROS,
          DType.F32,
          RowPolicy.ALL,
          Map.of(),
          RowLimits.NONE,
          RowFormat.STORED,
          Optional.empty());
    }

    private void requireNames(List<String> tables) {
      for (String name : rowsOf.keySet()) {
        if (!tables.contains(name)) {
          throw new IllegalArgumentException(
              "network: got rows of table %s, expected names of tables, which are %s"
                  .formatted(name, String.join(", ", tables)));
        }
      }
    }
  }

  private final Device device;
  private final Schema schema;
  private final Model model;
  private final List<Variable> parameters;
  private final List<Variable> statistics;
  private final SlotTables tables;

  private Network(
      Device device, Schema schema, Model model, Parameters parameters, SlotTables tables) {
    this.device = device;
    this.schema = schema;
    this.model = model;
    this.parameters = List.copyOf(parameters.all());
    this.statistics = List.copyOf(parameters.statistics());
    this.tables = tables;
  }

  /** Makes the model with initial values of {@code seed}, and empty tables. */
  public static Network create(
      Device device, Schema schema, Model.Factory factory, Tables options, long seed) {
    Parameters parameters = new Parameters(device, seed);
    Model model = factory.create(schema, parameters);
    RowRule rule = rule(model, options);
    options.requireNames(schema.tables());
    List<EmbeddingTable> tables = new ArrayList<>();
    try {
      for (String table : schema.tables()) {
        TableConfig config =
            new TableConfig(
                table,
                tables.size(),
                model.embeddingWidth(),
                rule,
                options.initRange(),
                seed,
                options.l2(),
                options.unknown(),
                options.storage(),
                options.rowsOf().getOrDefault(table, options.rows()),
                options.limits(),
                options.format());
        tables.add(newTable(config, options.tier(), DeviceAccess.allocator(device)));
      }
    } catch (RuntimeException | Error e) {
      tables.forEach(EmbeddingTable::close);
      throw e;
    }
    List<String> names = schema.tables();
    List<Integer> ofSlots =
        schema.slots().stream().map(slot -> names.indexOf(slot.table())).toList();
    SlotTables slots = new SlotTables(tables, ofSlots, options.combiner());
    return new Network(device, schema, model, parameters, slots);
  }

  private static RowRule rule(Model model, Tables options) {
    if (options.firstPart().isEmpty()) {
      return RowRule.of(options.optimizer());
    }
    List<Integer> parts = model.embeddingParts();
    if (parts.size() < 2) {
      throw new IllegalArgumentException(
          "network: got an optimizer for the first part of rows, but %s has rows of one part, of %d weights; leave it out"
              .formatted(model.getClass().getSimpleName(), model.embeddingWidth()));
    }
    return RowRule.withHead(parts.getFirst(), options.firstPart().get(), options.optimizer());
  }

  private static EmbeddingTable newTable(
      TableConfig config, Optional<FileTier> tier, Allocator allocator) {
    return tier.isPresent()
        ? EmbeddingTable.create(config, tier.get(), allocator)
        : EmbeddingTable.create(config, allocator);
  }

  public Device device() {
    return device;
  }

  /** What the model's data hold. */
  public Schema schema() {
    return schema;
  }

  public Model model() {
    return model;
  }

  /** Dense parameters, in the order in which the model made them. */
  public List<Variable> parameters() {
    return parameters;
  }

  /** What layers keep without learning it, such as moving averages. */
  public List<Variable> statistics() {
    return statistics;
  }

  /** All that scoring needs beside the tables: parameters, then statistics. */
  public List<Variable> variables() {
    return Stream.concat(parameters.stream(), statistics.stream()).toList();
  }

  public SlotTables tables() {
    return tables;
  }

  /** Room for what {@link Features} gives of {@code batch} rows: {@code [B, S, D]} per part. */
  public List<Variable> newEmbedded(int batch) {
    List<Variable> embedded = new ArrayList<>();
    for (int width : model.embeddingParts()) {
      Shape shape = Shape.of(batch, schema.slotCount(), width);
      embedded.add(Variable.zeros(device, "embedded." + embedded.size(), shape));
    }
    return embedded;
  }

  /** Looks batches up in the tables, in the parts that the model asks for. */
  public BatchLookup newLookup() {
    return tables.newLookup(model.embeddingParts());
  }

  /**
   * The model's logits, one for each row.
   *
   * @throws IllegalArgumentException if the model gives another shape
   */
  public Tensor logits(Features features) {
    Tensor logits = model.logits(features);
    Shape expected = Shape.of(features.dense().shape().size(0));
    if (!logits.shape().equals(expected)) {
      throw new IllegalArgumentException(
          model.getClass().getName()
              + ": got logits "
              + logits.shape()
              + ", expected one for each row, "
              + expected
              + "; end with reshape(-1)");
    }
    return logits;
  }

  /** Frees tables and parameters. */
  @Override
  public void close() {
    tables.close();
    variables().forEach(Variable::close);
  }
}
