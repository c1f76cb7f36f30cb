package dev.tern.internal.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.internal.remat.Trace;
import dev.tern.internal.remat.TraceLogWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TraceLogTest {
  private static final String LOG =
      """
      {"INSTRUCTION":"CONSTANT","NAME":"skipped"}
      {"INSTRUCTION":"ANNOTATE","ANNOTATION":"START"}
      {"INSTRUCTION":"CONSTANT","NAME":"w"}
      {"INSTRUCTION":"MEMORY","NAME":"w","MEMORY":"64"}
      {"INSTRUCTION":"CALL","NAME":"f","ARGS":["w"],"RESULT":["a","b"],"TIME":"10"}
      {"INSTRUCTION":"MEMORY","NAME":"a","MEMORY":"128"}
      {"INSTRUCTION":"ALIAS","NAME":"a","ALIAS":"-1"}
      {"INSTRUCTION":"MEMORY","NAME":"b","MEMORY":"64"}
      {"INSTRUCTION":"ALIAS","NAME":"b","ALIAS":"0"}
      {"INSTRUCTION":"COPY","DST":"c","SRC":"a"}
      {"INSTRUCTION":"MUTATE","NAME":"g_","ARGS":["a"],"MUTATE":[0],"TIME":"5"}
      {"INSTRUCTION":"RELEASE","NAME":"unknown"}
      {"INSTRUCTION":"RELEASE","NAME":"c"}
      """;

  @TempDir private Path folder;

  private Path write(String text) throws IOException {
    Path file = folder.resolve("step.log");
    Files.writeString(file, text);
    return file;
  }

  @Test
  void viewsShareAndChangesInPlaceMakeNewStorages() throws IOException {
    Trace step = TraceLog.read(write(LOG));
    assertThat(step.cost()).isEqualTo(15);
    assertThat(step.peakLive()).isEqualTo(64 + 128 + 128);
    assertThat(step.recipes().storages()).isEqualTo(3);
    assertThat(step.recipes().isView(2)).isTrue();
  }

  @Test
  void stepThatIsWrittenIsReadAsItWas() throws IOException {
    Trace step = TraceLog.read(write(LOG));
    Path copy = folder.resolve("copy.log");
    TraceLogWriter.write(step, copy);
    List<Trace.Event> read = TraceLog.read(copy).events();
    // What is needed at the end has no order.
    int end = read.size() - 3;
    assertThat(read.subList(0, end))
        .usingRecursiveFieldByFieldElementComparator()
        .isEqualTo(step.events().subList(0, end));
    assertThat(read.subList(end, read.size()))
        .containsExactlyInAnyOrderElementsOf(step.events().subList(end, read.size()));
    assertThat(TraceLog.read(copy).names()).contains("f", "g_");
    assertThat(folder).isDirectoryNotContaining("glob:**.part");
  }

  @Test
  void resultsOfAnOpThatCannotRunAgainAreWrittenAsConstants() {
    Trace.Run once = new Trace.Run(7, false, new int[0], new long[] {64}, new int[] {-1});
    Path file = folder.resolve("once.log");
    TraceLogWriter.write(new Trace(List.of(once)), file);
    Trace read = TraceLog.read(file);
    assertThat(read.cost()).isEqualTo(7);
    assertThat(read.recipes().isRepeatable(read.recipes().maker(0))).isFalse();
  }

  @Test
  void logThatCannotBeWrittenIsAnError() {
    Path file = folder.resolve("none").resolve("step.log");
    assertThatThrownBy(() -> TraceLogWriter.write(new Trace(List.of()), file))
        .isInstanceOf(java.io.UncheckedIOException.class)
        .hasMessageContaining("record: got an error writing");
  }

  @Test
  void compressedLogReadsLikeAPlainOne() throws IOException {
    Path packed = folder.resolve("step.log.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
      out.write(LOG.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }
    assertThat(TraceLog.read(packed).peakLive()).isEqualTo(320);
    byte[] bytes = Files.readAllBytes(packed);
    Files.write(packed, Arrays.copyOf(bytes, bytes.length / 2));
    assertThatThrownBy(() -> TraceLog.read(packed))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("step.log.gz");
    try (OutputStream out = Files.newOutputStream(packed)) {
      out.write(bytes);
      bytes[0] = 0;
      out.write(1);
      out.write(bytes);
    }
    assertThatThrownBy(() -> TraceLog.read(packed))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("behind gzip member 1");
  }

  @Test
  void brokenLinesAreNamed() throws IOException {
    String start = "{\"INSTRUCTION\":\"ANNOTATE\",\"ANNOTATION\":\"START\"}\n";
    String[][] cases = {
      {"", "expected an ANNOTATE line with START"},
      {start + "{\"INSTRUCTION\":\"CONSTANT\",\"NAME\":\"x\"}", "line 3: got the end of the file"},
      {start + "{\"INSTRUCTION\":\"COPY\",\"DST\":\"y\",\"SRC\":\"x\"}", "line 2: got the name x"},
      {start + "{\"INSTRUCTION\":\"JUMP\"}", "line 2: got instruction JUMP"},
      {start + "{\"NAME\":\"x\"}", "line 2: \"INSTRUCTION\": got none"},
      {"{\"NAME\":\"x\"}", "line 1: \"INSTRUCTION\": got none"},
      {start + "{\"INSTRUCTION\":", "line 2"},
      {
        start
            + "{\"INSTRUCTION\":\"CONSTANT\",\"NAME\":\"x\"}\n"
            + "{\"INSTRUCTION\":\"MEMORY\",\"NAME\":\"x\",\"MEMORY\":\"-5\"}",
        "line 3: got MEMORY -5"
      },
      {
        start
            + "{\"INSTRUCTION\":\"CALL\",\"NAME\":\"f\",\"ARGS\":[],\"RESULT\":[\"a\"],\"TIME\":\"x\"}\n"
            + "{\"INSTRUCTION\":\"MEMORY\",\"NAME\":\"a\",\"MEMORY\":\"1\"}\n"
            + "{\"INSTRUCTION\":\"ALIAS\",\"NAME\":\"a\",\"ALIAS\":\"7\"}",
        "line 4: got ALIAS 7"
      },
    };
    for (String[] each : cases) {
      Path file = write(each[0]);
      assertThatThrownBy(() -> TraceLog.read(file))
          .as(each[0])
          .isInstanceOf(DataException.class)
          .hasMessageContaining("step.log")
          .hasMessageContaining(each[1]);
    }
  }

  @Test
  void aLineWithoutEndIsRefusedBeforeItFillsTheMemory() throws IOException {
    Path packed = folder.resolve("endless.log.gz");
    byte[] block = new byte[1 << 16];
    Arrays.fill(block, (byte) ' ');
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
      for (int i = 0; i < 32; i++) {
        out.write(block);
      }
    }
    assertThatThrownBy(() -> TraceLog.read(packed))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("line 1: got a line of more than 1048576 characters");
  }
}
