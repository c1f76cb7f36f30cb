package dev.tern.internal.cuda.driver;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * Finds NVIDIA's libraries, in this order: the folder or the driver library that {@code
 * -Dtern.cuda.path} or {@code TERN_CUDA_PATH} names; where the system's loader looks; the toolkit
 * that {@code CUDA_HOME} or {@code CUDA_PATH} names; {@code /usr/local/cuda*}; the packages {@code
 * nvidia-*} of each Python on the path. Nothing is ever used in place of what was not found.
 */
public final class CudaLibraries {
  /** The system property that names a folder, or the driver library itself. */
  public static final String PATH_PROPERTY = "tern.cuda.path";

  private static final String DRIVER = "libcuda.so.1";
  private static final List<String> COMPILERS = List.of("libnvrtc.so.13", "libnvrtc.so.12");

  private static final List<String> PRODUCTS = List.of("libcublasLt.so.13", "libcublasLt.so.12");

  private CudaLibraries() {}

  /**
   * What a search came to.
   *
   * @param found the file, or the name by which the system's loader finds it
   * @param places where it was looked for, in order, up to where it was found
   */
  public record Search(Optional<String> found, List<String> places) {
    public Search {
      places = List.copyOf(places);
    }
  }

  /**
   * The driver library.
   *
   * @throws IllegalStateException when there is none; the message names all places looked in
   */
  public static String driver() {
    Search search = findDriver();
    return search
        .found()
        .orElseThrow(() ->
            new IllegalStateException(
                "device: got no %s (looked in %s), expected NVIDIA's driver; %s"
                    .formatted(
                        DRIVER,
                        String.join(", ", search.places()),
                        "install it or use train.device: cpu")));
  }

  /** Looks for the driver library. */
  public static Search findDriver() {
    Optional<Path> named = named();
    if (named.isPresent() && !Files.isDirectory(named.get())) {
      if (!Files.exists(named.get())) {
        throw new IllegalStateException(
            "device: got %s %s, which does not exist, expected a folder or a driver library; %s"
                .formatted(PATH_PROPERTY, named.get(), "correct it or leave it out"));
      }
      String file = named.get().toAbsolutePath().toString();
      return new Search(Optional.of(file), List.of(file));
    }
    return find(List.of(DRIVER));
  }

  /** Looks for the library that compiles CUDA C, NVRTC. */
  public static Search findCompiler() {
    return find(COMPILERS);
  }

  /** Looks for the library of products on tensor cores, cuBLASLt. */
  public static Search findProducts() {
    return find(PRODUCTS);
  }

  /** Looks for the compiler command of the CUDA toolkit. */
  public static Search findNvcc() {
    List<Path> folders = new ArrayList<>();
    named().map(CudaLibraries::folder).ifPresent(folders::add);
    folders.addAll(onPath());
    toolkits().forEach(home -> folders.add(home.resolve("bin")));
    return firstExecutable("nvcc", folders);
  }

  /** Looks for the C++ compiler, which makes code for the simulated device. */
  static Search findHostCompiler() {
    return firstExecutable("g++", onPath());
  }

  private static Search firstExecutable(String name, List<Path> folders) {
    List<String> places = new ArrayList<>();
    for (Path folder : folders) {
      places.add(folder.toString());
      Path file = folder.resolve(name);
      if (Files.isExecutable(file) && !Files.isDirectory(file)) {
        return new Search(Optional.of(file.toString()), places);
      }
    }
    return new Search(Optional.empty(), places);
  }

  /** Looks for a library by any of its names; of one place, the first name wins. */
  private static Search find(List<String> names) {
    List<String> places = new ArrayList<>();
    Optional<Path> first = named().map(CudaLibraries::folder);
    if (first.isPresent()) {
      Optional<String> found = inFolder(first.get(), names, places);
      if (found.isPresent()) {
        return new Search(found, places);
      }
    }
    places.add("the system's library path");
    for (String name : names) {
      if (opens(name)) {
        return new Search(Optional.of(name), places);
      }
    }
    for (Path folder : folders()) {
      Optional<String> found = inFolder(folder, names, places);
      if (found.isPresent()) {
        return new Search(found, places);
      }
    }
    return new Search(Optional.empty(), places);
  }

