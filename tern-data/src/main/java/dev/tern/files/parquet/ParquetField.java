package dev.tern.files.parquet;

import dev.tern.base.DataException;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.format.ConvertedType;
import org.apache.parquet.format.FieldRepetitionType;
import org.apache.parquet.format.IntType;
import org.apache.parquet.format.LogicalType;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.Type;

/**
 * A top-level column of a Parquet file: a scalar, a list of scalars, or lists of such lists.
 * Anything with more than one leaf is {@link Kind#OTHER} and cannot be read.
 *
 * @param position index among the top-level columns
 * @param leaf index of its column chunk in a row group
 * @param kind what its values are
 * @param physical how its values are stored; INT32 where there is no one leaf
 * @param scale digits after the point of a {@link Kind#DECIMAL}
 * @param lists how many lists are within one another; 0 for a scalar
 * @param maxDefinition definition level of a value that is there
 * @param listDefinition from this definition level on, the outermost list is there and not empty
 * @param elementDefinition from this definition level on, the innermost list has an element
 * @param described the type in words, for messages
 */
record ParquetField(
    String name,
    int position,
    int leaf,
    Kind kind,
    Type physical,
    int scale,
    int lists,
    int maxDefinition,
    int listDefinition,
    int elementDefinition,
    String described) {

  /** What values mean. */
  enum Kind {
    BOOLEAN,
    INT32,
    UINT32,
    INT64,
    UINT64,
    DECIMAL,
    FLOAT,
    DOUBLE,
    TEXT,
    OTHER;

    boolean isInteger() {
      return this == INT32 || this == UINT32 || this == INT64 || this == UINT64;
    }
  }

  private static final int MAX_DEPTH = 64;

  /** Whether a row holds any number of values. */
  boolean list() {
    return lists > 0;
  }

  boolean nullable() {
    return maxDefinition > 0;
  }

  /** The columns of a file, from the flattened tree that its footer holds. */
  static List<ParquetField> parse(List<SchemaElement> elements) {
    return new Tree(elements).fields();
  }

  private static final class Tree {
    private final List<SchemaElement> elements;
    private int next = 1;
    private int leaves;

    Tree(List<SchemaElement> elements) {
      this.elements = elements;
    }

    List<ParquetField> fields() {
      if (elements.isEmpty()) {
        throw new DataException("got a schema without a root");
      }
      int count = elements.get(0).getNum_children();
      List<ParquetField> fields = new ArrayList<>();
      for (int position = 0; position < count; position++) {
        fields.add(field(position));
      }
      if (next != elements.size()) {
        throw new DataException(
            "got a schema of " + elements.size() + " elements, expected " + next + " by its tree");
      }
      return fields;
    }

    private ParquetField field(int position) {
      Walk walk = new Walk();
      int leaf = leaves;
      SchemaElement top = element();
      visit(walk, 0, 0);
      boolean usable = leaves == leaf + 1 && walk.leaf.isSetType();
      if (!usable) {
        return new ParquetField(
            top.getName(), position, leaf, Kind.OTHER, Type.INT32, 0, 0, 0, 0, 0, "nested");
      }
      Kind kind = kindOf(walk.leaf);
      String described = describe(walk.leaf);
      return new ParquetField(
          top.getName(),
          position,
          leaf,
          kind,
          walk.leaf.getType(),
          kind == Kind.DECIMAL ? scaleOf(walk.leaf) : 0,
          walk.repeated,
          walk.definition,
          walk.listDefinition,
          walk.elementDefinition,
          "LIST of ".repeat(walk.repeated) + described);
    }

    private SchemaElement element() {
      if (next >= elements.size()) {
        throw new DataException("got a schema whose groups have more children than there are");
      }
      SchemaElement element = elements.get(next);
      if (element.getName() == null) {
        throw new DataException("got a schema element without a name");
      }
      return element;
    }

    /** Visits the element at {@code next} and all below it. */
    private void visit(Walk walk, int depth, int definition) {
      SchemaElement element = element();
      next++;
      FieldRepetitionType repetition = element.getRepetition_type();
      int level = definition;
      if (repetition == FieldRepetitionType.OPTIONAL) {
        level++;
      } else if (repetition == FieldRepetitionType.REPEATED) {
        level++;
        walk.repeated++;
        walk.listDefinition = walk.repeated == 1 ? level : walk.listDefinition;
        walk.elementDefinition = level;
      }
      if (element.getNum_children() == 0) {
        walk.leaf = element;
        walk.definition = level;
        leaves++;
        return;
      }
      if (depth == MAX_DEPTH) {
        throw new DataException("got a schema nested deeper than " + MAX_DEPTH);
      }
      for (int child = 0; child < element.getNum_children(); child++) {
        visit(walk, depth + 1, level);
      }
    }
  }

  /** What a walk below one top-level column found. */
  private static final class Walk {
    private SchemaElement leaf = new SchemaElement();
    private int repeated;
    private int definition;
    private int listDefinition;
    private int elementDefinition;
  }

  private static Kind kindOf(SchemaElement leaf) {
    LogicalType logical = leaf.getLogicalType();
    ConvertedType converted = leaf.getConverted_type();
    boolean plain = logical == null && converted == null;
    return switch (leaf.getType()) {
      case BOOLEAN -> Kind.BOOLEAN;
      case FLOAT -> Kind.FLOAT;
      case DOUBLE -> Kind.DOUBLE;
      case INT32, INT64 -> {
        boolean wide = leaf.getType() == Type.INT64;
        if (isDecimal(leaf)) {
          yield Kind.DECIMAL;
        }
        if (plain || isInteger(leaf, true)) {
          yield wide ? Kind.INT64 : Kind.INT32;
        }
        if (isInteger(leaf, false)) {
          yield wide ? Kind.UINT64 : Kind.UINT32;
        }
        yield Kind.OTHER;
      }
      case BYTE_ARRAY -> plain || isText(leaf) ? Kind.TEXT : Kind.OTHER;
      case INT96, FIXED_LEN_BYTE_ARRAY -> Kind.OTHER;
    };
  }

  private static boolean isDecimal(SchemaElement leaf) {
    LogicalType logical = leaf.getLogicalType();
    return logical != null
        ? logical.isSetDECIMAL()
        : leaf.getConverted_type() == ConvertedType.DECIMAL;
  }

  private static int scaleOf(SchemaElement leaf) {
    LogicalType logical = leaf.getLogicalType();
    int scale = logical != null ? logical.getDECIMAL().getScale() : leaf.getScale();
    if (scale < 0 || scale > 18) {
      throw new DataException(
          "column " + leaf.getName() + ": got a DECIMAL of scale " + scale + ", expected 0 to 18");
    }
    return scale;
  }

  private static boolean isInteger(SchemaElement leaf, boolean signed) {
    LogicalType logical = leaf.getLogicalType();
    if (logical != null) {
      IntType type = logical.isSetINTEGER() ? logical.getINTEGER() : null;
      return type != null && type.isIsSigned() == signed;
    }
    return switch (leaf.getConverted_type()) {
      case INT_8, INT_16, INT_32, INT_64 -> signed;
      case UINT_8, UINT_16, UINT_32, UINT_64 -> !signed;
      default -> false;
    };
  }

  private static boolean isText(SchemaElement leaf) {
    LogicalType logical = leaf.getLogicalType();
    if (logical != null) {
      return logical.isSetSTRING() || logical.isSetENUM() || logical.isSetJSON();
    }
    return switch (leaf.getConverted_type()) {
      case UTF8, ENUM, JSON -> true;
      default -> false;
    };
  }

  private static String describe(SchemaElement leaf) {
    LogicalType logical = leaf.getLogicalType();
    String type = leaf.getType().name();
    if (logical != null && logical.getSetField() != null) {
      return type + " (" + logical.getSetField().getFieldName() + ")";
    }
    return leaf.getConverted_type() == null ? type : type + " (" + leaf.getConverted_type() + ")";
  }
}
