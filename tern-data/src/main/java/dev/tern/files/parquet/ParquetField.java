package dev.tern.files.parquet;

import dev.tern.base.DataException;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.format.FieldRepetitionType;
import org.apache.parquet.format.SchemaElement;

/**
 * A top-level column of a Parquet file: a scalar, a list of scalars, or lists of such lists.
 * Anything with more than one leaf is {@link ParquetType#NESTED} and cannot be read.
 *
 * @param position index among the top-level columns
 * @param leaf index of its column chunk in a row group
 * @param type what its values are
 * @param lists how many lists are within one another; 0 for a scalar
 * @param maxDefinition definition level of a value that is there
 * @param listDefinition from this definition level on, the outermost list is there and not empty
 * @param elementDefinition from this definition level on, the innermost list has an element
 */
record ParquetField(
    String name,
    int position,
    int leaf,
    ParquetType type,
    int lists,
    int maxDefinition,
    int listDefinition,
    int elementDefinition) {

  private static final int MAX_DEPTH = 64;

  /** Whether a row holds any number of values. */
  boolean list() {
    return lists > 0;
  }

  ParquetType.Kind kind() {
    return type.kind();
  }

  /** The type in words, for messages. */
  String described() {
    return "LIST of ".repeat(lists) + type.described();
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
        throw new DataException("got a schema without a root" + ParquetFile.REWRITE);
      }
      int count = elements.get(0).getNum_children();
      List<ParquetField> fields = new ArrayList<>();
      for (int position = 0; position < count; position++) {
        fields.add(field(position));
      }
      if (next != elements.size()) {
        throw new DataException(
            "got a schema of "
                + elements.size()
                + " elements, expected "
                + next
                + " by its tree"
                + ParquetFile.REWRITE);
      }
      return fields;
    }

    private ParquetField field(int position) {
      Walk walk = new Walk();
      int leaf = leaves;
      SchemaElement top = element();
      visit(walk, 0, 0);
      boolean usable = leaves == leaf + 1 && walk.leaf.isSetType();
      return usable
          ? new ParquetField(
              top.getName(),
              position,
              leaf,
              ParquetType.of(walk.leaf),
              walk.repeated,
              walk.definition,
              walk.listDefinition,
              walk.elementDefinition)
          : new ParquetField(top.getName(), position, leaf, ParquetType.NESTED, 0, 0, 0, 0);
    }

    private SchemaElement element() {
      if (next >= elements.size()) {
        throw new DataException(
            "got a schema whose groups have more children than there are" + ParquetFile.REWRITE);
      }
      SchemaElement element = elements.get(next);
      if (element.getName() == null) {
        throw new DataException("got a schema element without a name" + ParquetFile.REWRITE);
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
      if (element.getNum_children() == 0 && !element.isSetType()) {
        return; // a struct without fields has no column
      }
      if (element.getNum_children() == 0) {
        walk.leaf = element;
        walk.definition = level;
        leaves++;
        return;
      }
      if (depth == MAX_DEPTH) {
        throw new DataException(
            "got a schema nested deeper than "
                + MAX_DEPTH
                + ", expected at most that; write the file with flatter columns");
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
}
