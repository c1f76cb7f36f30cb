package dev.tern.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import com.google.protobuf.DynamicMessage;
import dev.tern.data.Batch;
import dev.tern.predict.Predictor;
import dev.tern.requests.SmallModel;
import dev.tern.serve.wire.RefusedException;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages of Protocol Buffers by the bytes, beside JSON and beside protobuf-java. */
final class GrpcProtocolTest {
  @TempDir static Path folder;

  private static Predictor model;
  private static ServedVersion version;

  private final RequestContexts contexts = new RequestContexts();
  private final GrpcProtocol grpc = new GrpcProtocol(contexts);
  private final InferProtocol infer = new InferProtocol(contexts);

  @BeforeAll
  static void train() {
    model = SmallModel.open(folder, SmallModel.ALL);
    version = new ServedVersion("m", 30, model);
  }

  @AfterAll
  static void close() {
    model.close();
  }

  private byte[] answer(byte[] message) {
    byte[] body = new byte[message.length + 7]; // In the midst of others.
    System.arraycopy(message, 0, body, 3, message.length);
    return grpc.infer(version, body, 3, 3 + message.length).body();
  }

  private DynamicMessage read(byte[] answer) {
    return ProtoFile.read(ProtoBodies.type("ModelInferResponse"), answer, 5);
  }

  private String refused(byte[] message) {
    RefusedException fault =
        assertThatExceptionOfType(RefusedException.class)
            .isThrownBy(() -> answer(message))
            .actual();
    assertThat(fault.status()).isEqualTo(400);
    return String.valueOf(fault.getMessage());
  }

  private String json(String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    return new String(
        infer.infer(version, bytes, bytes.length, OptionalInt.empty()).body(),
        StandardCharsets.UTF_8);
  }

  private String refusedJson(String body) {
    return String.valueOf(
        assertThatExceptionOfType(RefusedException.class)
            .isThrownBy(() -> json(body))
            .actual()
            .getMessage());
  }

  private static ProtoBodies body(boolean raw) {
    ProtoBodies body = new ProtoBodies("m", raw);
    Map<String, Boolean> once = Map.of("context", true);
    return body.tensor("pair", "INT64", List.of(1L, 2L), List.of(1, 2), once);
  }

  @Test
  void aRequestByItsBytesIsAnsweredByItsBytes() {
    String request =
        "0a016d" // model_name
            + "1a023432" // id
            + "2a15" // inputs: I1, FP32, [1], contents 1.5
            + "0a024931"
            + "120446503332"
            + "1a0101"
            + "2a0632040000c03f"
            + "2a17" // pair, INT16, [1,2], contents 1, 2
            + "0a0470616972"
            + "1205494e543136"
            + "1a020102"
            + "2a0412020102";
    byte[] answer = answer(HexFormat.of().parseHex(request));
    float score = ProtoBodies.numbers(answer).getFirst();
    String bits = HexFormat.of().toHexDigits(Integer.reverseBytes(Float.floatToIntBits(score)));
    String response =
        "0a016d" // model_name
            + "12023330" // model_version
            + "1a023432" // id
            + "2a1e" // outputs: probability, FP32, [1], contents
            + "0a0b70726f626162696c697479"
            + "120446503332"
            + "1a0101"
            + "2a063204"
            + bits;
    assertThat(HexFormat.of().formatHex(answer)).isEqualTo("000000002b" + response);
    assertThat(
            json(
                "{\"id\":\"42\",\"inputs\":[{\"name\":\"I1\",\"shape\":[1],\"datatype\":\"FP32\",\"data\":[1.5]},{\"name\":\"pair\",\"shape\":[1,2],\"datatype\":\"INT16\",\"data\":[1,2]}]}"))
        .contains("\"data\":[" + score + "]");
  }

