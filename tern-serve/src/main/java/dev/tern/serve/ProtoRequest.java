package dev.tern.serve;

import dev.tern.base.Shown;
import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.ProtoReader;
import dev.tern.serve.wire.RefusedException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Reads a message {@code inference.ModelInferRequest} of Protocol Buffers into the rows of a
 * context. Fields may come in any order; those that later protocols may have are left out. A field
 * of one value that comes twice is refused, as it is in JSON: which of them counts is not for a
 * server to guess.
 */
final class ProtoRequest {
  private static final int NONE = InferInput.NONE;

  private final RequestContext context;
  private final InferInputs inputs;
  private final byte[] body;
  private final InferFill fill;
  private final ProtoReader message;
  private final ProtoReader inner;
  private final ProtoReader values;
  private final List<InferOutput> outputs = new ArrayList<>();
  private String id = "";
  private int raws;

  /** Reads {@code body[from, to)}. */
  ProtoRequest(RequestContext context, byte[] body, int from, int to) {
    this.context = context;
    inputs = context.inputs;
    this.body = body;
    fill = new InferFill(context, body, 0);
    message = new ProtoReader(body, from, to);
    inner = new ProtoReader(body, 0, 0);
    values = new ProtoReader(body, 0, 0);
  }

  /** Fills the rows of the context. */
  void read() {
    context.options.clear();
    inputs.clear();
    fill.clear();
    while (message.next()) {
      switch (message.field()) {
        case 3 -> {
          requireFirst(id.isEmpty(), "id");
          id = message.text("id", InferRequest.MOST_ID);
        }
        case 4 -> {
          message.require(ProtoReader.BYTES, "parameters");
          option(ProtoParameter.read(body, message.from(), message.to()));
        }
        case 5 -> {
          message.require(ProtoReader.BYTES, "inputs");
          input();
        }
        case 6 -> {
          message.require(ProtoReader.BYTES, "outputs");
          Outputs.requireRoom(outputs);
          outputs.add(output());
        }
        case 7 -> {
          message.require(ProtoReader.BYTES, "raw_input_contents");
          rawAt(message.from(), message.to());
        }
        default -> {} // The model, which is known by now, or a field that is not.
      }
    }
    place();
    fill.finish();
  }

  /** What the answer is to give back; empty where nothing is. */
  String id() {
    return id;
  }

  /** The outputs that are asked for; none where the usual ones are. */
  List<InferOutput> outputs() {
    return outputs;
  }

  /** Whether outputs are to be raw bytes: as the inputs are, or where it is asked for. */
  boolean raw() {
    return raws > 0 || context.options.binary;
  }

  private static void requireFirst(boolean first, String name) {
    if (!first) {
      throw JsonBody.wrong(name + " twice", "it once");
    }
  }

  private void option(ProtoParameter parameter) {
    RequestOptions options = context.options;
    switch (parameter.name()) {
      case "top_k" -> options.top = parameter.integer(1, RequestContext.MOST_ROWS);
      case "explain" -> options.explain = parameter.flag();
      case "binary_data_output" -> options.binary = parameter.flag();
      default -> {} // It means nothing here.
    }
  }

  private void input() {
    if (inputs.size() == InferRequest.MOST_INPUTS) {
      throw JsonBody.wrong("more inputs", "at most " + InferRequest.MOST_INPUTS);
    }
    InferInput input = inputs.add();
    inner.begin(message.from(), message.to());
    while (inner.next()) {
      switch (inner.field()) {
        case 1 -> {
          requireFirst(input.column == NONE, "name");
          int length = text("name");
          fill.name(input, context.text, 0, length);
        }
        case 2 -> {
          requireFirst(input.type == null, "datatype");
          int length = text("datatype");
          input.type = Datatype.of(context.text, 0, length);
          if (input.type == null) {
            String type = Shown.line(JsonBody.shorten(new String(context.text, 0, length)));
            throw JsonBody.wrong("datatype " + type, "one such as FP32");
          }
        }
        case 3 -> shape(input);
        case 4 -> {
          inner.require(ProtoReader.BYTES, "parameters");
          parameter(input, ProtoParameter.read(body, inner.from(), inner.to()));
        }
        case 5 -> {
          inner.require(ProtoReader.BYTES, "contents");
          requireFirst(input.contentsFrom == NONE, "contents");
          input.contentsFrom = inner.from();
          input.contentsTo = inner.to();
        }
        default -> {}
      }
    }
    if (input.column == NONE || input.rank == 0) {
      throw JsonBody.wrong("an input without name or shape", "both");
    }
    if (input.contentsFrom != NONE) {
      contents(input, input.type());
    }
    input.type();
  }

  /** The field at hand as characters in {@link RequestContext#text}; gives how many. */
  private int text(String name) {
    inner.requireText(name, InferRequest.MOST_ID);
    int length = inner.to() - inner.from();
    if (context.text.length < length) {
      context.text = new char[length];
    }
    char[] text = context.text;
    for (int i = 0; i < length; i++) {
      byte next = body[inner.from() + i];
      if (next < 0) {
        String whole = new String(body, inner.from(), length, StandardCharsets.UTF_8);
        whole.getChars(0, whole.length(), text, 0);
        return whole.length();
      }
      text[i] = (char) next;
    }
    return length;
  }

