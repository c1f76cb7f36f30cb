package dev.tern.predict;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.data.Batch;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.internal.table.index.IdNumbers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * Items that a served model finds the best of: the columns of each as they were read, and the text
 * that answers have for it. Each version of the model computes their vectors anew. One thread adds;
 * afterwards any number may read.
 *
 * <pre>{@code
 * Candidates candidates = new Candidates(encoder.rawSchema(), List.of("item", "category"));
 * Batch rows = new Batch(encoder.rawSchema(), 1);
 * encoder.addRow(Map.of("item", "A17", "category", "shoes"), rows);
 * candidates.add(rows, row -> "A17");
 * }</pre>
 */
public final class Candidates {
  private static final int PIECE = 1 << 14;
  private static final int LEAST_TEXT = 1 << 12;

  private final Schema raw;
  private final int naming;
  private final String column;

  /** The item's dense columns and slots in raw rows. */
  private final int[] dense;

  private final int[] slots;
  private final Schema own;
  private final List<Batch> pieces = new ArrayList<>();
  private final IdNumbers numbers = new IdNumbers();
  private byte[] texts = new byte[LEAST_TEXT];
  private int[] ends = new int[PIECE];
  private long without;

  /** What reads the candidates of a model when it is opened, and again when it is replaced. */
  @FunctionalInterface
  public interface Source {
    /**
     * The candidates of the model of {@code checkpoint}.
     *
     * @throws DataException if they cannot be read
     */
    Candidates read(Checkpoint checkpoint);
  }

  /**
   * No items yet.
   *
   * @param raw the columns of rows, {@code FeatureEncoder.rawSchema}
   * @param itemColumns the columns of the item; the first one's ids name it
   */
  public Candidates(Schema raw, List<String> itemColumns) {
    this.raw = raw;
    column = itemColumns.getFirst();
    naming = raw.slotNames().indexOf(column);
    if (naming < 0) {
      throw new IllegalArgumentException(
          "candidates: got items named by %s, which is no column of ids of the rows, %s; name one"
              .formatted(column, raw.slotNames()));
    }
    dense = places(raw.dense(), itemColumns);
    slots = places(raw.slotNames(), itemColumns);
    List<Slot> ofItem = new ArrayList<>();
    for (int slot : slots) {
      Slot of = raw.slots().get(slot);
      ofItem.add(new Slot(of.name(), of.hotness(), of.name(), of.weighted(), of.unsigned()));
    }
    own =
        new Schema(
            List.of(), Arrays.stream(dense).mapToObj(f -> raw.dense().get(f)).toList(), ofItem);
  }

  private static int[] places(List<String> names, List<String> wanted) {
    return wanted.stream().mapToInt(names::indexOf).filter(at -> at >= 0).sorted().toArray();
  }

  /**
   * Adds the items of rows. An item that is there already, by its id, stays as it is; rows without
   * an item are left out and counted.
   *
   * @param rows raw rows, of which only columns of the item are read
   * @param names the text of each row's item, asked for new ones alone
   * @throws DataException if a row has several items
   */
  public void add(Batch rows, IntFunction<String> names) {
    for (int row = 0; row < rows.size(); row++) {
      int at = rows.offsets(naming)[row];
      int count = rows.offsets(naming)[row + 1] - at;
      if (count > 1) {
        throw new DataException(
            "candidates: got %d values of %s in row %d of a batch, expected one, as they name the row's item; mend the row"
                .formatted(count, column, row));
      }
      if (count == 0) {
        without++;
        continue;
      }
      int before = numbers.size();
      if (numbers.of(rows.ids(naming)[at]) == before) {
        addText(before, names.apply(row));
        addRow(rows, row);
      }
    }
  }

