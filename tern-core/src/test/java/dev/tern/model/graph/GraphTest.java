package dev.tern.model.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tern.base.DataException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Graphs as text, and what is none. */
final class GraphTest {
  @Test
  void aGraphComesBackFromItsText() {
    for (GraphModelTest.Case layer : GraphModelTest.cases().toList()) {
      Graph graph = GraphModelTest.graph(layer.layers());
      assertThat(Graph.parse(graph.text(), "text")).isEqualTo(graph);
      assertThat(Graph.parse(graph.lines(), "lines")).isEqualTo(graph);
    }
    assertThat(Graph.parse(Graph.DEFAULT.text(), "text")).isEqualTo(Graph.DEFAULT);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{'name': 'out', 'op': 'relu', 'in': ['y']} | the tensor y, which nothing makes",
        "{'name': 'out', 'op': 'relu', 'in': ['out']} | which layer number 0 makes, itself",
        "{'name': 'x', 'op': 'relu', 'in': ['x']} | the name \"x\" a second time",
        "{'name': '', 'op': 'relu', 'in': ['x']} | of no letters",
        "{'name': 'out', 'op': 'relu', 'in': ['x', 'x']} | got 2 inputs, expected 1",
        "{'name': 'out', 'op': 'linear', 'in': ['x'], 'outputs': 0} | got outputs 0",
        "{'name': 'out', 'op': 'linear', 'in': ['x'], 'outputs': 2.5} | got outputs 2.5",
        "{'name': 'out', 'op': 'dropout', 'in': ['x'], 'rate': 1} | got rate 1",
        "{'name': 'out', 'op': 'slice', 'in': ['x'], 'from': [3], 'to': [3]} | from 3 to 3",
        "{'name': 'out', 'op': 'slice', 'in': ['x'], 'from': [3], 'to': [4, 5]} | lists",
      })
  void layersThatCannotBeAreRefused(String layer, String part) {
    assertThatThrownBy(() -> GraphModelTest.graph(layer.replace('\'', '"')))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(part);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      value = {
        "{'name': 'out', 'op': 'new', 'in': ['x']} | layers[0]: \"op\": got \"new\" in layer out",
        "{'name': 'out', 'op': 'relu'} | layers[0]: \"in\": got none",
        "{'name': 'out', 'op': 'relu', 'in': 'x'} | layers[0]: \"in\": got the text",
        "{'name': 'out', 'op': 'linear', 'in': ['x']} | layers[0]: \"outputs\": got none",
        "{'name': 'out', 'op': 'linear', 'in': ['x'], 'outputs': '4'} | layers[0]: \"outputs\"",
        "{'name': 'out', 'op': 'relu', 'in': ['x'], 'rate': 1} | the field \"rate\"",
        "{'name': 'out', 'op': 'repeat', 'in': ['x'], 'rows': 1, 'factor': 2} | true or false",
      })
  void whatIsNoJsonOfLayersIsRefusedByItsPlace(String layer, String part) {
    assertThatThrownBy(() -> GraphModelTest.graph(layer.replace('\'', '"')))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("test: ")
        .hasMessageContaining(part);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{", "[]", "{\"inputs\": []}", "{\"inputs\": [], \"more\": 1}"})
  void whatIsNoGraphIsRefused(String text) {
    assertThatThrownBy(() -> Graph.parse(text, "test")).isInstanceOf(DataException.class);
  }
}
