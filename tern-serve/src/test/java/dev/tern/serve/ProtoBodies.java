package dev.tern.serve;

import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import dev.tern.data.Batch;
import dev.tern.data.Slot;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Messages of the Open Inference Protocol, made and read by protobuf-java. */
public final class ProtoBodies {
  /** All messages. */
  public static final FileDescriptor FILE = ProtoFile.inference();

  private final DynamicMessage.Builder request;
  private final boolean raw;

  /**
   * @param raw whether values are raw bytes
   */
  public ProtoBodies(String model, boolean raw) {
    request = builder("ModelInferRequest");
    set(request, "model_name", model);
    this.raw = raw;
  }

  public static DynamicMessage.Builder builder(String message) {
    return DynamicMessage.newBuilder(type(message));
  }

  public static Descriptor type(String message) {
    return FILE.findMessageTypeByName(message);
  }

  /** Sets a field, or adds to one of several values. */
  public static void set(DynamicMessage.Builder to, String field, Object value) {
    FieldDescriptor at = to.getDescriptorForType().findFieldByName(field);
    if (at.isRepeated()) {
      to.addRepeatedField(at, value);
    } else {
      to.setField(at, value);
    }
  }

  public static Object get(DynamicMessage from, String field) {
    return from.getField(from.getDescriptorForType().findFieldByName(field));
  }

  /** The messages of a field. */
  @SuppressWarnings("unchecked")
  public static List<DynamicMessage> all(DynamicMessage from, String field) {
    return (List<DynamicMessage>) get(from, field);
  }

  /** Sets a field of the request. */
  public ProtoBodies with(String field, Object value) {
    set(request, field, value);
    return this;
  }

  public ProtoBodies parameter(String name, Object value) {
    parameter(request, name, value);
    return this;
  }

  private static void parameter(DynamicMessage.Builder to, String name, Object value) {
    FieldDescriptor map = to.getDescriptorForType().findFieldByName("parameters");
    DynamicMessage.Builder choice = builder("InferParameter");
    String field =
        switch (value) {
          case Boolean _ -> "bool_param";
          case Long _ -> "int64_param";
          case Double _ -> "double_param";
          default -> "string_param";
        };
    set(choice, field, value);
    DynamicMessage.Builder entry = DynamicMessage.newBuilder(map.getMessageType());
    set(entry, "key", name);
    set(entry, "value", choice.build());
    to.addRepeatedField(map, entry.build());
  }

  public ProtoBodies output(String name) {
    DynamicMessage.Builder output =
        DynamicMessage.newBuilder(
            type("ModelInferRequest").findNestedTypeByName("InferRequestedOutputTensor"));
    set(output, "name", name);
    return with("outputs", output.build());
  }

  /** Adds a tensor. */
  public ProtoBodies tensor(
      String name, String type, List<Long> shape, List<?> values, Map<String, ?> parameters) {
    DynamicMessage.Builder tensor =
        DynamicMessage.newBuilder(
            type("ModelInferRequest").findNestedTypeByName("InferInputTensor"));
    set(tensor, "name", name);
    set(tensor, "datatype", type);
    shape.forEach(size -> set(tensor, "shape", size));
    parameters.forEach((key, value) -> parameter(tensor, key, value));
    if (raw) {
      with("raw_input_contents", raw(type, values));
    } else {
      DynamicMessage.Builder contents = builder("InferTensorContents");
      String field = field(type);
      values.forEach(value -> set(contents, field, typed(field, value)));
      set(tensor, "contents", contents.build());
    }
    return with("inputs", tensor.build());
  }

  public ProtoBodies tensor(String name, String type, List<?> values) {
    return tensor(name, type, List.of((long) values.size()), values, Map.of());
  }

  static String field(String type) {
    return switch (type) {
      case "BOOL" -> "bool_contents";
      case "INT8", "INT16", "INT32" -> "int_contents";
      case "INT64" -> "int64_contents";
      case "UINT8", "UINT16", "UINT32" -> "uint_contents";
      case "UINT64" -> "uint64_contents";
      case "FP32" -> "fp32_contents";
      case "FP64" -> "fp64_contents";
      case "BYTES" -> "bytes_contents";
      default -> throw new IllegalArgumentException(type);
    };
  }

