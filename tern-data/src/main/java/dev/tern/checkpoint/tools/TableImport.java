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

/** Makes a checkpoint in which one table has the rows of a file. */
public final class TableImport {
  private TableImport() {}

  /**
   * A file or folder with rows.
   *
   * @param path the file or folder
   * @param format its format
   * @param layout layout of the records of a HugeCTR file; empty to find it by the length of the
   *     file, which fails where several layouts fit
   */
  public record Source(Path path, TableFormat format, Optional<RecordLayout> layout) {
    public Source {
      if (layout.isPresent() && format != TableFormat.HUGECTR) {
        throw new DataException(
            "%s: got the layout %s of records for the format %s, expected it for hugectr alone; leave it out (--record)"
                .formatted(path, layout.get(), format.name().toLowerCase(Locale.ROOT)));
      }
    }
  }

  /**
   * Writes a copy of {@code checkpoint} as a full checkpoint; table {@code slot} has the rows of
   * {@code source} instead of its own. {@link TableFormat#SAFETENSORS} brings the optimizer state;
   * in other formats it begins anew. Rows count as seen once, in the last step.
   *
   * @param target a new folder
   * @return rows of the table
   */
  public static long write(
      Checkpoint checkpoint, int slot, TableFormat format, Path source, Path target) {
    return write(checkpoint, slot, new Source(source, format, Optional.empty()), target);
  }

  /** As {@link #write(Checkpoint, int, TableFormat, Path, Path)}, for any source. */
  public static long write(Checkpoint checkpoint, int slot, Source source, Path target) {
    long[] count = new long[1];
    checkpoint.rewrite(
        target,
        1,
        (table, shard, file) -> {
          if (table == slot) {
            count[0] = writeTable(checkpoint, slot, source, file);
          } else {
            TableFile.merge(
                file, checkpoint.tableFiles(table), checkpoint.tables().get(table), shard);
          }
        });
    return count[0];
  }

  private static long writeTable(Checkpoint checkpoint, int slot, Source source, Path file) {
    String name = checkpoint.tables().get(slot);
    List<Path> files = checkpoint.tableFiles(slot);
    RowShape shape = RowShape.of(files.getLast());
    try (SavedTable saved = SavedTable.open(files, shape)) {
      int[] metadata = {lastStep(saved), 1, Float.floatToIntBits(1)};
      if (source.format() == TableFormat.SAFETENSORS) {
        return fromSafeTensors(source.path(), file, name, saved, metadata);
      }
      ImportedRows rows =
          source.format() == TableFormat.TEXT
              ? ImportedRows.text(source.path(), checkpoint, slot, shape.width())
              : HugeCtrRows.read(
                  source.path(),
                  shape.width(),
                  Set.copyOf(checkpoint.slotsOf(slot)),
                  source.layout());
      float[] state = checkpoint.initialState(slot, shape.width(), shape.state());
      RowSource fresh = rows.source(shape, state, metadata);
      TableFile.write(file, name, fresh, rows.count(), saved);
      return rows.count();
    } catch (IOException e) {
      throw new UncheckedIOException(
          "%s: got an error reading it (%s), expected rows of a table; check the path and --format"
              .formatted(source.path(), DataException.reason(e)),
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
