package dev.tern.files.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.data.encode.TextHash;
import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ParquetFileWriter.Mode;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What parquet-java writes, in all its encodings, against what was given to it. */
class ParquetJavaTest {
  private static final int ROWS = 4000;
  private static final MessageType SCHEMA =
      MessageTypeParser.parseMessageType(
          """
          message row {
            required int32 y;
            optional float f;
            optional double d;
            required int64 wide;
            required int32 narrow;
            optional boolean b;
            optional int64 id;
            required binary word (STRING);
            optional binary maybe (STRING);
            optional group bag (LIST) { repeated group list { optional int64 element; } }
            required group tags (LIST) { repeated binary array (STRING); }
            repeated int32 bare;
            optional group deep { required group deeper { optional int32 bottom; } }
          }
          """);
  private static final Columns COLUMNS =
      new Columns(
          List.of("y"),
          Set.of(),
          List.of("f", "d", "wide", "narrow", "b", "deep"),
          List.of(
              SparseColumn.id("wide"),
              SparseColumn.id("narrow"),
              SparseColumn.id("id"),
              SparseColumn.text("word"),
              SparseColumn.text("maybe"),
              SparseColumn.id("bag"),
              SparseColumn.text("tags"),
              SparseColumn.id("bare")));

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "PARQUET_1_0, SNAPPY, true, false, 1000, 4096, PLAIN_DICTIONARY PLAIN",
    "PARQUET_1_0, UNCOMPRESSED, false, false, 1000000, 200, PLAIN",
    "PARQUET_1_0, ZSTD, true, true, 20000, 65536, BYTE_STREAM_SPLIT PLAIN_DICTIONARY",
    "PARQUET_2_0, SNAPPY, true, false, 200000, 4096, RLE_DICTIONARY DELTA_BYTE_ARRAY",
    "PARQUET_2_0, UNCOMPRESSED, false, false, 50000, 300, DELTA_BINARY_PACKED DELTA_BYTE_ARRAY RLE",
    "PARQUET_2_0, LZ4_RAW, false, true, 1000000, 4096, BYTE_STREAM_SPLIT DELTA_BYTE_ARRAY",
    "PARQUET_2_0, ZSTD, false, false, 1000000, 1000000, DELTA_BINARY_PACKED",
  })
  void everyEncodingReadsAsWritten(
      String version,
      String codec,
      boolean dictionary,
      boolean split,
      int groupBytes,
      int pageBytes,
      String encodings)
      throws IOException {
    Path file = folder.resolve("java.parquet");
    List<String> expected = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(7);
    try (var writer =
        ExampleParquetWriter.builder(new LocalOutputFile(file))
            .withConf(new PlainParquetConfiguration())
            .withType(SCHEMA)
            .withWriteMode(Mode.OVERWRITE)
            .withWriterVersion(ParquetProperties.WriterVersion.valueOf(version))
            .withCompressionCodec(CompressionCodecName.valueOf(codec))
            .withDictionaryEncoding(dictionary)
            .withDictionaryPageSize(2000)
            .withByteStreamSplitEncoding(split)
            .withByteStreamSplitEncoding("wide", split)
            .withByteStreamSplitEncoding("narrow", split)
            .withRowGroupSize((long) groupBytes)
            .withPageSize(pageBytes)
            .withPageWriteChecksumEnabled(true)
            .build()) {
      SimpleGroupFactory groups = new SimpleGroupFactory(SCHEMA);
      for (int row = 0; row < ROWS; row++) {
        Group group = groups.newGroup();
        expected.add(put(group, row, random));
        writer.write(group);
      }
    }
    assertThat(encodings(file)).contains(encodings.split(" "));
    assertThat(
            ParquetRows.allAndClose(
                ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, COLUMNS)))
        .isEqualTo(expected);
    ParquetRows.skipsAgree(
        ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, COLUMNS), expected);
  }

  private static Set<String> encodings(Path path) {
    Set<String> encodings = new HashSet<>();
    try (ParquetFile file = ParquetFile.open(path)) {
      file.rowGroups().stream()
          .flatMap(group -> group.getColumns().stream())
          .flatMap(column -> column.getMeta_data().getEncodings().stream())
          .forEach(encoding -> encodings.add(encoding.name()));
    }
    return encodings;
  }

  /** Fills a row; returns what the reader must make of it. */
  private static String put(Group group, int row, SplittableRandom random) {
    // Long stretches of equal rows make long runs; others are random.
    boolean calm = row / 700 % 2 == 0;
    List<Float> dense = new ArrayList<>();
    int y = calm ? 1 : random.nextInt(2);
    group.add("y", y);
    if (calm || random.nextInt(3) > 0) {
      float f = calm ? 2.5f : (float) random.nextGaussian();
      group.add("f", f);
      dense.add(f);
    } else {
      dense.add(Float.NaN);
    }
    if (random.nextInt(5) > 0) {
      double d = random.nextGaussian() * 1e6;
      group.add("d", d);
      dense.add((float) d);
    } else {
      dense.add(Float.NaN);
    }
    long wide = calm ? 1L << 40 : random.nextLong() >> random.nextInt(64);
    int narrow = calm ? row : random.nextInt() >> random.nextInt(32);
    group.add("wide", wide);
    group.add("narrow", narrow);
    dense.add((float) wide);
    dense.add((float) narrow);
    if (random.nextInt(4) > 0) {
      boolean b = random.nextBoolean();
      group.add("b", b);
      dense.add(b ? 1f : 0f);
    } else {
      dense.add(Float.NaN);
    }
    List<List<Long>> slots = new ArrayList<>();
    slots.add(List.of(wide));
    slots.add(List.of((long) narrow));
    long id = random.nextInt(calm ? 10 : 5000);
    boolean hasId = random.nextInt(6) > 0;
    if (hasId) {
      group.add("id", id);
    }
    slots.add(hasId ? List.of(id) : List.of());
    String word = "word " + (calm ? row / 10 : random.nextInt(3000));
    group.add("word", word);
    slots.add(List.of(TextHash.of(word)));
    String maybe = random.nextInt(3) == 0 ? "" : "m".repeat(random.nextInt(40));
    if (!maybe.isEmpty()) {
      group.add("maybe", maybe);
    }
    slots.add(List.of(TextHash.of(maybe)));
    slots.add(putBag(group, random));
    slots.add(putTags(group, random));
    List<Long> bare = new ArrayList<>();
    for (int i = random.nextInt(calm ? 1 : 4); i > 0; i--) {
      int value = random.nextInt(100);
      group.add("bare", value);
      bare.add((long) value);
    }
    slots.add(bare);
    dense.add(putDeep(group, row));
    StringBuilder text = new StringBuilder("[" + (float) y + "] | " + dense + " |");
    slots.forEach(ids -> text.append(' ').append(ids));
    return text.toString();
  }

  private static List<Long> putBag(Group group, SplittableRandom random) {
    List<Long> ids = new ArrayList<>();
    int shape = random.nextInt(5);
    if (shape > 0) {
      Group bag = group.addGroup("bag");
      for (int i = shape == 1 ? 0 : random.nextInt(6); i > 0; i--) {
        Group element = bag.addGroup("list");
        if (random.nextInt(7) > 0) {
          long id = random.nextLong(1000);
          element.add("element", id);
          ids.add(id);
        }
      }
    }
    return ids;
  }

  private static List<Long> putTags(Group group, SplittableRandom random) {
    List<Long> ids = new ArrayList<>();
    Group tags = group.addGroup("tags");
    // Now and then a row with more elements than are decoded at a time.
    for (int i = random.nextInt(500) == 0 ? 3000 : random.nextInt(3); i > 0; i--) {
      String tag = "tag" + random.nextInt(200);
      tags.add("array", tag);
      ids.add(TextHash.of(tag));
    }
    return ids;
  }

  private static float putDeep(Group group, int row) {
    if (row % 4 == 0) {
      return Float.NaN;
    }
    Group deeper = group.addGroup("deep").addGroup("deeper");
    if (row % 4 == 1) {
      return Float.NaN;
    }
    deeper.add("bottom", row);
    return row;
  }

  @Test
  void anEmptyFileHasNoRows() throws IOException {
    Path file = folder.resolve("empty.parquet");
    ExampleParquetWriter.builder(new LocalOutputFile(file))
        .withConf(new PlainParquetConfiguration())
        .withType(SCHEMA)
        .build()
        .close();
    assertThat(Files.size(file)).isPositive();
    assertThat(
            ParquetRows.allAndClose(
                ParquetReader.open(List.of(file), ParquetOptions.DEFAULT, COLUMNS)))
        .isEmpty();
  }
}
