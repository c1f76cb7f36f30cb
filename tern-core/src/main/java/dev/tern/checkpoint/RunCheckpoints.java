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
 * The checkpoints that a run writes into its folder: when, and which of them are full. Another
 * thread writes them while training goes on, where tables allow for that, one after another: when
 * the next one is due before that, training waits.
 */
public final class RunCheckpoints {
  private final CheckpointFolder folder;
  private final CheckpointWriter writer;
  private final DeltaSchedule schedule;

  /** The last full checkpoint and what follows it; empty before the first. */
  private final List<Path> chain = new ArrayList<>();

  private long fullBytes;
  private long deltaBytes;

  /** Of the last checkpoint, or where the run went on from. */
  private long lastStep;

  private long lastNanos = System.nanoTime();

  // Another thread has all of the above while one is written.
  private Optional<Thread> writing = Optional.empty();
  private Optional<Throwable> failure = Optional.empty();

  public RunCheckpoints(Path folder, CheckpointWriter writer, DeltaSchedule schedule) {
    this.folder = new CheckpointFolder(folder);
    this.writer = writer;
    this.schedule = schedule;
  }

  /** Goes on after a checkpoint that the run was resumed from, where that is one of this folder. */
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

  /** Has a full checkpoint written. */
  public void write(RunState state) {
    finish();
    CheckpointImage image = writer.image(state, false);
    lastStep = state.step();
    start(
        image,
        !schedule.isNever(),
        () -> {
          Path target = folder.write(path -> image.write(path, Optional.empty()), state);
          chain.clear();
          deltaBytes = 0;
          if (!schedule.isNever()) {
            add(target);
          }
        });
  }

  /** Has a full checkpoint written beside the others, as of the best evaluation. */
  public void writeBest(RunState state) {
    finish();
    CheckpointImage image = writer.image(state, false);
    start(image, false, () -> folder.writeBest(path -> image.write(path, Optional.empty())));
  }

  /** Has what changed since the last checkpoint written, if the schedule says that it is time. */
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

  /** Has the end of a run written, unless the last checkpoint is of that step. */
  public void writeLast(RunState state) {
    if (state.step() != lastStep) {
      writeShort(state);
    }
  }

  /** Has what changed since the last checkpoint written, or a full one where that is called for. */
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
          add(folder.writeDelta(path -> image.write(path, Optional.of(previous)), state, chain));
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
   * Runs {@code work}, which writes an image: on another thread, unless tables wait for it.
   *
   * @param track whether the next checkpoint of changes is to say those after this image
   */
  private void start(CheckpointImage image, boolean track, Runnable work) {
    Runnable whole =
        () -> {
          try (image) {
            work.run();
          } catch (RuntimeException | Error e) {
            // What changed since is not known any more: the next one is to be a full one.
            chain.clear();
            failure = Optional.of(e);
          }
        };
    boolean aside = !image.holdsTables();
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
      // No memory for lists of changes, or no thread.
      chain.clear();
      image.close();
      throw e;
    }
  }

  /** Fails where the last checkpoint could not be written. Does not wait for one that still is. */
  public void check() {
    if (writing.isPresent() && !writing.get().isAlive()) {
      finish();
    }
  }

  /** Waits until no checkpoint is being written, and fails where one could not be. */
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
