package dev.tern.data;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ColumnPartTest {
  private static final Schema SCHEMA =
      new Schema(
              List.of("y"),
              List.of("age", "income"),
              List.of(Slot.oneHot("city"), Slot.ragged("items"), Slot.ragged("times")))
          .withSequences(
              Map.of(
                  "items",
                  new Sequence("seen", 5, Sequence.Keep.LAST),
                  "times",
                  new Sequence("seen", 5, Sequence.Keep.LAST)));

  @Test
  void numbersAndSlotsStandAloneAndSequencesTogether() {
    assertThat(ColumnPart.of(SCHEMA))
        .containsExactly(
            new ColumnPart("age", List.of(0), List.of()),
            new ColumnPart("income", List.of(1), List.of()),
            new ColumnPart("city", List.of(), List.of(0)),
            new ColumnPart("seen", List.of(), List.of(1, 2)));
  }

  @Test
  void partsBecomeOneUnderAnotherName() {
    List<ColumnPart> parts = ColumnPart.of(SCHEMA);
    assertThat(parts.get(1).with(parts.get(3)).named("both"))
        .isEqualTo(new ColumnPart("both", List.of(1), List.of(1, 2)));
  }
}
