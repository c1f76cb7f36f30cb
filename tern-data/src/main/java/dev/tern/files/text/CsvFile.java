package dev.tern.files.text;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.data.Batch;
import dev.tern.data.encode.TextDictionary;
import dev.tern.data.encode.TextHash;
import dev.tern.data.encode.TimeParser;
import dev.tern.data.encode.TimePart;
import dev.tern.files.Columns;
import dev.tern.files.FileColumn;
import dev.tern.files.KeptTexts;
import dev.tern.files.ReadPolicy;
import dev.tern.files.SparseColumn;
import dev.tern.internal.files.HivePath;
import dev.tern.internal.files.NumberParser;
import dev.tern.internal.files.RowSource;
import dev.tern.internal.files.TimeOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** The rows of one CSV file: which field goes where, and text into numbers and ids. */
final class CsvFile implements RowSource {
  private final Path file;
  private final CsvInput input;
  private final ReadPolicy policy;
  private final TextDictionary dictionary;
  private final NumberParser numbers = new NumberParser();

  /** What files often hold where a number is missing, in small letters. */
  private static final Set<String> MISSING =
      Set.of(
          "na", "n/a", "#n/a", "null", "none", "nil", "\\n", "-", "--", ".", "?", "missing",
          "unknown");

  private static final Pattern DECIMAL_COMMA = Pattern.compile("[+-]?[0-9][0-9., ]*,[0-9]+");

  private final int width;
  private final Columns columns;

  /** Labels that the file itself has, and the field of each. */
  private final int[] labelColumns;

  private final int[] labelFields;

  /** What each label may be. */
  private final ReadPolicy.Labels[] values;

  /** The columns that the file has in the names of its folders. */
  private final CsvPartition partition;

  /** Dense columns but times, and the field of each. */
  private final int[] denseColumns;

  private final int[] denseFields;

  /** Slots but times, and the field of each. */
  private final int[] plainSlots;

  private final int[] sparseFields;
  private final List<CsvTimes.Column> timeColumns = new ArrayList<>();
  private final CsvTimes times;
  private final byte[][] positive;
  private final byte[][] missing;
  private final byte[][] separators;
  private final boolean[] texts;
  private final boolean[] unsigned;
  private final CsvHeader header;
  private Optional<KeptTexts> kept = Optional.empty();

  /** The field of each kept column, -1 where a folder holds it, and then its text. */
  private int[] keptFields = {};

  private byte[][] keptTexts = {};
  private final int witness;
  private final byte[] witnessName;
  private byte[] unescaped = new byte[256];

  private CsvFile(
      Path file,
      CsvInput input,
      CsvOptions options,
      Columns columns,
      ReadPolicy policy,
      TextDictionary dictionary,
      TimeOrder order) {
    this.file = file;
    this.input = input;
    this.columns = columns;
    this.policy = policy;
    this.dictionary = dictionary;
    header = CsvHeader.of(file, input, options);
    width = header.width();
    partition = new CsvPartition(HivePath.of(file), header.names(), columns, policy, dictionary);
    values = policy.labels(columns.labels());
    labelColumns =
        IntStream.range(0, columns.labels().size())
            .filter(i -> !partition.has(columns.labels().get(i)))
            .toArray();
    labelFields = header.find(IntStream.of(labelColumns).mapToObj(columns.labels()::get).toList());
    times = new CsvTimes(input, order, dictionary);
    findTimes();
    denseColumns = plain(columns.dense().size(), false);
    denseFields = header.find(IntStream.of(denseColumns).mapToObj(columns.dense()::get).toList());
    plainSlots = plain(columns.sparse().size(), true);
    sparseFields =
        header.find(
            IntStream.of(plainSlots).mapToObj(slot -> columns.sparse().get(slot).name()).toList());
    positive = utf8(columns.positive());
    missing = utf8(columns.missing());
    texts = new boolean[columns.sparse().size()];
    unsigned = new boolean[texts.length];
    for (int slot = 0; slot < texts.length; slot++) {
      texts[slot] = columns.sparse().get(slot).text();
      unsigned[slot] = columns.sparse().get(slot).values() == SparseColumn.Values.UNSIGNED;
    }
    witness = witness();
    witnessName = witness < 0 ? new byte[0] : utf8(header.names().get(witness));
    separators = columns.sparse().stream().map(c -> utf8(c.separator())).toArray(byte[][]::new);
  }

