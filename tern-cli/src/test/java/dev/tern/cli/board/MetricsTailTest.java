package dev.tern.cli.board;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MetricsTailTest {
  @TempDir Path temp;
  private Path file;
  private MetricsTail tail;
  private final Kept kept = new Kept();
  private long clock = 1_000_000;

  private static final class Kept implements MetricsTail.Lines {
    private final List<String> lines = new ArrayList<>();
    private int restarts;
    private int tooLong;

    @Override
    public void restart() {
      lines.clear();
      restarts++;
    }

    @Override
    public void line(byte[] bytes, int from, int length) {
      lines.add(new String(bytes, from, length, StandardCharsets.UTF_8));
    }

    @Override
    public void tooLong() {
      tooLong++;
    }
  }

  @BeforeEach
  void begin() {
    file = temp.resolve("metrics.jsonl");
    tail = new MetricsTail(file);
  }

  /** Each write has a time of its own, as clocks of file systems may be coarse. */
  private void tick() throws IOException {
    Files.setLastModifiedTime(file, FileTime.fromMillis(clock += 1_000));
  }

  private void write(String text) throws IOException {
    Files.writeString(file, text);
    tick();
  }

  private void append(String text) throws IOException {
    Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    tick();
  }

  @Test
  void aLineCountsOnceItsEndIsWritten() throws IOException {
    append("one\ntw");
    assertThat(tail.poll(kept)).isTrue();
    assertThat(kept.lines).containsExactly("one");
    append("o\nthr");
    tail.poll(kept);
    assertThat(kept.lines).containsExactly("one", "two");
    append("ee\n");
    tail.poll(kept);
    assertThat(kept.lines).containsExactly("one", "two", "three");
    assertThat(kept.restarts).isZero();
  }

  @Test
  void aFileThatDoesNotChangeHasNoNews() throws IOException {
    append("one\n");
    tail.poll(kept);
    assertThat(tail.poll(kept)).isFalse();
    assertThat(kept.lines).containsExactly("one");
  }

  @Test
  void aFileThatIsNotThereYetIsWaitedFor() throws IOException {
    assertThat(tail.poll(kept)).isFalse();
    assertThat(tail.isPresent()).isFalse();
    append("one\n");
    assertThat(tail.poll(kept)).isTrue();
    assertThat(tail.isPresent()).isTrue();
    assertThat(kept.lines).containsExactly("one");
  }

  @Test
  void aShorterFileIsReadFromItsBeginning() throws IOException {
    write("one\ntwo\nthree\n");
    tail.poll(kept);
    write("one\n");
    tail.poll(kept);
    assertThat(kept.lines).containsExactly("one");
    assertThat(kept.restarts).isOne();
  }

  @Test
  void anotherFileOfThatNameIsReadFromItsBeginning() throws IOException {
    write("one\ntwo\n");
    tail.poll(kept);
    Path next = Files.writeString(temp.resolve("next"), "one\ntwo\nfour\n");
    Files.move(next, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    tail.poll(kept);
    assertThat(kept.lines).containsExactly("one", "two", "four");
    assertThat(kept.restarts).isOne();
  }

  @Test
  void aFileWrittenAnewAndLongerIsReadFromItsBeginning() throws IOException {
    write("one\ntwo\n");
    tail.poll(kept);
    write("1\n2\n3\n4\n5\n6\n7\n8\n");
    tail.poll(kept);
    assertThat(kept.lines).hasSize(8).startsWith("1");
    assertThat(kept.restarts).isOne();
  }

  @Test
  void aFileThatIsDeletedKeepsItsLinesUntilItComesBack() throws IOException {
    write("one\n");
    tail.poll(kept);
    Files.delete(file);
    assertThat(tail.poll(kept)).isTrue();
    assertThat(tail.poll(kept)).isFalse();
    assertThat(tail.isPresent()).isFalse();
    assertThat(kept.lines).containsExactly("one");
    write("two\n");
    tail.poll(kept);
    assertThat(kept.lines).containsExactly("two");
  }

  @Test
  void linesOfAnyLengthComeWholeUpToTheLongest() throws IOException {
    String most = "x".repeat(MetricsTail.LONGEST - 1);
    append("a\n" + most + "\nb\n");
    tail.poll(kept);
    assertThat(kept.lines).containsExactly("a", most, "b");
    assertThat(kept.tooLong).isZero();
  }

  @Test
  void aLineThatIsTooLongIsCountedAndPassedOver() throws IOException {
    append("a\n" + "x".repeat(2 * MetricsTail.LONGEST + 5));
    tail.poll(kept);
    append("yy");
    tail.poll(kept);
    assertThat(kept.tooLong).isZero();
    append("\nb\n");
    tail.poll(kept);
    assertThat(kept.lines).containsExactly("a", "b");
    assertThat(kept.tooLong).isOne();
    assertThat(kept.restarts).isZero();
  }

  @Test
  void whateverIsDoneToTheFileItsWholeLinesAreRead() throws IOException {
    Random random = new Random(7);
    StringBuilder text = new StringBuilder();
    for (int round = 0; round < 300; round++) {
      switch (random.nextInt(8)) {
        case 0 -> text.setLength(random.nextInt(text.length() + 1));
        case 1 -> text.setLength(0);
        default -> {}
      }
      for (int n = random.nextInt(40); n > 0; n--) {
        text.append(random.nextInt(5) == 0 ? '\n' : (char) ('a' + random.nextInt(26)));
      }
      if (random.nextInt(4) == 0) {
        Files.deleteIfExists(file);
      }
      write(text.toString());
      tail.poll(kept);
      String whole = text.substring(0, text.lastIndexOf("\n") + 1);
      assertThat(kept.lines).as("round %d", round).isEqualTo(whole.lines().toList());
    }
  }

  @Test
  void aFolderInItsPlaceIsAnError() throws IOException {
    Files.createDirectory(file);
    assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> tail.poll(kept)))
        .isInstanceOf(IOException.class);
  }
}
