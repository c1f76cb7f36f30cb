package dev.tern.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.house.House;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Holds the modules beside core, which {@code HouseTest} holds, to the same sizes. It stands in the
 * module that is built last, where the classes of all others are compiled.
 */
final class HousesTest {
  private static final Path ROOT = Path.of("..");
  private static final String CORE = "tern-core";
  private static final int MOST_FILES = 40;
  private static final int LARGEST_CYCLE = 6;

  /**
   * The largest circles where they are larger: declarations of keys know how they are read, and
   * readers know all keys; forms of Parquet's columns make each other. These numbers only fall.
   */
  private static final Map<String, Integer> LARGER_CYCLES = Map.of("tern-cli", 12, "tern-data", 9);

  private static final int MOST_FILE_LINES = 600;
  private static final int MOST_METHOD_LINES = 60;

  /** Methods and constructors with more than 5 parameters; these numbers only fall. */
  private static final Map<String, Integer> MOST_LONG_SIGNATURES =
      Map.ofEntries(
          Map.entry("tern-data", 19),
          Map.entry("tern-serve", 4),
          Map.entry("tern-stream", 0),
          Map.entry("tern-spark", 2),
          Map.entry("tern-convert", 0),
          Map.entry("tern-cli", 4),
          Map.entry("tern-bench", 14));

  private static final Pattern MODULE = Pattern.compile("<module>([\\w-]+)</module>");

  /** The modules with sources that every build has, without core. */
  static List<String> modules() throws IOException {
    Matcher module = MODULE.matcher(Files.readString(ROOT.resolve("pom.xml")));
    return module
        .results()
        .map(match -> match.group(1))
        .filter(name -> !name.equals(CORE))
        .filter(name -> Files.isDirectory(ROOT.resolve(name).resolve("src/main/java")))
        .toList();
  }

  private static House house(String module) {
    return new House(ROOT.resolve(module));
  }

  @Test
  void allModulesAreHeldToTheirSizes() throws IOException {
    assertThat(modules()).containsExactlyInAnyOrderElementsOf(MOST_LONG_SIGNATURES.keySet());
  }

  @ParameterizedTest
  @MethodSource("modules")
  void everyPackageSaysWhatItIsFor(String module) throws IOException {
    Set<String> silent = house(module).silentPackages();
    silent.removeAll(house(CORE).filesByPackage().keySet()); // A package of core says it there.
    assertThat(silent).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("modules")
  void noPackageHasMoreFilesThanAReaderCanSurvey(String module) throws IOException {
    assertThat(house(module).packagesAbove(MOST_FILES)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("modules")
  void packagesUseEachOtherInOneDirection(String module) throws IOException {
    Set<Set<String>> circles = house(module).circlesOfPackages();
    // The first package of the benchmarks has their list, and what they share.
    circles.removeIf(circle -> module.equals("tern-bench") && circle.contains("bench"));
    assertThat(circles).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("modules")
  void noCircleOfClassesWithinAPackageIsLarge(String module) throws IOException {
    int most = LARGER_CYCLES.getOrDefault(module, LARGEST_CYCLE);
    assertThat(house(module).circlesAbove(most)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("modules")
  void topLevelTypesHaveDistinctSimpleNames(String module) throws IOException {
    assertThat(house(module).namesGivenTwice()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("modules")
  void fewMethodsHaveManyParameters(String module) throws IOException {
    assertThat(house(module).signaturesAbove(5))
        .hasSizeLessThanOrEqualTo(MOST_LONG_SIGNATURES.getOrDefault(module, 0));
  }

  @ParameterizedTest
  @MethodSource("modules")
  void noFileIsLongerThanAReaderCanSurvey(String module) throws IOException {
    assertThat(house(module).filesAbove(MOST_FILE_LINES)).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("modules")
  void noMethodIsLongerThanAPage(String module) throws IOException {
    assertThat(house(module).methodsAbove(MOST_METHOD_LINES)).isEmpty();
  }
}
