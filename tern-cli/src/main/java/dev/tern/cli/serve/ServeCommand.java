package dev.tern.cli.serve;

import dev.tern.cli.choice.TablesChoice;
import dev.tern.cli.config.ConfigException;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.predict.ScoreOptions;
import dev.tern.serve.http.ModelServer;
import dev.tern.serve.http.ModelSource;
import dev.tern.serve.http.ServeOptions;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern serve}: answers requests for scores over HTTP and gRPC until it is told to stop. */
@Command(
    name = "serve",
    description = "Serves models over HTTP and gRPC, as Triton, KServe and TensorFlow Serving do.",
    mixinStandardHelpOptions = true)
public final class ServeCommand implements Callable<Integer> {
  private static final int INTERRUPTED = 130;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private ServerChoice server = new ServerChoice();

  @Mixin private TablesChoice tables = new TablesChoice();

  private final CandidateReading reading;

  @Mixin private TopicFeeds topics = new TopicFeeds();

  @Parameters(
      paramLabel = "MODEL",
      description =
          "A run's folder, a checkpoint, or a topic that tern publish sends to"
              + " (kafka://HOST:PORT/TOPIC), as PATH, NAME=PATH or NAME@LABEL=PATH; the first of a"
              + " name answers requests that name neither version nor label.")
  private List<String> models = List.of();

  @Option(
      names = "--follow",
      paramLabel = "WHICH",
      description =
          "Which checkpoint of a run's folder is served: the latest or the best, as training"
              + " writes them, or none after the one found at the start, the best (default"
              + " ${DEFAULT-VALUE}).",
      defaultValue = "latest")
  private ModelSource.Follow follow = ModelSource.Follow.LATEST;

  @Option(
      names = "--candidates",
      paramLabel = "[NAME=]FILE",
      description =
          "Files with the columns of items, as tern retrieve takes them: the model of two towers"
              + " then also answers requests for the best of these items. Several for one model"
              + " with commas between them; of several models with the name in front.")
  private List<String> candidates = List.of();

  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "Read options and models from a file of YAML: options by their names, models as a list"
              + " under models. What the command line says counts before it.")
  private @Nullable Path config;

  @Option(
      names = "--check",
      description =
          "Ask the server at --host and --port whether it is ready, and end with 0 if so, else"
              + " with 1.")
  private boolean check;

  /**
   * The command.
   *
   * @param reading reads files of items
   */
  public ServeCommand(CandidateReading reading) {
    this.reading = reading;
  }

  @Override
  public Integer call() {
    Optional<ServeFile> file = Optional.ofNullable(config).map(this::read);
    if (check) {
      return server.readiness().holds() ? 0 : 1;
    }
    List<ServedName> names = names(file);
    if (names.isEmpty()) {
      throw new ConfigException(
          "serve: got no model, expected at least one run's folder or checkpoint, as in tern serve"
              + " runs/census");
    }
    ServeOptions options = server.options();
    ScoreOptions scoring = tables.options();
    long start = System.nanoTime();
    try (TopicFeeds.Running feeds = topics.start(names, follow, scoring, this::note);
        ModelServer running = start(options, feeds)) {
      List<ModelSource> sources = feeds.sources();
      StopSignals signals = new StopSignals();
      signals.listen();
      double seconds = (System.nanoTime() - start) / 1e9;
      for (int at = 0; at < sources.size(); at++) {
        say(running, sources, at, seconds);
      }
      signals.await();
      note("stops; requests are answered for " + options.grace().toSeconds() + " s more");
      return 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return INTERRUPTED;
    } catch (OutOfBudgetException e) {
      throw new IllegalStateException(e.getMessage() + " (the budget is --memory)", e);
    }
  }

  private ServeFile read(Path file) {
    FileChoice choice = new FileChoice(spec);
    ServeFile read = ServeFile.read(file, choice.names());
    choice.apply(read);
    return read;
  }

  /** The models that are named, those of the command line first. */
  private List<ServedName> names(Optional<ServeFile> file) {
    ServedModels all = new ServedModels(reading);
    List<ServedName> names = new ArrayList<>(all.of(models, candidates));
    file.ifPresent(of -> of.models().forEach(model -> names.add(all.of(model))));
    return server.limited(names);
  }

  private ModelServer start(ServeOptions options, TopicFeeds.Running feeds) {
    server.warning().ifPresent(this::note);
    return ModelServer.start(options, feeds.sources(), feeds.feeds(), this::note);
  }

  private void say(ModelServer running, List<ModelSource> sources, int at, double seconds) {
    ModelSource source = sources.get(at);
    Optional<ModelSource> first =
        sources.stream().filter(each -> each.name().equals(source.name())).findFirst();
    boolean isFirst = first.isPresent() && first.get() == source;
    PrintWriter out = spec.commandLine().getOut();
    out.println(
        "serving %s%s step %s at %s/v2/models/%s, ready after %s s"
            .formatted(
                source.name(),
                isFirst ? "" : "@" + source.label(),
                running.steps().get(at),
                running.url(),
                source.name(),
                String.format(Locale.ROOT, "%.1f", seconds)));
    out.flush();
  }

  private void note(String line) {
    PrintWriter err = spec.commandLine().getErr();
    err.println(line);
    err.flush();
  }
}
