package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.internal.checkpoint.AtomicFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * A full checkpoint and those of changes that follow it, in order: what the last of them stands
 * for. Each names the one before and the hash of its manifest, so none can be left out, exchanged
 * or put elsewhere.
 *
 * @param parts from the full one to the last; one at least
 */
record CheckpointChain(List<Manifest> parts) {
  /** Reads the chain that ends in {@code folder}; all files of all its parts are checked. */
  static CheckpointChain read(Path folder) {
    Deque<Manifest> parts = new ArrayDeque<>();
    parts.addFirst(Manifest.read(folder));
    while (parts.getFirst().previous().isPresent()) {
      requireName(parts.getFirst());
      parts.addFirst(before(parts.getFirst(), parts.getFirst().previous().get()));
    }
    return new CheckpointChain(List.copyOf(parts));
  }

  /** Parts that changed places would give the weights of another step. */
  private static void requireName(Manifest part) {
    String name = CheckpointFolder.deltaName(RunFacts.state(part.json()).step());
    if (!AtomicFolder.nameOf(part.folder()).equals(name)) {
      throw new DataException(
          part.folder()
              + ": got the checkpoint of changes "
              + name
              + ", expected a folder of that name; give it its name back, beside the one before");
    }
  }

  private static Manifest before(Manifest part, Manifest.Previous previous) {
    Path manifest = part.file(Manifest.NAME);
    if (!CheckpointFolder.isName(previous.name())) {
      throw new DataException(
          manifest
              + ": got a checkpoint that follows "
              + previous.name()
              + ", expected the name of one beside it; the checkpoint was changed or damaged, use"
              + " another one");
    }
    Path folder = AtomicFolder.current(part.folder().resolveSibling(previous.name()));
    if (!Files.isDirectory(folder)) {
      throw new DataException(
          folder
              + ": got no such folder, expected the checkpoint that "
              + part.folder()
              + " says the changes to; put it back, or use another checkpoint");
    }
    Manifest before = Manifest.read(folder);
    if (!before.hash().equals(previous.hash())) {
      throw new DataException(
          manifest
              + ": got changes to a checkpoint whose manifest has SHA-256 "
              + previous.hash()
              + ", expected "
              + before.hash()
              + " as "
              + folder
              + " has; the changes belong to another checkpoint, use a full one");
    }
    return before;
  }

  /**
   * Checks that what was read by now of its files was read of it: a run may put another checkpoint
   * in the place of one while that is read.
   *
   * @throws DataException if it did
   */
  void requireUnchanged() {
    for (Manifest part : parts) {
      part.requireUnchanged();
    }
  }

  /** The part that says where the run stands. */
  Manifest last() {
    return parts.getLast();
  }

  /** The full checkpoint at its beginning. */
  Manifest base() {
    return parts.getFirst();
  }
}
