package dev.tern.files.records;

import static dev.tern.files.Rows.row;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.base.DataException;
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

/** Norm files that are damaged: each fault names its place, and the rows around it are kept. */
final class NormDamageTest extends NormFiles {
  private static final int SUM_HEADER = 69;
  private static final int PLAIN_HEADER = 64;

  @Test
  void wrongChecksumNamesRecordAndByte() {
    byte[] bytes = hex(SUM_U32);
    bytes[bytes.length - 1]++;
    assertFault(
        bytes, keys(KeyType.U32), "record 1", "byte 69", "checksum 36 of 24 bytes", "expected 37");
    bytes = hex(SUM_U32);
    bytes[30]++;
    assertFault(bytes, NormOptions.DETECT, "byte 68", "checksum", "header");
  }

  @ParameterizedTest
  @EnumSource(NormCheck.class)
  void countsThatCannotBeAreFaults(NormCheck check) {
    Rows rows = random(3, KeyType.I64);
    int header = check == NormCheck.SUM ? SUM_HEADER + 4 : PLAIN_HEADER;
    int slot0 = header + 12;
    for (int count : new int[] {-1, Integer.MIN_VALUE, 1 << 20, Integer.MAX_VALUE}) {
      byte[] bytes = tiny(rows, check, KeyType.I64);
      ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(slot0, count);
      mendChecksum(bytes, check);
      assertFault(
          bytes,
          keys(KeyType.I64),
          "record 1",
          "byte " + slot0,
          "got " + count + " keys in a slot");
    }
  }

