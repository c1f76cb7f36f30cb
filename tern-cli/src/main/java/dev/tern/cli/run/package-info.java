/**
 * The folder of a run, {@link dev.tern.cli.run.RunFolder}, and the files in it: configuration,
 * metrics, predictions and the report as a web page.
 */
@NullMarked
package dev.tern.cli.run;

import org.jspecify.annotations.NullMarked;
