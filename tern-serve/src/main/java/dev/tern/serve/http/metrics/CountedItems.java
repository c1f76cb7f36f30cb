package dev.tern.serve.http.metrics;

import dev.tern.data.Batch;
import dev.tern.predict.ItemFinder;
import dev.tern.serve.ServedVersion;

/** Finds items, and counts for how many users. */
record CountedItems(ServedVersion.Items items, ModelMetrics metrics)
    implements ServedVersion.Items {
  @Override
  public int size() {
    return items.size();
  }

  @Override
  public String name(int item) {
    return items.name(item);
  }

  @Override
  public int find(long id) {
    return items.find(id);
  }

  @Override
  public int slot() {
    return items.slot();
  }

  @Override
  public ItemFinder.Found top(Batch users, int most, int[][] excluded) {
    long start = System.nanoTime();
    ItemFinder.Found found = items.top(users, most, excluded);
    metrics.retrieved(users.size(), System.nanoTime() - start);
    return found;
  }
}
