package dev.tern.internal.plan;

import dev.tern.internal.ir.Node;
import dev.tern.internal.ir.Program;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Sorts groups so that each comes after what it needs. Updates, and groups that free more memory
 * than they take, run as soon as they can; the others in the order in which they were recorded.
 *
 * <p>One exception: where two readers of a value are left and the later one could write its result
 * over the value, the other reader comes first. Example: the gradient of a weight follows directly
 * on the gradient of its layer and comes before a gradient that is written over an activation.
 */
final class GroupOrder {
  private final ValuePlaces places;
  private final Storages storages;
  private final Map<Group, Integer> rank = new HashMap<>();
  private final Map<Group, Set<Integer>> touched = new HashMap<>();

  /** By storage, how many groups have yet to read or write it; one more where it is a result. */
  private final Map<Integer, Integer> users = new HashMap<>();

  private final Set<Integer> begun = new HashSet<>();

  private GroupOrder(ValuePlaces places) {
    this.places = places;
    storages = places.storages();
  }

  static List<Group> of(Program program, List<Group> groups, ValuePlaces places) {
    GroupOrder order = new GroupOrder(places);
    order.note(program, groups);
    List<Group> sorted = order.sort(groups);
    if (sorted.size() != groups.size()) {
      throw new AssertionError("planner: groups wait for each other in\n" + program);
    }
    return sorted;
  }

  private void note(Program program, List<Group> groups) {
    Map<Node, Integer> position = new IdentityHashMap<>();
    program.nodes().forEach(node -> position.put(node, position.size()));
    for (Group group : groups) {
      boolean updatesOnly =
          places.stored(group).stream()
              .allMatch(n -> program.updates().stream().anyMatch(u -> u.value() == n));
      int last = group.nodes.stream().mapToInt(position::get).max().orElseThrow();
      rank.put(group, updatesOnly ? -1 : last);
      Set<Integer> own = new TreeSet<>();
      group.reads().forEach(node -> own.add(places.layout(node).storage()));
      places.stored(group).forEach(node -> own.add(places.layout(node).storage()));
      own.removeIf(storages::isLeaf);
      touched.put(group, own);
      own.forEach(storage -> users.merge(storage, 1, Integer::sum));
    }
    program.outputs().forEach(node -> users.merge(places.layout(node).storage(), 1, Integer::sum));
    program
        .updates()
        .forEach(update -> users.merge(places.layout(update.value()).storage(), 1, Integer::sum));
  }

  private List<Group> sort(List<Group> groups) {
    Map<Group, Integer> waiting = new HashMap<>();
    Map<Group, List<Group>> followers = new HashMap<>();
    List<Group> ready = new ArrayList<>();
    for (Group group : groups) {
      waiting.put(group, group.needs.size());
      for (Group need : group.needs) {
        followers.computeIfAbsent(need, g -> new ArrayList<>()).add(group);
      }
      if (group.needs.isEmpty()) {
        ready.add(group);
      }
    }
    Comparator<Group> byUrgency = Comparator.comparingLong(this::urgency);
    Comparator<Group> first =
        byUrgency.thenComparing(group -> rank.getOrDefault(group, 0)).thenComparing(g -> g.id);
    List<Group> sorted = new ArrayList<>();
    while (!ready.isEmpty()) {
      Group group = letGo(ready.stream().min(first).orElseThrow(), ready);
      ready.remove(group);
      sorted.add(group);
      take(group);
      for (Group follower : followers.getOrDefault(group, List.of())) {
        if (waiting.merge(follower, -1, Integer::sum) == 0) {
          ready.add(follower);
        }
      }
    }
    return sorted;
  }

  /**
   * The group itself, or another that should come before it: the only other user of a storage that
   * the group could then write over, where the other costs less memory than that storage has.
   */
  private Group letGo(Group group, List<Group> ready) {
    if (change(group) <= 0) {
      return group;
    }
    for (Group other : ready) {
      for (int storage : touched.getOrDefault(other, Set.of())) {
        if (other != group
            && users.getOrDefault(storage, 0) == 2
            && touched.getOrDefault(group, Set.of()).contains(storage)
            && change(other) < storages.bytes(storage)
            && places.mayTake(group, storage)) {
          return other;
        }
      }
    }
    return group;
  }

  /** The bytes by which the group changes live memory, if it frees more than it takes; else 0. */
  private long urgency(Group group) {
    return rank.getOrDefault(group, 0) < 0 ? Long.MIN_VALUE : Math.min(0, change(group));
  }

  private long change(Group group) {
    long change = 0;
    for (int storage : touched.getOrDefault(group, Set.of())) {
      boolean isNew = !begun.contains(storage);
      boolean dies = users.getOrDefault(storage, 0) == 1;
      if (isNew != dies) {
        change += isNew ? storages.bytes(storage) : -storages.bytes(storage);
      }
    }
    return change;
  }

  private void take(Group group) {
    for (int storage : touched.getOrDefault(group, Set.of())) {
      begun.add(storage);
      users.merge(storage, -1, Integer::sum);
    }
  }
}
