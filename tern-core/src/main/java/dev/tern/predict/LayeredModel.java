package dev.tern.predict;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.CheckpointMark;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.embedding.EmbeddingTable;
import dev.tern.embedding.SlotTables;
import dev.tern.embedding.TableChanges;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.model.ModelFactory;
import dev.tern.model.Network;
import dev.tern.tensor.Device;
import dev.tern.tensor.Variable;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One model in memory and its versions: tables that all versions share, layers of changes over
 * them, and weights of layers for each version.
 *
 * <p>An update becomes a layer over the tables, beneath which its version reads. Versions before it
 * read without that layer. Once nobody uses those, the tables take the layer in ({@link
 * EmbeddingTable#fold}); what it replaced becomes a layer that leads back. To take an update back
 * is to put that layer over the tables as the next update.
 *
 * <p>For one thread at a time; versions are for any.
 */
final class LayeredModel {
  /** Layers that wait at most: each costs a lookup another probe. */
  static final int MOST_WAITING = 8;

  private final Device device;
  private final Network base;
  private final ModelFactory factory;
  private final FeatureEncoder encoder;
  private final String encoders;
  private final int threads;
  private final int mostUndo;
  private final RecentRows recent;
  private final Optional<Candidates> candidates;

  /** What was read as a whole. */
  private final Checkpoint from;

  /** The changes over the tables, which take in the first next: those that lead back come first. */
  private final Deque<StepChanges> waiting = new ArrayDeque<>();

  /** What leads back from the tables as they are, the last step first. */
  private final Deque<StepChanges> undo = new ArrayDeque<>();

  /** Versions that may be in use, the newest last. */
  private final List<Use> uses = new ArrayList<>();

  /** Of versions that left, for the next one: one at most, as it holds memory. */
  private final List<Seat> free = new ArrayList<>();

  /** All states and changes that are not closed. */
  private final Set<ModelState> states = new HashSet<>();

  private final Set<StepChanges> changes = new HashSet<>();

  private ModelState current;

  /** Whether the tables took a part of a layer in and had no memory for the rest. */
  private boolean stuck;

  /** A version that may be in use, and the changes that it reads beneath. */
  private record Use(ModelVersion version, Seat seat, Set<StepChanges> beneath) {}

  LayeredModel(
      Device device,
      Checkpoint checkpoint,
      Optional<ModelFactory> own,
      ServedOptions options,
      RecentRows recent) {
    this.device = device;
    this.recent = recent;
    encoder = checkpoint.encoder();
    threads = options.scoring().threads();
    mostUndo = options.undo();
    factory = own.orElseGet(checkpoint::requireModel);
    encoders = checkpoint.encodersDigest();
    from = checkpoint;
    candidates = options.candidates().map(source -> source.read(checkpoint));
    base = checkpoint.load(device, factory, options.scoring().tables(), true);
    try {
      current = state(checkpoint.mark(), List.of());
      for (int v = 0; v < base.variables().size(); v++) {
        current.network().variables().get(v).set(base.variables().get(v).toArray());
      }
      // The tables alone are used from here on.
      base.variables().forEach(Variable::close);
      current.view().prepareUnknown();
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private ModelState state(CheckpointMark mark, List<StepChanges> beneath) {
    SlotTables view = base.tables().beneath(byTable(beneath));
    ModelState state = new ModelState(mark, base.beside(factory, view), view);
    states.add(state);
    return state;
  }

  private List<List<TableChanges>> byTable(List<StepChanges> steps) {
    List<List<TableChanges>> all = new ArrayList<>();
    for (int t = 0; t < base.tables().tables().size(); t++) {
      int table = t;
      all.add(steps.stream().map(step -> step.tables().get(table)).toList());
    }
    return all;
  }

  /** A version of the current state, which is in use from here on, with vectors of all items. */
  ModelVersion version() {
    reserve(); // First: it is easier to give back than vectors of items.
    return version(candidates.map(all -> ItemFinder.of(current.network(), encoder, all, threads)));
  }

  /** A version that finds no items, as there is no memory for their vectors. */
  ModelVersion versionWithoutItems() {
    return version(Optional.empty());
  }

  private ModelVersion version(Optional<ItemFinder> items) {
    try {
      reserve();
      Seat seat = free.getLast();
      seat.set(current.network(), byTable(List.copyOf(waiting)));
      ModelVersion version = new ModelVersion(current, seat.predictor(), recent, items);
      uses.add(new Use(version, seat, new HashSet<>(waiting)));
      free.removeLast();
      return version;
    } catch (RuntimeException | Error e) {
      items.ifPresent(ItemFinder::close);
      throw e;
    }
  }

  /** Makes sure that the next version has a seat, while nothing has changed yet. */
  void reserve() {
    sweep();
    if (free.isEmpty()) {
      free.add(seat());
    }
  }

  private Seat seat() {
    SlotTables view = base.tables().beneath(byTable(List.of()));
    Network network = base.beside(factory, view);
    return new Seat(network, view, new Predictor(device, encoder, network, threads));
  }

  /** Frees what is kept for the next version. */
  void spare() {
    free.forEach(Seat::close);
    free.clear();
  }

  private void leave(Use use) {
    use.version().release();
    spare(); // The one that was used last is the one in the cache.
    free.add(use.seat());
  }

  /** The folder of the checkpoint that was read as a whole. */
  Path from() {
    return from.folder();
  }

  /**
   * Goes the way of updates with what the model has already, before the first update ({@link
   * UpdateRehearsal}). No version may be in use but the current one, and no call under way.
   */
  void rehearse(Duration time) {
    if (isWaiting() || !current.mark().equals(from.mark())) {
      return;
    }
    try {
      reserve();
      ModelState beside = state(current.mark(), List.of());
      new UpdateRehearsal(base.tables().tables(), from, beside, free.getLast()).run(time);
    } catch (OutOfBudgetException _) {
      spare(); // Updates will find no room either; requests keep what there is.
    } catch (DataException | UncheckedIOException _) {
      // A training has removed the files meanwhile.
    } finally {
      sweep();
    }
  }

  /** Ids of tables that the last {@link #update} changes. */
  long changed() {
    return waiting.getLast().tables().stream().mapToLong(TableChanges::size).sum();
  }

  /** Whether so many changes wait for versions in use that no more can come. */
  boolean isFull() {
    return !stuck && waiting.size() >= MOST_WAITING;
  }

  /** Whether changes wait to be taken into the tables. */
  boolean isWaiting() {
    return !waiting.isEmpty() || uses.size() > 1;
  }

  /** Whether a version before the current one is in use; its memory becomes free later. */
  boolean hasEarlierInUse() {
    sweep();
    return uses.size() > 1;
  }

  /** Whether no more changes can come, as memory ran out at the wrong moment. */
  boolean isStuck() {
    return stuck;
  }

  /** Whether a checkpoint is of this model, with the same encoder. */
  boolean isOf(Checkpoint checkpoint) {
    return checkpoint.encodersDigest().equals(encoders)
        && checkpoint.mark().model().equals(current.mark().model());
  }

  ModelState current() {
    return current;
  }

  /** The steps that {@link #back} leads to, the last first. */
  List<Long> earlier() {
    List<Long> steps = new ArrayList<>();
    if (stuck) {
      return steps;
    }
    for (StepChanges each : waiting) {
      if (!each.back()) {
        steps.addFirst(each.before().mark().step());
      }
    }
    undo.forEach(each -> steps.add(each.before().mark().step()));
    // Of more, the earliest go once the tables have taken in what waits.
    return List.copyOf(steps.subList(0, Math.min(mostUndo, steps.size())));
  }

  /**
   * Reads an update beside the versions in use; afterwards {@link #version} is of it, but it can
   * still be {@link #takeBack taken back}. Where memory is short, earlier steps go.
   *
   * @return false if the model must be read as a whole; nothing has changed then
   */
  boolean update(ModelUpdate update) {
    while (true) {
      try {
        return tryUpdate(update);
      } catch (OutOfBudgetException e) {
        sweep();
        if (free.isEmpty() && undo.isEmpty()) {
          throw e;
        }
        // The seat last: its memory is needed again a moment later.
        if (undo.isEmpty()) {
          spare();
        } else {
          undo.removeLast();
        }
        sweep();
      }
    }
  }

  private boolean tryUpdate(ModelUpdate update) {
    List<EmbeddingTable> tables = base.tables().tables();
    List<TableChanges> read = newChanges();
    StepChanges step = new StepChanges(read, current, false);
    changes.add(step);
    try {
      if (!update.readTables(tables, read)) {
        return false;
      }
      List<StepChanges> beneath = new ArrayList<>(waiting);
      beneath.add(step);
      ModelState next = state(update.mark(), beneath);
      update.readDense(next.network());
      update.requireUnchanged();
      next.view().prepareUnknown();
      waiting.addLast(step);
      current = next;
      return true;
    } finally {
      sweep();
    }
  }

  private List<TableChanges> newChanges() {
    List<TableChanges> made = new ArrayList<>();
    try {
      for (EmbeddingTable table : base.tables().tables()) {
        made.add(new TableChanges(table));
      }
      return made;
    } catch (RuntimeException | Error e) {
      made.forEach(TableChanges::close);
      throw e;
    }
  }

  /** Forgets the last {@link #update}. Its version must be drained. */
  void takeBack() {
    current = waiting.removeLast().before();
    sweep();
  }

  /** Makes an {@link #earlier} step current; the next {@link #version} is of it. */
  void back(long step) {
    while (!waiting.isEmpty() && !waiting.getLast().back()) {
      StepChanges last = waiting.removeLast();
      current = last.before();
      if (current.mark().step() == step) {
        current.view().set(byTable(List.copyOf(waiting)));
        return;
      }
    }
    while (current.mark().step() != step) {
      StepChanges last = undo.removeFirst();
      waiting.addLast(last);
      current = last.before();
    }
    current.view().set(byTable(List.copyOf(waiting)));
  }

  /**
   * Has the tables take in what they can: changes without which nobody reads. Frees what nobody
   * uses.
   *
   * @return whether nothing is left to do
   */
  boolean fold() {
    sweep();
    while (!waiting.isEmpty() && !stuck && uses.stream().allMatch(this::readsFirst)) {
      fold(waiting.getFirst());
    }
    return waiting.isEmpty() && uses.size() <= 1;
  }

  private boolean readsFirst(Use use) {
    return use.beneath().contains(waiting.getFirst());
  }

  private void fold(StepChanges step) {
    Optional<StepChanges> before = Optional.empty();
    if (!step.back() && mostUndo > 0) {
      before = keeping(step);
    }
    try {
      foldTables(step, before.map(StepChanges::tables).orElse(List.of()));
    } catch (OutOfBudgetException _) {
      // What was kept is of use only as a whole. Without it there may be room for the rest.
      undo.clear();
      before = Optional.empty();
      sweep();
      spare();
      try {
        foldTables(step, List.of());
      } catch (OutOfBudgetException _) {
        stuck = true;
        return;
      }
    }
    waiting.removeFirst();
    for (Use use : uses) {
      use.beneath().remove(step);
      for (int t = 0; t < step.tables().size(); t++) {
        use.version().state().view().drop(t, step.tables().get(t));
        use.seat().view().drop(t, step.tables().get(t));
      }
    }
    before.ifPresent(undo::addFirst);
    while (undo.size() > mostUndo) {
      undo.removeLast();
    }
    sweep();
  }

  private Optional<StepChanges> keeping(StepChanges step) {
    try {
      StepChanges kept = new StepChanges(newChanges(), step.before(), true);
      changes.add(kept);
      return Optional.of(kept);
    } catch (OutOfBudgetException _) {
      return Optional.empty();
    }
  }

  private void foldTables(StepChanges step, List<TableChanges> before) {
    List<EmbeddingTable> tables = base.tables().tables();
    for (int t = 0; t < tables.size(); t++) {
      tables
          .get(t)
          .fold(
              step.tables().get(t),
              before.isEmpty() ? Optional.empty() : Optional.of(before.get(t)));
    }
  }

  /** Frees versions, states and changes that nobody uses, nor may yet. */
  void sweep() {
    uses.removeIf(use -> {
      boolean drained = use.version().isDrained();
      if (drained) {
        leave(use);
      }
      return drained;
    });
    Set<StepChanges> wanted = new HashSet<>(waiting);
    wanted.addAll(undo);
    uses.forEach(use -> wanted.addAll(use.beneath()));
    Set<ModelState> reached = new HashSet<>(Set.of(current));
    wanted.forEach(step -> reached.add(step.before()));
    uses.forEach(use -> reached.add(use.version().state()));
    changes.removeIf(step -> {
      if (!wanted.contains(step)) {
        step.close();
      }
      return !wanted.contains(step);
    });
    states.removeIf(state -> {
      if (!reached.contains(state)) {
        state.network().close();
      }
      return !reached.contains(state);
    });
  }

  /** Whether nobody uses any version. */
  boolean isDrained() {
    sweep();
    spare(); // No version of it comes any more.
    return uses.isEmpty();
  }

  /** Frees everything; no version may be in use. */
  void close() {
    uses.forEach(this::leave);
    uses.clear();
    spare();
    changes.forEach(StepChanges::close);
    changes.clear();
    states.forEach(state -> state.network().close());
    states.clear();
    base.close();
  }
}
