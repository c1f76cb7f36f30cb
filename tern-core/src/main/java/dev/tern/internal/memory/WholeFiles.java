package dev.tern.internal.memory;

import static java.nio.file.StandardOpenOption.DELETE_ON_CLOSE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** As {@link FileMemory}, by the JDK's own means: a range is a file, all of it from the start. */
final class WholeFiles implements Backing {
  private static final int PIECE = 1 << 20;

  private final Path folder;
  private final Map<Long, Mapping> mappings = new HashMap<>();

  private record Mapping(Arena arena, FileChannel channel) {}

  WholeFiles(Path folder) {
    this.folder = folder;
    unreserve(reserve(Pages.PAGE), Pages.PAGE);
  }

  @Override
  public boolean isWhole() {
    return true;
  }

  @Override
  public boolean gives() {
    return false;
  }

  @Override
  public long reserve(long bytes) {
    Path file = FileMemory.fresh(folder);
    Arena arena = Arena.ofShared();
    try {
      FileChannel channel = FileChannel.open(file, READ, WRITE, DELETE_ON_CLOSE);
      try {
        fill(channel, bytes);
        long address = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena).address();
        mappings.put(address, new Mapping(arena, channel));
        return address;
      } catch (IOException e) {
        channel.close();
        throw e;
      }
    } catch (IOException e) {
      arena.close();
      throw FileMemory.full(folder, bytes, e);
    }
  }

  /** Writes it all: a disk that has no room says so now, and not when memory is written to. */
  private static void fill(FileChannel channel, long bytes) throws IOException {
    ByteBuffer zeros = ByteBuffer.allocateDirect(PIECE);
    for (long at = 0; at < bytes; ) {
      zeros.clear().limit((int) Math.min(PIECE, bytes - at));
      at += channel.write(zeros, at);
    }
  }

  @Override
  public int commit(long address, long bytes) {
    return 0;
  }

  @Override
  public int decommit(long address, long bytes) {
    throw new AssertionError("decommit: whole files give nothing back");
  }

  @Override
  public int unreserve(long address, long bytes) {
    Mapping mapping = mappings.remove(address);
    if (mapping == null) {
      throw Pages.refused("unmap", bytes);
    }
    mapping.arena.close();
    try {
      mapping.channel.close();
    } catch (IOException e) {
      throw FileMemory.full(folder, 0, e);
    }
    return 2;
  }
}
