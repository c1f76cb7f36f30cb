package dev.tern.cli.serve;

import dev.tern.checkpoint.Checkpoint;
import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.RunException;
import dev.tern.stream.PublishOptions;
import dev.tern.stream.Publisher;
import dev.tern.stream.StreamException;
import dev.tern.stream.TopicAddress;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tern publish}: sends the checkpoints of a run to a topic that servers follow. */
@Command(
    name = "publish",
    description = "Sends checkpoints of a run to a topic of Kafka, for tern serve elsewhere.",
    mixinStandardHelpOptions = true)
public final class PublishCommand implements Callable<Integer> {
  private static final int INTERRUPTED = 130;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private TopicChoice topics = new TopicChoice();

  @Parameters(paramLabel = "RUN", description = "A run's folder, or a checkpoint.")
  private Path run = Path.of("");

  @Option(
      names = "--to",
      required = true,
      paramLabel = "kafka://HOST:PORT/TOPIC",
      description = "The topic, of one partition.")
  private String to = "";

  @Option(
      names = "--follow",
      description = "Go on with each checkpoint that training writes, until told to stop.")
  private boolean follow;

  @Option(
      names = "--run",
      paramLabel = "NAME",
      description =
          "What the run is called in the topic (default: the name of its folder). Servers refuse"
              + " checkpoints of a run that they do not follow.")
  private @Nullable String name;

  @Option(
      names = "--take-over",
      description = "Follow another run in the topic, as a new day's does; servers change to it.")
  private boolean takeOver;

  @Option(
      names = "--create",
      description = "Make the topic if it is not there, with the brokers' default of replicas.")
  private boolean create;

  @Option(
      names = "--chunk",
      paramLabel = "BYTES",
      converter = Amounts.Bytes.class,
      description =
          "The most bytes of a record, less where the topic takes less (default ${DEFAULT-VALUE}).",
      defaultValue = "900k")
  private Long chunk = (long) PublishOptions.DEFAULT_CHUNK;

  @Override
  public Integer call() {
    TopicAddress topic = ServedName.topic(to);
    if (follow && Checkpoint.isAt(run)) {
      throw new ConfigException(
          "publish: got --follow with the checkpoint "
              + run
              + ", expected a run's folder; leave --follow out");
    }
    try (Publisher publisher =
        Publisher.of(run, topic, topics.properties(), options(), this::note)) {
      if (follow) {
        return follow(publisher);
      }
      int sent = publisher.publish();
      PrintWriter out = spec.commandLine().getOut();
      out.println(topic + " has the latest of " + run + ", " + sent + " checkpoints sent");
      out.flush();
      return 0;
    } catch (StreamException e) {
      throw new RunException(String.valueOf(e.getMessage()), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return INTERRUPTED;
    }
  }

  private int follow(Publisher publisher) {
    Thread publishing = Thread.currentThread();
    StopSignals signals = new StopSignals();
    signals.listen();
    Thread.ofPlatform()
        .daemon()
        .name("tern-signals")
        .start(() -> {
          try {
            signals.await();
            publishing.interrupt();
          } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
          }
        });
    try {
      publisher.follow();
    } catch (InterruptedException _) {
      note("stops; what is not sent yet is sent by the next tern publish");
    }
    return 0;
  }

  private PublishOptions options() {
    try {
      return new PublishOptions(
          name == null ? ServedName.folderName(run) : name,
          (int) Math.min(chunk, Integer.MAX_VALUE),
          topics.full(),
          takeOver,
          create);
    } catch (IllegalArgumentException e) {
      throw new ConfigException("publish: " + e.getMessage(), e);
    }
  }

  private void note(String line) {
    PrintWriter err = spec.commandLine().getErr();
    err.println(line);
    err.flush();
  }
}
