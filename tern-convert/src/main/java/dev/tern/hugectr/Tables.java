package dev.tern.hugectr;

import dev.tern.data.Slot;
import dev.tern.model.graph.GraphInput;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The embeddings of a graph as tables and slots of Tern.
 *
 * @param slots all slots, in the order of the data
 * @param tables their tables, in the order of the slots that own them
 * @param inputs what layers read of them, an input for each embedding
 */
record Tables(List<Slot> slots, List<Table> tables, List<GraphInput> inputs) {
  /**
   * A table.
   *
   * @param name of the slot that owns it
   * @param embedding the number of the embedding whose rows it has
   * @param from the first key that is a row of it, which ids are counted from
   * @param end behind the last one; {@link Long#MAX_VALUE} where all keys are ids
   */
  record Table(String name, int embedding, int width, long from, long end) {}

  /**
   * Tables of a graph.
   *
   * @param names of the slots
   * @param sizes of each slot: how many keys each has, where HugeCTR shifts those of a slot behind
   *     those of the slots before it; empty where keys are ids as they stand
   */
  static Tables of(GraphFile graph, List<String> names, List<Long> sizes) {
    List<Slot> slots = new ArrayList<>();
    List<Table> tables = new ArrayList<>();
    List<GraphInput> inputs = new ArrayList<>();
    Set<Integer> used = new HashSet<>();
    long shift = 0;
    for (GraphFile.Sparse sparse : graph.sparse()) {
      int embedding = reader(graph, sparse.top());
      used.add(embedding);
      GraphFile.Embedding of = graph.embeddings().get(embedding);
      List<String> own = names.subList(slots.size(), slots.size() + sparse.hotness().size());
      for (int s = 0; s < own.size(); s++) {
        // Without sizes the slots of an embedding have one table, as they have one space of keys.
        String table = sizes.isEmpty() ? own.getFirst() : own.get(s);
        long end = sizes.isEmpty() ? Long.MAX_VALUE : Math.addExact(shift, sizes.get(slots.size()));
        if (table.equals(own.get(s))) {
          tables.add(new Table(table, embedding, of.width(), shift, end));
        }
        slots.add(new Slot(own.get(s), sparse.hotness().get(s), table));
        shift = sizes.isEmpty() ? 0 : end;
      }
      inputs.add(new GraphInput(of.top(), GraphInput.Kind.VECTORS, own));
    }
    for (int e = 0; e < graph.embeddings().size(); e++) {
      if (!used.contains(e)) {
        GraphFile.Embedding none = graph.embeddings().get(e);
        throw none.place().wrong("bottom", none.bottom(), "the top of a sparse input of Data");
      }
    }
    return new Tables(slots, tables, inputs);
  }

  /** The names of the slots that use a table. */
  List<String> slotsOf(Table table) {
    return slots.stream().filter(s -> s.table().equals(table.name())).map(Slot::name).toList();
  }

  /** The number of the embedding that reads some slots. */
  private static int reader(GraphFile graph, String top) {
    int found = -1;
    for (int e = 0; e < graph.embeddings().size(); e++) {
      GraphFile.Embedding each = graph.embeddings().get(e);
      if (each.bottom().equals(top)) {
        if (found >= 0) {
          throw each.place()
              .wrong(
                  "bottom",
                  top + ", which another embedding reads too",
                  "slots for each embedding; give the data these columns twice, a sparse input for"
                      + " each");
        }
        found = e;
      }
    }
    if (found < 0) {
      throw graph
          .data()
          .wrong(
              "sparse",
              "the slots " + top + ", which no embedding reads",
              "an embedding with this bottom; take them out of the graph and the data");
    }
    return found;
  }
}
