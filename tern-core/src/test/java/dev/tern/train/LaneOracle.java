package dev.tern.train;

import dev.tern.base.DType;
import dev.tern.base.Shape;
import dev.tern.checkpoint.CheckpointWriter;
import dev.tern.checkpoint.RunState;
import dev.tern.data.Batch;
import dev.tern.data.Slot;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.embedding.Bags;
import dev.tern.embedding.BatchLookup;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.Lookup;
import dev.tern.embedding.config.Combiner;
import dev.tern.embedding.config.TableOptions;
import dev.tern.internal.ir.Pointwise;
import dev.tern.internal.memory.Memory;
import dev.tern.internal.table.index.Hashing;
import dev.tern.model.ModelFactory;
import dev.tern.model.ModelInputs;
import dev.tern.model.Network;
import dev.tern.model.Task;
import dev.tern.model.TaskLabels;
import dev.tern.nn.Pass;
import dev.tern.tensor.Computation;
import dev.tern.tensor.Device;
import dev.tern.tensor.Tensor;
import dev.tern.tensor.Variable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Training in lanes, plainly: each lane is a batch of its own in memory of its own, gradients of
 * rows are added up position by position in maps, and sums of lanes by a recursion over the tree.
 * It shares with a trainer only what computes one batch: forward and backward pass, tables, and the
 * equations of the dense optimizer.
 */
final class LaneOracle implements AutoCloseable {
  private final Device device;
  private final TrainOptions options;
  private final Network network;
  private final DenseOptimizer optimizer;
  private final BatchLookup lookup;
  private final CheckpointWriter writer;
  private final List<Variable> sums = new ArrayList<>();
  private final Computation update;
  private final List<Lookup> found = new ArrayList<>();
  private final Map<List<Integer>, Program> programs = new LinkedHashMap<>();

  /** Of each table and id of the batch, the first id that has the same row. */
  private final List<Map<Long, Long>> firsts = new ArrayList<>();

  LaneOracle(Device device, FeatureEncoder encoder, ModelFactory factory, TrainOptions options) {
    this.device = device;
    this.options = options;
    TableOptions tables = options.tables().knownOnly(encoder.tablesOfKnown());
    network = Network.create(device, encoder.schema(), factory, tables, options.seed());
    optimizer = new DenseOptimizer(device, options, network.parameters());
    lookup = network.newLookup();
    writer = new CheckpointWriter(network, optimizer.state(), factory, encoder, options);
    optimizer
        .parameters()
        .forEach(parameter -> sums.add(Variable.zeros(device, "sum", parameter.shape())));
    update =
        Computation.of(
            device, List.of(), optimizer.updates(sums.stream().map(Variable::tensor).toList()));
    network.tables().tables().forEach(_ -> found.add(new Lookup()));
  }

  /** What a lane comes to. */
  private static final class Lane {
    final int from;
    final Batch rows;
    float[] loss = {};
    float[] logits = {};
    final List<float[]> dense = new ArrayList<>();
    final Map<Variable, float[]> statistics = new LinkedHashMap<>();

    /** Of each table the summed gradient of each id. */
    final List<Map<Long, float[]>> ofIds = new ArrayList<>();

    Lane(Batch batch, int from, int to) {
      this.from = from;
      rows = new Batch(batch.schema(), to - from);
      rows.appendRows(batch, from, to);
    }

    float[] weighted(float[] values, int batch) {
      float share = (float) ((double) rows.size() / batch);
      float[] part = new float[values.length];
      for (int i = 0; i < part.length; i++) {
        part[i] = values[i] * share;
      }
      return part;
    }
  }

  /** One step; returns the loss and then the logits. */
  float[] step(Batch batch, long number) {
    float rate = options.schedule().at(number);
    optimizer.prepare(number, rate);
    List<Lane> lanes = new ArrayList<>();
    int each = options.batch() / options.lanes();
    for (int from = 0; from < batch.size(); from += each) {
      lanes.add(new Lane(batch, from, Math.min(batch.size(), from + each)));
    }
    double[] counted = counted(lanes);
    firsts.clear();
    for (int t = 0; t < found.size(); t++) {
      long[] ids = ids(batch, t);
      table(t).find(ids, ids.length, found.get(t), true);
      firsts.add(firsts(table(t), ids));
    }
    long noise = Pointwise.mix(options.seed() + number);
    for (int k = 0; k < lanes.size(); k++) {
      compute(
          lanes, lanes.get(k), batch.size(), counted, k == 0 ? noise : Pointwise.mix(noise + k));
    }
    for (int i = 0; i < sums.size(); i++) {
      int parameter = i;
      sums.get(i).set(tree(each(lanes, lane -> lane.dense.get(parameter))));
    }
    moveStatistics(lanes, batch.size());
    update.run();
    for (int t = 0; t < found.size(); t++) {
      applyTo(t, batch, lanes, options.tableRate(rate), number);
    }
    return result(lanes, batch.size());
  }

