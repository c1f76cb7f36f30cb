package dev.tern.train;

import dev.tern.base.Shape;
import dev.tern.data.Batch;
import dev.tern.internal.memory.Memory;
import dev.tern.model.ModelInputs;
import dev.tern.model.Network;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What the lanes of a batch have row by row, the rows of all lanes one after another: logits, the
 * gradients of what was looked up, and in a model of pairs within slots, whose gradients need them,
 * the pooled vectors. Lanes come one after another; {@link #tasks} tasks copy one.
 */
final class BatchParts implements AutoCloseable {
  /** Bytes of a task. */
  private static final long TASK = 1 << 18;

  /**
   * A part: what it is of all lanes, and how much a row has.
   *
   * @param of all lanes
   * @param unitBytes bytes of a row, or of an element of a sequence
   * @param sequence the slot whose elements it has, or -1 for one with rows
   */
  private record Part(MemorySegment of, long unitBytes, int sequence) {
    /** Units before row {@code row} of a batch. */
    long units(Batch batch, int row) {
      return sequence < 0 ? row : batch.offsets(sequence)[row];
    }
  }

  private final List<Variable> memory = new ArrayList<>();
  private final List<Part> parts = new ArrayList<>();
  private final List<MemorySegment> gradients = new ArrayList<>();
  private final Optional<MemorySegment> vectors;
  private final MemorySegment logits;
  private final int logitCount;

  /** Among what is looked up, the last part of rows. */
  private final int lastPart;

  // Of each part of the lane at hand: where it lies, where it goes, and how many bytes there are
  // in the parts before it, then in all.
  private final long[] sources;
  private final long[] targets;
  private final long[] before;

  /** For batches in {@code lanes}, of which {@code inputs} has one of {@code rows} rows. */
  BatchParts(Network network, Lanes lanes, ModelInputs inputs, int rows) {
    List<Integer> sequences = network.sequences().values().stream().map(List::getFirst).toList();
    List<Tensor> lookedUp = inputs.lookedUp();
    int pooled = lookedUp.size() - sequences.size();
    lastPart = pooled - (network.model().pairsWithin() ? 2 : 1);
    long[] unitBytes = new long[lookedUp.size()];
    long[] bytes = new long[lookedUp.size()];
    long all = 0;
    for (int p = 0; p < bytes.length; p++) {
      Shape shape = lookedUp.get(p).shape();
      int units = p < pooled ? rows : shape.size(0);
      unitBytes[p] = 4L * (shape.elements() / Math.max(1, units));
      long most = p < pooled ? lanes.batch() : (long) lanes.count() * units;
      bytes[p] = Math.multiplyExact(unitBytes[p], most);
      all = Math.addExact(all, bytes[p]);
    }
    try {
      // One block: a table reads the gradients of pooled slots and of sequences from one tensor.
      MemorySegment block = room(network, "gradients of lanes", all);
      long at = 0;
      for (int p = 0; p < bytes.length; p++) {
        gradients.add(block.asSlice(at, bytes[p]));
        int sequence = p < pooled ? -1 : sequences.get(p - pooled);
        parts.add(new Part(gradients.getLast(), unitBytes[p], sequence));
        at += bytes[p];
      }
      long rowBytes = 4L * network.tasks().count();
      logitCount = Math.multiplyExact(lanes.batch(), network.tasks().count());
      logits = room(network, "logits of lanes", lanes.batch() * rowBytes);
      parts.add(new Part(logits, rowBytes, -1));
      vectors =
          network.model().pairsWithin()
              ? Optional.of(room(network, "vectors of lanes", bytes[lastPart]))
              : Optional.empty();
      vectors.ifPresent(of -> parts.add(new Part(of, unitBytes[lastPart], -1)));
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
    sources = new long[parts.size()];
    targets = new long[parts.size()];
    before = new long[parts.size() + 1];
  }

  private MemorySegment room(Network network, String name, long bytes) {
    if (bytes / 4 > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "%s: got %,d floats in a batch, expected at most %,d; make batches smaller"
              .formatted(name, bytes / 4, Integer.MAX_VALUE));
    }
    memory.add(Variable.zeros(network.device(), name, Shape.of((int) (bytes / 4))));
    return memory.getLast().memory();
  }

  /** The gradients of all rows, as a lookup takes them. */
  List<MemorySegment> gradients() {
    return gradients;
  }

  /** The pooled vectors of all rows, of a model of pairs within slots. */
  Optional<MemorySegment> vectors() {
    return vectors;
  }

  /** Copies the logits of all rows to {@code target[at ..]}. */
  void copyLogits(float[] target, int at) {
    Memory.copyOut(logits.address(), target, at, logitCount);
  }

  /** Takes a lane that was computed, which begins with row {@code from} of {@code batch}. */
  void next(LaneStep lane, Batch batch, int from) {
    for (int p = 0; p < sources.length; p++) {
      Part part = parts.get(p);
      long first = part.units(batch, from);
      long units = part.units(batch, from + lane.rows()) - first;
      sources[p] = source(lane, p).address();
      targets[p] = part.of().address() + first * part.unitBytes();
      before[p + 1] = before[p] + units * part.unitBytes();
    }
  }

  /** Where part {@code p} of a lane lies. */
  private MemorySegment source(LaneStep lane, int p) {
    if (p < gradients.size()) {
      return lane.gradients().get(p);
    }
    return p == gradients.size() ? lane.logits() : lane.inputs().memory().get(lastPart);
  }

  /** Tasks that copy the lane at hand. */
  int tasks() {
    return (int) Math.ceilDiv(before[sources.length], TASK);
  }

  /** Copies a part of the lane; tasks may run side by side. */
  void run(int task) {
    long from = task * TASK;
    long to = Math.min(before[sources.length], from + TASK);
    for (int p = 0; p < sources.length; p++) {
      long begin = Math.max(from, before[p]);
      long bytes = Math.min(to, before[p + 1]) - begin;
      if (bytes > 0) {
        long offset = begin - before[p];
        Memory.copy(sources[p] + offset, targets[p] + offset, bytes);
      }
    }
  }

  /** Bytes of all. */
  long bytes() {
    return parts.stream().mapToLong(part -> part.of().byteSize()).sum();
  }

  @Override
  public void close() {
    memory.forEach(Variable::close);
  }
}
