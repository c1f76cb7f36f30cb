package dev.tern.serve.http;

import dev.tern.data.Schema;
import dev.tern.data.encode.RowFiller;
import dev.tern.serve.GrpcProtocol;
import dev.tern.serve.ServedVersion;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Requests with made-up rows, which a server sends itself before it is ready. Values are of all
 * kinds that columns take: what the JIT has never seen it leaves out of its code, and makes that
 * anew when the first caller sends it.
 */
final class RequestWarmUp {
  private static final int MANY = 16;
  private static final int VARIANTS = 8;

  /** Values of a vocabulary, the most frequent first. */
  private static final int KNOWN = 4;

  private static final int MOST_DIGITS = 18;
  private static final List<String> TEXTS = List.of("a", "warm", "0", "a longer text, of words");

  private final Random random = new Random(1);

  private RequestWarmUp() {}

  /** Made-up requests for a model: of one row and of some, by both protocols. */
  static List<HttpWarmUp.Asked> requests(Hosted model) {
    try (LiveModel.Lease lease = model.versions().getFirst().lease()) {
      ServedVersion version = lease.version();
      String predict = "/v1/models/" + model.name() + ":predict";
      String infer = "/v2/models/" + model.name() + "/infer";
      RequestWarmUp made = new RequestWarmUp();
      List<HttpWarmUp.Asked> requests = new ArrayList<>();
      for (int i = 0; i < VARIANTS; i++) {
        requests.add(new HttpWarmUp.Asked(predict, made.instances(version, 1)));
        requests.add(new HttpWarmUp.Asked(infer, made.tensors(version)));
      }
      requests.add(new HttpWarmUp.Asked(predict, made.instances(version, MANY)));
      return requests;
    }
  }

  /** A made-up call by gRPC. */
  static byte[] call(Hosted model) {
    try (LiveModel.Lease lease = model.versions().getFirst().lease()) {
      return GrpcProtocol.example(lease.version());
    }
  }

  /**
   * A column that takes single values.
   *
   * @param some values as JSON; empty for numbers
   */
  private record Value(String name, String type, List<String> some) {}

  private List<Value> values(ServedVersion version) {
    RowFiller filler = version.encoder().filler();
    Schema schema = version.encoder().rawSchema();
    List<Value> values = new ArrayList<>();
    schema.dense().forEach(name -> values.add(new Value(name, "FP32", List.of())));
    for (int s = 0; s < schema.slotCount(); s++) {
      String name = schema.slots().get(s).name();
      int column = filler.column(name);
      if (!filler.takesLists(column)) {
        boolean isText = filler.takesTexts(column);
        List<String> some = new ArrayList<>(isText ? TEXTS : ids());
        for (int known = 1; known <= KNOWN; known++) {
          version.encoder().value(s, known).ifPresent(some::add);
        }
        if (isText) {
          some.replaceAll(JsonText::quoted);
        }
        values.add(new Value(name, isText ? "BYTES" : "INT64", some));
      }
    }
    return values;
  }

  private String text(Value column) {
    return column.some().isEmpty()
        ? number()
        : column.some().get(random.nextInt(column.some().size()));
  }

  /** A number as callers write them: with and without a sign, a fraction, an exponent. */
  private String number() {
    double value = random.nextGaussian() * Math.pow(10, random.nextInt(-3, 6));
    return switch (random.nextInt(6)) {
      case 0 -> Integer.toString(random.nextInt(10));
      case 1 -> Long.toString(Math.round(value));
      case 2 -> Float.toString(random.nextFloat());
      case 3 -> Float.toString((float) value);
      case 4 -> Double.toString(value);
      default -> String.format(Locale.ROOT, "%.2f", value);
    };
  }

  /** Ids of each number of digits. */
  private List<String> ids() {
    List<String> ids = new ArrayList<>(List.of("0"));
    for (int digits = 1; digits <= MOST_DIGITS; digits++) {
      long least = (long) Math.pow(10, digits - 1);
      ids.add(Long.toString(random.nextLong(least, 10 * least)));
    }
    return ids;
  }

  private byte[] instances(ServedVersion version, int rows) {
    StringBuilder json = new StringBuilder("{\"instances\":[");
    for (int row = 0; row < rows; row++) {
      json.append(row == 0 ? "{" : ",{");
      for (Value each : values(version)) {
        json.append(json.charAt(json.length() - 1) == '{' ? "" : ",");
        JsonText.quote(json, each.name());
        json.append(':').append(text(each));
      }
      json.append('}');
    }
    return json.append("]}").toString().getBytes(StandardCharsets.UTF_8);
  }

  private byte[] tensors(ServedVersion version) {
    StringBuilder json = new StringBuilder("{\"inputs\":[");
    for (Value each : values(version)) {
      json.append(json.charAt(json.length() - 1) == '[' ? "" : ",").append("{\"name\":");
      JsonText.quote(json, each.name());
      json.append(",\"shape\":[1],\"datatype\":\"")
          .append(each.type())
          .append("\",\"data\":[")
          .append(text(each))
          .append("]}");
    }
    return json.append("]}").toString().getBytes(StandardCharsets.UTF_8);
  }
}
