package dev.tern.onnx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tern.internal.onnx.ElementType;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** The wire format of protocol buffers, byte by byte. */
final class MessageTest {
  private static String hex(Message message) {
    return HexFormat.of().formatHex(message.toByteArray());
  }

  @Test
  void fieldsHaveTheBytesThatTheEncodingGuideShows() {
    // Protocol Buffers, "Encoding": Test1 {a: 150}, Test2 {b: "testing"}, Test3 {c: Test1 {150}}.
    assertThat(hex(new Message().number(1, 150))).isEqualTo("089601");
    assertThat(hex(new Message().text(2, "testing"))).isEqualTo("120774657374696e67");
    assertThat(hex(new Message().message(3, new Message().number(1, 150)))).isEqualTo("1a03089601");
  }

  @Test
  void integersHaveSevenBitsAByteAndNegativeOnesAllTen() {
    assertThat(hex(new Message().number(1, 0))).isEqualTo("0800");
    assertThat(hex(new Message().number(1, 127))).isEqualTo("087f");
    assertThat(hex(new Message().number(1, 128))).isEqualTo("088001");
    assertThat(hex(new Message().number(1, Long.MAX_VALUE))).isEqualTo("08ffffffffffffffff7f");
    assertThat(hex(new Message().number(1, -1))).isEqualTo("08ffffffffffffffffff01");
    assertThat(hex(new Message().number(1, Long.MIN_VALUE))).isEqualTo("0880808080808080808001");
    assertThat(hex(new Message().number(20, 7))).isEqualTo("a00107");
    assertThat(hex(new Message().numbers(8, 1, 300))).isEqualTo("400140ac02");
  }

  @Test
  void floatsAreFourBytesTheLowestFirst() {
    assertThat(hex(new Message().real(2, 1))).isEqualTo("150000803f");
    assertThat(hex(new Message().real(2, -0.0f))).isEqualTo("1500000080");
  }

  @Test
  void textIsUtf8AndCountedInBytes() {
    assertThat(hex(new Message().text(1, "\u00e9\u20ac"))).isEqualTo("0a05c3a9e282ac");
    assertThat(hex(new Message().text(1, ""))).isEqualTo("0a00");
  }

  @Test
  void aNodeIsWhatOnnxWritesOfIt() {
    Graph graph = new Graph();
    graph.input("x", ElementType.FLOAT, new Graph.Dim.Open("rows"), new Graph.Dim.Fixed(3));
    graph.cast("x", ElementType.INT64);
    // onnx.helper.make_node("Cast", ["x"], ["v0"], name="n0", to=7), as field 1 of a graph.
    assertThat(hex(graph.nodes()))
        .isEqualTo(
            "0a1c0a0178120276301a026e30220443617374" // input x, output v0, name n0, Cast
                + "2a090a02746f1807a00102"); // to = 7, an INT
    // make_tensor_value_info("x", FLOAT, ["rows", 3]), as field 11 of a graph.
    assertThat(hex(graph.inputs())).isEqualTo("5a170a017812120a100801120c0a061204726f77730a020803");
  }
}
