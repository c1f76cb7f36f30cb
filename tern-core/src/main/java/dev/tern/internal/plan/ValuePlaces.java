package dev.tern.internal.plan;

import dev.tern.internal.ir.Node;
import java.util.List;
import java.util.function.Function;

/**
 * Where values lie while a plan is made, and whether a fused group may write a result over memory
 * that it reads, element by element.
 *
 * @param layouts where a node's elements lie
 * @param stored the nodes of a group that others read
 */
record ValuePlaces(
    Function<Node, Layout> layouts, Function<Group, List<Node>> stored, Storages storages) {

  /** Whether {@code result} fills a storage of its own, in the last pass of the group's kernel. */
  boolean isFresh(Group group, Node result) {
    Layout to = layout(result);
    return !storages.isLeaf(to.storage())
        && storages.find(to.storage()) == to.storage()
        && result.op().isPointwise()
        && group.isWrittenLast(result)
        && to.equals(Layout.dense(to.storage(), group.space))
        && storages.bytes(to.storage()) == 4L * group.space.elements();
  }

  Layout layout(Node node) {
    return layouts.apply(node);
  }

  List<Node> stored(Group group) {
    return stored.apply(group);
  }

  /** Whether such a result may take the memory of a storage, if nobody needs that afterwards. */
  boolean mayTake(Group group, Node result, int storage) {
    int to = layout(result).storage();
    return storages.find(storage) != storages.find(to)
        && storages.bytes(storage) == storages.bytes(to)
        && readsAligned(group, storage);
  }

  /** Whether some result of the group could take the memory of the storage. */
  boolean mayTake(Group group, int storage) {
    return group.fused
        && !storages.isLeaf(storage)
        && stored(group).stream()
            .anyMatch(result -> isFresh(group, result) && mayTake(group, result, storage));
  }

  /**
   * Whether the group writes nothing into the storage, and reads it only element by element: as a
   * dense value of the shape of its iteration space.
   */
  private boolean readsAligned(Group group, int storage) {
    List<Node> ofProduct = group.product.map(Node::inputs).orElse(List.of());
    return ofProduct.stream().noneMatch(input -> isIn(input, storage))
        && stored(group).stream().noneMatch(result -> isIn(result, storage))
        && group.reads().stream()
            .filter(input -> isIn(input, storage))
            .allMatch(input ->
                layout(input).offset() == 0
                    && input.shape().equals(group.space)
                    && layout(input).isDense(input.shape()));
  }

  private boolean isIn(Node node, int storage) {
    return storages.find(layout(node).storage()) == storages.find(storage);
  }
}
