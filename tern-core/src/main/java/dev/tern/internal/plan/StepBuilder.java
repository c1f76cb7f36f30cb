package dev.tern.internal.plan;

import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.kernel.matmul.BatchProduct;
import dev.tern.internal.kernel.matmul.MatMul;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Turns ordered groups into steps, and tells {@link Storages} when each storage is used. */
final class StepBuilder {
  private final ValuePlaces places;
  private final Storages storages;
  private final int threads;
  private final Reuse reuse;

  /** Hears that a storage may take the memory of one that dies in the step that fills it. */
  @FunctionalInterface
  interface Reuse {
    void accept(int storage, int dying, int step);
  }

  StepBuilder(ValuePlaces places, int threads, Reuse reuse) {
    this.places = places;
    storages = places.storages();
    this.threads = threads;
    this.reuse = reuse;
  }

  List<Step> build(List<Group> order, Program program, List<Program.Update> late) {
    noteUses(order, program, late);
    List<Step> steps = new ArrayList<>();
    for (int i = 0; i < order.size(); i++) {
      Group group = order.get(i);
      if (group.fused) {
        reuseDying(group, i);
        steps.add(group.product.isPresent() ? joined(group, i) : fused(group, i));
      } else {
        Node node = group.nodes.getFirst();
        boolean hasEpilogue =
            i + 1 < order.size()
                && order.get(i + 1).fused
                && order.get(i + 1).product.isEmpty()
                && order.get(i + 1).reads().contains(node);
        steps.add(single(node, i, hasEpilogue ? i + 1 : i));
      }
    }
    for (Program.Update update : late) {
      long bytes = (long) update.leaf().shape().elements() * update.leaf().type().bytes();
      steps.add(new Step.Copy(place(update.value()), place(update.leaf()), bytes));
    }
    return steps;
  }

  private void noteUses(List<Group> order, Program program, List<Program.Update> late) {
    for (int i = 0; i < order.size(); i++) {
      int step = i;
      order.get(i).reads().forEach(input -> use(input, step));
      places.stored(order.get(i)).forEach(result -> use(result, step));
    }
    int end = order.size() + late.size();
    program.outputs().forEach(output -> use(output, end));
    late.forEach(update -> use(update.value(), end));
  }

  private void use(Node node, int step) {
    storages.use(places.layout(node).storage(), step);
  }

  /**
   * Finds results that may take the memory of a value which this step reads for the last time,
   * where the kernel reads and writes both element by element.
   */
  private void reuseDying(Group group, int step) {
    Set<Integer> taken = new HashSet<>();
    for (Node result : places.stored(group)) {
      int to = places.layout(result).storage();
      for (Node candidate : places.isFresh(group, result) ? dying(group, step) : List.<Node>of()) {
        int from = places.layout(candidate).storage();
        if (storages.lastUse(from) == step
            && places.mayTake(group, result, from)
            && taken.add(storages.find(from))) {
          reuse.accept(to, from, step);
          break;
        }
      }
    }
  }

  private List<Node> dying(Group group, int step) {
    List<Node> found = group.reads();
    found.removeIf(input -> {
      int storage = places.layout(input).storage();
      return storages.isLeaf(storage) || storages.lastUse(storage) != step;
    });
    return found;
  }

  /**
   * A product and the kernel on its rows. They share one piece of scratch memory, in this order:
   * the product's scratch memory, the rows of each worker, partial results.
   */
  private Step joined(Group group, int step) {
    Node node = group.product.orElseThrow();
    int unused = places.layout(node).storage();
    Step.MatMul p = matmul(node);
    Step.Fused kernel = kernel(group);
    Step.ProductSizes size = p.sizes();
    long rowsAt = Storages.align(p.scratch().bytes());
    long rowsBytes = threads * MatMul.rowsBytes(size.batch(), size.m(), size.n(), size.k());
    long partialsAt = rowsAt + Storages.align(rowsBytes);
    int scratch = storages.add(partialsAt + 4 * kernel.loops().partialElements());
    storages.use(scratch, step);
    Step.Place rows = new Step.Place(scratch, rowsAt);
    List<Step.Place> operands =
        kernel.operands().stream().map(place -> place.storage() == unused ? rows : place).toList();
    return new Step.MatMulThen(
        p.at(rows, new Step.Place(scratch, 0)),
        kernel.at(operands, new Step.Place(scratch, partialsAt)),
        true);
  }

  private Step fused(Group group, int step) {
    Step.Fused fused = kernel(group);
    long partials = fused.loops().partialElements();
    if (partials == 0) {
      return fused;
    }
    int storage = storages.add(4 * partials);
    storages.use(storage, step);
    return fused.at(fused.operands(), new Step.Place(storage, 0));
  }

  private Step.Fused kernel(Group group) {
    return new FusedBuilder(group, places.stored(group), this::resolved).build();
  }

  private Layout resolved(Node node) {
    Layout layout = places.layout(node);
    return new Layout(storages.find(layout.storage()), layout.offset(), layout.strides());
  }

  private Step.Place place(Node node) {
    Layout layout = resolved(node);
    return new Step.Place(layout.storage(), (long) layout.offset() * node.type().bytes());
  }

