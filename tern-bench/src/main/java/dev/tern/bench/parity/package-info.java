/** Models of Tern and of PyTorch, step by step from equal weights. */
@NullMarked
package dev.tern.bench.parity;

import org.jspecify.annotations.NullMarked;
