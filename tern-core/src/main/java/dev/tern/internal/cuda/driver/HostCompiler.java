package dev.tern.internal.cuda.driver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The compiler for the simulated device: g++ sees a text behind the driver's own beginning, and
 * makes a shared object, which the simulated driver opens as a module.
 */
final class HostCompiler implements CudaCompiler {
  private static final List<String> OPTIONS =
      List.of(
          "-x",
          "c++",
          "-std=c++17",
          // Texts are many and run few times: what more effort of the compiler brings is less than
          // it takes.
          "-O1",
          "-w",
          "-ffp-contract=off",
          "-fwrapv",
          "-fno-strict-aliasing",
          "-fno-math-errno",
          "-fno-gnu-unique",
          "-march=native",
          "-shared",
          "-fPIC");

  private static final Pattern COMMENT = Pattern.compile("//[^\\n]*|/\\*.*?\\*/", Pattern.DOTALL);
  private static final Pattern KERNEL =
      Pattern.compile(
          "__global__\\s+(?:__launch_bounds__\\s*\\([^)]*\\)\\s*)?void\\s+"
              + "(?:__launch_bounds__\\s*\\([^)]*\\)\\s*)?(\\w+)\\s*\\(");

  /** Shared memory whose size the launch tells: an element type, a name. */
  private static final Pattern DYNAMIC_SHARED =
      Pattern.compile(
          "extern\\s+__shared__\\s+(?:__align__\\s*\\(\\s*\\d+\\s*\\)\\s*)?"
              + "(\\w[\\w ]*?)\\s+(\\w+)\\s*\\[\\s*\\]\\s*;");

  private final String path;
  private final CompilerCommand command;
  private final String shim;
  private final String name;
  private final String identity;

  /**
   * @param shim what each text begins with
   */
  HostCompiler(String path, String shim) {
    this.path = path;
    this.shim = shim;
    command = new CompilerCommand(path);
    name = command.version().lines().findFirst().orElse("g++");
    // A file of a cache that several machines share must not meet a processor with less.
    identity = "%s %s %s %s".formatted(name, OPTIONS, processor(), shim);
  }

  @Override
  public byte[] compile(String text, int architecture) {
    StringBuilder whole = new StringBuilder(shim);
    whole.append("\n#line 1 \"").append(CompilerCommand.NAME).append("\"\n");
    whole.append(DYNAMIC_SHARED.matcher(text).replaceAll("TERN_DYNAMIC_SHARED($1, $2);"));
    whole.append('\n');
    for (String kernel : kernels(text)) {
      whole.append("TERN_ENTRY(").append(kernel).append(")\n");
    }
    return command.compile(OPTIONS, whole.toString(), text);
  }

  /** The names of the kernels that a text defines. */
  private static List<String> kernels(String text) {
    String code = COMMENT.matcher(text).replaceAll(" ");
    List<String> names = KERNEL.matcher(code).results().map(m -> m.group(1)).toList();
    long marks = Pattern.compile("\\b__global__\\b").matcher(code).results().count();
    if (marks != names.size()) {
      throw new CudaCompilerException(
          "g++: got %d times __global__ and %d kernels, expected as many; write each as %s"
              .formatted(marks, names.size(), "__global__ void __launch_bounds__(N) name("));
    }
    return names;
  }

  private static String processor() {
    Path file = Path.of("/proc/cpuinfo");
    if (!Files.isReadable(file)) {
      return "";
    }
    try (Stream<String> lines = Files.lines(file)) {
      return lines
          .filter(line -> line.startsWith("flags") || line.startsWith("Features"))
          .findFirst()
          .orElse("");
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": got an error while read", e);
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String identity() {
    return identity;
  }

  @Override
  public String place() {
    return path;
  }
}