  private float[] result(List<Lane> lanes, int rows) {
    float[] result = new float[1 + rows * network.tasks().count()];
    result[0] = tree(each(lanes, lane -> lane.loss))[0];
    for (Lane lane : lanes) {
      int at = 1 + lane.from * network.tasks().count();
      System.arraycopy(lane.logits, 0, result, at, lane.logits.length);
    }
    return result;
  }

  /** What one lane has. */
  private interface Of {
    float[] of(Lane lane);
  }

  /** What each lane has, in a list as long as a whole batch has lanes; null for lanes without. */
  private List<Optional<float[]>> each(List<Lane> lanes, Of of) {
    List<Optional<float[]>> all = new ArrayList<>();
    lanes.forEach(lane -> all.add(Optional.of(of.of(lane))));
    while (all.size() < options.lanes()) {
      all.add(Optional.empty());
    }
    return all;
  }

  /** The sum of the left half plus the sum of the right half, where both are there. */
  private static Optional<float[]> sum(List<Optional<float[]>> lanes) {
    if (lanes.size() == 1) {
      return lanes.getFirst();
    }
    Optional<float[]> left = sum(lanes.subList(0, lanes.size() / 2));
    Optional<float[]> right = sum(lanes.subList(lanes.size() / 2, lanes.size()));
    if (left.isEmpty() || right.isEmpty()) {
      return left.or(() -> right);
    }
    float[] both = new float[left.get().length];
    for (int i = 0; i < both.length; i++) {
      both[i] = left.get()[i] + right.get()[i];
    }
    return Optional.of(both);
  }

  private static float[] tree(List<Optional<float[]>> lanes) {
    return sum(lanes).orElseThrow();
  }

  /** Of each task the weights of all rows that count: of lanes in order, then as the tree. */
  private double[] counted(List<Lane> lanes) {
    TaskLabels tasks = network.tasks();
    double[] counted = new double[tasks.count()];
    for (int k = 0; k < counted.length; k++) {
      double[] ofLanes = new double[options.lanes()];
      for (int lane = 0; lane < lanes.size(); lane++) {
        Batch rows = lanes.get(lane).rows;
        for (int row = 0; row < rows.size(); row++) {
          ofLanes[lane] += tasks.counts(rows, row, k) ? rows.rowWeight(row) : 0;
        }
      }
      for (int half = 1; half < ofLanes.length; half *= 2) {
        for (int lane = 0; lane < ofLanes.length; lane += 2 * half) {
          ofLanes[lane] += ofLanes[lane + half];
        }
      }
      counted[k] = ofLanes[0];
    }
    return counted;
  }

  /** What computes lanes of one size. */
  private final class Program implements AutoCloseable {
    final ModelInputs inputs;
    final Variable seed = Variable.of(device, "seed", Shape.of(1), DType.I64);
    final Variable labels;
    final Variable shares;
    final Variable part = Variable.zeros(device, "part", Shape.SCALAR);
    final List<Variable> statistics;
    final List<Tensor> outputs = new ArrayList<>();
    final int vectors;
    final Computation computation;

