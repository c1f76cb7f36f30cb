package dev.tern.serve.http;

import dev.tern.serve.http.metrics.ModelMetrics;
import dev.tern.serve.wire.JsonOutput;
import dev.tern.serve.wire.RefusedException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * How requests of the server to itself are told from those of callers, and what is otherwise for
 * them. Each decision is a method of its own that {@link #rehearse} has gone both ways: where the
 * JIT has seen one way alone it makes code for that one, and throws it away at the first caller.
 */
final class Guest {
  private static final int TIMES = 20_000;

  private Guest() {}

  /**
   * Where the server listens for itself.
   *
   * @param connector empty where it does not
   * @param secret what its requests bring
   */
  record Door(Optional<Object> connector, String secret) {
    static final Door CLOSED = new Door(Optional.empty(), "");
  }

  /**
   * Whether a request is one of the server to itself.
   *
   * @param connector that it came by
   * @param secret that it brings
   * @throws RefusedException 404 for others that come by that port
   */
  static boolean isOwn(Door door, Object connector, Optional<String> secret) {
    if (door.connector().isEmpty() || door.connector().get() != connector) {
      return false;
    }
    if (!secret.equals(Optional.of(door.secret()))) {
      throw new RefusedException(404, "Not Found");
    }
    return true;
  }

  /** Where a request is counted. */
  static ModelMetrics metrics(boolean isOwn, ModelMetrics own, ModelMetrics others) {
    return isOwn ? own : others;
  }

  /** Whether a request comes too early. */
  static boolean isEarly(Answers.State state, boolean isOwn) {
    return state == Answers.State.LOADING && !isOwn;
  }

  /** Goes all ways, before requests go some of them. */
  static void rehearse(ModelMetrics own, ModelMetrics others) {
    Object here = new Object();
    Object there = new Object();
    Door[] doors = {Door.CLOSED, new Door(Optional.of(here), "")};
    Answers.State[] states = Answers.State.values();
    ModelMetrics fresh = new ModelMetrics(""); // Counters that no two threads add to.
    JsonOutput digits = new JsonOutput();
    Random random = new Random(1);
    Map<Integer, Integer> map = new HashMap<>();
    long seen = 0;
    for (int i = 0; i < TIMES; i++) {
      digits.clear();
      digits.number((float) (random.nextDouble() * Math.pow(10, random.nextInt(-9, 3))));
      digits.integer(random.nextInt(1 << random.nextInt(1, 31)));
      seen += digits.size();
      map.clear();
      if ((i & 1) == 0) {
        map.put(i, i);
      }
      boolean isOwn = isOwn(doors[i & 1], (i & 2) == 0 ? here : there, Optional.of(""));
      seen += metrics(isOwn, own, others) == own ? 1 : 0;
      seen += isEarly(states[i % states.length], (i & 4) == 0) ? 1 : 0;
      fresh.rehearse();
    }
    if (seen == 0) {
      throw new IllegalStateException("warm-up: got none of the ways, expected some of each");
    }
  }
}
