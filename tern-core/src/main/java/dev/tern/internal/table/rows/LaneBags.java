package dev.tern.internal.table.rows;

/**
 * The lanes of a batch among the bags of a table. A lane has rows of the batch that lie side by
 * side, so its bags are a range of each slot's bags. Example: 2 slots with 4 rows, in lanes of 2
 * rows: lane 0 has the bags 0, 1, 4 and 5, lane 1 the bags 2, 3, 6 and 7.
 */
public final class LaneBags {
  /** Stands for all bags as they are, in one lane. */
  static final LaneBags WHOLE = new LaneBags(1);

  private final int slots;
  private int count = 1;

  /** Of each lane the first bag in each slot, then the end of the last lane. */
  private int[] firsts;

  public LaneBags(int slots) {
    this.slots = slots;
    firsts = new int[2 * slots];
  }

  /** Begins anew with {@code lanes} lanes, 1 or more. */
  public void begin(int lanes) {
    count = lanes;
    if (firsts.length < (lanes + 1) * slots) {
      firsts = new int[(lanes + 1) * slots];
    }
  }

  /** Says that lane {@code lane} begins with a bag in a slot; lane {@code count} is the end. */
  public void set(int lane, int slot, int bag) {
    firsts[lane * slots + slot] = bag;
  }

  /** The first bag of a lane in a slot, or behind the last lane the end of its bags. */
  public int first(int lane, int slot) {
    return firsts[lane * slots + slot];
  }

  /** Lanes, 1 or more. */
  int count() {
    return count;
  }

  /**
   * Gives each position its place among the positions of its id, lane by lane, in a lane slot by
   * slot; notes the bag, the lane and, if bags are scaled, the weight. For {@link RowLookup#group},
   * which has counted the positions of each id.
   */
  void place(RowLookup lookup, PooledBags bags, boolean scaled) {
    if (lookup.lanes.length < lookup.bags.length) {
      lookup.lanes = new int[lookup.bags.length];
    }
    for (int lane = 0; lane < count; lane++) {
      for (int slot = 0; slot < slots; slot++) {
        for (int b = first(lane, slot); b < first(lane + 1, slot); b++) {
          place(lookup, bags, b, lane, scaled);
        }
      }
    }
  }

  private static void place(RowLookup lookup, PooledBags bags, int bag, int lane, boolean scaled) {
    float scale = scaled ? bags.scale(bag) : 1;
    int end = bags.end(bag);
    for (int i = bags.begin(bag); i < end; i++) {
      int place = lookup.starts[lookup.inverse[i] + 1]++;
      lookup.bags[place] = bag;
      lookup.lanes[place] = lane;
      if (scaled) {
        lookup.scales[place] = bags.factor(scale, i);
      }
    }
  }
}
