/**
 * The folder of a run and what is written into it: {@link dev.tern.cli.run.RunFolder}, its metrics
 * and its report. Training itself is elsewhere.
 */
@NullMarked
package dev.tern.cli.run;

import org.jspecify.annotations.NullMarked;
