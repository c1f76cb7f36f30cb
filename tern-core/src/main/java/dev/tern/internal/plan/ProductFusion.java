package dev.tern.internal.plan;

import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.kernel.matmul.Epilogue;
import dev.tern.internal.kernel.matmul.MatMul;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes a matrix product part of the fused group that alone reads it. A worker runs the kernel on
 * rows that it has just computed, while they are in its cache, and the result of the product takes
 * no memory. Examples: bias and activation, the softmax of attention scores, the gradient of an
 * activation and its sum over rows.
 *
 * <p>Three conditions hold: the kernel goes evenly over rows of the product, it writes nothing that
 * the product reads, and the two need no more memory together.
 *
 * <p>{@link EpilogueFusion} does the same for results that stay in memory.
 */
final class ProductFusion {
  private final Program program;
  private final List<Group> groups;
  private final Map<Node, Group> owner;
  private final Map<Node, List<Node>> readers;
  private final ValuePlaces places;
  private final Map<Node, Integer> position = new IdentityHashMap<>();

  /**
   * @param groups of which those go that become part of others
   * @param owner the group that computes each node
   * @param readers the nodes that read each node
   */
  ProductFusion(
      Program program,
      List<Group> groups,
      Map<Node, Group> owner,
      Map<Node, List<Node>> readers,
      ValuePlaces places) {
    this.program = program;
    this.groups = groups;
    this.owner = owner;
    this.readers = readers;
    this.places = places;
    program.nodes().forEach(node -> position.put(node, position.size()));
  }

  /**
   * Makes products part of the groups that read them.
   *
   * @param threads how many compute, each on rows of its own
   */
  void apply(int threads) {
    for (Group group : List.copyOf(groups)) {
      Node node = group.nodes.getFirst();
      if (node.op() instanceof Op.MatMul) {
        List<Node> uses = new ArrayList<>();
        collectReaders(node, uses);
        Group reader = uses.isEmpty() ? null : owner.get(uses.getFirst());
        if (reader != null
            && mayTake(reader, group, node, uses)
            && goesOverRows(reader, node, threads)) {
          take(reader, group, node);
        }
      }
    }
  }

  /** What reads the node or a view of it. */
  private void collectReaders(Node node, List<Node> found) {
    for (Node reader : readers.getOrDefault(node, List.of())) {
      if (owner.containsKey(reader) || !reader.op().isView()) {
        found.add(reader);
      } else {
        collectReaders(reader, found);
      }
    }
  }

  private boolean mayTake(Group reader, Group group, Node node, List<Node> uses) {
    return reader.fused
        && reader.product.isEmpty()
        && uses.stream().allMatch(use -> owner.get(use) == reader)
        && !isResult(node)
        && isOrdered(reader, group)
        && takesNoMore(reader, group, node)
        && writesNothingRead(reader, node);
  }

  private boolean isResult(Node node) {
    return program.outputs().stream().anyMatch(output -> Group.base(output) == node)
        || program.updates().stream().anyMatch(update -> Group.base(update.value()) == node);
  }

  private boolean isOrdered(Group reader, Group group) {
    return reader.needs.stream().noneMatch(need -> need != group && need.needsEventually(group));
  }

  /**
   * Whether product and kernel need no more memory together than one after the other, the few rows
   * of each worker not counted. Values that the product reads for the last time would stay until
   * the kernel runs; so where there are some, the kernel may wait for no other group.
   */
  private boolean takesNoMore(Group reader, Group group, Node node) {
    long result = node.shape().elements();
    long dying = dying(node);
    long stores = 0;
    boolean isOver = false;
    for (Node written : places.stored(reader)) {
      stores += written.shape().elements();
      isOver |= written.shape().elements() == result && reader.isWrittenLast(written);
    }
    return (dying == 0 || isLastNeed(reader, group))
        && dying + stores <= Math.max(dying + result, isOver ? stores : result + stores);
  }

  /** Elements of what nobody needs after the product. */
  private long dying(Node node) {
    long elements = 0;
    for (Node input : node.inputs()) {
      Node base = Group.base(input);
      List<Node> uses = new ArrayList<>();
      collectReaders(base, uses);
      boolean dies = uses.stream().noneMatch(use -> isLater(use, node));
      elements += dies && !(base.op() instanceof Op.Leaf) ? input.shape().elements() : 0;
    }
    return elements;
  }

  private static boolean isLastNeed(Group reader, Group group) {
    return reader.needs.stream().allMatch(need -> need == group || group.needsEventually(need));
  }

  private boolean isLater(Node node, Node other) {
    return position.getOrDefault(node, -1) > position.getOrDefault(other, -1);
  }

  private boolean writesNothingRead(Group reader, Node node) {
    return places.stored(reader).stream()
        .map(result -> places.layout(result).storage())
        .noneMatch(storage ->
            node.inputs().stream().anyMatch(in -> places.layout(in).storage() == storage));
  }

  private boolean goesOverRows(Group reader, Node node, int threads) {
    Step.ProductSizes size = StepBuilder.productSizes(node);
    if (!MatMul.mayKeepRows(size.batch(), size.m(), size.n(), size.k(), threads)) {
      return false;
    }
    Step.Fused kernel = new FusedBuilder(reader, places.stored(reader), places::layout).build();
    return EpilogueFusion.goesOverRows(kernel.loops(), size)
        && readsDensely(kernel, places.layout(node))
        && (!kernel.loops().isAcross()
            || size.batch() == 1 && isInPieces(kernel.loops(), size.m()));
  }

  private static boolean readsDensely(Step.Fused kernel, Layout rows) {
    int found = 0;
    for (int i = 0; i < kernel.operands().size(); i++) {
      Step.Place place = kernel.operands().get(i);
      if (place.storage() == rows.storage()) {
        Step.Strided elements = new Step.Strided(place, kernel.loops().strides()[i]);
        found += place.offset() == 0 && elements.isDense(kernel.loops().sizes()) ? 1 : 2;
      }
    }
    return found == 1;
  }

  /** Whether a sum over rows is cut where a product may cut its rows. */
  private static boolean isInPieces(Step.Loops loops, int rows) {
    return loops.sizes()[0] == rows && loops.unit() == Epilogue.UNIT && loops.chunks() > 1;
  }

  private void take(Group reader, Group group, Node node) {
    reader.take(group, node);
    groups.remove(group);
    for (Group other : groups) {
      if (other != reader && other.needs.remove(group)) {
        other.needs.add(reader);
      }
    }
  }
}