    Program(int rows, List<Integer> rooms) {
      inputs = network.newInputs(rows, rooms);
      int tasks = network.tasks().count();
      Shape shape = tasks == 1 ? Shape.of(rows) : Shape.of(rows, tasks);
      labels = Variable.zeros(device, "labels", shape);
      shares = Variable.zeros(device, "shares", shape);
      Pass pass = Pass.training(seed);
      Tensor logits = network.logits(inputs.features(pass));
      Tensor loss = network.tasks().losses(logits, labels.tensor()).mul(shares.tensor()).sum();
      for (Tensor term : pass.losses().values()) {
        loss = loss.add(term.mul(part.tensor()));
      }
      List<Tensor> wrt = new ArrayList<>(inputs.lookedUp());
      vectors = wrt.size();
      optimizer.parameters().forEach(parameter -> wrt.add(parameter.tensor()));
      outputs.addAll(List.of(loss, logits));
      outputs.addAll(Tensor.gradients(loss, wrt));
      statistics = List.copyOf(pass.updates().keySet());
      outputs.addAll(pass.updates().values());
      computation = Computation.of(device, outputs, Map.of());
    }

    List<float[]> run(Batch rows, float ofBatch, double[] counted, long noise) {
      seed.setLong(noise);
      part.set(ofBatch);
      setLabels(rows, counted, labels, shares);
      inputs.copyDense(rows);
      inputs.find(lookup, rows, false);
      computation.run();
      List<float[]> values = new ArrayList<>();
      for (int i = 0; i < outputs.size(); i++) {
        float[] value = new float[outputs.get(i).shape().elements()];
        computation.copyOutput(i, value, 0);
        values.add(value);
      }
      return values;
    }

    @Override
    public void close() {
      computation.close();
      List.of(seed, labels, shares, part).forEach(Variable::close);
      inputs.close();
    }
  }

  private void compute(List<Lane> lanes, Lane lane, int batch, double[] counted, long noise) {
    int rows = lane.rows.size();
    List<Integer> rooms = rooms(lanes);
    List<Integer> size = Stream.concat(Stream.of(rows), rooms.stream()).toList();
    Program program = programs.computeIfAbsent(size, _ -> new Program(rows, rooms));
    float share = (float) ((double) rows / batch);
    List<float[]> values = program.run(lane.rows, share, counted, noise);
    lane.loss = values.get(0);
    lane.logits = values.get(1);
    int dense = 2 + program.vectors;
    int statistics = values.size() - program.statistics.size();
    lane.dense.addAll(values.subList(dense, statistics));
    for (int i = 0; i < program.statistics.size(); i++) {
      lane.statistics.put(program.statistics.get(i), values.get(statistics + i));
    }
    for (int t = 0; t < found.size(); t++) {
      lane.ofIds.add(ofIds(t, lane.rows, values.subList(2, dense), program.inputs));
    }
  }

  private List<Integer> rooms(List<Lane> lanes) {
    List<Integer> rooms = new ArrayList<>();
    for (List<Integer> slots : network.sequences().values()) {
      int room = 0;
      for (Lane lane : lanes) {
        int elements = lane.rows.idCount(slots.getFirst());
        int unit = Math.max(16, Integer.highestOneBit(elements) / 8);
        room = Math.max(room, Math.max(1, Math.ceilDiv(elements, unit)) * unit);
      }
      rooms.add(room);
    }
    return rooms;
  }

  private void setLabels(Batch rows, double[] counted, Variable labels, Variable shares) {
    TaskLabels tasks = network.tasks();
    int count = tasks.count();
    float[] label = new float[rows.size() * count];
    float[] share = new float[label.length];
    for (int k = 0; k < count; k++) {
      Task task = tasks.tasks().get(k);
      float each = (float) (task.weight() / (counted[k] > 0 ? counted[k] : 1));
      for (int row = 0; row < rows.size(); row++) {
        if (tasks.counts(rows, row, k)) {
          label[row * count + k] = tasks.label(rows, row, k);
          float own = label[row * count + k] == 1 ? each * task.positiveWeight() : each;
          share[row * count + k] = rows.schema().weighted() ? own * rows.rowWeight(row) : own;
        }
      }
    }
    labels.set(label);
    shares.set(share);
  }

  private void moveStatistics(List<Lane> lanes, int batch) {
    for (Variable statistic : lanes.getFirst().statistics.keySet()) {
      float[] before = statistic.toArray();
      statistic.set(
          tree(
              each(
                  lanes,
                  lane -> lane.weighted(lane.statistics.getOrDefault(statistic, before), batch))));
    }
  }

  private EmbeddingTable table(int table) {
    return network.tables().tables().get(table);
  }

  /** The slots of a table. */
  private int[] slots(int table) {
    List<Slot> slots = network.schema().slots();
    String name = network.schema().tables().get(table);
    return IntStream.range(0, slots.size())
        .filter(s -> slots.get(s).table().equals(name))
        .toArray();
  }

