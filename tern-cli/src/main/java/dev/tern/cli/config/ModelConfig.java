package dev.tern.cli.config;

import dev.tern.embedding.config.RowPolicy;
import dev.tern.embedding.config.UnknownRow;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The model and its sizes; members that the model has no use for hold their defaults.
 *
 * @param type {@code wdl}, {@code deepfm}, {@code dcn}, {@code dcnv2}, {@code dlrm}, {@code
 *     deepcrossing}, {@code transformer}, {@code fm} or {@code lr}
 * @param embedding width of the embedding of an id
 * @param hidden widths of the hidden layers
 * @param crossLayers cross layers of {@code dcn} and {@code dcnv2}
 * @param crossRank rank of the cross layers' matrices in {@code dcnv2}; 0 for full ones
 * @param crossExperts experts of that rank in each cross layer; 0 for one matrix without gates
 * @param bottom widths over dense numbers in {@code dlrm}
 * @param top widths over interactions in {@code dlrm}
 * @param dropout share of hidden units left out in training, 0 to 1
 * @param activation of hidden layers: {@code relu}, {@code prelu} or {@code dice}
 * @param batchNorm whether batch normalization stands before each activation
 * @param heads heads of attention in {@code transformer}
 * @param combiner {@code sum}, {@code mean} or {@code sqrtn}
 * @param unknown what an id without a row reads as
 * @param tableStorage how embeddings are stored: {@code f32}, {@code f16} or {@code bf16}
 * @param rows which ids have rows in a table without a rule of its own
 * @param rowsOf such rules by the names of columns
 */
public record ModelConfig(
    String type,
    int embedding,
    List<Integer> hidden,
    int crossLayers,
    int crossRank,
    int crossExperts,
    List<Integer> bottom,
    List<Integer> top,
    float dropout,
    String activation,
    boolean batchNorm,
    int heads,
    String combiner,
    UnknownRow unknown,
    String tableStorage,
    RowPolicy rows,
    Map<String, RowPolicy> rowsOf) {
  static ModelConfig of(Settings s) {
    return new ModelConfig(
        s.get(Keys.MODEL),
        s.get(Keys.EMBEDDING).intValue(),
        s.get(Keys.HIDDEN),
        s.get(Keys.CROSS_LAYERS).intValue(),
        s.get(Keys.CROSS_RANK).intValue(),
        s.get(Keys.CROSS_EXPERTS).intValue(),
        s.get(Keys.BOTTOM),
        s.get(Keys.TOP),
        s.get(Keys.DROPOUT).floatValue(),
        s.get(Keys.ACTIVATION),
        s.get(Keys.BATCH_NORM),
        s.get(Keys.HEADS).intValue(),
        s.get(Keys.COMBINER),
        unknown(s),
        s.get(Keys.TABLE_STORAGE),
        Keys.ROW_RULES.read(s.top()),
        rowsOf(s));
  }

  private static UnknownRow unknown(Settings s) {
    String name = s.get(Keys.UNKNOWN);
    return name.equals("hash")
        ? new UnknownRow.Hashed(s.get(Keys.UNKNOWN_BUCKETS).intValue())
        : UnknownRow.Derived.valueOf(name.toUpperCase(Locale.ROOT));
  }

  private static Map<String, RowPolicy> rowsOf(Settings s) {
    Map<String, RowPolicy> rules = new LinkedHashMap<>();
    for (Settings.Group group : s.all("model.tables")) {
      RowPolicy rule = Keys.TABLE_RULES.read(group);
      group.get(Keys.TABLE_COLUMNS).forEach(column -> rules.put(column, rule));
    }
    return rules;
  }

  /** Whether every id has a row for good in each table. */
  public boolean keepsAllRows() {
    return Stream.concat(Stream.of(rows), rowsOf.values().stream()).allMatch(RowPolicy::isAll);
  }

  /** The model in one line, with what matters to its type. */
  public String summary() {
    StringBuilder out = new StringBuilder(type);
    if (!type.equals("lr")) {
      out.append(", embedding ").append(embedding);
    }
    if (type.equals("dlrm")) {
      out.append(", bottom ").append(widths(bottom)).append(", top ").append(widths(top));
    }
    if (type.startsWith("dcn")) {
      out.append(", ").append(crossLayers).append(" cross layers");
    }
    if (crossRank > 0) {
      out.append(" of rank ").append(crossRank);
    }
    if (crossExperts > 0) {
      out.append(" and ").append(crossExperts).append(" experts");
    }
    if (type.equals("transformer")) {
      out.append(", ").append(heads).append(" heads");
    }
    if (List.of("wdl", "deepfm", "dcn", "dcnv2", "deepcrossing", "transformer").contains(type)) {
      out.append(", hidden ").append(widths(hidden)).append(", dropout ").append(dropout);
    }
    if (!activation.equals("relu")) {
      out.append(", ").append(activation);
    }
    if (batchNorm) {
      out.append(", batch norm");
    }
    return out.toString();
  }

  private static String widths(List<Integer> widths) {
    return widths.stream().map(String::valueOf).collect(Collectors.joining("-"));
  }
}
