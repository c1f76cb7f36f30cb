/** What imports of other tools' models share. */
@NullMarked
package dev.tern.convert;

import org.jspecify.annotations.NullMarked;
