package dev.tern.train;

import dev.tern.data.DataException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The checkpoints that a run writes into its folder: when, and which of them are full. */
final class RunCheckpoints {
  private final CheckpointFolder folder;
  private final CheckpointWriter writer;
  private final DeltaSchedule schedule;

  /** The last full checkpoint and what follows it; empty before the first. */
  private final List<Path> chain = new ArrayList<>();

  private long fullBytes;
  private long deltaBytes;
  private long lastStep;
  private long lastNanos = System.nanoTime();

  RunCheckpoints(Path folder, CheckpointWriter writer, DeltaSchedule schedule) {
    this.folder = new CheckpointFolder(folder);
    this.writer = writer;
    this.schedule = schedule;
  }

  /** Goes on after a checkpoint that the run was resumed from, where that is one of this folder. */
  void goOnFrom(CheckpointChain resumed) {
    List<Path> parts = resumed.parts().stream().map(Manifest::folder).toList();
    lastStep = RunFacts.state(resumed.last().json()).step();
    if (schedule.isNever() || !parts.stream().allMatch(this::isMine)) {
      return;
    }
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
  void write(RunState state) {
    Path target = folder.write(path -> writer.write(path, state), state);
    lastStep = state.step();
    chain.clear();
    deltaBytes = 0;
    if (!schedule.isNever()) {
      add(target);
    }
  }

  /** Writes a full checkpoint beside the others, as of the best evaluation. */
  void writeBest(RunState state) {
    folder.writeBest(path -> writer.write(path, state));
  }

  /** Writes what changed since the last checkpoint, if the schedule says that it is time. */
  void writeIfDue(RunState state) {
    boolean steps = schedule.steps() > 0 && state.step() - lastStep >= schedule.steps();
    boolean time =
        !schedule.time().isZero() && System.nanoTime() - lastNanos >= schedule.time().toNanos();
    if (steps || time) {
      writeShort(state);
    }
  }

  /** Writes what changed since the last checkpoint, or a full one where that is called for. */
  void writeShort(RunState state) {
    if (chain.isEmpty() || chain.size() > schedule.most() || deltaBytes > fullBytes) {
      write(state);
      return;
    }
    Path target =
        folder.writeDelta(path -> writer.writeChanges(path, state, chain.getLast()), state, chain);
    lastStep = state.step();
    add(target);
  }

  private void add(Path part) {
    if (chain.isEmpty()) {
      fullBytes = bytes(part);
    } else {
      deltaBytes += bytes(part);
    }
    chain.add(part);
    writer.track();
    lastNanos = System.nanoTime();
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