  /** A step of one op. Its scratch memory is used for nothing else up to step {@code end}. */
  private Step single(Node node, int step, int end) {
    return switch (node.op()) {
      case Op.MatMul _ -> matmul(node, step, end);
      case Op.Gather gather -> {
        Node table = node.input(0);
        int width = Math.multiplyExact(rowElements(table), table.type().bytes() / 4);
        yield new Step.Gather(
            rows(table), numbers(node.input(1), gather.gaps()), place(node), width);
      }
      case Op.ScatterAdd scatter -> {
        int width = node.shape().elements() / Math.max(1, scatter.rows());
        yield new Step.ScatterAdd(
            numbers(node.input(0), scatter.gaps()),
            place(node.input(1)),
            new Step.Rows(place(node), scatter.rows()),
            width);
      }
      case Op.SegmentReduce reduce ->
          new Step.SegmentReduce(
              reduce.kind(),
              rows(node.input(0)),
              rows(node.input(1)),
              place(node),
              rowElements(node.input(0)));
      case Op.Index index -> {
        List<Step.Index.Input> inputs = node.inputs().stream().map(this::input).toList();
        yield new Step.Index(index, inputs, place(node), node.shape().elements());
      }
      case Op.Uniform uniform ->
          new Step.Uniform(
              place(node.input(0)), uniform.stream(), place(node), node.shape().elements());
      case Op.Cast cast -> {
        Node in = node.input(0);
        yield new Step.Cast(
            new Step.Strided(place(in), places.layout(in).strides()),
            in.type(),
            new Step.Strided(place(node), places.layout(node).strides()),
            cast.type(),
            node.shape().toArray());
      }
      case Op.DotInteraction _, Op.DotInteractionGradient _ -> {
        Step.Vectors sizes = vectors(node.input(0));
        yield new Step.DotInteraction(place(node.input(0)), gradient(node), place(node), sizes);
      }
      case Op.PairSums _, Op.PairSumsGradient _ -> {
        Step.Vectors sizes = vectors(node.input(0));
        yield new Step.PairSums(place(node.input(0)), gradient(node), place(node), sizes);
      }
      case Op.Gru _, Op.GruGradient _ -> gru(node);
      default -> throw new AssertionError("planner: " + node + " is no step of its own");
    };
  }

  private Step gru(Node node) {
    List<Step.Place> inputs =
        node.inputs().stream().limit(node.inputs().size() - 1L).map(this::place).toList();
    return new Step.Gru(
        node.op() instanceof Op.GruGradient,
        inputs,
        rows(node.inputs().getLast()),
        place(node),
        new Step.States(node.shape().size(0), node.shape().size(1)));
  }

  private Step.Rows rows(Node node) {
    return new Step.Rows(place(node), node.shape().size(0));
  }

  private Step.RowNumbers numbers(Node index, boolean gaps) {
    return new Step.RowNumbers(place(index), index.type(), index.shape().elements(), gaps);
  }

  private Step.Index.Input input(Node node) {
    int rows = node.shape().size(0);
    return new Step.Index.Input(place(node), node.type(), rows, rowElements(node));
  }

  /** Elements of a row {@code [...]} of {@code [n, ...]}, also where n is 0. */
  private static int rowElements(Node node) {
    return node.shape().withSize(0, 1).elements();
  }

  private Optional<Step.Place> gradient(Node node) {
    return node.inputs().size() == 1 ? Optional.empty() : Optional.of(place(node.input(1)));
  }

  private static Step.Vectors vectors(Node node) {
    return new Step.Vectors(node.shape().size(0), node.shape().size(1), node.shape().size(2));
  }

  private Step matmul(Node node, int step, int end) {
    Step.MatMul product = matmul(node);
    int scratch = storages.add(product.scratch().bytes());
    storages.use(scratch, step);
    storages.use(scratch, end);
    return product.at(product.c().place(), new Step.Place(scratch, 0));
  }

  /** A product whose scratch memory has no place yet. */
  private Step.MatMul matmul(Node node) {
    Step.ProductSizes sizes = productSizes(node);
    long scratchBytes =
        BatchProduct.pays(sizes.batch(), sizes.m(), sizes.n(), sizes.k())
            ? BatchProduct.scratchBytes(sizes.m(), sizes.n(), sizes.k(), threads)
            : MatMul.scratchBytes(sizes.m(), sizes.n(), sizes.k(), threads);
    return new Step.MatMul(
        matrix(node.input(0)),
        matrix(node.input(1)),
        matrix(node),
        sizes,
        new Step.Scratch(new Step.Place(0, 0), scratchBytes));
  }

  static Step.ProductSizes productSizes(Node product) {
    return new Step.ProductSizes(
        product.shape().rank() == 3 ? product.shape().size(0) : 1,
        product.shape().size(-2),
        product.shape().size(-1),
        product.input(0).shape().size(-1));
  }

  /** With the strides of batch, rows and columns. */
  private Step.Strided matrix(Node node) {
    int[] strides = places.layout(node).strides();
    int rank = strides.length;
    int batch = rank == 3 ? strides[0] : 0;
    return new Step.Strided(place(node), new int[] {batch, strides[rank - 2], strides[rank - 1]});
  }
}
