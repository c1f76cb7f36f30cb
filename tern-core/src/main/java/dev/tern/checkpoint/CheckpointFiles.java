package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.internal.checkpoint.AtomicFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * One checkpoint, full or of changes, as the files that it consists of, for who carries it to
 * another machine:
 *
 * <pre>{@code
 * for (CheckpointFiles part : Checkpoint.openLatest(run).files()) {
 *   for (String name : part.names()) {
 *     send(name, part.folder().resolve(name));
 *   }
 * }
 * // Elsewhere, where the files of one have come into a folder:
 * CheckpointFiles.read(arrived).moveInto(Path.of("spool/checkpoints"));
 * }</pre>
 */
public final class CheckpointFiles {
  private final Manifest manifest;

  CheckpointFiles(Manifest manifest) {
    this.manifest = manifest;
  }

  /**
   * The checkpoint in a folder of any name. Checks the digest of each file, but not what it
   * follows.
   *
   * @throws DataException if it is damaged or incomplete
   */
  public static CheckpointFiles read(Path folder) {
    return new CheckpointFiles(Manifest.read(folder));
  }

  public Path folder() {
    return manifest.folder();
  }

  /** Training steps of the model. */
  public long step() {
    return RunFacts.state(manifest.json()).step();
  }

  /** The name of its folder in a run: {@code step-N}, or {@code step-N.delta} for changes. */
  public String name() {
    return isFull() ? CheckpointFolder.fullName(step()) : CheckpointFolder.deltaName(step());
  }

  /** Whether it is a full checkpoint, not one of changes. */
  public boolean isFull() {
    return manifest.previous().isEmpty();
  }

  /** SHA-256 of its manifest, which has the digests of its files. */
  public String hash() {
    return manifest.hash();
  }

  /** The {@link #hash} of the checkpoint that it has the changes to; empty for a full one. */
  public Optional<String> previousHash() {
    return manifest.previous().map(Manifest.Previous::hash);
  }

  /** The {@link #name} of the checkpoint that it has the changes to; empty for a full one. */
  public Optional<String> previousName() {
    return manifest.previous().map(Manifest.Previous::name);
  }

  /** Paths of all its files in {@link #folder}, the manifest first, with {@code /} in them. */
  public List<String> names() {
    List<String> names = new ArrayList<>(List.of(Manifest.NAME, Manifest.HASH));
    names.addAll(manifest.json().object("files").fields().keySet());
    return List.copyOf(names);
  }

  /**
   * Checks that the folder still holds what was read: a run may replace or remove it.
   *
   * @throws DataException if it holds another checkpoint or none
   */
  public void requireUnchanged() {
    manifest.requireUnchanged();
  }

  /**
   * Moves the checkpoint under its {@link #name} into the folder of a run's checkpoints, where it
   * appears whole or not at all; it takes the place of one of that name. Both folders are on one
   * disk.
   *
   * @return the checkpoint there
   */
  public CheckpointFiles moveInto(Path checkpoints) {
    Path target = checkpoints.resolve(name());
    AtomicFolder.write(
        target,
        writing -> {
          try (Stream<Path> inside = Files.list(folder())) {
            for (Path each : (Iterable<Path>) inside::iterator) {
              Files.move(each, writing.resolve(each.getFileName().toString()));
            }
          } catch (IOException e) {
            throw AtomicFolder.unwritten(target, e);
          }
        });
    return new CheckpointFiles(new Manifest(target, manifest.json(), manifest.hash()));
  }

  /**
   * Removes all checkpoints of steps, and what a crash left of one, except those of some names. No
   * other file is touched.
   */
  public static void removeOthers(Path checkpoints, Collection<String> kept) {
    for (Path child : AtomicFolder.children(checkpoints)) {
      String name = AtomicFolder.nameOf(child);
      if (CheckpointFolder.isName(name) && !kept.contains(child.getFileName().toString())) {
        try {
          AtomicFolder.remove(child);
        } catch (IOException e) {
          throw new UncheckedIOException(
              child + ": cannot be removed: " + DataException.reason(e), e);
        }
      }
    }
  }
}
