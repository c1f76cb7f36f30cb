package dev.tern.cli.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class NamesTest {
  @ParameterizedTest
  @CsvSource({
    "'', '', 0",
    "'', abc, 3",
    "abc, abc, 0",
    "abc, acb, 1",
    "abc, ab, 1",
    "abc, xbc, 1",
    "kitten, sitting, 3"
  })
  void editsAreCounted(String a, String b, int edits) {
    assertThat(Names.edits(a, b)).isEqualTo(edits);
    assertThat(Names.edits(b, a)).isEqualTo(edits);
  }

  @Test
  void nothingNearGivesNothing() {
    assertThat(Names.nearest("zzzzzz", List.of("batch", "epochs"))).isEmpty();
    assertThat(Names.nearest("x", List.of("lr"))).isEmpty();
  }
}
