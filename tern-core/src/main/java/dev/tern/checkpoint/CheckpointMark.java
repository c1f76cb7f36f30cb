package dev.tern.checkpoint;

import dev.tern.internal.json.Json;
import java.util.ArrayList;
import java.util.List;

/**
 * What tells a checkpoint from all others.
 *
 * @param step training steps of the model
 * @param hash SHA-256 of its manifest, which has the digests of its files
 * @param before the hashes of the full checkpoint and the deltas that it follows, the first first
 * @param model what the run says about model, tables and settings, which all checkpoints of a run
 *     have alike
 */
public record CheckpointMark(long step, String hash, List<String> before, String model) {
  /** Copies the list. */
  public CheckpointMark {
    before = List.copyOf(before);
  }

  static CheckpointMark of(List<Manifest> parts) {
    Manifest last = parts.getLast();
    List<String> before = parts.stream().limit(parts.size() - 1).map(Manifest::hash).toList();
    return new CheckpointMark(RunFacts.state(last.json()).step(), last.hash(), before, model(last));
  }

  /** The mark of a delta that follows this. */
  CheckpointMark followedBy(Manifest delta) {
    List<String> all = new ArrayList<>(before);
    all.add(hash);
    return new CheckpointMark(RunFacts.state(delta.json()).step(), delta.hash(), all, model(delta));
  }

  private static String model(Manifest part) {
    Json.Obj facts = part.facts();
    facts.fields().remove("state");
    return facts.toString();
  }
}
