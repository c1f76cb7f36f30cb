package dev.tern.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.predict.Predictor;
import dev.tern.requests.SmallModel;
import dev.tern.serve.wire.RefusedException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests that are refused, and what is said of them. */
final class RefusalTest {
  @TempDir static Path folder;

  private static Predictor model;
  private static ServedVersion version;

  private final RequestContexts contexts = new RequestContexts();
  private final InferProtocol infer = new InferProtocol(contexts);
  private final PredictProtocol predict = new PredictProtocol(contexts);

  @BeforeAll
  static void train() {
    model = SmallModel.open(folder, SmallModel.ALL);
    version = new ServedVersion("m", 30, model);
  }

  @AfterAll
  static void close() {
    model.close();
  }

  private String refused(byte[] body, OptionalInt json) {
    RefusedException fault =
        assertThatExceptionOfType(RefusedException.class)
            .isThrownBy(() -> infer.infer(version, body, body.length, json))
            .actual();
    assertThat(fault.status()).isEqualTo(400);
    return String.valueOf(fault.getMessage());
  }

  private String refusedRows(byte[] body) {
    RefusedException fault =
        assertThatExceptionOfType(RefusedException.class)
            .isThrownBy(() -> predict.invocations(version, body, body.length))
            .actual();
    assertThat(fault.status()).isEqualTo(400);
    return String.valueOf(fault.getMessage());
  }

