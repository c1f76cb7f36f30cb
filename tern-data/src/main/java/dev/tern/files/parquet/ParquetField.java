package dev.tern.files.parquet;

/**
 * A column of a Parquet file: a scalar, a list of scalars, or lists of such lists. It is a
 * top-level column, or one leaf of one. A top-level column of more than one leaf is {@link
 * ParquetType#NESTED} and cannot be read as a whole.
 *
 * @param name as users name it; of a leaf of a nested column dotted, as in {@code a.b}
 * @param position index of the top-level column
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

  /** Whether a row holds any number of values. */
  boolean list() {
    return lists > 0;
  }

  ParquetField withName(String name) {
    return new ParquetField(
        name, position, leaf, type, lists, maxDefinition, listDefinition, elementDefinition);
  }

  ParquetType.Kind kind() {
    return type.kind();
  }

  /** The type in words, for messages. */
  String described() {
    return "LIST of ".repeat(lists) + type.described();
  }
}
