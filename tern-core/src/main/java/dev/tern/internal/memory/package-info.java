/** Off-heap memory: one budget, one allocator, raw access by address. */
@NullMarked
package dev.tern.internal.memory;

import org.jspecify.annotations.NullMarked;
