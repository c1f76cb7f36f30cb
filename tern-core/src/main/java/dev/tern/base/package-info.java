/**
 * The types that every package uses: {@link dev.tern.base.Shape}, {@link dev.tern.base.DType}, the
 * compute threads ({@link dev.tern.base.Workers}) and the error for bad input ({@link
 * dev.tern.base.DataException}). This package uses no other package of Tern.
 */
package dev.tern.base;
