package dev.tern.internal.eager;

import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.internal.runtime.Engine;
import dev.tern.internal.runtime.PendingReads;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Computes nodes op by op, each once, on a thread of its own, and keeps their values within a
 * budget ({@link Evaluator}). It serves programs whose shapes or control flow depend on values. A
 * node is computed when a caller asks for it or another node needs it. It keeps that value until it
 * is released or the node becomes unreachable.
 *
 * <p>All callers put commands into one queue of limited length; a full queue makes them wait. A
 * failure belongs to the values it concerns and shows when they are read. Whoever writes memory
 * that ops read must first call {@link Engine#beforeWrite}, which runs the ops asked for before.
 *
 * <p>Locking: one hold of {@code recording} covers both the notes about nodes and leaves ({@code
 * values}, {@code used}, {@code isWanted}) and the commands that belong to them, so a leaf's expiry
 * comes before all commands of an op or after all of them. No thread waits for a command while it
 * holds that lock. A session is a reader of its devices until its thread has ended; a writer that
 * finds it closed earlier waits for that end, after which no op runs.
 *
 * <p>Any number of threads may call.
 */
public final class Eager implements PendingReads, AutoCloseable {
  /** Bytes of values and workspaces in memory, and the most at any time. */
  public record Bytes(long current, long peak) {}

  /**
   * What was done so far.
   *
   * @param ops that are remembered
   */
  public record Counts(long runs, long runsAgain, long evictions, int ops, Bytes bytes) {}

  /** {@code node} becomes the content of {@code leaf}. */
  public record Update(Node leaf, Node node) {}

  private static final StackWalker STACK = StackWalker.getInstance();

  private final Engine engine;
  private final boolean refusesAtOnce;
  private final long budget;
  private final OpPlans plans;
  private final NodeValues values = new NodeValues();
  private final EagerWorker worker;

  /** The lock for notes about nodes and leaves, and for the commands that belong to them. */
  private final Object recording = new Object();

  /** Leaves that may be written and that commands have used since the last expiry of the leaf. */
  private final Set<Buffer> used = new HashSet<>();

  /** Devices that report writes to this session until it is closed. */
  private final Set<Engine> read = new HashSet<>();

  private boolean isClosed;

  /** The last expiry in the queue. When it is done, all earlier ones are done too. */
  private CompletableFuture<Optional<Failure>> expiry =
      CompletableFuture.completedFuture(Optional.empty());

  /**
   * A session with a thread of its own.
   *
   * @param budget bytes of the engine's memory for values and workspaces of ops, in steps of 64
   * @param queued most ops that wait
   * @param refusesAtOnce whether an op that cannot fit into the budget is refused at the call
   * @throws IllegalArgumentException for less than 64 bytes
   * @throws OutOfBudgetException when the engine has not that much
   */
  public Eager(Engine engine, long budget, int queued, boolean refusesAtOnce) {
    engine.requireOpen("session");
    if (budget < BlockArena.rounded(1)) {
      throw new IllegalArgumentException(
          "session: got a budget of %d bytes, expected at least %d; pass what its values take"
              .formatted(budget, BlockArena.rounded(1)));
    }
    this.engine = engine;
    this.refusesAtOnce = refusesAtOnce;
    this.budget = budget & -BlockArena.rounded(1);
    plans = new OpPlans(engine.workers().threads());
    worker = new EagerWorker(engine.workers(), engine.allocator(), this.budget, values, queued);
    try {
      engine.addReader(this);
      read.add(engine);
    } catch (IllegalStateException e) {
      worker.close();
      throw e;
    }
  }

  /** Asks for nodes and the nodes that they need. Returns before they are computed. */
  public void run(List<Node> nodes) {
    ask(nodes);
  }

  /**
   * As {@link #run}, and returns when it is done.
   *
   * @throws IllegalStateException when one of them cannot be computed
   */
  public void runToEnd(List<Node> nodes) {
    List<SessionValue> wanted = ask(nodes);
    EagerWorker.await(worker.submit(_ -> Evaluator.firstFailure(wanted), nodes));
  }

  private List<SessionValue> ask(List<Node> nodes) {
    Object place = place();
    List<SessionValue> wanted = new ArrayList<>();
    synchronized (recording) {
      for (Node node : nodes) {
        record(OpPlans.base(node), place).ifPresent(wanted::add);
      }
    }
    return wanted;
  }

  /**
   * The numbers of a node, row-major, converted to float. Computes it unless its value is there.
   *
   * @throws IllegalStateException when an op failed that it takes, naming the op and who ran it
   */
  public float[] get(Node node) {
    float[] numbers = new float[node.shape().elements()];
    EagerWorker.await(
        withValue(
            node,
            (evaluator, source) ->
                evaluator.read(
                    source, address -> Evaluator.copyOut(address, node.type(), numbers))));
    return numbers;
  }

  /**
   * Writes the numbers of nodes into leaves of their shapes and types, one after the other. All
   * numbers are computed before the first write. Nodes that were asked for before keep their
   * values, even if they read the leaves. Returns when all is written.
   *
   * @throws IllegalArgumentException when a shape or type differs from the leaf's; none is written
   * @throws IllegalStateException when a node has no value; the leaves before it are written
   */
  public void store(List<Update> updates) {
    List<Node> copies = new ArrayList<>();
    List<Node> sources = new ArrayList<>();
    Set<Buffer> written = new HashSet<>();
    for (Update update : updates) {
      Node source = update.node();
      if (OpPlans.base(source).op() instanceof Op.Leaf(Buffer leaf) && written.contains(leaf)) {
        source = copy(source);
        copies.add(source);
      }
      sources.add(source);
      written.add(target(update));
    }
    run(sources);
    for (int i = 0; i < sources.size(); i++) {
      store(sources.get(i), target(updates.get(i)));
    }
    release(copies);
  }

  private static Buffer target(Update update) {
    Node node = update.node();
    if (!(update.leaf().op() instanceof Op.Leaf(Buffer leaf))
        || !update.leaf().shape().equals(node.shape())
        || update.leaf().type() != node.type()) {
      throw new IllegalArgumentException(
          "store: got " + node + " for " + update.leaf() + ", expected its shape and type");
    }
    return leaf;
  }

  private void store(Node node, Buffer leaf) {
    Engine.beforeHostWrite(leaf, this);
    long bytes = (long) node.shape().elements() * node.type().bytes();
    CompletableFuture<Optional<Failure>> done;
    synchronized (recording) {
      use(leaf);
      done = withValue(node, (evaluator, source) -> evaluator.store(source, leaf, bytes));
    }
    EagerWorker.await(done);
  }

  /** Drops the values of nodes. Asked for again, a node is computed anew. */
  public void release(List<Node> nodes) {
    synchronized (recording) {
      for (Node node : nodes) {
        values
            .remove(OpPlans.base(node))
            .ifPresent(held ->
                worker.put(
                    evaluator -> {
                      evaluator.release(held);
                      return Optional.empty();
                    },
                    List.of()));
      }
    }
  }

  /** Returns when all commands so far are done. */
  public void sync() {
    EagerWorker.await(worker.submit(_ -> Optional.empty(), List.of()));
  }

  public long budget() {
    return budget;
  }

  /** What was done so far, without the commands that wait. */
  public Counts counts() {
    return worker.counts();
  }

  @Override
  public void beforeClose(Engine device) {
    if (device == engine) {
      close();
    } else {
      expire(leaf -> leaf.owner() == device);
    }
  }

  /**
   * Ends the session after the op that runs, and frees its memory. Who waits for a value gets an
   * IllegalStateException.
   */
  @Override
  public void close() {
    worker.close();
    synchronized (recording) {
      isClosed = true;
      read.forEach(device -> device.removeReader(this));
    }
  }

  @Override
  public void expire(Predicate<Buffer> leaves) {
    CompletableFuture<Optional<Failure>> done;
    synchronized (recording) {
      if (used.removeIf(leaves)) {
        expiry =
            worker.submit(
                evaluator -> {
                  evaluator.expire(leaves);
                  return Optional.empty();
                },
                List.of());
      }
      // Another thread may just have asked for the expiry of the same leaf: wait for it.
      done = expiry;
    }
    try {
      EagerWorker.await(done);
    } catch (EagerWorker.Closed _) {
      worker.awaitEnd();
    }
  }

  /** Puts an op and those it needs into the queue, except those already asked for. */
  private Optional<SessionValue> record(Node root, Object place) {
    if (hasMemory(root)) {
      return Optional.empty();
    }
    Deque<Node> ahead = new ArrayDeque<>();
    ahead.push(root);
    while (!ahead.isEmpty()) {
      Node node = ahead.peek();
      if (values.get(node).isPresent()) {
        ahead.pop();
        continue;
      }
      List<Node> operands = OpPlans.operands(node);
      int missing = 0;
      for (Node operand : operands.reversed()) {
        if (!hasMemory(operand) && values.get(operand).isEmpty()) {
          ahead.push(operand);
          missing++;
        }
      }
      if (missing == 0) {
        ahead.pop();
        apply(node, operands, place);
      }
    }
    Optional<SessionValue> held = values.get(root);
    held.ifPresent(wanted -> wanted.isWanted = true);
    return held;
  }

  /** Whether the node needs no computation. */
  private static boolean hasMemory(Node base) {
    return base.op() instanceof Op.Leaf || base.op() instanceof Op.Constant;
  }

  private void apply(Node node, List<Node> operands, Object place) {
    OpPlan plan = plans.of(node, operands);
    List<Recipe.Operand> sources = new ArrayList<>(operands.size());
    for (Node operand : operands) {
      sources.add(source(operand));
    }
    SessionValue held = new SessionValue();
    Recipe recipe = new Recipe(plan, sources, held, place);
    if (refusesAtOnce) {
      requireRoom(recipe, operands);
    }
    worker.put(
        evaluator -> {
          evaluator.apply(recipe);
          return Optional.empty();
        },
        List.of(node));
    values.put(node, held);
  }

  private Recipe.Operand source(Node base) {
    if (base.op() instanceof Op.Leaf(Buffer buffer)) {
      use(buffer);
      return new Recipe.Operand.Leaf(buffer);
    }
    return new Recipe.Operand.Value(values.get(base).orElseThrow());
  }

  private void use(Buffer leaf) {
    // Memory of other owners is never written again.
    if (leaf.owner() instanceof Engine owner) {
      owner.requireOpen("session");
      if (!isClosed && read.add(owner)) {
        owner.addReader(this);
      }
      used.add(leaf);
    }
  }

  private void requireRoom(Recipe recipe, List<Node> operands) {
    OpPlan plan = recipe.plan();
    long bytes = BlockArena.rounded(plan.bytes());
    bytes += plan.workspace() > 0 ? BlockArena.rounded(plan.workspace()) : 0;
    for (Node operand : operands) {
      if (!hasMemory(operand)) {
        bytes += BlockArena.rounded((long) operand.shape().elements() * operand.type().bytes());
      }
    }
    if (bytes > budget) {
      throw new OutOfBudgetException(
          ("session: got %s of %s, which takes %d bytes with its operands, expected at most the %d"
                  + " of the session's budget; raise it, or use a smaller batch")
              .formatted(recipe, recipe.place(), bytes, budget));
    }
  }

  /** Queues a use of the value of a node, dense in memory. */
  private CompletableFuture<Optional<Failure>> withValue(
      Node node, BiFunction<Evaluator, Recipe.Operand, Optional<Failure>> use) {
    synchronized (recording) {
      boolean isCopied = !OpPlans.isDense(node);
      Object place = place();
      // The caller asked for the node itself, not only for the copy.
      record(OpPlans.base(node), place);
      Node base = isCopied ? copy(node) : OpPlans.base(node);
      record(base, place);
      Recipe.Operand source = source(base);
      var done = worker.submit(evaluator -> use.apply(evaluator, source), List.of(base));
      if (isCopied) {
        release(List.of(base));
      }
      return done;
    }
  }

  /** The same elements, one after the other in memory of their own. */
  private static Node copy(Node view) {
    return view.type().isFloatLike() ? Nodes.unary(Op.Unary.COPY, view) : Nodes.recast(view);
  }

  /** The innermost line of the caller outside of Tern, as in a stack trace. */
  private static Object place() {
    StackWalker.@Nullable StackFrame frame =
        STACK.walk(frames ->
            frames.filter(f -> !f.getClassName().startsWith("dev.tern.")).findFirst().orElse(null));
    return frame == null ? "an unknown line" : frame;
  }
}
