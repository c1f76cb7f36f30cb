package dev.tern.cli.translate;

import java.nio.file.Path;
import java.util.Locale;

/** Translates a configuration of EasyRec, which is protobuf's text format. */
final class EasyRec {
  private EasyRec() {}

  /** Translates a file. */
  static Translation translate(Path file) {
    Section root = TextFormat.read(ForeignFiles.text(file), ForeignFiles.name(file));
    TranslationNotes notes = new TranslationNotes();
    RunYaml run = new RunYaml();
    Section config = root.section("model_config");
    EasyRecModel model = EasyRecModel.of(root, run, notes);
    EasyRecGroups groups = EasyRecGroups.of(config);
    new EasyRecData(root, model.sizes(), groups, run, notes).translate(model.labels());
    new EasyRecTraining(root, run, notes).translate();
    model.write(groups);
    root.leave("see tern export, or tern serve", "export_config");
    root.reportRest(notes);
    String name = config.text("model_class").map(Setting.Text::text).orElse("no model");
    return new Translation(
        "the " + name + " of EasyRec in " + ForeignFiles.name(file), run.yaml(), notes);
  }

  /** Whether a file is one of EasyRec's by its name and first words. */
  static boolean looksLike(Path file) {
    String name = ForeignFiles.name(file).toLowerCase(Locale.ROOT);
    return name.endsWith(".config") || name.endsWith(".pbtxt") || name.endsWith(".prototxt");
  }
}
