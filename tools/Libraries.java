import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Holds the class path of the command, a folder of jars, against the list that somebody reviewed:
 * group:artifact:version, licence, bytes and SHA-256 of each. A library that comes, goes or changes
 * is told, so none comes in unseen with another. Run as a source file.
 *
 * <pre>java tools/Libraries.java tern-cli/target/lib tools/libraries.tsv</pre>
 */
final class Libraries {
  /** Licences that Tern, under Apache-2.0, can be handed on with. */
  private static final Set<String> LICENCES =
      Set.of("Apache-2.0", "MIT", "BSD-3-Clause", "EPL-2.0 OR Apache-2.0", "EPL-2.0 OR LGPL-2.1");

  private record Library(String name, String licence, long bytes, String sha256) {
    /** The jar's name follows from its coordinates. */
    String jar() {
      String[] parts = name.split(":");
      return parts[1] + "-" + parts[2] + ".jar";
    }
  }

  public static void main(String[] args) throws IOException, NoSuchAlgorithmException {
    Path folder = Path.of(args[0]);
    Path list = Path.of(args[1]);
    Map<String, Library> reviewed = read(list);
    List<String> faults = new ArrayList<>();
    long sum = 0;
    Set<String> found = new TreeSet<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path jar : files.sorted().toList()) {
        String name = jar.getFileName().toString();
        sum += Files.size(jar);
        if (!name.startsWith("tern-")) {
          found.add(name);
          check(jar, reviewed.get(name), faults);
        }
      }
    }
    reviewed.forEach((jar, library) -> {
      if (!found.contains(jar)) {
        faults.add(jar + ": got none, expected one; take " + library.name() + " off the list");
      }
      if (!LICENCES.contains(library.licence())) {
        faults.add(
            library.name()
                + ": got the licence "
                + library.licence()
                + ", expected one of "
                + LICENCES);
      }
    });
    if (!faults.isEmpty()) {
      faults.forEach(fault -> System.err.println(list + ": " + fault));
      System.exit(1);
    }
    System.out.printf("%d libraries, with Tern's own jars %.1f MB%n", found.size(), sum / 1e6);
  }

  private static Map<String, Library> read(Path list) throws IOException {
    Map<String, Library> all = new TreeMap<>();
    for (String line : Files.readAllLines(list)) {
      if (!line.startsWith("#")) {
        String[] parts = line.split("\t");
        Library library = new Library(parts[0], parts[1], Long.parseLong(parts[2]), parts[3]);
        all.put(library.jar(), library);
      }
    }
    return all;
  }

  private static void check(Path jar, Library expected, List<String> faults)
      throws IOException, NoSuchAlgorithmException {
    byte[] bytes = Files.readAllBytes(jar);
    String sum = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    if (expected == null) {
      faults.add(
          "%s: got a library that is not listed, expected none; if an earlier build left it, run mvn clean; else review it and its licence, and add GROUP:ARTIFACT:VERSION, LICENCE, %d, %s"
              .formatted(jar.getFileName(), bytes.length, sum));
    } else if (expected.bytes() != bytes.length || !expected.sha256().equals(sum)) {
      faults.add(
          "%s: got %d bytes with the SHA-256 %s, expected %d with %s"
              .formatted(
                  jar.getFileName(), bytes.length, sum, expected.bytes(), expected.sha256()));
    }
  }
}
