package dev.tern.cli.config;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * One configuration key. It does not change once its section has declared it.
 *
 * @param <T> the value's type
 */
final class Key<T> {
  private final String path;
  private final Kind<T> kind;
  private final Optional<T> fallback;
  private final String doc;
  private Optional<Condition> condition = Optional.empty();
  private Optional<T> earlier = Optional.empty();
  private boolean changeable;
  private boolean forReading;

  /**
   * The key applies only where the value of {@code path}, which stands earlier in the section, is
   * one of {@code values}.
   */
  record Condition(String path, List<String> values) {}

  /** The keys of a section, in the order they are declared: they are read and written in it. */
  record Section(List<Key<?>> keys) {
    Section() {
      this(new ArrayList<>());
    }

    /** A key with a default. */
    <T> Key<T> key(String path, Kind<T> kind, T fallback, String doc) {
      return add(new Key<>(path, kind, Optional.of(fallback), doc));
    }

    /** A key that must be given where it applies. */
    <T> Key<T> required(String path, Kind<T> kind, String doc) {
      return add(new Key<>(path, kind, Optional.empty(), doc));
    }

    private <T> Key<T> add(Key<T> key) {
      keys.add(key);
      return key;
    }
  }

  private Key(String path, Kind<T> kind, Optional<T> fallback, String doc) {
    this.path = path;
    this.kind = kind;
    this.fallback = fallback;
    this.doc = doc;
  }

  /** Lets the key apply only where {@code other} is one of {@code values}. */
  Key<T> when(Key<String> other, String... values) {
    condition = Optional.of(new Condition(other.path, List.of(values)));
    return this;
  }

  /** Lets a resumed run have another value: its weights after the same steps stay the same. */
  Key<T> mayChange() {
    changeable = true;
    return this;
  }

  /**
   * Says what runs did that were begun before the key was there, or before its default was the one
   * of today. Where a run's own configuration does not state the key, it means {@code old}; a run
   * that goes on keeps its value where the user's configuration does not state one.
   */
  Key<T> before(T old) {
    earlier = Optional.of(old);
    return this;
  }

  /** Notes that the key says how files are read, whatever is done with the rows. */
  Key<T> reading() {
    forReading = true;
    return this;
  }

  /** Sections and name joined by dots, as in {@code train.optimizer.lr}. */
  String path() {
    return path;
  }

  /** The values it takes. */
  Kind<T> kind() {
    return kind;
  }

  /** The value where none is given; empty when one must be given. */
  Optional<T> fallback() {
    return fallback;
  }

  /** What {@link #before} said; empty where absence has always meant the default. */
  Optional<T> earlier() {
    return earlier;
  }

  /** Its meaning in one sentence. */
  String doc() {
    return doc;
  }

  Optional<Condition> condition() {
    return condition;
  }

  boolean changeable() {
    return changeable;
  }

  boolean forReading() {
    return forReading;
  }

  /** The section it stands in, without its own name. */
  String section() {
    return path.substring(0, path.lastIndexOf('.'));
  }

  /** Its own name, the last part of its path. */
  String name() {
    return path.substring(path.lastIndexOf('.') + 1);
  }

  /** What absence meant in a run that did not know the key, as YAML; empty as the default is. */
  Optional<String> writtenEarlier() {
    return earlier.or(() -> fallback).map(kind::write);
  }

  /** The default as YAML, or empty when a value must be given. */
  Optional<String> writtenFallback() {
    return fallback.map(kind::write);
  }
}
