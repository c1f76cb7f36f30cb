package dev.tern.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How ranks find each other, and who is turned away. */
final class MeshPortTest {
  private static final InetAddress HERE = InetAddress.getLoopbackAddress();
  private static final List<SocketAddress> ANY = List.of(new InetSocketAddress(HERE, 0));
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration SOON = Duration.ofMillis(1500);

  /** What each of two ranks gets; {@code change} is made to the options of rank 1. */
  private static List<String> pair(MeshOptions options, UnaryOperator<MeshOptions> change) {
    List<MeshPort> ports =
        List.of(MeshPort.open(options, ANY), MeshPort.open(change.apply(options.rank(1)), ANY));
    List<SocketAddress> all = ports.stream().map(MeshPort::address).toList();
    List<Callable<String>> connects = new ArrayList<>();
    ports.forEach(port -> connects.add(() -> outcome(port, all)));
    return Meshes.together(connects);
  }

  private static String outcome(MeshPort port, List<SocketAddress> all) {
    try (Mesh mesh = port.connect(all)) {
      mesh.barrier().await();
      return "connected";
    } catch (MeshException e) {
      return e.getMessage();
    }
  }

  @Test
  void whoeverMayNotJoinIsTurnedAway() {
    MeshOptions options = MeshTest.options(2).connectWithin(SOON);
    assertThat(pair(options, o -> o)).containsOnly("connected");
    MeshOptions other = MeshOptions.of(1, 2, new byte[16]).run(77, 1);
    // All at once, as rank 0 waits until its time is over; rank 1 has more, and is told before.
    Meshes.together(
        List.of(
            () -> turnedAway(options, _ -> other, "another secret"),
            () ->
                turnedAway(
                    options,
                    o -> o.run(78, 1),
                    "run 000000000000004d, expected run 000000000000004e"),
            () -> turnedAway(options, o -> o.run(77, 2), "attempt 1, expected 2"),
            () -> turnedAway(options, o -> o.frameBytes(4096), "a frame 131,072, expected 4,096"),
            () -> turnedAway(options, o -> o.encrypted(true), "a rank that does not encrypt"),
            MeshPortTest::aRankOfALargerMesh,
            MeshPortTest::aSecondRankOfTheSameNumber));
  }

  private static boolean turnedAway(
      MeshOptions options, UnaryOperator<MeshOptions> change, String expected) {
    List<String> outcomes = pair(options, o -> change.apply(o).connectWithin(LONG));
    assertThat(outcomes.get(0)).contains("rank 0 got no connection with ranks [1] within PT1.5S");
    assertThat(outcomes.get(1)).contains("rank 1 asked rank 0 at").contains(expected);
    return true;
  }

  private static boolean aRankOfALargerMesh() {
    MeshOptions options = MeshTest.options(2).connectWithin(SOON);
    MeshOptions more = MeshTest.options(3).rank(2).connectWithin(LONG);
    MeshPort port = MeshPort.open(options, ANY);
    List<SocketAddress> all = List.of(port.address(), port.address(), port.address());
    List<String> outcomes =
        Meshes.together(
            List.of(
                () -> outcome(port, all.subList(0, 2)),
                () -> outcome(MeshPort.open(more, ANY), all)));
    assertThat(outcomes.get(1)).contains("ranks 2, expected 3");
    assertThat(outcomes.get(0)).contains("turned away").contains("ranks 3, expected 2");
    return true;
  }

  private static boolean aSecondRankOfTheSameNumber() {
    MeshOptions options = MeshTest.options(3).connectWithin(SOON);
    MeshPort port = MeshPort.open(options, ANY);
    List<SocketAddress> all = List.of(port.address(), port.address(), port.address());
    List<String> outcomes =
        Meshes.together(
            List.of(
                () -> outcome(port, all),
                () -> outcome(MeshPort.open(options.rank(1), ANY), all),
                () -> outcome(MeshPort.open(options.rank(1), ANY), all)));
    assertThat(outcomes).anyMatch(o -> o.contains("rank 1 is connected already"));
    assertThat(outcomes.get(0)).contains("no connection with ranks [2]").contains("second rank 1");
    return true;
  }

  @ParameterizedTest
  @CsvSource({"TCP,false", "TCP,true", "UNIX,false"})
  void ranksConnectInAnyOrderOfStart(Meshes.Kind kind, boolean encrypted, @TempDir Path folder)
      throws Exception {
    MeshOptions options = MeshTest.options(4).encrypted(encrypted);
    List<MeshPort> ports = new ArrayList<>();
    List<SocketAddress> all = new ArrayList<>();
    for (int p = 0; p < 4; p++) {
      SocketAddress address =
          kind == Meshes.Kind.UNIX
              ? UnixDomainSocketAddress.of(folder.resolve("r" + p))
              : ANY.getFirst();
      ports.add(MeshPort.open(options.rank(p), List.of(address)));
      all.add(ports.getLast().address());
    }
    List<Callable<String>> connects = new ArrayList<>();
    for (int p = 3; p >= 0; p--) {
      int rank = p;
      connects.add(() -> {
        Thread.sleep(10 * ((rank * 3) % 4));
        return outcome(ports.get(rank), all);
      });
    }
    Collections.shuffle(connects, new Random(1));
    assertThat(Meshes.together(connects)).containsOnly("connected");
    assertThat(folder).isEmptyDirectory();
  }

  /** Rank 0 opens its port only when rank 1 has tried to reach it. */
  @Test
  void aRankThatIsNotThereYetIsTriedAgain() {
    MeshOptions options = MeshTest.options(2);
    int port = freePort();
    List<SocketAddress> all = List.of(new InetSocketAddress(HERE, port), ANY.getFirst());
    List<String> outcomes =
        Meshes.together(
            List.of(
                () -> {
                  Thread.sleep(60);
                  return outcome(MeshPort.open(options, List.of(all.getFirst())), all);
                },
                () -> outcome(MeshPort.open(options.rank(1), ANY), all)));
    assertThat(outcomes).containsOnly("connected");
  }

