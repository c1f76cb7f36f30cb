package dev.tern.embedding;

/** Says which of several ranks has the row of an id: its {@link TableShard#ofRank}. */
final class ShardOwners {
  private final int shards;

  /** Of each shard its rank. */
  private final int[] ranks;

  /** For {@code count} ranks. */
  ShardOwners(int count) {
    shards = TableShard.countOfRanks(count);
    ranks = new int[shards];
    for (int rank = 0; rank < count; rank++) {
      for (TableShard part : TableShard.ofRank(rank, count).parts(shards)) {
        ranks[part.number()] = rank;
      }
    }
  }

  /** The rank of an id with this hash. */
  int rank(long hash) {
    return ranks[TableShard.ofHash(hash, shards)];
  }
}
