package dev.tern.train;

import dev.tern.data.DataException;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Writes the rows of a checkpoint's table for others to read. */
public final class TableExport {
  static final String KEY = "key";
  static final String VECTOR = "emb_vector";
  static final String SLOT = "slot_id";

  private TableExport() {}

  /**
   * Writes the table of a slot.
   *
   * @param target a new file, or for {@link TableFormat#HUGECTR} a new folder
   * @return rows written
   */
  public static long write(Checkpoint checkpoint, int slot, TableFormat format, Path target) {
    if (Files.exists(target)) {
      throw new DataException(
          target + ": got a path where something is, expected none; give another name");
    }
    List<Path> files = checkpoint.tableFiles(slot);
    RowShape shape = RowShape.of(files.getLast());
    try (SavedTable table = SavedTable.open(files, shape);
        RowWalk rows = new RowWalk(shape, table)) {
      return switch (format) {
        case TEXT -> text(rows, shape.width(), target);
        case SAFETENSORS -> safetensors(checkpoint, slot, target);
        case HUGECTR -> hugectr(rows, shape.width(), checkpoint.slotsOf(slot).getFirst(), target);
      };
    } catch (IOException e) {
      throw new UncheckedIOException(
          target
              + ": got an error writing it ("
              + DataException.reason(e)
              + "), expected room on the disk; free some or choose another folder",
          e);
    }
  }

  private static long text(RowWalk rows, int width, Path target) throws IOException {
    long count = 0;
    try (OutputStream out = Files.newOutputStream(target);
        PrintStream lines =
            new PrintStream(new BufferedOutputStream(out), false, StandardCharsets.UTF_8)) {
      for (; rows.next(); count++) {
        lines.print(rows.id());
        for (int j = 0; j < width; j++) {
          lines.print('\t');
          lines.print(rows.weight(j));
        }
        lines.print('\n');
      }
      if (lines.checkError()) {
        throw new IOException("the disk took no more");
      }
    }
    return count;
  }

  private static long safetensors(Checkpoint checkpoint, int slot, Path target) {
    List<Path> files = checkpoint.tableFiles(slot);
    RowShape all = RowShape.of(files.getLast());
    RowShape shape = new RowShape(all.storage(), all.width(), all.state(), 0);
    try (SavedTable counted = SavedTable.open(files, shape);
        SavedTable saved = SavedTable.open(files, shape)) {
      long rows = counted.count();
      SafeTensors.Layout layout = RowWriter.layout(shape, rows);
      String name = checkpoint.tables().get(slot);
      try (SafeTensors file = SafeTensors.create(target, layout, TableFile.name(name))) {
        new RowWriter(shape, file, rows).appendAll(saved);
      }
      return rows;
    }
  }

  private static long hugectr(RowWalk rows, int width, int slot, Path target) throws IOException {
    Files.createDirectories(target);
    long count = 0;
    try (DataOutputStream keys = output(target.resolve(KEY));
        DataOutputStream vectors = output(target.resolve(VECTOR));
        DataOutputStream slots = output(target.resolve(SLOT))) {
      for (; rows.next(); count++) {
        keys.writeLong(Long.reverseBytes(rows.id()));
        slots.writeLong(Long.reverseBytes(slot));
        for (int j = 0; j < width; j++) {
          vectors.writeInt(Integer.reverseBytes(Float.floatToRawIntBits(rows.weight(j))));
        }
      }
    }
    return count;
  }

  private static DataOutputStream output(Path file) throws IOException {
    return new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file), 1 << 16));
  }
}
