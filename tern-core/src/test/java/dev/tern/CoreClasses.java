package dev.tern;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The compiled classes of core, for tests of its structure. */
final class CoreClasses {
  static final Path FOLDER = Path.of("target/classes");
  private static final String ROOT = "dev/tern/";
  private static final Pattern TYPE = Pattern.compile("dev/tern/((?:[a-z]+/)+)[A-Z]\\w*");

  private CoreClasses() {}

  /** All classes, those nested in others too. */
  static List<ClassModel> all() throws IOException {
    List<ClassModel> classes = new ArrayList<>();
    try (Stream<Path> files = Files.walk(FOLDER)) {
      for (Path file :
          files.filter(f -> f.toString().matches(".*/(?!\\w+-info)\\w[^/]*.class")).toList()) {
        classes.add(ClassFile.of().parse(file));
      }
    }
    assertThat(classes).isNotEmpty();
    return classes;
  }

  /** The package of a type's internal name, without the leading {@code dev.tern.}. */
  static String packageOf(String type) {
    return type.substring(ROOT.length(), type.lastIndexOf('/')).replace('/', '.');
  }

  static String simpleName(String type) {
    return type.substring(type.lastIndexOf('/') + 1);
  }

  /** Types of core in the constant pool, also those that only a descriptor or a signature names. */
  static Set<String> typesNamedIn(ClassModel type) {
    Set<String> types = new TreeSet<>();
    for (PoolEntry entry : type.constantPool()) {
      if (entry instanceof Utf8Entry text) {
        TYPE.matcher(text.stringValue()).results().map(MatchResult::group).forEach(types::add);
      }
    }
    return types;
  }

  /** Which top-level types each top-level type names, those nested in it included. */
  static Map<String, Set<String>> usesByTopLevelType() throws IOException {
    Map<String, Set<String>> uses = new TreeMap<>();
    for (ClassModel type : all()) {
      String top = topLevel(type.thisClass().asInternalName());
      Set<String> used = uses.computeIfAbsent(top, _ -> new TreeSet<>());
      typesNamedIn(type).stream().map(CoreClasses::topLevel).forEach(used::add);
      used.remove(top);
    }
    return uses;
  }

  private static String topLevel(String type) {
    int nested = type.indexOf('$');
    return nested < 0 ? type : type.substring(0, nested);
  }
}
