package dev.tern.data.encode;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import java.util.ArrayList;
import java.util.List;

/**
 * The dense columns of raw rows as features of encoded ones. No instance has state of its own, so
 * any threads may share one.
 *
 * @param names of the columns
 * @param features what each of them becomes
 * @param numbers the columns that become numbers, in order
 * @param slots the columns that become slots, in order
 * @param firstSlot the first of these slots in encoded rows
 */
record NumberColumns(
    List<String> names,
    NumberFeature[] features,
    List<Integer> numbers,
    List<Integer> slots,
    int firstSlot) {
  /** The columns of rows with {@code firstSlot} slots of their own. */
  static NumberColumns of(List<String> names, NumberFeature[] features, int firstSlot) {
    List<Integer> numbers = new ArrayList<>();
    List<Integer> slots = new ArrayList<>();
    for (int f = 0; f < features.length; f++) {
      if (features[f].number().isPresent()) {
        numbers.add(f);
      }
      if (features[f].slot().isPresent()) {
        slots.add(f);
      }
    }
    return new NumberColumns(names, features, List.copyOf(numbers), List.copyOf(slots), firstSlot);
  }

  /** The slot that column {@code f} becomes, or that stands beside its number. */
  private NumberFeature slotOf(int f) {
    return features[f] instanceof NumberFeature.Beside(NumberFeature.Scale _, NumberFeature slot)
        ? slot
        : features[f];
  }

  /** Adds the places of the number and of the slot that column {@code f} becomes. */
  void addPlaces(int f, List<Integer> numberPlaces, List<Integer> slotPlaces) {
    int number = numbers.indexOf(f);
    if (number >= 0) {
      numberPlaces.add(number);
    }
    int slot = slots.indexOf(f);
    if (slot >= 0) {
      slotPlaces.add(firstSlot + slot);
    }
  }

  /** The upper bound, exclusive, of the ids of encoded slot {@code slot}. */
  long idBound(int slot) {
    return slotOf(slots.get(slot - firstSlot)).idBound();
  }

  /** Encodes the columns of all rows of {@code encoded}, from row {@code first} of {@code raw}. */
  void apply(Batch raw, int first, Batch encoded) {
    for (int column = 0; column < numbers.size(); column++) {
      int f = numbers.get(column);
      NumberFeature.Scale scale =
          features[f] instanceof NumberFeature.Beside(NumberFeature.Scale beside, NumberFeature _)
              ? beside
              : (NumberFeature.Scale) features[f];
      scale(raw, first, scale, encoded, column);
    }
    for (int i = 0; i < slots.size(); i++) {
      switch (slotOf(slots.get(i))) {
        case NumberFeature.Buckets buckets -> bucketize(raw, first, buckets, encoded, i);
        case NumberFeature.Field(NumberFeature.Scale scale) -> weigh(raw, first, scale, encoded, i);
        case NumberFeature.Pieces pieces -> split(raw, first, pieces, encoded, i);
        case NumberFeature.Scale _, NumberFeature.Beside _ -> throw new AssertionError("no slot");
      }
    }
  }

  private void scale(Batch raw, int first, NumberFeature.Scale scale, Batch encoded, int column) {
    int f = numbers.get(column);
    float[] in = raw.dense();
    float[] out = encoded.dense();
    int inDim = names.size();
    int outDim = numbers.size();
    for (int row = 0; row < encoded.size(); row++) {
      float x = in[(first + row) * inDim + f];
      out[row * outDim + column] = present(x, f, first + row) ? scale.apply(x) : scale.fill();
    }
  }

  private void bucketize(
      Batch raw, int first, NumberFeature.Buckets buckets, Batch encoded, int index) {
    int f = slots.get(index);
    int slot = firstSlot + index;
    float[] in = raw.dense();
    int inDim = names.size();
    int rows = encoded.size();
    long[] ids = encoded.ensureIds(slot, rows);
    int[] offsets = encoded.offsets(slot);
    for (int row = 0; row < rows; row++) {
      float x = in[(first + row) * inDim + f];
      ids[row] = present(x, f, first + row) ? buckets.bucket(x) : 0;
      offsets[row + 1] = row + 1;
    }
  }

  private void weigh(Batch raw, int first, NumberFeature.Scale scale, Batch encoded, int index) {
    int f = slots.get(index);
    int slot = firstSlot + index;
    float[] in = raw.dense();
    int inDim = names.size();
    int rows = encoded.size();
    long[] ids = encoded.ensureIds(slot, rows);
    float[] weights = encoded.ensureWeights(slot, rows);
    int[] offsets = encoded.offsets(slot);
    for (int row = 0; row < rows; row++) {
      float x = in[(first + row) * inDim + f];
      boolean present = present(x, f, first + row);
      ids[row] = present ? 1 : 0;
      weights[row] = present ? finite(scale.apply(x), x, f, first + row) : 1;
      offsets[row + 1] = row + 1;
    }
  }

  private void split(Batch raw, int first, NumberFeature.Pieces pieces, Batch encoded, int index) {
    int f = slots.get(index);
    int slot = firstSlot + index;
    float[] in = raw.dense();
    int inDim = names.size();
    int rows = encoded.size();
    long[] ids = encoded.ensureIds(slot, Math.multiplyExact(rows, pieces.count() + 1));
    float[] weights = encoded.ensureWeights(slot, ids.length);
    int[] offsets = encoded.offsets(slot);
    int end = 0;
    for (int row = 0; row < rows; row++) {
      float x = in[(first + row) * inDim + f];
      boolean present = present(x, f, first + row);
      ids[end] = present ? 1 : 0;
      weights[end++] = 1;
      int below = present ? pieces.below(x) : 0;
      for (int piece = 0; piece < below; piece++) {
        ids[end] = piece + 2;
        weights[end++] = 1;
      }
      float share = present ? pieces.share(x, below) : 0;
      if (share > 0) {
        ids[end] = below + 2;
        weights[end++] = share;
      }
      offsets[row + 1] = end;
    }
  }

  private boolean present(float x, int column, int row) {
    if (Float.isInfinite(x)) {
      throw infinite(names.get(column), x, row, "this batch");
    }
    return !Float.isNaN(x);
  }

  private float finite(float scaled, float x, int column, int row) {
    if (!Float.isFinite(scaled)) {
      throw new DataException(
          "dense column %s: got %s in row %d of this batch, whose vector is multiplied with %s, expected a number near those of training; mend it, or leave it empty where it is missing"
              .formatted(names.get(column), x, row + 1, scaled));
    }
    return scaled;
  }

  static DataException infinite(String column, float x, long row, String rows) {
    return new DataException(
        "dense column %s: got %s in row %d of %s, expected a finite number; leave it empty where"
                .formatted(column, x, row + 1, rows)
            + " it is missing");
  }
}
