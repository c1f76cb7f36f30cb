/**
 * Runs plans. An {@link dev.tern.internal.runtime.Engine} is what a device computes with: threads,
 * an allocator under one budget and the plans made so far. {@link
 * dev.tern.internal.runtime.Engine#bind} gives a program memory; an {@link
 * dev.tern.internal.runtime.Execution} runs its steps. {@link
 * dev.tern.internal.runtime.DeviceAccess} lets the packages above {@code tensor} reach the
 * allocator of a device.
 */
@NullMarked
package dev.tern.internal.runtime;

import org.jspecify.annotations.NullMarked;
