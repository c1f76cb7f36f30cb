package dev.tern;

import static java.lang.classfile.ClassFile.ACC_PROTECTED;
import static java.lang.classfile.ClassFile.ACC_PUBLIC;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.house.House;
import java.io.IOException;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.lang.constant.ClassDesc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Holds the compiled classes, the exported interface and the documents to the design. */
final class ArchitectureTest {
  private static final House CORE = new House(Path.of(""));

  /** A package may use those that come after it, nothing before it. */
  private static final List<String> ORDER =
      List.of(
          "predict",
          "train",
          "metrics",
          "checkpoint",
          "internal.checkpoint",
          "internal.search",
          "model",
          "model.sequences",
          "model.graph",
          "model.papers",
          "nn",
          "embedding",
          "internal.table",
          "internal.table.snapshot",
          "internal.table.policy",
          "internal.table.tier",
          "internal.table.rows",
          "internal.table.index",
          "embedding.config",
          "optim",
          "data.readers",
          "data.encode",
          "data",
          "tensor",
          "internal.eager",
          "internal.runtime",
          "internal.cuda.run",
          "internal.cuda.text",
          "internal.plan",
          "internal.kernel.ops",
          "internal.kernel.matmul",
          "internal.kernel.emit",
          "internal.kernel.warmup",
          "internal.kernel",
          "internal.ir",
          "internal.remat.search",
          "internal.remat",
          "internal.json",
          "internal.cuda.memory",
          "internal.cuda.driver",
          "exchange",
          "internal.memory",
          "base");

  private static final int MOST_PARAMETERS = 7;

  /** How a {@code long}, or an array of them, is called that is a place in memory. */
  private static final Pattern ADDRESS =
      Pattern.compile("(?i)\\w*(address|pointer)\\w*|(in|out|target|source|grad|gradient)s?");

  private static final Pattern DECLARATION =
      Pattern.compile("\\s*public [\\w\\s-]*(class|interface|record|enum)\\s");
  private static final Path ROOT = Path.of("..");

  @Test
  void packagesUseOnlyThoseBelowThem() throws IOException {
    Set<String> upward = new TreeSet<>();
    for (ClassModel type : CORE.classes()) {
      String from = House.packageOf(type.thisClass().asInternalName());
      assertThat(ORDER).as("a new package gets its place in ORDER").contains(from);
      for (String used : House.typesNamedIn(type)) {
        String to = House.packageOf(used);
        if (ORDER.indexOf(to) < ORDER.indexOf(from)) {
          upward.add(type.thisClass().asInternalName() + " uses " + used);
        }
      }
    }
    assertThat(upward).isEmpty();
  }

  @Test
  void coreUsesOnlyTheJdk() throws IOException {
    Set<String> foreign = new TreeSet<>();
    for (ClassModel type : CORE.classes()) {
      for (PoolEntry entry : type.constantPool()) {
        if (entry instanceof ClassEntry used) {
          String name = used.asInternalName().replaceFirst("^\\[+L?", "");
          if (name.contains("/")
              && !name.matches("(java|javax/crypto|jdk|com/sun/management|dev/tern)/.*")) {
            foreign.add(type.thisClass().asInternalName() + " uses " + name);
          }
        }
      }
    }
    assertThat(foreign).isEmpty();
  }

  @Test
  void exportedSignaturesNameNoInternalType() throws IOException {
    Set<String> leaks = new TreeSet<>();
    for (ClassModel type : exportedTypes()) {
      String name = type.thisClass().asInternalName();
      typesAbove(type)
          .filter(above -> above.startsWith("dev/tern/internal/"))
          .forEach(above -> leaks.add(name + " is a " + above));
      Stream.concat(
              visibleMethods(type).map(m -> nameOf(type, m) + m.methodType().stringValue()),
              type.fields().stream()
                  .filter(f -> isVisible(f.flags().flagsMask()))
                  .map(f -> name + "." + f.fieldName().stringValue() + f.fieldType().stringValue()))
          .filter(signature -> signature.contains("dev/tern/internal/"))
          .forEach(leaks::add);
    }
    assertThat(leaks).isEmpty();
  }

  @Test
  void exportedSignaturesHaveNoRawAddress() throws IOException {
    Set<String> addresses = new TreeSet<>();
    for (ClassModel type : exportedTypes()) {
      for (MethodModel method : visibleMethods(type).toList()) {
        List<ClassDesc> types = method.methodTypeSymbol().parameterList();
        List<String> names = parameterNames(method);
        for (int i = 0; i < names.size(); i++) {
          if (isLong(types.get(i)) && ADDRESS.matcher(names.get(i)).matches()) {
            addresses.add(nameOf(type, method) + " takes " + names.get(i));
          }
        }
        boolean isAddress = ADDRESS.matcher(method.methodName().stringValue()).matches();
        if (isAddress && isLong(method.methodTypeSymbol().returnType())) {
          addresses.add(nameOf(type, method) + " returns one");
        }
      }
    }
    assertThat(addresses).isEmpty();
  }

  @Test
  void exportedSignaturesHaveFewParameters() throws IOException {
    Set<String> tooMany = new TreeSet<>();
    for (ClassModel type : exportedTypes()) {
      visibleMethods(type)
          .filter(m -> m.methodTypeSymbol().parameterCount() > MOST_PARAMETERS)
          .map(m -> nameOf(type, m) + " has " + m.methodTypeSymbol().parameterCount())
          .forEach(tooMany::add);
    }
    assertThat(tooMany).isEmpty();
  }

