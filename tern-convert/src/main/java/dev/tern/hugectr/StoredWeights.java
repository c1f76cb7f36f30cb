package dev.tern.hugectr;

import java.util.Optional;

/**
 * An array in a file of dense weights.
 *
 * @param layer what the array belongs to, for errors, such as {@code layers[4] fc1}
 * @param parameter name of the parameter in Tern; empty for what HugeCTR stores and never uses
 * @param unused how many floats those are
 */
record StoredWeights(String layer, Optional<String> parameter, int unused) {
  static StoredWeights of(String layer, String parameter) {
    return new StoredWeights(layer, Optional.of(parameter), 0);
  }

  static StoredWeights unused(String layer, int floats) {
    return new StoredWeights(layer, Optional.empty(), floats);
  }
}
