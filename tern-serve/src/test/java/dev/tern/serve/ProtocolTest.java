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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requests and replies, byte for byte. */
final class ProtocolTest {
  @TempDir static Path folder;

  private static Predictor plainModel;
  private static Predictor allModel;
  private static ServedVersion plain;
  private static ServedVersion all;

  private final RequestContexts contexts = new RequestContexts();
  private final InferProtocol infer = new InferProtocol(contexts);
  private final PredictProtocol predict = new PredictProtocol(contexts);

  @BeforeAll
  static void train() {
    plainModel = SmallModel.open(folder, SmallModel.PLAIN);
    allModel = SmallModel.open(folder, SmallModel.ALL);
    plain = new ServedVersion("m", 30, plainModel);
    all = new ServedVersion("all", 5, allModel);
  }

  @AfterAll
  static void close() {
    plainModel.close();
    allModel.close();
  }

  private static String text(Reply reply) {
    return new String(reply.body(), StandardCharsets.UTF_8);
  }

  private String infer(ServedVersion version, String json) {
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    return text(infer.infer(version, body, body.length, OptionalInt.empty()));
  }

  private String predict(ServedVersion version, String json) {
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    return text(predict.predict(version, body, body.length));
  }

  private String invoke(String json) {
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    return text(predict.invocations(plain, body, body.length));
  }

