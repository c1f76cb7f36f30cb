package dev.tern.cli.serve;

import dev.tern.cli.config.ConfigException;
import dev.tern.cli.run.RunException;
import dev.tern.predict.ScoreOptions;
import dev.tern.serve.http.ModelFeed;
import dev.tern.serve.http.ModelSource;
import dev.tern.stream.FollowOptions;
import dev.tern.stream.FollowState;
import dev.tern.stream.Follower;
import dev.tern.stream.StreamException;
import dev.tern.stream.TopicAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of topics that are served, each brought into a folder of its own. */
final class TopicFeeds {
  @Mixin private TopicChoice topics = new TopicChoice();

  @Option(
      names = "--spool",
      paramLabel = "FOLDER",
      description =
          "Where checkpoints that come over topics are kept, each topic in a folder of its own"
              + " (default spool in ~/.cache/tern).")
  private @Nullable Path spool;

  @Option(
      names = "--spool-limit",
      paramLabel = "BYTES",
      converter = Amounts.Bytes.class,
      description =
          "The most bytes of a topic's checkpoints there; while a full one comes, those before it"
              + " stay beside it (default: what the disk has).")
  private Long limit = Long.MAX_VALUE;

  /** Models, and what brings those that come over topics. */
  record Running(List<ModelSource> sources, Map<ModelSource, ModelFeed> feeds, List<Follower> all)
      implements AutoCloseable {
    @Override
    public void close() {
      all.forEach(Follower::close);
    }
  }

  /** Begins to read the topics among the models. */
  Running start(
      List<ServedName> names,
      ModelSource.Follow follow,
      ScoreOptions scoring,
      Consumer<String> notes) {
    Running running = new Running(new ArrayList<>(), new HashMap<>(), new ArrayList<>());
    try {
      for (ServedName name : names) {
        if (name.topic().isEmpty()) {
          running.sources().add(name.source(follow, scoring));
        } else {
          follow(name, name.topic().get(), follow, scoring, running, notes);
        }
      }
      return running;
    } catch (RuntimeException | Error e) {
      running.close();
      throw e;
    }
  }

  private void follow(
      ServedName name,
      TopicAddress topic,
      ModelSource.Follow follow,
      ScoreOptions scoring,
      Running running,
      Consumer<String> notes) {
    if (name.follow(follow) == ModelSource.Follow.BEST) {
      throw new ConfigException(
          "serve: got --follow best with "
              + topic
              + ", expected latest or none; a topic carries each step, and does not say which is"
              + " the best");
    }
    Path folder = folder(topic);
    ModelSource source = name.in(folder).source(follow, scoring); // Refuses names that are none.
    FollowOptions options = new FollowOptions(folder, limit, topics.full());
    Follower follower = Follower.start(topic, topics.properties(), options, notes);
    running.all().add(follower);
    running.sources().add(source);
    running.feeds().put(source, new Feed(follower));
  }

  private Path folder(TopicAddress topic) {
    Path parent = spool;
    if (parent == null) {
      String cache = System.getProperty("tern.cache", "");
      Path base =
          cache.isEmpty()
              ? Path.of(System.getProperty("user.home"), ".cache", "tern")
              : Path.of(cache);
      parent = base.resolve("spool");
    }
    String brokers = topic.brokers().replaceAll("[^A-Za-z0-9.-]", "_");
    return parent.resolve(brokers).resolve(topic.topic());
  }

  private record Feed(Follower follower) implements ModelFeed {
    @Override
    public void awaitFirst() throws InterruptedException {
      try {
        follower.awaitFirst();
      } catch (StreamException e) {
        throw new RunException(String.valueOf(e.getMessage()), e);
      }
    }

    @Override
    public State state() {
      FollowState state = follower.state();
      Map<String, Long> refused = new HashMap<>();
      state.refused().forEach((why, count) -> refused.put(why.toString(), count));
      return new State(state.ageSeconds(), state.behind(), state.taken(), state.bytes(), refused);
    }
  }
}
