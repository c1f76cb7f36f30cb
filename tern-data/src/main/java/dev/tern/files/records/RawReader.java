package dev.tern.files.records;

import dev.tern.base.DataException;
import dev.tern.base.Shown;
import dev.tern.data.DataReader;
import dev.tern.files.ReadPolicy;
import dev.tern.files.RecordCopy;
import dev.tern.files.SparseColumn;
import dev.tern.internal.files.BinaryInput;
import dev.tern.internal.files.FileCopy;
import dev.tern.internal.files.FileKind;
import dev.tern.internal.files.FileSequence;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;

/**
 * Reads HugeCTR Raw files: samples of fixed size without header or check. The size of a file must
 * be a whole number of samples, where HugeCTR drops a partial one; labels are checked, so a file of
 * float labels read as integers, or a wrong layout, does not pass for data.
 */
public final class RawReader {
  /** Samples looked at to tell whether there are labels. */
  private static final int LOOK = 1000;

  /** Sizes of labels but 0 between which any is possible. */
  private static final float LEAST = 1e-6f;

  private static final float MOST = 1e6f;

  private RawReader() {}

  /** Reads {@code files} in order, stopping at the first fault. */
  public static DataReader open(List<Path> files, RawOptions options) {
    return open(files, options, ReadPolicy.STRICT);
  }

  /**
   * Reads {@code files} in order; {@link RawOptions#rows}, where given, is of all together. Where
   * {@code policy} reads no labels, the files may lack them.
   *
   * @throws DataException where labels are not read and nobody can tell whether they are there
   */
  public static DataReader open(List<Path> files, RawOptions named, ReadPolicy policy) {
    boolean maybe = policy.labels().equals(ReadPolicy.Labels.NONE);
    return openAs(files, maybe ? layout(files, named) : named, policy);
  }

  /** Reads {@code files}, which have the labels of {@code options} whether they are read or not. */
  public static DataReader openAs(List<Path> files, RawOptions options, ReadPolicy policy) {
    List<Path> sound = whole(files, options, policy);
    return FileSequence.open(
        policy.delivered(options.schema()),
        sound,
        OptionalLong.of(rows(sound, options)),
        policy,
        (file, faults) -> RawFile.open(file, options, policy.withFaults(faults)));
  }

  /** The files whose size is one of whole samples. */
  private static List<Path> whole(List<Path> files, RawOptions options, ReadPolicy policy) {
    List<Path> sound =
        FileSequence.sound(
            FileSequence.requireFiles(files),
            policy,
            file -> requireWhole(file, size(file), options, policy));
    if (sound.size() == files.size()) {
      requireRows(files, rows(sound, options), options, policy);
    }
    return sound;
  }

  private static long rows(List<Path> files, RawOptions options) {
    return files.stream().mapToLong(file -> size(file) / options.sampleBytes()).sum();
  }

  /**
   * Copies the samples of {@code files} to new files as they are.
   *
   * @param key a slot; or with {@link SparseColumn.Values#TIME} a dense column or a slot, whose ids
   *     are then signed numbers. A row of {@link RecordCopy#next} has them in the only slot
   * @param policy what becomes of bad records
   * @param parts the new files; none to read keys alone
   * @throws IllegalArgumentException where there is no such column
   */
  public static RecordCopy copy(
      List<Path> files,
      RawOptions options,
      Optional<SparseColumn> key,
      ReadPolicy policy,
      List<Path> parts) {
    RecordKey place = RecordKey.of(key, options.schema());
    List<Path> sound = whole(files, options, policy);
    return new FileCopy(
            RecordKey.schema(key),
            sound,
            OptionalLong.of(rows(sound, options)),
            policy.faults(),
            (file, faults) -> RawRecords.open(file, options, place))
        .to(parts, part -> new RecordPart(part, new byte[0]));
  }

