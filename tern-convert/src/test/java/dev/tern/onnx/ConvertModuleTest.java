package dev.tern.onnx;

import static java.lang.classfile.ClassFile.ACC_PROTECTED;
import static java.lang.classfile.ClassFile.ACC_PUBLIC;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.checkpoint.Checkpoint;
import java.io.IOException;
import java.lang.classfile.AccessFlags;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What this module takes from core by the module path, and what of it a user sees. */
final class ConvertModuleTest {
  /** The name that the manifest of this module's jar gives it. */
  private static final String NAME = "dev.tern.convert";

  private static final String INTERNAL = "dev/tern/internal/";
  private static final Pattern INTERNAL_TYPE = Pattern.compile(INTERNAL + "[a-z/]+/[A-Z]");

  @Test
  void packagesOfCoreThatThisModuleUsesAreExportedToIt() throws Exception {
    List<ClassModel> classes = classes();
    Set<String> used = new TreeSet<>();
    for (ClassModel type : classes) {
      for (PoolEntry entry : type.constantPool()) {
        if (entry instanceof Utf8Entry text) {
          INTERNAL_TYPE
              .matcher(text.stringValue())
              .results()
              .map(match -> match.group().substring(0, match.group().length() - 2))
              .forEach(used::add);
        }
      }
    }
    classes.forEach(type -> used.remove(packageOf(type)));
    assertThat(used).isNotEmpty();
    assertThat(exportedToThisModule()).containsAll(used);
  }

  @Test
  void signaturesThatUsersSeeNameNoInternalType() throws IOException {
    Set<String> leaks = new TreeSet<>();
    for (ClassModel type : classes()) {
      if (!isVisible(type.flags()) || packageOf(type).startsWith(INTERNAL)) {
        continue;
      }
      String name = type.thisClass().asInternalName();
      Stream.concat(
              type.methods().stream()
                  .filter(method -> isVisible(method.flags()))
                  .map(method -> method.methodName() + method.methodType().stringValue()),
              type.fields().stream()
                  .filter(field -> isVisible(field.flags()))
                  .map(field -> field.fieldName() + field.fieldType().stringValue()))
          .filter(signature -> signature.contains(INTERNAL))
          .forEach(signature -> leaks.add(name + "." + signature));
    }
    assertThat(leaks).isEmpty();
  }

  private static Set<String> exportedToThisModule() throws URISyntaxException {
    URI core = Checkpoint.class.getProtectionDomain().getCodeSource().getLocation().toURI();
    ModuleReference module = ModuleFinder.of(Path.of(core)).find("dev.tern.core").orElseThrow();
    return module.descriptor().exports().stream()
        .filter(export -> export.targets().contains(NAME))
        .map(export -> export.source().replace('.', '/'))
        .collect(Collectors.toSet());
  }

  private static List<ClassModel> classes() throws IOException {
    List<ClassModel> classes = new ArrayList<>();
    try (Stream<Path> files = Files.walk(Path.of("target/classes"))) {
      for (Path file : files.filter(f -> f.toString().endsWith(".class")).toList()) {
        classes.add(ClassFile.of().parse(file));
      }
    }
    assertThat(classes).isNotEmpty();
    return classes;
  }

  private static String packageOf(ClassModel type) {
    String name = type.thisClass().asInternalName();
    return name.substring(0, name.lastIndexOf('/'));
  }

  private static boolean isVisible(AccessFlags flags) {
    return (flags.flagsMask() & (ACC_PUBLIC | ACC_PROTECTED)) != 0;
  }
}
