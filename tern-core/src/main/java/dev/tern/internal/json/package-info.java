/**
 * JSON (RFC 8259) for manifests, headers of weight files and encoders. A {@link
 * dev.tern.internal.json.Json} is a value; {@code Json.parse} reads it and {@code toString} writes
 * it. The parser refuses comments, keys given twice, and integers that a long cannot hold.
 */
@NullMarked
package dev.tern.internal.json;

import org.jspecify.annotations.NullMarked;
