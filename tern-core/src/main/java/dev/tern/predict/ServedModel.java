package dev.tern.predict;

import dev.tern.base.DataException;
import dev.tern.base.Workers;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.CheckpointMark;
import dev.tern.checkpoint.CheckpointWatch;
import dev.tern.checkpoint.CheckpointWatch.Changes;
import dev.tern.checkpoint.CheckpointWatch.Follow;
import dev.tern.checkpoint.CheckpointWatch.Found;
import dev.tern.checkpoint.CheckpointWatch.Whole;
import dev.tern.data.Schema;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.model.ModelFactory;
import dev.tern.tensor.Device;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A model in service that takes each update of its run without a pause. Whoever scores pins the
 * version of the moment, which stays as it is until it is given back; pinning takes no lock and
 * makes no garbage. A new version is made beside the versions in use, is tried out, and serves
 * those who come from then on:
 *
 * <pre>{@code
 * try (ServedModel model = ServedModel.open(Path.of("runs/ctr"), ServedOptions.DEFAULT)) {
 *   model.warmUp();
 *   model.start();
 *   try (ModelVersion version = model.pin()) {
 *     float click = version.score(Map.of("age", 39, "site", "news")); // of version.step()
 *   }
 * }
 * }</pre>
 *
 * <p>A checkpoint of changes that follows the step in memory is read alone, and of a full one only
 * what differs; the tables are shared by all versions. Where a checkpoint is damaged, incomplete or
 * out of order, the version before goes on serving.
 *
 * <p>Thread-safe. {@link #pin} waits for nothing; other methods take turns.
 */
public final class ServedModel implements AutoCloseable {
  /** How often the folder is looked at; its system may not tell of changes. */
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

  /** The same while changes wait for versions in use. */
  private static final Duration SOON = Duration.ofMillis(10);

  /** Between two looks whether versions are given back, and how many to wait for at a roll back. */
  private static final long PAUSE_NANOS = 100_000;

  private static final int MOST_PAUSES = 20_000;
  private static final int MOST_TRIES = 5;

  /** What nothing follows and everything comes after. */
  private static final CheckpointMark NOTHING = new CheckpointMark(-1, "", List.of(), "");

  private final Path path;
  private final ServedOptions options;
  private final Optional<ModelFactory> factory;
  private final Consumer<ModelEvent> listener;
  private final Device device;
  private final Optional<CheckpointWatch> watch;

  // For the methods that take turns.
  private final List<LayeredModel> leaving = new ArrayList<>();
  private LayeredModel model;
  private RecentRows recent = RecentRows.NONE;
  private Optional<Found> found = Optional.empty();
  private Follow follow;
  private boolean held;

  /** Whether the update at hand was asked for by its step, which no guard forbids. */
  private boolean asked;

  /** Whether an update waits for the memory of models or versions that are leaving. */
  private boolean lacksMemory;

  private boolean warm;
  private Optional<Thread> follower = Optional.empty();

  private volatile boolean closing;
  private volatile ModelVersion current;

  private ServedModel(
      Path path,
      Optional<ModelFactory> factory,
      ServedOptions options,
      Consumer<ModelEvent> listener) {
    this.path = path;
    this.options = options;
    this.factory = factory;
    this.listener = listener;
    follow = options.follow();
    boolean isRun = !Checkpoint.isAt(path);
    watch = isRun ? Optional.of(CheckpointWatch.of(path)) : Optional.empty();
    device = Device.cpu(1, options.memory());
    try {
      long begin = System.nanoTime();
      model = first();
      current = model.version();
      loaded(ModelEvent.How.WHOLE, begin, new ModelEvent.Read(model.from(), 0));
    } catch (RuntimeException | Error e) {
      device.close();
      watch.ifPresent(CheckpointWatch::close);
      throw e;
    }
  }

  /** Opens a run, or a checkpoint, which is served for good. */
  public static ServedModel open(Path run, ServedOptions options) {
    return open(run, options, _ -> {});
  }

  /**
   * The same.
   *
   * @param listener takes what happens, one event after another; it must not call the model
   */
  public static ServedModel open(Path run, ServedOptions options, Consumer<ModelEvent> listener) {
    return new ServedModel(run, Optional.empty(), options, listener);
  }

  /** The same for a model of one's own. */
  public static ServedModel open(
      Path run, ModelFactory factory, ServedOptions options, Consumer<ModelEvent> listener) {
    return new ServedModel(run, Optional.of(factory), options, listener);
  }

  private LayeredModel first() {
    for (int tries = 1; ; tries++) {
      Optional<Checkpoint> newest = Optional.empty();
      if (watch.isPresent()
          && watch.get().next(NOTHING, follow, this::refuse).orElse(null) instanceof Whole whole) {
        newest = Optional.of(whole.checkpoint());
      }
      try {
        return load(newest.orElseGet(this::only));
      } catch (DataException e) {
        if (watch.isEmpty() || tries == MOST_TRIES) {
          throw e;
        }
        // Training may have replaced it meanwhile.
      }
    }
  }

  /** The checkpoint at the path, or whatever a run has that did not come to a whole one. */
  private Checkpoint only() {
    if (follow instanceof Follow.Step(long step) && watch.isPresent()) {
      throw new DataException(
          "%s: got no whole checkpoint of step %d, expected one; follow the latest, or wait for it"
              .formatted(path, step));
    }
    return follow == Follow.LATEST ? Checkpoint.openLatest(path) : Checkpoint.open(path);
  }

  private LayeredModel load(Checkpoint checkpoint) {
    Schema schema = checkpoint.encoder().rawSchema();
    RecentRows rows = recent.isOf(schema) ? recent : RecentRows.NONE;
    if (rows == RecentRows.NONE && !Double.isInfinite(options.maxShift())) {
      rows = RecentRows.of(schema);
    }
    LayeredModel loaded = new LayeredModel(device, checkpoint, factory, options, rows);
    recent = rows;
    return loaded;
  }

  /**
   * The version of the moment, to be given back by {@link ModelVersion#close}; while it is pinned,
   * memory that it needs stays. So pin for a request, not for longer.
   *
   * @throws IllegalStateException after {@link #close}
   */
  public ModelVersion pin() {
    while (true) {
      ModelVersion version = current;
      if (version.pinned()) {
        return version;
      }
      requireOpen();
      // Retired since it was read: there is a newer one.
    }
  }

  /**
   * {@link Predictor#warmUp} for the version of the moment; later versions are warm before they
   * serve.
   */
  public synchronized void warmUp() {
    requireOpen();
    warm = true;
    current.predictor().warmUp();
    current.items().ifPresent(ItemFinder::prepare);
  }

  /**
   * Has the JIT compile what updates run, so that requests beside the first ones are as fast as
   * later ones. It takes about {@code time} and the memory of an update. A service that follows a
   * run calls it once, before {@link #start}. No other call may be under way.
   */
  public synchronized void rehearse(Duration time) {
    requireOpen();
    if (watch.isPresent()) {
      model.rehearse(time);
    }
  }

  /** Follows the run on a thread of its own until {@link #close}; a second call does nothing. */
  public synchronized void start() {
    if (follower.isEmpty() && watch.isPresent() && !closing) {
      follower = Optional.of(Thread.ofPlatform().daemon().name("tern-follow").start(this::run));
    }
  }

  private void run() {
    String failure = "";
    try {
      while (!closing) {
        boolean more = false;
        Duration pause = LOOK_EVERY;
        try {
          more = refresh();
          pause = isWaiting() ? SOON : LOOK_EVERY;
          failure = "";
        } catch (RuntimeException | OutOfMemoryError e) {
          // Such as a folder that cannot be listed now: serving goes on, and so does looking.
          if (!failure.equals(e.toString())) {
            failure = e.toString();
            tell(new ModelEvent.Refused(path, failure));
          }
        }
        if (!more) {
          watch.orElseThrow().await(pause);
        }
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized boolean isWaiting() {
    return found.isPresent() || !leaving.isEmpty() || model.isWaiting();
  }

  /**
   * Looks for an update now, and takes it.
   *
   * @return whether a new version serves; then there may be more
   */
  public synchronized boolean refresh() {
    if (closing) {
      return false;
    }
    tidy();
    if (watch.isEmpty() || held || model.isFull() || lacksMemory && isLeaving()) {
      return false;
    }
    lacksMemory = false;
    if (found.isEmpty()) {
      found = watch.get().next(current.mark(), follow, this::refuse);
    }
    if (found.isEmpty()) {
      return false;
    }
    boolean taken = take(found.get());
    if (taken) {
      tidy();
    }
    return taken;
  }

  /** Whether memory becomes free once requests give back a model or version that served before. */
  private boolean isLeaving() {
    return !leaving.isEmpty() || model.hasEarlierInUse();
  }

  /** Frees what is no longer in use. */
  private void tidy() {
    leaving.removeIf(old -> {
      boolean drained = old.isDrained();
      if (drained) {
        old.close();
      }
      return drained;
    });
    model.fold();
  }

  /** Takes an update; if it cannot serve, says so and declines it for good. */
  private boolean take(Found update) {
    Path folder =
        switch (update) {
          case Whole whole -> whole.checkpoint().folder();
          case Changes changes -> changes.delta().folder();
        };
    try {
      return switch (update) {
        case Changes changes -> takeChanges(changes);
        case Whole whole -> takeWhole(whole.checkpoint());
      };
    } catch (OutOfBudgetException e) {
      if (asked ? !leaving.isEmpty() : isLeaving()) {
        lacksMemory = true; // What leaves will make room.
        return false;
      }
      decline(update, folder, "it does not fit into the memory that is left: " + e.getMessage());
    } catch (RuntimeException e) {
      boolean went = !Files.isDirectory(folder) || wasReplaced(update);
      if (went) {
        found = Optional.empty(); // What is there now is found at the next look.
      } else {
        decline(update, folder, String.valueOf(e.getMessage()));
      }
    }
    return false;
  }

  private static boolean wasReplaced(Found update) {
    try {
      switch (update) {
        case Whole whole -> whole.checkpoint().requireUnchanged();
        case Changes changes -> changes.delta().requireUnchanged();
      }
      return false;
    } catch (DataException | UncheckedIOException _) {
      return true;
    }
  }

  private void decline(Found update, Path folder, String reason) {
    found = Optional.empty();
    if (!asked) {
      watch.ifPresent(each -> each.decline(update.mark()));
    }
    tell(new ModelEvent.Refused(folder, reason));
  }

  private boolean takeChanges(Changes update) {
    long begin = System.nanoTime();
    long bytes = update.delta().bytes();
    if (bytes > options.deltaMemory()) {
      String reason =
          "got changes of %d bytes, expected %d at most; the next full checkpoint will serve"
              .formatted(bytes, options.deltaMemory());
      decline(update, update.delta().folder(), reason);
      return false;
    }
    if (model.isStuck() || !model.update(ModelUpdate.of(update.delta()))) {
      // Such changes serve as a part of the whole checkpoint.
      found = watch.orElseThrow().next(NOTHING, follow, this::refuse);
      return found.isPresent() && take(found.get());
    }
    return serve(update, update.delta().folder(), ModelEvent.How.CHANGES, begin);
  }

  private boolean takeWhole(Checkpoint checkpoint) {
    long begin = System.nanoTime();
    Whole update = new Whole(checkpoint);
    if (model.isOf(checkpoint) && !model.isStuck()) {
      if (!model.fold()) {
        return false; // Later, when no version before the current one is in use.
      }
      if (model.update(ModelUpdate.of(checkpoint, options.deltaMemory()))) {
        return serve(update, checkpoint.folder(), ModelEvent.How.DIFFERENCE, begin);
      }
    }
    return replace(update, begin);
  }

  /** Has another model serve, unless it moves predictions too far. */
  private boolean replace(Whole update, long begin) {
    RecentRows rows = recent;
    model.spare();
    LayeredModel next = load(update.checkpoint());
    boolean serves = false;
    try {
      ModelVersion version = version(next);
      Optional<String> reason = shift(rows, current, version);
      if (reason.isPresent()) {
        decline(update, update.checkpoint().folder(), reason.get());
        return false;
      }
      serves = true;
      leaving.add(model);
      model = next;
      publish(version);
      loaded(ModelEvent.How.WHOLE, begin, new ModelEvent.Read(update.checkpoint().folder(), 0));
      return true;
    } finally {
      if (!serves) {
        recent = rows;
        next.close();
      }
    }
  }

  /** Has the update that the model has read serve, unless it moves predictions too far. */
  private boolean serve(Found update, Path folder, ModelEvent.How how, long begin) {
    ModelVersion next;
    try {
      next = version(model);
    } catch (RuntimeException | Error e) {
      model.takeBack();
      throw e;
    }
    Optional<String> reason = shift(recent, current, next);
    if (reason.isPresent()) {
      next.retire();
      model.takeBack();
      decline(update, folder, reason.get());
      return false;
    }
    long rows = model.changed();
    publish(next);
    loaded(how, begin, new ModelEvent.Read(folder, rows));
    return true;
  }

  /** A version of a model's state, warm if the ones before were. */
  private ModelVersion version(LayeredModel of) {
    ModelVersion next = of.version();
    try {
      if (warm) {
        next.prepare();
      }
      return next;
    } catch (RuntimeException | Error e) {
      next.retire();
      throw e;
    }
  }

  private void loaded(ModelEvent.How how, long begin, ModelEvent.Read read) {
    tell(new ModelEvent.Loaded(current.step(), how, since(begin), read));
  }

  private void publish(ModelVersion next) {
    found = Optional.empty();
    ModelVersion before = current;
    current = next;
    before.retire();
  }

  /** Why the rows scored last forbid a version; empty if they do not, or it was asked for. */
  private Optional<String> shift(RecentRows rows, ModelVersion before, ModelVersion next) {
    return asked ? Optional.empty() : rows.shift(before, next, options.maxShift());
  }

  /** The steps that {@link #rollBack} has in memory, the last first. */
  public synchronized List<Long> earlierSteps() {
    requireOpen();
    return model.earlier();
  }

  /**
   * Has an earlier step serve again, and takes no more updates until {@link #goOn}. The step is in
   * memory, or a checkpoint of the run.
   *
   * @throws DataException if there is none of this step; or if it must be read from the folder, and
   *     versions from before the current one stay pinned for seconds
   */
  public synchronized void rollBack(long step) {
    requireOpen();
    long from = current.step();
    if (step != from) {
      tidy();
      found = Optional.empty();
      if (model.earlier().contains(step)) {
        model.reserve();
        model.back(step);
        publish(backVersion());
      } else if (!readAsked(step)) {
        throw new DataException(
            "%s: got step %d to roll back to, expected one of %s in memory, or one that a checkpoint is of"
                .formatted(path, step, model.earlier()));
      }
    }
    held = true;
    tell(new ModelEvent.RolledBack(step, from));
    tidy();
  }

  /** The step that the model went back to serves, whether there is memory for its items or not. */
  private ModelVersion backVersion() {
    try {
      return model.version();
    } catch (OutOfBudgetException | DataException e) {
      tell(new ModelEvent.Refused(path, "no items are found at this step: " + e.getMessage()));
      return model.versionWithoutItems();
    }
  }

  private boolean readAsked(long step) {
    asked = true;
    try {
      return readStep(step);
    } finally {
      asked = false;
    }
  }

  private boolean readStep(long step) {
    found = watch.flatMap(each -> each.next(NOTHING, new Follow.Step(step), this::refuse));
    for (int tries = 0; found.isPresent() && tries < MOST_PAUSES; tries++) {
      if (take(found.get())) {
        return current.step() == step;
      }
      LockSupport.parkNanos(PAUSE_NANOS); // Versions before the current one are in use.
    }
    if (found.isPresent()) {
      found = Optional.empty();
      throw new DataException(
          "%s: got step %d to roll back to while versions from before step %d are pinned, expected none; give them back and try again"
              .formatted(path, step, current.step()));
    }
    return false;
  }

  /** Takes updates again after {@link #rollBack}. */
  public synchronized void goOn() {
    requireOpen();
    held = false;
  }

  /** Serves another checkpoint of the run from the next {@link #refresh} on. */
  public synchronized void follow(Follow which) {
    requireOpen();
    follow = which;
    found = Optional.empty();
    held = false;
  }

  /** Bytes of off-heap memory in use: tables, changes, weights and working memory. */
  public long memoryInUse() {
    return device.memoryInUse();
  }

  private void refuse(Path checkpoint, RuntimeException reason) {
    tell(new ModelEvent.Refused(checkpoint, String.valueOf(reason.getMessage())));
  }

  /** Tells the listener, whose failure is its own. */
  private void tell(ModelEvent event) {
    try {
      listener.accept(event);
    } catch (RuntimeException e) {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
    }
  }

  private void requireOpen() {
    if (closing) {
      throw new IllegalStateException("served model: got a call after close; open a new one");
    }
  }

  private synchronized boolean isLeft() {
    return leaving.stream().allMatch(LayeredModel::isDrained);
  }

  private static Duration since(long begin) {
    return Duration.ofNanos(System.nanoTime() - begin);
  }

  /** Ends the thread that follows, waits until all versions are given back, and frees the model. */
  @Override
  public void close() {
    Optional<Thread> ending;
    synchronized (this) {
      if (closing) {
        return;
      }
      closing = true;
      ending = follower;
      watch.ifPresent(CheckpointWatch::close);
    }
    ending.ifPresent(Workers::awaitEnd);
    synchronized (this) {
      current.retire();
      leaving.add(model);
    }
    while (!isLeft()) { // Not under the lock, which who has a pin may wait for.
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    synchronized (this) {
      leaving.forEach(LayeredModel::close);
      device.close();
    }
  }
}
