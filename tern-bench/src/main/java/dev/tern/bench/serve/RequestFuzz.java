package dev.tern.bench.serve;

import dev.tern.predict.Predictor;
import dev.tern.requests.SmallModel;
import dev.tern.serve.GrpcProtocol;
import dev.tern.serve.InferProtocol;
import dev.tern.serve.PredictProtocol;
import dev.tern.serve.Reply;
import dev.tern.serve.RequestContexts;
import dev.tern.serve.ServedVersion;
import dev.tern.serve.wire.RefusedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * {@code bench fuzz --requests N}: damaged requests ({@link RequestMutator}) in every form that a
 * server takes, to the protocols, on as many threads as there are processors; then one of a
 * thousand again over sockets ({@link SocketFuzz}). Each is answered or refused as one of a caller
 * that errs, within a second; what the heap holds after the last tenth is what it held after the
 * first.
 *
 * <p>{@code --seed S --requests 1} repeats one.
 */
public final class RequestFuzz implements AutoCloseable {
  static final int A_SOCKET = 1_000;

  private static final int SHOWN = 8;
  private static final int TENTHS = 10;
  private static final int AT_ONCE = 512;
  private static final long MOST_NANOS = 1_000_000_000L;
  private static final long MOST_GROWTH = 8 << 20;

  private static final Path STATUS = Path.of("/proc/self/statm");
  private static final long PAGE = 4_096;
  private static final int MOST_MESSAGE = 600;

  private final Path folder;
  private final Predictor predictor;
  private final ServedVersion version;
  private final InferProtocol infer;
  private final PredictProtocol predict;
  private final GrpcProtocol grpc;
  private final RequestMutator requests = new RequestMutator(RequestCorpus.all());
  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();
  private final AtomicLong slowest = new AtomicLong();

  /** Told and not judged: the heap takes room up to its full size meanwhile. */
  private long residentGrowth;

