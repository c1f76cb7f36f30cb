package dev.tern.bench.serve;

import dev.tern.requests.SmallModel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** Sound requests to a {@link SmallModel} of all columns, in every form, to be damaged. */
final class RequestCorpus {
  /** What answers a request. */
  enum Target {
    INFER("/v2/models/m/infer"),
    PREDICT("/v1/models/m:predict"),
    INVOCATIONS("/invocations"),
    GRPC("/inference.GRPCInferenceService/ModelInfer");

    final String path;

    Target(String path) {
      this.path = path;
    }
  }

  /**
   * A request.
   *
   * @param jsonLength bytes of JSON before binary tensors
   */
  record Entry(Target target, byte[] body, OptionalInt jsonLength) {}

  private static final String PAIR =
      "{\"name\":\"pair\",\"shape\":[2,2],\"datatype\":\"INT64\",\"data\":[[1,2],[3,4]]}";

  private RequestCorpus() {}

  static List<Entry> all() {
    List<Entry> all = new ArrayList<>();
    infer(all);
    rows(all);
    binary(all);
    messages(all);
    return all;
  }

  private static void json(List<Entry> to, Target target, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    to.add(new Entry(target, bytes, OptionalInt.empty()));
  }

  private static void infer(List<Entry> to) {
    json(
        to,
        Target.INFER,
        "{\"id\":\"7\",\"inputs\":["
            + PAIR
            + ",{\"name\":\"I1\",\"shape\":[2],\"datatype\":\"FP32\",\"data\":[1.5,null]},"
            + "{\"name\":\"C1\",\"shape\":[2,1],\"datatype\":\"INT64\",\"data\":[[7],[9]]},"
            + "{\"name\":\"city\",\"shape\":[2],\"datatype\":\"BYTES\",\"data\":[\"Oslo\",\"\\u00c5lesund\"]},"
            + "{\"name\":\"big\",\"shape\":[2],\"datatype\":\"UINT64\",\"data\":[18446744073709551615,0]}],"
            + "\"outputs\":[{\"name\":\"logit\"},{\"name\":\"probability\"}]}");
    json(
        to,
        Target.INFER,
        "{\"inputs\":["
            + PAIR
            + ",{\"name\":\"tags\",\"shape\":[3],\"datatype\":\"BYTES\",\"data\":[\"a\",\"b\",\"c\"]},"
            + "{\"name\":\"tags:offsets\",\"shape\":[3],\"datatype\":\"INT32\",\"data\":[0,1,3]},"
            + "{\"name\":\"words\",\"shape\":[2,2],\"datatype\":\"BYTES\",\"parameters\":{\"empty\":\"\"},\"data\":[\"a\",\"\",\"b\",\"c\"]},"
            + "{\"name\":\"words:weights\",\"shape\":[2,2],\"datatype\":\"FP32\",\"data\":[1,2,0.5,1]}],"
            + "\"parameters\":{\"top_k\":1,\"explain\":true}}");
    json(
        to,
        Target.INFER,
        "{\"inputs\":[{\"name\":\"pair\",\"shape\":[1,2],\"datatype\":\"UINT16\",\"parameters\":{\"context\":true},\"data\":[1,2]},"
            + "{\"name\":\"seen\",\"shape\":[2,3],\"datatype\":\"INT32\",\"parameters\":{\"empty\":-1},\"data\":[1,2,3,4,-1,-1]},"
            + "{\"name\":\"t\",\"shape\":[2],\"datatype\":\"BYTES\",\"data\":[\"2026-01-31\",\"2026-02-01T05:00:00Z\"]},"
            + "{\"data\":[true,false],\"name\":\"I2\",\"shape\":[2],\"datatype\":\"BOOL\"}]}");
  }

  private static void rows(List<Entry> to) {
    String rows =
        "[{\"I1\":1.5,\"C1\":7,\"city\":\"Oslo\",\"pair\":[1,2],\"words\":{\"a\":0.5,\"b\":2}},"
            + "{\"I2\":null,\"tags\":\"a|b\",\"pair\":[3,4],\"seen\":[1,2,3,4],\"big\":18446744073709551615,\"t\":\"2026-01-31\"}]";
    for (String key : new String[] {"instances", "dataframe_records"}) {
      json(to, Target.INVOCATIONS, "{\"" + key + "\":" + rows + "}");
    }
    json(
        to,
        Target.PREDICT,
        "{\"instances\":" + rows + ",\"parameters\":{\"top_k\":1,\"explain\":true}}");
    json(
        to,
        Target.PREDICT,
        "{\"context\":{\"I1\":2,\"city\":{\"b64\":\"T3Nsbw==\"},\"pair\":[1,2]},\"instances\":[{\"C1\":7},{\"C1\":\"9\"}]}");
    json(
        to,
        Target.PREDICT,
        "{\"signature_name\":\"x\",\"inputs\":{\"I1\":[1,2,null],\"C1\":[[1],2,3],\"pair\":[[1,2],[3,4],[5,6]],\"tags\":[[\"a\"],[],[\"b\",\"c\"]],\"city\":[\"a\",null,\"b\"]}}");
    json(
        to,
        Target.INVOCATIONS,
        "{\"dataframe_split\":{\"index\":[0,1],\"columns\":[\"I1\",\"pair\",\"city\"],\"data\":[[1,[1,2],\"a\"],[null,[3,4],\"b\"]]}}");
  }

