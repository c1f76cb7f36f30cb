package dev.tern.internal.plan;

import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.kernel.matmul.BatchProduct;
import dev.tern.internal.kernel.matmul.Epilogue;
import dev.tern.internal.kernel.matmul.MatMul;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** Turns ordered groups into steps, noting when each storage is used. */
final class StepBuilder {
  private final Function<Node, Layout> layouts;
  private final Function<Group, List<Node>> stored;
  private final Storages storages;
  private final int threads;
  private final Reuse reuse;
  private final InPlace inPlace;

  /** Gets to know that a storage may have the memory of one that dies in the step that makes it. */
  @FunctionalInterface
  interface Reuse {
    void accept(int storage, int dying, int step);
  }

  StepBuilder(
      Function<Node, Layout> layouts,
      Function<Group, List<Node>> stored,
      Storages storages,
      int threads,
      Reuse reuse) {
    this.layouts = layouts;
    this.stored = stored;
    this.storages = storages;
    this.threads = threads;
    this.reuse = reuse;
    inPlace = new InPlace(layouts, stored, storages);
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
      for (Node input : order.get(i).reads()) {
        storages.use(layouts.apply(input).storage(), i);
      }
      for (Node node : stored.apply(order.get(i))) {
        storages.use(layouts.apply(node).storage(), i);
      }
    }
    int end = order.size() + late.size();
    for (Node output : program.outputs()) {
      storages.use(layouts.apply(output).storage(), end);
    }
    for (Program.Update update : late) {
      storages.use(layouts.apply(update.value()).storage(), end);
    }
  }

  /** A value may take the memory of one that dies here, if both are met element by element. */
  private void reuseDying(Group group, int step) {
    Set<Integer> taken = new HashSet<>();
    for (Node result : stored.apply(group)) {
      int to = layouts.apply(result).storage();
      for (Node candidate : inPlace.isFresh(group, result) ? dying(group, step) : List.<Node>of()) {
        int from = layouts.apply(candidate).storage();
        if (storages.lastUse(from) == step
            && inPlace.mayTake(group, result, from)
            && taken.add(storages.find(from))) {
          reuse.accept(to, from, step);
          break;
        }
      }
    }
  }

  private List<Node> dying(Group group, int step) {
    List<Node> found = new ArrayList<>();
    for (Node input : group.reads()) {
      int storage = layouts.apply(input).storage();
      if (!storages.isLeaf(storage) && storages.lastUse(storage) == step) {
        found.add(input);
      }
    }
    return found;
  }

  /**
   * A product and the kernel on its rows. They have one piece of scratch memory: that of the
   * product, then the rows of each worker, then partial results.
   */
  private Step joined(Group group, int step) {
    Node node = group.product.orElseThrow();
    int unused = layouts.apply(node).storage();
    Step.MatMul p = matmul(node);
    Step.Fused kernel = new FusedBuilder(group, stored.apply(group), this::resolved).build();
    long rowsAt = Storages.align(p.scratchBytes());
    long rowsBytes = threads * Epilogue.rowsBytes(p.batch(), p.m(), p.n(), p.k());
    long partialsAt = rowsAt + Storages.align(rowsBytes);
    int scratch = storages.add(partialsAt + 4 * FusedBuilder.partialElements(kernel));
    storages.use(scratch, step);
    Step.Place rows = new Step.Place(scratch, rowsAt);
    List<Step.Place> operands =
        kernel.operands().stream().map(place -> place.storage() == unused ? rows : place).toList();
    return new Step.MatMulThen(
        p.with(rows, new Step.Place(scratch, 0)),
        kernel.withOperands(operands).withPartials(new Step.Place(scratch, partialsAt)),
        true);
  }

  private Step fused(Group group, int step) {
    FusedBuilder builder = new FusedBuilder(group, stored.apply(group), this::resolved);
    Step.Fused fused = builder.build();
    long partials = FusedBuilder.partialElements(fused);
    if (partials == 0) {
      return fused;
    }
    int storage = storages.add(4 * partials);
    storages.use(storage, step);
    return fused.withPartials(new Step.Place(storage, 0));
  }

  private Layout resolved(Node node) {
    Layout layout = layouts.apply(node);
    return new Layout(storages.find(layout.storage()), layout.offset(), layout.strides());
  }

  private Step.Place place(Node node) {
    Layout layout = resolved(node);
    return new Step.Place(layout.storage(), (long) layout.offset() * node.type().bytes());
  }

  /** A step of its own, whose scratch memory nobody else has until {@code end}. */
  private Step single(Node node, int step, int end) {
    return switch (node.op()) {
      case Op.MatMul matmul -> matmul(node, step, end);
      case Op.Gather gather -> gather(gather, node);
      case Op.ScatterAdd scatter -> {
        Node index = node.input(0);
        int width = node.shape().elements() / Math.max(1, scatter.rows());
        int count = index.shape().elements();
        yield new Step.ScatterAdd(
            place(index),
            index.type(),
            scatter.gaps(),
            place(node.input(1)),
            place(node),
            scatter.rows(),
            count,
            width);
      }
      case Op.SegmentReduce reduce -> {
        Node values = node.input(0);
        int count = node.shape().size(0);
        int rows = values.shape().size(0);
        int width = rowElements(values);
        yield new Step.SegmentReduce(
            reduce.kind(), place(values), place(node.input(1)), place(node), rows, count, width);
      }
      case Op.Index index -> {
        List<Step.Index.Source> inputs = node.inputs().stream().map(this::source).toList();
        yield new Step.Index(index, inputs, place(node), node.shape().elements());
      }
      case Op.Uniform uniform ->
          new Step.Uniform(
              place(node.input(0)), uniform.stream(), place(node), node.shape().elements());
      case Op.Cast cast -> {
        Node input = node.input(0);
        yield new Step.Cast(
            place(input),
            input.type(),
            layouts.apply(input).strides(),
            place(node),
            cast.type(),
            layouts.apply(node).strides(),
            node.shape().toArray());
      }
      default -> pairs(node);
    };
  }

  private Step gather(Op.Gather gather, Node node) {
    Node table = node.input(0);
    Node index = node.input(1);
    return new Step.Gather(
        place(table),
        table.shape().size(0),
        place(index),
        index.type(),
        gather.gaps(),
        place(node),
        index.shape().elements(),
        Math.multiplyExact(rowElements(table), table.type().bytes() / 4));
  }

  private Step.Index.Source source(Node node) {
    int rows = node.shape().size(0);
    return new Step.Index.Source(place(node), node.type(), rows, rowElements(node));
  }

  /** Elements of {@code [...]} in {@code [n, ...]}, also where n is 0. */
  private static int rowElements(Node node) {
    return node.shape().withSize(0, 1).elements();
  }

  /** A step over all pairs of the vectors in {@code [batch, n, d]}. */
  private Step pairs(Node node) {
    Node input = node.input(0);
    if (input.shape().rank() != 3) {
      throw new AssertionError("planner: " + node + " is no step of its own");
    }
    int batch = input.shape().size(0);
    int n = input.shape().size(1);
    int d = input.shape().size(2);
    Step.Place x = place(input);
    Step.Place out = place(node);
    return switch (node.op()) {
      case Op.DotInteraction dots -> new Step.DotInteraction(x, out, batch, n, d);
      case Op.PairSums sums -> new Step.PairSums(x, out, batch, n, d);
      case Op.DotInteractionGradient gradient ->
          new Step.DotInteractionGradient(x, place(node.input(1)), out, batch, n, d);
      case Op.PairSumsGradient gradient ->
          new Step.PairSumsGradient(x, place(node.input(1)), out, batch, n, d);
      default -> throw new AssertionError("planner: " + node + " is no step of its own");
    };
  }

  private Step matmul(Node node, int step, int end) {
    Step.MatMul product = matmul(node);
    int scratch = storages.add(product.scratchBytes());
    storages.use(scratch, step);
    storages.use(scratch, end);
    return product.with(product.c(), new Step.Place(scratch, 0));
  }

  /** Its scratch memory has no place as yet. */
  private Step.MatMul matmul(Node node) {
    int m = node.shape().size(-2);
    int n = node.shape().size(-1);
    int k = node.input(0).shape().size(-1);
    int batch = node.shape().rank() == 3 ? node.shape().size(0) : 1;
    long scratchBytes =
        BatchProduct.pays(batch, m, n, k)
            ? BatchProduct.scratchBytes(m, n, k, threads)
            : MatMul.scratchBytes(m, n, k, threads);
    return new Step.MatMul(
        place(node.input(0)),
        matrixStrides(node.input(0)),
        place(node.input(1)),
        matrixStrides(node.input(1)),
        place(node),
        matrixStrides(node),
        batch,
        m,
        n,
        k,
        new Step.Place(0, 0),
        scratchBytes);
  }

  /** Batch, row and column strides. */
  private int[] matrixStrides(Node node) {
    int[] strides = layouts.apply(node).strides();
    int rank = strides.length;
    return new int[] {rank == 3 ? strides[0] : 0, strides[rank - 2], strides[rank - 1]};
  }
}
