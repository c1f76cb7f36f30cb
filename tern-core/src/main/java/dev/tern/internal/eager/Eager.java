package dev.tern.internal.eager;

import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Nodes;
import dev.tern.internal.ir.Op;
import dev.tern.internal.memory.BlockArena;
import dev.tern.internal.memory.Buffer;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.internal.runtime.Engine;
import dev.tern.internal.runtime.MemoryReader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Computes nodes op by op, each once, on a thread of its own, and keeps their values within a
 * budget ({@link Evaluator}): for programs whose shapes or control flow depend on values. A node is
 * computed when it is first asked for or another needs it; its value stays that of this moment
 * until it is released or the node becomes unreachable.
 *
 * <p>Callers put commands into a queue of limited length, in one order for all; a full queue holds
 * them up. A failure belongs to the values it concerns and shows when they are read. Who writes
 * memory that ops read says so before ({@link Engine#beforeWrite}): ops that were asked for run
 * first.
 *
 * <p>The order: whatever is noted about nodes and leaves ({@code values}, {@code used}, {@code
 * isWanted}) is noted under {@code recording} together with the commands that it is about, so that
 * a leaf's expiry comes before all of an op or after all of it. Nobody waits for a command under
 * that lock. A session is a reader of its devices until its thread has ended; who finds it closed
 * before waits for that end, and then no op runs any more.
 *
 * <p>Any number of threads may call.
 */
public final class Eager implements MemoryReader, AutoCloseable {
  /** When callers get to know of errors. */
  public enum Level {
    /** All is done, and errors are thrown, before a call returns. */
    SYNCHRONOUS,
    /** An op that cannot fit into the budget is refused at the call. */
    ERRORS_SYNCHRONOUS,
    /** All errors show when values are read. */
    ASYNCHRONOUS,
  }

  /**
   * What was done so far.
   *
   * @param runs of ops
   * @param runsAgain of these, those that computed what had been dropped
   * @param evictions values dropped for want of room
   * @param bytes of values in memory, in steps of 64
   * @param peakBytes most of them at any time, with what ops take while they run
   * @param budget most there may be
   * @param recipes ops that are remembered
   */
  public record Statistics(
      long runs,
      long runsAgain,
      long evictions,
      long bytes,
      long peakBytes,
      long budget,
      int recipes) {}

  /** {@code node} becomes the content of {@code leaf}. */
  public record Update(Node leaf, Node node) {}

  private static final StackWalker STACK = StackWalker.getInstance();

  private final Engine interpreter;
  private final Level level;
  private final long budget;
  private final OpPlans plans;
  private final NodeValues values = new NodeValues();
  private final EagerWorker worker;

  /** Held while commands are put into the queue, and what they are about is noted. */
  private final Object recording = new Object();

  /** Leaves that may be written, and that commands since their last expiry use. */
  private final Set<Buffer> used = new HashSet<>();

  /** Devices that tell this of writes, until it is closed. */
  private final Set<Engine> read = new HashSet<>();

  private boolean isClosed;

  /** The last expiry in the queue; once it is done, so are those before it. */
  private CompletableFuture<Optional<Failure>> expiry =
      CompletableFuture.completedFuture(Optional.empty());

  /**
   * A session of its own thread.
   *
   * @param budget bytes of the interpreter's memory, in steps of 64, for values and for what ops
   *     take while they run
   * @param queued most ops that wait
   * @throws IllegalArgumentException for less than 64 bytes
   * @throws OutOfBudgetException when the interpreter has not that much
   */
  public Eager(Engine interpreter, long budget, Level level, int queued) {
    interpreter.requireOpen("session");
    if (budget < BlockArena.rounded(1)) {
      throw new IllegalArgumentException(
          "session: got a budget of %d bytes, expected at least %d; pass what its values take"
              .formatted(budget, BlockArena.rounded(1)));
    }
    this.interpreter = interpreter;
    this.level = level;
    this.budget = budget & -BlockArena.rounded(1);
    plans = new OpPlans(interpreter.workers().threads());
    worker =
        new EagerWorker(
            interpreter.workers(), interpreter.allocator(), this.budget, values, queued);
    try {
      interpreter.addReader(this);
      read.add(interpreter);
    } catch (IllegalStateException e) {
      worker.close();
      throw e;
    }
  }

  /** Has nodes computed, and what they need; their values stay while there is room for others. */
  public void run(List<Node> nodes) {
    Object place = place();
    List<SessionValue> wanted = new ArrayList<>();
    synchronized (recording) {
      for (Node node : nodes) {
        record(OpPlans.base(node), place).ifPresent(wanted::add);
      }
    }
    if (level == Level.SYNCHRONOUS) {
      EagerWorker.await(worker.submit(evaluator -> evaluator.firstFailure(wanted), nodes));
    }
  }

  /**
   * The numbers of a node, computed if need be, row-major, converted to float.
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
   * Writes the numbers of nodes into leaves of their shapes and types, one after the other; nodes
   * that need what was in the leaves keep their values. All numbers are those from before the first
   * write. Returns when it is done.
   *
   * @throws IllegalArgumentException when a shape or type is not that of the leaf; none is written
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
    Engine.beforeWrite(leaf, this);
    long bytes = (long) node.shape().elements() * node.type().bytes();
    CompletableFuture<Optional<Failure>> done;
    synchronized (recording) {
      use(leaf);
      done = withValue(node, (evaluator, source) -> evaluator.store(source, leaf, bytes));
    }
    EagerWorker.await(done);
  }

  /** Gives up the values of nodes; asked for again, they are computed anew. */
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

  /** Returns when all that was asked for is done. */
  public void sync() {
    EagerWorker.await(worker.submit(_ -> Optional.empty(), List.of()));
  }

  /** What was done; commands that wait are not in it. */
  public Statistics statistics() {
    return worker.statistics();
  }

  @Override
  public void beforeClose(Engine device) {
    if (device == interpreter) {
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
      // Where another thread has just had the same leaf expire, that is to be waited for.
      done = expiry;
    }
    try {
      EagerWorker.await(done);
    } catch (EagerWorker.Closed _) {
      worker.awaitEnd();
    }
  }

  /** Puts an op, and those it needs, into the queue, unless they were; nothing for leaves. */
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

  /** Whether nothing is to be computed. */
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
    Recipe recipe = new Recipe(node.op(), node.shape(), node.type(), plan, sources, held, place);
    if (level == Level.ERRORS_SYNCHRONOUS) {
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
    long bytes = BlockArena.rounded(recipe.bytes());
    bytes += recipe.plan().workspace() > 0 ? BlockArena.rounded(recipe.plan().workspace()) : 0;
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

  /** What to do with a value. */
  private interface Use {
    Optional<Failure> of(Evaluator evaluator, Recipe.Operand value);
  }

  /** Has something done in turn with the value of a node, in memory without gaps. */
  private CompletableFuture<Optional<Failure>> withValue(Node node, Use use) {
    synchronized (recording) {
      boolean isCopied = !OpPlans.isDense(node);
      Object place = place();
      // What a copy shows was asked for no less than the copy.
      record(OpPlans.base(node), place);
      Node base = isCopied ? copy(node) : OpPlans.base(node);
      record(base, place);
      Recipe.Operand source = source(base);
      var done = worker.submit(evaluator -> use.of(evaluator, source), List.of(base));
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

  /** The line outside of Tern that calls; prints as in a stack trace. */
  private static Object place() {
    StackWalker.@Nullable StackFrame frame =
        STACK.walk(frames ->
            frames.filter(f -> !f.getClassName().startsWith("dev.tern.")).findFirst().orElse(null));
    return frame == null ? "an unknown line" : frame;
  }
}
