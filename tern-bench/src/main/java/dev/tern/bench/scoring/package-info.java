/** Scoring of trained models in this process, beside ONNX Runtime. */
@NullMarked
package dev.tern.bench.scoring;

import org.jspecify.annotations.NullMarked;
