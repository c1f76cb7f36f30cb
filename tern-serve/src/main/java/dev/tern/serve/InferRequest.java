package dev.tern.serve;

import dev.tern.base.Shown;
import dev.tern.serve.wire.JsonBody;
import dev.tern.serve.wire.RefusedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * Reads a request of the Open Inference Protocol into the rows of a context. Columns of one value a
 * row are filled as they are read; those that may need other tensors wait until all are known.
 */
final class InferRequest {
  private static final int NONE = InferInput.NONE;

  /** Tensors of a request: a column may have three. */
  static final int MOST_INPUTS = 10_000;

  /** Characters of a name, or of an id. */
  static final int MOST_ID = 1024;

  private final RequestContext context;
  private final InferInputs inputs;
  private final byte[] body;
  private final int jsonEnd;
  private final int length;
  private final InferFill fill;
  private final List<InferOutput> outputs = new ArrayList<>();
  private Optional<String> id = Optional.empty();
  private boolean hasInputs;

  /** Whether columns are filled as they are read. */
  private boolean direct = true;

  /** Whether something behind the values of a tensor says how they are meant. */
  private boolean again;

  /**
   * @param jsonEnd where the JSON ends, and binary tensors begin
   */
  InferRequest(RequestContext context, byte[] body, int jsonEnd, int length) {
    this.context = context;
    inputs = context.inputs;
    this.body = body;
    this.jsonEnd = jsonEnd;
    this.length = length;
    fill = new InferFill(context, body, jsonEnd);
  }

  /** Fills the rows of the context. */
  void read() {
    parse();
    if (again) {
      direct = false;
      parse();
    }
    if (!hasInputs) {
      throw JsonBody.wrong("no inputs", "an array of tensors");
    }
    placeBinaries();
    fill.finish();
  }

  Optional<String> id() {
    return id;
  }

  /** The outputs that are asked for; none where the usual ones are. */
  List<InferOutput> outputs() {
    return outputs;
  }

  private void parse() {
    context.options.clear();
    inputs.clear();
    outputs.clear();
    fill.clear();
    ExcludedItems.clear(context);
    id = Optional.empty();
    hasInputs = false;
    try (JsonParser json = JsonBody.parser(body, jsonEnd)) {
      JsonToken first = json.nextToken();
      if (first != JsonToken.START_OBJECT) {
        throw JsonBody.wrong("body", first, "an object");
      }
      while (json.nextToken() != JsonToken.END_OBJECT) {
        member(json, json.currentName());
      }
      JsonBody.requireEnd(json);
    }
  }

  private void member(JsonParser json, String name) {
    json.nextToken();
    switch (name) {
      case "id" -> {
        requireFirst(id.isEmpty(), name);
        id = Optional.of(text(json, name));
      }
      case "inputs" -> {
        requireFirst(!hasInputs, name);
        hasInputs = true;
        requireArray(json, name);
        while (json.nextToken() != JsonToken.END_ARRAY) {
          input(json);
        }
      }
      case "outputs" -> {
        requireFirst(outputs.isEmpty(), name);
        requireArray(json, name);
        while (json.nextToken() != JsonToken.END_ARRAY) {
          Outputs.requireRoom(outputs);
          outputs.add(output(json));
        }
      }
      case "parameters" -> OptionsReader.read(json, context.options);
      case "exclude" -> ExcludedItems.read(context, json);
      default ->
          throw JsonBody.wrong(
              Shown.line(JsonBody.shorten(name)), "id, inputs, outputs or parameters");
    }
  }

  private static void requireFirst(boolean first, String name) {
    if (!first) {
      throw JsonBody.wrong(name + " twice", "it once");
    }
  }

  private static void requireArray(JsonParser json, String name) {
    if (json.currentToken() != JsonToken.START_ARRAY) {
      throw JsonBody.wrong(name, json.currentToken(), "an array");
    }
  }

  private static void requireObject(JsonParser json, String name) {
    if (json.currentToken() != JsonToken.START_OBJECT) {
      throw JsonBody.wrong(name, json.currentToken(), "an object");
    }
  }

  private static String text(JsonParser json, String name) {
    requireText(json, name);
    return json.getString();
  }

  private static void requireText(JsonParser json, String name) {
    if (json.currentToken() != JsonToken.VALUE_STRING) {
      throw JsonBody.wrong(name, json.currentToken(), "a text");
    }
    if (json.getStringLength() > MOST_ID) {
      throw JsonBody.wrong(
          name + " of " + json.getStringLength() + " characters", "at most " + MOST_ID);
    }
  }

