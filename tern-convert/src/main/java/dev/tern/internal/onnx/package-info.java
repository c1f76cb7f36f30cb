/** Files of ONNX models, read: their tensors, properties and nodes. */
@NullMarked
package dev.tern.internal.onnx;

import org.jspecify.annotations.NullMarked;
