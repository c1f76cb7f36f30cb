package dev.tern.data;

import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * How fields of text became the values of rows. A checkpoint keeps it, so that a field that stands
 * alone is taken apart as in training, and files are read again as they were.
 *
 * <p>With the separator {@code |} for slot {@code tags} and spaces to be dropped, the field {@code
 * " red|blue"} is the two values {@code red} and {@code blue}.
 *
 * @param trimmed characters that are dropped before and after a field; empty for none
 * @param separators for a slot by name the text between the values of one of its fields; a slot
 *     without one has one value a field
 * @param missing texts that say that a value is missing, as an empty field does
 * @param settings what a tool that reads files needs to know beside, as a JSON object that this
 *     package does not look into
 */
public record Reading(
    String trimmed, Map<String, String> separators, Set<String> missing, String settings) {
  /** Fields that are values as they stand. */
  public static final Reading PLAIN = new Reading("", Map.of(), Set.of(), "{}");

  public Reading {
    Objects.requireNonNull(trimmed, "trimmed");
    separators = Map.copyOf(separators);
    missing = Set.copyOf(missing);
    Objects.requireNonNull(settings, "settings");
  }

  /** This with other settings. */
  public Reading withSettings(String json) {
    return new Reading(trimmed, separators, missing, json);
  }
}
