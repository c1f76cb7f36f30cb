package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.data.Schema;
import dev.tern.data.Slot;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import dev.tern.data.encode.TimePart;
import dev.tern.files.Columns;
import dev.tern.files.ReadPolicy;
import dev.tern.files.SparseColumn;
import dev.tern.internal.files.TimeOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.RowGroup;

/**
 * What becomes of which columns. Each file of a data set must have the columns in types that fit.
 * What only files tell, whether a column is a list and how wide its vectors are, comes from the
 * first file that tells it: one without rows tells no width, and a column of nulls tells nothing.
 *
 * @param nulls whether nulls are missing values rather than faults
 * @param positive hashes of the texts that mean label 1
 * @param pruning which row groups are left out
 * @param largestPage bytes of a page, at most
 * @param columns that are asked for by name; none by HugeCTR's rules
 * @param orders of each slot that has the places of times or numbers in their order, by name; all
 *     files share it
 */
record ParquetPlan(
    Schema schema,
    List<Target> targets,
    boolean nulls,
    List<Long> positive,
    TextDictionary dictionary,
    ParquetPruning pruning,
    long largestPage,
    Columns columns,
    Map<String, TimeOrder> orders) {

  /** Which part of a batch. */
  enum Role {
    LABEL,
    DENSE,
    SLOT
  }

  /** What a column holds in a row; open while no file told. */
  enum Shape {
    OPEN,
    SCALAR,
    LIST
  }

  /**
   * What becomes of one column.
   *
   * @param name for messages, and to find the column unless {@code position} does
   * @param position index of the column in the file, or -1 to find it by name
   * @param index of the first label or dense number it gives, or of the slot
   * @param width numbers a row gives, 0 while no file told; 1 for slots
   * @param exact whether types must be as HugeCTR has them
   * @param shape whether it is a list
   * @param separator between the texts of one value, which are in one only where it is no list
   * @param offset added to each id
   * @param limit ids must be below, or -1
   * @param unsigned whether ids are unsigned, as the column says or a file that tells it
   */
  record Target(
      Role role,
      String name,
      int position,
      int index,
      int width,
      boolean exact,
      Shape shape,
      String separator,
      ParquetValues.Use use,
      long offset,
      long limit,
      boolean unsigned) {

    boolean list() {
      return shape == Shape.LIST;
    }

    Target resized(int index, int width, Shape shape) {
      return new Target(
          role, name, position, index, width, exact, shape, separator, use, offset, limit,
          unsigned);
    }

    /** This target, with unsigned ids if {@code field} has some. */
    Target ofSign(ParquetField field) {
      boolean ids = use == ParquetValues.Use.ID && field.kind() == ParquetType.Kind.UINT64;
      return new Target(
          role,
          name,
          position,
          index,
          width,
          exact,
          shape,
          separator,
          use,
          offset,
          limit,
          unsigned || ids);
    }
  }

  /** A plan to read what {@code policy} reads of {@code named}, by name. */
  static ParquetPlan byName(
      Columns named, ReadPolicy policy, ParquetOptions options, TextDictionary dictionary) {
    Columns columns = policy.read(named);
    List<Target> wanted = new ArrayList<>();
    for (String name : columns.labels()) {
      boolean texts = !columns.positive().isEmpty() && policy.takesTexts(name);
      ParquetValues.Use use = texts ? ParquetValues.Use.POSITIVE : ParquetValues.Use.NUMBER;
      wanted.add(number(Role.LABEL, name, -1, use));
    }
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
      wanted.add(slots.next(column, -1, false));
    }
    List<Long> positive = columns.positive().stream().map(TextHash::of).toList();
    ParquetPruning pruning = new ParquetPruning(options.ranges());
    return new ParquetPlan(
        NO_ROWS,
        wanted,
        options.nulls(),
        positive,
        dictionary,
        pruning,
        options.largestPage(),
        columns,
        wanted.stream()
            .filter(target -> target.use() == ParquetValues.Use.TIME)
            .collect(Collectors.toMap(Target::name, _ -> new TimeOrder())));
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
      wanted.add(slots.next(SparseColumn.id(nameAt(first, position)), position, true));
    }
    return new ParquetPlan(
        NO_ROWS,
        wanted,
        false,
        List.of(),
        TextDictionary.none(),
        ParquetPruning.NONE,
        options.largestPage(),
        new Columns(List.of(), Set.of(), List.of(), List.of()),
        Map.of());
  }

  private static final Schema NO_ROWS = new Schema(List.of(), List.of(), List.of());

  private static Target number(Role role, String name, int position, ParquetValues.Use use) {
    return new Target(role, name, position, 0, 0, position >= 0, Shape.OPEN, "", use, 0, -1, false);
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

    Target next(SparseColumn column, int position, boolean exact) {
      long limit = sizes.isEmpty() ? -1 : sizes.get(slot);
      ParquetValues.Use use =
          switch (column.values()) {
            case TEXT -> ParquetValues.Use.TEXT;
            case SIGNED, UNSIGNED -> ParquetValues.Use.ID;
            case TIME -> ParquetValues.Use.TIME;
            case INSTANT -> ParquetValues.Use.INSTANT;
          };
      Target target =
          new Target(
              Role.SLOT,
              column.name(),
              position,
              slot,
              1,
              exact,
              Shape.OPEN,
              column.text() ? column.separator() : "",
              use,
              offset,
              limit,
              column.values() == SparseColumn.Values.UNSIGNED);
      offset += Math.max(0, limit);
      slot++;
      return target;
    }
  }

  private static String nameAt(ParquetFile file, int position) {
    if (position >= file.schema().columns().size()) {
      throw new DataException(
          file.path()
              + ": got "
              + file.schema().columns().size()
              + " columns, expected one of index "
              + position
              + " by _metadata.json; mend the index");
    }
    return file.schema().columns().get(position).name();
  }

  /** This plan with what {@code file} tells of that which is open; checks its columns. */
  ParquetPlan settledBy(ParquetFile file) {
    return with(schema, targets.stream().map(target -> settledBy(file, target)).toList());
  }

  private Target settledBy(ParquetFile file, Target target) {
    if (ParquetConstant.isIn(file, target)) {
      return target.resized(
          target.index(),
          Math.max(1, target.width()),
          target.shape() == Shape.OPEN ? Shape.SCALAR : target.shape());
    }
    ParquetField field = field(file, target);
    if (tellsNothing(field)) {
      return target;
    }
    requireWholeTexts(file, field, target);
    Target shaped =
        target
            .resized(target.index(), target.width(), field.list() ? Shape.LIST : Shape.SCALAR)
            .ofSign(field);
    return target.width() > 0
        ? shaped
        : shaped.resized(
            target.index(), new ParquetFeature(file, this, shaped).firstWidth(), shaped.shape());
  }

  /** A column of nulls may be of any type in other files. */
  static boolean tellsNothing(ParquetField field) {
    return field.kind() == ParquetType.Kind.NULL && !field.list();
  }

  /**
   * Parquet has lists for many values; texts to be split are no use of it that can be decoded once.
   */
  private static void requireWholeTexts(ParquetFile file, ParquetField field, Target target) {
    if (!target.separator().isEmpty() && !field.list()) {
      throw new DataException(
          file.path()
              + ": column "
              + target.name()
              + ": got "
              + field.described()
              + ", expected a LIST for a column with separator \""
              + target.separator()
              + "\"; drop the separator, or split the texts into lists");
    }
  }

  /**
   * Ids in the lists of a row, on average over that row group of {@code file} in which there are
   * most.
   */
  long idsOfRow(ParquetFile file) {
    List<ParquetField> lists =
        targets.stream()
            .filter(target -> target.role() == Role.SLOT && !ParquetConstant.isIn(file, target))
            .map(target -> field(file, target))
            .filter(ParquetField::list)
            .toList();
    long most = 0;
    for (RowGroup group : file.rowGroups()) {
      double ids = 0;
      for (ParquetField list : lists) {
        ColumnMetaData chunk = group.getColumns().get(list.leaf()).getMeta_data();
        ids += chunk == null ? 0 : Math.max(0, chunk.getNum_values());
      }
      most = Math.max(most, (long) (ids / Math.max(1, group.getNum_rows())));
    }
    return most;
  }

  /** This plan after all files, with the schema that it comes to. */
  ParquetPlan settled() {
    List<String> labels = new ArrayList<>();
    List<String> dense = new ArrayList<>();
    List<Slot> slots = new ArrayList<>();
    List<Target> settled = new ArrayList<>();
    for (Target open : targets) {
      Target target =
          open.resized(
              open.index(),
              Math.max(1, open.width()),
              open.shape() == Shape.OPEN ? Shape.SCALAR : open.shape());
      if (open.role() == Role.SLOT) {
        boolean one = !target.list() && (open.use() == ParquetValues.Use.TEXT || open.exact());
        Slot slot = one ? Slot.oneHot(open.name()) : Slot.ragged(open.name());
        slots.add(slot.withUnsigned(open.unsigned()));
      } else {
        List<String> names = open.role() == Role.LABEL ? labels : dense;
        target = target.resized(names.size(), target.width(), target.shape());
        for (int part = 0; part < target.width(); part++) {
          names.add(target.list() ? open.name() + "[" + part + "]" : open.name());
        }
      }
      settled.add(target);
    }
    try {
      return with(new Schema(labels, dense, slots), settled);
    } catch (IllegalArgumentException e) {
      throw new DataException("parquet: " + e.getMessage(), e);
    }
  }

  private ParquetPlan with(Schema schema, List<Target> targets) {
    return new ParquetPlan(
        schema, targets, nulls, positive, dictionary, pruning, largestPage, columns, orders);
  }

  /** The column of {@code file} that {@code target} means, in a type that fits. */
  ParquetField field(ParquetFile file, Target target) {
    ParquetField field = find(file, target);
    boolean open = target.shape() == Shape.OPEN || tellsNothing(field);
    if (!open && field.list() != target.list()) {
      throw new DataException(
          file.path()
              + ": column "
              + target.name()
              + ": got "
              + field.described()
              + ", expected "
              + (target.list() ? "a LIST" : "no LIST")
              + " as in the first file that tells; write all files with one schema");
    }
    return field;
  }

  /** The column that {@code target} means, in a type that becomes what is asked for. */
  static ParquetField find(ParquetFile file, Target target) {
    ParquetField field = target.position() < 0 ? named(file, target) : at(file, target);
    if (!fits(field, target)) {
      throw new DataException(
          file.path()
              + ": column "
              + target.name()
              + ": got "
              + field.described()
              + ", expected "
              + expected(file, field, target));
    }
    return field;
  }

  private static ParquetField at(ParquetFile file, Target target) {
    nameAt(file, target.position());
    return file.schema().columns().get(target.position());
  }

  private static ParquetField named(ParquetFile file, Target target) {
    String name =
        target.use() == ParquetValues.Use.TIME
            ? new SparseColumn(target.name(), SparseColumn.Values.TIME, "").timeSource()
            : target.name();
    List<ParquetField> found = file.schema().called(name);
    if (found.isEmpty() && TimePart.of(name).isPresent()) {
      found = file.schema().called(TimePart.source(name));
    }
    if (found.size() != 1) {
      throw new DataException(
          file.path()
              + ": got "
              + (found.isEmpty() ? "no" : Integer.toString(found.size()))
              + " column "
              + name
              + ", expected one among "
              + Shown.list(file.schema().readable().stream().map(ParquetField::name).toList())
              + "; check its name");
    }
    return found.getFirst();
  }

  /** The part of the times in {@code field} that {@code target} wants, if not all of them. */
  static Optional<TimePart> part(ParquetField field, Target target) {
    boolean whole = target.position() >= 0 || target.use() == ParquetValues.Use.TIME;
    return whole || field.name().equals(target.name())
        ? Optional.empty()
        : TimePart.of(target.name());
  }

  private static boolean fits(ParquetField field, Target target) {
    ParquetType.Kind kind = field.kind();
    Optional<TimePart> part = part(field, target);
    if (part.isPresent()) {
      return fitsTime(kind) && (kind != ParquetType.Kind.TIME || part.get() == TimePart.HOUR);
    }
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
      case TIME, INSTANT -> fitsTime(kind);
    };
  }

  private static boolean fitsTime(ParquetType.Kind kind) {
    return switch (kind) {
      case OTHER, UUID, BYTES, BOOLEAN -> false;
      default -> true;
    };
  }

  private static String expected(ParquetFile file, ParquetField field, Target target) {
    if (target.exact()) {
      return target.role() == Role.SLOT
          ? "INT32 or INT64, or a LIST of them, as HugeCTR's keys are; write the file again"
          : "FLOAT, or a LIST of it, as HugeCTR's labels and dense numbers are; cast the column";
    }
    List<ParquetField> parts = file.schema().parts(field);
    if (field.kind() == ParquetType.Kind.OTHER && !parts.isEmpty()) {
      return "a column of one value or LIST a row; name a part of it, as in "
          + parts.getFirst().name();
    }
    if (field.kind() == ParquetType.Kind.OTHER) {
      return "a column of one value or LIST a row, of a type that is read; pick a part of it when"
          + " you write the file";
    }
    if (part(field, target).isPresent()) {
      return "days or times; name another column";
    }
    return switch (target.use()) {
      case NUMBER ->
          "a number or time; "
              + (target.role() == Role.LABEL
                  ? "name the texts that mean 1"
                  : "cast the column, or make it sparse");
      case POSITIVE, TEXT -> "text, or what has a text; cast the column";
      case ID -> "whole numbers, or a LIST of them; encode the column as text";
      case TIME, INSTANT -> "a time or number; name another column";
    };
  }
}