  private static Map<String, Object> row(Object... pairs) {
    Map<String, Object> row = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      row.put((String) pairs[i], pairs[i + 1]);
    }
    return row;
  }

  private static String score(ServedVersion version, Object... pairs) {
    return Float.toString(
        ((ServedVersion.OfPredictor) version.scorer()).predictor().score(row(pairs)));
  }

  private static String oslo() {
    return score(plain, "I1", 1.5, "C1", 7, "city", "Oslo");
  }

  private static String rome() {
    return score(plain, "I1", 0, "C1", 9, "city", "Rome");
  }

  @Test
  void tensorsOfTheOpenInferenceProtocolAreAnsweredAsItSays() {
    String request =
        "{\"id\":\"42\",\"inputs\":[{\"name\":\"I1\",\"shape\":[2],\"datatype\":\"FP32\",\"data\":[1.5,0]},{\"name\":\"C1\",\"shape\":[2],\"datatype\":\"INT64\",\"data\":[7,9]},{\"name\":\"city\",\"shape\":[2],\"datatype\":\"BYTES\",\"data\":[\"Oslo\",\"Rome\"]}],\"outputs\":[{\"name\":\"probability\"}]}";
    assertThat(infer(plain, request))
        .isEqualTo(
            "{\"model_name\":\"m\",\"model_version\":\"30\",\"id\":\"42\",\"outputs\":[{\"name\":\"probability\",\"shape\":[2],\"datatype\":\"FP32\",\"data\":[%s,%s]}]}"
                .formatted(oslo(), rome()));
    String without =
        request
            .replace("\"id\":\"42\",", "")
            .replace(",\"outputs\":[{\"name\":\"probability\"}]", "");
    assertThat(infer(plain, without))
        .isEqualTo(
            "{\"model_name\":\"m\",\"model_version\":\"30\",\"outputs\":[{\"name\":\"probability\",\"shape\":[2],\"datatype\":\"FP32\",\"data\":[%s,%s]}]}"
                .formatted(oslo(), rome()));
  }

  @Test
  void membersOfTensorsMayComeInAnyOrder() {
    String expected =
        infer(
            plain,
            "{\"inputs\":[{\"name\":\"I1\",\"shape\":[2],\"datatype\":\"FP32\",\"data\":[1.5,null]},{\"name\":\"city\",\"datatype\":\"BYTES\",\"shape\":[2,1],\"data\":[[\"Oslo\"],[\"Rome\"]]}]}");
    assertThat(
            infer(
                plain,
                " {\"inputs\" :"
                    + " [{\"data\":[[1.5],[-999]],\"datatype\":\"FP32\",\"shape\":[2,1],\"name\":\"I1\",\"parameters\":{\"empty\":-999,\"content_type\":\"np\"}},{\"data\":[\"Oslo\",\"Rome\"],\"name\":\"city\",\"shape\":[2],\"datatype\":\"BYTES\"}],\"outputs\":[]}"))
        .isEqualTo(expected);
    // What stands for a missing value may follow the values.
    assertThat(
            infer(
                plain,
                "{\"inputs\":[{\"name\":\"I1\",\"shape\":[2],\"datatype\":\"FP32\",\"data\":[1.5,-999],\"parameters\":{\"empty\":-999}},{\"name\":\"city\",\"datatype\":\"BYTES\",\"shape\":[2],\"data\":[\"Oslo\",\"Rome\"]}]}"))
        .isEqualTo(expected);
    // Nor does white space count, nor a byte order mark.
    assertThat(
            infer(
                plain,
                "\ufeff{\"inputs\":[{\"data\":[1.5,null],\"name\":\"I1\",\"shape\":[2],\"datatype\":\"FP32\"},{\"data\":[\"Oslo\",\"Rome\"],\"name\":\"city\",\"datatype\":\"BYTES\",\"shape\":[2]}]}"))
        .isEqualTo(expected);
  }

  @Test
  void rowsAndColumnsOfTensorFlowServingAreAnsweredAsItSays() {
    assertThat(
            predict(
                plain,
                "{\"instances\":[{\"I1\":1.5,\"C1\":7,\"city\":\"Oslo\"},{\"I1\":0,\"C1\":9,\"city\":\"Rome\"}]}"))
        .isEqualTo("{\"predictions\":[%s,%s]}".formatted(oslo(), rome()));
    assertThat(
            predict(
                plain,
                "{\"signature_name\":\"serving_default\",\"inputs\":{\"I1\":[1.5,0],\"C1\":[7,9],\"city\":[\"Oslo\",{\"b64\":\"Um9tZQ==\"}]}}"))
        .isEqualTo("{\"outputs\":[%s,%s]}".formatted(oslo(), rome()));
    assertThat(
            predict(
                plain,
                "{\"inputs\":{\"I1\":[[1.5],[0]],\"C1\":[[7],[9]],\"city\":[[\"Oslo\"],[\"Rome\"]]}}"))
        .isEqualTo("{\"outputs\":[%s,%s]}".formatted(oslo(), rome()));
    assertThat(predict(plain, "{\"instances\":[]}")).isEqualTo("{\"predictions\":[]}");
    assertThat(predict(plain, "{\"inputs\":{}}")).isEqualTo("{\"outputs\":[]}");
    assertThat(text(PredictProtocol.status(plain)))
        .isEqualTo(
            "{\"model_version_status\":[{\"version\":\"30\",\"state\":\"AVAILABLE\",\"status\":{\"error_code\":\"OK\",\"error_message\":\"\"}}]}");
  }

  @Test
  void dataFramesOfMlflowAreAnsweredARow() {
    String expected = "{\"predictions\":[%s,%s]}".formatted(oslo(), rome());
    for (String body :
        List.of(
            "{\"dataframe_split\":{\"columns\":[\"city\",\"I1\",\"C1\"],\"data\":[[\"Oslo\",1.5,7],[\"Rome\",0,9]]}}",
            "{\"dataframe_split\":{\"index\":[0,1],\"data\":[[\"Oslo\",1.5,7],[\"Rome\",0,9]],\"columns\":[\"city\",\"I1\",\"C1\"]},\"params\":{}}",
            "{\"dataframe_records\":[{\"I1\":1.5,\"C1\":7,\"city\":\"Oslo\"},{\"I1\":0,\"C1\":9,\"city\":\"Rome\"}]}",
            "{\"inputs\":{\"I1\":[1.5,0],\"C1\":[7,9],\"city\":[\"Oslo\",\"Rome\"]}}",
            "{\"instances\":[{\"I1\":1.5,\"C1\":7,\"city\":\"Oslo\"},{\"I1\":0,\"C1\":9,\"city\":\"Rome\"}]}")) {
      assertThat(invoke(body)).as(body).isEqualTo(expected);
    }
  }

  @Test
  void metadataIsAsTheProtocolsSay() {
    assertThat(text(Metadata.server("0.1.0")))
        .isEqualTo(
            "{\"name\":\"tern\",\"version\":\"0.1.0\",\"extensions\":[\"binary_tensor_data\"]}");
    assertThat(text(Metadata.model(plain)))
        .isEqualTo(
            "{\"name\":\"m\",\"versions\":[\"30\"],\"platform\":\"tern_checkpoint\",\"inputs\":[{\"name\":\"I1\",\"datatype\":\"FP32\",\"shape\":[-1]},{\"name\":\"C1\",\"datatype\":\"INT64\",\"shape\":[-1]},{\"name\":\"city\",\"datatype\":\"BYTES\",\"shape\":[-1]}],\"outputs\":[{\"name\":\"probability\",\"datatype\":\"FP32\",\"shape\":[-1]}]}");
    assertThat(text(Metadata.model(all)))
        .contains(
            "{\"name\":\"tags\",\"datatype\":\"BYTES\",\"shape\":[-1,-1],\"parameters\":{\"offsets\":\"tags:offsets\"}}",
            "\"parameters\":{\"offsets\":\"words:offsets\",\"weights\":\"words:weights\"}",
            "{\"name\":\"big\",\"datatype\":\"UINT64\",\"shape\":[-1]}");
    String schema = text(SchemaReply.of(all));
    assertThat(schema)
        .startsWith(
            "{\"model_spec\":{\"name\":\"all\",\"signature_name\":\"\",\"version\":\"5\"},\"metadata\":{\"columns\":[{\"name\":\"I1\",\"type\":\"number\",\"missing\":0.0},")
        .contains(
            "{\"name\":\"tags\",\"type\":\"text\",\"values\":\"any\",\"separator\":\"|\"}",
            "{\"name\":\"words\",\"type\":\"text\",\"values\":\"any\",\"weighted\":true}",
            "{\"name\":\"pair\",\"type\":\"integer\",\"values\":2}",
            "{\"name\":\"t@hour\",\"type\":\"integer\",\"time\":\"t\"}",
            "{\"name\":\"seen\",\"type\":\"integer\",\"values\":\"any\",\"sequence\":\"seen\",\"longest\":3,\"keep\":\"last\"}",
            "{\"name\":\"big\",\"type\":\"unsigned integer\"}");
  }

  @Test
  void theExampleOfAModelIsARequest() {
    for (ServedVersion version : List.of(plain, all)) {
      String schema = text(SchemaReply.of(version));
      int from = schema.indexOf("{\"instances\"");
      assertThat(predict(version, schema.substring(from, schema.length() - 2)))
          .matches("\\{\"predictions\":\\[0\\.\\d+\\]}");
    }
  }

  @Test
  void columnsOfAllKindsAreWhatRowsByNameAre() {
    Map<String, Float> words = new LinkedHashMap<>();
    words.put("a", 0.5f);
    words.put("b", 2f);
    String first =
        score(
            all,
            "I1",
            0.25f,
            "C1",
            -3,
            "city",
            " Oslo ",
            "tags",
            List.of("a", "b"),
            "words",
            words,
            "pair",
            List.of(1, 2),
            "t",
            "2026-01-31T08:30:00Z",
            "seen",
            List.of(1, 2, 3, 4),
            "big",
            -1L);
    String second =
        score(all, "I1", 7, "city", "NA", "tags", "a|b", "pair", List.of(3, 4), "t", 1700000000);
    assertThat(
            predict(
                all,
                "{\"instances\":[{\"I1\":0.25,\"C1\":-3,\"city\":\" Oslo"
                    + " \",\"tags\":[\"a\",\"b\"],\"words\":{\"a\":0.5,\"b\":2},\"pair\":[1,2],\"t\":\"2026-01-31T08:30:00Z\",\"seen\":[1,2,3,4],\"big\":18446744073709551615},"
                    + "{\"I1\":7,\"C1\":null,\"city\":\"NA\",\"tags\":\"a|b\",\"pair\":[3,4],\"t\":1700000000}]}"))
        .isEqualTo("{\"predictions\":[" + first + "," + second + "]}");
    String tensors =
        "{\"inputs\":[{\"name\":\"I1\",\"shape\":[2],\"datatype\":\"FP64\",\"data\":[0.25,7]},"
            + "{\"name\":\"C1\",\"shape\":[2],\"datatype\":\"INT8\",\"data\":[-3,null]},{\"name\":\"city\",\"shape\":[2],\"datatype\":\"BYTES\",\"data\":[\""
            + " Oslo \",\"NA\"]},"
            + "{\"name\":\"tags\",\"shape\":[2,2],\"datatype\":\"BYTES\",\"data\":[[\"a\",\"b\"],[\"a\",\"b\"]]},"
            + "{\"name\":\"words:weights\",\"shape\":[2],\"datatype\":\"FP32\",\"data\":[0.5,2]},"
            + "{\"name\":\"words:offsets\",\"shape\":[3],\"datatype\":\"INT32\",\"data\":[0,2,2]},"
            + "{\"name\":\"words\",\"shape\":[2],\"datatype\":\"BYTES\",\"data\":[\"a\",\"b\"]},"
            + "{\"name\":\"pair\",\"shape\":[2,2],\"datatype\":\"UINT16\",\"data\":[1,2,3,4]},"
            + "{\"name\":\"t\",\"shape\":[2],\"datatype\":\"BYTES\",\"data\":[\"2026-01-31T08:30:00Z\",\"1700000000\"]},"
            + "{\"name\":\"seen\",\"shape\":[2,4],\"datatype\":\"INT64\",\"parameters\":{\"empty\":0},\"data\":[[1,2,3,4],[0,0,0,0]]},"
            + "{\"name\":\"big\",\"shape\":[2],\"datatype\":\"UINT64\",\"parameters\":{\"empty\":5},\"data\":[18446744073709551615,5]}]}";
    assertThat(infer(all, tensors)).endsWith("\"data\":[" + first + "," + second + "]}]}");
  }

  @Test
  void binaryTensorsOfAllTypesAreTheirValues() {
    String expected =
        score(
            all,
            "I1",
            0.5,
            "I2",
            3,
            "C1",
            200,
            "city",
            "\u00c5",
            "pair",
            List.of(5, 6),
            "big",
            -2L);
    ByteBuffer tail = ByteBuffer.allocate(200).order(ByteOrder.LITTLE_ENDIAN);
    StringBuilder json = new StringBuilder("{\"inputs\":[");
    tensor(json, tail, "I1", "FP16", "[1]", buffer -> buffer.putShort(Float.floatToFloat16(0.5f)));
    tensor(json, tail, "I2", "FP64", "[1]", buffer -> buffer.putDouble(3));
    tensor(json, tail, "C1", "UINT8", "[1]", buffer -> buffer.put((byte) 200));
    tensor(
        json,
        tail,
        "city",
        "BYTES",
        "[1]",
        buffer -> buffer.putInt(2).put("\u00c5".getBytes(StandardCharsets.UTF_8)));
    tensor(json, tail, "pair", "INT32", "[1,2]", buffer -> buffer.putInt(5).putInt(6));
    tensor(json, tail, "big", "UINT64", "[1]", buffer -> buffer.putLong(-2));
    byte[] head =
        (json
                + "],\"outputs\":[{\"name\":\"probability\"},{\"name\":\"logit\",\"parameters\":{\"binary_data\":true}}]}")
            .getBytes(StandardCharsets.UTF_8);
    byte[] body = new byte[head.length + tail.position()];
    System.arraycopy(head, 0, body, 0, head.length);
    System.arraycopy(tail.array(), 0, body, head.length, tail.position());
    Reply reply = infer.infer(all, body, body.length, OptionalInt.of(head.length));
    String answer =
        "{\"model_name\":\"all\",\"model_version\":\"5\",\"outputs\":[{\"name\":\"probability\",\"shape\":[1],\"datatype\":\"FP32\",\"data\":["
            + expected
            + "]},{\"name\":\"logit\",\"shape\":[1],\"datatype\":\"FP32\",\"parameters\":{\"binary_data_size\":4}}]}";
    assertThat(reply.contentType()).isEqualTo("application/octet-stream");
    assertThat(reply.jsonLength()).hasValue(answer.length());
    assertThat(text(reply)).startsWith(answer);
    float logit =
        ByteBuffer.wrap(reply.body(), answer.length(), 4).order(ByteOrder.LITTLE_ENDIAN).getFloat();
    assertThat(1 / (1 + Math.exp(-logit)))
        .isCloseTo(Double.parseDouble(expected), org.assertj.core.api.Assertions.within(1e-6));
  }

  @Test
  void binaryTensorsThatSayOtherRowsOrHigherIdsThanAColumnHasAreRefused() {
    ByteBuffer tail = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
    StringBuilder json = new StringBuilder("{\"inputs\":[");
    tensor(json, tail, "I1", "FP32", "[1]", buffer -> buffer.putFloat(1));
    tensor(
        json,
        tail,
        "I1:offsets",
        "INT32",
        "[4]",
        buffer -> buffer.putInt(0).putInt(1).putInt(1).putInt(1));
    assertThat(refusal(json, tail)).startsWith("row 1, column I1: got a list, expected a number");
    tail.clear();
    json = new StringBuilder("{\"inputs\":[");
    tensor(json, tail, "C1", "UINT64", "[1]", buffer -> buffer.putLong(-2));
    assertThat(refusal(json, tail))
        .contains("C1: got 18446744073709551614, expected an integer of 64 bits");
  }

  private String refusal(StringBuilder json, ByteBuffer tail) {
    byte[] head = (json + "]}").getBytes(StandardCharsets.UTF_8);
    byte[] body = new byte[head.length + tail.position()];
    System.arraycopy(head, 0, body, 0, head.length);
    System.arraycopy(tail.array(), 0, body, head.length, tail.position());
    try {
      infer.infer(all, body, body.length, OptionalInt.of(head.length));
    } catch (RefusedException e) {
      return String.valueOf(e.getMessage());
    }
    return "";
  }

  private interface Bytes {
    void put(ByteBuffer to);
  }

  private static void tensor(
      StringBuilder json, ByteBuffer tail, String name, String type, String shape, Bytes bytes) {
    int before = tail.position();
    bytes.put(tail);
    json.append(before == 0 ? "" : ",");
    json.append(
        "{\"name\":\"%s\",\"datatype\":\"%s\",\"shape\":%s,\"parameters\":{\"binary_data_size\":%d}}"
            .formatted(name, type, shape, tail.position() - before));
  }

  @Test
  void columnsGivenOnceAreThoseOfAllRows() {
    String expected =
        "["
            + score(plain, "I1", 2, "C1", 7, "city", "Oslo")
            + ","
            + score(plain, "I1", 2, "C1", 9, "city", "Oslo")
            + "]";
    for (String body :
        List.of(
            "{\"context\":{\"I1\":2,\"city\":\"Oslo\"},\"instances\":[{\"C1\":7},{\"C1\":9}]}",
            "{\"instances\":[{\"C1\":7},{\"C1\":9}],\"context\":{\"city\":\"Oslo\",\"I1\":2}}")) {
      assertThat(predict(plain, body)).isEqualTo("{\"predictions\":" + expected + "}");
    }
    assertThat(
            predict(plain, "{\"inputs\":{\"C1\":[7,9]},\"context\":{\"city\":\"Oslo\",\"I1\":2}}"))
        .isEqualTo("{\"outputs\":" + expected + "}");
    assertThat(
            infer(
                plain,
                "{\"inputs\":[{\"name\":\"city\",\"shape\":[1],\"datatype\":\"BYTES\",\"parameters\":{\"context\":true},\"data\":[\"Oslo\"]},{\"name\":\"C1\",\"shape\":[2],\"datatype\":\"INT64\",\"data\":[7,9]},{\"name\":\"I1\",\"shape\":[1],\"datatype\":\"FP32\",\"data\":[2],\"parameters\":{\"context\":true}}]}"))
        .endsWith("\"data\":" + expected + "}]}");
  }

  @Test
  void theBestRowsComeFirstWithTheirNumbers() {
    List<String> rows = new ArrayList<>();
    List<Integer> order = new ArrayList<>();
    float[] scores = new float[30];
    for (int i = 0; i < 30; i++) {
      int id = i % 25; // Some are equal.
      rows.add("{\"C1\":" + id + "}");
      scores[i] = plainModel.score(row("C1", id));
      order.add(i);
    }
    order.sort((a, b) -> scores[a] == scores[b] ? a - b : Float.compare(scores[b], scores[a]));
    String best = "";
    for (int i = 0; i < 12; i++) {
      best += (i == 0 ? "" : ",") + scores[order.get(i)];
    }
    String numbers = order.subList(0, 12).toString().replace(" ", "");
    assertThat(
            predict(
                plain,
                "{\"parameters\":{\"top_k\":12},\"instances\":[" + String.join(",", rows) + "]}"))
        .isEqualTo("{\"predictions\":[" + best + "],\"indices\":" + numbers + "}");
    assertThat(
            infer(
                plain,
                "{\"parameters\":{\"top_k\":12},\"inputs\":[{\"name\":\"C1\",\"shape\":[30],\"datatype\":\"INT64\",\"data\":"
                    + java.util.stream.IntStream.range(0, 30).mapToObj(i -> i % 25).toList()
                    + "}]}"))
        .endsWith(
            "[{\"name\":\"probability\",\"shape\":[12],\"datatype\":\"FP32\",\"data\":["
                + best
                + "]},{\"name\":\"index\",\"shape\":[12],\"datatype\":\"INT32\",\"data\":"
                + numbers
                + "}]}");
  }

  @Test
  void sharesOfColumnsAreTheLogitLessTheOneWithoutThem() {
    float whole = logit(row("I1", 1.5, "C1", 7, "city", "Oslo"));
    String shares =
        "%s,%s,%s"
            .formatted(
                whole - logit(row("C1", 7, "city", "Oslo")),
                whole - logit(row("I1", 1.5, "city", "Oslo")),
                whole - logit(row("I1", 1.5, "C1", 7)));
    String[] each = shares.split(",");
    assertThat(
            predict(
                plain,
                "{\"parameters\":{\"explain\":true},\"instances\":[{\"I1\":1.5,\"C1\":7,\"city\":\"Oslo\"}]}"))
        .isEqualTo(
            "{\"predictions\":[%s],\"explanations\":[{\"I1\":%s,\"C1\":%s,\"city\":%s}]}"
                .formatted(oslo(), each[0], each[1], each[2]));
    assertThat(
            infer(
                plain,
                "{\"parameters\":{\"explain\":true},\"inputs\":[{\"name\":\"I1\",\"shape\":[1],\"datatype\":\"FP32\",\"data\":[1.5]},{\"name\":\"C1\",\"shape\":[1],\"datatype\":\"INT64\",\"data\":[7]},{\"name\":\"city\",\"shape\":[1],\"datatype\":\"BYTES\",\"data\":[\"Oslo\"]}]}"))
        .endsWith(
            "{\"name\":\"shares\",\"shape\":[1,3],\"datatype\":\"FP32\",\"data\":["
                + shares
                + "]},{\"name\":\"columns\",\"shape\":[3],\"datatype\":\"BYTES\",\"data\":[\"I1\",\"C1\",\"city\"]}]}");
    // Columns of all kinds may be left out, those of a sequence and of several ids among them.
    assertThat(
            predict(
                all,
                "{\"parameters\":{\"explain\":true},\"instances\":[{\"pair\":[1,2],\"seen\":[1,2],\"words\":{\"a\":2},\"tags\":[\"a\"]}]}"))
        .contains("\"pair\":", "\"seen\":", "\"t@hour\":0.0");
  }

  private static float logit(Map<String, Object> row) {
    dev.tern.data.Batch one = new dev.tern.data.Batch(plainModel.schema(), 1);
    plainModel.encoder().addRow(row, one);
    float[] logit = new float[1];
    plainModel.logits(one, logit);
    return logit[0];
  }

  @Test
  void ofEqualRowsTheFirstOnesAreTheBest() {
    String same = "{\"C1\":3}";
    String rows = "[" + (same + ",").repeat(40) + same + "]";
    String score = score(plain, "C1", 3);
    String expected =
        "{\"predictions\":[%s,%s,%s],\"indices\":[0,1,2]}".formatted(score, score, score);
    assertThat(predict(plain, "{\"instances\":" + rows + ",\"parameters\":{\"top_k\":3}}"))
        .isEqualTo(expected);
    assertThat(invoke("{\"instances\":" + rows + ",\"params\":{\"top_k\":3}}")).isEqualTo(expected);
  }

  @Test
  void whatTakesAWhileIsLeftToThreadsThatMayBeHeld() {
    ServedVersion brief = plain.brief(true);
    String rows = "{\"instances\":[%s{}]}";
    String most = rows.formatted("{},".repeat(63));
    assertThat(predict(brief, most)).isEqualTo(predict(plain, most));
    for (String body :
        List.of(
            rows.formatted("{},".repeat(64)),
            "{\"parameters\":{\"explain\":true},\"instances\":[{}]}")) {
      assertThatExceptionOfType(LongRequestException.class).isThrownBy(() -> predict(brief, body));
      assertThat(predict(brief.brief(false), body)).isEqualTo(predict(plain, body));
    }
    String explain =
        "{\"parameters\":{\"explain\":true},\"inputs\":[{\"name\":\"I1\",\"shape\":[1],\"datatype\":\"FP32\",\"data\":[1.5]}]}";
    assertThatExceptionOfType(LongRequestException.class).isThrownBy(() -> infer(brief, explain));
    assertThat(infer(plain, explain)).contains("shares");
  }
}