  RequestFuzz() {
    try {
      folder = Files.createTempDirectory("tern-fuzz-requests");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    SmallModel.save(folder.resolve("model"), SmallModel.ALL);
    predictor = Predictor.open(folder.resolve("model"));
    version = new ServedVersion("m", 1, predictor);
    RequestContexts contexts = new RequestContexts();
    infer = new InferProtocol(contexts);
    predict = new PredictProtocol(contexts);
    grpc = new GrpcProtocol(contexts);
  }

  /** Runs so many, from a seed on. */
  public static void run(long count, long seed, boolean json) {
    try (RequestFuzz fuzz = new RequestFuzz()) {
      List<String> failures = new ArrayList<>();
      long start = System.nanoTime();
      Duration cpu = cpu();
      long growth = fuzz.all(count, seed, failures);
      double seconds = (System.nanoTime() - start) / 1e9;
      double cpuMicros = cpu().minus(cpu).toNanos() / 1e3 / count;
      long sockets = count / A_SOCKET;
      if (sockets > 0) {
        failures.addAll(new SocketFuzz(fuzz.folder.resolve("model")).run(sockets, seed));
      }
      failures.stream().limit(SHOWN).forEach(System.err::println);
      System.out.printf(
          Locale.ROOT,
          json
              ? "{\"bench\":\"fuzz\",\"requests\":%d,\"seed\":%d,\"answered\":%d,\"refused\":%d,"
                    + "\"slowest_ms\":%.1f,\"heap_growth\":%d,\"resident_growth\":%d,\"sockets\":%d,\"failed\":%d,"
                    + "\"seconds\":%.1f,\"requests_per_second\":%.0f,\"cpu_us\":%.1f}%n"
              : "fuzz     %d requests from seed %d: %d answered, %d refused, the slowest in %.1f"
                  + " ms, the heap grew by %d bytes and the process by %d; %d over sockets; %d"
                  + " wrong; %.1f s, %.0f a second, %.1f us of CPU each%n",
          count,
          seed,
          fuzz.answered.get(),
          fuzz.refused.get(),
          fuzz.slowest.get() / 1e6,
          growth,
          fuzz.residentGrowth,
          sockets,
          failures.size(),
          seconds,
          count / seconds,
          cpuMicros);
      if (!failures.isEmpty()) {
        throw new IllegalStateException(
            "fuzz: got " + failures.size() + " failures, expected none; the first is above");
      }
    }
  }

  private static Duration cpu() {
    return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
  }

  /** Runs all in ten parts; gives by how much the heap grew from the first to the last. */
  private long all(long count, long seed, List<String> failures) {
    int threads = Runtime.getRuntime().availableProcessors();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    long before = 0;
    long growth = 0;
    try {
      for (int tenth = 0; tenth < TENTHS; tenth++) {
        AtomicLong next = new AtomicLong(seed + count * tenth / TENTHS);
        long end = seed + count * (tenth + 1) / TENTHS;
        List<Future<List<String>>> parts = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
          parts.add(pool.submit(() -> part(next, end)));
        }
        for (Future<List<String>> part : parts) {
          failures.addAll(part.get());
        }
        if (tenth == 0) {
          before = held();
          residentGrowth = -resident();
        } else if (tenth == TENTHS - 1) {
          growth = held() - before;
          residentGrowth += resident();
        }
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("fuzz: got an error", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("fuzz: interrupted", e);
    } finally {
      pool.shutdownNow();
    }
    if (count >= TENTHS * A_SOCKET && growth > MOST_GROWTH) {
      failures.add(
          "fuzz: the heap grew by %,d bytes, expected at most %,d".formatted(growth, MOST_GROWTH));
    }
    return growth;
  }

  /** Bytes of physical memory that the process has, where the system tells. */
  private static long resident() {
    try {
      return Files.exists(STATUS)
          ? PAGE * Long.parseLong(Files.readString(STATUS).split(" ")[1])
          : 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What the heap holds. */
  private static long held() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  private List<String> part(AtomicLong next, long end) {
    List<String> failures = new ArrayList<>();
    for (long first = next.getAndAdd(AT_ONCE);
        first < end && failures.size() < SHOWN;
        first = next.getAndAdd(AT_ONCE)) {
      for (long seed = first; seed < Math.min(end, first + AT_ONCE); seed++) {
        check(seed).ifPresent(failures::add);
      }
    }
    return failures;
  }

  /** Requests so far that were answered with scores. */
  long answered() {
    return answered.get();
  }

  /** Asks with the request of a seed; what was wrong with the answer. */
  Optional<String> check(long seed) {
    return check(requests.of(seed))
        .map(wrong -> "fuzz: --requests 1 --seed " + seed + ", " + wrong);
  }

  /** Asks with a request; what was wrong with the answer. */
  Optional<String> check(RequestCorpus.Entry entry) {
    String wrong = "";
    long nanos = Long.MAX_VALUE;
    for (int times = 0; times < 3 && nanos > MOST_NANOS && wrong.isEmpty(); times++) {
      long start = System.nanoTime();
      wrong = ask(entry);
      nanos = System.nanoTime() - start;
    }
    if (wrong.isEmpty() && nanos > MOST_NANOS) {
      wrong = "took " + nanos / 1_000_000 + " ms three times";
    }
    long took = nanos;
    slowest.accumulateAndGet(took, Math::max);
    return wrong.isEmpty() ? Optional.empty() : Optional.of(entry.target() + ": " + wrong);
  }

  /** Asks; what was wrong with the answer, or nothing. */
  private String ask(RequestCorpus.Entry entry) {
    byte[] body = entry.body();
    try {
      Reply reply =
          switch (entry.target()) {
            case INFER -> infer.infer(version, body, body.length, entry.jsonLength());
            case PREDICT -> predict.predict(version, body, body.length);
            case INVOCATIONS -> predict.invocations(version, body, body.length);
            case GRPC -> {
              GrpcProtocol.asked(body, 0, body.length);
              yield grpc.infer(version, body, 0, body.length);
            }
          };
      answered.incrementAndGet();
      return reply.status() == 200 ? "" : "got status " + reply.status() + ", expected 200";
    } catch (RefusedException e) {
      refused.incrementAndGet();
      String message = String.valueOf(e.getMessage());
      boolean isFair = e.status() >= 400 && e.status() < 500 && message.length() < MOST_MESSAGE;
      return isFair ? "" : "got " + e.status() + " " + message;
    } catch (RuntimeException | Error e) {
      StringBuilder text = new StringBuilder("got ").append(e);
      for (int i = 0; i < Math.min(6, e.getStackTrace().length); i++) {
        text.append("\n    at ").append(e.getStackTrace()[i]);
      }
      return text.toString();
    }
  }

  @Override
  public void close() {
    predictor.close();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
