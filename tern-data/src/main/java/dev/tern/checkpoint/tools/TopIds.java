package dev.tern.checkpoint.tools;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/** Keeps the ids with the largest numbers. Of equal numbers it prefers the smallest ids. */
final class TopIds {
  private static final Comparator<TableSummary.Top> ORDER =
      Comparator.comparingDouble(TableSummary.Top::value)
          .thenComparing(Comparator.comparingLong(TableSummary.Top::id).reversed());

  private final int most;
  private final PriorityQueue<TableSummary.Top> kept = new PriorityQueue<>(ORDER);

  TopIds(int most) {
    this.most = most;
  }

  void offer(long id, double value) {
    if (kept.size() == most && most > 0 && value < kept.element().value()) {
      return;
    }
    kept.add(new TableSummary.Top(id, value));
    if (kept.size() > most) {
      kept.remove();
    }
  }

  /** The ids kept, the largest number first. */
  List<TableSummary.Top> list() {
    List<TableSummary.Top> list = new ArrayList<>(kept);
    list.sort(ORDER.reversed());
    return list;
  }
}