  @Test
  void exportedTypesHaveJavadoc() throws IOException {
    Set<String> undocumented = new TreeSet<>();
    for (String name : exported()) {
      Path folder = Path.of("src/main/java/dev/tern", name.split("\\."));
      for (Path file : files(folder, f -> f.toString().endsWith(".java"))) {
        List<String> lines = Files.readAllLines(file);
        for (int i = 0; i < lines.size(); i++) {
          if (DECLARATION.matcher(lines.get(i)).lookingAt() && !isDocumented(lines, i)) {
            undocumented.add(file + ": " + lines.get(i).strip());
          }
        }
      }
    }
    assertThat(undocumented).isEmpty();
  }

  @Test
  void pathsNamedInDocumentsExist() throws IOException {
    Pattern path =
        Pattern.compile(
            "`(?:\\./)?((?:tern-\\w+|tools|docs|examples|\\.ci)/[\\w./-]*\\w)`"
                + "|]\\((?!https?:|#)([^)#\\s]+)");
    Set<String> missing = new TreeSet<>();
    for (Path document : documents()) {
      for (MatchResult match : path.matcher(Files.readString(document)).results().toList()) {
        boolean quoted = match.group(1) != null;
        Path named =
            quoted ? ROOT.resolve(match.group(1)) : document.resolveSibling(match.group(2));
        if (!Files.exists(named)) {
          missing.add(ROOT.relativize(document) + " names " + ROOT.relativize(named.normalize()));
        }
      }
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void typesNamedInTheMapExist() throws IOException {
    Set<String> declared = new TreeSet<>();
    Pattern declaration = Pattern.compile("\\b(?:class|record|enum|interface) (\\w+)");
    for (Path file : files(ROOT, f -> f.toString().matches(".*/src/(main|test)/java/.*\\.java"))) {
      declaration
          .matcher(Files.readString(file))
          .results()
          .map(match -> match.group(1))
          .forEach(declared::add);
    }
    Set<String> named =
        Pattern.compile("`([A-Z][a-z]\\w+)(?:\\.\\w+)*(?:\\([^`]*\\))?`")
            .matcher(Files.readString(ROOT.resolve("ARCHITECTURE.md")))
            .results()
            .map(match -> match.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(named).isNotEmpty();
    named.removeAll(declared);
    assertThat(named).isEmpty();
  }

  private static boolean isDocumented(List<String> lines, int member) {
    for (int i = member - 1; i >= 0; i--) {
      String line = lines.get(i).strip();
      if (!line.startsWith("@")) {
        return line.endsWith("*/") || line.startsWith("///");
      }
    }
    return false;
  }

  private static List<ClassModel> exportedTypes() throws IOException {
    Set<String> exported = exported();
    return CORE.classes().stream()
        .filter(type -> isVisible(type.flags().flagsMask()) && exported.contains(packageOf(type)))
        .toList();
  }

  private static Stream<MethodModel> visibleMethods(ClassModel type) {
    return type.methods().stream().filter(method -> isVisible(method.flags().flagsMask()));
  }

  private static Stream<String> typesAbove(ClassModel type) {
    return Stream.concat(type.superclass().stream(), type.interfaces().stream())
        .map(ClassEntry::asInternalName);
  }

  private static String nameOf(ClassModel type, MethodModel method) {
    return type.thisClass().asInternalName() + "." + method.methodName().stringValue();
  }

  /** Of all parameters; the compiler keeps them because of its option {@code -parameters}. */
  private static List<String> parameterNames(MethodModel method) {
    List<String> names =
        method.findAttribute(Attributes.methodParameters()).stream()
            .flatMap(attribute -> attribute.parameters().stream())
            .map(parameter -> parameter.name().map(Utf8Entry::stringValue).orElse(""))
            .toList();
    assertThat(names).hasSize(method.methodTypeSymbol().parameterCount());
    return names;
  }

  private static boolean isLong(ClassDesc type) {
    return type.descriptorString().matches("\\[*J");
  }

  private static boolean isVisible(int flags) {
    return (flags & (ACC_PUBLIC | ACC_PROTECTED)) != 0;
  }

  private static String packageOf(ClassModel type) {
    return House.packageOf(type.thisClass().asInternalName());
  }

  /** The packages that the module exports to everybody, without the leading {@code dev.tern.}. */
  private static Set<String> exported() throws IOException {
    return ClassFile.of()
        .parse(Path.of("target/classes/module-info.class"))
        .findAttribute(Attributes.module())
        .orElseThrow()
        .exports()
        .stream()
        .filter(export -> export.exportsTo().isEmpty())
        .map(export -> export.exportedPackage().name().stringValue())
        .map(name -> name.substring("dev/tern/".length()).replace('/', '.'))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static List<Path> documents() throws IOException {
    List<Path> documents =
        new ArrayList<>(files(ROOT.resolve("docs"), ArchitectureTest::isDocument));
    try (Stream<Path> top = Files.list(ROOT)) {
      top.filter(ArchitectureTest::isDocument).forEach(documents::add);
    }
    assertThat(documents).isNotEmpty();
    return documents;
  }

  private static boolean isDocument(Path file) {
    return file.toString().endsWith(".md");
  }

  private static List<Path> files(Path folder, Predicate<Path> wanted) throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(wanted).filter(Files::isRegularFile).sorted().toList();
    }
  }
}
