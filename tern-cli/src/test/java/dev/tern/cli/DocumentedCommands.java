package dev.tern.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Runs the commands of a file, one a line, in the folder of the process; ends with the exit code of
 * the first that fails. A process of its own, as only a process has a folder.
 */
final class DocumentedCommands {
  private DocumentedCommands() {}

  public static void main(String[] args) throws IOException {
    int code = 0;
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      if (code == 0) {
        MainTest.Result result = MainTest.tern(words(line));
        System.out.println(result.out() + result.err());
        code = result.code();
      }
    }
    System.exit(code);
  }

  private static String[] words(String line) {
    return List.of(line.split("\\s+")).toArray(String[]::new);
  }
}