  @Test
  void columnsForAllRowsCountAsMemoryUntilTheirRequestIsAnswered() {
    long[] held = {0, 0};
    RequestMemory memory =
        new RequestMemory() {
          @Override
          public boolean take(long bytes) {
            held[0] += held[0] + bytes > 1_000 ? 0 : bytes;
            held[1]++;
            return held[0] > 0 || bytes == 0;
          }

          @Override
          public void give(long bytes) {
            held[0] -= bytes;
          }
        };
    PredictProtocol limited = new PredictProtocol(new RequestContexts(memory));
    String row = "{\"pair\":[1,2]}";
    String many =
        "{\"context\":{\"tags\":[\"a\",\"b\",\"a\"],\"words\":{\"a\":1}},\"instances\":["
            + (row + ",").repeat(29)
            + row
            + "]}";
    assertThatExceptionOfType(RefusedException.class)
        .isThrownBy(() -> limited.predict(version, utf8(many), utf8(many).length))
        .withMessageContaining(
            "context: got 4 values for each of 30 rows, for which no memory is left")
        .matches(fault -> fault.status() == 503);
    String few = many.replace((row + ",").repeat(20), "");
    assertThat(limited.predict(version, utf8(few), utf8(few).length).status()).isEqualTo(200);
    assertThat(held[0]).as("3 ids and one with a weight for 10 rows were given back").isZero();
    assertThat(held[1]).isEqualTo(2);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private String row(String values) {
    return refusedRows(utf8("{\"instances\":[{\"pair\":[1,2]},{" + values + ",\"pair\":[1,2]}]}"));
  }

  private String tensor(String members) {
    return refused(utf8("{\"inputs\":[{" + members + "}]}"), OptionalInt.empty());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "\"I1\":\"a\" # row 2, column I1: got \"a\", expected a number, or nothing where it is"
            + " missing",
        "\"I1\":true # row 2, column I1: got true or false, expected a number, a text or null",
        "\"I1\":{} # row 2, column I1: got an object, expected",
        "\"I1\":[1,2] # row 2, column I1: got several values, expected one",
        "\"I1\":[[1]] # row 2, column I1: got an array",
        "\"I1\":1e39 # row 2, column I1: got 1e39, expected a number of at most 3.4e38",
        "\"I1\":-1e400 # row 2, column I1: got -1e400, expected",
        "\"I1\":NaN # JSON Parse error",
        "\"I1\":Infinity # JSON Parse error",
        "\"C1\":1.5 # row 2, column C1: got 1.5, expected an integer of 64 bits",
        "\"C1\":9223372036854775808 # row 2, column C1: got 9223372036854775808, expected an"
            + " integer of 64 bits",
        "\"C1\":-9223372036854775809 # row 2, column C1: got -9223372036854775809, expected",
        "\"big\":18446744073709551616 # row 2, column big: got 18446744073709551616, expected",
        "\"big\":-9223372036854775809 # row 2, column big: got -9223372036854775809, expected",
        "\"C1\":\"x\" # row 2, column C1: got \"x\", expected integers of 64 bits",
        "\"C1\":[1,2] # row 2, column C1: got a list of 2, expected one value",
        "\"C1\":[] # row 2, column C1: got a list of 0, expected one value",
        "\"C1\":[null] # row 2, column C1: got null in a list, expected an integer of 64 bits",
        "\"tags\":[1.5] # row 2, column tags: got a number in a list, expected a text",
        "\"tags\":{\"a\":1} # row 2, column tags: got an object",
        "\"words\":{\"a\":\"b\"} # row 2, column words: got a text as a weight, expected a number",
        "\"words\":{\"a\":1e39} # row 2, column words: got the weight Infinity, expected a finite"
            + " number",
        "\"city\":{\"b64\":\"/w==\"} # row 2, column city: got no UTF-8 at byte 0",
        "\"city\":{\"b64\":\"?\"} # row 2, column city: got b64 that is none, expected base64",
        "\"city\":\"\\ud800\" # row 2, column city: got half of a pair of surrogates",
        "\"words\":{\"\\udc00\":1} # JSON Parse error: Unexpected low surrogate",
        "\"city\":\"a\",\"city\":\"a\" # row 2, column city: got it twice, expected it once; leave"
            + " one out",
        "\"cty\":\"a\" # row 2, column cty: got a value for it, expected a column of the model;"
            + " leave it out",
        "\"t\":\"yesterday\" # row 2, column t: got \"yesterday\", expected a time",
        "\"t\":1e300 # row 2, column t: got 1.0E300, expected a time",
      })
  void aValueThatAColumnDoesNotTakeIsRefusedByRowAndColumn(String values, String message) {
    assertThat(row(values)).startsWith(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "`` # JSON Parse error: The document is empty",
        "` ` # JSON Parse error: The document is empty",
        "{} # Missing 'inputs' or 'instances' key",
        "[] # body: got an array, expected an object",
        "7 # body: got a number, expected an object",
        "{\"instances\":[]} x # JSON Parse error",
        "{\"instances\":[]}{} # body: got text behind the JSON value, expected its end",
        "{\"instances\":[] # JSON Parse error",
        "{\"instances\":{}} # instances: got an object, expected an array of objects",
        "{\"instances\":[7]} # instances: got a number, expected an object from columns to values",
        "{\"instances\":[{}]} # row 1, column pair: got nothing, expected a list of 2 values",
        "{\"inputs\":{\"pair\":[[1,2]],\"C1\":[1,2]}} # column C1: got more values, expected 1, one"
            + " for each row",
        "{\"inputs\":{\"pair\":[[1,2]],\"C1\":[]}} # column C1: got 0 values, expected 1, one for"
            + " each row",
        "{\"inputs\":{\"C1\":7}} # C1: got a number, expected an array",
        "{\"inputs\":{\"C1\":[7]}} # row 1, column pair: got nothing, expected a list of 2 values",
        "{\"inputs\":{\"C1\":[7],\"C1\":[7]}} # row 1, column C1: got it twice",
        "{\"inputs\":{},\"instances\":[]} # body: got rows twice",
        "{\"rows\":[]} # body: got rows, expected instances, inputs, context or parameters",
        "{\"context\":{\"C1\":1},\"instances\":[{\"C1\":2,\"pair\":[1,2]}]} # row 1, column C1: got"
            + " it twice",
        "{\"context\":{\"C1\":1},\"inputs\":{\"C1\":[2]}} # column C1: got it twice",
        "{\"context\":{},\"context\":{}} # body: got context twice",
        "{\"parameters\":{\"top_k\":0},\"instances\":[]} # top_k: got 0, expected a whole number"
            + " from 1 to 10000",
        "{\"parameters\":{\"top_k\":1.5},\"instances\":[]} # top_k: got 1.5, expected",
        "{\"parameters\":{\"top_k\":99999999999},\"instances\":[]} # top_k: got 99999999999,"
            + " expected",
        "{\"parameters\":{\"explain\":1},\"instances\":[]} # explain: got a number, expected true"
            + " or false",
        "{\"parameters\":[],\"instances\":[]} # parameters: got an array, expected an object",
        "{\"dataframe_split\":{\"columns\":[\"C1\"]}} # body: got dataframe_split without columns"
            + " or data",
        "{\"dataframe_split\":{\"columns\":[\"C1\",\"C1\"],\"data\":[[1,2]]}} # row 1, column C1:"
            + " got it twice",
        "{\"dataframe_split\":{\"columns\":[\"C1\"],\"data\":[[1,2]]}} # body: got row 1, more"
            + " values, expected 1 as names",
        "{\"dataframe_split\":{\"columns\":[\"C1\"],\"data\":[[]]}} # body: got row 1, 0 values,"
            + " expected as many as names, 1",
        "{\"dataframe_split\":{\"columns\":[\"C1\"],\"data\":[7]}} # row 1, data: got a number,"
            + " expected an array of values",
        "{\"dataframe_split\":{\"columns\":[\"X\"],\"data\":[]}} # row 1, column X: got a value for"
            + " it",
        "{\"instances\":[{\"pair\":[1,2],\"seen\":[1],\"pair\":[1,2]}]} # row 1, column pair: got"
            + " it twice",
      })
  void aBodyOfRowsThatIsNoneIsRefused(String body, String message) {
    assertThat(refusedRows(utf8(body))).startsWith(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "`` # body: got the end, expected an object",
        "{} # body: got no inputs, expected an array of tensors",
        "{\"inputs\":7} # inputs: got a number, expected an array",
        "{\"inputs\":[7]} # inputs: got a number, expected an object",
        "{\"inputs\":[{}]} # body: got an input without name or shape, expected both",
        "{\"inputs\":[],\"inputs\":[]} # body: got inputs twice",
        "{\"id\":\"1\",\"id\":\"2\",\"inputs\":[]} # body: got id twice, expected it once",
        "{\"inputs\":[],\"x\":1} # body: got x, expected id, inputs, outputs or parameters",
        "{\"id\":7,\"inputs\":[]} # id: got a number, expected a text",
        "{\"inputs\":[],\"outputs\":[{\"name\":\"x\"}]} # outputs: got x, expected an output of the"
            + " model, such as probability",
        "{\"inputs\":[],\"outputs\":[{\"name\":\"index\"}]} # outputs: got index",
      })
  void aBodyOfTensorsThatIsNoneIsRefused(String body, String message) {
    assertThat(refused(utf8(body), OptionalInt.empty())).startsWith(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "\"name\":\"I1\",\"shape\":[2],\"datatype\":\"FP32\",\"data\":[1,2,3] # I1: got 3 numbers,"
            + " expected shape [2]",
        "\"name\":\"I1\",\"shape\":[2],\"datatype\":\"FP32\",\"data\":[1] # I1: got 1 numbers,"
            + " expected shape [2]",
        "\"name\":\"city\",\"shape\":[2],\"datatype\":\"BYTES\",\"data\":[\"a\"] # city: got 1"
            + " texts, expected shape [2]",
        "\"name\":\"I1\",\"shape\":[2,3],\"datatype\":\"FP32\",\"data\":[1,2,3,4,5,6] # I1: got"
            + " shape [2,3], expected 2 rows of one value",
        "\"name\":\"I1\",\"shape\":[1],\"datatype\":\"BYTES\",\"data\":[\"1\"] # I1: got datatype"
            + " BYTES, expected FP32",
        "\"name\":\"C1\",\"shape\":[1],\"datatype\":\"FP32\",\"data\":[1] # C1: got datatype FP32,"
            + " expected INT64",
        "\"name\":\"C1\",\"shape\":[1],\"datatype\":\"INT8\",\"data\":[128] # row 1, column C1: got"
            + " 128, expected INT8",
        "\"name\":\"C1\",\"shape\":[1],\"datatype\":\"UINT32\",\"data\":[-1] # row 1, column C1:"
            + " got -1, expected UINT32",
        "\"name\":\"C1\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[9223372036854775808] # row"
            + " 1, column C1: got 9223372036854775808, expected INT64",
        "\"name\":\"C1\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[1.5] # row 1, column C1:"
            + " got 1.5, expected INT64",
        "\"name\":\"C1\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[\"1\"] # row 1, column C1:"
            + " got a text, expected INT64",
        "\"name\":\"C1\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[{}] # row 1, column C1: got"
            + " an object, expected INT64",
        "\"name\":\"C1\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":7 # C1: got a number,"
            + " expected an array of values",
        "\"name\":\"C1\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[1],\"data\":[1] # body: got"
            + " data twice",
        "\"name\":\"I1\",\"shape\":[1],\"datatype\":\"FP32\",\"data\":[1],\"name\":\"C1\" # body:"
            + " got name twice, expected it once",
        "\"name\":\"I1\",\"shape\":[1],\"shape\":[2],\"datatype\":\"FP32\",\"data\":[1] # body: got"
            + " shape twice",
        "\"name\":\"I1\",\"shape\":[1],\"datatype\":\"FP32\",\"datatype\":\"FP16\",\"data\":[1] #"
            + " body: got datatype twice",
        "\"name\":\"X\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[1] # column X: got a value"
            + " for it, expected a column of the model; leave it out",
        "\"name\":\"C1\",\"shape\":[10001],\"datatype\":\"INT64\",\"data\":[] # body: got 10,001"
            + " rows, expected at most 10,000; send several requests",
        "\"name\":\"C1\",\"shape\":[-1],\"datatype\":\"INT64\",\"data\":[] # shape: got -1,"
            + " expected a whole number from 0 to 2147483647",
        "\"name\":\"C1\",\"shape\":[],\"datatype\":\"INT64\",\"data\":[] # body: got an empty"
            + " shape",
        "\"name\":\"C1\",\"shape\":[1,1,1],\"datatype\":\"INT64\",\"data\":[1] # body: got a shape"
            + " of more dimensions",
        "\"name\":\"C1\",\"shape\":[1],\"datatype\":\"INT63\",\"data\":[1] # body: got datatype"
            + " INT63, expected one such as FP32",
        "\"name\":\"C1\",\"shape\":[1],\"data\":[1] # C1: got no datatype, expected one such as"
            + " FP32",
        "\"name\":\"C1\",\"shape\":[1],\"datatype\":\"INT64\" # C1: got no data, or both data and"
            + " binary_data_size, expected one",
        "\"name\":\"C1\",\"shape\":[1],\"datatype\":\"INT64\",\"parameters\":{\"binary_data_size\":8}"
            + " # binary_data_size: got 8, expected a whole number from 0 to 0",
        "\"name\":\"tags:offsets\",\"shape\":[1],\"datatype\":\"INT32\",\"data\":[0] #"
            + " tags:offsets: got it without the column itself, expected both",
        "\"name\":\"I1\",\"shape\":[1],\"datatype\":\"FP32\",\"data\":[1]},{\"name\":\"I1:offsets\",\"shape\":[2],\"datatype\":\"INT32\",\"data\":[0,1]"
            + " # I1:offsets: got it for a column of one value a row",
        "\"name\":\"C1:weights\",\"shape\":[1],\"datatype\":\"FP32\",\"data\":[2]},{\"name\":\"C1\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[1]"
            + " # C1:weights: got it for a column of one value a row",
        "\"name\":\"tags:offsets\",\"shape\":[1],\"datatype\":\"INT32\",\"data\":[0]},{\"name\":\"tags:offsets\",\"shape\":[1],\"datatype\":\"INT32\",\"data\":[0]"
            + " # tags:offsets: got it twice, expected it once",
        "\"name\":\"tags\",\"shape\":[2,2],\"datatype\":\"BYTES\",\"data\":[[\"a\",\"b\",\"c\"],[\"d\"]]"
            + " # tags: got 3 values in one of its arrays, expected shape [2,2]",
        "\"name\":\"tags\",\"shape\":[2,2],\"datatype\":\"BYTES\",\"data\":[[\"a\",\"b\"],\"c\",\"d\"]"
            + " # tags: got a value beside arrays, expected shape [2,2]",
        "\"name\":\"tags\",\"shape\":[2,2147483647],\"datatype\":\"BYTES\",\"data\":[[\"a\"]] #"
            + " tags: got 1 values in one of its arrays, expected shape [2,2147483647]",
        "\"name\":\"pair\",\"shape\":[1,3],\"datatype\":\"INT64\",\"data\":[1,2,3] # row 1, column"
            + " pair: got a list of 3, expected 2 values",
        "\"name\":\"pair\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[1] # row 1, column pair:"
            + " got 1, expected a list of 2 values",
        "\"name\":\"C1\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[1],\"parameters\":{\"empty\":[]}"
            + " # empty: got an array, expected a text or a number",
      })
  void aTensorThatIsNoneIsRefused(String members, String message) {
    assertThat(tensor(members)).startsWith(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "[0,1]  # [2] # tags:offsets: got 1 values of tags behind the last offset, expected none",
        "[0,3]  # [2] # tags:offsets: got 3 at 1, expected offsets that rise from 0 to 2",
        "[1,2]  # [2] # tags:offsets: got 1 at 0, expected offsets that rise from 0 to 2",
        "[0,2,1] # [3] # tags:offsets: got 1 at 2, expected",
        "[0,-2] # [2] # tags:offsets: got -1 at 1, expected",
        "[]     # [0] # tags:offsets: got 2 values of tags behind the last offset",
        "[0,2]  # [3] # tags:offsets: got 2 numbers, expected shape [3]",
        "[0,2]  # [2147483647] # body: got 2,147,483,646 rows",
      })
  void offsetsThatAreNoneAreRefused(String offsets, String shape, String message) {
    String members =
        "\"name\":\"tags\",\"shape\":[2],\"datatype\":\"BYTES\",\"data\":[\"a\",\"b\"]},{\"name\":\"tags:offsets\",\"shape\":%s,\"datatype\":\"INT32\",\"data\":%s"
            .formatted(shape, offsets);
    assertThat(tensor(members)).startsWith(message);
  }