  /**
   * A label of text, by which a line of names may be told from a row where no number would be bad
   * in it; -1 for none.
   */
  private int witness() {
    for (int i = 0; i < labelFields.length && positive.length > 0; i++) {
      if (policy.takesTexts(columns.labels().get(labelColumns[i]))) {
        return labelFields[i];
      }
    }
    return -1;
  }

  /** Whether the field {@link #witness} holds the name of its column. */
  private boolean isName() {
    return Arrays.equals(
        input.bytes(),
        input.start(witness),
        input.end(witness),
        witnessName,
        0,
        witnessName.length);
  }

  static CsvFile open(
      Path file,
      CsvOptions options,
      Columns columns,
      ReadPolicy policy,
      TextDictionary dictionary,
      TimeOrder order) {
    CsvInput input = CsvInput.open(file, options);
    try {
      return new CsvFile(file, input, options, columns, policy, dictionary, order);
    } catch (RuntimeException e) {
      input.close();
      throw e;
    }
  }

  /** Appends the texts of each row to {@code texts}, too. */
  CsvFile keep(KeptTexts texts) {
    try {
      List<String> inFile = texts.columns().stream().filter(c -> !partition.has(c)).toList();
      int[] fields = header.find(inFile);
      keptFields =
          texts.columns().stream()
              .mapToInt(c -> partition.has(c) ? -1 : fields[inFile.indexOf(c)])
              .toArray();
      keptTexts =
          texts.columns().stream()
              .map(c -> utf8(partition.has(c) ? partition.text(c) : ""))
              .toArray(byte[][]::new);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
    kept = Optional.of(texts);
    return this;
  }

  CsvInput input() {
    return input;
  }

  /** The names of the columns, in order. */
  List<String> header() {
    return header.names();
  }

  /** The columns of {@code file}, with what the first row holds if it is sound. */
  static List<FileColumn> columns(Path file, CsvOptions options) {
    try (CsvInput input = CsvInput.open(file, options)) {
      List<String> header = CsvHeader.of(file, input, options).names();
      boolean row = input.next() && input.problem().isEmpty() && input.fields() == header.size();
      List<FileColumn> columns = new ArrayList<>();
      for (int i = 0; i < header.size(); i++) {
        columns.add(new FileColumn(header.get(i), row ? Shown.excerpt(input.text(i)) : ""));
      }
      HivePath path = HivePath.of(file);
      for (String name : path.columns()) {
        if (!header.contains(name)) {
          columns.add(new FileColumn(name, Shown.excerpt(path.text(name))));
        }
      }
      return columns;
    }
  }

  static byte[][] utf8(Collection<String> texts) {
    return texts.stream().map(CsvFile::utf8).toArray(byte[][]::new);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Notes which columns are times or parts of them, and where. */
  private void findTimes() {
    for (int i = 0; i < columns.dense().size(); i++) {
      String name = columns.dense().get(i);
      Optional<TimePart> part = header.has(name) ? Optional.empty() : TimePart.of(name);
      if (part.isPresent() && !partition.has(name)) {
        int field = header.find(List.of(TimePart.source(name)))[0];
        timeColumns.add(
            new CsvTimes.Column(name, field, part, false, i, SparseColumn.Values.SIGNED));
      }
    }
    for (int i = 0; i < columns.sparse().size(); i++) {
      SparseColumn slot = columns.sparse().get(i);
      String name = slot.name();
      boolean order = slot.values() == SparseColumn.Values.TIME;
      Optional<TimePart> part = order || header.has(name) ? Optional.empty() : TimePart.of(name);
      if (order || part.isPresent() && !partition.has(name)) {
        String source = order ? slot.timeSource() : TimePart.source(name);
        int field = header.find(List.of(source))[0];
        String shown = order ? source : name;
        timeColumns.add(new CsvTimes.Column(shown, field, part, true, i, slot.values()));
      }
    }
  }

  /** Those of {@code count} slots or dense columns that are no times and in fields of the file. */
  private int[] plain(int count, boolean slots) {
    return IntStream.range(0, count)
        .filter(
            i -> !partition.has(slots ? columns.sparse().get(i).name() : columns.dense().get(i)))
        .filter(i -> timeColumns.stream().noneMatch(c -> c.slot() == slots && c.index() == i))
        .toArray();
  }

  @Override
  public void fill(Batch batch, int limit) {
    while (batch.size() < limit && input.next()) {
      try {
        readRow(batch);
        batch.endRow();
        if (kept.isPresent()) {
          keepRow(kept.get());
        }
        if (input.lastLine() > input.line()) {
          policy.faults().tookLines(file, input.line(), input.lastLine());
        }
      } catch (DataException e) {
        batch.abandonRow();
        policy.faults().report(header.told(e, input));
      }
    }
  }

  private void readRow(Batch batch) {
    if (!input.problem().isEmpty()) {
      throw badNotation();
    }
    if (input.fields() != width) {
      throw header.badWidth(input);
    }
    if (witness >= 0 && isName() && header.isIn(input)) {
      throw header.again(input);
    }
    for (int i = 0; i < labelFields.length; i++) {
      int column = labelColumns[i];
      batch.setLabel(column, label(labelFields[i], column));
    }
    for (int i = 0; i < denseFields.length; i++) {
      int column = denseColumns[i];
      batch.setDense(column, dense(denseFields[i], column));
    }
    for (int i = 0; i < sparseFields.length; i++) {
      addIds(batch, plainSlots[i], sparseFields[i]);
    }
    if (!timeColumns.isEmpty()) {
      addTimes(batch);
    }
    if (!partition.isEmpty()) {
      partition.addTo(batch);
    }
  }

  private DataException badNotation() {
    return new DataException(input.where(input.problemAt()) + ": " + input.problem())
        .losing(input.lines());
  }

  private void addTimes(Batch batch) {
    for (CsvTimes.Column column : timeColumns) {
      int from = input.start(column.field());
      int to = input.end(column.field());
      times.read(batch, column, from == to || isMissing(from, to));
    }
  }

  private void keepRow(KeptTexts texts) {
    for (int i = 0; i < keptFields.length; i++) {
      int field = keptFields[i];
      if (field < 0) {
        texts.add(keptTexts[i], 0, keptTexts[i].length, false);
        continue;
      }
      int from = input.start(field);
      int to = input.end(field);
      if (input.escaped(field)) {
        int length = unescape(from, to);
        texts.add(unescaped, 0, length, true);
      } else if (input.isQuoted(field)) {
        texts.add(input.bytes(), from, to, true);
      } else {
        texts.add(input.bytes(), input.outerStart(field), input.outerEnd(field), false);
      }
    }
  }

  private float label(int field, int column) {
    int from = input.start(field);
    int to = input.end(field);
    ReadPolicy.Labels may = values[column];
    if (may.optional() && (from == to || isMissing(from, to))) {
      return Float.NaN;
    }
    if (isMissing(from, to)) {
      throw new DataException(
          "%s: got %s, which says that the %s is missing, expected a %s; leave the row out"
              .formatted(
                  where(field, columns.labels().get(column)),
                  shown(from, to),
                  may.noun(),
                  may.noun()));
    }
    if (from == to && !input.isQuoted(field)) {
      throw new DataException(
          "%s: got no %s, expected one; mend the row or leave it out"
              .formatted(where(field, columns.labels().get(column)), may.noun()));
    }
    if (positive.length > 0 && policy.takesTexts(columns.labels().get(column))) {
      if (may.optional()
          && numbers.parseFloat(input.bytes(), from, to)
          && may.isMissing(numbers.number())) {
        return Float.NaN;
      }
      return input.escaped(field)
          ? positive(unescape(from, to))
          : positive(input.bytes(), from, to);
    }
    if (!numbers.parseFloat(input.bytes(), from, to) || !may.accepts(numbers.number())) {
      throw may.fault(where(field, columns.labels().get(column)), shown(from, to));
    }
    return may.of(numbers.number());
  }

  private float positive(int unescapedLength) {
    return positive(unescaped, 0, unescapedLength);
  }

  private float positive(byte[] bytes, int from, int to) {
    return isOneOf(positive, bytes, from, to) ? 1 : 0;
  }

  /** Whether {@code bytes[from, to)} are one of {@code texts}. */
  static boolean isOneOf(byte[][] texts, byte[] bytes, int from, int to) {
    for (byte[] text : texts) {
      if (Arrays.equals(bytes, from, to, text, 0, text.length)) {
        return true;
      }
    }
    return false;
  }

  /** Whether {@code [from, to)} of the buffer are a text that says that a value is missing. */
  private boolean isMissing(int from, int to) {
    return missing.length > 0 && isOneOf(missing, input.bytes(), from, to);
  }

  private float dense(int field, int column) {
    int from = input.start(field);
    int to = input.end(field);
    if (from == to || isMissing(from, to)) {
      return Float.NaN;
    }
    if (!numbers.parseFloat(input.bytes(), from, to)) {
      throw new DataException(
          "%s: got %s, expected a number; %s"
              .formatted(
                  where(field, columns.dense().get(column)),
                  shown(from, to),
                  notANumber(columns.dense().get(column), from, to)));
    }
    if (Float.isInfinite(numbers.number())) {
      throw ReadPolicy.infinite(where(field, columns.dense().get(column)), shown(from, to));
    }
    return numbers.number();
  }

  /** What to do about a number of {@code column} that is none. */
  private String notANumber(String column, int from, int to) {
    if (TimeParser.parse(input.bytes(), from, to) != TimeParser.NONE) {
      return "it is a time: name the column %1$s@days, or %1$s@hour and %1$s@weekday as categories"
          .formatted(column);
    }
    String text = new String(input.bytes(), from, to - from, StandardCharsets.UTF_8);
    if (MISSING.contains(text.toLowerCase(Locale.ROOT))) {
      return "list it in data.missing_values if it means a missing number, or make the column"
          + " sparse";
    }
    return DECIMAL_COMMA.matcher(text).matches()
        ? "write it with a decimal point and no other, as in 1234.5, or make the column sparse"
        : "mend it, or make the column sparse";
  }

  private void addIds(Batch batch, int slot, int field) {
    byte[] bytes = input.bytes();
    int from = input.start(field);
    int to = input.end(field);
    if (isMissing(from, to)) {
      to = from;
    } else if (input.escaped(field)) {
      to = unescape(from, to);
      bytes = unescaped;
      from = 0;
    }
    byte[] separator = separators[slot];
    if (separator.length == 0) {
      if (texts[slot] || from < to) {
        addId(batch, slot, field, bytes, from, to);
      }
      return;
    }
    for (int start = from; from < to && start <= to; ) {
      int end = indexOf(bytes, start, to, separator);
      if (missing.length == 0 || !isOneOf(missing, bytes, start, end)) {
        addId(batch, slot, field, bytes, start, end);
      }
      start = end + separator.length;
    }
  }

  private void addId(Batch batch, int slot, int field, byte[] bytes, int from, int to) {
    if (texts[slot]) {
      long hash = TextHash.of(bytes, from, to);
      dictionary.saw(hash, bytes, from, to);
      batch.addId(slot, hash);
    } else if (numbers.parseInteger(bytes, from, to)) {
      // Only a negative id, or one from 2^63 on, is below 0.
      if (numbers.integer() < 0 && (bytes[from] == '-') == unsigned[slot]) {
        throw badSign(slot, field);
      }
      batch.addId(slot, numbers.integer());
    } else {
      throw new DataException(
          ("%s: got %s, expected a 64-bit integer id; mend it, or read the column as texts, with"
                  + " data.sparse.encode: vocabulary or hash and data.sparse.values: text")
              .formatted(
                  where(field, columns.sparse().get(slot).name()),
                  shown(input.start(field), input.end(field))));
    }
  }

  private DataException badSign(int slot, int field) {
    String expected =
        unsigned[slot]
            ? "an integer of 0 or more by data.sparse.values: unsigned; mend it, or set that to"
                + " integer"
            : "an integer below 2^63; for ids up to 2^64 - 1 set data.sparse.values: unsigned";
    return new DataException(
        "%s: got %s, expected %s"
            .formatted(
                where(field, columns.sparse().get(slot).name()),
                shown(input.start(field), input.end(field)),
                expected));
  }

  /** Where {@code separator} next starts, else {@code to}. */
  private static int indexOf(byte[] bytes, int from, int to, byte[] separator) {
    for (int i = from; i + separator.length <= to; i++) {
      if (Arrays.equals(bytes, i, i + separator.length, separator, 0, separator.length)) {
        return i;
      }
    }
    return to;
  }

  /** Copies a field to {@link #unescaped} as it is meant; returns its length. */
  private int unescape(int from, int to) {
    if (unescaped.length < to - from) {
      unescaped = new byte[2 * (to - from)];
    }
    return input.unescape(from, to, unescaped);
  }

  private String where(int field, String column) {
    return input.where(input.start(field)) + ", column " + column;
  }

  private String shown(int from, int to) {
    return input.quoted(from, to);
  }

  @Override
  public long skip(long rows) {
    long skipped = 0;
    while (true) {
      skipped += input.skipPlain(rows - skipped);
      if (skipped == rows || !input.next()) {
        return skipped;
      }
      if (input.problem().isEmpty()) {
        skipped++;
      } else {
        // A quote left open takes rows along, which are not passed over in silence.
        policy.faults().report(badNotation());
      }
    }
  }

  @Override
  public void close() {
    input.close();
  }
}