  /** The ids of all positions of a table, slot after slot. */
  private long[] ids(Batch batch, int table) {
    return Arrays.stream(slots(table))
        .mapToObj(slot -> Arrays.copyOf(batch.ids(slot), batch.idCount(slot)))
        .flatMapToLong(Arrays::stream)
        .toArray();
  }

  private static Map<Long, Long> firsts(EmbeddingTable table, long[] ids) {
    Map<Long, Long> firsts = new LinkedHashMap<>();
    Map<Long, Long> ofBuckets = new LinkedHashMap<>();
    int buckets = table.config().unknown().buckets();
    Lookup single = new Lookup();
    for (long id : ids) {
      table.find(new long[] {id}, 1, single, false);
      boolean isShared = buckets > 0 && !single.isComplete();
      long bucket = Math.unsignedMultiplyHigh(Hashing.mix(id), buckets);
      long first = isShared ? ofBuckets.computeIfAbsent(bucket, _ -> id) : id;
      firsts.put(id, first);
    }
    return firsts;
  }

  private long first(int table, long id) {
    return Objects.requireNonNull(firsts.get(table).get(id));
  }

  private Combiner combiner(int slot) {
    Slot of = network.schema().slots().get(slot);
    return of.number()
        ? Combiner.SUM
        : options.tables().combinersOf().getOrDefault(of.name(), options.tables().combiner());
  }

  /** A position of a table in a lane: its id, factor, and where the gradient of its bag lies. */
  private record Position(long id, float factor, int slot, int bag) {}

  private List<Position> positions(Batch rows, int table) {
    List<Position> positions = new ArrayList<>();
    for (int slot : slots(table)) {
      boolean pooled = sequence(slot) < 0;
      int[] offsets = rows.offsets(slot);
      float[] weights = rows.weights(slot);
      for (int row = 0; row < rows.size(); row++) {
        for (int i = offsets[row]; i < offsets[row + 1]; i++) {
          float scale =
              !pooled
                  ? 1
                  : weights.length == 0
                      ? combiner(slot).scale(offsets[row + 1] - offsets[row])
                      : combiner(slot).scale(weights, offsets[row], offsets[row + 1]);
          float factor = pooled && weights.length > 0 ? scale * weights[i] : scale;
          positions.add(new Position(rows.ids(slot)[i], factor, slot, pooled ? row : i));
        }
      }
    }
    return positions;
  }

  /** The sequence that a slot is in, or -1. */
  private int sequence(int slot) {
    List<List<Integer>> sequences = List.copyOf(network.sequences().values());
    for (int q = 0; q < sequences.size(); q++) {
      if (sequences.get(q).contains(slot)) {
        return q;
      }
    }
    return -1;
  }

  /** The summed gradient of each id of a table in a lane. */
  private Map<Long, float[]> ofIds(
      int table, Batch rows, List<float[]> gradients, ModelInputs inputs) {
    int width = table(table).config().width();
    Map<Long, float[]> sums = new LinkedHashMap<>();
    List<Position> positions = positions(rows, table);
    for (Position position : positions) {
      float[] sum = sums.computeIfAbsent(first(table, position.id), _ -> new float[width]);
      for (int j = 0; j < width; j++) {
        sum[j] = Math.fma(position.factor, at(position, j, gradients), sum[j]);
      }
    }
    if (network.model().pairsWithin()) {
      addPairs(table, rows, gradients, inputs, sums);
    }
    return sums;
  }

  /** Column {@code j} of the gradient of a position's vector. */
  private float at(Position position, int j, List<float[]> gradients) {
    List<Integer> parts = network.model().embeddingParts();
    int before = 0;
    int pooled = network.schema().slotCount() - inSequences();
    for (int p = 0; p < parts.size() - 1; p++) {
      if (j < before + parts.get(p)) {
        int vector = position.bag * pooled + place(position.slot);
        return gradients.get(p)[vector * parts.get(p) + j - before];
      }
      before += parts.get(p);
    }
    int q = sequence(position.slot);
    int within = parts.size() + (network.model().pairsWithin() ? 1 : 0);
    float[] last = gradients.get(q < 0 ? parts.size() - 1 : within + q);
    return last[position.bag * floats(q) + offset(position.slot) + j - before];
  }

