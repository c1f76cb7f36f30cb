package dev.tern.serve.http;

import dev.tern.serve.ServedVersion;
import dev.tern.serve.wire.RefusedException;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;

/** A model without a network, whose leases are counted. */
final class FakeModel implements LiveModel {
  private final String name;
  final AtomicInteger leases = new AtomicInteger();
  volatile long step;
  volatile boolean isFollowing;
  volatile boolean isClosed;

  FakeModel(String name, long step) {
    this.name = name;
    this.step = step;
  }

  @Override
  public Lease lease() {
    leases.incrementAndGet();
    ServedVersion now = new ServedVersion(name, step, (ServedVersion.Scorer) null);
    return new Lease() {
      @Override
      public ServedVersion version() {
        return now;
      }

      @Override
      public void close() {
        leases.decrementAndGet();
      }
    };
  }

  @Override
  public Optional<ModelFeed> feed() {
    return Optional.of(
        new ModelFeed() {
          @Override
          public void awaitFirst() {
            throw new IllegalStateException("fake model: nothing comes");
          }

          @Override
          public State state() {
            return new State(Double.POSITIVE_INFINITY, 0, 0, 0, Map.of("gap", 0L));
          }
        });
  }

  @Override
  public long step() {
    return step;
  }

  @Override
  public long loadedMillis() {
    return 1_000;
  }

  @Override
  public long memoryBytes() {
    return 4_096;
  }

  @Override
  public void warmUp() {
    throw new IllegalStateException("fake model: nothing to warm");
  }

  @Override
  public void follow() {
    isFollowing = true;
  }

  @Override
  public void load(OptionalLong wanted) {
    if (wanted.isPresent() && wanted.getAsLong() > 100) {
      throw new RefusedException(
          400, "step: got " + wanted.getAsLong() + ", expected one there is");
    }
    step = wanted.orElse(100);
  }

  @Override
  public void close() {
    isClosed = true;
  }
}
