package dev.tern.bench;

import dev.tern.tensor.StepTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Where the time of a training step goes, beside the least that it could take: matrix products at
 * the rate of fused multiply-adds on registers, all else at the bandwidth of a triad over arrays
 * that no cache holds.
 */
final class StepTable {
  /** Products and kernels that take this share of a step are named, with their rate. */
  private static final double NAMED_SHARE = 0.02;

  private static final int LONGEST_NAME = 90;

  private final String model;
  private final int threads;
  private final double gigaflops;
  private final double gigabytes;
  private final List<String> lines = new ArrayList<>();
  private final boolean json;

  /**
   * @param gigaflops of fused multiply-adds, 0 if not known, {@code gigabytes} of a triad, with
   *     these threads
   */
  StepTable(String model, int threads, double gigaflops, double gigabytes, boolean json) {
    this.model = model;
    this.threads = threads;
    this.gigaflops = gigaflops;
    this.gigabytes = gigabytes;
    this.json = json;
  }

  /** {@code sum}, empty at first, and what was spent from {@code before} to {@code after}. */
  static List<StepTime> sum(List<StepTime> sum, List<StepTime> before, List<StepTime> after) {
    List<StepTime> parts = new ArrayList<>();
    for (int i = 0; i < after.size(); i++) {
      StepTime part = after.get(i).since(before.get(i));
      parts.add(sum.isEmpty() ? part : part.plus(sum.get(i)));
    }
    return parts;
  }

  /** Lines for people, or JSON: milliseconds of each part of a step and its floor. */
  List<String> lines(List<StepTime> parts, double stepMillis) {
    Map<String, double[]> kinds = new LinkedHashMap<>();
    double floor = 0;
    double known = 0;
    for (StepTime part : parts) {
      double least = floorMillis(part);
      double[] sums = kinds.computeIfAbsent(kind(part), k -> new double[2]);
      sums[0] += part.milliseconds();
      sums[1] += least;
      known += part.milliseconds();
      floor += least;
    }
    kinds.put("between the parts, metrics", new double[] {stepMillis - known, 0});
    kinds.forEach((kind, sums) -> line(kind, sums[0], sums[1], stepMillis));
    line("the whole step", stepMillis, floor, stepMillis);
    if (!json) {
      parts.stream()
          .filter(part -> isProduct(part) || kind(part).equals("other kernels"))
          .filter(part -> part.milliseconds() >= NAMED_SHARE * stepMillis)
          .forEach(part -> lines.add(kernel(part)));
      lines.add(
          String.format(
              Locale.ROOT,
              "  floor at %.1f GFLOP/s and %.1f GB/s; over it %.1f %% of the step",
              gigaflops,
              gigabytes,
              100 * (stepMillis - floor) / stepMillis));
    }
    return lines;
  }

  private String kernel(StepTime part) {
    String what = part.what();
    double rate = (isProduct(part) ? part.flops() : part.bytes()) / part.milliseconds() / 1e6;
    return String.format(
        Locale.ROOT,
        "  %s %-27s %d threads %9.3f ms  %5.1f %s  %s",
        model,
        isProduct(part) ? "product" : "kernel, " + part.state(),
        threads,
        part.milliseconds(),
        rate,
        isProduct(part) ? "GFLOP/s" : "GB/s",
        what.length() <= LONGEST_NAME ? what : what.substring(0, LONGEST_NAME) + "...");
  }

  private static String kind(StepTime part) {
    if (isProduct(part)) {
      return "matrix products";
    }
    return part.what().endsWith("of rows") || part.what().startsWith("copy of")
        ? part.what()
        : "other kernels";
  }

  private static boolean isProduct(StepTime part) {
    return part.what().startsWith("matmul");
  }

  private double floorMillis(StepTime part) {
    double rate = isProduct(part) ? gigaflops : gigabytes;
    double work = isProduct(part) ? part.flops() : part.bytes();
    return rate == 0 ? 0 : work / rate / 1e6;
  }

  private void line(String part, double millis, double floor, double step) {
    String text =
        json
            ? "{\"bench\":\"train\",\"case\":\"%s:"
                + " %s\",\"threads\":%d,\"value\":%.3f,\"unit\":\"ms\","
                + "\"floor\":%.3f,\"share\":%.3f}"
            : "  %s %-27s %d threads %9.3f ms  floor %9.3f ms  %5.1f %% of the step";
    double share = millis / step;
    lines.add(
        String.format(
            Locale.ROOT, text, model, part, threads, millis, floor, json ? share : 100 * share));
  }
}
