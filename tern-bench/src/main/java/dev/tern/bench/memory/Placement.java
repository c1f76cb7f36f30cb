package dev.tern.bench.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A range of addresses without limit, and rules that say where in it a block goes: plainly, for
 * comparison. Free neighbours are one gap; the last gap has no end.
 */
final class Placement {
  private static final long ENDLESS = 1L << 60;
  private static final long LARGE = 1 << 20;

  /** A block or gap, linked in order of address. */
  private static final class Piece {
    private long offset;
    private long size;
    private boolean isFree;
    private long birth;
    private Piece before = this;
    private Piece after = this;
  }

  /** Says where a block goes. */
  @FunctionalInterface
  private interface Rule {
    Place place(Placement range, long size);
  }

  private record Place(Piece gap, boolean atHighEnd) {}

  /** A rule and its name. */
  record Named(String name, Supplier<Placement> range) {}

  private final Rule rule;
  private final Piece ends = new Piece();
  private final Piece tail = new Piece();
  private final List<Piece> blocks = new ArrayList<>();
  private Piece last = tail;
  private long clock;
  private long reach;
  private long fromTop;

  private Placement(Rule rule) {
    this.rule = rule;
    tail.size = ENDLESS;
    tail.isFree = true;
    link(ends, tail);
    link(tail, ends);
  }

  /** All rules. */
  static List<Named> rules() {
    return List.of(
        named("best fit, low end", (range, size) -> low(range.bestFit(size))),
        named("best fit, high end of gaps", (range, size) -> range.inner(range.bestFit(size))),
        named("first fit", (range, size) -> low(range.firstFit(range.ends.after, size))),
        named("next fit", (range, size) -> low(range.firstFit(range.last, size))),
        named("worst fit", (range, size) -> low(range.worstFit(size))),
        named("two ends by size", (range, size) -> new Place(range.bestFit(size), size < LARGE)),
        named(
            "large first fit, small best fit",
            (range, size) ->
                low(size < LARGE ? range.bestFit(size) : range.firstFit(range.ends.after, size))),
        named("next to the youngest", (range, size) -> range.besideYoungest(size)),
        named(
            "best fit, at the younger neighbour",
            (range, size) -> range.atYounger(range.bestFit(size))),
        named(
            "best fit up to twice the size, else new",
            (range, size) -> {
              Piece gap = range.bestFit(size);
              return low(gap.size <= 2 * size ? gap : range.tail);
            }));
  }

  private static Named named(String name, Rule rule) {
    return new Named(name, () -> new Placement(rule));
  }

  /** Places block number {@code block}, a number not in use. */
  void allocate(int block, long size) {
    Place place = rule.place(this, size);
    Piece gap = place.gap;
    Piece taken = new Piece();
    taken.size = size;
    taken.birth = clock++;
    taken.offset = place.atHighEnd ? gap.offset + gap.size - size : gap.offset;
    if (place.atHighEnd) {
      link(taken, gap.after);
      link(gap, taken);
    } else {
      gap.offset += size;
      link(gap.before, taken);
      link(taken, gap);
    }
    gap.size -= size;
    if (gap.size == 0) {
      link(gap.before, gap.after);
    }
    last = taken;
    if (taken.offset < ENDLESS / 2) {
      reach = Math.max(reach, taken.offset + size);
    } else {
      fromTop = Math.max(fromTop, ENDLESS - taken.offset);
    }
    while (blocks.size() <= block) {
      blocks.add(ends);
    }
    blocks.set(block, taken);
  }

  void free(int block) {
    Piece freed = blocks.set(block, ends);
    freed.isFree = true;
    Piece next = freed.after;
    if (next.isFree) {
      next.offset = freed.offset;
      next.size += freed.size;
      link(freed.before, next);
      freed = next;
    }
    Piece previous = freed.before;
    if (previous == tail) {
      tail.size += freed.size;
      link(tail, freed.after);
      freed = tail;
    } else if (previous.isFree) {
      freed.offset = previous.offset;
      freed.size += previous.size;
      link(previous.before, freed);
    }
    if (last.isFree) {
      last = freed;
    }
    clock++;
  }

  /** How far blocks ever reached, from both ends together. */
  long reserved() {
    return reach + fromTop;
  }

  private static void link(Piece before, Piece after) {
    before.after = after;
    after.before = before;
  }

  private static Place low(Piece gap) {
    return new Place(gap, false);
  }

  private Place inner(Piece gap) {
    return new Place(gap, gap != tail);
  }

  private Place atYounger(Piece gap) {
    return new Place(gap, gap != tail && gap.after.birth > gap.before.birth);
  }

  private boolean fits(Piece piece, long size) {
    return piece.isFree && piece != tail && piece.size >= size;
  }

  private Piece bestFit(long size) {
    Piece best = tail;
    for (Piece piece = ends.after; piece != ends; piece = piece.after) {
      if (fits(piece, size) && piece.size < best.size) {
        best = piece;
      }
    }
    return best;
  }

  private Piece worstFit(long size) {
    Piece worst = tail;
    for (Piece piece = ends.after; piece != ends; piece = piece.after) {
      if (fits(piece, size) && (worst == tail || piece.size > worst.size)) {
        worst = piece;
      }
    }
    return worst;
  }

  private Piece firstFit(Piece from, long size) {
    for (Piece piece = from; piece != ends; piece = piece.after) {
      if (fits(piece, size)) {
        return piece;
      }
    }
    for (Piece piece = ends.after; piece != from; piece = piece.after) {
      if (fits(piece, size)) {
        return piece;
      }
    }
    return tail;
  }

  private Place besideYoungest(long size) {
    Piece best = tail;
    for (Piece piece = ends.after; piece != ends; piece = piece.after) {
      if (fits(piece, size) && (best == tail || piece.before.birth > best.before.birth)) {
        best = piece;
      }
    }
    return low(best);
  }
}
