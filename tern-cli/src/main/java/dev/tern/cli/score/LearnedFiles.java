package dev.tern.cli.score;

import dev.tern.cli.config.DataConfig;
import dev.tern.cli.files.DataSource;
import dev.tern.cli.files.FileNames;
import dev.tern.cli.notes.Progress;
import dev.tern.cli.run.Watch;
import dev.tern.cli.understand.ModelFiles;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.encode.TextDictionary;
import dev.tern.files.ReadPolicy;
import dev.tern.model.TaskLabels;
import dev.tern.predict.Predictor;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;

/** Reads files for a trained model as {@code tern evaluate} and {@code tern predict} do. */
public final class LearnedFiles implements ModelFiles {
  @Override
  public Labelled labelled(Of model, List<Path> data) {
    DataSource source = DataSource.of(config(model)).once().forModel(model.predictor().encoder());
    return new Labelled(source.open(DataSource.inputs(data)), source::noteSkipped);
  }

  @Override
  public DataReader unlabelled(Of model, List<Path> data, TextDictionary texts) {
    return new DataSource(config(model), ReadPolicy.STRICT, texts)
        .forModel(model.predictor().encoder())
        .withoutLabels()
        .once()
        .open(DataSource.inputs(data));
  }

  private static DataConfig config(Of model) {
    return SavedRun.config(model.checkpoint(), model.named(), model.overrides());
  }

  @Override
  public TaskLabels labels(Predictor predictor, Schema rows) {
    return Scoring.labels(predictor, rows);
  }

  @Override
  public String name(List<Path> files) {
    return FileNames.of(files);
  }

  @Override
  public Watch watch(PrintWriter err) {
    return Progress.of(err);
  }
}
