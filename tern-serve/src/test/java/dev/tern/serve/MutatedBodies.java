package dev.tern.serve;

import dev.tern.requests.DamagedBytes;
import java.util.List;
import java.util.SplittableRandom;

/** Bodies of requests that were damaged at random; the same for equal seeds. */
final class MutatedBodies {
  private final List<RequestBodies.Body> whole;
  private final DamagedBytes damage;

  /** Damages these. */
  MutatedBodies(List<RequestBodies.Body> whole) {
    this.whole = whole;
    damage = new DamagedBytes(whole.stream().map(RequestBodies.Body::bytes).toList());
  }

  /** A body of a seed. */
  RequestBodies.Body of(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    RequestBodies.Body from = whole.get(random.nextInt(whole.size()));
    byte[] bytes = from.bytes();
    for (int i = 1 + random.nextInt(4); i > 0; i--) {
      bytes = damage.damaged(bytes, random);
    }
    return new RequestBodies.Body(
        bytes, DamagedBytes.jsonLength(from.jsonLength(), from.bytes(), bytes, random));
  }
}
