package dev.tern;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Holds core to sizes that a reader can keep in mind: lines a package, files a package, classes
 * that depend on each other in a circle, parameters a method.
 */
final class HouseTest {
  private static final int MOST_FILES = 40;
  private static final int LARGEST_CYCLE = 6;
  private static final int MOST_LINES = 89_700;

  /** Methods and constructors of core with more than 5 parameters. */
  private static final int MOST_LONG_SIGNATURES = 40;

  private static final Path SOURCES = Path.of("src/main/java");
  private static final Path MAP = Path.of("../ARCHITECTURE.md");

  /** A row of the map's table: package, lines at most, what it holds. */
  private static final Pattern BUDGET = Pattern.compile("\\| `([a-z.]+)` \\| ([\\d,]+) \\|.*");

  @Test
  void everyPackageSaysWhatItIsFor() throws IOException {
    Set<String> silent = new TreeSet<>();
    for (Map.Entry<String, List<Path>> room : filesByPackage().entrySet()) {
      if (room.getValue().stream().noneMatch(file -> file.endsWith("package-info.java"))) {
        silent.add(room.getKey());
      }
    }
    assertThat(silent).isEmpty();
  }

  @Test
  void noPackageHasMoreFilesThanAReaderCanSurvey() throws IOException {
    filesByPackage()
        .forEach((room, files) -> assertThat(files).as(room).hasSizeLessThanOrEqualTo(MOST_FILES));
  }

  @Test
  void everyPackageKeepsToItsBudgetOfLines() throws IOException {
    Map<String, Integer> budgets = budgets();
    Map<String, List<Path>> packages = filesByPackage();
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
    Map<String, Set<String>> uses = CoreClasses.usesByTopLevelType();
    for (String type : uses.keySet()) {
      Set<String> circle = reached(type, uses);
      circle.removeIf(other -> !reached(other, uses).contains(type));
      assertThat(circle)
          .as("classes that depend on %s and on which it depends", type)
          .hasSizeLessThanOrEqualTo(LARGEST_CYCLE);
    }
  }

  @Test
  void topLevelTypesHaveDistinctSimpleNames() throws IOException {
    Map<String, List<String>> byName =
        CoreClasses.usesByTopLevelType().keySet().stream()
            .collect(Collectors.groupingBy(CoreClasses::simpleName));
    byName.values().removeIf(types -> types.size() == 1);
    assertThat(byName).isEmpty();
  }

  @Test
  void fewMethodsHaveManyParameters() throws IOException {
    Set<String> many = new TreeSet<>();
    for (ClassModel type : CoreClasses.all()) {
      for (MethodModel method : type.methods()) {
        if (parameters(type, method) > 5) {
          many.add(
              "%s.%s%s"
                  .formatted(
                      type.thisClass().asInternalName(),
                      method.methodName().stringValue(),
                      method.methodType().stringValue()));
        }
      }
    }
    assertThat(many).hasSizeLessThanOrEqualTo(MOST_LONG_SIGNATURES);
  }

  /** Parameters that the source has; 0 for what the compiler adds, and for a record's own list. */
  private static int parameters(ClassModel type, MethodModel method) {
    MethodTypeDesc descriptor = method.methodTypeSymbol();
    boolean isConstructor = method.methodName().equalsString("<init>");
    boolean isOfRecord =
        isConstructor
            && type.findAttribute(Attributes.record())
                .filter(all -> all.components().size() == descriptor.parameterCount())
                .isPresent();
    boolean added =
        method.flags().has(AccessFlag.SYNTHETIC)
            || method.methodName().stringValue().startsWith("lambda$");
    if (isOfRecord || added) {
      return 0;
    }
    boolean isOfEnum = isConstructor && type.flags().has(AccessFlag.ENUM);
    return descriptor.parameterCount() - (isOfEnum ? 2 : 0);
  }

  /** Types of the same package that {@code type} depends on, directly or through others. */
  private static Set<String> reached(String type, Map<String, Set<String>> uses) {
    String home = CoreClasses.packageOf(type);
    Set<String> reached = new HashSet<>();
    Deque<String> open = new ArrayDeque<>(List.of(type));
    while (!open.isEmpty()) {
      for (String next : uses.getOrDefault(open.remove(), Set.of())) {
        if (CoreClasses.packageOf(next).equals(home) && reached.add(next)) {
          open.add(next);
        }
      }
    }
    return reached;
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

  /** Source files by the name of their package without the leading {@code dev.tern.}. */
  private static Map<String, List<Path>> filesByPackage() throws IOException {
    try (Stream<Path> files = Files.walk(SOURCES)) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> !file.endsWith("module-info.java"))
          .collect(
              Collectors.groupingBy(
                  file ->
                      SOURCES
                          .resolve("dev/tern")
                          .relativize(file.getParent())
                          .toString()
                          .replace('/', '.'),
                  TreeMap::new,
                  Collectors.toList()));
    }
  }

  private static int lines(List<Path> files) throws IOException {
    int lines = 0;
    for (Path file : files) {
      lines += Files.readAllLines(file).size();
    }
    return lines;
  }
}
