package dev.tern.cli.config;

import dev.tern.embedding.config.Admission;

/** The keys of a section that says which new ids get a row. */
final class AdmissionKeys {
  private final Key<String> type;
  private final Key<Long> count;
  private final Key<Long> expected;
  private final Key<Long> clickWeight;
  private final Key<Double> probability;

  AdmissionKeys(Key.Section keys, String section) {
    type =
        keys.key(
            section + ".type",
            Kind.Choice.of("always", "count", "probability"),
            "always",
            "Which new ids get a row in training: all, those met often enough, or a share of them."
                + " The others read as model.unknown.");
    count =
        keys.key(
                section + ".count",
                new Kind.Whole(1, 128),
                10L,
                "Times an id must be met, counted in about 2.3 bytes of each id expected.")
            .when(type, "count");
    expected =
        keys.key(
                section + ".expected",
                new Kind.Whole(1, 1L << 40),
                1_000_000L,
                "Distinct ids of a table to count; with more, more of them get a row too early.")
            .when(type, "count");
    clickWeight =
        keys.key(
                section + ".click_weight",
                new Kind.Whole(1, 128),
                1L,
                "As how many times it counts that an id is met in a clicked row, one of label 1.")
            .when(type, "count");
    probability =
        keys.key(
                section + ".probability",
                new Kind.Real(1e-9, 1),
                0.5,
                "Share of ids, drawn once for each by train.seed.")
            .when(type, "probability");
  }

  Admission read(Settings.Group group) {
    return switch (group.get(type)) {
      case "count" ->
          new Admission.ByCount(
              group.get(count).intValue(), group.get(expected), group.get(clickWeight).intValue());
      case "probability" -> new Admission.ByProbability(group.get(probability));
      default -> new Admission.Always();
    };
  }
}
