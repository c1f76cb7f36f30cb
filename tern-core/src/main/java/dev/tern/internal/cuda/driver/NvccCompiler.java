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
  private final String identity;

  NvccCompiler(String path) {
    this.path = path;
    command = new CompilerCommand(path);
    List<String> version = command.version().lines().toList();
    identity = "nvcc %s %s".formatted(version.getLast(), OPTIONS);
  }

  @Override
  public byte[] compile(String text, int architecture) {
    List<String> options = new ArrayList<>(OPTIONS);
    options.add("-arch=sm_" + architecture);
    return command.compile(options, text, text);
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