  @Test
  void weightsThatDoNotFitAreRefused() {
    String words =
        "\"name\":\"words\",\"shape\":[1,2],\"datatype\":\"BYTES\",\"data\":[\"a\",\"b\"]},";
    assertThat(
            tensor(
                words
                    + "{\"name\":\"words:weights\",\"shape\":[1],\"datatype\":\"FP32\",\"data\":[1]"))
        .startsWith("words:weights: got FP32 of shape [1], expected FP32 of shape [1,2]");
    assertThat(
            tensor(
                words
                    + "{\"name\":\"words:weights\",\"shape\":[1,2],\"datatype\":\"FP32\",\"data\":[1,1e39]"))
        .startsWith("row 1, column words: got the weight Infinity, expected a finite number");
  }

  @Test
  void deepAndLongTextsAreRefused() {
    String deep = "[".repeat(17) + "]".repeat(17);
    assertThat(refusedRows(utf8("{\"instances\":" + deep + "}"))).contains("instances");
    assertThat(refusedRows(utf8("{\"parameters\":{\"x\":" + deep + "}}")))
        .contains("nesting depth");
    assertThat(row("\"city\":\"" + "a".repeat(65_537) + "\"")).contains("65536");
    assertThat(row("\"" + "n".repeat(1025) + "\":1")).contains("1024");
    assertThat(row("\"" + "n".repeat(1000) + "\":1"))
        .isEqualTo(
            "row 2, column %s...: got a value for it, expected a column of the model; leave it out"
                .formatted("n".repeat(61)));
    assertThat(row("\"C1\":" + "1".repeat(500)))
        .isEqualTo(
            "row 2, column C1: got %s..., expected an integer of 64 bits"
                .formatted("1".repeat(61)));
    assertThat(row("\"I1\":" + "1".repeat(1001))).contains("1000");
    assertThat(row("\"I1\":\"" + "x".repeat(1000) + "\""))
        .isEqualTo(
            "row 2, column I1: got \"%s...\", expected a number, or nothing where it is missing"
                .formatted("x".repeat(61)));
  }

