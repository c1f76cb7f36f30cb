package dev.tern.internal.table;

import dev.tern.internal.table.index.IdIndex;
import dev.tern.internal.table.policy.RowAdmission;
import dev.tern.internal.table.rows.InitialRows;
import dev.tern.internal.table.rows.RowLookup;
import dev.tern.internal.table.rows.RowSlabs;
import dev.tern.internal.table.snapshot.RowListener;
import dev.tern.internal.table.tier.RowSpiller;
import java.util.Optional;
import java.util.function.IntConsumer;

/** Gives rows to ids that have none. If memory runs out, the first ids have whole rows. */
final class RowInserts {
  private final IdIndex index;
  private final RowSlabs rows;
  private final InitialRows initial;
  private final RowAdmission residents;
  private final Optional<RowSpiller> tier;
  private final RowListener watch;
  private final IntConsumer spiller;

  RowInserts(
      IdIndex index,
      RowSlabs rows,
      InitialRows initial,
      RowAdmission residents,
      Optional<RowSpiller> tier,
      RowListener watch) {
    this.index = index;
    this.rows = rows;
    this.initial = initial;
    this.residents = residents;
    this.tier = tier;
    this.watch = watch;
    spiller = watch.mover();
  }

  /** Gives rows to the first {@code missing} of the missing ids. */
  void add(RowLookup lookup, int missing) {
    residents.reserve(missing);
    makeRoom(missing);
    long size = index.size();
    try {
      insert(lookup, missing);
    } finally {
      // If memory ran out, the ids that are in need defined weights too.
      int inserted = (int) (index.size() - size);
      initial.write(lookup.ids, lookup.addresses, lookup.missing, inserted);
      residents.enter(lookup, inserted);
      enter(lookup, inserted);
      watch.added(lookup);
    }
  }

  /** Gives undefined rows to all distinct ids of a lookup, in order. */
  void addUndefined(RowLookup lookup) {
    int count = lookup.unique();
    for (int i = 0; i < count; i++) {
      lookup.missing[i] = i;
    }
    watch.begin();
    try {
      if (tier.isPresent()) {
        tier.get().see(lookup);
      }
      makeRoom(count);
      insert(lookup, count);
      enter(lookup, count);
      watch.added(lookup);
    } finally {
      watch.end();
    }
  }

  private void makeRoom(int count) {
    if (tier.isPresent()) {
      tier.get().makeRoom(count, spiller);
    }
  }

  private void enter(RowLookup lookup, int count) {
    if (tier.isPresent()) {
      tier.get().enter(lookup, count);
    }
  }

  private void insert(RowLookup lookup, int missing) {
    rows.reserve(missing);
    for (int i = 0; i < missing; i++) {
      int row = rows.add();
      watch.born(row);
      lookup.rows[lookup.missing[i]] = row;
    }
    long size = index.size();
    try {
      index.insert(lookup.distinct, lookup.missing, missing);
    } finally {
      int inserted = (int) (index.size() - size);
      for (int i = 0; i < inserted; i++) {
        int u = lookup.missing[i];
        lookup.addresses[u] = rows.address(lookup.rows[u]);
      }
      // If memory ran out, the others stay without a row.
      for (int i = missing - 1; i >= inserted; i--) {
        rows.release(lookup.rows[lookup.missing[i]]);
        lookup.rows[lookup.missing[i]] = RowLookup.NONE;
      }
    }
  }
}
