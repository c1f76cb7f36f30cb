package dev.tern.cli.translate;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Translates a configuration of FuxiCTR. */
final class FuxiCtr {
  private FuxiCtr() {}

  /**
   * Translates an experiment.
   *
   * @param paths files, or their folder
   * @param experiment its name; none for the only one
   */
  static Translation translate(List<Path> paths, Optional<String> experiment) {
    FuxiFiles.Experiment found = FuxiFiles.read(paths).experiment(experiment);
    Section settings = found.settings();
    TranslationNotes notes = new TranslationNotes();
    RunYaml run = new RunYaml();
    Setting.Text name = settings.text("model").orElseThrow();
    Optional<FuxiModels> known = FuxiModels.of(name.text());
    if (known.isEmpty()) {
      notes.left(
          "model", name, "Tern has no such model; " + FuxiModels.STAND_IN + " takes its place");
    }
    FuxiModels as = known.or(() -> FuxiModels.of("WideDeep")).orElseThrow();
    ModelSizes model = new ModelSizes(as.type(), run, notes);
    new FuxiData(settings, model, run, notes).translate();
    as.write(settings, model, run, notes);
    new FuxiTraining(settings, run, notes).translate(found.name());
    settings.reportRest(notes);
    String source = "the experiment " + found.name() + " of FuxiCTR, data set " + found.dataset();
    return new Translation(source, run.yaml(), notes);
  }
}
