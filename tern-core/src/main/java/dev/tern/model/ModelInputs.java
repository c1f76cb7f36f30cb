package dev.tern.model;

import dev.tern.base.Shape;
import dev.tern.data.Batch;
import dev.tern.embedding.BatchLookup;
import dev.tern.internal.memory.Memory;
import dev.tern.nn.BatchItems;
import dev.tern.nn.Features;
import dev.tern.nn.Model;
import dev.tern.nn.Pass;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.Ragged;
import dev.tern.tensor.RaggedVariable;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Memory for what a model reads of a batch: dense numbers, the vectors of its slots and the rows of
 * its sequences. It holds batches of one number of rows or fewer, and sequences up to its room.
 */
public final class ModelInputs implements AutoCloseable {
  private final Network network;
  private final Variable dense;
  private final List<Variable> parts = new ArrayList<>();
  private final Optional<Variable> within;
  private final Map<String, RaggedVariable> sequences = new LinkedHashMap<>();

  /** The sequences, to be walked over without garbage. */
  private final RaggedVariable[] inOrder;

  /** Of each sequence one of its slots, whose offsets it has. */
  private final List<Integer> slots = new ArrayList<>();

  private final List<MemorySegment> memory;

  /** For the offsets of a lane's sequences; as many as a lane needs. */
  private int[] offsets = {};

  /** Floats of a slot's vector, or 1 where slots have vectors of unequal widths. */
  private final int unit;

  /** In training, of a model with an item slot: the numbers and rates of the rows' items. */
  private Optional<ItemInputs> items = Optional.empty();

  private record ItemInputs(Variable numbers, Variable logRates) {}

  /**
   * Inputs of {@code batch} rows.
   *
   * @param rooms elements that each sequence of the network has room for, in all rows together
   */
  ModelInputs(Network network, int batch, List<Integer> rooms) {
    this.network = network;
    Device device = network.device();
    Model model = network.model();
    List<Integer> widths = network.slotWidths();
    unit = widths.stream().distinct().count() == 1 ? widths.getFirst() : 1;
    List<AutoCloseable> made = new ArrayList<>();
    try {
      dense =
          kept(made, Variable.zeros(device, "dense", Shape.of(batch, network.schema().denseDim())));
      int pooled = network.pooledSlots();
      for (Shape shape : network.partShapes(batch)) {
        parts.add(kept(made, Variable.zeros(device, "embedded." + parts.size(), shape)));
      }
      within =
          model.pairsWithin()
              ? Optional.of(kept(made, Variable.zeros(device, "within", Shape.of(batch, pooled))))
              : Optional.empty();
      network
          .sequences()
          .forEach((name, members) -> {
            int element = members.stream().mapToInt(widths::get).sum();
            Shape rows = Shape.of(rooms.get(slots.size()), element);
            String variable = "sequence." + name;
            sequences.put(name, kept(made, RaggedVariable.of(device, variable, batch, rows)));
            slots.add(members.getFirst());
          });
    } catch (RuntimeException | Error e) {
      closeAll(made);
      throw e;
    }
    inOrder = sequences.values().toArray(RaggedVariable[]::new);
    memory =
        Stream.of(
                parts.stream().map(Variable::memory),
                within.stream().map(Variable::memory),
                sequences.values().stream().map(RaggedVariable::memory))
            .flatMap(each -> each)
            .toList();
  }

  private static <T extends AutoCloseable> T kept(List<AutoCloseable> made, T one) {
    made.add(one);
    return one;
  }

  private static void closeAll(List<AutoCloseable> made) {
    for (AutoCloseable each : made) {
      switch (each) {
        case Variable variable -> variable.close();
        case RaggedVariable sequence -> sequence.close();
        default -> throw new AssertionError(each);
      }
    }
  }

  /** What the model takes, in expressions. */
  public Features features(Pass pass) {
    return features(pass, Optional.empty());
  }

  /**
   * What the model takes in training; {@link #countItems} fills what it knows of items.
   *
   * @param rewards {@link BatchItems#rewards}
   */
  public Features features(Pass pass, Tensor rewards) {
    if (network.itemRates().isEmpty()) {
      return features(pass);
    }
    Shape shape = Shape.of(rewards.shape().size(0) + network.sampledItems());
    Variable numbers = Variable.zeros(network.device(), "items.numbers", shape);
    Variable rates = Variable.zeros(network.device(), "items.rates", shape);
    items = Optional.of(new ItemInputs(numbers, rates));
    return features(pass, Optional.of(new BatchItems(numbers.tensor(), rates.tensor(), rewards)));
  }