  private void input(JsonParser json) {
    requireObject(json, "inputs");
    if (inputs.size() == MOST_INPUTS) {
      throw JsonBody.wrong("more inputs", "at most " + MOST_INPUTS);
    }
    InferInput input = inputs.add();
    while (json.nextToken() != JsonToken.END_OBJECT) {
      String member = json.currentName();
      json.nextToken();
      switch (member) {
        case "name" -> {
          requireFirst(input.column == NONE, member);
          requireText(json, member);
          fill.name(
              input, json.getStringCharacters(), json.getStringOffset(), json.getStringLength());
        }
        case "datatype" -> {
          requireFirst(input.type == null, member);
          requireText(json, member);
          input.type =
              Datatype.of(
                  json.getStringCharacters(), json.getStringOffset(), json.getStringLength());
          if (input.type == null) {
            String type = Shown.line(JsonBody.shorten(json.getString()));
            throw JsonBody.wrong("datatype " + type, "one such as FP32");
          }
        }
        case "shape" -> {
          requireFirst(input.rank == 0, member);
          shape(json, input);
        }
        case "parameters" -> parameters(json, input);
        case "data" -> data(json, input);
        default ->
            throw JsonBody.wrong(
                Shown.line(JsonBody.shorten(member)) + " in inputs",
                "name, shape, datatype, parameters or data");
      }
    }
    if (input.column == NONE || input.rank == 0) {
      throw JsonBody.wrong("an input without name or shape", "both");
    }
    if (input.at == NONE == (input.binary == NONE)) {
      throw new RefusedException(
          400, input.name + ": got no data, or both data and binary_data_size, expected one");
    }
    input.type();
  }

  private static void shape(JsonParser json, InferInput input) {
    requireArray(json, "shape");
    input.rank = 0;
    input.width = 1;
    while (json.nextToken() != JsonToken.END_ARRAY) {
      int size = OptionsReader.integer(json, "shape", 0, Integer.MAX_VALUE);
      switch (input.rank++) {
        case 0 -> input.rows = size;
        case 1 -> input.width = size;
        default -> throw JsonBody.wrong("a shape of more dimensions", "one or two");
      }
    }
    if (input.rank == 0) {
      throw JsonBody.wrong("an empty shape", "one or two dimensions");
    }
  }

  private void parameters(JsonParser json, InferInput input) {
    requireObject(json, "parameters");
    while (json.nextToken() != JsonToken.END_OBJECT) {
      String name = json.currentName();
      JsonToken value = json.nextToken();
      switch (name) {
        case "binary_data_size" ->
            input.binary = OptionsReader.integer(json, name, 0, length - jsonEnd);
        case "context" -> {
          input.once = OptionsReader.flag(json, name);
          again |= input.filled;
        }
        case "empty" -> {
          again |= input.filled;
          empty(json, value, input);
        }
        default -> json.skipChildren();
      }
    }
  }

  private static void empty(JsonParser json, JsonToken value, InferInput input) {
    if (value == JsonToken.VALUE_STRING) {
      String text = json.getString();
      input.emptyText = text;
      if (text.equalsIgnoreCase("nan")) {
        input.emptyNumber = Double.NaN;
      }
    } else if (value.isNumeric()) {
      input.emptyNumber = json.getDoubleValue();
      boolean whole = value == JsonToken.VALUE_NUMBER_INT;
      if (whole && json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
        input.emptyInteger = json.getBigIntegerValue().longValue();
      } else {
        input.emptyInteger = whole ? json.getLongValue() : 0;
      }
    } else {
      throw JsonBody.wrong("empty", value, "a text or a number");
    }
  }

  private void data(JsonParser json, InferInput input) {
    requireFirst(input.at == NONE, "data");
    input.at = 0;
    if (direct && fill.isReady(input)) {
      fill.column(input, context.flow.begin(json, input, context.filler));
    } else {
      input.at = (int) json.currentTokenLocation().getByteOffset();
      json.skipChildren();
    }
  }

  private static InferOutput output(JsonParser json) {
    requireObject(json, "outputs");
    String name = "";
    boolean binary = false;
    boolean stated = false;
    while (json.nextToken() != JsonToken.END_OBJECT) {
      String member = json.currentName();
      json.nextToken();
      switch (member) {
        case "name" -> name = text(json, member);
        case "parameters" -> {
          requireObject(json, member);
          while (json.nextToken() != JsonToken.END_OBJECT) {
            String parameter = json.currentName();
            json.nextToken();
            if (parameter.equals("binary_data")) {
              binary = OptionsReader.flag(json, parameter);
              stated = true;
            } else {
              json.skipChildren();
            }
          }
        }
        default ->
            throw JsonBody.wrong(
                Shown.line(JsonBody.shorten(member)) + " in outputs", "name or parameters");
      }
    }
    return new InferOutput(name, stated ? Optional.of(binary) : Optional.empty());
  }

  /** Binary tensors lie behind the JSON in the order of the inputs, and end where the body does. */
  private void placeBinaries() {
    long at = jsonEnd;
    for (int i = 0; i < inputs.size(); i++) {
      InferInput input = inputs.get(i);
      if (input.binary != NONE) {
        input.at = (int) at;
        at += input.binary;
        if (at > length) {
          throw new RefusedException(
              400,
              "%s: got %d bytes of binary tensors up to its end, expected at most the %d that follow the JSON"
                  .formatted(input.name, at - jsonEnd, length - jsonEnd));
        }
      }
    }
    if (at < length) {
      throw JsonBody.wrong(
          (length - at) + " bytes behind the tensors", "the body to end with them");
    }
  }
}
