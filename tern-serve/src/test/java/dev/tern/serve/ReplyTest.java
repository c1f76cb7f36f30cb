package dev.tern.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class ReplyTest {
  @Test
  void aReplyOfJsonHasNoPartOfBinaryTensors() {
    Reply reply = Reply.json(200, "{}".getBytes(StandardCharsets.UTF_8));
    assertThat(reply.contentType()).isEqualTo("application/json");
    assertThat(reply.jsonLength()).isEmpty();
  }
}
