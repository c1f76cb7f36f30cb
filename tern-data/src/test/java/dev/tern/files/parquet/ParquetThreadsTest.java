package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.Columns;
import dev.tern.files.DataWriter;
import dev.tern.files.Faults;
import dev.tern.files.ReadPolicy;
import dev.tern.internal.files.ColumnThreads;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntBinaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults of Parquet files, whose columns several threads read at the same time. */
class ParquetThreadsTest {
  private static final int ROWS = 4096;
  private static final Schema SCHEMA =
      new Schema(List.of("first", "second", "third", "fourth"), List.of(), List.of());

  @TempDir Path folder;
  private Path file;

  @BeforeEach
  void nameFile() {
    file = folder.resolve("bad.parquet");
  }

  /** Writes rows with label {@code l} of row {@code i} as {@code labels} says. */
  private void write(IntBinaryOperator labels) {
    try (DataWriter writer = ParquetWriter.create(file, SCHEMA, ParquetLayout.DEFAULT);
        Batch batch = new Batch(SCHEMA, ROWS)) {
      for (int i = 0; i < ROWS; i++) {
        for (int l = 0; l < SCHEMA.labelDim(); l++) {
          batch.setLabel(l, labels.applyAsInt(i, l));
        }
        batch.endRow();
      }
      writer.write(batch);
      writer.finish();
    }
  }

  private void read(ReadPolicy policy) {
    Columns columns = Columns.of(SCHEMA);
    try (DataReader reader =
        ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, columns, policy)) {
      while (reader.next().isPresent()) {}
    }
  }

  @Test
  void aRowThatIsBadInAllColumnsIsAlwaysTheFaultOfTheFirst() {
    write((i, _) -> i == 4000 ? 7 : i & 1);
    for (int run = 0; run < 200; run++) {
      ReadPolicy policy = ReadPolicy.STRICT.withThreads(1 + run % 4);
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() -> read(policy))
          .withMessageContaining("row 4001, column first: got label 7");
    }
  }

  @Test
  void aColumnThatFindsARowBadLateIsStillHeardOfFirst() {
    write((i, _) -> i & 1);
    CountDownLatch found = new CountDownLatch(1);
    try (ParquetFile open = ParquetFile.open(file);
        Batch batch = new Batch(SCHEMA, ROWS);
        ColumnThreads team = new ColumnThreads(2)) {
      ParquetSpan span = new ParquetSpan(open, ReadPolicy.STRICT, batch);
      span.start(batch, ROWS, 0);
      assertThatExceptionOfType(DataException.class)
          .isThrownBy(() ->
              team.run(
                  2,
                  column -> {
                    if (column == 0) {
                      await(found);
                    }
                    try {
                      span.fault(3, new DataException("column " + column));
                    } finally {
                      found.countDown();
                    }
                  }))
          .withMessage("column 0");
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void whoStopsAtAFaultHearsOfNoOther() {
    write((i, l) -> i == 100 * (l + 1) ? 7 : i & 1);
    List<String> heard = new ArrayList<>();
    Faults stopping =
        fault -> {
          heard.add(fault.getMessage());
          throw fault;
        };
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> read(ReadPolicy.STRICT.withFaults(stopping)))
        .withMessageContaining("row 101, column first");
    assertThat(heard).hasSize(1);
  }
}
