package dev.tern.checkpoint;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import dev.tern.internal.json.Json;
import java.util.List;
import org.junit.jupiter.api.Test;

final class TableOptionsJsonTest {
  @Test
  void aManifestThatNamesNoRowOfUnknownIdsIsRefused() {
    for (String text :
        List.of(
            "\"unknown\":\"HASH\",\"buckets\":0", "\"unknown\":\"HASH\",\"buckets\":4294967297")) {
      var json = Json.parseObject("{" + text + "}", "test");
      assertThatThrownBy(() -> TableOptionsJson.unknown(json))
          .isInstanceOf(DataException.class)
          .hasMessageContaining("\"unknown\": got HASH (");
    }
    var other = Json.parseObject("{\"unknown\":\"HASHED\"}", "test");
    assertThatThrownBy(() -> TableOptionsJson.unknown(other))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("\"unknown\": got HASHED (");
  }
}
