package dev.tern.files.parquet;

import dev.tern.base.DataException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.parquet.format.ConvertedType;
import org.apache.parquet.format.FieldRepetitionType;
import org.apache.parquet.format.LogicalType;
import org.apache.parquet.format.SchemaElement;

/**
 * The columns of a file, from the flattened tree in its footer. A leaf of a nested column has a
 * dotted name: {@code a.b} is field {@code b} of struct {@code a}, {@code m.key} and {@code
 * m.value} are the lists of keys and values of map {@code m}, and {@code items.id} is the list of
 * the fields {@code id} of a list of structs. Groups that only make up a list or map have no name.
 */
final class ParquetSchema {
  private static final int MAX_DEPTH = 64;
  private static final int MAX_NAMES = 1 << 26;

  private final List<SchemaElement> elements;
  private final List<ParquetField> columns = new ArrayList<>();
  private final List<ParquetField> parts = new ArrayList<>();
  private final List<ParquetField> readable = new ArrayList<>();
  private final List<ParquetField> all = new ArrayList<>();

  /** Leaves of the column at hand. */
  private final List<ParquetField> found = new ArrayList<>();

  private int next = 1;
  private int leaves;
  private long nameLength;

  /** How an element enters the names of the leaves below it. */
  private enum Naming {
    /** By its own name. */
    NAMED,
    /** Not at all: it makes up a list or map. */
    UNNAMED,
    /** As the keys of a map, whatever its name. */
    KEY,
    /** As the values of a map, whatever its name. */
    VALUE
  }

  /**
   * What is above an element.
   *
   * @param repeated how many lists are within one another so far
   * @param listDefinition as of {@link ParquetField}
   * @param elementDefinition as of {@link ParquetField}
   */
  private record Above(
      String name,
      int depth,
      int definition,
      int repeated,
      int listDefinition,
      int elementDefinition) {

    Above below(String name, FieldRepetitionType repetition) {
      if (repetition == FieldRepetitionType.REPEATED) {
        int level = definition + 1;
        int outermost = repeated == 0 ? level : listDefinition;
        return new Above(name, depth + 1, level, repeated + 1, outermost, level);
      }
      int level = definition + (repetition == FieldRepetitionType.OPTIONAL ? 1 : 0);
      return new Above(name, depth + 1, level, repeated, listDefinition, elementDefinition);
    }
  }

  private ParquetSchema(List<SchemaElement> elements) {
    this.elements = elements;
  }

  static ParquetSchema of(List<SchemaElement> elements) {
    ParquetSchema schema = new ParquetSchema(elements);
    schema.parse();
    return schema;
  }

  /** The top-level columns, by position. */
  List<ParquetField> columns() {
    return columns;
  }

  /** All leaves, one for each column chunk of a row group; nested ones have dotted names. */
  List<ParquetField> leaves() {
    return all;
  }

  /** The top-level columns of that name; where there is none, the leaves of that dotted name. */
  List<ParquetField> called(String name) {
    List<ParquetField> found = named(columns, name);
    return found.isEmpty() ? named(parts, name) : found;
  }

  private static List<ParquetField> named(List<ParquetField> fields, String name) {
    return fields.stream().filter(field -> field.name().equals(name)).toList();
  }

  /** What can be read: of a nested column its leaves, where it has some. */
  List<ParquetField> readable() {
    return readable;
  }

  /** The leaves of a column that have dotted names. */
  List<ParquetField> parts(ParquetField column) {
    return parts.stream().filter(part -> part.position() == column.position()).toList();
  }

