package dev.tern.bench.fuzz;

import dev.tern.internal.cuda.driver.CudaLibraries;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What NVIDIA's compiler makes of a text, without a device: that it accepts it, that registers
 * suffice, and that arithmetic stays as it is written: each operation rounded to nearest, none
 * approximate, none joined with another, subnormal numbers kept.
 */
final class TextCheck {
  /** A function that the compiler begins with, or bytes that lack a register. */
  private static final Pattern SPILLS =
      Pattern.compile("entry function '(\\w+)'|(\\d+) bytes spill (?:stores|loads)");

  /** An instruction of the intermediate language on floating-point numbers. */
  private static final Pattern ARITHMETIC =
      Pattern.compile(
          "\\b((?:add|sub|mul|div|fma|mad|sqrt|rcp|rsqrt|ex2|lg2|sin|cos|tanh)\\.[a-z0-9.]*f(?:16|32|64))\\b");

  private static final Pattern EXACT =
      Pattern.compile("(?:add|sub|mul|div|fma|sqrt)\\.rn\\.f(?:32|64)");

  /** What comes before a kernel in a text, and its name, which says nothing of its code. */
  private static final Pattern KERNEL = Pattern.compile("(?=extern \"C\" __global__)");

  private static final Pattern NAME = Pattern.compile("\\bp\\d+_(\\d+_\\d+)?");

  private final String nvcc;

  /** Kernels that were looked at, without their names. */
  private final Set<String> seen = new HashSet<>();

  private TextCheck(String nvcc) {
    this.nvcc = nvcc;
  }

  /** A check by the compiler of this machine, if it has one. */
  static Optional<TextCheck> find() {
    return CudaLibraries.findNvcc().found().map(TextCheck::new);
  }

  /**
   * The text without kernels that were in an earlier one, but for their names. Empty where it has
   * no others. Not thread-safe.
   */
  String unseen(String text) {
    StringBuilder rest = new StringBuilder();
    for (String kernel : KERNEL.split(text)) {
      if (seen.add(NAME.matcher(kernel).replaceAll("k"))) {
        rest.append(kernel);
      }
    }
    return rest.toString();
  }

  /**
   * What is wrong with a text for architectures such as 90; empty if nothing is. The intermediate
   * language is that of the first, and the code of each is made from it.
   */
  List<String> faults(String text, List<Integer> architectures) {
    List<String> faults = new ArrayList<>();
    try {
      Path folder = Files.createTempDirectory("tern-text");
      Path source = Files.writeString(folder.resolve("text.cu"), text);
      Path ptx = folder.resolve("text.ptx");
      Path code = folder.resolve("text.cubin");
      try {
        int least = architectures.getFirst();
        String said =
            run(
                nvcc,
                "-ptx",
                "-arch=compute_" + least,
                "-fmad=false",
                "-o",
                ptx.toString(),
                source.toString());
        if (!Files.exists(ptx)) {
          return List.of("nvcc for compute_" + least + ": " + said);
        }
        Matcher arithmetic = ARITHMETIC.matcher(Files.readString(ptx));
        while (arithmetic.find()) {
          if (!EXACT.matcher(arithmetic.group(1)).matches()) {
            faults.add("compute_%d: got %s".formatted(least, arithmetic.group(1)));
          }
        }
        for (int architecture : architectures) {
          Files.deleteIfExists(code);
          faults.addAll(faultsOfCode(ptx, code, architecture));
        }
        return faults;
      } finally {
        for (Path file : List.of(source, ptx, code, folder)) {
          Files.deleteIfExists(file);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("nvcc: cannot check a text", e);
    }
  }

  private List<String> faultsOfCode(Path ptx, Path code, int architecture) throws IOException {
    List<String> faults = new ArrayList<>();
    String target = "-arch=sm_" + architecture;
    String said =
        run(nvcc, "-cubin", target, "-Xptxas", "-v", "-o", code.toString(), ptx.toString());
    Matcher spills = SPILLS.matcher(said);
    String kernel = "";
    while (spills.find()) {
      if (spills.group(1) != null) {
        kernel = spills.group(1);
      } else if (!spills.group(2).equals("0")) {
        faults.add("sm_%d, %s: got %s".formatted(architecture, kernel, spills.group()));
      }
    }
    if (!Files.exists(code)) {
      faults.add("ptxas for sm_" + architecture + ": " + said);
    }
    return faults;
  }

  private static String run(String... command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("nvcc: got an interrupt", e);
    }
    return said;
  }
}
