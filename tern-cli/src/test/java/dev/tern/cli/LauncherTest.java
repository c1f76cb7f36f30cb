package dev.tern.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code tern}, with the classes of this test in the place of what it builds. */
final class LauncherTest {
  private static final String WARNING = "incubator";

  @TempDir Path temp;
  private Path root;

  /** What a process printed, and its exit code. */
  private record Ended(String out, String err, int code) {}

  @BeforeEach
  void makeATree() throws IOException {
    root = Files.createDirectory(temp.resolve("tree"));
    Path tools = Files.createDirectory(root.resolve("tools"));
    Files.copy(Path.of("../tern"), root.resolve("tern"));
    assertThat(root.resolve("tern").toFile().setExecutable(true)).isTrue();
    Files.copy(Path.of("../tools/find-jdk.sh"), tools.resolve("find-jdk.sh"));
    Files.createFile(root.resolve("pom.xml"));
    for (String module :
        List.of(
            "tern-core", "tern-data", "tern-serve", "tern-stream", "tern-convert", "tern-cli")) {
      Files.createDirectories(root.resolve(module + "/src/main"));
      Files.createFile(root.resolve(module + "/pom.xml"));
    }
    Path lib = Files.createDirectories(root.resolve("tern-cli/target/lib"));
    classPath(lib.resolve("classes.jar"));
    Files.createFile(root.resolve("tern-cli/target/built"));
  }

