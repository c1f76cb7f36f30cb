package dev.tern.exchange;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer that sends what it should not, ends, or stands still. */
final class HostilePeerTest {
  private static final int BYTES = 100;
  private static final MeshOptions OPTIONS = MeshTest.options(2);

  private final byte[] payload = new byte[BYTES];

  HostilePeerTest() {
    for (int i = 0; i < BYTES; i++) {
      payload[i] = (byte) (i * 7);
    }
  }

  /** What {@code mesh} throws as it receives a message of {@link #BYTES} bytes. */
  private static MeshException failure(RawPeer peer) {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment room = arena.allocate(BYTES);
      peer.mesh().receive(1, room).await();
      throw new AssertionError("the mesh took it");
    } catch (MeshException e) {
      return e;
    }
  }

  private MeshException failure(MeshOptions options, Consumer<RawPeer> work) {
    try (RawPeer peer = new RawPeer(options)) {
      work.accept(peer);
      return failure(peer);
    }
  }

  private Frame head(RawPeer peer) {
    return peer.head(Operation.MESSAGE, 0, BYTES);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWholeFrameIsTaken(boolean encrypted) {
    try (RawPeer peer = new RawPeer(OPTIONS.encrypted(encrypted));
        Arena arena = Arena.ofShared()) {
      peer.send(peer.bytes(head(peer), payload));
      MemorySegment room = arena.allocate(BYTES + 20);
      assertThat(peer.mesh().receive(1, room).await()).isEqualTo(BYTES);
      assertThat(room.asSlice(0, BYTES).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(payload);
    }
  }

  /** One bit of each byte of the head, and of the payload and its tag. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void everyChangedByteOfAFrameIsFound(boolean encrypted) {
    MeshOptions options = OPTIONS.encrypted(encrypted);
    int frame = Frame.BYTES + BYTES + (encrypted ? FrameCipher.TAG_BYTES : 0);
    for (int at = 0; at < frame; at += at < Frame.BYTES ? 1 : 23) {
      int place = at;
      MeshException e =
          failure(
              options,
              peer -> {
                byte[] bytes = peer.bytes(head(peer), payload);
                bytes[place] ^= (byte) (1 << place % 8);
                peer.send(bytes);
              });
      assertThat(e).as("byte %d", at).hasMessageMatching("exchange: rank 0 got .*, expected .*");
      assertThat(e.rank()).hasValue(1);
    }
  }

  @Test
  void everyHeadThatDoesNotFitIsRefusedBeforeItsPayload() {
    refused(head -> head.total = Long.MAX_VALUE, "9,223,372,036,854,775,807 bytes");
    refused(head -> head.length = Integer.MAX_VALUE, "2,147,483,647");
    refused(head -> head.length = -1, "-1 bytes");
    refused(head -> head.total = -1, "of -1");
    refused(head -> head.length = BYTES - 1, "a frame of 99 bytes, expected 100");
    refused(head -> head.total = BYTES + 1, "101 bytes, expected message 0 of at most 100 bytes");
    refused(head -> head.number = 5, "message 5");
    refused(head -> head.frame = 1, "frame 1, expected frame 0");
    refused(head -> head.sender = 0, "rank 0");
    refused(head -> head.step = 1, "second step");
    refused(head -> head.kind = Frame.ABORT, "frame of kind 3");
    refused(head -> head.operation = 8, "all-reduce 0 of 100 bytes, expected message 0");
    refused(head -> head.operation = 99, "operation of code 99");
    refused(head -> head.detail = 1, "message 0 with FLOAT_SUM of 100 bytes, expected message 0");
    refused(head -> head.detail = -1, "with a reduction of code 254 at root 16777214");
  }

  private void refused(Consumer<Frame> change, String expected) {
    MeshException e =
        failure(
            OPTIONS,
            peer -> {
              Frame head = head(peer);
              change.accept(head);
              peer.send(Arrays.copyOf(peer.bytes(head, payload), Frame.BYTES));
            });
    assertThat(e).hasMessageContaining(expected).hasMessageContaining("from rank 1");
  }

  @Test
  void framesOfAnotherRunOrAttemptAreRefused() {
    for (MeshOptions other : new MeshOptions[] {OPTIONS.run(77, 2), OPTIONS.run(78, 1)}) {
      MeshException e =
          failure(
              OPTIONS,
              peer -> {
                Frame head = new Frame(other.run(), other.attempt());
                head.kind = Frame.DATA;
                head.sender = 1;
                head.total = BYTES;
                head.length = BYTES;
                peer.send(peer.bytes(head, payload));
              });
      assertThat(e)
          .hasMessageContaining("attempt %d, run %016x".formatted(other.attempt(), other.run()));
    }
  }

  @Test
  void aFrameThatComesTwiceIsRefusedWhereItIsEncrypted() {
    MeshOptions options = OPTIONS.encrypted(true);
    try (RawPeer peer = new RawPeer(options);
        Arena arena = Arena.ofShared()) {
      byte[] bytes = peer.bytes(head(peer), payload);
      peer.send(bytes);
      peer.send(bytes);
      peer.mesh().receive(1, arena.allocate(BYTES)).await();
      assertThat(failure(peer)).hasMessageContaining("frame 0, expected frame 1");
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 63, 64, 65, 163})
  void aFrameThatEndsEarlyNamesTheRank(int bytes) {
    MeshException e =
        failure(
            OPTIONS,
            peer -> {
              peer.send(Arrays.copyOf(peer.bytes(head(peer), payload), bytes));
              peer.kill();
            });
    assertThat(e).hasMessageContaining("lost rank 1");
    assertThat(e.rank()).hasValue(1);
  }

  @Test
  void theEndOfTheConnectionForDataAloneIsFound() {
    MeshException e =
        failure(
            OPTIONS,
            peer -> {
              try {
                peer.data().close();
              } catch (IOException x) {
                throw new AssertionError(x);
              }
            });
    assertThat(e)
        .hasMessageContaining("connection with rank 1 ended")
        .hasMessageContaining("message 0");
  }

  @Test
  void aPeerThatStandsStillIsNamedWithWhatHadArrived() {
    MeshOptions options = OPTIONS.silence(Duration.ofMillis(150));
    MeshException e =
        failure(
            options,
            peer -> peer.send(Arrays.copyOf(peer.bytes(head(peer), payload), Frame.BYTES + 10)));
    assertThat(e)
        .hasMessageContaining("nothing from rank 1 for 0.")
        .hasMessageContaining("message 0 (10 of at most 100 bytes had arrived)")
        .hasMessageContaining("a sign of life within 0.2 s");
    assertThat(e.rank()).hasValue(1);
  }

  @Test
  void aPeerThatLivesButSendsNothingMissesTheDeadline() {
    MeshOptions options = OPTIONS.silence(Duration.ofSeconds(60)).deadline(Duration.ofMillis(150));
    assertThat(failure(options, _ -> {})).hasMessageContaining("within the deadline of 0.2 s");
  }

  /** At once, by the connection for control, however rarely the mesh looks at its deadlines. */
  @Test
  @Timeout(value = 8, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void whatAPeerSaysAsItEndsReachesWhoeverWaits() {
    MeshException e =
        failure(
            OPTIONS.silence(Duration.ofDays(1)).deadline(Duration.ofDays(1)),
            peer -> {
              byte[] text = "\0\0\0\1exchange: disk full\u001b[31m".getBytes();
              Frame head = peer.head(Operation.MESSAGE, 0, text.length);
              head.kind = Frame.ABORT;
              RawPeer.send(peer.control(), peer.bytes(head, text));
            });
    assertThat(e).hasMessageStartingWith("exchange: disk full");
    assertThat(e.getMessage()).doesNotContain("\u001b");
    assertThat(e.rank()).hasValue(1);
  }

  @ParameterizedTest
  @CsvSource({"9,0", "1,0", "2,5", "3,2", "3,1025", "4,1"})
  void framesThatControlDoesNotKnowAreRefused(byte kind, int length) {
    MeshException e =
        failure(
            OPTIONS,
            peer -> {
              Frame head = peer.head(Operation.MESSAGE, 0, length);
              head.kind = kind;
              RawPeer.send(peer.control(), peer.bytes(head, new byte[length]));
            });
    assertThat(e).hasMessageContaining("on the connection for control");
  }

  @Test
  void garbageOnTheConnectionForControlIsRefused() {
    MeshException e = failure(OPTIONS, peer -> RawPeer.send(peer.control(), new byte[64]));
    assertThat(e).hasMessageContaining("where a frame begins");
  }

  @Test
  void bytesThatComeOneByOneMakeAWholeMessage() {
    try (RawPeer peer = new RawPeer(OPTIONS);
        Arena arena = Arena.ofShared()) {
      MemorySegment room = arena.allocate(BYTES);
      Exchange exchange = peer.mesh().receive(1, room).start();
      for (byte b : peer.bytes(head(peer), payload)) {
        peer.send(new byte[] {b});
      }
      assertThat(exchange.await()).isEqualTo(BYTES);
      assertThat(room.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(payload);
    }
  }

  /** What nobody asked for stays in the buffers of the system, whose room ends. */
  @Test
  void aPeerThatSendsWithoutEndFillsNoMemoryHere() throws Exception {
    try (RawPeer peer = new RawPeer(OPTIONS)) {
      peer.data().configureBlocking(false);
      ByteBuffer much = ByteBuffer.allocateDirect(1 << 20);
      long sent = 0;
      for (int idle = 0; idle < 20; ) {
        int written = peer.data().write(much.clear());
        sent += written;
        idle = written == 0 ? idle + 1 : 0;
        Thread.sleep(written == 0 ? 5 : 0);
        assertThat(sent).isLessThan(64L << 20);
      }
      assertThat(peer.mesh().ranks()).isEqualTo(2);
    }
  }

  @Test
  void aPeerThatReadsNothingHoldsUpOnlyWhatGoesToIt() {
    MeshOptions options = OPTIONS.deadline(Duration.ofMillis(200)).silence(Duration.ofDays(1));
    try (RawPeer peer = new RawPeer(options);
        Arena arena = Arena.ofShared()) {
      MemorySegment much = arena.allocate(32 << 20);
      Exchange exchange = peer.mesh().send(1, much);
      assertThatThrownBy(exchange::await)
          .isInstanceOf(MeshException.class)
          .hasMessageContaining("of 33,554,432 bytes were sent")
          .hasMessageContaining("deadline");
    }
  }
}
