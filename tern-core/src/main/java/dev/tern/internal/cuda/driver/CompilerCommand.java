package dev.tern.internal.cuda.driver;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A compiler that is a command: a text goes into a file, code comes out of another. */
final class CompilerCommand {
  /** What messages call the text. */
  static final String NAME = "kernels.cu";

  private static final long MINUTES = 20;

  private final String command;

  CompilerCommand(String command) {
    this.command = command;
  }

  /**
   * Compiles.
   *
   * @param options all but the names of files
   * @param whole what the compiler sees
   * @param text the part of it that lines of messages belong to
   */
  byte[] compile(List<String> options, String whole, String text) {
    try {
      Path folder = Files.createTempDirectory("tern-compile");
      try {
        Path in = Files.writeString(folder.resolve(NAME), whole);
        Path out = folder.resolve("code");
        List<String> line = new ArrayList<>(options);
        line.addAll(List.of("-o", out.toString(), in.toString()));
        Output output = run(line, folder.resolve("log"));
        if (output.status() != 0 || !Files.exists(out)) {
          throw CudaCompilerException.of(command, output.text(), text);
        }
        return Files.readAllBytes(out);
      } finally {
        remove(folder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(command + ": got an error of files while compiling", e);
    }
  }

  /** What the command prints when it is asked for its version. */
  String version() {
    try {
      Path log = Files.createTempFile("tern-version", ".log");
      try {
        Output output = run(List.of("--version"), log);
        if (output.status() != 0) {
          throw new IllegalStateException(
              "%s: got status %d for --version, expected 0; %s"
                  .formatted(command, output.status(), output.text().strip()));
        }
        return output.text().strip();
      } finally {
        Files.deleteIfExists(log);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(command + ": got an error while asked for its version", e);
    }
  }

  private record Output(int status, String text) {}

  private Output run(List<String> arguments, Path log) throws IOException {
    List<String> line = new ArrayList<>();
    line.add(command);
    line.addAll(arguments);
    Process process =
        new ProcessBuilder(line).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    try {
      if (!process.waitFor(MINUTES, TimeUnit.MINUTES)) {
        throw new IllegalStateException(
            "%s: got no end within %d minutes, expected one; try the command by hand"
                .formatted(command, MINUTES));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(command + ": got an interrupt while compiling", e);
    } finally {
      process.destroyForcibly();
    }
    return new Output(
        process.exitValue(), new String(Files.readAllBytes(log), Charset.defaultCharset()));
  }

  private static void remove(Path folder) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
    Files.delete(folder);
  }
}