  private static Object typed(String field, Object value) {
    return switch (field) {
      case "bool_contents" -> ((Number) value).intValue() != 0;
      case "int_contents", "uint_contents" -> ((Number) value).intValue();
      case "int64_contents", "uint64_contents" -> ((Number) value).longValue();
      case "fp32_contents" -> ((Number) value).floatValue();
      case "fp64_contents" -> ((Number) value).doubleValue();
      default -> ByteString.copyFromUtf8((String) value);
    };
  }

  private static ByteString raw(String type, List<?> values) {
    ByteBuffer bytes = ByteBuffer.allocate(1 << 20).order(ByteOrder.LITTLE_ENDIAN);
    for (Object value : values) {
      switch (type) {
        case "BOOL", "INT8", "UINT8" -> bytes.put(((Number) value).byteValue());
        case "INT16", "UINT16" -> bytes.putShort(((Number) value).shortValue());
        case "FP16" -> bytes.putShort(Float.floatToFloat16(((Number) value).floatValue()));
        case "INT32", "UINT32" -> bytes.putInt(((Number) value).intValue());
        case "INT64", "UINT64" -> bytes.putLong(((Number) value).longValue());
        case "FP32" -> bytes.putFloat(((Number) value).floatValue());
        case "FP64" -> bytes.putDouble(((Number) value).doubleValue());
        default -> {
          byte[] text = ((String) value).getBytes(StandardCharsets.UTF_8);
          bytes.putInt(text.length).put(text);
        }
      }
    }
    return ByteString.copyFrom(bytes.flip());
  }

  /** Adds all columns of rows, with values that stand for missing ones. */
  public ProtoBodies rows(Batch rows) {
    return rows(rows, true);
  }

  /**
   * Adds all columns of rows.
   *
   * @param holes whether some values stand for missing ones
   */
  public ProtoBodies rows(Batch rows, boolean holes) {
    for (int f = 0; f < rows.schema().denseDim(); f++) {
      List<Float> values = new ArrayList<>();
      for (int row = 0; row < rows.size(); row++) {
        values.add(rows.dense()[row * rows.schema().denseDim() + f]);
      }
      String name = rows.schema().dense().get(f);
      Map<String, String> empty = holes ? Map.of("empty", "nan") : Map.of();
      tensor(name, "FP32", List.of((long) rows.size()), values, empty);
    }
    for (int s = 0; s < rows.schema().slotCount(); s++) {
      slot(rows, s, holes);
    }
    return this;
  }

  private void slot(Batch rows, int slot, boolean holes) {
    Slot of = rows.schema().slots().get(slot);
    List<Long> values = new ArrayList<>();
    if (of.hotness() == 1) {
      for (int row = 0; row < rows.size(); row++) {
        boolean missing = rows.idCount(slot, row) == 0;
        values.add(missing ? Long.MIN_VALUE : rows.ids(slot)[rows.offsets(slot)[row]]);
      }
      Map<String, Long> empty = holes ? Map.of("empty", Long.MIN_VALUE) : Map.of();
      tensor(of.name(), "INT64", List.of((long) rows.size()), values, empty);
      return;
    }
    List<Float> weights = new ArrayList<>();
    for (int i = 0; i < rows.idCount(slot); i++) {
      values.add(rows.ids(slot)[i]);
      weights.add(of.weighted() ? rows.weights(slot)[i] : 1f);
    }
    List<Integer> ends = new ArrayList<>();
    for (int row = 0; row <= rows.size(); row++) {
      ends.add(rows.offsets(slot)[row]);
    }
    tensor(of.name(), "INT64", values);
    tensor(of.name() + ":offsets", "INT32", ends);
    if (of.weighted()) {
      tensor(of.name() + ":weights", "FP32", weights);
    }
  }

  public DynamicMessage build() {
    return request.build();
  }

  public byte[] bytes() {
    return build().toByteArray();
  }

  /** The numbers of all outputs of an answer behind the five bytes of gRPC, one after the other. */
  public static List<Float> numbers(byte[] answer) {
    DynamicMessage response = ProtoFile.read(type("ModelInferResponse"), answer, 5);
    List<Float> numbers = new ArrayList<>();
    for (DynamicMessage output : all(response, "outputs")) {
      DynamicMessage contents = (DynamicMessage) get(output, "contents");
      for (Object value : (List<?>) get(contents, "fp32_contents")) {
        numbers.add((Float) value);
      }
    }
    for (Object raw : (List<?>) get(response, "raw_output_contents")) {
      ByteBuffer bytes = ((ByteString) raw).asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
      while (bytes.hasRemaining()) {
        numbers.add(bytes.getFloat());
      }
    }
    return numbers;
  }
}