  @Test
  void moreThanTenThousandRowsAreRefused() {
    String row = "{\"pair\":[1,2]}";
    String rows = (row + ",").repeat(10_000) + row;
    assertThat(refusedRows(utf8("{\"instances\":[" + rows + "]}")))
        .isEqualTo("body: got 10,001 rows, expected at most 10,000; send several requests");
    assertThat(refusedRows(utf8("{\"inputs\":{\"C1\":[" + "1,".repeat(10_000) + "1]}}")))
        .isEqualTo("body: got 10,001 rows, expected at most 10,000; send several requests");
    String most = (row + ",").repeat(9_999) + row;
    byte[] body = utf8("{\"instances\":[" + most + "]}");
    assertThat(predict.predict(version, body, body.length).body().length).isGreaterThan(40_000);
  }

  @Test
  void valuesForAllRowsAreLimitedInAll() {
    String list = "1,".repeat(1000) + "1";
    String rows = "{\"pair\":[1,2]},".repeat(9_999) + "{\"pair\":[1,2]}";
    assertThat(
            refusedRows(
                utf8("{\"context\":{\"seen\":[%s]},\"instances\":[%s]}".formatted(list, rows))))
        .startsWith(
            "context: got 1,001 values for each of 10,000 rows, expected at most 8,000,000");
  }

