/** Rows that are drawn alike here and in {@code peers/train.py}. */
@NullMarked
package dev.tern.bench.rows;

import org.jspecify.annotations.NullMarked;
