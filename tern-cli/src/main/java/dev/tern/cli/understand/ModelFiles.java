package dev.tern.cli.understand;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.run.Watch;
import dev.tern.data.DataReader;
import dev.tern.data.Schema;
import dev.tern.data.encode.TextDictionary;
import dev.tern.model.TaskLabels;
import dev.tern.predict.Predictor;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** Reads files as the run of a model read its own, on behalf of the commands of this room. */
public interface ModelFiles {
  /**
   * A checkpoint whose model reads the files.
   *
   * @param named the folder that the user named
   * @param overrides how files are read, where that differs from the run's
   */
  record Of(Checkpoint checkpoint, Path named, List<String> overrides, Predictor predictor) {}

  /**
   * Labelled rows.
   *
   * @param noteSkipped says how many bad records were left out, once all rows are read
   */
  record Labelled(DataReader reader, Consumer<Watch> noteSkipped) {}

  /** The rows of {@code data} with the labels of the model. */
  Labelled labelled(Of model, List<Path> data);

  /** The rows of {@code data}, whose labels are not read; {@code texts} is told each text. */
  DataReader unlabelled(Of model, List<Path> data, TextDictionary texts);

  /** The labels that the model's tasks have in rows. */
  TaskLabels labels(Predictor predictor, Schema rows);

  /** The name of the first of {@code files}, and how many follow it. */
  String name(List<Path> files);

  /** Shows progress. */
  Watch watch(PrintWriter err);
}
