package dev.tern.bench.fuzz;

import dev.tern.internal.cuda.driver.CudaLibraries;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What NVIDIA's compiler makes of a text, without a device: that it accepts it, that registers
 * suffice, and that arithmetic stays as it is written: each operation rounded to nearest, none
 * approximate, none joined with another, subnormal numbers kept.
 */
final class TextCheck {
  private static final Pattern SPILLS = Pattern.compile("(\\d+) bytes spill (?:stores|loads)");

  /** An instruction of the intermediate language on floating-point numbers. */
  private static final Pattern ARITHMETIC =
      Pattern.compile(
          "\\b((?:add|sub|mul|div|fma|mad|sqrt|rcp|rsqrt|ex2|lg2|sin|cos|tanh)\\.[a-z0-9.]*f(?:16|32|64))\\b");

  private static final Pattern EXACT =
      Pattern.compile("(?:add|sub|mul|div|fma|sqrt)\\.rn\\.f(?:32|64)");

  private final String nvcc;

  private TextCheck(String nvcc) {
    this.nvcc = nvcc;
  }

  /** A check by the compiler of this machine, if it has one. */
  static Optional<TextCheck> find() {
    return CudaLibraries.findNvcc().found().map(TextCheck::new);
  }

  /** What is wrong with a text for an architecture such as 90; empty if nothing is. */
  List<String> faults(String text, int architecture) {
    List<String> faults = new ArrayList<>();
    try {
      Path folder = Files.createTempDirectory("tern-text");
      Path source = Files.writeString(folder.resolve("text.cu"), text);
      Path ptx = folder.resolve("text.ptx");
      String target = "-arch=sm_" + architecture;
      String said =
          run(nvcc, "-ptx", target, "-fmad=false", "-o", ptx.toString(), source.toString());
      if (!Files.exists(ptx)) {
        return List.of("nvcc for sm_" + architecture + ": " + said);
      }
      Matcher arithmetic = ARITHMETIC.matcher(Files.readString(ptx));
      while (arithmetic.find()) {
        if (!EXACT.matcher(arithmetic.group(1)).matches()) {
          faults.add("sm_%d: got %s".formatted(architecture, arithmetic.group(1)));
        }
      }
      Path code = folder.resolve("text.cubin");
      said = run(nvcc, "-cubin", target, "-Xptxas", "-v", "-o", code.toString(), ptx.toString());
      Matcher spills = SPILLS.matcher(said);
      while (spills.find()) {
        if (!spills.group(1).equals("0")) {
          faults.add("sm_%d: got %s".formatted(architecture, spills.group()));
        }
      }
      if (!Files.exists(code)) {
        faults.add("ptxas for sm_" + architecture + ": " + said);
      }
      for (Path file : List.of(source, ptx, code, folder)) {
        Files.deleteIfExists(file);
      }
      return faults;
    } catch (IOException e) {
      throw new UncheckedIOException("nvcc: cannot check a text", e);
    }
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
