package dev.tern.internal.eager;

import dev.tern.internal.ir.Node;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A weak identity map from nodes to their values. Thread-safe. */
final class NodeValues {
  /** A weak key, equal to itself alone. */
  private static final class Key extends WeakReference<Node> {
    final int hash;
    final SessionValue held;

    Key(Node node, ReferenceQueue<Node> queue, SessionValue held) {
      super(node, queue);
      hash = System.identityHashCode(node);
      this.held = held;
    }

    @Override
    public int hashCode() {
      return hash;
    }
  }

  /** Looks up keys without making one. */
  private static final class Probe {
    @Nullable Node node;

    @Override
    public int hashCode() {
      return System.identityHashCode(node);
    }

    @Override
    @SuppressWarnings("EqualsUnsafeCast")
    public boolean equals(Object other) {
      return other instanceof Key key && key.refersTo(node);
    }
  }

  private final Map<Object, SessionValue> values = new HashMap<>();
  private final ReferenceQueue<Node> unreachable = new ReferenceQueue<>();
  private final Probe probe = new Probe();

  /** The value of a node, if it has one. */
  synchronized Optional<SessionValue> get(Node node) {
    probe.node = node;
    SessionValue held = values.get(probe);
    probe.node = null;
    return Optional.ofNullable(held);
  }

  /** Adds the value of a node that has none. */
  synchronized void put(Node node, SessionValue held) {
    values.put(new Key(node, unreachable, held), held);
  }

  /** Removes and returns the value of a node, if it has one. */
  synchronized Optional<SessionValue> remove(Node node) {
    probe.node = node;
    SessionValue held = values.remove(probe);
    probe.node = null;
    return Optional.ofNullable(held);
  }

  /** Removes and returns the values of nodes that became unreachable. */
  List<SessionValue> removeUnreachable() {
    Reference<? extends Node> key = unreachable.poll();
    if (key == null) {
      return List.of();
    }
    List<SessionValue> found = new ArrayList<>();
    synchronized (this) {
      for (; key != null; key = unreachable.poll()) {
        values.remove(key);
        found.add(((Key) key).held);
      }
    }
    return found;
  }
}
