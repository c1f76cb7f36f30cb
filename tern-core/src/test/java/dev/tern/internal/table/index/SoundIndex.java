package dev.tern.internal.table.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.memory.Memory;

/** Checks what every operation of an index keeps true. */
public final class SoundIndex {
  private SoundIndex() {}

  /** Each id is found, counts are right, and each segment stands at the places of its prefix. */
  public static void require(IdIndex index) {
    long size = 0;
    if (index.isFlat()) {
      assertThat(isSound(index.flat)).isTrue();
      size = index.flat.size();
    }
    for (int i = 0; i < index.segments.length; i++) {
      IdSegment segment = index.segments[i];
      assertThat(i % (1 << segment.prefixBits)).isEqualTo(segment.prefix);
      if (index.isFirst(i)) {
        assertThat(isSound(segment)).as("segment %d", i).isTrue();
        size += segment.size();
      }
    }
    assertThat(index.size()).isEqualTo(size);
  }

  /**
   * Whether slots fill in order, tags belong to their ids, the numbers of ids and of buckets
   * between are right, and exactly the buckets that pass ids on say so and are full.
   */
  static boolean isSound(FlatIndex flat) {
    int ids = 0;
    long between = 0;
    boolean sound = true;
    for (long at = 0; at <= flat.mask(); at += FlatIndex.LINE) {
      int meta = Memory.getInt(flat.base + at + FlatIndex.META);
      int count = FlatIndex.count(meta);
      boolean passes = (meta & FlatIndex.PASSED_ON) != 0;
      sound &= passes == flat.firstPassed(at) >= 0 && (!passes || count == FlatIndex.SLOTS);
      for (int slot = 0; slot < count; slot++) {
        int tag = (meta >>> (FlatIndex.TAG_BITS * slot)) & ((1 << FlatIndex.TAG_BITS) - 1);
        long hash = Hashing.mix(Memory.getLong(flat.base + at + 8L * slot));
        sound &= tag == FlatIndex.tag(hash);
        between += flat.distance(hash * FlatIndex.LINE, at);
      }
      ids += count;
    }
    return sound && ids == flat.size() && between == flat.passed;
  }

  /**
   * Whether each id is found, the numbers of ids in buckets, in the next bucket and in the overflow
   * are right, and each bucket says exactly where its ids lie.
   */
  static boolean isSound(IdSegment segment) {
    int[] ids = {0};
    boolean[] sound = {isSound(segment.overflow)};
    segment.forEachInBuckets(
        0,
        segment.buckets,
        (hash, row) -> {
          ids[0]++;
          long prefix = hash >>> IdSegment.PREFIX_SHIFT & (1L << segment.prefixBits) - 1;
          boolean found = segment.find(hash, Hashing.unmix(hash)) == row;
          sound[0] &= prefix == segment.prefix && found;
        });
    segment.overflow.forEachEntry(
        (id, row) -> sound[0] &= segment.find(Hashing.mix(id), id) == row);
    int next = 0;
    int after = 0;
    long end = segment.base + (long) segment.buckets * IdSegment.LINE;
    for (long line = segment.base; line < end; line += IdSegment.LINE) {
      long meta = Memory.getLong(line);
      int passed = Integer.bitCount(segment.strangers(line + IdSegment.LINE));
      int others = segment.inOverflow(line);
      sound[0] &= passed > 0 == IdSegment.passesToNext(meta) && others > 0 == meta < 0;
      next += passed;
      after += passed > 0 ? others : 0;
    }
    return sound[0]
        && ids[0] == segment.placed
        && next == segment.inNext
        && after == segment.afterNext;
  }
}
