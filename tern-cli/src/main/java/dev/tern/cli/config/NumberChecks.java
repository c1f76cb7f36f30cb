package dev.tern.cli.config;

import dev.tern.data.encode.NumberEncoding;
import java.util.List;
import java.util.Optional;

/** Checks of what several keys say about columns of numbers. */
final class NumberChecks {
  private NumberChecks() {}

  static void run(Settings settings) {
    for (Settings.Group group : settings.all("data.dense")) {
      String vector = group.get(DataKeys.VECTOR);
      if (!vector.equals("none")) {
        transform(group, vector);
        boundaries(group, vector);
      }
    }
  }

  private static void transform(Settings.Group group, String vector) {
    String transform = group.get(DataKeys.TRANSFORM);
    if (transform.equals("bucketize")) {
      throw wrong(
          group,
          DataKeys.VECTOR,
          vector + " beside data.dense.transform: bucketize, expected one of them",
          "remove transform, and give vector: buckets for what it does");
    }
    if (group.get(DataKeys.BESIDE)) {
      return;
    }
    if (!vector.equals("field") && !transform.equals("auto")) {
      throw wrong(
          group,
          DataKeys.TRANSFORM,
          transform + " for numbers of which only bins are read, expected none",
          "remove it, or give beside: true to read the numbers, too");
    }
    if (group.get(DataKeys.MISSING) != 0) {
      throw wrong(
          group,
          DataKeys.MISSING,
          group.get(DataKeys.MISSING)
              + " for numbers that have a vector where they are missing, expected none",
          "remove it, or give beside: true to read the numbers, too");
    }
  }

  private static void boundaries(Settings.Group group, String vector) {
    List<Float> values = group.get(DataKeys.BOUNDARIES).stream().map(Double::floatValue).toList();
    if (values.isEmpty()) {
      return;
    }
    if (group.states(DataKeys.BINS) && !DataKeys.BINS.fallback().equals(bins(group))) {
      throw wrong(
          group,
          DataKeys.BINS,
          group.get(DataKeys.BINS) + " beside data.dense.boundaries, expected one of them",
          "remove it");
    }
    try {
      if (vector.equals("piecewise")) {
        new NumberEncoding.PiecesBetween(values);
      } else {
        new NumberEncoding.Boundaries(values);
      }
    } catch (IllegalArgumentException e) {
      throw new ConfigException(
          group.where(DataKeys.BOUNDARIES)
              + ": "
              + DataKeys.BOUNDARIES.path()
              + ": "
              + e.getMessage(),
          e);
    }
  }

  private static Optional<Long> bins(Settings.Group group) {
    return Optional.of(group.get(DataKeys.BINS));
  }

  private static ConfigException wrong(Settings.Group group, Key<?> key, String got, String cure) {
    return new ConfigException(group.where(key) + ": " + key.path() + ": got " + got + "; " + cure);
  }
}
