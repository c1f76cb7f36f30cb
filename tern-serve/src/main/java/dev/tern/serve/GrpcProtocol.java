package dev.tern.serve;

import dev.tern.base.DataException;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.RowFiller;
import dev.tern.model.Task;
import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.ProtoReader;
import dev.tern.serve.wire.ProtoWriter;
import dev.tern.serve.wire.RefusedException;
import java.util.List;
import java.util.OptionalInt;

/**
 * The Open Inference Protocol, version 2, in Protocol Buffers: the messages of the service {@code
 * inference.GRPCInferenceService}, and those of {@code grpc.health.v1.Health}. Bytes in, bytes out;
 * answers have the five bytes before them that gRPC has before each message. A request that is not
 * answered throws a {@link RefusedException}. Thread-safe.
 */
public final class GrpcProtocol {
  /** The media type of answers. */
  public static final String TYPE = "application/grpc";

  private static final int MOST_NAME = 1024;

  private final RequestContexts contexts;

  public GrpcProtocol(RequestContexts contexts) {
    this.contexts = contexts;
  }

  /**
   * The model that a request asks for.
   *
   * @param version empty where it asks for none
   */
  public record Asked(String model, String version) {}

  /** The model that a request of any kind names, in its first two fields. */
  public static Asked asked(byte[] body, int from, int to) {
    String model = "";
    String version = "";
    ProtoReader message = new ProtoReader(body, from, to);
    while (message.next()) {
      if (message.field() == 1) {
        requireOnce(model, "model_name");
        model = message.text("model_name", MOST_NAME);
      } else if (message.field() == 2) {
        requireOnce(version, "model_version");
        version = message.text("model_version", MOST_NAME);
      }
    }
    return new Asked(model, version);
  }

  private static void requireOnce(String before, String name) {
    if (!before.isEmpty()) {
      throw JsonBody.wrong(name + " twice", "it once");
    }
  }

  /** The service that a request for health names; empty for the server as a whole. */
  public static String service(byte[] body, int from, int to) {
    return asked(body, from, to).model();
  }

  /**
   * Answers {@code ModelInfer}.
   *
   * @param body the message, {@code body[from, to)}
   */
  public Reply infer(ServedVersion version, byte[] body, int from, int to) {
    RequestContext context = contexts.take(version.encoder());
    try {
      ProtoRequest request = new ProtoRequest(context, body, from, to);
      request.read();
      return new ProtoReply(version, context, request).write();
    } catch (IllegalArgumentException | DataException e) {
      throw new RefusedException(400, String.valueOf(e.getMessage()));
    } finally {
      contexts.give(context);
    }
  }

  static Reply reply(ProtoWriter out) {
    return new Reply(200, TYPE, OptionalInt.empty(), out.message());
  }

  /** Answers {@code ServerLive}, {@code ServerReady} and {@code ModelReady}. */
  public static Reply flag(boolean value) {
    return reply(new ProtoWriter().clear().flag(1, value));
  }

  /**
   * Answers {@code Check} of health.
   *
   * @param status 1 for a service that serves, 2 for one that does not, 3 for one that is unknown
   */
  public static Reply health(int status) {
    return reply(new ProtoWriter().clear().number(1, status));
  }

  /** Answers {@code ServerMetadata}. */
  public static Reply server(String version) {
    return reply(new ProtoWriter().clear().text(1, "tern").text(2, version));
  }

  /**
   * A made-up request of one row, with a value of each column that takes a single one, behind the
   * five bytes of gRPC.
   */
  public static byte[] example(ServedVersion version) {
    ProtoWriter out = new ProtoWriter().clear().text(1, version.model());
    RowFiller filler = version.encoder().filler();
    Schema schema = version.encoder().rawSchema();
    for (String name : schema.dense()) {
      tensor(5, name, Datatype.FP32, 1, 1, out);
    }
    for (Slot slot : schema.slots()) {
      int column = filler.column(slot.name());
      if (!filler.takesLists(column)) {
        Datatype type = filler.takesTexts(column) ? Datatype.BYTES : Datatype.INT64;
        tensor(5, slot.name(), type, 1, 1, out);
      }
    }
    return out.message();
  }

  /**
   * Answers {@code ModelMetadata}.
   *
   * @param versions all that are served by its name
   */
  public static Reply model(ServedVersion version, List<String> versions) {
    ProtoWriter out = new ProtoWriter().clear().text(1, version.model());
    versions.forEach(each -> out.text(2, each));
    out.text(3, Metadata.PLATFORM);
    RowFiller filler = version.encoder().filler();
    Schema schema = version.encoder().rawSchema();
    for (String name : schema.dense()) {
      input(filler, filler.column(name), out);
    }
    for (Slot slot : schema.slots()) {
      input(filler, filler.column(slot.name()), out);
    }
    List<Task> tasks = version.tasks();
    for (int task = 0; task < tasks.size(); task++) {
      String name = TaskNames.of(TaskNames.PROBABILITY, tasks, task);
      tensor(5, name, Datatype.FP32, 1, -1, out);
    }
    return reply(out);
  }

  private static void input(RowFiller filler, int column, ProtoWriter out) {
    Datatype type = Metadata.datatype(filler, column);
    tensor(4, filler.name(column), type, filler.takesLists(column) ? 2 : 1, -1, out);
  }

  /** Writes a tensor whose dimensions are of one size; one of a row has a value. */
  private static void tensor(
      int field, String name, Datatype type, int rank, int size, ProtoWriter out) {
    int mark = out.begin(field);
    out.text(1, name).text(2, type.name());
    int shape = out.begin(3);
    for (int i = 0; i < rank; i++) {
      out.varint(size);
    }
    out.end(shape);
    if (size == 1) {
      int contents = out.begin(5);
      switch (type) {
        case FP32 -> {
          out.beginBytes(ContentsFlow.field(type), Float.BYTES);
          out.little(Float.floatToIntBits(1.5f));
        }
        case BYTES -> out.text(ContentsFlow.field(type), "warm");
        default -> out.number(ContentsFlow.field(type), 1);
      }
      out.end(contents);
    }
    out.end(mark);
  }
}