  private Features features(Pass pass, Optional<BatchItems> ofItems) {
    Map<String, Ragged> rows = new LinkedHashMap<>();
    sequences.forEach((name, variable) -> rows.put(name, variable.ragged()));
    return new Features(
        dense.tensor(),
        parts.stream().map(Variable::tensor).toList(),
        network.pooledWidths(),
        within.map(Variable::tensor),
        rows,
        ofItems,
        pass);
  }

  /** The tensors that a lookup fills, in its order. */
  public List<Tensor> lookedUp() {
    return Stream.of(
            parts.stream().map(Variable::tensor),
            within.stream().map(Variable::tensor),
            sequences.values().stream().map(sequence -> sequence.ragged().values()))
        .flatMap(each -> each)
        .toList();
  }

  /**
   * The outputs of a computation in which {@link #gradients} finds what {@link BatchLookup#apply}
   * takes.
   *
   * @param gradients of the tensors of {@link #lookedUp}
   */
  public List<Tensor> gradientOutputs(List<Tensor> gradients) {
    if (sequences.isEmpty()) {
      return gradients;
    }
    // A table may have pooled slots and sequences: it reads the gradients of both from one tensor.
    List<Tensor> rows = new ArrayList<>();
    for (Tensor gradient : gradients) {
      rows.add(gradient.reshape(gradient.shape().elements() / unit, unit));
    }
    return List.of(Tensor.concat(0, rows));
  }

  /** The gradients among the outputs of {@code step}, from output {@code first} on. */
  public List<MemorySegment> gradients(Computation step, int first) {
    List<MemorySegment> found = new ArrayList<>();
    if (sequences.isEmpty()) {
      for (int p = 0; p < memory.size(); p++) {
        found.add(step.output(first + p));
      }
      return found;
    }
    MemorySegment all = step.output(first);
    long at = 0;
    for (MemorySegment part : memory) {
      found.add(all.asSlice(at, part.byteSize()));
      at += part.byteSize();
    }
    return found;
  }

  /** Copies the dense numbers of {@code batch}. */
  public void copyDense(Batch batch) {
    copyDense(batch, 0, batch.size());
  }

  /** Copies the dense numbers of rows {@code [from, to)} of {@code batch}. */
  public void copyDense(Batch batch, int from, int to) {
    int width = network.schema().denseDim();
    long address = dense.memory().address();
    Memory.copyIn(batch.dense(), from * width, address, (to - from) * width);
  }

  /**
   * Counts the items of a batch, once for each batch trained on, if the model has any.
   *
   * @param rows of the batch; those behind them are drawn items
   */
  public void countItems(Batch batch, int rows) {
    if (items.isPresent()) {
      long numbers = items.get().numbers().memory().address();
      long rates = items.get().logRates().memory().address();
      network.itemRates().orElseThrow().count(batch, rows, numbers, rates);
    }
  }

  /**
   * Looks the rows of {@code batch} up.
   *
   * @param insert whether ids without a row get one (training)
   */
  public void find(BatchLookup lookup, Batch batch, boolean insert) {
    for (int q = 0; q < inOrder.length; q++) {
      inOrder[q].setOffsets(batch.offsets(slots.get(q)), batch.size());
    }
    lookup.find(network.device().workers(), batch, insert, memory);
  }

  /**
   * Reads the rows of a lane of a batch that {@code lookup} has found in lanes.
   *
   * @param from the first row of the lane, which has {@code rows} rows
   */
  public void poolLane(BatchLookup lookup, Batch batch, int lane, int from, int rows) {
    for (int q = 0; q < inOrder.length; q++) {
      if (offsets.length <= rows) {
        offsets = new int[rows + 1];
      }
      int[] all = batch.offsets(slots.get(q));
      for (int i = 0; i <= rows; i++) {
        offsets[i] = all[from + i] - all[from];
      }
      inOrder[q].setOffsets(offsets, rows);
    }
    lookup.poolLane(network.device().workers(), lane, memory);
  }

  /** Dense numbers, {@code [B, F]}. */
  public Variable dense() {
    return dense;
  }

  /** What a lookup fills for pooled slots: each part of rows, then pair sums if there are any. */
  public List<Variable> pooled() {
    return Stream.concat(parts.stream(), within.stream()).toList();
  }

  /** The memory that a lookup fills, in the order of {@link #lookedUp}. */
  public List<MemorySegment> memory() {
    return memory;
  }

  /** Bytes that a lookup fills. */
  public long lookedUpBytes() {
    return memory.stream().mapToLong(MemorySegment::byteSize).sum();
  }

  @Override
  public void close() {
    dense.close();
    parts.forEach(Variable::close);
    within.ifPresent(Variable::close);
    sequences.values().forEach(RaggedVariable::close);
    items.ifPresent(each -> {
      each.numbers().close();
      each.logRates().close();
    });
  }
}
