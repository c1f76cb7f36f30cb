/**
 * JSON (RFC 8259) for manifests, headers of weight files and encoders: {@link
 * dev.tern.internal.json.Json} is a value, read by {@code Json.parse} and written by {@code
 * toString}. Strict: no comments, no duplicate keys, no numbers that would change when read back.
 */
@NullMarked
package dev.tern.internal.json;

import org.jspecify.annotations.NullMarked;