  private void shape(InferInput input) {
    if (inner.wire() != ProtoReader.BYTES) {
      inner.require(ProtoReader.VARINT, "shape");
      dimension(input, inner.value());
      return;
    }
    values.begin(inner.from(), inner.to());
    while (values.hasMore()) {
      dimension(input, values.varint());
    }
  }

  private static void dimension(InferInput input, long size) {
    if (size < 0 || size > Integer.MAX_VALUE) {
      throw OptionsReader.outside("shape", Long.toString(size), 0, Integer.MAX_VALUE);
    }
    switch (input.rank++) {
      case 0 -> input.rows = size;
      case 1 -> input.width = size;
      default -> throw JsonBody.wrong("a shape of more dimensions", "one or two");
    }
  }

  private static void parameter(InferInput input, ProtoParameter parameter) {
    switch (parameter.name()) {
      case "context" -> input.once = parameter.flag();
      case "empty" -> parameter.setEmpty(input);
      default -> {} // It means nothing here.
    }
  }

  /**
   * Looks through the values of a tensor. Floats that are packed as a whole are what a raw tensor
   * is, and taken as one.
   */
  private void contents(InferInput input, Datatype type) {
    int packed = 0;
    int single = 0;
    int from = 0;
    int to = 0;
    values.begin(input.contentsFrom, input.contentsTo);
    while (values.next()) {
      if (values.field() != ContentsFlow.field(type)) {
        requireNone(input, type);
      } else if (values.wire() == ProtoReader.BYTES) {
        packed++;
        from = values.from();
        to = values.to();
      } else {
        single++;
      }
    }
    if ((type == Datatype.FP32 || type == Datatype.FP64) && packed == 1 && single == 0) {
      input.at = from;
      input.binary = to - from;
      input.contentsFrom = NONE;
      requireWhole(input, type);
    }
  }

  /** Refuses values in the field of another type. */
  private void requireNone(InferInput input, Datatype type) {
    boolean isText = values.field() == ContentsFlow.LAST_FIELD;
    boolean isEmpty = !isText && values.wire() == ProtoReader.BYTES && values.from() == values.to();
    if (values.field() > ContentsFlow.LAST_FIELD || isEmpty) {
      return; // Of a later protocol, or packed values of which there are none.
    }
    int field = ContentsFlow.field(type);
    throw new RefusedException(
        400,
        "%s: got values in field %d of its contents, expected %s in %s"
            .formatted(
                input.name,
                values.field(),
                type,
                field == 0 ? "raw_input_contents" : "field " + field));
  }

  private static void requireWhole(InferInput input, Datatype type) {
    if (input.binary % type.width != 0) {
      throw new RefusedException(
          400,
          "%s: got %d bytes of packed numbers, expected %d for each"
              .formatted(input.name, input.binary, type.width));
    }
    if (input.binary / type.width != input.count()) {
      throw new RefusedException(
          400,
          "%s: got %d numbers, expected shape %s"
              .formatted(input.name, input.binary / type.width, input.shape()));
    }
  }

  private InferOutput output() {
    String name = "";
    inner.begin(message.from(), message.to());
    while (inner.next()) {
      if (inner.field() == 1) {
        name = inner.text("name", InferRequest.MOST_ID);
      }
    }
    return new InferOutput(name, Optional.empty());
  }

  private void rawAt(int from, int to) {
    if (raws == InferRequest.MOST_INPUTS) {
      throw JsonBody.wrong("more raw_input_contents", "at most " + InferRequest.MOST_INPUTS);
    }
    if (2 * raws == context.raws.length) {
      context.raws = Arrays.copyOf(context.raws, 4 * raws);
    }
    context.raws[2 * raws] = from;
    context.raws[2 * raws + 1] = to;
    raws++;
  }

  /** Raw tensors lie in the order of the inputs, one for each. */
  private void place() {
    if (raws > 0 && raws != inputs.size()) {
      throw JsonBody.wrong(
          raws + " raw_input_contents", "one for each of " + inputs.size() + " inputs, or none");
    }
    for (int i = 0; i < inputs.size(); i++) {
      InferInput input = inputs.get(i);
      boolean isTyped = input.contentsFrom != NONE || input.binary != NONE;
      if (raws > 0) {
        if (isTyped && hasValues(input)) {
          throw new RefusedException(
              400, input.name + ": got both contents and raw_input_contents, expected one");
        }
        input.contentsFrom = NONE;
        input.at = context.raws[2 * i];
        input.binary = context.raws[2 * i + 1] - input.at;
      } else if (!isTyped) {
        input.at = 0;
        input.binary = 0;
      }
    }
  }

  private static boolean hasValues(InferInput input) {
    return input.binary > 0 || input.contentsFrom != NONE && input.contentsTo > input.contentsFrom;
  }
}
