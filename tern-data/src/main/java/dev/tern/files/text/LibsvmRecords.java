package dev.tern.files.text;

import dev.tern.base.DataException;
import dev.tern.data.Batch;
import dev.tern.files.Columns;
import dev.tern.files.Faults;
import dev.tern.files.ReadPolicy;
import dev.tern.files.RecordCopy;
import dev.tern.internal.files.FileCopy;
import dev.tern.internal.files.FileSequence;
import dev.tern.internal.files.InputFiles;
import dev.tern.internal.files.LineInput;
import dev.tern.internal.files.RecordSource;
import dev.tern.internal.files.TextBytes;
import dev.tern.internal.files.TextHead;
import dev.tern.internal.files.TimeOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The lines of one file of features by number, with the key of each. */
final class LibsvmRecords implements RecordSource {
  private final LineInput input;
  private final Optional<LibsvmKey> key;
  private final Faults faults;

  private LibsvmRecords(LineInput input, Optional<LibsvmKey> key, Faults faults) {
    this.input = input;
    this.key = key;
    this.faults = faults;
  }

  /** Copies {@code files} to {@code parts}, each of which begins as the first file does. */
  static RecordCopy copy(
      List<Path> files, LibsvmOptions options, Columns key, ReadPolicy policy, List<Path> parts) {
    TimeOrder order = new TimeOrder();
    List<Path> sound =
        FileSequence.sound(
            InputFiles.of(FileSequence.requireFiles(files), InputFiles.Kind.TEXT),
            policy,
            file -> {
              TextBytes.requireRereadable(file, ReadPolicy.STRICT);
              open(file, options, key, order, Faults.STRICT).close();
            });
    TextHead begin;
    try (LineInput first = options.lines(sound.getFirst())) {
      begin = TextHead.of(sound.getFirst(), options.text().encoding(), first.offset());
    }
    return new FileCopy(
            key.schema(),
            sound,
            OptionalLong.empty(),
            policy.faults(),
            (file, faults) -> open(file, options, key, order, faults))
        .to(parts, begin::create);
  }

  private static LibsvmRecords open(
      Path file, LibsvmOptions options, Columns key, TimeOrder order, Faults faults) {
    LineInput input = options.lines(file);
    try {
      return new LibsvmRecords(
          input,
          key.sparse().isEmpty()
              ? Optional.empty()
              : Optional.of(new LibsvmKey(key, input, options, order)),
          faults);
    } catch (RuntimeException e) {
      input.close();
      throw e;
    }
  }

  @Override
  public boolean next(Batch keys) {
    while (input.next()) {
      try {
        if (input.start() == input.end()) {
          throw LibsvmFile.emptyLine(input);
        }
        if (key.isPresent()) {
          key.get().addTo(keys);
        }
        keys.endRow();
        return true;
      } catch (DataException e) {
        keys.abandonRow();
        faults.report(e);
      }
    }
    return false;
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
    return input.where(input.start());
  }

  @Override
  public long comments() {
    return input.comments();
  }

  @Override
  public void close() {
    input.close();
  }
}
