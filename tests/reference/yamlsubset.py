"""The part of YAML that project files use, with scalars kept as the text that was written.

Read are block mappings, flow mappings, flow lists, plain and quoted scalars, and comments.
"""

import re


class YamlError(ValueError):
    """The text is outside the subset, or no YAML."""


class Scalar(str):
    """A scalar as written; `quoted` tells "1478" from 1478."""

    quoted = False


def parse(text):
    """The mapping that a document holds: dict, list and Scalar."""
    lines = _significant_lines(text)
    if not lines:
        raise YamlError("an empty document")
    mapping, used = _block_mapping(lines, 0, lines[0][0])
    if used != len(lines):
        raise YamlError(f"bad indentation at {lines[used][1]!r}")
    return mapping


def _significant_lines(text):
    """(indentation, content) of each line that has content; flow values are joined into one line."""
    lines = []
    for raw in text.splitlines():
        content = _without_comment(raw).rstrip()
        if not content.strip() or content == "---":
            continue
        stripped = content.lstrip(" ")
        if stripped.startswith("\t"):
            raise YamlError("a tab in the indentation")
        if lines and _open_brackets(lines[-1][1]) > 0:
            lines[-1] = (lines[-1][0], lines[-1][1] + " " + stripped)
        else:
            lines.append((len(content) - len(stripped), stripped))
    return lines


def _outside_quotes(text):
    """(position, character) of what lies outside quoted scalars."""
    quote = None
    position = 0
    while position < len(text):
        char = text[position]
        if quote == '"' and char == "\\":
            position += 1
        elif quote and char == quote:
            quote = None
        elif not quote and char in "'\"" and re.search(r"(^|[\s:,\[{])$", text[:position]):
            quote = char
        elif not quote:
            yield position, char
        position += 1


def _without_comment(line):
    for position, char in _outside_quotes(line):
        if char == "#" and (position == 0 or line[position - 1] in " \t"):
            return line[:position]
    return line


def _open_brackets(content):
    depth = 0
    for _, char in _outside_quotes(content):
        depth += (char in "[{") - (char in "]}")
    return depth


def _block_mapping(lines, index, indent):
    mapping = {}
    while index < len(lines) and lines[index][0] == indent:
        content = lines[index][1]
        key, rest = _split_key(content)
        if key in mapping:
            raise YamlError(f"the key {key} twice")
        index += 1
        if rest:
            mapping[key] = _whole_flow_value(rest)
        elif index < len(lines) and lines[index][0] > indent:
            mapping[key], index = _block_mapping(lines, index, lines[index][0])
        else:
            mapping[key] = Scalar("")
    if index < len(lines) and lines[index][0] > indent:
        raise YamlError(f"bad indentation at {lines[index][1]!r}")
    return mapping, index


def _split_key(content):
    match = re.match(r"""("[^"\\]*"|'[^']*'|[A-Za-z0-9_.-]+)\s*:(?:\s+(.*)|$)""", content)
    if not match:
        raise YamlError(f"not `key: value`: {content!r}")
    return match.group(1).strip("\"'"), (match.group(2) or "").strip()


def _whole_flow_value(text):
    value, end = _value(text, 0, in_flow=False)
    if text[end:].strip():
        raise YamlError(f"unexpected {text[end:]!r}")
    return value


def _skip_blanks(text, position):
    while position < len(text) and text[position] in " \t":
        position += 1
    return position


def _value(text, position, in_flow):
    position = _skip_blanks(text, position)
    if position >= len(text):
        raise YamlError("a value is missing")
    char = text[position]
    if char == "{":
        return _flow_mapping(text, position + 1)
    if char == "[":
        return _flow_list(text, position + 1)
    if char in "'\"":
        return _quoted(text, position)
    if char in "&*!|>%@`-?" and (char != "-" or text[position + 1 : position + 2] in ("", " ")):
        raise YamlError(f"outside the subset: {text[position:]!r}")
    stop = re.compile(r"[,\]}]|:\s" if in_flow else r":\s").search(text, position)
    end = stop.start() if stop else len(text)
    if stop and not in_flow:
        raise YamlError(f"a mapping inside a plain scalar: {text!r}")
    return Scalar(text[position:end].strip()), end


def _quoted(text, position):
    if text[position] == "'":
        match = re.compile(r"'((?:[^']|'')*)'").match(text, position)
        content = match and match.group(1).replace("''", "'")
    else:
        match = re.compile(r'"((?:[^"\\]|\\["\\/])*)"').match(text, position)
        content = match and re.sub(r"\\(.)", r"\1", match.group(1))
    if not match:
        raise YamlError(f"a bad quoted scalar: {text[position:]!r}")
    scalar = Scalar(content)
    scalar.quoted = True
    return scalar, match.end()


def _flow_mapping(text, position):
    mapping = {}
    while True:
        position = _skip_blanks(text, position)
        if text[position : position + 1] == "}":
            return mapping, position + 1
        key, position = _value(text, position, in_flow=True)
        position = _skip_blanks(text, position)
        if text[position : position + 1] != ":" or not isinstance(key, Scalar) or key in mapping:
            raise YamlError(f"not a flow mapping: {text!r}")
        mapping[str(key)], position = _value(text, position + 1, in_flow=True)
        position = _after_item(text, position, "}")


def _flow_list(text, position):
    items = []
    while True:
        position = _skip_blanks(text, position)
        if text[position : position + 1] == "]":
            return items, position + 1
        item, position = _value(text, position, in_flow=True)
        items.append(item)
        position = _after_item(text, position, "]")


def _after_item(text, position, closing):
    """Past a comma, or at the closing bracket."""
    position = _skip_blanks(text, position)
    if text[position : position + 1] == ",":
        return position + 1
    if text[position : position + 1] == closing:
        return position
    raise YamlError(f"expected , or {closing} in {text!r}")