  @Test
  void whatIsNoUtf8IsRefused() {
    byte[] latin = "{\"instances\":[{\"city\":\"\u00e5\"}]}".getBytes(StandardCharsets.ISO_8859_1);
    assertThat(refusedRows(latin)).isEqualTo("body: got no UTF-8 at byte 23, expected UTF-8");
    for (byte[] wrong :
        new byte[][] {
          {(byte) 0xC0, (byte) 0x80}, // NUL, too long
          {(byte) 0xED, (byte) 0xA0, (byte) 0x80}, // half of a pair
          {(byte) 0xF5, (byte) 0x80, (byte) 0x80, (byte) 0x80},
          {(byte) 0xE2, (byte) 0x82},
          {(byte) 0x80}
        }) {
      byte[] body = utf8("{\"instances\":[{\"city\":\"aaaaaaa        \"}]}");
      System.arraycopy(wrong, 0, body, 30, wrong.length);
      assertThat(refusedRows(body)).isEqualTo("body: got no UTF-8 at byte 30, expected UTF-8");
    }
    assertThat(refusedRows("{\"instances\":[]}".getBytes(StandardCharsets.UTF_16BE)))
        .isEqualTo("body: got a zero at byte 0, expected UTF-8");
    assertThat(refusedRows("{\"instances\":[]}".getBytes(StandardCharsets.UTF_16LE)))
        .isEqualTo("body: got a zero at byte 1, expected UTF-8");
  }