  private static ByteBuffer little(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static byte[] longs(long... values) {
    ByteBuffer bytes = little(8 * values.length);
    bytes.asLongBuffer().put(values);
    return bytes.array();
  }

  private static byte[] floats(float... values) {
    ByteBuffer bytes = little(4 * values.length);
    bytes.asFloatBuffer().put(values);
    return bytes.array();
  }

  private static byte[] texts(String... values) {
    ByteBuffer bytes = little(1024);
    for (String value : values) {
      byte[] text = value.getBytes(StandardCharsets.UTF_8);
      bytes.putInt(text.length).put(text);
    }
    byte[] all = new byte[bytes.position()];
    bytes.flip().get(all);
    return all;
  }

  private static void binary(List<Entry> to) {
    byte[] pair = longs(1, 2, 3, 4);
    byte[] number = floats(1.5f, Float.NaN);
    byte[] city = texts("Oslo", "\u00c5lesund");
    String head =
        ("{\"inputs\":[{\"name\":\"pair\",\"shape\":[2,2],\"datatype\":\"INT64\",\"parameters\":{\"binary_data_size\":%s}},"
             + "{\"name\":\"I1\",\"shape\":[2],\"datatype\":\"FP32\",\"parameters\":{\"binary_data_size\":%s,\"empty\":\"nan\"}},"
             + "{\"name\":\"city\",\"shape\":[2],\"datatype\":\"BYTES\",\"parameters\":{\"binary_data_size\":%s}}],"
             + "\"parameters\":{\"binary_data_output\":true}}")
            .formatted(pair.length, number.length, city.length);
    byte[] json = head.getBytes(StandardCharsets.UTF_8);
    byte[] all =
        ByteBuffer.allocate(json.length + pair.length + number.length + city.length)
            .put(json)
            .put(pair)
            .put(number)
            .put(city)
            .array();
    to.add(new Entry(Target.INFER, all, OptionalInt.of(json.length)));
  }

  private static void messages(List<Entry> to) {
    ProtoBody empty = new ProtoBody().text(3, "nan");
    ProtoBody raw =
        new ProtoBody()
            .text(1, "m")
            .text(3, "7")
            .message(5, ProtoBody.tensor("pair", "INT64", 2, 2))
            .message(5, ProtoBody.tensor("I1", "FP32", 2).parameter(4, "empty", empty))
            .message(5, ProtoBody.tensor("city", "BYTES", 2))
            .message(6, new ProtoBody().text(1, "logit"))
            .message(6, new ProtoBody().text(1, "probability"))
            .bytes(7, longs(1, 2, 3, 4))
            .bytes(7, floats(1.5f, Float.NaN))
            .bytes(7, texts("Oslo", "\u00c5lesund"));
    to.add(new Entry(Target.GRPC, raw.done(), OptionalInt.empty()));
    ProtoBody once = new ProtoBody().number(1, 1);
    ProtoBody typed =
        new ProtoBody()
            .text(1, "m")
            .text(2, "1")
            .parameter(4, "top_k", new ProtoBody().number(2, 1))
            .parameter(4, "explain", once)
            .message(
                5,
                ProtoBody.tensor("pair", "UINT16", 1, 2)
                    .parameter(4, "context", once)
                    .message(5, packed(4, 1, 2)))
            .message(
                5,
                ProtoBody.tensor("I1", "FP32", 2)
                    .message(5, new ProtoBody().bytes(6, floats(1, 2))))
            .message(5, ProtoBody.tensor("C1", "INT32", 2).message(5, packed(2, -1, 5)))
            .message(5, ProtoBody.tensor("big", "UINT64", 2).message(5, packed(5, -1, 5)))
            .message(5, ProtoBody.tensor("I2", "BOOL", 2).message(5, packed(1, 1, 0)))
            .message(
                5,
                ProtoBody.tensor("tags", "BYTES", 3)
                    .message(5, new ProtoBody().text(8, "a").text(8, "b").text(8, "\u00e5")))
            .message(
                5, ProtoBody.tensor("tags:offsets", "INT32", 3).message(5, packed(2, 0, 1, 3)));
    to.add(new Entry(Target.GRPC, typed.done(), OptionalInt.empty()));
  }

  private static ProtoBody packed(int field, long... values) {
    ProtoBody numbers = new ProtoBody();
    for (long value : values) {
      numbers.varint(value);
    }
    return new ProtoBody().message(field, numbers);
  }
}
