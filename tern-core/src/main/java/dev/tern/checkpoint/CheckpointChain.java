package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.internal.checkpoint.AtomicFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * A full checkpoint and the deltas that follow it, in order. Together they make the state that the
 * last of them stands for. Each delta names the checkpoint before it and the hash of its manifest,
 * so that no part can be left out, exchanged or moved.
 *
 * @param parts the full checkpoint first; at least one
 */
record CheckpointChain(List<Manifest> parts) {
  /** Reads the chain that ends in {@code folder} and checks all files of all parts. */
  static CheckpointChain read(Path folder) {
    return readAfter(folder, "");
  }

  /**
   * The same, but without the part whose manifest has the SHA-256 {@code known}, and those before
   * it, if it is one of them.
   */
  static CheckpointChain readAfter(Path folder, String known) {
    Deque<Manifest> parts = new ArrayDeque<>();
    parts.addFirst(Manifest.read(folder));
    while (parts.getFirst().previous().isPresent()) {
      requireName(parts.getFirst());
      if (parts.getFirst().previous().get().hash().equals(known)) {
        break;
      }
      parts.addFirst(before(parts.getFirst(), parts.getFirst().previous().get()));
    }
    return new CheckpointChain(List.copyOf(parts));
  }

  /** Checks that a delta has its own name: exchanged parts would give weights of another step. */
  private static void requireName(Manifest part) {
    String name = CheckpointFolder.deltaName(RunFacts.state(part.json()).step());
    if (!AtomicFolder.nameOf(part.folder()).equals(name)) {
      throw new DataException(
          "%s: got the checkpoint of changes %s, expected a folder of that name; give it its name back, beside the one before"
              .formatted(part.folder(), name));
    }
  }

  private static Manifest before(Manifest part, Manifest.Previous previous) {
    Path manifest = part.file(Manifest.NAME);
    if (!CheckpointFolder.isName(previous.name())) {
      throw new DataException(
          "%s: got a checkpoint that follows %s, expected the name of one beside it; the checkpoint was changed or damaged, use another one"
              .formatted(manifest, previous.name()));
    }
    Path folder = AtomicFolder.current(part.folder().resolveSibling(previous.name()));
    if (!Files.isDirectory(folder)) {
      throw new DataException(
          "%s: got no such folder, expected the checkpoint that %s says the changes to; put it back, or use another checkpoint"
              .formatted(folder, part.folder()));
    }
    Manifest before = Manifest.read(folder);
    if (!before.hash().equals(previous.hash())) {
      throw new DataException(
          "%s: got changes to a checkpoint whose manifest has SHA-256 %s, expected %s as %s has; the changes belong to another checkpoint, use a full one"
              .formatted(manifest, previous.hash(), before.hash(), folder));
    }
    return before;
  }

  /**
   * Checks that all that was read so far belongs to this chain: a run may replace a checkpoint
   * while somebody reads it.
   *
   * @throws DataException if it did
   */
  void requireUnchanged() {
    parts.forEach(Manifest::requireUnchanged);
  }

  /** Whether it begins with a full checkpoint. */
  boolean isWhole() {
    return base().previous().isEmpty();
  }

  /** The last part, which holds the state of the run. */
  Manifest last() {
    return parts.getLast();
  }

  /** The full checkpoint at its beginning. */
  Manifest base() {
    return parts.getFirst();
  }
}
