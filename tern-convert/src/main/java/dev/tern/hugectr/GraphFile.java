package dev.tern.hugectr;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A graph file of HugeCTR, as its {@code graph_to_json} writes it: the layer of data, embeddings,
 * then dense layers.
 *
 * @param data the layer of data
 * @param labels columns of each label by its name, in the order of names: HugeCTR takes several
 *     labels from the columns of rows in that order, however the file declares them
 * @param dense name of the tensor of numbers
 * @param numbers how many there are
 * @param layers dense layers, in order
 */
record GraphFile(
    Place data,
    Map<String, Integer> labels,
    String dense,
    int numbers,
    List<Sparse> sparse,
    List<Embedding> embeddings,
    List<Place> layers) {
  /** More bytes than any graph file has. */
  private static final int MOST_BYTES = 1 << 24;

  private static final int MOST_LAYERS = 10_000;

  /** Labels, numbers and slots that a row may have. */
  private static final int MOST_COLUMNS = 1 << 16;

  /** HugeCTR refuses wider vectors. */
  static final int MOST_WIDTH = 1024;

  /** More slots than any graph has. */
  private static final int MOST_SLOTS = 1 << 16;

  /**
   * Slots that the data give an embedding.
   *
   * @param hotness ids of each slot in every row; 0 for any number
   */
  record Sparse(String top, List<Integer> hotness) {}

  /**
   * An embedding.
   *
   * @param place where it stands
   * @param bottom the slots that it reads
   * @param mean whether vectors are averaged, else summed
   */
  record Embedding(Place place, String bottom, String top, int width, boolean mean) {}

  /**
   * The sizes of all slots as the embeddings have them.
   *
   * @throws DataException if an embedding has none, or not one for each of its slots
   */
  List<Long> slotSizes() {
    List<Long> sizes = new ArrayList<>();
    for (Sparse each : sparse) {
      Embedding reader =
          embeddings.stream()
              .filter(embedding -> embedding.bottom().equals(each.top()))
              .findFirst()
              .orElseThrow(() ->
                  data.wrong("sparse", each.top() + " without an embedding", "one that reads it"));
      Place of = reader.place().object("sparse_embedding_hparam");
      List<Integer> own = of.wholes("slot_size_array", 1, Integer.MAX_VALUE);
      if (own.size() != each.hotness().size()) {
        throw of.wrong(
            "slot_size_array", own.size() + " numbers", each.hotness().size() + ", one a slot");
      }
      own.forEach(size -> sizes.add(size.longValue()));
    }
    return sizes;
  }

  static GraphFile read(Path file) {
    String name = file.toString();
    Json.Obj root;
    try {
      if (Files.size(file) > MOST_BYTES) {
        throw new DataException(
            "%s: got %d bytes, expected a graph file of at most %d; give the file of graph_to_json"
                .formatted(name, Files.size(file), MOST_BYTES));
      }
      root = Json.parse(Files.readAllBytes(file), name).asObject(name);
    } catch (IOException e) {
      throw new DataException(
          "%s: got %s, expected the file of graph_to_json; check the path"
              .formatted(name, DataException.reason(e)),
          e);
    } catch (IllegalArgumentException e) {
      throw new DataException(name + ": " + e.getMessage(), e);
    }
    return of(new Place(name, "", root));
  }

  private static GraphFile of(Place root) {
    List<Place> all = root.objects("layers");
    if (all.isEmpty() || all.size() > MOST_LAYERS || !all.getFirst().text("type").equals("Data")) {
      throw root.wrong(
          "layers",
          all.isEmpty() ? "none" : all.size() + " that begin with " + all.getFirst().text("type"),
          "1 to " + MOST_LAYERS + " of which the first is Data");
    }
    Place data = all.getFirst();
    Place dense = data.object("dense");
    List<Embedding> embeddings = new ArrayList<>();
    int at = 1;
    while (at < all.size() && isEmbedding(all.get(at).text("type"))) {
      embeddings.add(embedding(all.get(at++)));
    }
    for (Place layer : all.subList(at, all.size())) {
      if (isEmbedding(layer.text("type")) || layer.text("type").equals("Data")) {
        throw layer.wrong(
            "type",
            layer.text("type") + " behind a dense layer",
            "dense layers alone there, as HugeCTR reads embeddings up to the first of them");
      }
    }
    Map<String, Integer> labels = labels(data.object("label"));
    int numbers = dense.whole("dense_dim", 0);
    List<Sparse> sparse = sparse(data);
    long columns =
        labels.values().stream().mapToLong(Integer::intValue).sum()
            + numbers
            + sparse.stream().mapToLong(each -> each.hotness().size()).sum();
    if (columns > MOST_COLUMNS) {
      throw data.wrong(
          "label", columns + " labels, numbers and slots", "at most " + MOST_COLUMNS + " together");
    }
    return new GraphFile(
        data,
        labels,
        dense.text("top"),
        numbers,
        sparse,
        List.copyOf(embeddings),
        all.subList(at, all.size()));
  }

  private static boolean isEmbedding(String type) {
    return type.endsWith("SparseEmbeddingHash") || type.endsWith("SparseEmbeddingOneHot");
  }

  private static Map<String, Integer> labels(Place label) {
    List<String> names = label.names("top");
    List<Integer> widths = label.wholes("label_dim", 1);
    if (names.isEmpty() || names.size() != widths.size()) {
      throw label.wrong(
          "label_dim", widths.size() + " for the labels " + names, "a number for each label");
    }
    Map<String, Integer> labels = new TreeMap<>();
    for (int i = 0; i < names.size(); i++) {
      if (labels.put(names.get(i), widths.get(i)) != null) {
        throw label.wrong("top", names.get(i) + " twice", "distinct names");
      }
    }
    return labels;
  }

  private static List<Sparse> sparse(Place data) {
    List<Sparse> all = new ArrayList<>();
    for (Place one : data.has("sparse") ? data.objects("sparse") : List.<Place>of()) {
      int slots = one.whole("slot_num", 1);
      List<Integer> ids = one.wholes("nnz_per_slot", 1);
      if (slots > MOST_SLOTS || ids.size() != 1 && ids.size() != slots) {
        throw one.wrong(
            "nnz_per_slot",
            "%d numbers for %d slots".formatted(ids.size(), slots),
            "one for each of at most %d slots, or one for all".formatted(MOST_SLOTS));
      }
      boolean fixed =
          one.has("is_fixed_length") && one.flag(one.get("is_fixed_length"), "is_fixed_length");
      List<Integer> hotness = new ArrayList<>();
      for (int s = 0; s < slots; s++) {
        hotness.add(fixed ? ids.get(ids.size() == 1 ? 0 : s) : 0);
      }
      all.add(new Sparse(one.text("top"), hotness));
    }
    return all;
  }

  private static Embedding embedding(Place place) {
    String type = place.text("type");
    Place sizes = place.object("sparse_embedding_hparam");
    String combiner = sizes.text("combiner");
    if (!type.equals("LocalizedSlotSparseEmbeddingHash")
        && !type.equals("DistributedSlotSparseEmbeddingHash")) {
      throw place.wrong(
          "type",
          type,
          "DistributedSlotSparseEmbeddingHash or LocalizedSlotSparseEmbeddingHash; others are"
              + " saved in another form");
    }
    if (!combiner.equals("sum") && !combiner.equals("mean")) {
      throw sizes.wrong("combiner", combiner, "sum or mean");
    }
    int width = sizes.whole("embedding_vec_size", 1);
    if (width > MOST_WIDTH) {
      throw sizes.wrong(
          "embedding_vec_size", "" + width, "at most " + MOST_WIDTH + ", which HugeCTR takes");
    }
    return new Embedding(
        place, place.text("bottom"), place.text("top"), width, combiner.equals("mean"));
  }
}
