package dev.tern.cli.translate;

import dev.tern.base.Shown;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Settings by name, in their order. A section remembers which of them were read, so that {@link
 * #reportRest} can name all others.
 */
final class Section implements Setting {
  private final String path;
  private final Place place;
  private final List<Member> members = new ArrayList<>();
  private final Map<String, String> reasons = new LinkedHashMap<>();
  private String usual = "Tern has no such setting";

  /** A setting with its name, shared by the sections that it was merged into. */
  private static final class Member {
    private final String name;
    private final Setting value;
    private boolean read;

    /** Another of this name counts. */
    private boolean replaced;

    private Member(String name, Setting value) {
      this.name = name;
      this.value = value;
    }
  }

  /**
   * An empty section.
   *
   * @param path of its name and those around it, joined by dots; empty for a file
   */
  Section(String path, Place place) {
    this.path = path;
    this.place = place;
  }

  /** The settings of all {@code sections}, where the value of a later one replaces earlier ones. */
  static Section merged(List<Section> sections) {
    Section merged = new Section("", sections.getLast().place);
    for (Section section : sections) {
      Set<String> names = section.names();
      merged.members.removeIf(member -> names.contains(member.name));
      merged.members.addAll(section.members);
    }
    return merged;
  }

  /** Adds a setting behind all others. */
  void add(String name, Setting value) {
    members.add(new Member(name, value));
  }

  /** The path of a member, for messages. */
  String path(String name) {
    return path.isEmpty() ? name : path + "." + name;
  }

  @Override
  public Place place() {
    return place;
  }

  @Override
  public String shown() {
    return "{...}";
  }

  Set<String> names() {
    Set<String> names = new TreeSet<>();
    members.forEach(member -> names.add(member.name));
    return names;
  }

  boolean has(String name) {
    return members.stream().anyMatch(member -> member.name.equals(name));
  }

  /** Reads the value of a setting; of several the last counts. */
  Optional<Text> text(String name) {
    List<Member> found = find(name);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    found.forEach(member -> member.replaced = member != found.getLast());
    return Optional.of(single(name, found.getLast().value));
  }

  private Text single(String name, Setting value) {
    return switch (value) {
      case Text text -> text;
      case Many(List<Setting> items, boolean _, Place _) when items.size() == 1 ->
          single(name, items.getFirst());
      default ->
          throw value
              .place()
              .wrong(
                  "%s: got %s, expected one value; write it so"
                      .formatted(Shown.excerpt(name), value.shown()));
    };
  }

  /** Reads all values of a setting, one after another. */
  List<Text> texts(String name) {
    List<Text> texts = new ArrayList<>();
    for (Setting each : flat(name)) {
      texts.add(single(name, each));
    }
    return texts;
  }

  /**
   * Reads the values of a setting that is a list of lists; one that is no list, or a tuple, stands
   * alone.
   */
  List<List<Text>> groups(String name) {
    List<Setting> values = new ArrayList<>();
    for (Member member : find(name)) {
      boolean isList = member.value instanceof Many many && !many.tuple();
      values.addAll(isList ? flat(member) : List.of(member.value));
    }
    List<List<Text>> groups = new ArrayList<>();
    for (Setting each : values) {
      List<Text> texts = new ArrayList<>();
      addTexts(each, texts);
      if (!texts.isEmpty()) {
        groups.add(texts);
      }
    }
    return groups;
  }

  private static void addTexts(Setting value, List<Text> to) {
    switch (value) {
      case Text text -> to.add(text);
      case Many many -> many.items().forEach(item -> addTexts(item, to));
      case Section _ -> {}
    }
  }

  /** Reads the sections of a name. */
  List<Section> sections(String name) {
    List<Section> sections = new ArrayList<>();
    for (Setting each : flat(name)) {
      if (!(each instanceof Section section)) {
        throw each.place()
            .wrong(
                "%s: got %s, expected settings in it; write them as name: value"
                    .formatted(Shown.excerpt(name), each.shown()));
      }
      sections.add(section);
    }
    return sections;
  }

  /** Reads the section of a name; an empty one, where there is none. Of several the last counts. */
  Section section(String name) {
    List<Section> sections = sections(name);
    List<Member> found = find(name);
    found.forEach(member -> member.replaced = member != found.getLast());
    return sections.isEmpty() ? new Section(path(name), place) : sections.getLast();
  }

  /** Reads a setting of any form. */
  Optional<Setting> any(String name) {
    List<Member> found = find(name);
    return found.isEmpty() ? Optional.empty() : Optional.of(found.getLast().value);
  }

  private List<Setting> flat(String name) {
    List<Setting> flat = new ArrayList<>();
    for (Member member : find(name)) {
      flat.addAll(flat(member));
    }
    return flat;
  }

  private static List<Setting> flat(Member member) {
    return member.value instanceof Many many ? many.items() : List.of(member.value);
  }

  private List<Member> find(String name) {
    List<Member> found = members.stream().filter(member -> member.name.equals(name)).toList();
    found.forEach(member -> member.read = true);
    return found;
  }

  /** Says why Tern has nothing for settings of these names, if they are not read. */
  void leave(String reason, String... names) {
    for (String name : names) {
      reasons.put(name, reason);
    }
  }

  /** Says why Tern has nothing for all that is not read and has no reason of its own. */
  void leaveRest(String reason) {
    usual = reason;
  }

  /** Names all settings that nobody has read, in this section and those in it. */
  void reportRest(TranslationNotes notes) {
    for (Member member : members) {
      if (member.replaced) {
        notes.left(path(member.name), member.value, "it is given again further down");
      } else if (!member.read) {
        reportAll(member, reasons.getOrDefault(member.name, usual), notes);
      } else {
        sections(member.value).forEach(section -> section.reportRest(notes));
      }
    }
  }

  /** Names a setting, or all that stands in it. */
  private void reportAll(Member member, String reason, TranslationNotes notes) {
    List<Section> inside = sections(member.value);
    boolean holdsMore = member.value instanceof Many many && many.items().size() > inside.size();
    if (holdsMore || inside.stream().allMatch(section -> section.members.isEmpty())) {
      notes.left(path(member.name), member.value, reason);
    }
    for (Section section : inside) {
      section.members.forEach(each -> section.reportAll(each, reason, notes));
    }
  }

  private static List<Section> sections(Setting value) {
    return switch (value) {
      case Text _ -> List.of();
      case Section section -> List.of(section);
      case Many(List<Setting> items, boolean _, Place _) ->
          items.stream().flatMap(item -> sections(item).stream()).toList();
    };
  }
}
