package dev.tern.cli.board;

import dev.tern.cli.config.Config;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.RunFolder;
import dev.tern.internal.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a run's folder says beside its metrics: the model and the memory budget by its
 * configuration, how it ended by its report, its last checkpoints by their names.
 */
final class FolderFacts {
  private static final Pattern CHECKPOINT = Pattern.compile("step-([0-9]{1,18})(\\.delta)?");
  private static final Pattern STATE = Pattern.compile("<p>(finished|interrupted) · ");
  private static final int HEAD = 64 << 10;

  private final Path folder;
  private Optional<FileTime> configTime = Optional.empty();
  private Json.Obj config = Json.object();
  private Optional<FileTime> reportTime = Optional.empty();
  private String reported = "";
  private Json.Obj checkpoints = Json.object();

  FolderFacts(Path folder) {
    this.folder = folder;
  }

  /** The file of the configuration. */
  static Path config(Path folder) {
    return RunFolder.config(folder);
  }

  /** The file of the report. */
  static Path report(Path folder) {
    return folder.resolve("report.html");
  }

  /** The file of the metrics. */
  static Path metrics(Path folder) {
    return folder.resolve("metrics.jsonl");
  }

  /** Looks at the folder again. */
  void refresh() {
    Optional<FileTime> written = time(config(folder));
    if (!written.equals(configTime)) {
      configTime = written;
      config = written.isPresent() ? readConfig() : Json.object();
    }
    Optional<FileTime> ended = time(report(folder));
    if (!ended.equals(reportTime)) {
      reportTime = ended;
      reported = ended.isPresent() ? readState() : "";
    }
    checkpoints = readCheckpoints();
  }

  private static Optional<FileTime> time(Path file) {
    try {
      return Files.isRegularFile(file)
          ? Optional.of(Files.getLastModifiedTime(file))
          : Optional.empty();
    } catch (IOException _) {
      return Optional.empty(); // Gone meanwhile.
    }
  }

  private Json.Obj readConfig() {
    try {
      Config own = Config.loadEarlier(config(folder));
      return Json.object()
          .put("model", own.modelName())
          .put("model_summary", own.modelSummary())
          .put("data", own.data().summary())
          .put("training", own.train().summary())
          .put("budget", own.train().memory());
    } catch (ConfigException e) {
      return Json.object().put("config_error", String.valueOf(e.getMessage()));
    }
  }

  private String readState() {
    try (InputStream in = Files.newInputStream(report(folder))) {
      Matcher state = STATE.matcher(new String(in.readNBytes(HEAD), StandardCharsets.UTF_8));
      return state.find() ? state.group(1) : "ended";
    } catch (IOException _) {
      return "ended";
    }
  }

  private Json.Obj readCheckpoints() {
    Json.Obj found = Json.object();
    long newest = -1;
    try (DirectoryStream<Path> all = Files.newDirectoryStream(folder.resolve("checkpoints"))) {
      for (Path each : all) {
        Matcher name = CHECKPOINT.matcher(String.valueOf(each.getFileName()));
        if (name.matches() && Long.parseLong(name.group(1)) > newest) {
          newest = Long.parseLong(name.group(1));
          found
              .put("step", newest)
              .put("delta", name.group(2) != null)
              .put("time", Files.getLastModifiedTime(each).toMillis());
        }
      }
    } catch (IOException | DirectoryIteratorException _) {
      return found; // None yet, or one that is written or removed right now.
    }
    return found;
  }

  /** Adds what is known. {@code written} is when the metrics were last written. */
  void put(Json.Obj facts, FileTime written) {
    facts.fields().putAll(config.fields());
    facts.put("config", configTime.isPresent()).put("report", reportTime.isPresent());
    // A resumed run leaves the report of its first part until it ends.
    boolean over = reportTime.filter(time -> time.compareTo(written) >= 0).isPresent();
    facts.put("state", over ? reported : "running");
    if (checkpoints.has("step")) {
      facts.put("checkpoint", checkpoints);
    }
  }
}
