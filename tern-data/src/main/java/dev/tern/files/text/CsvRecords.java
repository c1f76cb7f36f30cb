package dev.tern.files.text;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.data.Batch;
import dev.tern.data.encode.TextDictionary;
import dev.tern.files.Columns;
import dev.tern.files.Faults;
import dev.tern.files.ReadPolicy;
import dev.tern.files.RecordCopy;
import dev.tern.internal.files.FileCopy;
import dev.tern.internal.files.FileSequence;
import dev.tern.internal.files.HivePath;
import dev.tern.internal.files.InputFiles;
import dev.tern.internal.files.RecordSource;
import dev.tern.internal.files.TextBytes;
import dev.tern.internal.files.TextHead;
import dev.tern.internal.files.TimeOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;

/** The records of one CSV file as they are written, with the key of each. */
final class CsvRecords implements RecordSource {
  private final CsvFile rows;
  private final CsvInput input;

  /** Comments before the names of columns, which are part of what parts begin with. */
  private final long before;

  private CsvRecords(CsvFile rows) {
    this.rows = rows;
    input = rows.input();
    before = input.comments();
  }

  /** Copies {@code files} to {@code parts}, each of which begins as the first file does. */
  static RecordCopy copy(
      List<Path> files, CsvOptions options, Columns key, ReadPolicy policy, List<Path> parts) {
    TimeOrder order = new TimeOrder();
    ReadPolicy strict = policy.withoutLabels().withFaults(Faults.STRICT);
    List<Path> all = InputFiles.of(FileSequence.requireFiles(files), InputFiles.Kind.TEXT);
    Opening opening =
        (file, read) -> CsvFile.open(file, options, key, read, TextDictionary.none(), order);
    List<Path> sound =
        FileSequence.sound(
            all,
            policy,
            file -> {
              TextBytes.requireRereadable(file, strict);
              opening.open(file, strict).close();
            });
    Path first = sound.getFirst();
    long head;
    try (CsvFile names = opening.open(first, strict)) {
      head = names.input().offset();
      for (Path file : sound) {
        requireAlike(file, first, names, opening, strict);
        HivePath.of(file).requireKept(names.header(), parts);
      }
    }
    TextHead plain = TextHead.of(first, options.text().encoding(), head);
    boolean escapes = options.escapes() == CsvOptions.Escapes.ANYWHERE;
    TextHead begin = escapes ? plain.withEscapes() : plain;
    return new FileCopy(
            key.schema(),
            sound,
            OptionalLong.empty(),
            policy.faults(),
            (file, faults) ->
                new CsvRecords(opening.open(file, policy.withoutLabels().withFaults(faults))))
        .to(parts, begin::create);
  }

  /** Opens a file for its keys. */
  @FunctionalInterface
  private interface Opening {
    CsvFile open(Path file, ReadPolicy policy);
  }

  private static void requireAlike(
      Path file, Path first, CsvFile names, Opening opening, ReadPolicy policy) {
    try (CsvFile other = opening.open(file, policy)) {
      if (!other.header().equals(names.header())) {
        throw new DataException(
            "%s: got the columns %s, expected %s as in %s, whose line of names all parts get; give"
                    .formatted(file, Shown.list(other.header()), Shown.list(names.header()), first)
                + " files with the same columns in the same order, or split them one by one");
      }
    }
  }

  @Override
  public boolean next(Batch keys) {
    int size = keys.size();
    rows.fill(keys, size + 1);
    return keys.size() > size;
  }

  @Override
  public byte[] bytes() {
    return input.bytes();
  }

  @Override
  public int start() {
    return input.recordStart();
  }

  @Override
  public int end() {
    return input.recordEnd();
  }

  @Override
  public String where() {
    return input.where(input.recordStart());
  }

  @Override
  public long comments() {
    return input.comments() - before;
  }

  @Override
  public void close() {
    rows.close();
  }
}
