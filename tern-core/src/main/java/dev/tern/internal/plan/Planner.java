package dev.tern.internal.plan;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Op;
import dev.tern.internal.ir.Program;
import dev.tern.internal.plan.BudgetPlanner.Draft;
import dev.tern.internal.remat.NoRoomException;
import dev.tern.internal.remat.Trace;
import dev.tern.internal.remat.search.ScheduleFinder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Makes a {@link Plan} of a {@link Program}. It lowers the program, cuts it into groups, gives a
 * storage to every value that outlives its kernel, orders the groups, and places the storages in
 * one arena by their lifetimes. A part of a concatenation lies inside the whole, and the new value
 * of a leaf in the leaf itself where that is safe.
 *
 * <p>Planning has no side effects: a plan depends on its arguments alone and holds no code.
 */
public final class Planner {
  private final Program program;
  private final int threads;
  private final boolean fusesProducts;
  private final List<Group> groups;
  private final Map<Node, Group> owner = new IdentityHashMap<>();
  private final Map<Node, List<Node>> readers = new IdentityHashMap<>();
  private final Map<Node, Layout> layouts = new IdentityHashMap<>();
  private final List<Node> leaves = new ArrayList<>();
  private final Storages storages;
  private final List<Program.Update> late = new ArrayList<>();

  /**
   * @param fusesProducts whether products may become part of the kernels that read them
   */
  private Planner(Program lowered, int threads, boolean fusesProducts) {
    this.threads = threads;
    this.fusesProducts = fusesProducts;
    groups = Fusion.of(lowered);
    program = InKernelRecomputation.apply(lowered, groups);
    for (Group group : groups) {
      group.nodes.forEach(node -> owner.put(node, group));
    }
    for (Node node : program.nodes()) {
      for (Node input : node.inputs()) {
        readers.computeIfAbsent(input, n -> new ArrayList<>()).add(node);
      }
      if (node.op() instanceof Op.Leaf) {
        layouts.put(node, Layout.dense(leaves.size(), node.shape()));
        leaves.add(node);
      }
    }
    storages = new Storages(leaves.size());
  }

  /**
   * A plan whose arena has at most {@code budget} bytes: where values do not fit, some are dropped
   * and computed again.
   *
   * @param threads only sizes scratch memory
   * @param finder decides which values are dropped
   * @throws NoRoomException when a step and what must stay do not fit
   */
  public static Plan plan(Program program, int threads, long budget, ScheduleFinder finder) {
    Program lowered = Lowering.lower(program);
    Plan plan = new Planner(lowered, threads, true).plan(program.leaves(), false);
    if (plan.arenaBytes() > budget) {
      try {
        plan = new Planner(lowered, threads, true).fit(program.leaves(), budget, finder);
      } catch (NoRoomException _) {
        // A product and its reader in one step need the values of both: they may fit as two.
        plan = new Planner(lowered, threads, false).fit(program.leaves(), budget, finder);
      }
    }
    return EpilogueFusion.joined(plan);
  }

  /**
   * A plan for a device with memory of its own: every product and every kernel is a step, as a step
   * of a device has no rows at hand that another could take.
   *
   * @param budget the most bytes of its arena
   * @throws NoRoomException when a step and what must stay do not fit
   */
  public static Plan planForDevice(Program program, long budget, ScheduleFinder finder) {
    Program lowered = Lowering.lower(program);
    Plan plan = new Planner(lowered, 1, false).plan(program.leaves(), false);
    return plan.arenaBytes() <= budget
        ? plan
        : new Planner(lowered, 1, false).fit(program.leaves(), budget, finder);
  }

  /** A plan whose one output lies {@link Plan#APART}, outside of the arena. */
  public static Plan planApart(Program program, int threads) {
    Planner planner = new Planner(Lowering.lower(program), threads, true);
    return planner.plan(program.leaves(), true);
  }

  /**
   * The steps of a program without a budget, with the storages that they read and write, to be
   * replayed within budgets. Leaves are no part of it.
   */
  public static Trace trace(Program program, int threads) {
    Planner planner = new Planner(Lowering.lower(program), threads, true);
    return BudgetPlanner.trace(planner.draft(program.leaves(), (storage, dying, step) -> {}));
  }

  private Plan plan(List<Node> original, boolean isApart) {
    Draft draft = draft(original, (storage, dying, step) -> storages.takeOver(storage, dying));
    if (isApart) {
      storages.setApart(layout(program.outputs().getFirst()).storage());
    }
    long[] offsets = storages.offsets();
    return new Plan(
        draft.steps(),
        draft.leaves(),
        offsets,
        storages.arenaBytes(),
        draft.outputs(),
        Collections.nCopies(draft.steps().size(), false),
        storages.allocations(draft.steps()),
        draft.attributions());
  }

  private Plan fit(List<Node> original, long budget, ScheduleFinder finder) {
    Map<Integer, BudgetPlanner.Over> over = new HashMap<>();
    Draft draft =
        draft(
            original,
            (storage, dying, step) -> over.put(storage, new BudgetPlanner.Over(dying, step)));
    return BudgetPlanner.plan(draft, over, budget, finder);
  }

