package dev.tern.files.records;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.KeyType;
import dev.tern.files.ReadPolicy;
import dev.tern.files.RecordCopy;
import dev.tern.files.SparseColumn;
import dev.tern.internal.files.BinaryInput;
import dev.tern.internal.files.FileCopy;
import dev.tern.internal.files.FileList;
import dev.tern.internal.files.FileSequence;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads HugeCTR Norm files, with and without checksums, keys of 4 or 8 bytes, one file after the
 * other.
 *
 * <p>What HugeCTR lets pass is a fault here: label_dim and dense_dim that only agree in sum, a
 * count of keys the record has no room for, a file cut short, bytes after the last record. With a
 * {@link ReadPolicy} that goes on, a framed record that is bad is dropped alone, a plain one takes
 * the rest of its file with it, as many records as the header still has, unless only its label or
 * hotness is wrong; no other record is lost.
 */
public final class NormReader {
  private NormReader() {}

  /** Reads {@code files}, data or file lists ({@link FileList}), stopping at the first fault. */
  public static DataReader open(List<Path> files, NormOptions options) {
    return open(files, options, ReadPolicy.STRICT);
  }

  /** Reads {@code files}, data or file lists ({@link FileList}). */
  public static DataReader open(List<Path> files, NormOptions options, ReadPolicy policy) {
    List<NormHeader> headers = new ArrayList<>();
    Map<Path, NormHeader> known = new HashMap<>();
    long[] rows = {0};
    long[] room = {0};
    List<Path> sound =
        FileSequence.sound(
            FileList.expand(FileSequence.requireFiles(files)),
            policy,
            file -> {
              NormHeader header = header(file, headers, options, policy);
              rows[0] = FileSequence.addRows(file, rows[0], header.records());
              room[0] += header.room(FileSequence.bytes(file));
              headers.add(header);
              known.put(file, header);
            });
    Schema schema = policy.delivered(options.schema().orElseGet(headers.getFirst()::unnamed));
    KeyType keys = options.keys().or(() -> detect(sound, policy)).orElse(KeyType.I64);
    return FileSequence.open(
        schema,
        sound,
        OptionalLong.of(rows[0]),
        room[0],
        policy,
        (file, faults) ->
            NormFile.open(
                file,
                Objects.requireNonNull(known.get(file)),
                schema,
                keys,
                policy.withFaults(faults)));
  }

  /**
   * Copies the records of {@code files} to new files as they are, with their checksums if they have
   * any. A new file has the header of the first file, but with the number of its own records.
   *
   * @param key a slot; or with {@link SparseColumn.Values#TIME} a dense column or a slot, whose ids
   *     are then signed numbers. A row of {@link RecordCopy#next} has them in the only slot
   * @param policy what becomes of bad records
   * @param parts the new files; none to read keys alone
   * @throws IllegalArgumentException where there is no such column
   */
  public static RecordCopy copy(
      List<Path> files,
      NormOptions options,
      Optional<SparseColumn> key,
      ReadPolicy policy,
      List<Path> parts) {
    List<NormHeader> headers = new ArrayList<>();
    Map<Path, NormHeader> known = new HashMap<>();
    long[] rows = {0};
    List<Path> sound =
        FileSequence.sound(
            FileList.expand(FileSequence.requireFiles(files)),
            policy,
            file -> {
              NormHeader header = header(file, headers, options, ReadPolicy.STRICT);
              requireCheck(file, header, headers);
              rows[0] = FileSequence.addRows(file, rows[0], header.records());
              headers.add(header);
              known.put(file, header);
            });
    NormHeader first = headers.getFirst();
    Schema schema = options.schema().orElseGet(first::unnamed);
    RecordKey place = RecordKey.of(key, schema);
    ReadPolicy unlabelled = policy.withoutLabels();
    Schema read = unlabelled.delivered(schema);
    KeyType keys = options.keys().or(() -> detect(sound, unlabelled)).orElse(KeyType.I64);
    byte[] head = bytes(sound.getFirst(), first.bytes());
    return new FileCopy(
            RecordKey.schema(key),
            sound,
            OptionalLong.of(rows[0]),
            policy.faults(),
            (file, faults) ->
                new NormRecords(
                    NormFile.open(
                            file,
                            Objects.requireNonNull(known.get(file)),
                            read,
                            keys,
                            unlabelled.withFaults(faults))
                        .takingAnyValue(),
                    place))
        .to(parts, part -> new RecordPart(part, head));
  }

  private static void requireCheck(Path file, NormHeader header, List<NormHeader> before) {
    if (!before.isEmpty() && before.getFirst().check() != header.check()) {
      boolean sums = header.check() == NormCheck.SUM;
      throw new DataException(
          ("%s: got a file with%s checksums after files with%s, expected all alike to copy their"
                  + " records; convert them by --check sum or none and --keys i64 or u32, or split"
                  + " them apart")
              .formatted(file, sums ? "" : "out", sums ? "out" : ""));
    }
  }

  private static byte[] bytes(Path file, int count) {
    try (BinaryInput in = BinaryInput.open(file)) {
      if (!in.has(count)) {
        throw new DataException(file + ": got a file that became shorter; read it again");
      }
      return Arrays.copyOf(in.bytes(), count);
    }
  }

  private static NormHeader header(
      Path file, List<NormHeader> before, NormOptions options, ReadPolicy policy) {
    try (BinaryInput in = BinaryInput.open(file)) {
      NormHeader header = NormHeader.read(file, in);
      requireShape(file, header, before, options, policy);
      return header;
    }
  }

  private static void requireShape(
      Path file,
      NormHeader header,
      List<NormHeader> before,
      NormOptions options,
      ReadPolicy policy) {
    boolean labels = !policy.labels().equals(ReadPolicy.Labels.NONE);
    Optional<String> expected =
        Stream.concat(options.schema().map(NormHeader::of).stream(), before.stream().limit(1))
            .filter(other -> !other.sameShape(header, labels))
            .map(NormHeader::shape)
            .findFirst();
    if (expected.isPresent()) {
      throw new DataException(
          ("%s: got a header with %s, expected %s; name as many columns as the file has, "
                  + "or leave the file out")
              .formatted(file, header.shape(), expected.get()));
    }
  }

  /** The width that the first file which tells it shows. */
  private static Optional<KeyType> detect(List<Path> files, ReadPolicy policy) {
    @Nullable DataException unclear = null;
    for (Path file : files) {
      try {
        Optional<KeyType> keys = NormProbe.detect(file, policy);
        if (keys.isPresent()) {
          return keys;
        }
      } catch (DataException e) {
        unclear = unclear == null ? e : unclear;
      }
    }
    if (unclear != null) {
      throw unclear;
    }
    return Optional.empty();
  }
}
