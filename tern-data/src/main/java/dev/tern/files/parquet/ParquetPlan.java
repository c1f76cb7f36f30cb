package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import dev.tern.files.Columns;
import dev.tern.files.SparseColumn;
import java.util.ArrayList;
import java.util.List;

/**
 * What becomes of which columns, settled on the first file of a data set; every other file must
 * have the same columns in types that fit.
 *
 * @param nulls whether nulls are missing values rather than faults
 * @param positive hashes of the texts that mean label 1
 * @param pruning which row groups are left out
 */
record ParquetPlan(
    Schema schema,
    List<Target> targets,
    boolean nulls,
    List<Long> positive,
    TextDictionary dictionary,
    ParquetPruning pruning) {

  /** Which part of a batch. */
  enum Role {
    LABEL,
    DENSE,
    SLOT
  }

  /**
   * What becomes of one column.
   *
   * @param name for messages, and to find the column unless {@code position} does
   * @param position index of the column in the file, or -1 to find it by name
   * @param index of the first label or dense number it gives, or of the slot
   * @param width numbers a row gives; 1 for slots
   * @param exact whether types must be as HugeCTR has them
   * @param list whether it is a list in the first file
   * @param offset added to each id
   * @param limit ids must be below, or -1
   */
  record Target(
      Role role,
      String name,
      int position,
      int index,
      int width,
      boolean exact,
      boolean list,
      ParquetValues.Use use,
      long offset,
      long limit) {

    Target resized(int index, int width, boolean list) {
      return new Target(role, name, position, index, width, exact, list, use, offset, limit);
    }
  }

  /** A plan to read {@code columns} by name. */
  static ParquetPlan byName(
      ParquetFile first, Columns columns, ParquetOptions options, TextDictionary dictionary) {
    List<Target> wanted = new ArrayList<>();
    ParquetValues.Use label =
        columns.positive().isEmpty() ? ParquetValues.Use.NUMBER : ParquetValues.Use.POSITIVE;
    columns.labels().forEach(name -> wanted.add(number(Role.LABEL, name, -1, label)));
    columns
        .dense()
        .forEach(name -> wanted.add(number(Role.DENSE, name, -1, ParquetValues.Use.NUMBER)));
    Slots slots = new Slots(options.slotSizes(), columns.sparse().size());
    for (SparseColumn column : columns.sparse()) {
      if (column.text() && !options.slotSizes().isEmpty()) {
        throw new IllegalArgumentException(
            "parquet: got slot sizes for the text column "
                + column.name()
                + ", expected id columns only; leave out the sizes");
      }
      wanted.add(slots.next(column.name(), -1, column.text(), false));
    }
    requireWholeTexts(first, columns);
    List<Long> positive = columns.positive().stream().map(TextHash::of).toList();
    ParquetPruning pruning = new ParquetPruning(options.ranges());
    return new ParquetPlan(NO_ROWS, wanted, options.nulls(), positive, dictionary, pruning)
        .settle(first);
  }

  /** A plan to read what {@code metadata} names, as HugeCTR does. */
  static ParquetPlan hugeCtr(ParquetFile first, ParquetMetadata metadata, ParquetOptions options) {
    List<Target> wanted = new ArrayList<>();
    ParquetValues.Use number = ParquetValues.Use.NUMBER;
    for (int position : metadata.labels()) {
      wanted.add(number(Role.LABEL, nameAt(first, position), position, number));
    }
    for (int position : metadata.conts()) {
      wanted.add(number(Role.DENSE, nameAt(first, position), position, number));
    }
    Slots slots = new Slots(options.slotSizes(), metadata.cats().size());
    for (int position : metadata.cats()) {
      wanted.add(slots.next(nameAt(first, position), position, false, true));
    }
    return new ParquetPlan(
            NO_ROWS, wanted, false, List.of(), TextDictionary.none(), ParquetPruning.NONE)
        .settle(first);
  }

  private static final Schema NO_ROWS = new Schema(List.of(), List.of(), List.of());

  private static Target number(Role role, String name, int position, ParquetValues.Use use) {
    return new Target(role, name, position, 0, 1, position >= 0, false, use, 0, -1);
  }

  /** Slots in order, each with its part of the ids. */
  private static final class Slots {
    private final List<Long> sizes;
    private int slot;
    private long offset;

    Slots(List<Long> sizes, int slots) {
      this.sizes = sizes;
      if (!sizes.isEmpty() && sizes.size() != slots) {
        throw new IllegalArgumentException(
            "parquet: got " + sizes.size() + " slot sizes, expected one for each of " + slots);
      }
    }

    Target next(String name, int position, boolean text, boolean exact) {
      long limit = sizes.isEmpty() ? -1 : sizes.get(slot);
      ParquetValues.Use use = text ? ParquetValues.Use.TEXT : ParquetValues.Use.ID;
      Target target =
          new Target(Role.SLOT, name, position, slot, 1, exact, false, use, offset, limit);
      offset += Math.max(0, limit);
      slot++;
      return target;
    }
  }

  /**
   * Parquet has lists for many values; texts to be split are no use of it that can be decoded once.
   */
  private static void requireWholeTexts(ParquetFile first, Columns columns) {
    for (SparseColumn column : columns.sparse()) {
      for (ParquetField field : first.fields()) {
        boolean split = column.text() && !column.separator().isEmpty();
        if (split && field.name().equals(column.name()) && !field.list()) {
          throw new DataException(
              first.path()
                  + ": column "
                  + column.name()
                  + ": got "
                  + field.described()
                  + ", expected a LIST for a column with separator \""
                  + column.separator()
                  + "\"; drop the separator, or split the texts into lists");
        }
      }
    }
  }

  private static String nameAt(ParquetFile file, int position) {
    if (position >= file.fields().size()) {
      throw new DataException(
          file.path()
              + ": got "
              + file.fields().size()
              + " columns, expected one of index "
              + position
              + " by _metadata.json; mend the index");
    }
    return file.fields().get(position).name();
  }

  /** Fills in what only the first file tells: lists, the widths of vectors, and so the schema. */
  private ParquetPlan settle(ParquetFile first) {
    List<String> labels = new ArrayList<>();
    List<String> dense = new ArrayList<>();
    List<Slot> slots = new ArrayList<>();
    List<Target> settled = new ArrayList<>();
    for (Target wanted : targets) {
      boolean list = find(first, wanted).list();
      Target target = wanted.resized(wanted.index(), 1, list);
      if (wanted.role() == Role.SLOT) {
        boolean one = !list && (wanted.use() == ParquetValues.Use.TEXT || wanted.exact());
        slots.add(one ? Slot.oneHot(wanted.name()) : Slot.ragged(wanted.name()));
      } else {
        List<String> names = wanted.role() == Role.LABEL ? labels : dense;
        int width = new ParquetFeature(first, this, target).widthOfFirstRow();
        target = target.resized(names.size(), width, list);
        for (int part = 0; part < width; part++) {
          names.add(list ? wanted.name() + "[" + part + "]" : wanted.name());
        }
      }
      settled.add(target);
    }
    try {
      return new ParquetPlan(
          new Schema(labels, dense, slots), settled, nulls, positive, dictionary, pruning);
    } catch (IllegalArgumentException e) {
      throw new DataException(first.path() + ": " + e.getMessage(), e);
    }
  }

  /** Says so if {@code file} lacks a column, or has one of a type that does not fit. */
  void requireFields(ParquetFile file) {
    targets.forEach(target -> field(file, target));
  }

  /** The column of {@code file} that {@code target} means, in a type that fits. */
  ParquetField field(ParquetFile file, Target target) {
    ParquetField field = find(file, target);
    if (field.list() != target.list()) {
      throw new DataException(
          file.path()
              + ": column "
              + target.name()
              + ": got "
              + field.described()
              + ", expected "
              + (target.list() ? "a LIST" : "no LIST")
              + " as in the first file; write all files with one schema");
    }
    return field;
  }

  private static ParquetField find(ParquetFile file, Target target) {
    ParquetField field = target.position() < 0 ? named(file, target.name()) : at(file, target);
    if (!fits(field, target)) {
      throw new DataException(
          file.path()
              + ": column "
              + target.name()
              + ": got "
              + field.described()
              + ", expected "
              + expected(field, target));
    }
    return field;
  }

  private static ParquetField at(ParquetFile file, Target target) {
    nameAt(file, target.position());
    return file.fields().get(target.position());
  }

  private static ParquetField named(ParquetFile file, String name) {
    List<ParquetField> found =
        file.fields().stream().filter(field -> field.name().equals(name)).toList();
    if (found.size() != 1) {
      throw new DataException(
          file.path()
              + ": got "
              + (found.isEmpty() ? "no" : Integer.toString(found.size()))
              + " column "
              + name
              + ", expected one among "
              + file.fields().stream().map(ParquetField::name).limit(100).toList()
              + "; check its name");
    }
    return found.getFirst();
  }

  private static boolean fits(ParquetField field, Target target) {
    ParquetType.Kind kind = field.kind();
    if (target.exact()) {
      return target.role() == Role.SLOT ? kind.isInteger() : kind == ParquetType.Kind.FLOAT;
    }
    boolean bytes = kind == ParquetType.Kind.UUID || kind == ParquetType.Kind.BYTES;
    boolean text = kind == ParquetType.Kind.TEXT;
    boolean readable = kind != ParquetType.Kind.OTHER;
    return switch (target.use()) {
      case NUMBER -> readable && !text && !bytes;
      case POSITIVE, TEXT -> readable;
      case ID -> readable && !text;
      case TIME -> readable && !text && !bytes && kind != ParquetType.Kind.BOOLEAN;
    };
  }

  private static String expected(ParquetField field, Target target) {
    if (target.exact()) {
      return target.role() == Role.SLOT
          ? "INT32 or INT64, or a LIST of them, as HugeCTR's keys are; write the file again"
          : "FLOAT, or a LIST of it, as HugeCTR's labels and dense numbers are; cast the column";
    }
    if (field.kind() == ParquetType.Kind.OTHER) {
      return "a column of one value or LIST a row, of a type that is read; pick a part of it when"
          + " you write the file";
    }
    return switch (target.use()) {
      case NUMBER ->
          "a number or time; "
              + (target.role() == Role.LABEL
                  ? "name the texts that mean 1"
                  : "cast the column, or make it sparse");
      case POSITIVE, TEXT -> "text, or what has a text; cast the column";
      case ID -> "whole numbers, or a LIST of them; encode the column as text";
      case TIME -> "a time or number; name another column";
    };
  }
}
