package dev.tern.internal.plan;

import dev.tern.internal.ir.Node;
import dev.tern.tensor.Shape;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Nodes that one step of the plan computes: a fused set of elementwise ops and reductions over one
 * iteration space, or a single other op.
 */
final class Group {
  final int id;
  final boolean fused;

  /** The iteration space of a fused group. */
  final Shape space;

  final List<Node> nodes = new ArrayList<>();

  /** Groups that must run before this one. */
  final Set<Group> needs = new HashSet<>();

  Group(int id, boolean fused, Shape space) {
    this.id = id;
    this.fused = fused;
    this.space = space;
  }

  /** Whether this group must run after {@code other}, directly or through others. */
  boolean needsEventually(Group other) {
    return reaches(other, new HashSet<>());
  }

  private boolean reaches(Group other, Set<Group> seen) {
    for (Group need : needs) {
      if (need == other || seen.add(need) && need.reaches(other, seen)) {
        return true;
      }
    }
    return false;
  }
}
