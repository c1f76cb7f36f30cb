package dev.tern.serve.http;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Serves models over HTTP and gRPC: by the Open Inference Protocol, version 2, as Triton and KServe
 * speak it, and by that of TensorFlow Serving.
 *
 * <pre>{@code
 * ModelSource source = new ModelSource(
 *     "census", ModelSource.STABLE, Path.of("runs/census"), ModelSource.Follow.LATEST, ScoreOptions.DEFAULT);
 * try (ModelServer server = ModelServer.start(ServeOptions.DEFAULT, List.of(source), System.err::println)) {
 *   System.out.println(server.url());
 *   Thread.currentThread().join();
 * }
 * }</pre>
 */
public final class ModelServer implements AutoCloseable {
  /** The most time that models and requests warm up in. */
  private static final long WARM_NANOS = 17_500_000_000L;

  private static final long LEAST_REQUESTS_NANOS = 5_000_000_000L;
  private static final long MOST_REQUESTS_NANOS = 10_000_000_000L;

  private final ServeOptions options;
  private final Answers answers;
  private final HttpFront front;
  private final List<Place> places = new ArrayList<>();
  private int port;

  private ModelServer(ServeOptions options, Parts parts, Consumer<String> notes) {
    this.options = options;
    answers = new Answers(parts.protocols(), parts.again(), notes);
    Optional<AccessLog> log =
        options.accessLog().map(file -> AccessLog.open(file, parts.metrics().linesDropped, notes));
    front = new HttpFront(options, answers, parts.metrics(), parts.bodies(), log, notes);
  }

  /**
   * Listens, opens all models and drives them until they are fast; then returns. Until then the
   * server says that it lives but is not ready.
   *
   * @param sources those of one name have different labels
   * @param notes takes a line for each thing that who runs the server should know
   */
  public static ModelServer start(
      ServeOptions options, List<ModelSource> sources, Consumer<String> notes) {
    return start(options, sources, Map.of(), notes);
  }

  /**
   * The same for models whose checkpoints come from elsewhere.
   *
   * @param feeds what brings them, of those sources that have one; whoever calls closes them, after
   *     the server
   */
  public static ModelServer start(
      ServeOptions options,
      List<ModelSource> sources,
      Map<ModelSource, ModelFeed> feeds,
      Consumer<String> notes) {
    ServeMetrics metrics = new ServeMetrics();
    BodyBudget bodies = BodyBudget.of(options.limits());
    return start(
        options,
        sources,
        new Parts(
            source -> {
              long memory = source.memory().orElse(options.memory());
              return Optional.ofNullable(feeds.get(source))
                  .map(feed -> FollowedModel.open(source, memory, metrics, notes, feed))
                  .orElseGet(() -> FollowedModel.open(source, memory, metrics, notes));
            },
            ServedProtocols.all(bodies),
            (model, front) -> {
              long end = System.nanoTime() + WARM_NANOS;
              model.versions().forEach(LiveModel::warmUp);
              front.warm(
                  RequestWarmUp.requests(model), RequestWarmUp.call(model), requestsUntil(end));
            },
            (model, fresh) -> fresh.warmUp(),
            metrics,
            bodies),
        notes);
  }

  private static Duration requestsUntil(long end) {
    return Duration.ofNanos(
        Math.clamp(end - System.nanoTime(), LEAST_REQUESTS_NANOS, MOST_REQUESTS_NANOS));
  }

  /**
   * What a server is made of.
   *
   * @param warming makes the models of a name fast before the server is ready
   * @param again makes a model fast that was unloaded, while others answer
   * @param bodies what requests may hold in memory at once
   */
  record Parts(
      Function<ModelSource, LiveModel> opening,
      Answers.Protocols protocols,
      BiConsumer<Hosted, HttpFront> warming,
      BiConsumer<Hosted, LiveModel> again,
      ServeMetrics metrics,
      BodyBudget bodies) {}

  static ModelServer start(
      ServeOptions options, List<ModelSource> sources, Parts parts, Consumer<String> notes) {
    requireDistinct(sources);
    ModelServer server = new ModelServer(options, parts, notes);
    try {
      server.port = server.front.start();
      server.open(sources, parts);
      return server;
    } catch (RuntimeException | Error e) {
      server.free();
      throw e;
    }
  }

  private static void requireDistinct(List<ModelSource> sources) {
    if (sources.isEmpty()) {
      throw new IllegalArgumentException("serve: got no model, expected at least one");
    }
    long distinct = sources.stream().map(s -> s.name() + " " + s.label()).distinct().count();
    if (distinct < sources.size()) {
      throw new IllegalArgumentException(
          "serve: got two models of one name and label, expected one; name them, as in"
              + " census=runs/a census@canary=runs/b");
    }
  }

  private void open(List<ModelSource> sources, Parts parts) {
    Map<String, List<Place>> byName = new LinkedHashMap<>();
    for (ModelSource source : sources) {
      Place place = new Place(source, parts.opening());
      places.add(place);
      place.open();
      byName.computeIfAbsent(source.name(), key -> new ArrayList<>()).add(place);
    }
    List<Hosted> all = new ArrayList<>();
    byName.forEach((name, labels) -> all.add(new Hosted(name, labels)));
    answers.serve(all);
    all.forEach(model -> parts.warming().accept(model, front));
    places.forEach(place -> place.model().ifPresent(LiveModel::follow));
    answers.state(Answers.State.READY);
  }

  /** Where it is reached, as in {@code http://127.0.0.1:8000}. */
  public String url() {
    Listening at = options.listening();
    String host = at.host().contains(":") ? "[" + at.host() + "]" : at.host();
    return (at.tls().isPresent() ? "https://" : "http://") + host + ":" + port;
  }

  /** The port that it listens at. */
  public int port() {
    return port;
  }

  /**
   * The step that each model serves now, by name and label, in the order of the sources; -1 where
   * one is unloaded.
   */
  public List<Long> steps() {
    return places.stream().map(place -> place.model().map(LiveModel::step).orElse(-1L)).toList();
  }

  /**
   * Stops without losing a request: says that it is not ready, still answers for the time of grace,
   * ends what is under way, and frees the models.
   */
  @Override
  public void close() {
    answers.state(Answers.State.DRAINING);
    try {
      Thread.sleep(options.grace());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // Whoever interrupts wants no grace.
    }
    free();
  }

  private void free() {
    front.close();
    places.forEach(Place::close);
  }
}
