"use strict";
// Lists, searches and filters the changes. What it shows comes from the data in the page, and is set as text only.
(() => {
  // Changes on a page, changes that are printed, blocked hosts that are shown below what a search finds.
  const PAGE = 100, PRINTED = 1000, BLOCKED = 5;
  const KINDS = ["create", "modify", "delete"], SIGNS = ["+", "~", "\u2212"];
  const { texts, places, causes, changes, blocked, hosts, source } = JSON.parse(document.getElementById("data").textContent);
  const { zone, owner, rtype, registers, host, of = [], also, project, cause, before, after, reasons, targets = [], via = [] } = changes;
  const count = zone.length;
  const by = (id) => document.getElementById(id);
  const search = by("search"), list = by("list"), told = by("told"), alike = by("also"), pages = by("pages");
  const selects = ["project", "cause", "class", "zone", "kind", "group"].map(by);
  const txt = by("txt");

  // Where the list of each change begins in a column of lists; `size` tells how long one is by its first number.
  const starts = (column, size) => {
    const found = new Uint32Array(count);
    for (let row = 0, at = 0; row < count; row += 1) {
      found[row] = at;
      at += size(column[at]);
    }
    return found;
  };
  const rrsetSize = (records) => (records ? records + 2 : 1);
  const alsoAt = starts(also, (hosts) => 1 + hosts);
  const beforeAt = starts(before, rrsetSize), afterAt = starts(after, rrsetSize);
  const reasonsAt = starts(reasons, (number) => 1 + 3 * number);

  const kindOf = (row) => (before[beforeAt[row]] ? (after[afterAt[row]] ? 1 : 2) : 0);
  const classOf = (row) => (causes.length ? causes[cause[row]][0] : 0);
  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, number > 9999 ? "\u202f" : "");
  const counted = (number, what) => `${grouped(number)} ${what}${number === 1 ? "" : "s"}`;
  const rrset = (column, at) => {
    const records = column[at];
    return { ttl: column[at + 1], data: records ? column.slice(at + 2, at + 2 + records).map((id) => texts[id]) : [] };
  };
  const said = (type, name) => (type === "PTR" && !name.endsWith(".") ? `PTR of ${name}` : `${type} ${name}`);
  const nameOf = (row) => {
    const name = texts[owner[row]], type = texts[rtype[row]];
    return registers[row] ? `TXT for ${said(name.startsWith("ptr-") ? "PTR" : "AAAA", texts[registers[row]])}` : said(type, name);
  };
  // The name of a change in an address of this page.
  const keyOf = (row) => `${texts[rtype[row]]} ${texts[owner[row]]}`;

  // Of each text that is a host's number, where the host begins among the hosts, plus 1.
  const hostAt = new Uint32Array(texts.length);
  for (let at = 0; at < hosts.length; at += 5) hostAt[hosts[at]] = at + 1;
  const NAME = 1, LOCATION = 2, SWITCH = 3, RACK = 4;
  const factOf = (number, fact) => (hostAt[number] ? hosts[hostAt[number] - 1 + fact] : 0);
  const labelOf = (number) => (factOf(number, NAME) ? `${texts[factOf(number, NAME)]} (${texts[number]})` : /^\d+$/.test(texts[number]) ? `host ${texts[number]}` : texts[number]);

  // A place as a link to its line, where the page knows where lines are to be seen.
  const placeOf = (text) => {
    const parts = source && /^(.+?):(\d+)(?::\d+)?$/.exec(text);
    if (!parts) return text;
    const escaped = (part) => encodeURIComponent(part).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
    const file = parts[1].split("/").map(escaped).join("/");
    const link = element("a", "", text);
    link.href = source.replaceAll("{line}", parts[2]).replaceAll("{file}", () => file);
    link.rel = "noreferrer";
    return link;
  };
  const placesOf = (ids) => {
    const made = element("span", "places");
    ids.forEach((id, place) => made.append(...(place ? [", "] : []), placeOf(texts[id])));
    return made;
  };

  // ---- search -------------------------------------------------------------------------------------------------------

  // All texts in one, each on its line, and where each begins: one search finds all that hold a term.
  let haystack = null;
  let lines = null;
  const prepare = () => {
    if (haystack !== null) return;
    const lower = texts.map((text) => text.toLowerCase());
    lines = new Uint32Array(texts.length + 1);
    lower.forEach((text, id) => { lines[id + 1] = lines[id] + text.length + 1; });
    haystack = lower.join("\n");
  };

  const hits = (term) => {
    const hit = new Uint8Array(texts.length);
    for (let at = haystack.indexOf(term), low = 0; at !== -1; at = haystack.indexOf(term, lines[low])) {
      let high = texts.length;
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (lines[middle] <= at) low = middle; else high = middle;
      }
      hit[low] = 1;
      low += 1;
      if (low >= texts.length) break;
    }
    return hit;
  };

  const holds = (column, from, to, hit) => {
    for (let at = from; at < to; at += 1) if (hit[column[at]]) return true;
    return false;
  };

  // Whether a fact of a host contains a term.
  const holdsHost = (number, hit) => hit[number] || (hostAt[number] > 0 && holds(hosts, hostAt[number], hostAt[number] + 4, hit));

  // Whether a change contains a term: `hit` is about texts, `inPlaces` about lists of evidence, `inCauses` about causes.
  const matches = (row, { hit, inPlaces, inCauses }) => {
    if (hit[registers[row]] || holdsHost(host[row], hit) || (of[row] && hit[of[row]])) return true;
    if (hit[owner[row]] || hit[project[row]] || hit[zone[row]] || hit[rtype[row]] || (targets[row] && hit[targets[row]])) return true;
    const old = beforeAt[row], now = afterAt[row], others = alsoAt[row];
    if (before[old] && holds(before, old + 2, old + 2 + before[old], hit)) return true;
    if (after[now] && holds(after, now + 2, now + 2 + after[now], hit)) return true;
    for (let at = others + 1; at <= others + also[others]; at += 1) if (holdsHost(also[at], hit)) return true;
    if (inCauses[cause[row]]) return true;
    const first = reasonsAt[row], end = first + 1 + 3 * reasons[first];
    for (let at = first + 1; at < end; at += 3) {
      if (hit[reasons[at]] || hit[reasons[at + 1]] || inPlaces[reasons[at + 2]]) return true;
    }
    return false;
  };

  const lookUp = (term) => {
    const hit = hits(term);
    const inPlaces = Uint8Array.from(places, (ids) => (ids.some((id) => hit[id]) ? 1 : 0));
    const inCauses = Uint8Array.from(causes, ([of, says, ids]) => (hit[of] || hit[says] || ids.some((id) => hit[id]) ? 1 : 0));
    return { hit, inPlaces, inCauses };
  };

  // ---- what is shown ------------------------------------------------------------------------------------------------

  const state = { q: "", project: "", cause: "", class: "", zone: "", kind: "", group: "", txt: "", host: "", rrset: "", page: 0 };
  let found = new Uint32Array(0);
  let folded = 0;
  let sizes = null;
  // What changes are grouped by: the text of a change, and the text where it has none.
  const GROUPS = {
    "": [(row) => texts[project[row]], ""],
    datacenter: [(row) => texts[factOf(host[row], LOCATION)], "No datacenter"],
    switch: [(row) => texts[factOf(host[row], SWITCH)], "No switch"],
    // Racks of two datacenters may have the same name.
    rack: [(row) => (factOf(host[row], RACK) ? `${texts[factOf(host[row], LOCATION)]} ${texts[factOf(host[row], RACK)]}` : ""), "No rack"],
  };
  const groupOf = (row) => GROUPS[state.group][0](row);
  let foundBlocked = [];

  const find = () => {
    const terms = state.q.toLowerCase().split(/\s+/).filter(Boolean);
    if (terms.length) prepare();
    const looked = terms.map(lookUp);
    const id = (text) => (text ? texts.indexOf(text) : null);
    const wanted = { project: id(state.project), zone: id(state.zone), class: id(state.class) };
    const ofKind = state.kind ? KINDS.indexOf(state.kind) : null;
    const ofCause = state.cause === "" ? null : Number(state.cause);
    const ofHost = (row) => texts[host[row]] === state.host
      || also.slice(alsoAt[row] + 1, alsoAt[row] + 1 + also[alsoAt[row]]).some((id) => texts[id] === state.host);
    // A link to a TXT shows it.
    const showsTxt = state.txt === "1" || state.rrset.startsWith("TXT ");
    const kept = new Uint32Array(count);
    let length = 0;
    folded = 0;
    sizes = null;
    for (let row = 0; row < count; row += 1) {
      if (wanted.project !== null && project[row] !== wanted.project) continue;
      if (wanted.zone !== null && zone[row] !== wanted.zone) continue;
      if (wanted.class !== null && classOf(row) !== wanted.class) continue;
      if (ofKind !== null && kindOf(row) !== ofKind) continue;
      if (ofCause !== null && cause[row] !== ofCause) continue;
      if (state.host && !ofHost(row)) continue;
      if (state.rrset && keyOf(row) !== state.rrset) continue;
      if (!looked.every((term) => matches(row, term))) continue;
      if (registers[row] && !showsTxt) folded += 1; else kept[length++] = row;
    }
    found = kept.subarray(0, length);
    if (state.group) {
      // Groups by their texts, numbers in them as numbers; what has none comes last. Within a group the order stays.
      const keys = Array.from(found, groupOf), compare = new Intl.Collator("en", { numeric: true }).compare;
      const sorted = [...new Set(keys)].sort((a, b) => (a && b ? compare(a, b) : b.length - a.length));
      const rank = new Map(sorted.map((key, place) => [key, place]));
      const ranks = new Uint32Array(count);
      found.forEach((row, place) => { ranks[row] = rank.get(keys[place]); });
      found.sort((a, b) => ranks[a] - ranks[b] || a - b);
    }
    foundBlocked = [];
    for (let at = 0; looked.length && at < blocked.length; at += 5) {
      if (looked.every(({ hit }) => holdsHost(blocked[at], hit) || holds(blocked, at, at + 5, hit))) foundBlocked.push(at);
    }
  };

  const element = (tag, name, ...children) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...children);
    return made;
  };

  // A sentence, with text in backticks as code.
  const sentence = (text) => {
    const parts = text.split("`");
    return parts.length % 2 ? parts.map((part, place) => (place % 2 ? element("code", "", part) : part)) : [text];
  };

  // Cuts two texts into what both begin with, what differs, and what both end with, at the separators of names and addresses.
  const differing = (old, now) => {
    const cut = (text) => text.match(/[^:.\-_=, ]*[:.\-_=, ]?/g).filter(Boolean);
    const a = cut(old), b = cut(now), least = Math.min(a.length, b.length);
    let head = 0, tail = 0;
    while (head < least && a[head] === b[head]) head += 1;
    while (tail < least - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
    const parts = (all) => [all.slice(0, head), all.slice(head, all.length - tail), all.slice(all.length - tail)].map((part) => part.join(""));
    return head + tail > 0 ? [parts(a), parts(b)] : [["", "", old], ["", "", now]];
  };
  const marked = ([head, middle, tail]) => [head, ...(middle ? [element("mark", "", middle)] : []), tail];

  const dataOf = (old, now) => {
    const goes = old.filter((text) => !now.includes(text)), comes = now.filter((text) => !old.includes(text));
    const stays = old.filter((text) => now.includes(text));
    const [was, is] = goes.length === 1 && comes.length === 1 ? differing(goes[0], comes[0]) : [];
    const line = (tag, name, sign, content) => element(tag, `rdata ${name}`, `${sign} `, ...content);
    return [
      ...stays.map((text) => line("span", "same", "=", [text])),
      ...goes.map((text) => line("del", "old", "\u2212", was ? marked(was) : [text])),
      ...comes.map((text) => line("ins", "new", "+", is ? marked(is) : [text])),
    ];
  };

  const why = (row) => {
    const all = element("dl", "why");
    const add = (what, ...content) => all.append(element("dt", "", what), element("dd", "", ...content));
    for (let at = reasonsAt[row] + 1, end = at + 3 * reasons[at - 1]; at < end; at += 3) {
      const whose = reasons[at + 1] && reasons[at + 1] !== host[row] ? ` (${labelOf(reasons[at + 1])})` : "";
      add("Reason", texts[reasons[at]] + whose, " ", placesOf(places[reasons[at + 2]]));
    }
    if (causes.length) {
      const [of, says, ids] = causes[cause[row]];
      const lines = placesOf(ids);
      add("Cause", ...(of ? [element("span", `class ${texts[of]}`, texts[of]), " "] : []), ...sentence(texts[says]), " ", lines);
    }
    add("Zone", element("code", "", texts[zone[row]]));
    if (targets[row]) add("Targets", texts[targets[row]]);
    const others = also.slice(alsoAt[row] + 1, alsoAt[row] + 1 + also[alsoAt[row]]);
    if (others.length) add("Shared with", others.map(labelOf).join(", "));
    add("Link", anchor("rrset", keyOf(row), "this change"));
    return all;
  };

  const change = (row) => {
    const kind = kindOf(row), old = rrset(before, beforeAt[row]), now = rrset(after, afterAt[row]);
    const ttl = kind === 1 && old.ttl !== now.ttl ? `TTL ${old.ttl} \u2192 ${now.ttl}` : `TTL ${kind === 2 ? old.ttl : now.ttl}`;
    const sign = element("b", "", SIGNS[kind]);
    sign.setAttribute("aria-hidden", "true");
    const of = texts[classOf(row)];
    const summary = element("summary", "",
      element("span", "kind", sign, ` ${KINDS[kind]}`), element("span", "name", nameOf(row), ...(targets[row] ? [` (at ${texts[targets[row]]})`] : [])),
      element("span", "data", ...dataOf(old.data, now.data), ...(via[row] ? [element("span", "via", ...sentence(texts[via[row]]))] : [])),
      element("span", "ttl", ttl, ...(of ? [" ", element("span", `class ${of}`, of)] : [])));
    const made = element("details", `change ${KINDS[kind]}`, summary);
    const open = () => { if (made.lastChild === summary) made.append(why(row)); };
    made.addEventListener("toggle", open);
    made.openNow = () => { open(); made.open = true; };
    return made;
  };

  // An address of this page that shows one thing.
  const anchor = (key, value, text) => {
    const link = element("a", "anchor", text);
    link.href = `#${new URLSearchParams([[key, value]])}`;
    return link;
  };

  const headOf = (row) => {
    const number = host[row];
    if (!number) return element("h4", "", `${texts[of[row]]} `, element("span", "", state.group ? `of ${texts[project[row]]}` : ""));
    const name = factOf(number, NAME), facts = state.group ? [`of ${texts[project[row]]}`] : [];
    if (name) facts.push(`host ${texts[number]}`);
    if (factOf(number, SWITCH)) facts.push(`switch ${texts[factOf(number, SWITCH)]}`);
    if (factOf(number, RACK)) facts.push(`rack ${texts[factOf(number, RACK)]}`);
    const link = anchor("host", texts[number], "#");
    link.title = "Link to this host";
    link.setAttribute("aria-label", `Link to ${labelOf(number)}`);
    return element("h4", "", name ? texts[name] : `host ${texts[number]}`, " ", element("span", "", facts.join(", ")), " ", link);
  };

  // How much each group has of what was found; counted when it is first asked for.
  const sizeOf = (group) => {
    if (!sizes) {
      sizes = new Map();
      found.forEach((row) => {
        const key = groupOf(row), size = sizes.get(key) ?? { changes: 0, hosts: new Set() };
        size.changes += 1;
        if (host[row]) size.hosts.add(host[row]);
        sizes.set(key, size);
      });
    }
    const { changes: all, hosts: inIt } = sizes.get(group);
    return `${counted(all, "change")}${inIt.size ? ` for ${counted(inIt.size, "host")}` : ""}`;
  };

  // Shows some of what was found, by group and host.
  const show = (from, to) => {
    const made = document.createDocumentFragment();
    let group = null;
    for (let place = from; place < Math.min(to, found.length); place += 1) {
      const row = found[place], last = place > from ? found[place - 1] : null;
      const isNext = last === null || groupOf(row) !== groupOf(last);
      if (isNext) {
        const key = groupOf(row);
        const title = key ? [element("span", "", state.group || "project"), ` ${key}: `] : [`${GROUPS[state.group][1]}: `];
        made.append(element("h3", "", ...title, element("span", "", sizeOf(key))));
      }
      if (isNext || host[row] !== host[last] || of[row] !== of[last] || project[row] !== project[last]) {
        group = element("div", "group", headOf(row));
        made.append(group);
      }
      group.append(change(row));
    }
    list.replaceChildren(made);
  };

  const showBlocked = () => {
    alike.replaceChildren();
    if (!foundBlocked.length) return;
    const line = (at) => {
      const [, of, code, message, hint] = blocked.slice(at, at + 5).map((id) => texts[id]);
      return element("p", "", `${labelOf(blocked[at])}${of ? ` of ${of}` : ""}, ${code}: `, ...sentence(message), " ",
        element("span", "helps", "Hint: ", ...sentence(hint)));
    };
    const more = foundBlocked.length > BLOCKED ? ` The first ${BLOCKED}:` : "";
    const is = foundBlocked.length === 1 ? "match is" : "matches are";
    alike.append(element("p", "", element("b", "", `${grouped(foundBlocked.length)} ${is} blocked and not changed.${more}`)));
    alike.append(...foundBlocked.slice(0, BLOCKED).map(line));
  };

  const render = () => {
    const last = Math.max(0, Math.ceil(found.length / PAGE) - 1);
    state.page = Math.min(state.page, last);
    const from = state.page * PAGE, to = Math.min(from + PAGE, found.length);
    const isAll = found.length + folded === count;
    const shown = isAll ? counted(found.length, "change") : `${found.length ? grouped(found.length) : "none"} of ${counted(count, "change")}`;
    told.textContent = folded ? `${shown}; ${grouped(folded)} ownership TXT ${folded === 1 ? "is" : "are"} hidden` : shown;
    show(from, to);
    // A link to one change shows why it is made.
    if (state.rrset && found.length === 1) list.querySelector("details").openNow();
    showBlocked();
    pages.hidden = last === 0;
    by("page").textContent = `${grouped(from + 1)}\u2013${grouped(to)} of ${grouped(found.length)}`;
    by("previous").disabled = state.page === 0;
    by("next").disabled = state.page === last;
    by("clear").disabled = !Object.entries(state).some(([key, value]) => key !== "page" && value !== "");
  };

  // ---- the address, which keeps the search --------------------------------------------------------------------------

  const read = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    Object.keys(state).forEach((key) => { state[key] = key === "page" ? 0 : asked.get(key) ?? ""; });
    state.page = Math.max(0, Math.floor(Number(asked.get("page")) || 1) - 1);
    // What this plan does not have cannot be chosen.
    selects.forEach((select) => {
      select.value = state[select.id];
      if (select.selectedIndex < 0) select.value = "";
      state[select.id] = select.value;
    });
    search.value = state.q;
    txt.checked = state.txt === "1";
    state.txt = txt.checked ? "1" : "";
  };

  let writing = 0;
  const write = () => {
    clearTimeout(writing);
    writing = setTimeout(() => {
      const asked = new URLSearchParams();
      Object.entries(state).forEach(([key, value]) => { if (value) asked.set(key, key === "page" ? value + 1 : value); });
      const text = asked.toString();
      history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
    }, 300);
  };

  const update = () => {
    state.page = 0;
    find();
    render();
    write();
  };

  // By keys the first change gets the focus; a button keeps it, so that it can be pressed again.
  const turn = (step, isByKey) => {
    const last = Math.max(0, Math.ceil(found.length / PAGE) - 1);
    const next = Math.min(last, Math.max(0, state.page + step));
    if (next === state.page) return;
    state.page = next;
    render();
    write();
    by("changes").scrollIntoView();
    if (isByKey) list.querySelector("summary")?.focus({ preventScroll: true });
  };

  // ---- controls -----------------------------------------------------------------------------------------------------

  const options = (select, all, values) => {
    const option = (value, text) => {
      const made = element("option", "", text);
      made.value = value;
      return made;
    };
    const words = ([text, number]) => (number === undefined ? text : `${text} (${grouped(number)})`);
    select.append(option("", all), ...values.map(([value, ...told]) => option(value, words(told))));
    select.closest(".field").hidden = values.length === 0;
  };

  // How many changes have each value of `of`.
  const tally = (of) => {
    const counts = new Map();
    for (let row = 0; row < count; row += 1) counts.set(of(row), (counts.get(of(row)) ?? 0) + 1);
    return counts;
  };
  const named = (of) => [...tally(of)].filter(([id]) => id).map(([id, number]) => [texts[id], texts[id], number]).sort((a, b) => (a[0] < b[0] ? -1 : 1));

  const fill = () => {
    options(by("project"), "all projects", named((row) => project[row]));
    options(by("zone"), "all zones", named((row) => zone[row]));
    options(by("class"), "all classes", named(classOf));
    const kinds = tally(kindOf);
    options(by("kind"), "all kinds", KINDS.map((kind, place) => [kind, kind, kinds.get(place) ?? 0]));
    const ofCauses = tally((row) => cause[row]);
    const short = (text) => (text.length > 90 ? `${text.slice(0, 89)}\u2026` : text);
    const words = ([of, says]) => short(`${of ? `${texts[of]}: ` : ""}${texts[says].replaceAll("`", "")}`);
    const isKnown = (key) => host.some((_, row) => GROUPS[key][0](row));
    options(by("group"), "project", ["datacenter", "switch", "rack"].filter(isKnown).map((key) => [key, key]));
    txt.closest(".field").hidden = !registers.some(Boolean);
    options(by("cause"), "all causes", causes.map((one, place) => [String(place), words(one), ofCauses.get(place) ?? 0]));
  };

  const step = (places) => {
    const all = [...list.querySelectorAll("summary")], at = all.indexOf(document.activeElement);
    all[Math.min(all.length - 1, Math.max(0, at + places))]?.focus();
  };

  const KEYS = {
    "/": () => { search.focus(); search.select(); },
    j: () => step(1), k: () => step(-1), n: () => turn(1, true), p: () => turn(-1, true),
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === search && event.key === "Escape") search.blur();
    if (event.target.closest("input, select, textarea") || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  search.addEventListener("input", () => { state.q = search.value; update(); });
  txt.addEventListener("change", () => { state.txt = txt.checked ? "1" : ""; update(); });
  selects.forEach((select) => select.addEventListener("change", () => { state[select.id] = select.value; update(); }));
  by("previous").addEventListener("click", () => turn(-1, false));
  by("next").addEventListener("click", () => turn(1, false));
  by("clear").addEventListener("click", () => {
    Object.keys(state).forEach((key) => { state[key] = ""; });
    [search, ...selects].forEach((control) => { control.value = ""; });
    txt.checked = false;
    update();
    search.focus();
  });
  window.addEventListener("hashchange", () => {
    if (!location.hash.includes("=")) return;
    read();
    find();
    render();
    by("changes").scrollIntoView();
    search.focus({ preventScroll: true });
  });
  window.addEventListener("beforeprint", () => {
    const cut = found.length > PRINTED ? `; the first ${grouped(PRINTED)} are printed` : "";
    show(0, PRINTED);
    told.textContent += cut;
    document.querySelectorAll("details:not(.help)").forEach((details) => (details.openNow ? details.openNow() : (details.open = true)));
  });
  window.addEventListener("afterprint", render);

  // The command for the clipboard. Where a browser gives none to a page of a file, the command is selected.
  const command = by("command"), copy = by("copy"), copied = by("copied");
  const mark = () => {
    getSelection().selectAllChildren(command);
    let isDone = false;
    try { isDone = document.execCommand("copy"); } catch { /* The command stays selected. */ }
    copied.textContent = isDone ? "Copied" : "Selected: press Ctrl+C, or \u2318C";
  };
  if (copy) {
    copy.hidden = false;
    copy.addEventListener("click", () => {
      if (!navigator.clipboard) return mark();
      return navigator.clipboard.writeText(command.textContent).then(() => { copied.textContent = "Copied"; }, mark);
    });
  }
  // On a phone what is long and seldom read is folded.
  if (matchMedia("(max-width: 40rem)").matches) {
    document.querySelectorAll("details.fold").forEach((details) => { details.open = false; });
  }

  if (count) {
    fill();
    by("tools").hidden = false;
  }
  read();
  find();
  render();
  // An address with a search in it shows what the search finds.
  if (location.hash.includes("=")) by("changes").scrollIntoView();
  // Prepared before a person types, so that the first search is quick.
  setTimeout(prepare, 200);
})();