  /** A jar that stands for the class path of this test. */
  private static void classPath(Path jar) throws IOException {
    Stream<String> entries =
        Main.class.getClassLoader() instanceof URLClassLoader loader
            ? Arrays.stream(loader.getURLs()).map(URL::toString)
            : Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(entry -> Path.of(entry).toUri().toString());
    String path = entries.collect(Collectors.joining(" "));
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, path);
    try (OutputStream out = Files.newOutputStream(jar)) {
      new JarOutputStream(out, manifest).close();
    }
  }

  private ProcessBuilder process(String... command) {
    List<String> all = new ArrayList<>(List.of(root.resolve("tern").toString()));
    all.addAll(List.of(command));
    ProcessBuilder builder = new ProcessBuilder(all).directory(temp.toFile());
    builder.environment().put("TERN_JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("TMPDIR", temp.toString());
    List.of("TERN_JAVA_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")
        .forEach(builder.environment()::remove);
    return builder;
  }

  private Ended run(Map<String, String> environment, String... command)
      throws IOException, InterruptedException {
    ProcessBuilder builder = process(command);
    builder.environment().putAll(environment);
    Path out = temp.resolve("out.txt");
    Process process = builder.redirectOutput(out.toFile()).start();
    String err = new String(process.getErrorStream().readAllBytes());
    int code = process.waitFor();
    return new Ended(Files.readString(out), err, code);
  }

  private void nothingIsLeft() {
    assertThat(temp).isDirectoryNotContaining("glob:**.stderr");
  }

  @Test
  void standardErrorHoldsTheLinesOfTernAlone() throws Exception {
    Ended version = run(Map.of(), "--version");
    assertThat(version.err()).isEmpty();
    assertThat(version.out()).isNotEmpty();
    assertThat(version.code()).isZero();
    Ended usage = run(Map.of(), "train");
    assertThat(usage.code()).isEqualTo(2);
    assertThat(usage.err()).doesNotContain(WARNING).isNotEmpty();
    Ended failure = run(Map.of(), "data", "verify", "nothing.csv");
    assertThat(failure.code()).isEqualTo(1);
    assertThat(failure.err().lines()).singleElement().asString().contains("nothing.csv");
    nothingIsLeft();
  }

  @Test
  void bothOutputsMayGoToOneFile() throws Exception {
    Path rows = Files.writeString(temp.resolve("in.svm"), "1 3:1\n-1 x\n0 9:1\n");
    Path log = temp.resolve("log");
    Process process =
        process("data", "verify", rows + "")
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    assertThat(process.waitFor()).isEqualTo(1);
    assertThat(log)
        .content()
        .contains("in.svm: line 2", "2 good rows, 1 faults\n")
        .doesNotContain(WARNING);
    assertThat(Files.readAllLines(log)).hasSize(2);
  }

  @Test
  void whatTheJvmSaysStaysVisible() throws Exception {
    Ended option = run(Map.of("TERN_JAVA_OPTS", "-XX:+Nonsense"), "--version");
    assertThat(option.code()).isEqualTo(1);
    assertThat(option.out() + option.err()).contains("Nonsense");
    Ended heap = run(Map.of("TERN_JAVA_OPTS", "-Xms64g -Xmx1g"), "--version");
    assertThat(heap.code()).isEqualTo(1);
    assertThat(heap.out() + heap.err()).containsIgnoringCase("heap size");
    Ended picked = run(Map.of("JAVA_TOOL_OPTIONS", "-Da=b"), "--version");
    assertThat(picked.err()).isEqualTo("Picked up JAVA_TOOL_OPTIONS: -Da=b\n");
    Files.delete(root.resolve("tern-cli/target/lib/classes.jar"));
    Ended missing = run(Map.of(), "--version");
    assertThat(missing.code()).isEqualTo(1);
    assertThat(missing.err()).contains("dev.tern.cli.Main");
  }

  @Test
  void withoutAPlaceForAPipeTernRunsAllTheSame() throws Exception {
    Ended ended = run(Map.of("TMPDIR", temp.resolve("nowhere").toString()), "--version");
    assertThat(ended.code()).isZero();
    assertThat(ended.out()).isNotEmpty();
    assertThat(ended.err().lines()).allMatch(line -> line.contains(WARNING));
  }

  @Test
  void aFirstBuildSaysWhatItDoesAndAFailedOneWhatToMend() throws Exception {
    Files.delete(root.resolve("tern-cli/target/built"));
    Path bin = Files.createDirectory(temp.resolve("bin"));
    Path maven =
        Files.writeString(
            bin.resolve("mvn"),
            """
            #!/bin/sh
            echo "[INFO] Building Tern Core"
            echo "[ERROR] Could not transfer artifact a:b:1 from central"
            exit 1
            """);
    assertThat(maven.toFile().setExecutable(true)).isTrue();
    String path = bin + File.pathSeparator + System.getenv("PATH");
    Ended ended = run(Map.of("PATH", path), "--version");
    assertThat(ended.code()).isEqualTo(1);
    assertThat(ended.out()).isEmpty();
    assertThat(ended.err().lines())
        .satisfiesExactly(
            first -> assertThat(first).contains("first use: Maven compiles", "one to two minutes"),
            fault -> assertThat(fault).startsWith("[ERROR] Could not transfer"),
            advice -> assertThat(advice).contains("proxies and mirrors from ~/.m2/settings.xml"),
            last -> assertThat(last).contains("the build failed", "target/build.log"));
  }

  @Test
  void whatTheJvmKeptForAnotherJvmIsLeftOutInSilence() throws Exception {
    Files.writeString(root.resolve("tern-cli/target/tern.aot"), "of another JVM");
    Ended version = run(Map.of(), "--version");
    assertThat(version.code()).isZero();
    assertThat(version.err()).isEmpty();
    assertThat(version.out()).startsWith("tern ").hasLineCount(1);
  }

  /** A JDK whose {@code java} writes its arguments to a log, and the file that it is to keep. */
  private Path jdkThatLogs(Path log) throws IOException {
    Path jdk = Files.createDirectories(temp.resolve("a jdk"));
    Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"25.0.3\"\n");
    Path bin = Files.createDirectory(jdk.resolve("bin"));
    script(bin.resolve("javac"), "");
    script(
        bin.resolve("java"),
        """
        echo "$@" >>'%s'
        for each; do
          case $each in -XX:AOTCacheOutput=*) echo kept >"${each#*=}" ;; esac
        done
        """
            .formatted(log));
    return jdk;
  }

  private static void script(Path file, String text) throws IOException {
    Files.writeString(file, "#!/bin/sh\n" + text);
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  @Test
  void theUsualCommandsRunOnceAfterABuildAndLaterOnesUseWhatTheJvmKept() throws Exception {
    Path log = temp.resolve("java.log");
    Path built = root.resolve("tern-cli/target/built");
    Path cache = root.resolve("tern-cli/target/tern.aot");
    script(temp.resolve("mvn"), "touch '%s'\n".formatted(built));
    Map<String, String> environment =
        Map.of(
            "TERN_JAVA_HOME",
            jdkThatLogs(log).toString(),
            "PATH",
            temp + File.pathSeparator + System.getenv("PATH"));
    assertThat(run(environment, "info").code()).isZero();
    assertThat(Files.readAllLines(log))
        .singleElement()
        .asString()
        .endsWith("Main info")
        .doesNotContain("AOT");
    Files.delete(built);
    assertThat(run(environment, "info").err()).contains("so that later ones start faster");
    Files.createDirectories(root.resolve("tern-bench/target"));
    Files.copy(built, root.resolve("tern-bench/target/built"));
    Files.createDirectories(root.resolve("tern-bench/src/main"));
    Files.createFile(root.resolve("tern-bench/pom.xml"));
    Files.setLastModifiedTime(
        root.resolve("tern-bench/target/built"), FileTime.from(Instant.now().plusSeconds(9)));
    assertThat(run(environment, "bench").err()).isEmpty();
    Files.setLastModifiedTime(built, FileTime.from(Instant.now().plusSeconds(9)));
    assertThat(run(environment, "info").err()).contains("was built anew");
    assertThat(cache).exists();
    assertThat(Files.readAllLines(log).stream().skip(1))
        .satisfiesExactly(
            rehearsal -> assertThat(rehearsal).contains("-XX:AOTCacheOutput=" + cache, "Rehearsal"),
            info -> assertThat(info).contains("-XX:AOTCache=" + cache).endsWith("Main info"),
            bench -> assertThat(bench).contains("-XX:AOTCache=" + cache).endsWith("Main bench"),
            again -> assertThat(again).contains("-XX:AOTCacheOutput=" + cache, "Rehearsal"),
            info -> assertThat(info).contains("-XX:AOTCache=" + cache).endsWith("Main info"));
    try (Stream<Path> left = Files.list(root.resolve("target"))) {
      assertThat(left.filter(Files::isDirectory)).isEmpty();
    }
  }

  @Test
  void besideARuntimeItRunsWhatLiesThereAndBuildsNothing() throws Exception {
    Path log = temp.resolve("java.log");
    Files.move(jdkThatLogs(log), root.resolve("runtime"));
    Files.delete(root.resolve("tools/find-jdk.sh"));
    Ended ended = run(Map.of(), "info");
    assertThat(ended.code()).as(ended.err()).isZero();
    assertThat(ended.err()).isEmpty();
    assertThat(Files.readAllLines(log))
        .singleElement()
        .asString()
        .contains("-cp " + root + "/lib/* dev.tern.cli.Main")
        .endsWith("Main info");
  }

  @Test
  void signalsReachTheRunWhichKeepsWhatItTrained() throws Exception {
    Path config =
        Files.writeString(
            temp.resolve("run.yaml"),
            """
            data: {format: criteo-synthetic, rows: 2000000, eval_rows: 0, scale: 0.001, sparse: {encode: id}}
            model: {type: lr}
            run: {dir: run}
            train: {batch: 128, epochs: 1, threads: 1, memory: 64m, checkpoint_every: 50}
            """);
    Process process = process("train", config + "").redirectErrorStream(true).start();
    process.getOutputStream().close();
    Path first = temp.resolve("run/checkpoints/step-50");
    while (!Files.isDirectory(first)) {
      assertThat(process.waitFor(20, TimeUnit.MILLISECONDS)).isFalse();
    }
    process.toHandle().destroy();
    String said = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor()).as(said).isEqualTo(143);
    assertThat(said).doesNotContain(WARNING).contains("report ");
    nothingIsLeft();
  }
}
