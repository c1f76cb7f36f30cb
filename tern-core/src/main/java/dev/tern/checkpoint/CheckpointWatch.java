package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.internal.checkpoint.AtomicFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/**
 * Finds what comes next for who has a checkpoint of a run in memory and follows the run: of a
 * training at work, or of a folder that a copy of one is brought up to date in. It looks at the
 * names {@code step-N}, {@code step-N.delta} and {@code best} alone, so never at what is still
 * being written. It gives whole checkpoints only: whatever is damaged, incomplete or out of order
 * is told of once and looked at again when a file there has changed. It changes no file.
 *
 * <p>For one thread at a time, except {@link #close}.
 */
public final class CheckpointWatch implements AutoCloseable {
  /** How often it begins anew because a file went while it was read. */
  private static final int MOST_TRIES = 5;

  /** Which checkpoint of a run is wanted. */
  public sealed interface Follow {
    /** The one of the latest step. */
    Follow LATEST = Newest.LATEST;

    /** The one of the best evaluation. */
    Follow BEST = Newest.BEST;

    /** See the constants of the same names. */
    enum Newest implements Follow {
      LATEST,
      BEST
    }

    /** The one of a step, which may be still to come. */
    record Step(long step) implements Follow {}
  }

  /** What comes next. */
  public sealed interface Found {
    CheckpointMark mark();
  }

  /** A checkpoint to be read as a whole. */
  public record Whole(Checkpoint checkpoint) implements Found {
    @Override
    public CheckpointMark mark() {
      return checkpoint.mark();
    }
  }

  /** The first of the changes that lead from the checkpoint in memory to the one wanted. */
  public record Changes(CheckpointDelta delta) implements Found {
    @Override
    public CheckpointMark mark() {
      return delta.mark();
    }
  }

  private final Path folder;

  /** Hashes of manifests that are not wanted, nor what follows them. */
  private final Set<String> declined = new HashSet<>();

  /** For what could not be read: what the folder looked like then. */
  private final Map<Path, String> failures = new HashMap<>();

  /** What was told of: folders with the hashes that they say. */
  private final Set<String> told = new HashSet<>();

  /** Checked parts that follow what was given last. */
  private final Deque<Manifest> ready = new ArrayDeque<>();

  /** What {@link #ready} was found for. */
  private Follow readyFor = Follow.LATEST;

  private final Optional<WatchService> events;

  private CheckpointWatch(Path folder) {
    this.folder = folder;
    events = watch(folder);
  }

  /** Watches the checkpoints of a run: its folder, or the folder {@code checkpoints} in it. */
  public static CheckpointWatch of(Path run) {
    Path inside = run.resolve("checkpoints");
    return new CheckpointWatch(Files.isDirectory(inside) ? inside : run);
  }

  private static Optional<WatchService> watch(Path folder) {
    try {
      WatchService service = folder.getFileSystem().newWatchService();
      try {
        folder.register(
            service, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_DELETE);
      } catch (IOException | RuntimeException e) {
        service.close();
        return Optional.empty();
      }
      return Optional.of(service);
    } catch (IOException | UnsupportedOperationException _) {
      return Optional.empty(); // Looking again after a while finds the same, later.
    }
  }

  public Path folder() {
    return folder;
  }

  /**
   * What comes after the checkpoint in memory; empty if that is the one wanted, or the newest that
   * is whole. A checkpoint that it follows never comes after it.
   *
   * @param damaged takes, once for each, the folder of what cannot be read, and why
   */
  public Optional<Found> next(
      CheckpointMark served, Follow follow, BiConsumer<Path, RuntimeException> damaged) {
    if (!follow.equals(readyFor)) {
      ready.clear();
      readyFor = follow;
    }
    Optional<Found> following = following(served);
    if (following.isPresent()) {
      return following;
    }
    for (int tries = 0; tries < MOST_TRIES; tries++) {
      try {
        return look(served, follow, damaged);
      } catch (VanishedException e) {
        // Training removes older parts once a newer full checkpoint is there: look for that.
        if (tries == MOST_TRIES - 1) {
          report(e.folder, e.reason, fingerprint(), damaged);
        }
      }
    }
    return Optional.empty();
  }

  /** Changes that were checked with those before them. */
  private Optional<Found> following(CheckpointMark served) {
    Optional<Manifest> part = Optional.ofNullable(ready.pollFirst());
    Optional<Manifest> fitting =
        part.filter(
            next -> next.previous().filter(p -> p.hash().equals(served.hash())).isPresent());
    if (fitting.isEmpty()) {
      ready.clear();
    }
    return fitting.map(next -> new Changes(new CheckpointDelta(next, served)));
  }

