package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.base.Workers;
import dev.tern.internal.checkpoint.AtomicFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The checkpoints of a run: decides when to write one, and whether it is full or a delta. Another
 * thread writes one at a time while training continues, unless the tables must wait. If the next
 * one is due before that thread ends, training waits.
 *
 * <p>For the training thread. If writing fails, the next call of {@link #check} or {@link #finish}
 * throws the error.
 */
public final class RunCheckpoints {
  private final CheckpointFolder folder;
  private final CheckpointWriter writer;
  private final DeltaSchedule schedule;

  /** The last full checkpoint and its deltas; empty before the first. */
  private final List<Path> chain = new ArrayList<>();

  private long fullBytes;
  private long deltaBytes;

  /** The step of the last checkpoint, or of the one that the run resumed from. */
  private long lastStep;

  private long lastNanos = System.nanoTime();

  // While a checkpoint is being written, all fields above belong to that thread.
  private Optional<Thread> writing = Optional.empty();
  private Optional<Throwable> failure = Optional.empty();

  public RunCheckpoints(Path folder, CheckpointWriter writer, DeltaSchedule schedule) {
    this.folder = new CheckpointFolder(folder);
    this.writer = writer;
    this.schedule = schedule;
  }

  /**
   * Continues after the checkpoint that the run resumed from. If it lies in this run's folder, the
   * next delta follows it.
   */
  public void goOnFrom(Checkpoint resumed) {
    List<Path> parts = resumed.parts();
    lastStep = resumed.step();
    if (schedule.isNever() || !parts.stream().allMatch(this::isMine)) {
      return;
    }
    writer.track();
    for (Path part : parts) {
      add(folder.path().resolve(part.getFileName()));
    }
  }

  private boolean isMine(Path part) {
    Path parent = part.toAbsolutePath().normalize().getParent();
    return folder.path().toAbsolutePath().normalize().equals(parent)
        && CheckpointFolder.isName(AtomicFolder.nameOf(part));
  }

  /** Writes a full checkpoint. */
  public void write(RunState state) {
    finish();
    CheckpointImage image = writer.image(state, false);
    lastStep = state.step();
    start(
        image,
        !schedule.isNever(),
        () -> {
          Path target = writeFull(CheckpointFolder.fullName(state.step()), image);
          chain.clear();
          deltaBytes = 0;
          if (!schedule.isNever()) {
            add(target);
          }
        });
  }

  private Path writeFull(String name, CheckpointImage image) {
    if (writer.ranks().filter(ranks -> !ranks.leads()).isEmpty()) {
      return folder.write(name, path -> image.write(path, Optional.empty()), List.of());
    }
    // Rank 0 removes those before it.
    Path target = folder.path().resolve(name);
    image.write(target, Optional.empty());
    return target;
  }

  /** Writes a full checkpoint of the best evaluation, beside the others. */
  public void writeBest(RunState state) {
    finish();
    CheckpointImage image = writer.image(state, false);
    start(image, false, () -> folder.writeBest(path -> image.write(path, Optional.empty())));
  }

  /** Writes a delta, if the schedule says that it is time. */
  public void writeIfDue(RunState state) {
    boolean steps = schedule.steps() > 0 && state.step() - lastStep >= schedule.steps();
    if (steps || isTime()) {
      writeShort(state);
    }
  }

  private boolean isTime() {
    return !schedule.time().isZero()
        && writing.isEmpty()
        && System.nanoTime() - lastNanos >= schedule.time().toNanos();
  }

  /** Writes the end of a run, unless the last checkpoint is of that step. */
  public void writeLast(RunState state) {
    if (state.step() != lastStep) {
      writeShort(state);
    }
  }

  /** Writes a delta, or a full checkpoint if the chain is empty, too long or too large. */
  private void writeShort(RunState state) {
    finish();
    if (chain.isEmpty() || chain.size() > schedule.most() || deltaBytes > fullBytes) {
      write(state);
      return;
    }
    CheckpointImage image = writer.image(state, true);
    lastStep = state.step();
    start(
        image,
        true,
        () -> {
          Manifest.Previous previous = Manifest.Previous.of(chain.getLast());
          String name = CheckpointFolder.deltaName(state.step());
          add(folder.write(name, path -> image.write(path, Optional.of(previous)), chain));
        });
  }

  private void add(Path part) {
    if (chain.isEmpty()) {
      fullBytes = bytes(part);
    } else {
      deltaBytes += bytes(part);
    }
    chain.add(part);
    lastNanos = System.nanoTime();
  }

  /**
   * Runs {@code work}, which writes {@code image}: on another thread, unless tables must wait.
   *
   * @param track whether the next delta starts from this image
   */
  private void start(CheckpointImage image, boolean track, Runnable work) {
    Runnable whole =
        () -> {
          try (image) {
            work.run();
          } catch (RuntimeException | Error e) {
            // The changes since then are unknown: the next checkpoint must be full.
            chain.clear();
            failure = Optional.of(e);
          }
        };
    // Ranks write in step with what else they exchange.
    boolean aside = !image.holdsTables() && writer.ranks().isEmpty();
    if (!aside) {
      whole.run();
      finish();
    }
    try {
      if (track) {
        writer.track();
      }
      if (aside) {
        writing = Optional.of(Thread.ofPlatform().daemon().name("tern-checkpoint").start(whole));
      }
    } catch (RuntimeException | Error e) {
      // There is no memory for lists of changes, or no thread.
      chain.clear();
      image.close();
      throw e;
    }
  }

  /** Throws if the last checkpoint could not be written. Does not wait. */
  public void check() {
    if (writing.isPresent() && !writing.get().isAlive()) {
      finish();
    }
  }

  /** Waits until no checkpoint is being written; throws if one could not be. */
  public void finish() {
    writing.ifPresent(Workers::awaitEnd);
    writing = Optional.empty();
    Optional<Throwable> failed = failure;
    failure = Optional.empty();
    switch (failed.orElse(null)) {
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case null, default -> {}
    }
  }

  private static long bytes(Path folder) {
    try (Stream<Path> below = Files.walk(folder)) {
      long bytes = 0;
      for (Path path : (Iterable<Path>) below::iterator) {
        bytes += Files.isRegularFile(path) ? Files.size(path) : 0;
      }
      return bytes;
    } catch (IOException e) {
      throw new UncheckedIOException(folder + ": cannot be read: " + DataException.reason(e), e);
    }
  }
}
