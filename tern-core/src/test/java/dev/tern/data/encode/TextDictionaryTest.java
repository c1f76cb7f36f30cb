package dev.tern.data.encode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

final class TextDictionaryTest {
  private static long saw(TextDictionary dictionary, String text) {
    byte[] utf8 = ("<" + text + ">").getBytes(StandardCharsets.UTF_8);
    long hash = TextHash.of(utf8, 1, utf8.length - 1);
    dictionary.saw(hash, utf8, 1, utf8.length - 1);
    return hash;
  }

  @Test
  void textsAreFoundByTheirHash() {
    TextDictionary dictionary = new TextDictionary();
    for (int i = 0; i < 10_000; i++) {
      saw(dictionary, "value " + i);
    }
    saw(dictionary, "");
    for (int i = 0; i < 10_000; i++) {
      saw(dictionary, "value " + i);
    }
    assertThat(dictionary.size()).isEqualTo(10_001);
    for (int i = 0; i < 10_000; i++) {
      assertThat(dictionary.text(TextHash.of("value " + i))).contains("value " + i);
    }
    assertThat(dictionary.text(TextHash.EMPTY)).contains("");
    assertThat(dictionary.text(TextHash.of("other"))).isEmpty();
  }

  @Test
  void textsWhoseHashesMeetInTheTableAreKeptApart() {
    TextDictionary dictionary = new TextDictionary();
    byte[] bytes = "abcdefghij".getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 10; i++) {
      dictionary.saw((long) i << 32, bytes, i, i + 1);
    }
    for (int i = 0; i < 10; i++) {
      assertThat(dictionary.text((long) i << 32)).contains("abcdefghij".substring(i, i + 1));
    }
  }

  @Test
  void twoTextsWithOneHashAreRefused() {
    TextDictionary dictionary = new TextDictionary();
    byte[] bytes = "left right".getBytes(StandardCharsets.UTF_8);
    dictionary.saw(42, bytes, 0, 4);
    assertThatThrownBy(() -> dictionary.saw(42, bytes, 5, 10))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("\"left\" and \"right\"")
        .hasMessageContaining("000000000000002a");
  }

  @Test
  void integersAreKeptAsDecimalText() {
    TextDictionary dictionary = new TextDictionary();
    long hash = TextHash.ofInteger(-305);
    dictionary.sawInteger(hash, -305);
    dictionary.sawInteger(hash, -305);
    assertThat(dictionary.text(hash)).contains("-305");
    assertThat(dictionary.size()).isEqualTo(1);
  }

  @Test
  void noneKeepsNothing() {
    TextDictionary none = TextDictionary.none();
    long hash = saw(none, "text");
    none.sawInteger(1, 1);
    assertThat(none.text(hash)).isEmpty();
    assertThat(none.size()).isZero();
  }

  @Test
  void threadsMayShareADictionary() throws Exception {
    TextDictionary dictionary = new TextDictionary();
    try (var threads = Executors.newFixedThreadPool(4)) {
      List<Callable<Boolean>> jobs = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        int first = t * 1000;
        jobs.add(() -> {
          for (int i = first; i < first + 5000; i++) {
            saw(dictionary, "v" + i);
          }
          return true;
        });
      }
      for (Future<Boolean> done : threads.invokeAll(jobs)) {
        assertThat(done.get()).isTrue();
      }
    }
    assertThat(dictionary.size()).isEqualTo(8000);
    for (int i = 0; i < 8000; i++) {
      assertThat(dictionary.text(TextHash.of("v" + i))).contains("v" + i);
    }
  }
}
