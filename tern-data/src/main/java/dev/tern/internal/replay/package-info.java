/**
 * Logs of recorded steps, in the format of the DTR simulator, and replays of them under budgets of
 * memory. {@code tern replay} reads logs; {@code tern train --record} writes one.
 */
@NullMarked
package dev.tern.internal.replay;

import org.jspecify.annotations.NullMarked;