  private void parse() {
    if (elements.isEmpty()) {
      throw new DataException("got a schema without a root" + ParquetFile.REWRITE);
    }
    int count = elements.get(0).getNum_children();
    for (int position = 0; position < count; position++) {
      addColumn();
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
  }

  private void addColumn() {
    String name = element().getName();
    found.clear();
    visit(new Above("", 0, 0, 0, 0, 0), Naming.NAMED);
    all.addAll(found);
    found.stream().filter(field -> !field.name().equals(name)).forEach(parts::add);
    if (found.size() == 1) {
      columns.add(found.getFirst().withName(name));
      readable.add(columns.getLast());
    } else {
      columns.add(new ParquetField(name, columns.size(), leaves, ParquetType.NESTED, 0, 0, 0, 0));
      readable.addAll(found.isEmpty() ? List.of(columns.getLast()) : found);
    }
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

  /** Visits the element at {@code next} and all below it; its leaves go to {@link #found}. */
  private void visit(Above above, Naming naming) {
    SchemaElement element = element();
    next++;
    int children = element.getNum_children();
    if (children == 0 && !element.isSetType()) {
      return; // a struct without fields has no column
    }
    Above here = above.below(name(above, element, naming), element.getRepetition_type());
    if (children == 0) {
      found.add(
          new ParquetField(
              here.name(),
              columns.size(),
              leaves,
              ParquetType.of(element),
              here.repeated(),
              here.definition(),
              here.listDefinition(),
              here.elementDefinition()));
      leaves++;
      return;
    }
    if (above.depth() >= MAX_DEPTH) {
      throw new DataException(
          "got a schema nested deeper than "
              + MAX_DEPTH
              + ", expected at most that; write the file with flatter columns");
    }
    if (isWrapper(element)) {
      visitContent(element, here);
    } else {
      visitChildren(children, here, Naming.NAMED, Naming.NAMED);
    }
  }

  private void visitChildren(int count, Above here, Naming first, Naming others) {
    for (int child = 0; child < count; child++) {
      visit(here, child == 0 ? first : others);
    }
  }

  /**
   * Whether {@code element}, just taken, is a list or map: one repeated child holds what is in it.
   */
  private boolean isWrapper(SchemaElement element) {
    return (isList(element) || isMap(element))
        && element.getNum_children() == 1
        && element().getRepetition_type() == FieldRepetitionType.REPEATED;
  }

  /**
   * Visits what {@code wrapper} holds. The format's rules of older lists say whether the repeated
   * child of a list is an element, or holds it.
   */
  private void visitContent(SchemaElement wrapper, Above above) {
    SchemaElement repeated = element();
    int children = repeated.getNum_children();
    if (children < 1) {
      visit(above, Naming.UNNAMED);
      return;
    }
    next++;
    Above here = above.below(above.name(), FieldRepetitionType.REPEATED);
    boolean element =
        children > 1
            || repeated.getName().equals("array")
            || repeated.getName().equals(wrapper.getName() + "_tuple");
    if (isMap(wrapper)) {
      visitChildren(children, here, Naming.KEY, Naming.VALUE);
    } else if (element) {
      visitChildren(children, here, Naming.NAMED, Naming.NAMED);
    } else {
      visit(here, Naming.UNNAMED);
    }
  }

  private String name(Above above, SchemaElement element, Naming naming) {
    String own =
        switch (naming) {
          case NAMED -> element.getName();
          case UNNAMED -> "";
          case KEY -> "key";
          case VALUE -> "value";
        };
    if (naming == Naming.UNNAMED || above.depth() == 0) {
      return above.depth() == 0 ? own : above.name();
    }
    nameLength += above.name().length() + 1L + own.length();
    if (nameLength > MAX_NAMES) {
      throw new DataException(
          "got a schema whose nested columns have names of more than "
              + MAX_NAMES
              + " characters in all, expected at most that; write the file with flatter columns");
    }
    return above.name() + "." + own;
  }

  private static boolean isList(SchemaElement element) {
    return logical(element)
        .map(LogicalType::isSetLIST)
        .orElseGet(() -> element.getConverted_type() == ConvertedType.LIST);
  }

  private static boolean isMap(SchemaElement element) {
    return logical(element)
        .map(LogicalType::isSetMAP)
        .orElseGet(() ->
            element.getConverted_type() == ConvertedType.MAP
                || element.getConverted_type() == ConvertedType.MAP_KEY_VALUE);
  }

  private static Optional<LogicalType> logical(SchemaElement element) {
    return Optional.ofNullable(element.getLogicalType()).filter(LogicalType::isSet);
  }
}
