package dev.tern.spark;

import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;

/**
 * The columns of a DataFrame that a model learns from.
 *
 * @param label numbers 0 and 1
 * @param dense numbers; null is missing
 * @param sparse whole numbers or texts, or arrays of these; null is missing
 */
record Inputs(String label, List<String> dense, List<String> sparse) implements Serializable {
  Inputs {
    dense = List.copyOf(dense);
    sparse = List.copyOf(sparse);
  }

  /** The columns as they are staged: label, numbers and values. */
  List<Column> staged(StructType schema) {
    List<Column> staged = new ArrayList<>();
    requireNumber(schema, label, "the label");
    staged.add(functions.col(quoted(label)).cast(DataTypes.FloatType).as(label));
    for (String name : dense) {
      requireNumber(schema, name, "a column of numbers");
      staged.add(functions.col(quoted(name)).cast(DataTypes.FloatType).as(name));
    }
    for (String name : sparse) {
      DataType type = type(schema, name);
      DataType to = isText(values(type, name)) ? DataTypes.StringType : DataTypes.LongType;
      DataType all = type instanceof ArrayType ? DataTypes.createArrayType(to) : to;
      Column values = functions.col(quoted(name)).cast(all);
      staged.add((type instanceof ArrayType ? functions.array_compact(values) : values).as(name));
    }
    return staged;
  }

  /** How Tern reads what was staged. */
  Columns columns(StructType schema) {
    List<SparseColumn> slots = new ArrayList<>();
    for (String name : sparse) {
      DataType type = type(schema, name);
      boolean isText = isText(values(type, name));
      String separator = type instanceof ArrayType ? SparseColumn.SEPARATOR : "";
      slots.add(new SparseColumn(name, isText, separator));
    }
    return new Columns(List.of(label), Set.of(), dense, slots);
  }

  /** A name as Spark reads it, whatever is in it. */
  static String quoted(String name) {
    return "`" + name.replace("`", "``") + "`";
  }

  private static DataType values(DataType type, String name) {
    DataType values = type instanceof ArrayType array ? array.elementType() : type;
    if (!isText(values) && !(values instanceof IntegralType)) {
      throw new IllegalArgumentException(
          "column %s: got %s, expected whole numbers, texts, or arrays of these; cast it, or name it among denseCols"
              .formatted(name, type.simpleString()));
    }
    return values;
  }

  private static boolean isText(DataType type) {
    return type instanceof StringType;
  }

  private static void requireNumber(StructType schema, String name, String what) {
    DataType type = type(schema, name);
    if (!(type instanceof NumericType) && !(type instanceof BooleanType)) {
      throw new IllegalArgumentException(
          "column %s: got %s for %s, expected numbers; cast it"
              .formatted(name, type.simpleString(), what));
    }
  }

  private static DataType type(StructType schema, String name) {
    if (!List.of(schema.fieldNames()).contains(name)) {
      throw new IllegalArgumentException(
          "column %s: got rows with the columns %s, expected it among them"
              .formatted(name, List.of(schema.fieldNames())));
    }
    return schema.apply(name).dataType();
  }
}
