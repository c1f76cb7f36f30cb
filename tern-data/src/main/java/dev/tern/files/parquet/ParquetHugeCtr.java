package dev.tern.files.parquet;

import dev.tern.base.DataException;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.files.FileColumn;
import dev.tern.files.ReadPolicy;
import dev.tern.internal.files.FileList;
import dev.tern.internal.files.FileSequence;
import dev.tern.internal.files.HivePath;
import dev.tern.internal.files.InputFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/** Finds the files of HugeCTR data sets and what their {@code _metadata.json} makes of each. */
final class ParquetHugeCtr {

  private final ParquetOptions options;
  private final ReadPolicy policy;
  private final Map<Path, ParquetMetadata> descriptions = new HashMap<>();
  private final Map<Path, ParquetPlan> plansOfDescriptions = new HashMap<>();
  private final Map<Path, ParquetPlan> plansOfFiles = new HashMap<>();
  private final List<Part> parts = new ArrayList<>();
  private final Map<Path, Long> rows = new HashMap<>();
  private Optional<Schema> schema = Optional.empty();
  private long allRows;
  private long idsOfRow;

  /** A file and what describes it. */
  private record Part(Path file, ParquetMetadata metadata) {}

  ParquetHugeCtr(ParquetOptions options, ReadPolicy policy) {
    this.options = options;
    this.policy = policy;
  }

  DataReader open(List<Path> sources) {
    FileSequence.sound(sources, policy, this::find);
    List<Part> told = ParquetReader.sound(parts, policy, this::check);
    plansOfDescriptions.replaceAll((path, plan) -> plan.settled());
    List<Path> sound =
        ParquetReader.sound(told, policy, this::requireSchema).stream().map(Part::file).toList();
    return FileSequence.open(
        schema.orElseThrow(),
        sound,
        OptionalLong.of(allRows),
        ParquetReader.room(allRows, idsOfRow),
        policy.withThreads(1), // columns, not files, are shared out
        (path, faults) ->
            ParquetSource.open(
                path, Objects.requireNonNull(plansOfFiles.get(path), "plan"), policy, faults));
  }

  private void find(Path source) {
    if (Files.isDirectory(source)) {
      findIn(source);
    } else if (!InputFiles.isParquet(source)) {
      findListed(FileList.read(source));
    } else if (!Files.exists(source)) {
      throw new DataException(source + ": got no such file, expected data; check the path");
    } else if (!hasDescription(source)) {
      try (ParquetFile file = ParquetFile.open(source)) {
        throw new DataException(
            "%s: got Parquet with columns %s, none of them named, and no %s beside it, expected either; name label, dense and sparse columns"
                .formatted(source, columns(file), ParquetMetadata.NAME));
      }
    } else {
      parts.add(new Part(source, description(home(source))));
    }
  }

  static List<FileColumn> columns(ParquetFile file) {
    List<FileColumn> columns = new ArrayList<>();
    file.schema()
        .readable()
        .forEach(field -> columns.add(new FileColumn(field.name(), field.described())));
    HivePath path = HivePath.of(file.path());
    for (String name : path.columns()) {
      if (file.schema().called(name).isEmpty()) {
        columns.add(new FileColumn(name, "folder " + name + "=" + path.text(name)));
      }
    }
    return columns;
  }

  static boolean isDescribed(Path source) {
    return Files.isDirectory(source)
        ? Files.exists(source.resolve(ParquetMetadata.NAME))
        : !InputFiles.isParquet(source) || hasDescription(source);
  }

  private void findIn(Path folder) {
    ParquetMetadata metadata = description(folder);
    if (metadata.rows().isEmpty()) {
      throw new DataException(
          metadata.path() + ": got no file_stats, expected a file at least; write it again");
    }
    metadata.rows().keySet().forEach(name -> parts.add(new Part(folder.resolve(name), metadata)));
  }

  private void findListed(List<Path> files) {
    ParquetMetadata first = description(home(files.getFirst()));
    for (Path file : files) {
      parts.add(new Part(file, hasDescription(file) ? description(home(file)) : first));
    }
  }

  private static boolean hasDescription(Path file) {
    return Files.exists(home(file).resolve(ParquetMetadata.NAME));
  }

  private static Path home(Path file) {
    return Objects.requireNonNullElse(file.getParent(), file.getFileSystem().getPath("."));
  }

  private ParquetMetadata description(Path folder) {
    return descriptions.computeIfAbsent(
        folder,
        path -> {
          ParquetMetadata metadata = ParquetMetadata.read(path);
          return policy.labels().equals(ReadPolicy.Labels.NONE)
              ? metadata.withoutLabels()
              : metadata;
        });
  }

  private void check(Part part) {
    ParquetMetadata metadata = part.metadata();
    try (ParquetFile file = ParquetFile.open(part.file())) {
      // Where both say something else, nobody knows how many rows there are.
      ParquetFile.costing(DataException.UNKNOWN_ROWS, () -> metadata.requireRows(file));
      ParquetFile.costing(file.rows(), () -> settle(file, metadata));
    }
  }

  private void settle(ParquetFile file, ParquetMetadata metadata) {
    ParquetPlan known = plansOfDescriptions.get(metadata.path());
    ParquetPlan plan = known == null ? ParquetPlan.hugeCtr(file, metadata, options) : known;
    ParquetPlan told = plan.settledBy(file);
    plansOfDescriptions.put(metadata.path(), told);
    idsOfRow = Math.max(idsOfRow, told.idsOfRow(file));
    rows.put(file.path(), file.rows());
  }

  private void requireSchema(Part part) {
    long more = rows.getOrDefault(part.file(), 0L);
    ParquetFile.costing(more, () -> requireSchema(part, more));
  }

  private void requireSchema(Part part, long more) {
    Path description = part.metadata().path();
    ParquetPlan plan = Objects.requireNonNull(plansOfDescriptions.get(description), "plan");
    if (schema.isPresent() && !schema.get().equals(plan.schema())) {
      throw new DataException(
          "%s: got %s by %s, expected %s as in the first file; write all files with one schema"
              .formatted(part.file(), plan.schema(), description, schema.get()));
    }
    schema = Optional.of(plan.schema());
    allRows = FileSequence.addRows(part.file(), allRows, more);
    plansOfFiles.put(part.file(), plan);
  }
}
