package dev.tern.files.parquet;

import java.util.Optional;
import org.apache.parquet.format.ConvertedType;
import org.apache.parquet.format.LogicalType;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.TimeUnit;
import org.apache.parquet.format.Type;

/**
 * The type of the values of a column. An annotation that is unknown, or that does not go with the
 * physical type, leaves the physical type, as the format asks of readers.
 *
 * @param physical how values are stored; INT32 where there is no one leaf
 * @param width bytes of a stored value of fixed width in a page; 0 for BYTE_ARRAY and BOOLEAN
 * @param scale digits after the point of a {@link Kind#DECIMAL}
 * @param second units of a second of a {@link Kind#TIME} or {@link Kind#TIMESTAMP}
 * @param utc whether a time means an instant, not what a clock showed somewhere
 * @param described the type in words, for messages
 */
record ParquetType(
    Kind kind, Type physical, int width, int scale, long second, boolean utc, String described) {

  /** What values mean. */
  enum Kind {
    BOOLEAN,
    INT32,
    UINT32,
    INT64,
    UINT64,
    DECIMAL,
    FLOAT16,
    FLOAT,
    DOUBLE,
    /** Days since 1970-01-01. */
    DATE,
    /** Time of the day. */
    TIME,
    /** Time since 1970-01-01. */
    TIMESTAMP,
    UUID,
    /** Bytes, all values of one length, that mean nothing by themselves. */
    BYTES,
    TEXT,
    /** A column without a type, in which all values are null. */
    NULL,
    /** Nothing that can be read. */
    OTHER;

    boolean isInteger() {
      return this == INT32 || this == UINT32 || this == INT64 || this == UINT64;
    }

    /** Whether values are binary floating-point numbers. */
    boolean isFloating() {
      return this == FLOAT16 || this == FLOAT || this == DOUBLE;
    }

    /** Whether values are days or times, which count in days as numbers. */
    boolean isTime() {
      return this == DATE || this == TIME || this == TIMESTAMP;
    }
  }

  /** A column of more than one leaf. */
  static final ParquetType NESTED =
      new ParquetType(Kind.OTHER, Type.INT32, Integer.BYTES, 0, 1, false, "nested");

  private static final long MILLIS = 1_000;
  private static final long MICROS = 1_000_000;
  private static final long NANOS = 1_000_000_000;

  /** Digits of a number of 32 bytes, the widest that other readers know. */
  private static final int MAX_SCALE = 76;

  /** The type of a leaf. */
  static ParquetType of(SchemaElement leaf) {
    Kind kind = kindOf(leaf);
    int scale = kind == Kind.DECIMAL ? scaleOf(leaf) : 0;
    boolean unreadable = scale < 0 || scale > MAX_SCALE;
    return new ParquetType(
        unreadable ? Kind.OTHER : kind,
        leaf.getType(),
        widthOf(leaf),
        unreadable ? 0 : scale,
        kind == Kind.TIME || kind == Kind.TIMESTAMP ? secondOf(leaf) : 1,
        kind == Kind.TIMESTAMP && isUtc(leaf),
        describe(leaf) + (unreadable ? " of scale " + scale : ""));
  }

  /** Whether values are bytes to be made sense of one by one. */
  boolean isBytes() {
    return switch (physical) {
      case BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY, INT96 -> true;
      default -> false;
    };
  }

  /** Units of a day of a time; 1 for days. */
  double unitsOfDay() {
    return kind == Kind.DATE ? 1 : 86_400.0 * second;
  }

  private static int widthOf(SchemaElement leaf) {
    return switch (leaf.getType()) {
      case INT32, FLOAT -> Integer.BYTES;
      case INT64, DOUBLE -> Long.BYTES;
      case INT96 -> 12;
      case FIXED_LEN_BYTE_ARRAY -> leaf.getType_length();
      case BOOLEAN, BYTE_ARRAY -> 0;
    };
  }

  private static Kind kindOf(SchemaElement leaf) {
    if (isNull(leaf)) {
      return Kind.NULL;
    }
    return switch (leaf.getType()) {
      case BOOLEAN -> Kind.BOOLEAN;
      case FLOAT -> Kind.FLOAT;
      case DOUBLE -> Kind.DOUBLE;
      case INT32 -> annotated(leaf, Kind.INT32, Kind.UINT32);
      case INT64 -> annotated(leaf, Kind.INT64, Kind.UINT64);
      case INT96 -> Kind.TIMESTAMP;
      case BYTE_ARRAY -> isDecimal(leaf) ? Kind.DECIMAL : Kind.TEXT;
      case FIXED_LEN_BYTE_ARRAY -> fixed(leaf);
    };
  }

  private static Kind annotated(SchemaElement leaf, Kind signed, Kind unsigned) {
    if (isDecimal(leaf)) {
      return Kind.DECIMAL;
    }
    if (unit(leaf).isPresent()) {
      return isTimeOfDay(leaf) ? Kind.TIME : Kind.TIMESTAMP;
    }
    if (leaf.getType() == Type.INT32 && isDate(leaf)) {
      return Kind.DATE;
    }
    return isUnsigned(leaf) ? unsigned : signed;
  }

  private static Kind fixed(SchemaElement leaf) {
    int width = leaf.getType_length();
    Optional<LogicalType> logical = logical(leaf);
    if (width < 1) {
      return Kind.OTHER;
    }
    if (isDecimal(leaf)) {
      return Kind.DECIMAL;
    }
    if (width == 2 && logical.isPresent() && logical.get().isSetFLOAT16()) {
      return Kind.FLOAT16;
    }
    boolean uuid = width == 16 && logical.isPresent() && logical.get().isSetUUID();
    return uuid ? Kind.UUID : Kind.BYTES;
  }

  /**
   * The logical type, unless it is newer than this reader. parquet-java calls INTERVAL unknown, and
   * tells what it is by the older annotation alone.
   */
  private static Optional<LogicalType> logical(SchemaElement leaf) {
    return Optional.ofNullable(leaf.getLogicalType())
        .filter(LogicalType::isSet)
        .filter(type -> !type.isSetUNKNOWN() || leaf.getConverted_type() == null);
  }

  /** The older annotation, where there is no logical type. */
  private static boolean isConverted(SchemaElement leaf, ConvertedType... types) {
    if (logical(leaf).isPresent()) {
      return false;
    }
    for (ConvertedType type : types) {
      if (leaf.getConverted_type() == type) {
        return true;
      }
    }
    return false;
  }

  private static boolean isNull(SchemaElement leaf) {
    return logical(leaf).map(LogicalType::isSetUNKNOWN).orElse(false);
  }

  private static boolean isDecimal(SchemaElement leaf) {
    return logical(leaf)
        .map(LogicalType::isSetDECIMAL)
        .orElseGet(() -> isConverted(leaf, ConvertedType.DECIMAL));
  }

  private static int scaleOf(SchemaElement leaf) {
    return logical(leaf).map(type -> type.getDECIMAL().getScale()).orElseGet(leaf::getScale);
  }

  private static boolean isDate(SchemaElement leaf) {
    return logical(leaf)
        .map(LogicalType::isSetDATE)
        .orElseGet(() -> isConverted(leaf, ConvertedType.DATE));
  }

  private static boolean isTimeOfDay(SchemaElement leaf) {
    return logical(leaf)
        .map(LogicalType::isSetTIME)
        .orElseGet(() -> isConverted(leaf, ConvertedType.TIME_MILLIS, ConvertedType.TIME_MICROS));
  }

  private static boolean isUnsigned(SchemaElement leaf) {
    return logical(leaf)
        .map(type -> type.isSetINTEGER() && !type.getINTEGER().isIsSigned())
        .orElseGet(() ->
            isConverted(
                leaf,
                ConvertedType.UINT_8,
                ConvertedType.UINT_16,
                ConvertedType.UINT_32,
                ConvertedType.UINT_64));
  }

  /** Units of a second of an integer that is a time; empty for any other. */
  private static Optional<Long> unit(SchemaElement leaf) {
    boolean wide = leaf.getType() == Type.INT64;
    Optional<LogicalType> logical = logical(leaf);
    if (logical.isPresent()) {
      LogicalType type = logical.get();
      if (type.isSetTIMESTAMP() && wide) {
        return unit(type.getTIMESTAMP().getUnit());
      }
      // A time of the day is an INT32 in milliseconds, else an INT64.
      return type.isSetTIME()
          ? unit(type.getTIME().getUnit()).filter(unit -> unit == MILLIS != wide)
          : Optional.empty();
    }
    if (wide && isConverted(leaf, ConvertedType.TIMESTAMP_MICROS, ConvertedType.TIME_MICROS)) {
      return Optional.of(MICROS);
    }
    boolean millis =
        isConverted(leaf, wide ? ConvertedType.TIMESTAMP_MILLIS : ConvertedType.TIME_MILLIS);
    return millis ? Optional.of(MILLIS) : Optional.empty();
  }

  private static Optional<Long> unit(TimeUnit unit) {
    if (unit.isSetMILLIS()) {
      return Optional.of(MILLIS);
    }
    if (unit.isSetMICROS()) {
      return Optional.of(MICROS);
    }
    return unit.isSetNANOS() ? Optional.of(NANOS) : Optional.empty();
  }

  private static long secondOf(SchemaElement leaf) {
    return leaf.getType() == Type.INT96 ? NANOS : unit(leaf).orElse(1L);
  }

  /** INT96 and the older annotations mean instants. */
  private static boolean isUtc(SchemaElement leaf) {
    return logical(leaf)
        .map(type -> !type.isSetTIMESTAMP() || type.getTIMESTAMP().isIsAdjustedToUTC())
        .orElse(true);
  }

  private static String describe(SchemaElement leaf) {
    String type = leaf.getType().name();
    type += leaf.getType() == Type.FIXED_LEN_BYTE_ARRAY ? "(" + leaf.getType_length() + ")" : "";
    Optional<LogicalType> logical = logical(leaf);
    if (logical.isPresent()) {
      return type + " (" + logical.get().getSetField().getFieldName() + ")";
    }
    return leaf.getConverted_type() == null ? type : type + " (" + leaf.getConverted_type() + ")";
  }
}
