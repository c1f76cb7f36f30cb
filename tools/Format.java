import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/**
 * Formats the Java sources of the repository ({@code fix}) or fails when one is not formatted
 * ({@code check}). Run as a source file with google-java-format on the class path. Only files
 * changed since the last success are looked at: its time is kept beside the formatter's jars.
 */
final class Format {
  public static void main(String[] args) throws IOException {
    boolean check = args[0].equals("check");
    Path stamp = Path.of("target/format/checked");
    FileTime start = FileTime.fromMillis(System.currentTimeMillis());
    List<String> files = changedSince(stamp);
    if (!files.isEmpty()) {
      List<String> command = new ArrayList<>();
      command.addAll(check ? List.of("--dry-run", "--set-exit-if-changed") : List.of("--replace"));
      command.addAll(files);
      int status =
          ToolProvider.findFirst("google-java-format")
              .orElseThrow()
              .run(
                  new PrintWriter(System.out, true),
                  new PrintWriter(System.err, true),
                  command.toArray(String[]::new));
      if (status != 0) {
        System.err.println("Java sources are not formatted (listed above); run ./format");
        System.exit(1);
      }
    }
    Files.writeString(stamp, "");
    if (check) { // a file changed meanwhile is looked at again
      Files.setLastModifiedTime(stamp, start);
    }
  }

  private static List<String> changedSince(Path stamp) throws IOException {
    long since = Files.exists(stamp) ? Files.getLastModifiedTime(stamp).toMillis() : 0;
    List<String> changed = new ArrayList<>();
    try (Stream<Path> top = Files.list(Path.of("."))) {
      for (Path folder : top.filter(Format::hasSources).sorted().toList()) {
        try (Stream<Path> files = Files.find(folder, 64, (p, a) -> isJava(p))) {
          for (Path file : files.sorted().toList()) {
            if (Files.getLastModifiedTime(file).toMillis() >= since) {
              changed.add(file.toString());
            }
          }
        }
      }
    }
    return changed;
  }

  private static boolean hasSources(Path folder) {
    return folder.endsWith("tools") || Files.isRegularFile(folder.resolve("pom.xml"));
  }

  private static boolean isJava(Path file) {
    return file.toString().endsWith(".java") && !file.toString().contains("/target/");
  }
}
