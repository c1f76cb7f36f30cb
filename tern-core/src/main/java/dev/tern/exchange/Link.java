package dev.tern.exchange;

import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * A connection whose peer is known.
 *
 * @param sends the key of what this rank sends, null without encryption
 * @param receives the key of what it receives
 */
record Link(Wire wire, @Nullable SecretKey sends, @Nullable SecretKey receives) {}
