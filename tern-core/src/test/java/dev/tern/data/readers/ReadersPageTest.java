package dev.tern.data.readers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.ReaderState;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The example of {@code docs/readers.md} is the code here between two markers, which runs. */
final class ReadersPageTest {
  private static final Path PAGE = Path.of("../docs/readers.md");
  private static final Path SOURCE =
      Path.of("src/test/java/dev/tern/data/readers/ReadersPageTest.java");

  // example: readers
  static final Schema SCHEMA =
      new Schema(List.of("clicked"), List.of("price"), List.of(Slot.ragged("tags")));

  /** Rows with a tag, their prices doubled, shuffled, in batches of 2. */
  static DataReader pipeline(Batch rows) {
    DataReader tagged =
        Readers.filtered(
            Readers.inMemory(rows),
            (batch, row) -> batch.offsets(0)[row + 1] > batch.offsets(0)[row]);
    DataReader doubled =
        Readers.mapped(
            tagged,
            SCHEMA,
            (from, to) -> {
              to.appendRows(from, 0, from.size());
              for (int row = 0; row < to.size(); row++) {
                to.dense()[row] *= 2;
              }
            });
    return Readers.prefetched(Readers.batched(Readers.shuffled(doubled, 1000, 42), 2, false), 3);
  }

  /** The prices from a place in the data to its end. */
  static String prices(Batch rows, ReaderState from) {
    StringBuilder prices = new StringBuilder();
    try (DataReader reader = pipeline(rows)) {
      reader.restore(from);
      for (Optional<Batch> next = reader.next(); next.isPresent(); next = reader.next()) {
        try (Batch batch = next.get()) {
          for (int row = 0; row < batch.size(); row++) {
            prices.append(batch.dense()[row]).append(' ');
          }
        }
      }
    }
    return prices.toString();
  }

  /** Reads one batch, keeps the place as a line of text, and goes on there in a new reader. */
  static String resumed(Batch rows) {
    String place;
    try (DataReader reader = pipeline(rows);
        Batch first = reader.next().orElseThrow()) {
      place = reader.state().text(); // "0 2": pass 0, 2 rows
    }
    return prices(rows, ReaderState.parse(place));
  }

  // end

  @Test
  void thePageHoldsTheCodeThatRunsHere() throws IOException {
    assertThat(between(PAGE, "<!-- example: readers -->\n```java\n", "```\n"))
        .isEqualTo(between(SOURCE, "  // example: readers\n", "\n  // end\n").indent(-2));
  }

  @Test
  void aReaderGoesOnWithExactlyTheRowsThatWereNotDelivered() {
    Batch rows = new Batch(SCHEMA, 5);
    for (int i = 1; i <= 5; i++) {
      rows.setLabel(0, i % 2);
      rows.setDense(0, i);
      if (i != 3) {
        rows.addId(0, i);
      }
      rows.endRow();
    }

    String all = prices(rows, ReaderState.start(0));

    assertThat(all.split(" ")).containsExactlyInAnyOrder("2.0", "4.0", "8.0", "10.0");
    assertThat(all).endsWith(resumed(rows));
    assertThat(resumed(rows).split(" ")).hasSize(2);
  }

  private static String between(Path file, String start, String end) throws IOException {
    Matcher matcher =
        Pattern.compile(Pattern.quote(start) + "(.*?)" + Pattern.quote(end), Pattern.DOTALL)
            .matcher(Files.readString(file));
    assertThat(matcher.find()).as("%s holds %s", file, start).isTrue();
    return matcher.group(1);
  }
}