  /**
   * The steps in order.
   *
   * @param original the leaves in the caller's order
   * @param reuse hears which values may take the memory of others
   */
  private Draft draft(List<Node> original, StepBuilder.Reuse reuse) {
    for (Program.Update update : program.updates()) {
      placeUpdate(update);
    }
    for (Node node : program.nodes().reversed()) {
      if (node.op() instanceof Op.Concat concat) {
        placeConcat(node, concat.axis());
      }
    }
    for (Node node : program.nodes()) {
      if (isStored(node) && !layouts.containsKey(node)) {
        layouts.put(node, Layout.dense(storages.add(bytes(node)), node.shape()));
      }
    }
    ValuePlaces places = new ValuePlaces(this::layout, this::storedNodes, storages);
    if (fusesProducts) {
      new ProductFusion(program, groups, owner, readers, places).apply(threads);
    }
    List<Group> order = GroupOrder.of(program, groups, places);
    List<Step> steps = new StepBuilder(places, threads, reuse).build(order, program, late);
    return new Draft(
        steps,
        Attributions.of(order, late),
        storages,
        leaves.stream().mapToInt(original::indexOf).toArray(),
        program.outputs().stream()
            .map(output -> new Step.Place(storages.find(layout(output).storage()), 0))
            .toList());
  }

  private static long bytes(Node node) {
    return (long) node.shape().elements() * node.type().bytes();
  }

  /** Where the node's elements lie; views follow their base. */
  private Layout layout(Node node) {
    Layout known = layouts.get(node);
    if (known != null) {
      return known;
    }
    Layout base = layout(node.input(0));
    Shape from = node.input(0).shape();
    Layout layout =
        switch (node.op()) {
          case Op.Permute permute -> base.permute(permute);
          case Op.Broadcast broadcast -> base.broadcast(from, node.shape());
          case Op.Slice slice -> base.slice(slice.axis(), slice.from());
          case Op.Reshape reshape -> base.reshape(from, node.shape()).orElseThrow();
          default -> throw new AssertionError("planner: " + node + " has no memory");
        };
    layouts.put(node, layout);
    return layout;
  }

  private boolean isStored(Node node) {
    Group group = owner.get(node);
    return group != null && (!group.fused || isResult(node) || isReadOutside(node, node, group));
  }

  /** Whether {@code view}, which shows {@code node}, is read outside of the node's kernel. */
  private boolean isReadOutside(Node view, Node node, Group group) {
    for (Node reader : readers.getOrDefault(view, List.of())) {
      boolean inside =
          owner.get(reader) == group && group.inside(view).filter(n -> n == node).isPresent();
      if (!inside && !(reader.op().isView() && !isReadOutside(reader, node, group))) {
        return true;
      }
    }
    return false;
  }

  private boolean isResult(Node node) {
    return program.outputs().contains(node)
        || program.updates().stream().anyMatch(update -> update.value() == node);
  }

  private List<Node> storedNodes(Group group) {
    return group.nodes.stream().filter(this::isStored).toList();
  }

  /**
   * Lets an update's kernel write straight into the leaf when every other reader of the old value
   * can run before it; otherwise the value waits in the arena and is copied at the end.
   */
  private void placeUpdate(Program.Update update) {
    Group writer = owner.get(update.value());
    if (writer == null) {
      throw new AssertionError("planner: the update " + update.value() + " is not computed");
    }
    Set<Group> before = Collections.newSetFromMap(new IdentityHashMap<>());
    boolean safe = collectReaders(update.leaf(), writer, before);
    safe &= writer.isWrittenLast(update.value());
    for (Group group : before) {
      safe &= !group.needsEventually(writer);
    }
    if (safe) {
      writer.needs.addAll(before);
      layouts.put(update.value(), layout(update.leaf()));
    } else {
      late.add(update);
    }
  }

  /** Collects the groups that read {@code node}; false if the writer reads it out of order. */
  private boolean collectReaders(Node node, Group writer, Set<Group> found) {
    boolean aligned = true;
    for (Node reader : readers.getOrDefault(node, List.of())) {
      Group group = owner.get(reader);
      if (group == null) {
        aligned &= collectReaders(reader, writer, found);
      } else if (group != writer) {
        found.add(group);
      } else {
        aligned &= node.op() instanceof Op.Leaf && node.shape().equals(writer.space);
      }
    }
    return aligned;
  }

  private void placeConcat(Node concat, int axis) {
    Layout whole =
        layouts.computeIfAbsent(concat, n -> Layout.dense(storages.add(bytes(n)), n.shape()));
    int at = 0;
    for (Node part : concat.inputs()) {
      place(part, whole.slice(axis, at));
      at += part.shape().size(axis);
    }
  }

  private void place(Node node, Layout layout) {
    if (layouts.put(node, layout) != null || isResult(node)) {
      throw new AssertionError("planner: " + node + " is to lie in two places");
    }
    if (node.op() instanceof Op.Reshape) {
      Node source = node.input(0);
      place(source, layout.reshape(node.shape(), source.shape()).orElseThrow());
    }
  }
}