  private int inSequences() {
    return network.sequences().values().stream().mapToInt(List::size).sum();
  }

  /** The place of a pooled slot among these. */
  private int place(int slot) {
    return (int) IntStream.range(0, slot).filter(s -> sequence(s) < 0).count();
  }

  /** The slots beside each other in a row, or in an element of sequence {@code q}. */
  private List<Integer> beside(int q) {
    return q >= 0
        ? List.copyOf(network.sequences().values()).get(q)
        : IntStream.range(0, network.schema().slotCount())
            .filter(s -> sequence(s) < 0)
            .boxed()
            .toList();
  }

  private int floats(int q) {
    return beside(q).stream().mapToInt(network.slotWidths()::get).sum();
  }

  private int offset(int slot) {
    List<Integer> beside = beside(sequence(slot));
    return beside.subList(0, beside.indexOf(slot)).stream()
        .mapToInt(network.slotWidths()::get)
        .sum();
  }

  /** Adds the gradients of pair sums, as {@code BagPairs} says: {@code f (p - f v)} each. */
  private void addPairs(
      int table, Batch rows, List<float[]> gradients, ModelInputs inputs, Map<Long, float[]> sums) {
    int parts = network.model().embeddingParts().size();
    int width = table(table).config().width();
    int last = width - network.model().embeddingParts().getLast();
    float[] ofPairs = gradients.get(parts);
    float[] pooled = inputs.pooled().get(parts - 1).toArray();
    int count = network.schema().slotCount();
    Map<Long, float[]> weights = weights(table, ids(rows, table));
    for (Position position : positions(rows, table)) {
      float[] sum = sums.get(first(table, position.id));
      float[] row = weights.get(position.id);
      int vector = position.bag * count + position.slot;
      float gradient = position.factor * ofPairs[vector];
      for (int j = last; j < width; j++) {
        float others = pooled[vector * (width - last) + j - last] - position.factor * row[j];
        sum[j] = Math.fma(gradient, others, sum[j]);
      }
    }
  }

  private Map<Long, float[]> weights(int table, long[] ids) {
    int width = table(table).config().width();
    Map<Long, float[]> rows = new LinkedHashMap<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = Memory.allocate(arena, 4L * width * Math.max(1, ids.length), 64, "rows");
      Lookup read = new Lookup();
      table(table).find(ids, ids.length, read, false);
      table(table).ragged(read, out);
      for (int i = 0; i < ids.length; i++) {
        float[] row = new float[width];
        Memory.copyOut(out.address() + 4L * width * i, row, 0, width);
        rows.put(ids[i], row);
      }
    }
    return rows;
  }

  /** One step of a table, with the ids in the order in which they first stand in the batch. */
  private void applyTo(int t, Batch batch, List<Lane> lanes, float rate, long step) {
    EmbeddingTable table = table(t);
    if (table.config().isFrozen()) {
      return;
    }
    int width = table.config().width();
    long[] ids = Arrays.stream(ids(batch, t)).map(id -> first(t, id)).distinct().toArray();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment sums = Memory.allocate(arena, 4L * width * Math.max(1, ids.length), 64, "sums");
      for (int i = 0; i < ids.length; i++) {
        long id = ids[i];
        List<Optional<float[]>> ofLanes = new ArrayList<>();
        lanes.forEach(lane -> ofLanes.add(Optional.ofNullable(lane.ofIds.get(t).get(id))));
        while (ofLanes.size() < options.lanes()) {
          ofLanes.add(Optional.empty());
        }
        Memory.copyIn(tree(ofLanes), 0, sums.address() + 4L * width * i, width);
      }
      Lookup read = new Lookup();
      table.find(ids, ids.length, read, false);
      float ratio = table.config().rateRatio();
      float own = ratio == 1 ? rate : rate * ratio;
      table.apply(read, Bags.single(ids.length), sums, width, own, step);
    }
  }

  /** Writes a checkpoint. */
  void save(Path target, RunState state) {
    writer.write(target, state);
  }

  @Override
  public void close() {
    update.close();
    programs.values().forEach(Program::close);
    sums.forEach(Variable::close);
    lookup.close();
    optimizer.close();
    network.close();
  }
}
