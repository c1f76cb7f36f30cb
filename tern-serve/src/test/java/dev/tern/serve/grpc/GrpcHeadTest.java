package dev.tern.serve.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tern.serve.wire.RefusedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class GrpcHeadTest {
  @ParameterizedTest
  @CsvSource({
    "1n, 1",
    "100m, 100000000",
    "59999795u, 59999795000",
    "2S, 2000000000",
    "1M, 60000000000",
    "99999999H, 31536000000000000"
  })
  void timesAreNumbersWithAUnit(String field, long nanos) {
    assertThat(GrpcHead.timeout(field)).hasValue(nanos);
  }

  @ParameterizedTest
  @ValueSource(strings = {"m", "100", "-1m", "+1m", "1.5S", "123456789m", "1 m", "1x", "\u0661m"})
  void otherTimesAreRefused(String field) {
    assertThatExceptionOfType(RefusedException.class)
        .isThrownBy(() -> GrpcHead.timeout(field))
        .withMessageStartingWith("grpc-timeout: ");
    assertThat(GrpcHead.timeout("")).isEmpty();
  }

  @Test
  void messagesAreBytesThatAHeadMayHave() {
    assertThat(GrpcHead.message("got 5% of \"\u00c5\"\n")).isEqualTo("got 5%25 of \"%C3%85\"%0A");
    assertThat(GrpcHead.message("\u20ac".repeat(5_000))).hasSize(9_000);
  }

  @Test
  void typesOfMessagesOfProtocolBuffersAreTaken() {
    for (String type :
        new String[] {
          "application/grpc", "application/grpc+proto", "APPLICATION/GRPC; charset=utf-8"
        }) {
      assertThat(GrpcHead.isGrpc(type)).isTrue();
      assertThat(GrpcHead.reads(type)).isTrue();
    }
    for (String type :
        new String[] {"application/grpc+json", "application/grpc-web", "application/grpcx"}) {
      assertThat(GrpcHead.isGrpc(type)).isTrue();
      assertThat(GrpcHead.reads(type)).isFalse();
    }
    assertThat(GrpcHead.isGrpc("application/json")).isFalse();
  }

  @Test
  void everyStatusThatTernAnswersHasOneOfGrpc() {
    assertThat(GrpcStatus.of(413)).isEqualTo(GrpcStatus.RESOURCE_EXHAUSTED);
    assertThat(GrpcStatus.of(504).ordinal()).isEqualTo(4);
    assertThat(GrpcStatus.of(500).ordinal()).isEqualTo(13);
    assertThat(GrpcStatus.of(401).ordinal()).isEqualTo(16);
  }
}
