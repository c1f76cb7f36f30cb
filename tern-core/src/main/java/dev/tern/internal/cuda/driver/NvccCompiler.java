package dev.tern.internal.cuda.driver;

import java.util.ArrayList;
import java.util.List;

/** The compiler command of the CUDA toolkit. */
final class NvccCompiler implements CudaCompiler {
  /** Arithmetic as IEEE 754 has it: the bits of the CPU. */
  private static final List<String> OPTIONS =
      List.of("-cubin", "-fmad=false", "-prec-div=true", "-prec-sqrt=true", "-ftz=false");

  private final String path;
  private final CompilerCommand command;
  private final String name;

  NvccCompiler(String path) {
    this.path = path;
    command = new CompilerCommand(path);
    // Its last line is the build, such as "Build cuda_13.0.r13.0/compiler.36424714_0".
    name = "nvcc " + command.version().lines().toList().getLast().replace("Build ", "");
  }

  @Override
  public byte[] compile(String text, int architecture) {
    List<String> options = new ArrayList<>(OPTIONS);
    options.add("-arch=sm_" + architecture);
    return command.compile(options, text, text);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String identity() {
    return name + " " + OPTIONS;
  }

  @Override
  public String place() {
    return path;
  }
}