  private static Optional<String> inFolder(Path folder, List<String> names, List<String> places) {
    for (String name : names) {
      Path file = folder.resolve(name);
      if (Files.isRegularFile(file)) {
        CompilerParts.openFor(file);
        if (opens(file.toString())) {
          places.add(folder.toString());
          return Optional.of(file.toString());
        }
        places.add(file + " (which cannot be opened)");
      }
    }
    places.add(folder.toString());
    return Optional.empty();
  }

  private static boolean opens(String library) {
    try {
      SymbolLookup opened = SymbolLookup.libraryLookup(library, Arena.global());
      return opened != null;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** The folders after the system's own, in order, without those that do not exist. */
  private static Set<Path> folders() {
    Set<Path> folders = new LinkedHashSet<>();
    folders.add(Path.of("/usr/local/nvidia/lib64"));
    for (Path home : toolkits()) {
      folders.add(home.resolve("lib64"));
      folders.add(home.resolve("targets/" + platform() + "-linux/lib"));
    }
    for (Path packages : pythonPackages()) {
      folders.addAll(matching(packages.resolve("nvidia"), "cu\\d+", "lib"));
      folders.addAll(matching(packages.resolve("nvidia"), "\\w+", "lib"));
    }
    folders.removeIf(folder -> !Files.isDirectory(folder));
    return folders;
  }

  private static String platform() {
    String name = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
    return name.equals("aarch64") ? "sbsa" : "x86_64";
  }

  private static Set<Path> toolkits() {
    Set<Path> homes = new LinkedHashSet<>();
    Stream.of("CUDA_HOME", "CUDA_PATH")
        .map(System::getenv)
        .filter(home -> home != null && !home.isEmpty())
        .forEach(home -> homes.add(Path.of(home)));
    homes.add(Path.of("/usr/local/cuda"));
    homes.addAll(matching(Path.of("/usr/local"), "cuda-[\\d.]+", ""));
    return homes;
  }

  /** The folders of packages of each Python on the path, of the user's own, and of pyenv's. */
  private static Set<Path> pythonPackages() {
    Set<Path> roots = new LinkedHashSet<>();
    for (Path folder : onPath()) {
      Path python = folder.resolve("python3");
      if (Files.exists(python)) {
        parent(folder).ifPresent(roots::add);
        target(python)
            .flatMap(CudaLibraries::parent)
            .flatMap(CudaLibraries::parent)
            .ifPresent(roots::add);
      }
    }
    Path home = Path.of(System.getProperty("user.home", "/"));
    roots.add(home.resolve(".local"));
    roots.addAll(matching(home.resolve(".pyenv/versions"), ".+", ""));
    Set<Path> packages = new LinkedHashSet<>();
    for (Path root : roots) {
      for (String name : List.of("site-packages", "dist-packages")) {
        packages.addAll(matching(root.resolve("lib"), "python3[\\d.]*", name));
      }
    }
    return packages;
  }

  /** Where links lead to. */
  private static Optional<Path> target(Path file) {
    try {
      return Optional.of(file.toRealPath());
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static Optional<Path> parent(Path file) {
    return Optional.ofNullable(file.getParent());
  }

  private static List<Path> onPath() {
    String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
    return Pattern.compile(":")
        .splitAsStream(path)
        .filter(s -> !s.isEmpty())
        .map(Path::of)
        .toList();
  }

  /** The folders {@code below/X/inner} of all X that a pattern matches, by name, last first. */
  private static List<Path> matching(Path below, String pattern, String inner) {
    if (!Files.isDirectory(below)) {
      return List.of();
    }
    try (DirectoryStream<Path> children = Files.newDirectoryStream(below)) {
      return StreamSupport.stream(children.spliterator(), false)
          .filter(child -> child.getFileName().toString().matches(pattern))
          .sorted((a, b) -> b.compareTo(a))
          .map(child -> inner.isEmpty() ? child : child.resolve(inner))
          .filter(Files::isDirectory)
          .toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  /** What the property, or else the variable, names. */
  private static Optional<Path> named() {
    return Optional.ofNullable(System.getProperty(PATH_PROPERTY))
        .or(() -> Optional.ofNullable(System.getenv("TERN_CUDA_PATH")))
        .filter(name -> !name.isEmpty())
        .map(Path::of);
  }

  private static Path folder(Path named) {
    Path whole = named.toAbsolutePath();
    return Files.isDirectory(whole) ? whole : parent(whole).orElse(whole);
  }
}