  /** Never gives this again, nor what follows it. */
  public void decline(CheckpointMark found) {
    declined.add(found.hash());
    ready.clear();
  }

  private static final class VanishedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Path folder;
    private final transient RuntimeException reason;

    VanishedException(Path folder, RuntimeException reason) {
      super(reason);
      this.folder = folder;
      this.reason = reason;
    }
  }

  private Optional<Found> look(
      CheckpointMark served, Follow follow, BiConsumer<Path, RuntimeException> damaged) {
    List<Path> wanted = wanted(follow);
    failures.keySet().retainAll(wanted);
    String fingerprint = failures.isEmpty() ? "" : fingerprint();
    for (Path each : wanted) {
      String hash = hash(each);
      boolean past = follow == Follow.LATEST && served.before().contains(hash);
      if (hash.equals(served.hash()) || past) {
        return Optional.empty();
      }
      if (declined.contains(hash) || fingerprint.equals(failures.get(each))) {
        continue;
      }
      try {
        Optional<Found> found = read(each, served);
        if (found.isPresent()) {
          return found;
        }
      } catch (DataException | UncheckedIOException e) {
        if (!Files.isDirectory(each) || !wanted.equals(wanted(follow))) {
          throw new VanishedException(each, e);
        }
        report(each, e, fingerprint(), damaged);
      }
    }
    return Optional.empty();
  }

  private void report(
      Path each,
      RuntimeException reason,
      String fingerprint,
      BiConsumer<Path, RuntimeException> damaged) {
    failures.put(each, fingerprint);
    if (told.add(each.getFileName() + " " + hash(each))) {
      damaged.accept(each, reason);
    }
  }

  private List<Path> wanted(Follow follow) {
    return switch (follow) {
      case Follow.Newest.LATEST -> CheckpointFolder.newestFirst(folder);
      case Follow.Newest.BEST -> there(Stream.of(CheckpointFolder.BEST));
      case Follow.Step(long step) ->
          there(Stream.of(CheckpointFolder.fullName(step), CheckpointFolder.deltaName(step)));
    };
  }

  private List<Path> there(Stream<String> names) {
    return names.map(folder::resolve).filter(Files::isDirectory).toList();
  }

  /** Empty if it follows something that was declined. */
  private Optional<Found> read(Path each, CheckpointMark served) {
    CheckpointChain chain = CheckpointChain.readAfter(each, served.hash());
    if (chain.parts().stream().anyMatch(part -> declined.contains(part.hash()))) {
      declined.add(chain.last().hash()); // Not to be checked again.
      return Optional.empty();
    }
    if (chain.isWhole()) {
      return Optional.of(new Whole(Checkpoint.of(chain)));
    }
    Found first = new Changes(new CheckpointDelta(chain.base(), served));
    ready.addAll(chain.parts().subList(1, chain.parts().size()));
    return Optional.of(first);
  }

  /** What the file beside the manifest says is its hash; empty if it cannot be read. */
  private static String hash(Path checkpoint) {
    try {
      return Files.readString(checkpoint.resolve(Manifest.HASH)).strip();
    } catch (IOException _) {
      return "";
    }
  }

  /** Names, sizes and times of all files of checkpoints. */
  private String fingerprint() {
    StringBuilder all = new StringBuilder();
    for (Path child : AtomicFolder.children(folder)) {
      try (Stream<Path> below = Files.walk(child)) {
        for (Path path : (Iterable<Path>) below.sorted()::iterator) {
          all.append(folder.relativize(path)).append(' ').append(Files.size(path)).append(' ');
          all.append(Files.getLastModifiedTime(path)).append('\n');
        }
      } catch (IOException | UncheckedIOException _) {
        all.append(child.getFileName()).append(" changes\n");
      }
    }
    return all.toString();
  }

  /** Returns when the folder has changed, or after that time; at once if this is closed. */
  public void await(Duration most) throws InterruptedException {
    if (events.isEmpty()) {
      Thread.sleep(most);
      return;
    }
    try {
      WatchKey key = events.get().poll(most.toNanos(), TimeUnit.NANOSECONDS);
      if (key != null) {
        key.pollEvents();
        key.reset();
      }
    } catch (ClosedWatchServiceException _) {
      // Closing ends the wait.
    }
  }

  /** Ends a wait. */
  @Override
  public void close() {
    try {
      if (events.isPresent()) {
        events.get().close();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(folder + ": " + DataException.reason(e), e);
    }
  }
}
