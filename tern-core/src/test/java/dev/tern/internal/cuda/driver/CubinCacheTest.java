package dev.tern.internal.cuda.driver;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Code on disk: kept, told apart, made anew where it is damaged. */
final class CubinCacheTest {
  @TempDir private Path folder;

  private final AtomicInteger made = new AtomicInteger();

  /** A compiler whose code is its input in words. */
  private final class Words implements CudaCompiler {
    private final String identity;

    Words(String identity) {
      this.identity = identity;
    }

    @Override
    public byte[] compile(String text, int architecture) {
      made.incrementAndGet();
      if (text.equals("bad")) {
        throw new CudaCompilerException("words: got bad, expected good; mend it");
      }
      return "%s|%d|%s".formatted(text, architecture, identity).getBytes(UTF_8);
    }

    @Override
    public String name() {
      return "words";
    }

    @Override
    public String identity() {
      return identity;
    }

    @Override
    public String place() {
      return "here";
    }
  }

  private String compile(String text, int architecture, String identity) {
    return compile(text, architecture, identity, 1 << 20);
  }

  private String compile(String text, int architecture, String identity, long most) {
    CubinCache cache = new CubinCache(new Words(identity), folder.resolve("cubin"), most);
    return new String(cache.compile(text, architecture), UTF_8);
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve("cubin"))) {
      return files.sorted().toList();
    }
  }

  @Test
  void codeIsMadeOnceForEachTextArchitectureAndCompiler() throws IOException {
    for (int i = 0; i < 2; i++) {
      assertThat(compile("a", 90, "v1")).isEqualTo("a|90|v1");
      assertThat(compile("b", 90, "v1")).isEqualTo("b|90|v1");
      assertThat(compile("a", 80, "v1")).isEqualTo("a|80|v1");
      assertThat(compile("a", 90, "v2")).isEqualTo("a|90|v2");
    }
    assertThat(made).hasValue(4);
    assertThat(files()).hasSize(4).allMatch(file -> file.toString().endsWith(".cubin"));
  }

  @Test
  void partsOfTheKeyDoNotRunIntoEachOther() {
    assertThat(compile("a9", 0, "v")).isEqualTo("a9|0|v");
    assertThat(compile("a", 90, "v")).isEqualTo("a|90|v");
  }

  @Test
  void damagedCodeIsMadeAnew() throws IOException {
    compile("a", 90, "v1");
    Path file = files().getFirst();
    byte[] whole = Files.readAllBytes(file);
    for (int at = 0; at < whole.length; at++) {
      byte[] flipped = whole.clone();
      flipped[at] ^= 4;
      Files.write(file, flipped);
      assertThat(compile("a", 90, "v1")).as("byte %d", at).isEqualTo("a|90|v1");
      assertThat(made).hasValue(at + 2);
      assertThat(Files.readAllBytes(file)).as("mended").isEqualTo(whole);
    }
    int before = made.get();
    for (int length = 0; length < whole.length; length++) {
      Files.write(file, java.util.Arrays.copyOf(whole, length));
      assertThat(compile("a", 90, "v1")).as("%d bytes", length).isEqualTo("a|90|v1");
    }
    Files.write(file, java.util.Arrays.copyOf(whole, whole.length + 1));
    assertThat(compile("a", 90, "v1")).isEqualTo("a|90|v1");
    assertThat(made).hasValue(before + whole.length + 1);
  }

  @Test
  void aTextThatIsRefusedLeavesNothing() throws IOException {
    compile("a", 90, "v1");
    assertThatThrownBy(() -> compile("bad", 90, "v1"))
        .isInstanceOf(CudaCompilerException.class)
        .hasMessageContaining("got bad");
    assertThat(files()).hasSize(1);
  }

  @Test
  void manyUsersAtOnceSeeWholeCode() throws InterruptedException, ExecutionException, IOException {
    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      List<Future<String>> all = new ArrayList<>();
      for (int i = 0; i < 400; i++) {
        String text = "x".repeat(1000) + i % 5;
        all.add(threads.submit(() -> compile(text, 90, "v1")));
      }
      for (int i = 0; i < 400; i++) {
        assertThat(all.get(i).get()).isEqualTo("x".repeat(1000) + i % 5 + "|90|v1");
      }
    }
    assertThat(files()).as("no file in the making is left").hasSize(5);
  }

  @Test
  void codeUsedLongestAgoGoesFirst() throws IOException {
    compile("a".repeat(400), 90, "v1", 1000);
    Path first = files().getFirst();
    compile("b".repeat(400), 90, "v1", 1000);
    for (Path file : files()) {
      Files.setLastModifiedTime(file, FileTime.fromMillis(file.equals(first) ? 1000 : 2000));
    }
    compile("a".repeat(400), 90, "v1", 1000);
    assertThat(made).as("found, and with that used again").hasValue(2);
    compile("c".repeat(400), 90, "v1", 1000);
    assertThat(files()).hasSize(2).contains(first);
    compile("b".repeat(400), 90, "v1", 1000);
    assertThat(made).hasValue(4);
  }

  @Test
  void aFolderThatCannotBeWrittenCostsOnlyTime() throws IOException {
    Files.writeString(folder.resolve("cubin"), "a file, no folder");
    assertThat(compile("a", 90, "v1")).isEqualTo("a|90|v1");
    assertThat(compile("a", 90, "v1")).isEqualTo("a|90|v1");
    assertThat(made).hasValue(2);
  }

  @Test
  void whatWasLeftInTheMakingIsRemovedWhenItIsOld() throws IOException {
    compile("a", 90, "v1");
    Path old = Files.writeString(folder.resolve("cubin/writing1.tmp"), "x");
    Path young = Files.writeString(folder.resolve("cubin/writing2.tmp"), "x");
    Files.setLastModifiedTime(old, FileTime.fromMillis(0));
    compile("b", 90, "v1");
    assertThat(old).doesNotExist();
    assertThat(young).exists();
  }
}
