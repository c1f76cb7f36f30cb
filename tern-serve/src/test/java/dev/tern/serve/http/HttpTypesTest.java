package dev.tern.serve.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.constantpool.PoolEntry;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class HttpTypesTest {
  @Test
  void onlyTypesNamedAfterHttpKnowTheHttpLibrary() throws IOException, URISyntaxException {
    Set<String> knowing = new TreeSet<>();
    for (Path file : classes()) {
      for (PoolEntry entry : ClassFile.of().parse(file).constantPool()) {
        if (entry instanceof ClassEntry type
            && type.asInternalName().startsWith("org/eclipse/jetty/")) {
          knowing.add(file.getFileName().toString());
        }
      }
    }
    assertThat(knowing).isNotEmpty().allMatch(name -> name.startsWith("Http"));
  }

  private static List<Path> classes() throws IOException, URISyntaxException {
    Path folder =
        Path.of(ModelServer.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(".class")).toList();
    }
  }
}
