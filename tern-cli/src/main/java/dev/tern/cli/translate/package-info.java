/**
 * Configurations of other tools as Tern's: {@code tern config from}. A reader of each notation
 * gives a {@code Section} of settings with their lines, which knows what was read of it; a
 * translator of each tool reads it, writes a {@code RunYaml} and says in {@code TranslationNotes}
 * what becomes of the rest.
 */
@NullMarked
package dev.tern.cli.translate;

import org.jspecify.annotations.NullMarked;