  @ParameterizedTest
  @CsvSource({
    "I1, BOOL, 1|0",
    "I1, INT8, -128|127",
    "I1, INT16, -32768|3",
    "I1, INT32, -5|2147483647",
    "I1, INT64, -5|3",
    "I1, UINT8, 255|0",
    "I1, UINT16, 65535|0",
    "I1, UINT32, 4294967295|0",
    "I1, UINT64, 18446744073709551615|0",
    "I1, FP32, 1.5|-2.25",
    "I1, FP64, 1.1|-2.25",
    "C1, INT8, 7|9",
    "C1, INT32, -7|9",
    "C1, INT64, -9223372036854775808|9",
    "C1, UINT32, 4294967295|9",
    "big, UINT64, 18446744073709551615|9",
    "city, UINT64, 18446744073709551615|9",
    "city, INT64, -3|9",
    "city, BYTES, Oslo|Rome",
    "city, BYTES, Ålesund|Rome",
    "tags, BYTES, a|b",
    "t, BYTES, 2026-01-31|2026-02-01T05:00:00Z"
  })
  void everyTypeOfValuesIsWhatItIsInJson(String column, String type, String values) {
    boolean isText = type.equals("BYTES");
    boolean isFloat = type.startsWith("FP");
    List<Object> parsed = new ArrayList<>();
    StringBuilder data = new StringBuilder();
    for (String value : values.split("\\|")) {
      Object number = isText ? value : isFloat ? Double.valueOf(value) : (Object) parsedLong(value);
      parsed.add(number);
      data.append(data.isEmpty() ? "" : ",").append(isText ? '"' + value + '"' : value);
    }
    String pair =
        "{\"name\":\"pair\",\"shape\":[1,2],\"datatype\":\"INT64\",\"parameters\":{\"context\":true},\"data\":[1,2]}";
    String expected =
        json(
            "{\"inputs\":[%s,{\"name\":\"%s\",\"shape\":[2],\"datatype\":\"%s\",\"data\":[%s]}]}"
                .formatted(pair, column, type, data));
    for (boolean raw : new boolean[] {false, true}) {
      List<Float> scores =
          ProtoBodies.numbers(answer(body(raw).tensor(column, type, parsed).bytes()));
      assertThat(expected)
          .as("raw %s", raw)
          .contains("\"data\":[" + scores.get(0) + "," + scores.get(1) + "]");
    }
  }

  private static long parsedLong(String text) {
    return text.startsWith("-") ? Long.parseLong(text) : Long.parseUnsignedLong(text);
  }

  @Test
  void packedValuesMayComeInPiecesAndOneByOne() {
    // fp32_contents: 1.0 packed, 2.0 alone, then 3.0 and 4.0 packed; int64_contents the same.
    String floats = "3204" + "0000803f" + "35" + "00000040" + "3208" + "00004040" + "00008040";
    String ints = "1a01" + "01" + "18" + "02" + "1a00" + "1a02" + "03" + "04";
    byte[] whole =
        message(
            input("I1", "FP32", "1a0104", floats), input("C1", "INT64", "1a0104", ints), pairs());
    byte[] plain =
        body(false)
            .tensor("I1", "FP32", List.of(1, 2, 3, 4))
            .tensor("C1", "INT64", List.of(1, 2, 3, 4))
            .bytes();
    assertThat(ProtoBodies.numbers(answer(whole))).isEqualTo(ProtoBodies.numbers(answer(plain)));
  }

  private static byte[] pairs() {
    return body(false).bytes();
  }

  /** An input by its contents in hexadecimal. */
  private static byte[] input(String name, String type, String shape, String contents) {
    ByteArrayOutputStream tensor = new ByteArrayOutputStream();
    field(tensor, 1, name.getBytes(StandardCharsets.UTF_8));
    field(tensor, 2, type.getBytes(StandardCharsets.UTF_8));
    tensor.writeBytes(HexFormat.of().parseHex(shape));
    field(tensor, 5, HexFormat.of().parseHex(contents));
    ByteArrayOutputStream message = new ByteArrayOutputStream();
    field(message, 5, tensor.toByteArray());
    return message.toByteArray();
  }

  private static void field(ByteArrayOutputStream to, int number, byte[] value) {
    to.write(number << 3 | 2);
    if (value.length > 127) {
      to.write(value.length & 127 | 128);
      to.write(value.length >> 7);
    } else {
      to.write(value.length);
    }
    to.writeBytes(value);
  }

  private static byte[] message(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }

  @Test
  void fieldsThatLaterProtocolsHaveAreLeftOut() {
    byte[] known = body(false).tensor("I1", "FP32", List.of(1.5)).bytes();
    byte[] unknown = HexFormat.of().parseHex("7a03616263" + "8001ff01" + "8d0100000000");
    assertThat(answer(message(unknown, known, unknown))).isEqualTo(answer(known));
  }

