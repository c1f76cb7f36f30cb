package dev.tern.checkpoint.tools;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.embedding.config.RowSource;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.internal.checkpoint.SafeTensors;
import dev.tern.internal.checkpoint.SavedTable;
import dev.tern.internal.checkpoint.TableFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Makes a checkpoint whose table of one slot has the rows of a file. */
public final class TableImport {
  private TableImport() {}

  /**
   * Writes {@code checkpoint} with the rows of {@code source} in the table of a slot, in place of
   * those there, as a full checkpoint. Optimizer state comes along from {@link
   * TableFormat#SAFETENSORS}, else it begins anew. Rows count as seen once, in the last step.
   *
   * @param target a new folder
   * @return rows of the table
   */
  public static long write(
      Checkpoint checkpoint, int slot, TableFormat format, Path source, Path target) {
    return write(checkpoint, slot, format, Optional.empty(), source, target);
  }

  /**
   * As without {@code layout}, for a file of records of HugeCTR whose length fits several layouts.
   *
   * @param layout of the records; none to tell it by the length
   */
  public static long write(
      Checkpoint checkpoint,
      int slot,
      TableFormat format,
      Optional<RecordLayout> layout,
      Path source,
      Path target) {
    if (layout.isPresent() && format != TableFormat.HUGECTR) {
      throw new DataException(
          "%s: got the layout %s of records for the format %s, expected it for hugectr alone; leave it out (--record)"
              .formatted(source, layout.get(), format.name().toLowerCase(Locale.ROOT)));
    }
    List<Path> files = checkpoint.tableFiles(slot);
    RowShape shape = RowShape.of(files.getLast());
    long[] count = new long[1];
    checkpoint.rewrite(
        target,
        1,
        (table, shard, file) -> {
          if (table == slot) {
            count[0] = write(checkpoint, slot, shape, format, layout, source, file);
          } else {
            TableFile.merge(
                file, checkpoint.tableFiles(table), checkpoint.tables().get(table), shard);
          }
        });
    return count[0];
  }

  private static long write(
      Checkpoint checkpoint,
      int slot,
      RowShape shape,
      TableFormat format,
      Optional<RecordLayout> layout,
      Path source,
      Path file) {
    String name = checkpoint.tables().get(slot);
    try (SavedTable saved = SavedTable.open(checkpoint.tableFiles(slot), shape)) {
      int[] metadata = {lastStep(saved), 1, Float.floatToIntBits(1)};
      if (format == TableFormat.SAFETENSORS) {
        return fromSafeTensors(source, file, name, saved, metadata);
      }
      ImportedRows rows =
          format == TableFormat.TEXT
              ? ImportedRows.text(source, shape.width())
              : HugeCtrRows.read(
                  source, shape.width(), Set.copyOf(checkpoint.slotsOf(slot)), layout);
      float[] state = checkpoint.initialState(shape.width(), shape.state());
      RowSource fresh = rows.source(shape, state, metadata);
      TableFile.write(file, name, fresh, rows.count(), saved);
      return rows.count();
    } catch (IOException e) {
      throw new UncheckedIOException(
          source
              + ": got an error reading it ("
              + DataException.reason(e)
              + "), expected rows of a table; check the path and --format",
          e);
    }
  }

  private static long fromSafeTensors(
      Path source, Path file, String name, SavedTable saved, int[] metadata) {
    RowShape shape = saved.shape();
    requireWhole(source);
    RowShape given = new RowShape(shape.storage(), shape.width(), shape.state(), 0);
    try (SavedTable counted = SavedTable.open(List.of(source), given);
        SavedTable rows = SavedTable.open(List.of(source), given)) {
      long count = counted.count();
      TableFile.write(file, name, new WithMetadata(rows, shape, metadata), count, saved);
      return count;
    }
  }

  private static void requireWhole(Path source) {
    try (SafeTensors file = SafeTensors.open(source)) {
      if (file.names().contains(TableFile.GONE)) {
        throw new DataException(
            source
                + ": got the changes of a table, expected a whole one; export it without --since");
      }
    }
  }

  private static int lastStep(SavedTable saved) {
    return saved.hasHistory() ? (int) Math.max(1, saved.counters()[0]) : 1;
  }
}
