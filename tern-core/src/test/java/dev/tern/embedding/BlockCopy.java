package dev.tern.embedding;

import dev.tern.embedding.config.RowBlock;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/** The rows of a table as they are stored, block by block, as a full checkpoint has them. */
record BlockCopy(List<Block> blocks, long rows) {
  private record Block(long[] ids, byte[] weights, byte[] state, byte[] metadata) {}

  static BlockCopy of(EmbeddingTable table) {
    List<Block> blocks = new ArrayList<>();
    table.exportBlocks(block ->
        blocks.add(
            new Block(
                Arrays.copyOf(block.ids(), block.count()),
                block.weights().toArray(ValueLayout.JAVA_BYTE),
                block.state().toArray(ValueLayout.JAVA_BYTE),
                block.metadata().toArray(ValueLayout.JAVA_BYTE))));
    return new BlockCopy(blocks, table.size());
  }

  /** Fills an empty table of the same config. */
  void importInto(EmbeddingTable table) {
    Iterator<Block> next = blocks.iterator();
    table.importBlocks(rows, into -> next.hasNext() && put(next.next(), into));
  }

  private static boolean put(Block block, RowBlock into) {
    System.arraycopy(block.ids, 0, into.ids(), 0, block.ids.length);
    into.setCount(block.ids.length);
    into.weights().copyFrom(MemorySegment.ofArray(block.weights));
    into.state().copyFrom(MemorySegment.ofArray(block.state));
    into.metadata().copyFrom(MemorySegment.ofArray(block.metadata));
    return true;
  }
}
