/** Recorded training steps: read from logs and replayed under a budget. */
@NullMarked
package dev.tern.internal.replay;

import org.jspecify.annotations.NullMarked;