  private static byte[] binary(String json, byte[] tail) {
    byte[] head = utf8(json);
    return ByteBuffer.allocate(head.length + tail.length).put(head).put(tail).array();
  }

  private String refusedBinary(String type, String shape, byte[] tail, int stated) {
    String name = type.equals("BYTES") ? "city" : type.startsWith("FP") ? "I1" : "C1";
    String json =
        "{\"inputs\":[{\"name\":\"%s\",\"shape\":%s,\"datatype\":\"%s\",\"parameters\":{\"binary_data_size\":%d}}]}"
            .formatted(name, shape, type, stated);
    return refused(binary(json, tail), OptionalInt.of(json.length()));
  }

  private static byte[] floats(float... values) {
    ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(values);
    return bytes.array();
  }

  @Test
  void binaryTensorsThatAreNoneAreRefused() {
    assertThat(refusedBinary("FP32", "[2]", floats(1, Float.NaN), 8))
        .startsWith(
            "row 2, column I1: got NaN, expected a finite number; say by the parameter empty");
    assertThat(refusedBinary("FP32", "[2]", floats(Float.NEGATIVE_INFINITY, 1), 8))
        .startsWith("row 1, column I1: got -Infinity, expected a finite number");
    assertThat(refusedBinary("FP32", "[2]", floats(1), 4))
        .isEqualTo("I1: got 4 bytes, expected 8 of FP32 in shape [2]");
    assertThat(refusedBinary("INT64", "[1]", new byte[9], 8))
        .isEqualTo("body: got 1 bytes behind the tensors, expected the body to end with them");
    assertThat(refusedBinary("INT64", "[1]", new byte[7], 8))
        .startsWith("binary_data_size: got 8, expected a whole number from 0 to 7");
    assertThat(refusedBinary("BYTES", "[1]", new byte[] {2, 0, 0, 0, 'a'}, 5))
        .startsWith("city: got a text of 2 bytes where 1 are left");
    assertThat(refusedBinary("BYTES", "[1]", new byte[] {-1, -1, -1, -1, 'a'}, 5))
        .startsWith("city: got a text of -1 bytes where 1 are left");
    assertThat(refusedBinary("BYTES", "[1]", new byte[] {1, 0, 0}, 3))
        .startsWith("city: got a text of -1 bytes where 0 are left");
    assertThat(refusedBinary("BYTES", "[1]", new byte[] {1, 0, 0, 0, -1}, 5))
        .startsWith("row 1, column city: got no UTF-8 at byte");
    assertThat(refusedBinary("BOOL", "[1]", new byte[] {2}, 1))
        .isEqualTo("row 1, column C1: got 2, expected 0 or 1");
    byte[] long64 = new byte[65_541];
    ByteBuffer.wrap(long64).order(ByteOrder.LITTLE_ENDIAN).putInt(65_537);
    assertThat(refusedBinary("BYTES", "[1]", long64, 65_541))
        .isEqualTo("row 1, column city: got a text of 65,537 bytes, expected at most 65,536");
    assertThat(refused(utf8("{}"), OptionalInt.of(3)))
        .startsWith("Inference-Header-Content-Length");
    assertThat(refused(utf8("{}"), OptionalInt.of(0)))
        .startsWith("Inference-Header-Content-Length");
    assertThat(refused(utf8("{}"), OptionalInt.of(-1)))
        .startsWith("Inference-Header-Content-Length");
  }

  @Test
  void afterARefusalTheNextRequestIsAnswered() {
    byte[] good = utf8("{\"instances\":[{\"pair\":[1,2],\"tags\":[\"a\"]}]}");
    byte[] before = predict.predict(version, good, good.length).body();
    row("\"tags\":[\"a\",{}]");
    tensor("\"name\":\"tags\",\"shape\":[2,2],\"datatype\":\"BYTES\",\"data\":[[\"a\"]]");
    assertThat(predict.predict(version, good, good.length).body()).isEqualTo(before);
  }
}
