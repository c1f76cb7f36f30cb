/** Models as ONNX: what scores a row of a checkpoint, written as a graph of ONNX operators. */
@NullMarked
package dev.tern.onnx;

import org.jspecify.annotations.NullMarked;
