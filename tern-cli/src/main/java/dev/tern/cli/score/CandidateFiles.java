package dev.tern.cli.score;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.FileNames;
import dev.tern.data.encode.FeatureEncoder;
import dev.tern.model.ModelConfig;
import dev.tern.predict.Candidates;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * The items that a served model finds, in files as {@code tern retrieve --items} takes them.
 *
 * @param model the run's folder or checkpoint that was named
 */
public record CandidateFiles(Path model, List<Path> files) implements Candidates.Source {
  @Override
  public Candidates read(Checkpoint checkpoint) {
    ModelConfig config = checkpoint.requireModel();
    List<String> columns = config.matching().itemColumns();
    if (columns.isEmpty()) {
      throw new DataException(
          "--candidates: got %s for %s, a model of type %s that finds no items, expected one of model.type: twotower; leave them out"
              .formatted(
                  FileNames.of(files),
                  checkpoint.folder(),
                  config.type().name().toLowerCase(Locale.ROOT)));
    }
    FeatureEncoder encoder = checkpoint.encoder();
    DataConfig reading = SavedRun.config(checkpoint, model, List.of());
    Candidates candidates = new Candidates(encoder.rawSchema(), columns);
    new ItemFiles(encoder, columns, reading)
        .read(
            files,
            (batch, names, before) -> {
              try {
                candidates.add(batch, names);
              } catch (DataException e) {
                throw new DataException(
                    "%s: after row %d: %s".formatted(FileNames.of(files), before, e.getMessage()),
                    e);
              }
            });
    if (candidates.size() == 0) {
      throw new DataException(
          FileNames.of(files) + ": got no items, expected some to choose from; check --candidates");
    }
    return candidates;
  }
}
