package dev.tern.serve;

import dev.tern.base.Shown;
import dev.tern.predict.ItemFinder;
import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.JsonOutput;
import dev.tern.serve.wire.RefusedException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.Set;

/** Writes the items that were found for the users of a request. */
final class RetrieveReply {
  private static final String BINARY = "application/octet-stream";

  /** Outputs by the Open Inference Protocol. */
  private enum Kind {
    /** The items' texts, {@code [B, k]}; empty where fewer were found. */
    ITEMS(Datatype.BYTES),
    /** Their scores, {@code [B, k]}; no number where fewer were found. */
    SCORES(Datatype.FP32),
    /** How many were found for each user, {@code [B]}. */
    FOUND(Datatype.INT32);

    final Datatype type;

    Kind(Datatype type) {
      this.type = type;
    }

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private record Output(Kind kind, boolean binary) {}

  private final ServedVersion version;
  private final InferRequest request;
  private final ServedVersion.Items items;
  private final ItemFinder.Found found;
  private final boolean binary;

  RetrieveReply(
      ServedVersion version,
      InferRequest request,
      ServedVersion.Items items,
      ItemFinder.Found found,
      boolean binary) {
    this.version = version;
    this.request = request;
    this.items = items;
    this.found = found;
    this.binary = binary;
  }

  /** An object for each user, as TensorFlow Serving answers rows. */
  static Reply rows(
      ServedVersion version, ServedVersion.Items items, ItemFinder.Found found, JsonOutput out) {
    out.raw("{\"predictions\":[");
    for (int user = 0; user < found.counts().length; user++) {
      out.raw(user == 0 ? "{\"items\":[" : ",{\"items\":[");
      int from = user * found.most();
      for (int i = 0; i < found.counts()[user]; i++) {
        (i == 0 ? out : out.put(',')).text(items.name(found.items()[from + i]));
      }
      out.raw("],\"scores\":[");
      for (int i = 0; i < found.counts()[user]; i++) {
        (i == 0 ? out : out.put(',')).number(found.scores()[from + i]);
      }
      out.raw("]}");
    }
    out.raw("],\"model_version\":\"").integer(version.step()).raw("\"}");
    return Reply.json(200, out.copy());
  }

  /** Tensors. */
  Reply write(JsonOutput out) {
    List<Output> outputs = outputs();
    out.raw("{\"model_name\":").text(version.model());
    out.raw(",\"model_version\":\"").integer(version.step()).put('"');
    request.id().ifPresent(id -> out.raw(",\"id\":").text(id));
    out.raw(",\"outputs\":[");
    for (int i = 0; i < outputs.size(); i++) {
      (i == 0 ? out : out.put(',')).raw("{\"name\":").text(outputs.get(i).kind.text());
      json(outputs.get(i), out);
    }
    out.raw("]}");
    if (outputs.stream().noneMatch(Output::binary)) {
      return Reply.json(200, out.copy());
    }
    int length = out.size();
    outputs.stream().filter(Output::binary).forEach(each -> values(each.kind, out));
    return new Reply(200, BINARY, OptionalInt.of(length), out.copy());
  }

  private List<Output> outputs() {
    List<Output> outputs = new ArrayList<>();
    Set<Kind> kinds = EnumSet.noneOf(Kind.class);
    for (InferOutput asked : request.outputs()) {
      Kind kind = kind(asked.name());
      if (!kinds.add(kind)) {
        throw new RefusedException(
            400, "outputs: got %s twice, expected it once".formatted(kind.text()));
      }
      outputs.add(new Output(kind, asked.binary().orElse(binary)));
    }
    if (outputs.isEmpty()) {
      for (Kind kind : Kind.values()) {
        outputs.add(new Output(kind, binary));
      }
    }
    return outputs;
  }

  private static Kind kind(String name) {
    for (Kind kind : Kind.values()) {
      if (kind.text().equals(name)) {
        return kind;
      }
    }
    throw new RefusedException(
        400,
        "outputs: got %s, expected items, scores or found"
            .formatted(Shown.line(JsonBody.shorten(name))));
  }

  private int size(Kind kind) {
    return kind == Kind.FOUND ? found.counts().length : found.items().length;
  }

  /** Whether an item was found for a place of {@code [B, k]}. */
  private boolean holds(int at) {
    return at % found.most() < found.counts()[at / found.most()];
  }

  private String name(int at) {
    return holds(at) ? items.name(found.items()[at]) : "";
  }

  private float score(int at) {
    return holds(at) ? found.scores()[at] : Float.NaN;
  }

  private void json(Output output, JsonOutput out) {
    out.raw(",\"shape\":[").integer(found.counts().length);
    if (output.kind != Kind.FOUND) {
      out.put(',').integer(found.most());
    }
    out.raw("],\"datatype\":\"").raw(output.kind.type.name()).put('"');
    if (output.binary) {
      out.raw(",\"parameters\":{\"binary_data_size\":").integer(bytes(output.kind)).raw("}}");
      return;
    }
    out.raw(",\"data\":[");
    for (int i = 0; i < size(output.kind); i++) {
      if (i > 0) {
        out.put(',');
      }
      switch (output.kind) {
        case ITEMS -> out.text(name(i));
        case SCORES -> out.number(score(i));
        case FOUND -> out.integer(found.counts()[i]);
      }
    }
    out.raw("]}");
  }

  private int bytes(Kind kind) {
    if (kind != Kind.ITEMS) {
      return 4 * size(kind);
    }
    int bytes = 0;
    for (int i = 0; i < size(kind); i++) {
      bytes = Math.addExact(bytes, 4 + name(i).getBytes(StandardCharsets.UTF_8).length);
    }
    return bytes;
  }

  private void values(Kind kind, JsonOutput out) {
    for (int i = 0; i < size(kind); i++) {
      switch (kind) {
        case ITEMS -> {
          byte[] name = name(i).getBytes(StandardCharsets.UTF_8);
          out.little(name.length);
          out.bytes(name);
        }
        case SCORES -> out.little(Float.floatToRawIntBits(score(i)));
        case FOUND -> out.little(found.counts()[i]);
      }
    }
  }
}
