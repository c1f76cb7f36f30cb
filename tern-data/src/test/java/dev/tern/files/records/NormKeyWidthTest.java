package dev.tern.files.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.DataReader;
import dev.tern.files.KeyType;
import dev.tern.files.ReadPolicy;
import dev.tern.files.Rows;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The width of the keys of a Norm file, which the reader is told or finds out. */
final class NormKeyWidthTest extends NormFiles {
  @ParameterizedTest
  @MethodSource("variants")
  void smallKeysOfOneHotSlotsAreFoundToBeOfTheirWidth(NormCheck check, KeyType keys) {
    Rows rows = Rows.random(5, 50, 1, 0, new int[] {1, 1, 1, 1}, 3);
    assertThat(read(file(tiny(rows, check, keys)), NormOptions.DETECT)).isEqualTo(rows.list());
  }

  @ParameterizedTest
  @EnumSource(NormCheck.class)
  void recordsWithoutKeysNeedNoWidth(NormCheck check) {
    Rows rows = Rows.random(5, 50, 2, 3, new int[] {}, 3);
    assertThat(read(file(tiny(rows, check, KeyType.U32)), NormOptions.DETECT))
        .isEqualTo(rows.list());
  }

  @ParameterizedTest
  @EnumSource(NormCheck.class)
  void wrongKeyWidthIsSaid(NormCheck check) {
    for (KeyType written : new KeyType[] {KeyType.U32, KeyType.I64}) {
      KeyType told = written == KeyType.U32 ? KeyType.I64 : KeyType.U32;
      for (int[] hotness : new int[][] {{1, 1, 1, 1}, {1, 0, 2}, {3}, {0, 0}}) {
        Rows rows = Rows.random(5, 40, 1, 3, hotness, 200);
        assertFault(
            tiny(rows, check, written),
            keys(told),
            "record",
            "byte",
            check == NormCheck.SUM ? "read with " + told + " keys but fits " + written : "");
      }
    }
  }

  /** Where record {@code index} begins: its length in a framed file, its labels in a plain one. */
  private static int start(Rows rows, int index, NormCheck check, KeyType keys) {
    Rows before = new Rows(rows.schema(), rows.list().subList(0, index));
    return tiny(before, check, keys).length;
  }

  /** Puts {@code value} {@code ahead} bytes into record {@code index}, and the sum that fits. */
  private static byte[] edited(
      Rows rows, int index, int ahead, int value, NormCheck check, KeyType keys) {
    byte[] bytes = tiny(rows, check, keys);
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int at = start(rows, index, check, keys);
    boolean framed = check == NormCheck.SUM;
    buffer.putInt(at + (framed ? 4 : 0) + ahead, value);
    if (framed) {
      int length = buffer.getInt(at);
      byte sum = 0;
      for (int i = 0; i < length; i++) {
        sum += bytes[at + 4 + i];
      }
      bytes[at + 4 + length] = sum;
    }
    return bytes;
  }

  private void assertOneFault(byte[] bytes, int goodRows, String part) {
    assertFault(bytes, NormOptions.DETECT, part);
    List<String> faults = new ArrayList<>();
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(f -> faults.add(f.getMessage()));
    try (DataReader reader = NormReader.open(List.of(file(bytes)), NormOptions.DETECT, policy)) {
      assertThat(Rows.read(reader)).as(part).hasSize(goodRows);
    }
    assertThat(faults).singleElement().asString().contains(part);
  }

  @ParameterizedTest
  @MethodSource("variants")
  void aBadRecordDoesNotHideTheWidthOfTheKeys(NormCheck check, KeyType keys) {
    boolean framed = check == NormCheck.SUM;
    int half = Float.floatToIntBits(0.5f);
    for (int[] hotness : new int[][] {{1, 1, 1}, {1, 0, 2}}) {
      Rows rows = Rows.random(9, 500, 1, 2, hotness, 0xFFFFL);
      for (int record : new int[] {0, 1, 4, 499}) {
        int at = start(rows, record, check, keys) + (framed ? 4 : 0);
        String where = "in.norm: record " + (record + 1) + ", byte ";
        assertOneFault(
            edited(rows, record, 0, half, check, keys), 499, where + at + ": got label 0.5");
        assertOneFault(
            edited(rows, record, 12, -1, check, keys),
            framed ? 499 : record,
            where + (at + 12) + ": got -1 keys in a slot");
        int second = 12 + 4 + keys.bytes();
        assertOneFault(
            edited(rows, record, second, 1 << 30, check, keys),
            framed ? 499 : record,
            where + (at + second) + ": got 1073741824 keys in a slot");
      }
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void damagedRecordsDoNotHideTheWidthOfTheKeys(NormCheck check, KeyType keys) {
    Rows rows = Rows.random(9, 40, 1, 2, new int[] {1, 0, 2}, 0xFFFFL);
    byte[] bytes = tiny(rows, check, keys);
    if (check == NormCheck.SUM) {
      bytes[start(rows, 0, check, keys) + 18]++;
      assertOneFault(bytes, 39, "in.norm: record 1, byte 69: got checksum ");
      return;
    }
    byte[] longer = Arrays.copyOf(bytes, bytes.length + 4);
    assertOneFault(longer, 40, "byte " + bytes.length + ": got 4 bytes after record 40");
  }

  /** As HugeCTR's own generator writes them. */
  @ParameterizedTest
  @MethodSource("variants")
  void labelsThatAreAllIllegalDoNotHideTheWidthOfTheKeys(NormCheck check, KeyType keys) {
    Rows rows = Rows.random(9, 60, 1, 2, new int[] {1, 0, 2}, 0xFFFFL);
    List<Rows.Row> list =
        rows.list().stream().map(r -> new Rows.Row(List.of(0.3f), r.dense(), r.ids())).toList();
    byte[] bytes = tiny(new Rows(rows.schema(), list), check, keys);
    assertFault(bytes, NormOptions.DETECT, "in.norm: record 1, byte ", "got label 0.3");
    ReadPolicy any = ReadPolicy.STRICT.withAnyLabel();
    try (DataReader reader = NormReader.open(List.of(file(bytes)), NormOptions.DETECT, any)) {
      assertThat(Rows.read(reader)).isEqualTo(list);
    }
  }

  @Test
  void aWidthThatOneFileLeavesOpenIsToldByTheNext() {
    Rows unclear = new Rows(random(0, KeyType.U32).schema(), List.of());
    Rows none = Rows.random(9, 3, 1, 2, new int[] {0, 0, 0}, 9);
    List<Rows.Row> empty =
        none.list().stream()
            .map(r -> new Rows.Row(r.labels(), r.dense(), List.of(List.of(), List.of(), List.of())))
            .toList();
    Rows rows = random(20, KeyType.U32);
    for (NormCheck check : NormCheck.values()) {
      Path first = file("a.norm", tiny(unclear, check, KeyType.U32));
      Path second = file("b.norm", tiny(new Rows(none.schema(), empty), check, KeyType.U32));
      Path third = file("c.norm", tiny(rows, check, KeyType.U32));
      try (DataReader reader = NormReader.open(List.of(first, second, third), NormOptions.DETECT)) {
        assertThat(Rows.read(reader).subList(3, 23)).isEqualTo(rows.list());
      }
    }
  }
}