  @Test
  void rowsOfLessThanAllColumnsAndOfNoneAreAnswered() {
    assertThat(ProtoBodies.numbers(answer(body(false).bytes()))).hasSize(1);
    assertThat(ProtoBodies.numbers(answer(body(true).bytes()))).hasSize(1);
    byte[] none = body(false).tensor("I1", "FP32", List.of()).bytes();
    DynamicMessage answer = read(answer(none));
    DynamicMessage output = ProtoBodies.all(answer, "outputs").getFirst();
    assertThat(ProtoBodies.get(output, "shape")).isEqualTo(List.of(0L));
    assertThat(ProtoBodies.numbers(answer(none))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void parametersAndOutputsAreThoseOfJson(boolean raw) {
    ProtoBodies body =
        body(raw)
            .tensor("I1", "FP32", List.of(3L), List.of(1, 2, -3), Map.of("empty", 2.0))
            .tensor("city", "BYTES", List.of(3L), List.of("Oslo", "", "x"), Map.of("empty", ""))
            .tensor("C1", "INT64", List.of(3L, 1L), List.of(1, 2, 3), Map.of("empty", 2L))
            .parameter("top_k", 2L)
            .parameter("explain", true)
            .parameter("else", "nothing");
    String json =
        json(
            "{\"inputs\":[{\"name\":\"pair\",\"shape\":[1,2],\"datatype\":\"INT64\",\"parameters\":{\"context\":true},\"data\":[1,2]},"
                + "{\"name\":\"I1\",\"shape\":[3],\"datatype\":\"FP32\",\"data\":[1,null,-3]},"
                + "{\"name\":\"city\",\"shape\":[3],\"datatype\":\"BYTES\",\"data\":[\"Oslo\",null,\"x\"]},"
                + "{\"name\":\"C1\",\"shape\":[3],\"datatype\":\"INT64\",\"data\":[1,null,3]}],"
                + "\"parameters\":{\"top_k\":2,\"explain\":true}}");
    DynamicMessage answer = read(answer(body.bytes()));
    List<DynamicMessage> outputs = ProtoBodies.all(answer, "outputs");
    List<String> names = new ArrayList<>();
    for (DynamicMessage output : outputs) {
      names.add((String) ProtoBodies.get(output, "name"));
      String shape = ProtoBodies.get(output, "shape").toString().replace(" ", "");
      assertThat(json)
          .contains(
              "{\"name\":\"%s\",\"shape\":%s,\"datatype\":\"%s\""
                  .formatted(names.getLast(), shape, ProtoBodies.get(output, "datatype")));
    }
    assertThat(names).containsExactly("probability", "index", "shares", "columns");
    if (!raw) {
      assertThat(json)
          .contains(
              contents(outputs.get(0), "fp32_contents"),
              contents(outputs.get(1), "int_contents"),
              contents(outputs.get(2), "fp32_contents"));
      assertThat(contents(outputs.get(3), "bytes_contents")).isNotEmpty();
    } else {
      assertThat((List<?>) ProtoBodies.get(answer, "raw_output_contents")).hasSize(4);
    }
  }

  private static String contents(DynamicMessage output, String field) {
    DynamicMessage contents = (DynamicMessage) ProtoBodies.get(output, "contents");
    return "\"data\":" + ProtoBodies.get(contents, field).toString().replace(" ", "");
  }

  @Test
  void outputsAreTheOnesThatAreAskedFor() {
    byte[] body =
        body(false)
            .tensor("I1", "FP32", List.of(1, 2))
            .output("logit")
            .output("probability")
            .bytes();
    List<Float> numbers = ProtoBodies.numbers(answer(body));
    Batch rows = new Batch(model.schema(), 2);
    for (int row = 1; row <= 2; row++) {
      model.encoder().addRow(Map.of("I1", row, "pair", List.of(1, 2)), rows);
    }
    float[] expected = model.score(rows);
    assertThat(numbers.subList(2, 4)).containsExactly(expected[0], expected[1]);
    assertThat(numbers.get(0)).isNotEqualTo(expected[0]);
  }

  @Test
  void answersAreRawWhereInputsAreOrWhereItIsAskedFor() {
    DynamicMessage typed = read(answer(body(false).bytes()));
    assertThat((List<?>) ProtoBodies.get(typed, "raw_output_contents")).isEmpty();
    DynamicMessage asked = read(answer(body(false).parameter("binary_data_output", true).bytes()));
    assertThat((List<?>) ProtoBodies.get(asked, "raw_output_contents")).hasSize(1);
    DynamicMessage raw = read(answer(body(true).bytes()));
    assertThat(ProtoBodies.get(raw, "raw_output_contents"))
        .isEqualTo(ProtoBodies.get(asked, "raw_output_contents"));
  }

  @Test
  void refusalsSayWhatJsonSays() {
    String pair =
        "{\"name\":\"pair\",\"shape\":[1,2],\"datatype\":\"INT64\",\"parameters\":{\"context\":true},\"data\":[1,2]}";
    String one =
        "{\"inputs\":["
            + pair
            + ",{\"name\":\"%s\",\"shape\":[%s],\"datatype\":\"%s\",\"data\":[%s]}]}";
    assertThat(refused(body(false).tensor("I9", "FP32", List.of(1)).bytes()))
        .isEqualTo(refusedJson(one.formatted("I9", "1", "FP32", "1")));
    assertThat(refused(body(false).tensor("C1", "FP32", List.of(1)).bytes()))
        .isEqualTo(refusedJson(one.formatted("C1", "1", "FP32", "1")));
    assertThat(refused(body(false).tensor("I1", "BYTES", List.of("a")).bytes()))
        .isEqualTo(refusedJson(one.formatted("I1", "1", "BYTES", "\"a\"")));
    assertThat(refused(body(false).tensor("I1", "FP32", List.of(2L), List.of(1), Map.of()).bytes()))
        .isEqualTo(refusedJson(one.formatted("I1", "2", "FP32", "1")));
    assertThat(
            refused(body(false).tensor("C1", "INT64", List.of(2L), List.of(1), Map.of()).bytes()))
        .isEqualTo(refusedJson(one.formatted("C1", "2", "INT64", "1")));
    assertThat(refused(body(false).tensor("C1", "INT8", List.of(1, 300)).bytes()))
        .isEqualTo(refusedJson(one.formatted("C1", "2", "INT8", "1,300")));
    byte[] twice =
        body(false).tensor("pair", "INT64", List.of(1L, 2L), List.of(1, 2), Map.of()).bytes();
    assertThat(refused(twice)).contains("pair").contains("twice");
    assertThat(refused(body(false).output("nothing").bytes())).contains("outputs: got nothing");
    assertThat(refused(body(false).parameter("top_k", 0L).bytes()))
        .isEqualTo("top_k: got 0, expected a whole number from 1 to 10000");
    assertThat(refused(body(false).parameter("explain", "yes").bytes()))
        .isEqualTo("explain: got a text, expected true or false");
    assertThat(refused(body(false).output("logit").output("logit").bytes()))
        .isEqualTo("outputs: got logit twice, expected it once");
  }

  @Test
  void valuesThatAreNoneAreRefusedByRowAndColumn() {
    for (boolean raw : new boolean[] {false, true}) {
      assertThat(refused(body(raw).tensor("I1", "FP32", List.of(1, Float.NaN)).bytes()))
          .startsWith("row 2, column I1: got NaN, expected a finite number");
      assertThat(refused(body(raw).tensor("t", "BYTES", List.of("2026-01-31", "x")).bytes()))
          .startsWith("row 2, column t");
      assertThat(refused(body(raw).tensor("C1", "UINT64", List.of(1, -1)).bytes()))
          .isEqualTo("row 2, column C1: got 18446744073709551615, expected an integer of 64 bits");
      String wide = "x".repeat(70_000);
      assertThat(refused(body(raw).tensor("city", "BYTES", List.of(wide)).bytes()))
          .startsWith("row 1, column city: got a text of 70,000 bytes");
    }
    byte[] half = input("city", "BYTES", "1a0101", "4201c3");
    assertThat(refused(message(half, pairs()))).contains("no UTF-8");
  }

  @ParameterizedTest
  @CsvSource({
    // The shape, the contents, what is said.
    "1a0101, 1a0101, values in field 3",
    "1a0101, 3203000080, 3 bytes",
    "1a0101, 32050000803f, length",
    "1a0101, 3001, wire type",
    "1a0101, 390000000000000000, field 7",
    "1a0101, '', 0 numbers",
    "1a0102, 3204 0000803f, 1 numbers",
    "1a0101, 3208 0000803f0000803f, 2 numbers",
    "1a03010101, 3204 0000803f, dimensions",
    "'', 3204 0000803f, shape",
    "1a0aff ffffffffffffffff01, 3204 0000803f, whole number",
    "18ffffffff08, 3204 0000803f, whole number",
    "1901000000 00000000, 3204 0000803f, wire type",
    "1a03ffff7f, 3204 0000803f, numbers",
    "1a0180, 3204 0000803f, end within"
  })
  void tensorsWhoseContentsDoNotFitAreRefused(String shape, String contents, String said) {
    byte[] tensor = input("I1", "FP32", shape.replace(" ", ""), contents.replace(" ", ""));
    assertThat(refused(message(tensor, pairs()))).contains(said);
  }

  @Test
  void rawTensorsAreOneForEachInput() {
    byte[] two = body(true).tensor("I1", "FP32", List.of(1)).bytes();
    byte[] raw = new ProtoBodies("m", true).with("raw_input_contents", ByteString.EMPTY).bytes();
    assertThat(refused(message(two, raw))).contains("3 raw_input_contents");
    byte[] both =
        message(
            input("I1", "FP32", "1a0101", "32040000803f"),
            new ProtoBodies("m", true)
                .with("raw_input_contents", ByteString.copyFrom(new byte[4]))
                .bytes());
    assertThat(refused(both)).contains("both contents and raw_input_contents");
    byte[] longer =
        message(
            input("I1", "FP32", "1a0101", ""),
            new ProtoBodies("m", true)
                .with("raw_input_contents", ByteString.copyFrom(new byte[5]))
                .bytes());
    assertThat(refused(longer)).isEqualTo("I1: got 5 bytes, expected 4 of FP32 in shape [1]");
    byte[] half = message(input("I1", "FP16", "1a0101", ""), pairs());
    assertThat(refused(half)).contains("I1");
  }

  @Test
  void fieldsOfOneValueThatComeTwiceAreRefused() {
    byte[] id = HexFormat.of().parseHex("1a0161");
    assertThat(refused(message(id, id, pairs()))).isEqualTo("body: got id twice, expected it once");
    byte[] named = HexFormat.of().parseHex("0a016d");
    assertThatExceptionOfType(RefusedException.class)
        .isThrownBy(() -> GrpcProtocol.asked(message(named, named), 0, 6))
        .withMessageContaining("model_name twice");
    byte[] twice = HexFormat.of().parseHex("2a08" + "0a024931" + "0a024931");
    assertThat(refused(message(twice, pairs()))).contains("name twice");
  }

  @Test
  void largeNumbersOfPartsAreRefused() {
    ByteArrayOutputStream outputs = new ByteArrayOutputStream();
    ByteArrayOutputStream raws = new ByteArrayOutputStream();
    for (int i = 0; i < 20_000; i++) {
      outputs.write(0x32);
      outputs.write(0);
      raws.write(0x3a);
      raws.write(0);
    }
    assertThat(refused(outputs.toByteArray())).contains("more outputs");
    assertThat(refused(raws.toByteArray())).contains("more raw_input_contents");
    assertThat(
            refused(
                new ProtoBodies("m", true)
                    .tensor("I1", "BOOL", List.of(20_000L), List.of(), Map.of())
                    .bytes()))
        .contains("20,000 rows");
  }

  @Test
  void everyEndWithinAMessageIsRefusedOrAnAnswer() {
    for (boolean raw : new boolean[] {false, true}) {
      byte[] whole =
          body(raw)
              .with("id", "7")
              .tensor("I1", "FP32", List.of(1, 2))
              .tensor("city", "BYTES", List.of("Oslo", "Rome"))
              .parameter("top_k", 1L)
              .output("probability")
              .bytes();
      answer(whole);
      for (int end = 0; end < whole.length; end++) {
        int length = end;
        try {
          grpc.infer(version, whole, 0, length);
        } catch (RefusedException e) {
          assertThat(e.status()).isEqualTo(400);
        }
      }
    }
  }

  @Test
  void aModelTellsItsColumns() {
    byte[] bytes = GrpcProtocol.model(version, List.of("30", "20")).body();
    DynamicMessage told = ProtoFile.read(ProtoBodies.type("ModelMetadataResponse"), bytes, 5);
    assertThat(ProtoBodies.get(told, "name")).isEqualTo("m");
    assertThat(ProtoBodies.get(told, "versions")).isEqualTo(List.of("30", "20"));
    assertThat(ProtoBodies.get(told, "platform")).isEqualTo("tern_checkpoint");
    List<String> columns =
        ProtoBodies.all(told, "inputs").stream()
            .map(each ->
                ProtoBodies.get(each, "name")
                    + " "
                    + ProtoBodies.get(each, "datatype")
                    + " "
                    + ProtoBodies.get(each, "shape"))
            .toList();
    assertThat(columns)
        .contains("I1 FP32 [-1]", "city BYTES [-1]", "tags BYTES [-1, -1]", "big UINT64 [-1]");
    assertThat(ProtoBodies.all(told, "outputs")).hasSize(1);
    assertThat(told.toByteArray()).isEqualTo(java.util.Arrays.copyOfRange(bytes, 5, bytes.length));
  }
}