  /** {@code named}, or that without labels where the files seem to have none. */
  private static RawOptions layout(List<Path> files, RawOptions named) {
    int labelBytes = 4 * named.schema().labelDim();
    if (labelBytes == 0 || named.sampleBytes() == labelBytes) {
      return named;
    }
    RawOptions bare = named.withoutLabels();
    List<Path> there = files.stream().filter(Files::isRegularFile).toList();
    long bytes = there.stream().mapToLong(RawReader::size).sum();
    boolean fits = there.stream().allMatch(file -> size(file) % named.sampleBytes() == 0);
    boolean bareFits = there.stream().allMatch(file -> size(file) % bare.sampleBytes() == 0);
    if (fits && bareFits && named.rows().isPresent()) {
      return bytes == named.rows().getAsLong() * bare.sampleBytes() ? bare : named;
    }
    if (!fits || !bareFits) {
      return fits || !bareFits ? named : bare;
    }
    if (there.stream().allMatch(file -> holdsLabels(file, named, RawReader::isUsual))) {
      return named;
    }
    if (!there.stream().allMatch(file -> holdsLabels(file, named, RawReader::isPossible))) {
      return bare;
    }
    throw new DataException(
        ("%s: got %s bytes, which are %s samples with labels or %s without, expected one of them;"
                + " set data.has_labels to yes or no")
            .formatted(
                there.size() == 1 ? Shown.path(there.getFirst()) : Shown.list(there),
                bytes,
                bytes / named.sampleBytes(),
                bytes / bare.sampleBytes()));
  }

  /** Whether {@code are} holds of what the first samples have in the place of labels. */
  private static boolean holdsLabels(Path file, RawOptions named, Predicate<float[]> are) {
    float[] labels = new float[LOOK];
    int rows = 0;
    try (BinaryInput in = BinaryInput.open(file)) {
      for (; rows < LOOK && in.has(named.sampleBytes()); rows++) {
        long next = in.offset() + named.sampleBytes();
        int bits = in.readInt();
        labels[rows] = named.intLabels() ? bits : Float.intBitsToFloat(bits);
        in.seek(next);
      }
    }
    return are.test(Arrays.copyOf(labels, rows));
  }

  /** Whether all labels are 0 or 1, or all the same, as of rows to be scored. */
  private static boolean isUsual(float[] labels) {
    boolean binary = true;
    boolean same = true;
    for (float label : labels) {
      binary &= ReadPolicy.Labels.BINARY.accepts(label);
      same &= Float.floatToIntBits(label) == Float.floatToIntBits(labels[0]);
    }
    return binary || same;
  }

  /** Whether all are numbers that labels may be, as of ratings; ids read as floats are none. */
  private static boolean isPossible(float[] labels) {
    boolean possible = true;
    for (float label : labels) {
      float size = Math.abs(label);
      possible &= size == 0 || size >= LEAST && size <= MOST;
    }
    return possible;
  }

  private static long size(Path file) {
    try (BinaryInput in = BinaryInput.open(file)) {
      return in.size();
    }
  }

  private static void requireWhole(Path file, long size, RawOptions options, ReadPolicy policy) {
    FileKind kind = FileKind.of(file);
    if (kind.isCertain()) {
      throw kind.refused(file, "a Raw file");
    }
    int sample = options.sampleBytes();
    if (size % sample != 0) {
      policy
          .faults()
          .report(
              new DataException(
                  ("%s: byte %s: got %s bytes after %s samples of %s bytes (%s), expected none; the"
                          + " file is cut short or holds other columns or keys, check both")
                      .formatted(
                          file,
                          size - size % sample,
                          size % sample,
                          size / sample,
                          sample,
                          options.layout())));
    }
  }

  /** Samples that lack cost as many rows; with too many, nobody knows which are data. */
  private static void requireRows(
      List<Path> files, long rows, RawOptions options, ReadPolicy policy) {
    long expected = options.rows().orElse(rows);
    if (expected != rows) {
      policy
          .faults()
          .report(
              new DataException(
                      ("%s: got %s samples of %s bytes (%s), expected %s; the data are cut short"
                              + " or hold other columns or keys, check both")
                          .formatted(
                              files.size() == 1 ? files.getFirst() : Shown.list(files),
                              rows,
                              options.sampleBytes(),
                              options.layout(),
                              expected))
                  .losing(expected > rows ? expected - rows : DataException.UNKNOWN_ROWS));
    }
  }
}
