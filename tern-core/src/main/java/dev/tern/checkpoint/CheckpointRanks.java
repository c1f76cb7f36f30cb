package dev.tern.checkpoint;

import dev.tern.base.DataException;
import dev.tern.embedding.TableShard;
import dev.tern.exchange.Mesh;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How several ranks write one checkpoint into a folder that all of them reach: rank 0 makes the
 * folder and says so, each rank writes the files of its own shards, and rank 0 writes the rest and
 * renames the folder. Training waits meanwhile, as ranks do one thing after another.
 */
record CheckpointRanks(Mesh mesh) {
  /** Room for the list of a rank's files, for each of them. */
  private static final int BYTES_OF_FILE = 256;

  /** Whether this rank makes the folder. */
  boolean leads() {
    return mesh.rank() == 0;
  }

  /** Files of each table. */
  int shards() {
    return TableShard.countOfRanks(mesh.ranks());
  }

  /** What this rank has of each table. */
  TableShard share() {
    return TableShard.ofRank(mesh.rank(), mesh.ranks());
  }

  /** Rank 0 tells the others that it got so far; these wait until it does. */
  void step() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment sign = arena.allocate(Byte.BYTES);
      if (leads()) {
        for (int rank = 1; rank < mesh.ranks(); rank++) {
          mesh.send(rank, sign).await();
        }
      } else {
        mesh.receive(0, sign).await();
      }
    }
  }

  /** Gives the digests of this rank's files to rank 0. */
  void give(Map<String, String> digests) {
    StringBuilder text = new StringBuilder();
    digests.forEach((name, digest) -> text.append(name).append(' ').append(digest).append('\n'));
    try (Arena arena = Arena.ofConfined()) {
      byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
      mesh.send(0, arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes)).await();
    }
  }

  /** The digests of the files of all other ranks, of {@code tables} tables each. */
  Map<String, String> take(int tables) {
    Map<String, String> digests = new LinkedHashMap<>();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment room = arena.allocate((long) BYTES_OF_FILE * Math.max(1, tables) * shards());
      for (int rank = 1; rank < mesh.ranks(); rank++) {
        long bytes = mesh.receive(rank, room).await();
        byte[] text = room.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
        for (String line : new String(text, StandardCharsets.UTF_8).lines().toList()) {
          String[] file = line.split(" ", 2);
          if (file.length < 2) {
            throw new DataException(
                "checkpoint: got %s of rank %d, expected a file and its digest"
                    .formatted(line, rank));
          }
          digests.put(file[0], file[1]);
        }
      }
    }
    return digests;
  }
}
