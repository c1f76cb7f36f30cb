package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.base.DataException;
import java.util.HexFormat;
import org.apache.parquet.format.CompressionCodec;
import org.junit.jupiter.api.Test;

class ParquetCodecTest {
  /** Of which the decompressor reads 64 bytes before the first. */
  private static final String DAMAGED =
      "28b52ffd0058bc000000f2091419c025ad019bbba02b37adfcff95e1ff37bd6a99deb1d636490101fcc11b7ce187e0"
          + "a6e064f173e2";

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
