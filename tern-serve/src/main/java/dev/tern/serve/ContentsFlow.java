package dev.tern.serve;

import dev.tern.serve.wire.ProtoReader;

/**
 * The values of a tensor in a message of {@code InferTensorContents}: a field whose numbers are
 * packed into bytes, or stand one by one, or both; texts stand one by one.
 */
final class ContentsFlow extends ValueFlow {
  /** The largest number of a field that has values, those of texts. */
  static final int LAST_FIELD = 8;

  /** The number of the field, and how a value is written that stands alone. */
  private final int field;

  private final int wire;
  private final ProtoReader message;
  private final ProtoReader packed;
  private long value;

  ContentsFlow(byte[] body, InferInput input) {
    super(body, input);
    field = field(type);
    wire = wire(type);
    message = new ProtoReader(body, input.contentsFrom, input.contentsTo);
    packed = new ProtoReader(body, 0, 0);
  }

  /** The number of the field that has values of a type; 0 where they must be raw. */
  static int field(Datatype type) {
    return switch (type) {
      case BOOL -> 1;
      case INT8, INT16, INT32 -> 2;
      case INT64 -> 3;
      case UINT8, UINT16, UINT32 -> 4;
      case UINT64 -> 5;
      case FP32 -> 6;
      case FP64 -> 7;
      case BYTES -> 8;
      case FP16 -> 0;
    };
  }

  /** How one value of a type is written where it stands alone. */
  static int wire(Datatype type) {
    return switch (type) {
      case FP32 -> ProtoReader.FIXED32;
      case FP64 -> ProtoReader.FIXED64;
      case BYTES -> ProtoReader.BYTES;
      default -> ProtoReader.VARINT;
    };
  }

  @Override
  public boolean next() {
    if (packed.hasMore()) {
      unpack();
      return true;
    }
    while (message.next()) {
      if (message.field() != field) {
        continue;
      }
      if (wire == ProtoReader.BYTES) {
        message.require(wire, input.name);
        from = message.from();
        to = message.to();
        return true;
      }
      if (message.wire() != ProtoReader.BYTES) {
        message.require(wire, input.name);
        value = message.value();
        return true;
      }
      packed.begin(message.from(), message.to());
      if (packed.hasMore()) {
        unpack();
        return true;
      }
    }
    return false;
  }

  private void unpack() {
    value =
        switch (wire) {
          case ProtoReader.FIXED32 -> packed.fixed32();
          case ProtoReader.FIXED64 -> packed.fixed64();
          default -> packed.varint();
        };
  }

  @Override
  long integer() {
    return value;
  }

  @Override
  double floating() {
    return switch (type) {
      case FP32 -> Float.intBitsToFloat((int) value);
      case FP64 -> Double.longBitsToDouble(value);
      default -> value;
    };
  }
}
