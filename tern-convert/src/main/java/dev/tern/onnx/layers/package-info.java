/** ONNX models of other tools, whose nodes become layers of one of Tern's graphs. */
@NullMarked
package dev.tern.onnx.layers;

import org.jspecify.annotations.NullMarked;
