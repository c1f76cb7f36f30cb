package dev.tern;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.house.House;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Holds core to sizes that a reader can keep in mind: lines a package, files a package, classes
 * that depend on each other in a circle, lines and parameters a method. {@code HousesTest} of
 * {@code tern-bench} holds the other modules to them.
 */
final class HouseTest {
  private static final int MOST_FILES = 40;
  private static final int LARGEST_CYCLE = 6;
  private static final int MOST_LINES = 96_400;

  /** Methods and constructors of core with more than 5 parameters. */
  private static final int MOST_LONG_SIGNATURES = 40;

  private static final int MOST_FILE_LINES = 600;
  private static final int MOST_METHOD_LINES = 60;

  /**
   * Loops over vectors that are longer all the same: C2 would box the vectors that go from one
   * method to another, as their headers say. This list only gets shorter.
   */
  private static final Set<String> LONG_METHODS =
      Set.of(
          "dev/tern/internal/kernel/matmul/VectorBlocks.interleave",
          "dev/tern/internal/kernel/matmul/VectorPackedTile.run",
          "dev/tern/internal/kernel/matmul/VectorTile.rows",
          "dev/tern/internal/kernel/matmul/VectorTile.tile",
          "dev/tern/internal/kernel/ops/VectorPairs.elements");

  private static final House CORE = new House(Path.of(""));
  private static final Path MAP = Path.of("../ARCHITECTURE.md");

  /** A row of the map's table: package, lines at most, what it holds. */
  private static final Pattern BUDGET = Pattern.compile("\\| `([a-z.]+)` \\| ([\\d,]+) \\|.*");

  @Test
  void everyPackageSaysWhatItIsFor() throws IOException {
    assertThat(CORE.silentPackages()).isEmpty();
  }

  @Test
  void noPackageHasMoreFilesThanAReaderCanSurvey() throws IOException {
    assertThat(CORE.packagesAbove(MOST_FILES)).isEmpty();
  }

  @Test
  void everyPackageKeepsToItsBudgetOfLines() throws IOException {
    Map<String, Integer> budgets = budgets();
    Map<String, List<Path>> packages = CORE.filesByPackage();
    assertThat(packages.keySet()).as("rows of ARCHITECTURE.md").isEqualTo(budgets.keySet());
    for (Map.Entry<String, List<Path>> room : packages.entrySet()) {
      assertThat(lines(room.getValue()))
          .as("lines of %s: make it smaller, or raise its budget in ARCHITECTURE.md", room.getKey())
          .isLessThanOrEqualTo(budgets.get(room.getKey()));
    }
    assertThat(budgets.values().stream().mapToInt(Integer::intValue).sum())
        .as("the budgets together")
        .isLessThanOrEqualTo(MOST_LINES);
  }

  @Test
  void noCircleOfClassesWithinAPackageIsLarge() throws IOException {
    assertThat(CORE.circlesAbove(LARGEST_CYCLE)).isEmpty();
  }

  @Test
  void topLevelTypesHaveDistinctSimpleNames() throws IOException {
    assertThat(CORE.namesGivenTwice()).isEmpty();
  }

  @Test
  void fewMethodsHaveManyParameters() throws IOException {
    assertThat(CORE.signaturesAbove(5)).hasSizeLessThanOrEqualTo(MOST_LONG_SIGNATURES);
  }

  @Test
  void noFileIsLongerThanAReaderCanSurvey() throws IOException {
    assertThat(CORE.filesAbove(MOST_FILE_LINES)).isEmpty();
  }

  @Test
  void noMethodIsLongerThanAPage() throws IOException {
    assertThat(CORE.methodsAbove(MOST_METHOD_LINES).keySet()).isEqualTo(LONG_METHODS);
  }

  private static Map<String, Integer> budgets() throws IOException {
    Map<String, Integer> budgets = new TreeMap<>();
    for (String line : Files.readAllLines(MAP)) {
      Matcher row = BUDGET.matcher(line);
      if (row.matches()) {
        budgets.put(row.group(1), Integer.parseInt(row.group(2).replace(",", "")));
      }
    }
    return budgets;
  }

  private static int lines(List<Path> files) throws IOException {
    int lines = 0;
    for (Path file : files) {
      lines += Files.readAllLines(file).size();
    }
    return lines;
  }
}