  @Test
  void namesOfHostsAreResolvedWithEachTry() {
    MeshOptions options = MeshTest.options(2);
    MeshPort port = MeshPort.open(options, ANY);
    int number = ((InetSocketAddress) port.address()).getPort();
    SocketAddress named = InetSocketAddress.createUnresolved(HERE.getHostAddress(), number);
    List<SocketAddress> all = List.of(named, ANY.getFirst());
    assertThat(
            Meshes.together(
                List.of(
                    () -> outcome(port, all),
                    () -> outcome(MeshPort.open(options.rank(1), ANY), all))))
        .containsOnly("connected");
    List<SocketAddress> nowhere = List.of(InetSocketAddress.createUnresolved("no.such.invalid", 1));
    assertThatThrownBy(() -> MeshPort.open(options, nowhere)).hasMessageContaining("no such host");
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, HERE)) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Some say nothing, some nonsense, some hang up: the right ranks come together all the same. */
  @Test
  void strangersHoldNobodyUp() throws Exception {
    MeshOptions options = MeshTest.options(2);
    MeshPort port = MeshPort.open(options, ANY);
    MeshPort second = MeshPort.open(options.rank(1), ANY);
    List<SocketAddress> all = List.of(port.address(), second.address());
    List<SocketChannel> strangers = new ArrayList<>();
    Random random = new Random(5);
    for (int i = 0; i < 40; i++) {
      SocketChannel stranger = SocketChannel.open(all.get(i % 2));
      byte[] bytes = new byte[random.nextInt(200)];
      random.nextBytes(bytes);
      if (i % 4 == 3) {
        bytes = Hello.of(options.rank(1), 0, 0);
        bytes[random.nextInt(Hello.NONCE)] ^= (byte) (1 << random.nextInt(8));
      }
      if (i % 4 != 0) {
        RawPeer.send(stranger, bytes);
      }
      if (i % 4 == 2) {
        stranger.close();
      }
      strangers.add(stranger);
    }
    assertThat(Meshes.together(List.of(() -> outcome(port, all), () -> outcome(second, all))))
        .containsOnly("connected");
    for (SocketChannel stranger : strangers) {
      stranger.close();
    }
  }

  /** More of them than a rank listens to at once are there before it can reach the other. */
  @Test
  void strangersDoNotKeepARankFromAsking() throws Exception {
    MeshOptions options = MeshTest.options(2);
    List<SocketAddress> all = List.of(new InetSocketAddress(HERE, freePort()), ANY.getFirst());
    MeshPort second = MeshPort.open(options.rank(1), ANY);
    List<SocketChannel> strangers = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      strangers.add(SocketChannel.open(second.address()));
    }
    assertThat(
            Meshes.together(
                List.of(
                    () -> {
                      for (SocketChannel stranger : strangers.subList(80, 100)) {
                        awaitEnd(stranger);
                      }
                      return outcome(MeshPort.open(options, List.of(all.getFirst())), all);
                    },
                    () -> outcome(second, all))))
        .containsOnly("connected");
    for (SocketChannel stranger : strangers) {
      stranger.close();
    }
  }

  /** One who is turned away because others are listened to sees the connection end. */
  private static void awaitEnd(SocketChannel stranger) throws IOException {
    try {
      assertThat(stranger.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    } catch (SocketException _) {
      // It ended as well.
    }
  }

  @Test
  void aServiceThatIsNoRankIsNamed() throws Exception {
    MeshOptions options = MeshTest.options(2).connectWithin(LONG);
    try (ServerSocket other = new ServerSocket(0, 1, HERE)) {
      Thread.ofVirtual()
          .start(() -> {
            try {
              var socket = other.accept();
              socket.getOutputStream().write("HTTP/1.1 400 Bad Request\r\n".repeat(9).getBytes());
            } catch (IOException _) {
              // The rank hung up.
            }
          });
      MeshPort port = MeshPort.open(options.rank(1), ANY);
      List<SocketAddress> all =
          List.of(new InetSocketAddress(HERE, other.getLocalPort()), port.address());
      assertThat(outcome(port, all)).contains("no hello of an exchange");
    }
  }

  @Test
  void aServiceThatNeverAnswersIsNamedWhenTheTimeIsOver() throws Exception {
    MeshOptions options = MeshTest.options(2).connectWithin(Duration.ofMillis(200));
    try (ServerSocket silent = new ServerSocket(0, 1, HERE)) {
      MeshPort port = MeshPort.open(options.rank(1), ANY);
      List<SocketAddress> all =
          List.of(new InetSocketAddress(HERE, silent.getLocalPort()), port.address());
      assertThat(outcome(port, all))
          .contains("rank 1 got no connection with ranks [0] within PT0.2S");
    }
  }

  @Test
  void aPortInUseIsRefusedOrTheNextTaken() {
    try (MeshPort first = MeshPort.open(MeshTest.options(2), ANY)) {
      SocketAddress taken = first.address();
      assertThatThrownBy(() -> MeshPort.open(MeshTest.options(2).rank(1), List.of(taken)))
          .isInstanceOf(MeshException.class)
          .hasMessageContaining("no address that rank 1 can listen at")
          .hasMessageContaining("in use");
      try (MeshPort next =
          MeshPort.open(MeshTest.options(2).rank(1), List.of(taken, ANY.getFirst()))) {
        assertThat(next.address()).isNotEqualTo(taken);
      }
    }
  }
}
