package dev.tern.cli.serve;

import dev.tern.cli.choice.TablesChoice;
import dev.tern.cli.config.ConfigException;
import dev.tern.internal.memory.OutOfBudgetException;
import dev.tern.predict.ScoreOptions;
import dev.tern.serve.http.ModelServer;
import dev.tern.serve.http.ModelSource;
import dev.tern.serve.http.ServeOptions;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
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
      names = "--check",
      description =
          "Ask the server at --host and --port whether it is ready, and end with 0 if so, else"
              + " with 1.")
  private boolean check;

  @Override
  public Integer call() {
    if (check) {
      return server.readiness().holds() ? 0 : 1;
    }
    if (models.isEmpty()) {
      throw new ConfigException(
          "serve: got no model, expected at least one run's folder or checkpoint, as in tern serve"
              + " runs/census");
    }
    ServeOptions options = server.options();
    ScoreOptions scoring = tables.options();
    List<ServedName> names = models.stream().map(ServedName::of).toList();
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
