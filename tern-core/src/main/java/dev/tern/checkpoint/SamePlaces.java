package dev.tern.checkpoint;

import dev.tern.base.Shown;
import dev.tern.data.Schema;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.internal.checkpoint.RowShape;
import dev.tern.model.Network;
import dev.tern.model.RetrievalModel;
import dev.tern.nn.Model;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Whether the weights of a checkpoint would meet the columns that they were trained with. */
record SamePlaces(Checkpoint checkpoint) {
  /**
   * Checks that a new run may begin with the weights of a checkpoint.
   *
   * @param grown the encoder of the new run's network
   * @throws IllegalArgumentException if weights of as many columns would meet others than before
   */
  static void require(Checkpoint checkpoint, Network network, FeatureEncoder grown) {
    new SamePlaces(checkpoint).require(network, grown);
  }

  /** Of each sequence by name its slots, and which end of them is kept. */
  private static Map<String, List<String>> sequences(Schema schema) {
    Map<String, List<String>> all = new LinkedHashMap<>();
    schema
        .sequences()
        .forEach((name, slots) -> {
          List<String> members = new ArrayList<>();
          slots.forEach(slot -> members.add(schema.slots().get(slot).name()));
          members.add(schema.slots().get(slots.getFirst()).sequence().orElseThrow().keep().text());
          all.put(name, members);
        });
    return all;
  }

  /** Layers know their inputs by place: as many inputs must be the same ones. */
  private void require(Network network, FeatureEncoder grown) {
    FeatureEncoder encoder = checkpoint.encoder();
    Schema before = encoder.schema();
    Schema now = grown.schema();
    requireSamePlaces("numbers", before.dense(), now.dense());
    requireSamePlaces("slots", before.slotNames(), now.slotNames());
    if (network.model().readsSequences() && !sequences(before).equals(sequences(now))) {
      throw new IllegalArgumentException(
          "begin: got the sequences %s, expected %s as in %s; weights would meet other columns"
              .formatted(sequences(now), sequences(before), checkpoint.folder()));
    }
    List<Integer> widths = savedWidths(network.model());
    boolean same = before.slotCount() == now.slotCount();
    if (!same && flat(before, widths) == flat(now, network.slotWidths())) {
      throw new IllegalArgumentException(
          "begin: got %d numbers and %d slots, which make as many inputs as the %d and %d of %s; add or leave out a column"
              .formatted(
                  now.denseDim(),
                  now.slotCount(),
                  before.denseDim(),
                  before.slotCount(),
                  checkpoint.folder()));
    }
    if (same) {
      requireSameWidths(network, widths);
    }
    grown
        .rescaled(encoder)
        .ifPresent(column -> {
          throw new IllegalArgumentException(
              "begin: got the number %s encoded otherwise than in %s, expected the same; its weights would be of another scale"
                  .formatted(column, checkpoint.folder()));
        });
  }

  private static int flat(Schema schema, List<Integer> widths) {
    return sum(widths) + schema.denseDim();
  }

  private static int sum(List<Integer> widths) {
    return widths.stream().mapToInt(Integer::intValue).sum();
  }

  /** For each saved slot the width of its vectors: the last part of its table's rows. */
  private List<Integer> savedWidths(Model model) {
    int front = model.embeddingWidth() - model.embeddingParts().getLast();
    List<Integer> ofTables = new ArrayList<>();
    for (int table = 0; table < checkpoint.tables().size(); table++) {
      ofTables.add(RowShape.of(checkpoint.tableFiles(table).getLast()).width() - front);
    }
    return checkpoint.encoder().schema().slots().stream()
        .map(slot -> ofTables.get(checkpoint.tables().indexOf(slot.table())))
        .toList();
  }

  /** Layers that read as many numbers as before must read the same vectors in the same places. */
  private void requireSameWidths(Network network, List<Integer> saved) {
    List<String> names = checkpoint.encoder().schema().slotNames();
    List<Integer> all = IntStream.range(0, names.size()).boxed().toList();
    List<List<Integer>> read = new ArrayList<>(network.sequences().values());
    read.add(all);
    if (network.model() instanceof RetrievalModel towers) {
      read.add(all.stream().filter(s -> towers.itemColumns().contains(names.get(s))).toList());
      read.add(all.stream().filter(s -> !towers.itemColumns().contains(names.get(s))).toList());
    }
    for (List<Integer> slots : read) {
      List<Integer> before = slots.stream().map(saved::get).toList();
      List<Integer> now = slots.stream().map(network.slotWidths()::get).toList();
      if (!before.equals(now) && sum(before) == sum(now)) {
        throw new IllegalArgumentException(
            "begin: got embeddings of the widths %s for the slots %s, expected %s as in %s or another sum; weights would meet other columns"
                .formatted(
                    now, slots.stream().map(names::get).toList(), before, checkpoint.folder()));
      }
    }
  }

  private void requireSamePlaces(String what, List<String> before, List<String> now) {
    if (before.size() == now.size() && !before.equals(now)) {
      throw new IllegalArgumentException(
          "begin: got the %s %s, expected %s as in %s, in this order; weights belong to places"
              .formatted(what, Shown.list(now), Shown.list(before), checkpoint.folder()));
    }
  }
}
