package dev.tern.serve.http;

import dev.tern.serve.wire.RefusedException;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A model under its name and label: in memory, or unloaded until it is asked for again. {@link
 * #load}, {@link #unload} and {@link #close} are for one thread at a time.
 */
final class Place implements AutoCloseable {
  private final ModelSource source;
  private final Function<ModelSource, LiveModel> opening;
  private volatile Optional<LiveModel> model = Optional.empty();

  Place(ModelSource source, Function<ModelSource, LiveModel> opening) {
    this.source = source;
    this.opening = opening;
  }

  String label() {
    return source.label();
  }

  ModelSource source() {
    return source;
  }

  /** The model, if it is in memory. */
  Optional<LiveModel> model() {
    return model;
  }

  /** Opens the model, unless it is open. */
  LiveModel open() {
    LiveModel opened = model.orElseGet(() -> opening.apply(source));
    model = Optional.of(opened);
    return opened;
  }

  /**
   * Opens the model again if it was unloaded.
   *
   * @param warming makes a model fast before requests come to it
   */
  LiveModel load(Consumer<LiveModel> warming) {
    if (model.isPresent()) {
      return model.get();
    }
    LiveModel opened = opening.apply(source);
    try {
      warming.accept(opened);
      opened.follow();
    } catch (RuntimeException | Error e) {
      opened.close();
      throw e;
    }
    model = Optional.of(opened);
    return opened;
  }

  /** Takes no more requests, and frees the model once those under way are answered. */
  void unload() {
    Optional<LiveModel> leaving = model;
    model = Optional.empty();
    leaving.ifPresent(LiveModel::close);
  }

  /**
   * The version that answers now, held until the lease is closed.
   *
   * @throws RefusedException 503 where the model is unloaded
   */
  LiveModel.Lease lease() {
    Optional<LiveModel> now = model;
    try {
      return now.orElseThrow(this::unloaded).lease();
    } catch (IllegalStateException e) {
      if (model.equals(now)) {
        throw e;
      }
      throw unloaded(); // It left between the two.
    }
  }

  private RefusedException unloaded() {
    return new RefusedException(
        503,
        "model %s: got a request while label %s is unloaded; load it, or ask for another label"
            .formatted(source.name(), source.label()));
  }

  @Override
  public void close() {
    unload();
  }
}
