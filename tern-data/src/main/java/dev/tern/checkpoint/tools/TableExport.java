package dev.tern.checkpoint.tools;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.internal.checkpoint.AtomicFolder;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.checkpoint.RowWriter;
import dev.tern.internal.checkpoint.SafeTensors;
import dev.tern.internal.checkpoint.SavedTable;
import dev.tern.internal.checkpoint.TableFile;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
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
   * What {@link #writeChanges} wrote.
   *
   * @param rows rows that are new or changed
   * @param gone ids whose rows are gone
   */
  public record Changes(long rows, long gone) {}

  /**
   * Writes table {@code slot}. The file or folder appears whole or not at all.
   *
   * @param target a new file, or for {@link TableFormat#HUGECTR} a new folder
   * @return rows written
   * @throws DataException if something is at {@code target}
   */
  public static long write(Checkpoint checkpoint, int slot, TableFormat format, Path target) {
    long[] count = new long[1];
    AtomicFolder.writeNew(
        target,
        writing -> {
          count[0] = writeTable(checkpoint, slot, format, target, writing);
          checkpoint.requireUnchanged();
        });
    return count[0];
  }

  /**
   * Writes table {@code slot} as lines of text that say what each row belongs to. The first line
   * names the columns: {@code id}, {@code value} (the text or integer of the data; empty where it
   * is not known, as for missing values and hashes), {@code weight} (the linear weight, where the
   * model has one), and {@code v0}, {@code v1} and so on, the vector. In values a backslash stands
   * before another and in {@code \t}, {@code \n} and {@code \r}.
   *
   * @param target a new file
   * @return rows written
   * @throws DataException if something is at {@code target}
   */
  public static long writeValues(Checkpoint checkpoint, int slot, Path target) {
    long[] count = new long[1];
    AtomicFolder.writeNew(
        target,
        writing -> {
          count[0] = values(checkpoint, slot, target, writing);
          checkpoint.requireUnchanged();
        });
    return count[0];
  }

  private static long values(Checkpoint checkpoint, int slot, Path target, Path writing) {
    List<Path> files = checkpoint.tableFiles(slot);
    RowShape shape = RowShape.of(files.getLast());
    RowValues values = new RowValues(checkpoint, slot);
    try (SavedTable table = SavedTable.open(files, shape);
        RowWalk rows = new RowWalk(shape, table);
        RowLines lines =
            new RowLines(writing, shape.width(), RowValues.unsigned(checkpoint, slot))) {
      lines.names(RowNames.of(checkpoint, shape.width()));
      long count = 0;
      for (; rows.next(); count++) {
        lines.row(rows, values.of(rows.id()));
      }
      return count;
    } catch (IOException e) {
      throw AtomicFolder.unwritten(target, e);
    }
  }

  /**
   * Writes how the weights of table {@code slot} changed from {@code since} to {@code checkpoint},
   * for a server that has the weights of {@code since}. In {@link TableFormat#TEXT} a row that is
   * gone is a line with its id alone. In {@link TableFormat#SAFETENSORS} there are {@code ids},
   * {@code weights}, {@code gone} (I64, ascending) and an empty {@code state}.
   *
   * @param target a new file
   * @throws DataException for {@link TableFormat#HUGECTR}, which has no form for a row that is
   *     gone; if the checkpoints have different models or encoders; if something is at {@code
   *     target}
   */
  public static Changes writeChanges(
      Checkpoint since, Checkpoint checkpoint, int slot, TableFormat format, Path target) {
    if (format == TableFormat.HUGECTR) {
      throw new DataException(
          target
              + ": got changes to write for HugeCTR, expected text or safetensors: its folders"
              + " cannot say which rows went; choose another --format");
    }
    Changes[] count = new Changes[1];
    AtomicFolder.writeNew(
        target,
        writing -> {
          count[0] = ChangesExport.count(since, checkpoint, slot);
          try {
            if (format == TableFormat.TEXT) {
              ChangesExport.text(since, checkpoint, slot, writing);
            } else {
              ChangesExport.safetensors(since, checkpoint, slot, count[0], writing);
            }
            since.requireUnchanged();
            checkpoint.requireUnchanged();
          } catch (IOException e) {
            throw AtomicFolder.unwritten(target, e);
          }
        });
    return count[0];
  }

  private static long writeTable(
      Checkpoint checkpoint, int slot, TableFormat format, Path target, Path writing) {
    List<Path> files = checkpoint.tableFiles(slot);
    RowShape shape = RowShape.of(files.getLast());
    try (SavedTable table = SavedTable.open(files, shape);
        RowWalk rows = new RowWalk(shape, table)) {
      return switch (format) {
        case TEXT -> text(rows, shape.width(), RowValues.unsigned(checkpoint, slot), writing);
        case SAFETENSORS -> safetensors(checkpoint, slot, writing);
        case HUGECTR -> hugectr(rows, shape.width(), checkpoint.slotsOf(slot).getFirst(), writing);
      };
    } catch (IOException e) {
      throw AtomicFolder.unwritten(target, e);
    }
  }

  private static long text(RowWalk rows, int width, boolean unsigned, Path target)
      throws IOException {
    long count = 0;
    try (RowLines lines = new RowLines(target, width, unsigned)) {
      for (; rows.next(); count++) {
        lines.row(rows);
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