  /** Gives the first record of a framed file the checksum of its bytes. */
  private static void mendChecksum(byte[] bytes, NormCheck check) {
    if (check == NormCheck.SUM) {
      int length = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(SUM_HEADER);
      byte sum = 0;
      for (int i = 0; i < length; i++) {
        sum += bytes[SUM_HEADER + 4 + i];
      }
      bytes[SUM_HEADER + 4 + length] = sum;
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void lengthsOfFramesThatCannotBeAreFaults(NormCheck check, KeyType keys) {
    if (check == NormCheck.NONE) {
      return;
    }
    for (int length : new int[] {-1, 0, 23, Integer.MIN_VALUE, Integer.MAX_VALUE, 1 << 29}) {
      byte[] bytes = tiny(random(3, keys), check, keys);
      ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(SUM_HEADER, length);
      assertFault(bytes, keys(keys), "record 1", "byte");
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void aFileCutShortAnywhereIsAFault(NormCheck check, KeyType keys) {
    byte[] bytes = tiny(random(2, keys), check, keys);
    Path whole = file("whole.norm", bytes);
    for (int length = 0; length < bytes.length; length++) {
      byte[] cut = Arrays.copyOf(bytes, length);
      assertFault(cut, keys(keys));
      if (length > 0) {
        assertFault(cut, NormOptions.DETECT);
      }
      Path file = file(cut);
      List<String> faults = new ArrayList<>();
      ReadPolicy policy = ReadPolicy.STRICT.withFaults(f -> faults.add(f.getMessage()));
      try (DataReader reader = NormReader.open(List.of(file, whole), keys(keys), policy)) {
        int rows = Rows.read(reader).size();
        assertThat(rows).isBetween(2, 3);
      }
      assertThat(faults).hasSize(1);
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void aFileCutShortCostsAllRecordsThatAreLeft(NormCheck check, KeyType keys) {
    byte[] bytes = tiny(random(20, keys), check, keys);
    long[] lost = {0};
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(fault -> lost[0] += fault.rows());
    Path file = file(Arrays.copyOf(bytes, bytes.length / 2));
    try (DataReader reader = NormReader.open(List.of(file), keys(keys), policy)) {
      int rows = Rows.read(reader).size();
      assertThat(rows).isBetween(1, 19);
      assertThat(rows + lost[0]).isEqualTo(20);
    }
  }

  @ParameterizedTest
  @MethodSource("variants")
  void bytesAfterTheLastRecordAreAFault(NormCheck check, KeyType keys) {
    byte[] bytes = tiny(random(6, keys), check, keys);
    byte[] longer = Arrays.copyOf(bytes, bytes.length + 3);
    assertFault(longer, keys(keys), "got 3 bytes after record 6", "byte " + bytes.length);
  }

  @ParameterizedTest
  @MethodSource("variants")
  void anyFlippedBitEndsInRowsOrAFaultThatNamesThePlace(NormCheck check, KeyType keys) {
    Rows rows = random(3, keys);
    byte[] bytes = tiny(rows, check, keys);
    for (int at = 0; at < bytes.length; at++) {
      byte[] flipped = bytes.clone();
      flipped[at] ^= (byte) (1 << 5 * at % 8);
      Path file = file(flipped);
      try {
        assertThat(read(file, at % 2 == 0 ? keys(keys) : NormOptions.DETECT)).hasSize(3);
        assertThat(check).as("byte %d passed", at).isEqualTo(NormCheck.NONE);
      } catch (DataException e) {
        assertThat(e.getMessage()).contains("in.norm");
      }
    }
  }

  @Test
  void headersThatCannotBeAreFaults() {
    byte[] good = tiny(random(2, KeyType.U32), NormCheck.NONE, KeyType.U32);
    long[] bad = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 32, 1L << 21};
    String[] names = {"number_of_records", "label_dim", "dense_dim", "slot_num"};
    for (int field = 0; field < names.length; field++) {
      for (long value : bad) {
        byte[] bytes = good.clone();
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(8 + 8 * field, value);
        boolean plausible = field == 0 && value > 0;
        assertFault(bytes, keys(KeyType.U32), plausible ? "record 3" : names[field]);
      }
    }
    byte[] check = good.clone();
    check[0] = 1;
    assertFault(check, NormOptions.DETECT, "error_check 1", "plain header");
    byte[] framed = hex(SUM_U32);
    framed[4] = 0;
    assertFault(framed, NormOptions.DETECT, "error_check 0", "framed header");
  }

  @Test
  void badLabelsNameRecordAndByte() {
    for (NormCheck check : NormCheck.values()) {
      Rows rows = random(5, KeyType.I64);
      List<Rows.Row> list = new ArrayList<>(rows.list());
      Rows.Row third = list.get(2);
      list.set(2, row(0.5f, third.dense(), third.ids()));
      byte[] bytes = tiny(new Rows(rows.schema(), list), check, KeyType.I64);
      assertFault(bytes, keys(KeyType.I64), "record 3", "byte", "label 0.5", "0 or 1");
      Path file = file(bytes);
      try (DataReader reader =
          NormReader.open(List.of(file), NormOptions.DETECT, ReadPolicy.STRICT.withAnyLabel())) {
        assertThat(Rows.read(reader)).isEqualTo(list);
      }
      List<String> faults = new ArrayList<>();
      ReadPolicy policy = ReadPolicy.STRICT.withFaults(f -> faults.add(f.getMessage()));
      try (DataReader reader = NormReader.open(List.of(file), keys(KeyType.I64), policy)) {
        list.remove(2);
        assertThat(Rows.read(reader)).isEqualTo(list);
        assertThat(faults).hasSize(1);
        reader.start(0);
        assertThat(reader.skip(3)).isEqualTo(3);
        assertThat(Rows.read(reader)).isEqualTo(list.subList(3, 4));
      }
    }
  }

  /** HugeCTR loses the last record of the next file after a broken one; none is lost here. */
  @Test
  void onlyTheBadRecordsOfAFramedFileAreDropped() {
    Rows rows = random(20, KeyType.U32);
    byte[] bytes = tiny(rows, NormCheck.SUM, KeyType.U32);
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int at = SUM_HEADER;
    for (int record = 0; record < 20; record++) {
      if (record % 7 == 3) {
        bytes[at + 10] ^= 0x20;
      }
      at += 4 + in.getInt(at) + 1;
    }
    Path first = file("a.norm", bytes);
    Path second = file("b.norm", tiny(rows, NormCheck.SUM, KeyType.U32));
    List<Rows.Row> expected = new ArrayList<>();
    for (int record = 0; record < 20; record++) {
      if (record % 7 != 3) {
        expected.add(rows.list().get(record));
      }
    }
    expected.addAll(rows.list());
    List<String> faults = new ArrayList<>();
    ReadPolicy policy = ReadPolicy.STRICT.withFaults(f -> faults.add(f.getMessage()));
    try (DataReader reader = NormReader.open(List.of(first, second), keys(KeyType.U32), policy)) {
      assertThat(Rows.read(reader)).isEqualTo(expected);
    }
    assertThat(faults).hasSize(3).allMatch(f -> f.contains("a.norm") && f.contains("checksum"));
  }
}
