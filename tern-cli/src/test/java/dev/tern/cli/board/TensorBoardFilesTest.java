package dev.tern.cli.board;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TensorBoardFilesTest {
  private static final double TIME = 1_700_000_000.0;
  private static final HexFormat HEX = HexFormat.ofDelimiter(" ");

  @TempDir Path temp;

  /** Bytes that TensorFlow writes for the same. */
  @Test
  void recordsAreThoseOfTensorFlow() {
    assertThat(HEX.formatHex(EventFile.version(TIME)))
        .isEqualTo(
            "18 00 00 00 00 00 00 00 a3 7f 4b 22 09 00 00 00 40 fc 54 d9 41 1a 0d 62 72 61 69 6e"
                + " 2e 45 76 65 6e 74 3a 32 ec ed 8f 9d");
    assertThat(HEX.formatHex(EventFile.scalarRecord(TIME, 100, "loss", 0.5f)))
        .isEqualTo(
            "1a 00 00 00 00 00 00 00 12 9b d8 2d 09 00 00 00 40 fc 54 d9 41 10 64 2a 0d 0a 0b 0a"
                + " 04 6c 6f 73 73 15 00 00 00 3f e5 2e 08 d6");
  }

  /** Values as {@code step tag value}, and {@code step begin}. */
  private static List<String> read(Path folder) throws IOException {
    List<String> all = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.sorted().toList()) {
        assertThat(file.getFileName().toString())
            .matches("events\\.out\\.tfevents\\.[0-9]{10}\\.tern\\.[0-9]+\\.[0-9]+");
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        while (in.hasRemaining()) {
          event(record(in), all);
        }
      }
    }
    return all;
  }

  private static ByteBuffer record(ByteBuffer in) {
    byte[] length = new byte[8];
    in.get(in.position(), length);
    byte[] data = new byte[(int) in.getLong()];
    assertThat(in.getInt()).isEqualTo(masked(length));
    in.get(data);
    assertThat(in.getInt()).isEqualTo(masked(data));
    return ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static int masked(byte[] data) {
    CRC32C sum = new CRC32C();
    sum.update(data);
    int crc = (int) sum.getValue();
    return (crc >>> 15 | crc << 17) + 0xa282ead8;
  }

  private static void event(ByteBuffer data, List<String> all) {
    long step = 0;
    while (data.hasRemaining()) {
      switch (data.get()) {
        case 9 -> data.getDouble();
        case 16 -> step = varint(data);
        case 26 -> assertThat(text(data)).isEqualTo("brain.Event:2");
        case 58 -> {
          assertThat(varint(data)).isEqualTo(2);
          assertThat(data.getShort()).isEqualTo((short) 0x0108);
          all.add(step + " begin");
        }
        case 42 -> {
          varint(data);
          assertThat(data.get()).isEqualTo((byte) 10);
          varint(data);
          assertThat(data.get()).isEqualTo((byte) 10);
          String tag = text(data);
          assertThat(data.get()).isEqualTo((byte) 21);
          all.add(step + " " + tag + " " + data.getFloat());
        }
        default -> throw new AssertionError("an unknown field");
      }
    }
  }

  private static long varint(ByteBuffer data) {
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      byte next = data.get();
      value |= (long) (next & 0x7f) << shift;
      if (next >= 0) {
        return value;
      }
    }
  }

  private static String text(ByteBuffer data) {
    byte[] text = new byte[(int) varint(data)];
    data.get(text);
    return new String(text, StandardCharsets.UTF_8);
  }

  private static String line(long step, String split, String more) {
    return "{\"step\":%d,\"split\":\"%s\",\"seconds\":1,\"loss\":0.5%s}\n"
        .formatted(step, split, more);
  }

  @Test
  void eachLineOfTheMetricsIsThereWhenTheRunEnds() throws IOException {
    Path run = Files.createDirectories(temp.resolve("run"));
    Path folder = temp.resolve("events");
    TensorBoardFiles files = TensorBoardFiles.follow(run, folder);
    String tasks = ",\"tasks\":{\"click\":{\"loss\":0.5,\"auc\":null},\"ü\":{\"auc\":0.75}}";
    Files.writeString(
        run.resolve("metrics.jsonl"),
        line(1, "train", ",\"samples_per_second\":1000")
            + line(300, "train", "")
            + line(300, "eval", tasks)
            + "{\"step\":");
    files.close();
    assertThat(read(folder.resolve("train")))
        .containsExactly("1 begin", "1 loss 0.5", "1 samples_per_second 1000.0", "300 loss 0.5");
    assertThat(read(folder.resolve("eval")))
        .containsExactly("300 begin", "300 loss/click 0.5", "300 auc/ü 0.75");
    assertThat(files.failure()).isEmpty();
  }

  @Test
  void aRunThatGoesOnMakesTheFilesBeforeVoid() throws IOException {
    Path run = Files.createDirectories(temp.resolve("run"));
    Path folder = temp.resolve("events");
    Files.writeString(run.resolve("metrics.jsonl"), line(1, "train", "") + line(2, "train", ""));
    TensorBoardFiles.follow(run, folder).close();
    Files.writeString(run.resolve("metrics.jsonl"), line(1, "train", "") + line(3, "train", ""));
    TensorBoardFiles.follow(run, folder).close();
    assertThat(read(folder.resolve("train")))
        .containsExactly(
            "1 begin", "1 loss 0.5", "2 loss 0.5", "1 begin", "1 loss 0.5", "3 loss 0.5");
  }

  @Test
  void aFolderThatCannotBeWrittenIsToldAndStopsNothing() throws IOException {
    Path run = Files.createDirectories(temp.resolve("run"));
    Files.writeString(run.resolve("metrics.jsonl"), line(1, "train", ""));
    Path folder = Files.writeString(temp.resolve("events"), "a file");
    TensorBoardFiles files = TensorBoardFiles.follow(run, folder);
    files.close();
    assertThat(files.failure().orElseThrow())
        .contains(folder + ": got an error writing events", "training goes on without them");
  }
}
