package dev.tern.data;

import java.util.Objects;

/**
 * The position of a {@link DataReader}: {@code rows} rows of pass {@code epoch} are delivered.
 *
 * @param epoch number of the pass, from 0
 * @param rows rows of the pass that were delivered or skipped
 * @param order the order of these rows; {@link PassOrder#FIXED} unless the reader is, or is made
 *     of, a {@link dev.tern.data.readers.Readers#mappedUnordered}
 */
public record ReaderState(int epoch, long rows, PassOrder order) {
  public ReaderState {
    Objects.requireNonNull(order, "order");
    if (epoch < 0 || rows < 0) {
      throw new IllegalArgumentException(
          "reader state: got epoch " + epoch + ", rows " + rows + ", expected 0 or more of each");
    }
  }

  /** The first row of pass {@code epoch}. */
  public static ReaderState start(int epoch) {
    return new ReaderState(epoch, 0, PassOrder.FIXED);
  }

  /** This state in one line, for {@link #parse}. */
  public String text() {
    String position = epoch + " " + rows;
    return order.isFixed() ? position : position + " " + order.text();
  }

  /** The state that {@link #text} wrote. */
  public static ReaderState parse(String text) {
    String[] parts = text.strip().split(" ", 3);
    try {
      PassOrder order = parts.length < 3 ? PassOrder.FIXED : PassOrder.parse(parts[2]);
      return new ReaderState(Integer.parseInt(parts[0]), Long.parseLong(parts[1]), order);
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
      throw new IllegalArgumentException(
          "reader state: got \"%s\", expected an epoch and a number of rows; give it as it was saved"
              .formatted(text.length() > 100 ? text.substring(0, 100) + "..." : text),
          e);
    }
  }
}
