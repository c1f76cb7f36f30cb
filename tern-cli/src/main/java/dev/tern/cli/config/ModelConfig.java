package dev.tern.cli.config;

import dev.tern.embedding.Admission;
import dev.tern.embedding.Eviction;
import dev.tern.embedding.RowPolicy;
import dev.tern.embedding.UnknownRow;
import dev.tern.embedding.WhenFull;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

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
 * @param rows which ids have rows in a table
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
    RowPolicy rows) {
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
        rows(s));
  }

  private static UnknownRow unknown(Settings s) {
    String name = s.get(Keys.UNKNOWN);
    return name.equals("hash")
        ? new UnknownRow.Hashed(s.get(Keys.UNKNOWN_BUCKETS).intValue())
        : UnknownRow.Derived.valueOf(name.toUpperCase(Locale.ROOT));
  }

  static RowPolicy rows(Settings s) {
    Admission admission =
        switch (s.get(Keys.ADMISSION)) {
          case "count" ->
              new Admission.ByCount(
                  s.get(Keys.ADMISSION_COUNT).intValue(),
                  s.get(Keys.ADMISSION_EXPECTED),
                  s.get(Keys.ADMISSION_CLICK_WEIGHT).intValue());
          case "probability" -> new Admission.ByProbability(s.get(Keys.ADMISSION_PROBABILITY));
          default -> new Admission.Always();
        };
    long steps = s.get(Keys.EVICTION_STEPS);
    Eviction eviction =
        switch (s.get(Keys.EVICTION)) {
          case "unseen" -> new Eviction.Unseen(steps);
          case "unseen-for" -> new Eviction.UnseenFor(s.get(Keys.EVICTION_TIME));
          case "small-norm" ->
              new Eviction.SmallNorm(s.get(Keys.EVICTION_NORM).floatValue(), steps);
          case "low-score" ->
              new Eviction.LowScore(
                  s.get(Keys.EVICTION_DECAY),
                  s.get(Keys.EVICTION_SCORE).floatValue(),
                  s.get(Keys.EVICTION_SHOW_WEIGHT).floatValue(),
                  s.get(Keys.EVICTION_CLICK_WEIGHT).floatValue());
          case "least-recent" -> new Eviction.LeastRecent();
          case "least-frequent" -> new Eviction.LeastFrequent();
          default -> new Eviction.Never();
        };
    long most = s.get(Keys.MAX_ROWS);
    WhenFull full = WhenFull.valueOf(s.get(Keys.WHEN_FULL).toUpperCase(Locale.ROOT));
    return new RowPolicy(admission, eviction, most == 0 ? Long.MAX_VALUE : most, full);
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
