package dev.tern.tensor;

import dev.tern.base.Shape;
import dev.tern.internal.ir.Op.Index.Rule;
import dev.tern.internal.ir.Sequences;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Picks whole sequences of one or several ragged tensors; all moves are cases of {@link #take}. */
final class RaggedMoves {
  private RaggedMoves() {}

  /**
   * Picks outermost sequences. The index counts through all {@code parts} in order. At each level
   * the picked sequences decide which elements of the level below are picked.
   *
   * @param room for sequences of each level below the outermost, then for rows
   */
  static Ragged take(List<Ragged> parts, Tensor index, int[] room) {
    requireAlike(parts, index, room);
    List<Tensor> offsets = new ArrayList<>();
    Tensor picked = index;
    for (int level = 0; level < room.length; level++) {
      int at = level;
      Tensor lengths = Ragged.picked(joined(parts, part -> part.lengths(at)), picked);
      Tensor starts = Ragged.picked(starts(parts, level), picked);
      Tensor parted = new Tensor(Sequences.offsets(lengths.node()));
      offsets.add(parted);
      picked = new Tensor(Sequences.ranges(starts.node(), parted.node(), room[level]));
    }
    Tensor rows = picked;
    Tensor values = Ragged.picked(joined(parts, Ragged::values), rows);
    Optional<Tensor> weights =
        parts.get(0).weights().map(w -> joined(parts, part -> part.weights().orElseThrow()));
    return Ragged.of(values, offsets, weights.map(all -> Ragged.picked(all, rows)));
  }

  private static Tensor joined(List<Ragged> parts, Function<Ragged, Tensor> of) {
    return Tensor.concat(0, parts.stream().map(of).toList());
  }

  /** Where the sequences of a level start, counted in the elements of all parts below it. */
  private static Tensor starts(List<Ragged> parts, int level) {
    List<Tensor> starts = new ArrayList<>();
    int before = 0;
    for (Ragged part : parts) {
      Tensor own = part.offsets(level).slice(0, 0, part.sequences(level));
      starts.add(new Tensor(Sequences.shift(own.node(), before)));
      before += part.room()[level];
    }
    return Tensor.concat(0, starts);
  }

  private static void requireAlike(List<Ragged> parts, Tensor index, int[] room) {
    Ragged first = parts.get(0);
    for (Ragged part : parts) {
      if (part.depth() != first.depth()
          || part.weights().isPresent() != first.weights().isPresent()) {
        throw new IllegalArgumentException(
            "ragged: got %s beside %s, expected as many levels, and weights in all or none"
                .formatted(part, first));
      }
    }
    if (room.length != first.depth() || index.shape().rank() != 1) {
      throw new IllegalArgumentException(
          "take: got an index %s and room %s, expected one dimension and %d numbers"
              .formatted(index.shape(), Arrays.toString(room), first.depth()));
    }
  }

  static Ragged repeat(Ragged x, Tensor counts, int sequences, int[] room) {
    if (!counts.shape().equals(Shape.of(x.sequences(0)))) {
      throw new IllegalArgumentException(
          "repeat: got counts %s, expected [%d]".formatted(counts.shape(), x.sequences(0)));
    }
    Tensor offsets = new Tensor(Sequences.offsets(counts.node()));
    Tensor index = new Tensor(Sequences.rows(Rule.SEQUENCES, offsets.node(), sequences));
    return take(List.of(x), index, room);
  }

  /** Takes sequence 0 of all parts, then sequence 1, and so on; joins sequences of equal number. */
  static Ragged concat(List<Ragged> parts) {
    requireSome("concat", parts);
    int count = parts.size();
    int sequences = parts.get(0).sequences(0);
    for (Ragged part : parts) {
      if (part.sequences(0) != sequences) {
        throw new IllegalArgumentException(
            "concat: got %d and %d outermost sequences, expected as many"
                .formatted(sequences, part.sequences(0)));
      }
    }
    long[] turns = new long[Math.multiplyExact(count, sequences)];
    Arrays.setAll(turns, i -> (long) (i % count) * sequences + i / count);
    Ragged all = take(parts, Tensor.ofLongs(Shape.of(turns.length), turns), room(parts));
    int[] ends = IntStream.rangeClosed(0, sequences).map(i -> i * count).toArray();
    List<Tensor> offsets = new ArrayList<>(all.offsets());
    offsets.set(0, all.offsets(0).gather(Tensor.ofInts(Shape.of(ends.length), ends)));
    return Ragged.of(all.values(), offsets, all.weights());
  }

  static Ragged merge(List<Ragged> parts) {
    requireSome("merge", parts);
    int sequences = parts.stream().mapToInt(part -> part.sequences(0)).sum();
    return take(parts, range(0, sequences), room(parts));
  }

  static List<Ragged> split(Ragged x, int... sizes) {
    if (Arrays.stream(sizes).sum() != x.sequences(0)
        || Arrays.stream(sizes).anyMatch(size -> size < 0)) {
      throw new IllegalArgumentException(
          "split: got sizes %s, expected %d sequences in all"
              .formatted(Arrays.toString(sizes), x.sequences(0)));
    }
    List<Ragged> parts = new ArrayList<>();
    int from = 0;
    for (int size : sizes) {
      parts.add(x.take(range(from, from + size)));
      from += size;
    }
    return parts;
  }

  private static void requireSome(String op, List<Ragged> parts) {
    if (parts.isEmpty()) {
      throw new IllegalArgumentException(op + ": got no ragged tensors, expected one or more");
    }
  }

  private static int[] room(List<Ragged> parts) {
    int[] room = new int[parts.get(0).depth()];
    for (Ragged part : parts) {
      int[] own = part.room();
      for (int level = 0; level < Math.min(room.length, own.length); level++) {
        room[level] = Math.addExact(room[level], own[level]);
      }
    }
    return room;
  }

  private static Tensor range(int from, int to) {
    return Tensor.ofInts(Shape.of(to - from), IntStream.range(from, to).toArray());
  }
}