  private void addText(int item, String name) {
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    int from = item == 0 ? 0 : ends[item - 1];
    if ((long) from + text.length > Integer.MAX_VALUE - 8) {
      throw new DataException(
          "candidates: got more than 2 GiB of names in the first %,d items, expected less; take fewer"
              .formatted(item));
    }
    if (from + text.length > texts.length) {
      long wanted = Math.max(2L * texts.length, (long) from + text.length);
      texts = Arrays.copyOf(texts, (int) Math.min(Integer.MAX_VALUE - 8, wanted));
    }
    if (item == ends.length) {
      ends = Arrays.copyOf(ends, 2 * item);
    }
    System.arraycopy(text, 0, texts, from, text.length);
    ends[item] = from + text.length;
  }

  private void addRow(Batch rows, int row) {
    if (pieces.isEmpty() || pieces.getLast().size() == PIECE) {
      pieces.add(new Batch(own, pieces.isEmpty() ? 16 : PIECE));
    }
    Batch to = pieces.getLast();
    for (int f = 0; f < dense.length; f++) {
      to.setDense(f, rows.dense()[row * raw.denseDim() + dense[f]]);
    }
    for (int s = 0; s < slots.length; s++) {
      copy(rows, slots[s], row, to, s);
    }
    to.endRow();
  }

  private void copy(Batch rows, int slot, int row, Batch to, int target) {
    boolean weighted = raw.slots().get(slot).weighted();
    for (int i = rows.offsets(slot)[row]; i < rows.offsets(slot)[row + 1]; i++) {
      if (weighted) {
        to.addId(target, rows.ids(slot)[i], rows.weights(slot)[i]);
      } else {
        to.addId(target, rows.ids(slot)[i]);
      }
    }
  }

  /** Items so far. */
  public int size() {
    return numbers.size();
  }

  /** Rows without an item so far. */
  public long without() {
    return without;
  }

  /** The text of item {@code item}, 0 for the one added first. */
  public String name(int item) {
    int from = item == 0 ? 0 : ends[item - 1];
    return new String(texts, from, ends[item] - from, StandardCharsets.UTF_8);
  }

  /** Bytes of the heap that rows and names take, about. */
  public long bytes() {
    long bytes = texts.length + 4L * ends.length + 24L * numbers.size();
    for (Batch piece : pieces) {
      bytes += 4L * piece.dense().length;
      for (int s = 0; s < slots.length; s++) {
        bytes += 8L * piece.ids(s).length + 4L * piece.offsets(s).length;
        bytes += 4L * piece.weights(s).length;
      }
    }
    return bytes;
  }

  /** Whether its items are rows of a model with these columns. */
  boolean fits(Schema schema, List<String> itemColumns) {
    return raw.equals(schema) && column.equals(itemColumns.getFirst());
  }

  /** Gives raw rows with all items in their order, in batches that are good until the next. */
  void forEach(int most, Consumer<Batch> use) {
    Batch rows = new Batch(raw, most);
    for (Batch piece : pieces) {
      for (int row = 0; row < piece.size(); row++) {
        expand(piece, row, rows);
        if (rows.size() == most) {
          use.accept(rows);
          rows.clear();
        }
      }
    }
    if (rows.size() > 0) {
      use.accept(rows);
    }
  }

  private void expand(Batch piece, int row, Batch to) {
    for (int f = 0; f < raw.denseDim(); f++) {
      to.setDense(f, Float.NaN);
    }
    for (int f = 0; f < dense.length; f++) {
      to.setDense(dense[f], piece.dense()[row * dense.length + f]);
    }
    for (int label = 0; label < raw.labelDim(); label++) {
      to.setLabel(label, 0);
    }
    for (int s = 0; s < slots.length; s++) {
      for (int i = piece.offsets(s)[row]; i < piece.offsets(s)[row + 1]; i++) {
        if (own.slots().get(s).weighted()) {
          to.addId(slots[s], piece.ids(s)[i], piece.weights(s)[i]);
        } else {
          to.addId(slots[s], piece.ids(s)[i]);
        }
      }
    }
    to.endRow();
  }
}
