package dev.tern.hugectr;

import dev.tern.base.Shown;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The names of tensors of a graph file, each with the layer that makes it. */
final class Tops {
  private final Map<String, Integer> all = new HashMap<>();
  private final Map<String, Integer> known = new HashMap<>();

  /** With the tops of all layers of a file, to tell what is made later from what is not made. */
  Tops(List<Place> layers) {
    for (int i = 0; i < layers.size(); i++) {
      for (String top : layers.get(i).names("top")) {
        all.putIfAbsent(top, i);
      }
    }
  }

  /** Takes the names that a layer makes. */
  void add(Place place, List<String> tops) {
    for (String top : tops) {
      if (known.put(top, known.size()) != null) {
        throw place.wrong(
            "top", top + ", which a layer before it makes", "distinct names; rename one of them");
      }
    }
  }

  /** Throws if a name is not made before the layer at {@code place}. */
  void require(Place place, String bottom) {
    if (known.containsKey(bottom)) {
      return;
    }
    Integer maker = all.get(bottom);
    throw place.wrong(
        "bottom",
        maker == null
            ? bottom + ", which no layer makes"
            : bottom + ", which the dense layer number " + maker + " makes, itself or behind it",
        maker == null
            ? "one of " + Shown.list(known.keySet().stream().sorted().limit(20).toList())
            : "a tensor from before; put layers in the order of their bottoms, which have no"
                + " circle");
  }
}
