package dev.tern.spark;

import dev.tern.files.text.CsvOptions;
import dev.tern.files.text.TextOptions;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** What Spark writes as CSV. */
final class CsvFrames {
  private static final String ROWS =
      "SELECT id row, id * 7919 - 300000 a, if(id % 5 = 0, NULL, id * 0.37D - 9) b,"
          + " CAST(id * 1.25 AS DECIMAL(20,3)) c, if(id % 7 = 0, NULL, concat('w', id % 11)) d"
          + " FROM range(200)";
  private static final String TEXTS =
      "SELECT id row, element_at(array('plain', 'a,b', 'say \"x\"', 'two\\nlines', ' spaces ',"
          + " 'é𝄞', 'tab\\there', '#', 'back\\\\slash', 'end\\\\', '\"', '', 'e,nd\\\\', '\\\\\"',"
          + " 'a\\\\\n"
          + "b', '\\\\,x', '\\\\\\\\'), CAST(id % 17 AS INT) + 1) a FROM range(51)";

  private CsvFrames() {}

  /**
   * A frame with the options of Spark that write and read it, and those of Tern.
   *
   * @param missing texts that mean a missing value
   */
  record CsvFrame(Frame frame, Map<String, String> spark, CsvOptions tern, List<String> missing) {
    @Override
    public String toString() {
      return frame.name();
    }
  }

  static List<CsvFrame> all() {
    CsvOptions csv = new CsvOptions(',', List.of(), false, true);
    return List.of(
        rows("names in the first line", Map.of("header", "true"), csv),
        rows("no line of names", Map.of(), csv.withHeader(List.of("row", "a", "b", "c", "d"))),
        rows("gzip", Map.of("header", "true", "compression", "gzip"), csv),
        rows("tabs", Map.of("header", "true", "sep", "\t"), csv.withDelimiter("\t")),
        rows(
            "delimiters of two characters",
            Map.of("header", "true", "sep", "||"),
            csv.withDelimiter("||")),
        rows("all quoted", Map.of("header", "true", "quoteAll", "true"), csv),
        rows(
            "Latin-1",
            Map.of("header", "true", "encoding", "ISO-8859-1"),
            csv.withText(TextOptions.DEFAULT.withEncoding(StandardCharsets.ISO_8859_1))),
        new CsvFrame(
            with(Frame.of("marked nulls", ROWS), Map.of("header", "true", "nullValue", "\\N"))
                .numbers("a", "b", "c")
                .texts("d"),
            Map.of("header", "true", "nullValue", "\\N"),
            csv,
            List.of("\\N")),
        new CsvFrame(
            with(Frame.of("texts", TEXTS), Map.of("header", "true", "multiLine", "true"))
                .texts("a"),
            Map.of(
                "header", "true",
                "multiLine", "true",
                "ignoreLeadingWhiteSpace", "false",
                "ignoreTrailingWhiteSpace", "false"),
            csv.withEscapes(CsvOptions.Escapes.QUOTED),
            List.of()),
        new CsvFrame(
            with(
                    Frame.of("texts with doubled quotes", TEXTS),
                    Map.of("header", "true", "escape", "\""))
                .texts("a"),
            Map.of("header", "true", "multiLine", "true", "escape", "\""),
            csv,
            List.of()),
        new CsvFrame(
            with(
                    Frame.of(
                        "partitions",
                        "SELECT id row, id * 3 a, id % 3 day, element_at(array('a/b', 'ü', NULL),"
                            + " CAST(id % 3 AS INT) + 1) country FROM range(30)"),
                    Map.of("header", "true"))
                .written(w -> w.partitionBy("day", "country"))
                .numbers("a", "day")
                .texts("country"),
            Map.of("header", "true"),
            csv,
            List.of()),
        new CsvFrame(
            with(
                    Frame.of(
                        "empty parts",
                        spark -> spark.sql("SELECT id row, id + 1 a FROM range(3)").repartition(8)),
                    Map.of("header", "true"))
                .numbers("a"),
            Map.of("header", "true"),
            csv,
            List.of()));
  }

  private static CsvFrame rows(String name, Map<String, String> spark, CsvOptions tern) {
    Frame frame = with(Frame.of(name, ROWS), spark).numbers("a", "b", "c").ids("a").texts("d");
    return new CsvFrame(frame, spark, tern, List.of());
  }

  /** {@code frame}, written with {@code options} and with spaces kept. */
  private static Frame with(Frame frame, Map<String, String> options) {
    return frame.written(w ->
        w.options(options)
            .option("ignoreLeadingWhiteSpace", "false")
            .option("ignoreTrailingWhiteSpace", "false"));
  }
}
