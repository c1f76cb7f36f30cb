package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import io.airlift.compress.v3.lz4.Lz4JavaCompressor;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.apache.parquet.format.CompressionCodec;
import org.junit.jupiter.api.Test;

class ParquetCodecTest {
  /** Of which the decompressor reads 64 bytes before the first. */
  private static final String DAMAGED =
      "28b52ffd0058bc000000f2091419c025ad019bbba02b37adfcff95e1ff37bd6a99deb1d636490101fcc11b7ce187e0"
          + "a6e064f173e2";

  private static byte[] packed(byte[] data) {
    byte[] room = new byte[data.length + 100];
    int size = new Lz4JavaCompressor().compress(data, 0, data.length, room, 0, room.length);
    return Arrays.copyOf(room, size);
  }

  /** A frame of Hadoop: the size of {@code data}, then blocks that hold so many bytes each. */
  private static byte[] frame(byte[] data, int... blocks) {
    ByteBuffer out = ByteBuffer.allocate(2 * data.length + 1000).putInt(data.length);
    int from = 0;
    for (int block : blocks) {
      byte[] packed = packed(Arrays.copyOfRange(data, from, from + block));
      out.putInt(packed.length).put(packed);
      from += block;
    }
    return Arrays.copyOf(out.array(), out.position());
  }

  private static byte[] join(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }

  private static byte[] unpack(byte[] source, int size) {
    ParquetCodec codec = new ParquetCodec();
    byte[] target = new byte[size + 20];
    codec.checkSizes(CompressionCodec.LZ4, source, 0, source.length, size);
    codec.uncompress(CompressionCodec.LZ4, source, 0, source.length, target, 7, size);
    assertThat(Arrays.copyOf(target, 7)).containsOnly(0);
    assertThat(Arrays.copyOfRange(target, size + 7, size + 20)).containsOnly(0);
    return Arrays.copyOfRange(target, 7, size + 7);
  }

  @Test
  void lz4IsReadInFramesOfHadoopAndWithoutAny() {
    byte[] data = new byte[1000];
    new Random(1).nextBytes(data);
    Arrays.fill(data, 300, 700, (byte) 9);
    byte[] head = Arrays.copyOf(data, 400);
    byte[] tail = Arrays.copyOfRange(data, 400, 1000);
    assertThat(unpack(frame(data, 1000), 1000)).isEqualTo(data);
    assertThat(unpack(frame(data, 10, 490, 500), 1000)).isEqualTo(data);
    assertThat(unpack(join(frame(head, 400), frame(tail, 1, 599)), 1000)).isEqualTo(data);
    assertThat(unpack(join(frame(head, 400), new byte[4], frame(tail, 600)), 1000)).isEqualTo(data);
    assertThat(unpack(packed(data), 1000)).isEqualTo(data);
    assertThat(unpack(new byte[0], 0)).isEmpty();
  }

  @Test
  void lz4WhoseSizesDoNotAddUpIsAFault() {
    byte[] data = new byte[100];
    byte[] sound = frame(data, 100);
    for (int length = 0; length < sound.length; length++) {
      byte[] cut = Arrays.copyOf(sound, length);
      assertThatExceptionOfType(DataException.class).isThrownBy(() -> unpack(cut, 100));
    }
    for (int at = 0; at < 8; at++) {
      for (int value : new int[] {0xFF, 0x7F, 1}) {
        byte[] damaged = sound.clone();
        damaged[at] ^= (byte) value;
        assertThatExceptionOfType(DataException.class).isThrownBy(() -> unpack(damaged, 100));
      }
    }
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() -> unpack(join(frame(data, 100), new byte[3]), 100));
    assertThatExceptionOfType(DataException.class).isThrownBy(() -> unpack(sound, 99));
  }

  @Test
  void aFaultDoesNotDependOnHowTheDecompressorWasCompiled() {
    byte[] bytes = HexFormat.of().parseHex(DAMAGED);
    assertThatExceptionOfType(DataException.class)
        .isThrownBy(() ->
            new ParquetCodec()
                .uncompress(CompressionCodec.ZSTD, bytes, 0, bytes.length, new byte[160], 0, 160))
        .withCauseInstanceOf(IndexOutOfBoundsException.class)
        .withMessageStartingWith("got bytes that are no ZSTD; ");
  }
}
