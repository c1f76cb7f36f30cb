package dev.tern.serve.http;

import dev.tern.base.DataException;
import dev.tern.checkpoint.Checkpoint;
import dev.tern.checkpoint.CheckpointWatch;
import dev.tern.predict.ModelEvent;
import dev.tern.predict.ModelVersion;
import dev.tern.predict.ServedModel;
import dev.tern.predict.ServedOptions;
import dev.tern.serve.ServedVersion;
import dev.tern.serve.wire.RefusedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A checkpoint, or a run whose checkpoints are served as training writes them. */
final class FollowedModel implements LiveModel {
  /** How long updates are rehearsed before there are any. */
  private static final Duration REHEARSAL = Duration.ofMillis(1_500);

  /** How often a choice is made both ways before requests make it one way. */
  private static final int REHEARSALS = 20_000;

  /** A pinned version; what requests are given of it is made once. */
  private record Known(@Nullable ModelVersion pinned, ServedVersion version) {}

  private final ModelSource source;
  private final ServeMetrics metrics;
  private final Consumer<String> notes;
  private final Optional<ModelFeed> feed;
  private final ServedModel model;
  private volatile long loadedMillis = System.currentTimeMillis();
  private volatile Optional<Long> writtenMillis = Optional.empty();
  private final AtomicLong deltas = new AtomicLong();
  private final AtomicLong deltaRows = new AtomicLong();
  private volatile long step;
  private volatile boolean isOpen;
  private volatile Known known;

  private FollowedModel(
      ModelSource source,
      long memory,
      ServeMetrics metrics,
      Consumer<String> notes,
      Optional<ModelFeed> feed) {
    this.source = source;
    this.metrics = metrics;
    this.notes = notes;
    this.feed = feed;
    CheckpointWatch.Follow follow =
        source.follow() == ModelSource.Follow.LATEST
            ? CheckpointWatch.Follow.LATEST
            : CheckpointWatch.Follow.BEST;
    ServedOptions plain =
        ServedOptions.DEFAULT.withScoring(source.scoring()).withFollow(follow).withMemory(memory);
    ServedOptions options = source.candidates().map(plain::withCandidates).orElse(plain);
    model = ServedModel.open(source.path(), options, this::heard);
    try (ModelVersion first = model.pin()) {
      step = first.step();
      known = new Known(first, ServedVersion.of(source.name(), first));
    }
    isOpen = true;
  }

  /** Opens what {@code source} names, in {@code memory} bytes outside the heap at most. */
  static FollowedModel open(
      ModelSource source, long memory, ServeMetrics metrics, Consumer<String> notes) {
    return new FollowedModel(source, memory, metrics, notes, Optional.empty());
  }

  /** The same, once {@code feed} has brought a checkpoint. */
  static FollowedModel open(
      ModelSource source,
      long memory,
      ServeMetrics metrics,
      Consumer<String> notes,
      ModelFeed feed) {
    try {
      feed.awaitFirst();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(source.name() + ": interrupted before it was loaded", e);
    }
    return new FollowedModel(source, memory, metrics, notes, Optional.of(feed));
  }

  private void heard(ModelEvent event) {
    if (event instanceof ModelEvent.Loaded loaded) {
      note(loaded);
    }
    if (!isOpen && event instanceof ModelEvent.Loaded) {
      return; // The first version; who opens the model says so.
    }
    String name = source.name() + "@" + source.label() + ": ";
    switch (event) {
      case ModelEvent.Loaded loaded -> {
        took(loaded.step());
        String how = loaded.how().name().toLowerCase(Locale.ROOT);
        String seconds = String.format(Locale.ROOT, "%.1f", loaded.took().toMillis() / 1e3);
        notes.accept(name + "serves step " + loaded.step() + " (" + how + ", " + seconds + " s)");
      }
      case ModelEvent.RolledBack back -> {
        took(back.step());
        writtenMillis = Optional.empty();
        notes.accept(name + "went back from step " + back.from() + " to step " + back.step());
      }
      case ModelEvent.Refused refused -> {
        metrics.reloadFailures.increment();
        String then = isOpen ? "; step " + step + " goes on serving" : "; it is left out";
        notes.accept(name + refused.reason() + then);
      }
    }
  }

  private void note(ModelEvent.Loaded loaded) {
    writtenMillis = written(loaded.read().checkpoint());
    if (loaded.how() != ModelEvent.How.WHOLE) {
      deltas.incrementAndGet();
      deltaRows.addAndGet(loaded.read().rows());
    }
  }

  /** When a checkpoint was written; empty where training has removed it. */
  private static Optional<Long> written(Path checkpoint) {
    try {
      return Optional.of(Files.getLastModifiedTime(checkpoint.resolve("manifest.json")).toMillis());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private void took(long now) {
    step = now;
    loadedMillis = System.currentTimeMillis();
  }

  @Override
  public Lease lease() {
    ModelVersion pinned = model.pin();
    ServedVersion version = version(pinned);
    return new Lease() {
      @Override
      public ServedVersion version() {
        return version;
      }

      @Override
      public void close() {
        pinned.close();
      }
    };
  }

  private ServedVersion version(ModelVersion pinned) {
    Known last = known;
    if (last.pinned() != pinned) {
      last = new Known(pinned, ServedVersion.of(source.name(), pinned));
      known = last;
    }
    return last.version();
  }

  @Override
  public Optional<ModelFeed> feed() {
    return feed;
  }

  @Override
  public long step() {
    return step;
  }

  @Override
  public long loadedMillis() {
    return loadedMillis;
  }

  @Override
  public long memoryBytes() {
    return model.memoryInUse();
  }

  @Override
  public Facts facts() {
    try (ModelVersion now = model.pin()) {
      return new Facts(
          deltas.get(),
          deltaRows.get(),
          writtenMillis,
          now.items().map(items -> new Candidates(items.size(), items.bytes())));
    } catch (IllegalStateException e) {
      return LiveModel.super.facts(); // It is being unloaded.
    }
  }

  @Override
  public void warmUp() {
    model.warmUp();
    if (isFollowing()) {
      model.rehearse(REHEARSAL);
      rehearseVersions();
    }
  }

  /** Has the JIT see versions that are new, before it makes code for requests. */
  private void rehearseVersions() {
    try (ModelVersion now = model.pin()) {
      Known none = new Known(null, known.version());
      for (int i = 0; i < REHEARSALS; i++) {
        if (i % 2 == 0) {
          known = none;
        }
        version(now);
      }
    }
  }

  @Override
  public void follow() {
    if (isFollowing()) {
      model.start();
    }
  }

  private boolean isFollowing() {
    return source.follow() != ModelSource.Follow.NONE && !Checkpoint.isAt(source.path());
  }

  @Override
  public void load(OptionalLong wanted) {
    if (wanted.isEmpty()) {
      model.goOn();
      while (model.refresh()) {
        continue; // Changes come one by one.
      }
      return;
    }
    try {
      model.rollBack(wanted.getAsLong());
    } catch (DataException e) {
      notes.accept(source.name() + ": " + e.getMessage());
      throw new RefusedException(
          400,
          "step: got %s, expected one of %s in memory, or one of a checkpoint of the run"
              .formatted(wanted.getAsLong(), model.earlierSteps()));
    }
  }

  @Override
  public void close() {
    model.close();
  }
}
