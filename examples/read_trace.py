"""Reads an image (.prof) without prof, as docs/format.md describes it, and prints its events as CSV.

    python3 examples/read_trace.py hello.prof

It needs Python 3.8 and nothing else. It leaves out what a reader may leave out: devices, windows, suspensions of the
machine, and the texts of messages, which are formats here. It takes a file for whole that a loss of power has damaged,
or that was copied while its program recorded."""
import bisect
import collections
import csv
import re
import struct
import sys

# The types of values, the kinds of records and of events: src/kinds.sh makes these lines.
NONE, INT, UINT, DOUBLE, BOOL, POINTER, STRING = range(7)
BEGIN, END, MARK, COUNTER_INT, COUNTER_DOUBLE, FRAME, ARG, NAME, TRACK, LOST, EVENT, DATA, COUNTER_UINT = range(1, 14)
WORDS = {BEGIN: 1, END: 1, MARK: 1, COUNTER_INT: 2, COUNTER_DOUBLE: 2, FRAME: 1, TRACK: 3, LOST: 1, EVENT: 3,
         COUNTER_UINT: 2}
TIMED = {BEGIN, END, MARK, COUNTER_INT, COUNTER_DOUBLE, FRAME, EVENT, COUNTER_UINT}
COUNTERS = {COUNTER_INT: INT, COUNTER_DOUBLE: DOUBLE, COUNTER_UINT: UINT}
TYPES = ["scope", "mark", "counter", "frame", "lost", "span_begin", "span_mark", "span_end", "flow_out", "flow_step",
         "flow_in", "alloc", "free", "lock_wait", "lock_acquire", "lock_release", "log"]

KEY, TO, CUT, FIBER, OF_SYSTEM = 1 << 30, 1 << 29, 1 << 31, 1 << 31, 1 << 30  # bits of heads
TICKS, SITES, STRINGS, HALF, ALL = (1 << 40) - 1, (1 << 20) - 1, (1 << 30) - 1, (1 << 32) - 1, (1 << 64) - 1
FILL, STREAM, OWNED, STOPPED, MONOTONIC = 1, 2, 1, 2, 3
Site = collections.namedtuple("Site", "name category file function unit line color kind")
LOSS = Site("lost", "", "", "", "", 0, 0, 0)


def text(data):
    return bytes(data).split(b"\0")[0].decode("utf-8", "replace")


def number(word, kind):
    form = {INT: "q", DOUBLE: "d"}.get(kind, "Q")
    return bool(word) if kind == BOOL else struct.unpack(form, struct.pack("Q", word))[0]


def formatted(form, data):
    """Makes a name of a format of printf and its values, 8 bytes each. Python has no %a."""
    values = [word for word, in struct.iter_unpack("<Q", data)]

    def one(conversion):
        letter = conversion[0][-1]
        if letter == "%" or not values:
            return "%"
        word = values.pop(0)
        kind = INT if letter in "di" else UINT if letter in "ouxX" else DOUBLE
        return conversion[0] % number(word, kind) if letter not in "aA" else number(word, kind).hex()

    return re.sub("%[-+ #0]*[0-9]*(?:[.][0-9]*)?[a-zA-Z%]", one, form)


def record_words(head):
    kind = head >> 60
    return 1 + (head & 0xFFFF) if kind in (ARG, NAME, DATA) else WORDS.get(kind, 0)


def value_type(head):
    kind = head >> 60
    return STRING if kind == NAME else head >> 32 & 0xFF if kind in (ARG, DATA) else COUNTERS.get(kind, NONE)


def unpack(data, count, order):
    """Makes the words of a chunk of the packed bytes of a block."""
    at, out, tick, before, symbols, following, texts, opened = 0, [], 0, None, [], {}, {}, []

    def take(size):
        nonlocal at
        at += size
        return data[at - size:at]

    def integer():
        value = shift = 0
        while True:
            byte = take(1)[0]
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value & ALL

    def word():
        return int.from_bytes(take(8), "little")

    while len(out) < count:
        first, index = integer(), following.get(before)
        code = integer() if first & 1 else None
        if code == 1:
            index, head = None, word()
        elif code in (0, 2):
            if code == 0:
                symbol = END << 60 | opened[-1] << 40
            else:
                both = integer()
                symbol = (both & 15) << 60 | (both >> 4 & SITES) << 40
                symbol |= 0 if (both & 15) in TIMED else integer() & TICKS
            if symbol not in symbols and len(symbols) < 500:
                symbols.append(symbol)
            index = symbols.index(symbol) if symbol in symbols else None
        else:
            index = index if code is None else code - 3
            symbol = symbols[index]
        if code != 1:
            head = symbol | (tick + (first >> 1) if symbol >> 60 in TIMED else 0)
        kind, words, of = head >> 60, max(record_words(head) - 1, 0), value_type(head)
        following[before], before, tick = index, index, head & TICKS if kind in TIMED else tick
        if kind == BEGIN:
            opened.append(head >> 40 & SITES)
        elif kind == END and opened:
            opened.pop()
        out.append(head)
        if of == STRING and words:
            size = integer()
            if not size & 1:
                padded = take(size >> 1).ljust(words * 8, b"\0")
                made = list(struct.unpack(f"{order}{words}Q", padded))
                if kind == ARG and head & TO:
                    made[-1] = int.from_bytes(padded[-8:], "little")
            else:
                made = texts[index]
            texts[index] = made
            out += made
        else:
            for _ in range(words):
                value = word() if of == DOUBLE else integer()
                out.append((value >> 1 ^ -(value & 1)) & ALL if of == INT else value)
    return struct.pack(f"{order}{count}Q", *out)


class Event:
    def __init__(self, kind, site, tick, parent, orphans):
        self.type, self.site, self.begin, self.end, self.parent, self.orphans = kind, site, tick, tick, parent, orphans
        self.name, self.value, self.args, self.flags, self.overlaps, self.open = site.name, None, [], "", False, False

    def depth(self, orphans):  # a scope that ends after an outer one encloses nothing
        depth, outer = orphans - self.orphans, self.parent
        while outer:
            depth, outer = depth + (not outer.overlaps), outer.parent
        return depth


class Image:
    def __init__(self, data):
        if data[:8] != b"prof.img":
            raise ValueError("not an image of prof")
        self.data, self.order = data, "<" if data[12:16] == b"\4\3\2\1" else ">"
        if not 3 <= self.fields("I", 8)[0] <= 4:
            raise ValueError(f"image version {self.fields('I', 8)[0]}: this reader knows 3 and 4")
        if self.fields("Q", 24)[0] > len(data):
            raise ValueError("the file was cut")
        self.chunks, self.count, self.chunk_size, self.chunk_header = self.fields("QQII", 64)
        self.mode, self.clock, self.state = self.fields("3I", 88)
        self.hz, self.first, self.last = self.fields("Q", 112)[0], self.fields("4Q", 136), self.fields("4Q", 168)
        self.next, overwritten, _, self.lost = self.fields("4Q", 200)
        self.archive, self.limit, self.oldest, self.newest = self.fields("4Q", 384)
        self.unknown, self.damaged, self.segments, self.pairs, seen = 0, 0, {}, [self.first], set()
        self.read_meta(*self.fields("2Q", 32))
        for sequence, *chunk in [*self.blocks(), *sorted(self.ring(), key=lambda chunk: chunk[0])]:
            if sequence not in seen:
                self.cut(*chunk)
            seen.add(sequence)
        self.partial = overwritten or self.damaged or (self.mode not in (FILL, STREAM) and self.next > self.count)
        self.make_clock()
        self.tracks = [self.read_track(track) for track in sorted(self.segments)]
        newest = max(self.ns(tick) for tick in [self.last[0]] + [track["tick"] for track in self.tracks])
        for event in (event for track in self.tracks for event in track["events"]):
            event.begin, event.end = self.ns(event.begin), newest if event.open else self.ns(event.end)

    def fields(self, form, at, data=None):
        return struct.unpack_from(self.order + form, self.data if data is None else data, at)

    def read_meta(self, at, size):
        self.strings, self.sites, self.threads, self.metadata, sites, end = {0: ""}, {}, {}, {}, [], at + size
        while at < end:
            head, = self.fields("Q", at)
            kind, words, index = head >> 56, head >> 32 & 0xFFFFFF, head & HALF
            if not words or at + words * 8 > end:
                break
            body, at = self.data[at + 8:at + words * 8], at + words * 8
            fields = self.fields(f"{words - 1}Q", 0, body)
            if kind == 1 and fields:
                self.strings[index] = text(body)
            elif kind == 2 and words >= 5:
                sites.append((index, fields))
            elif kind == 3 and fields:
                key, value = (body.split(b"\0") + [b""])[:2]
                self.metadata[text(key)] = text(value)
            elif kind == 6 and fields:
                self.threads[fields[0]] = index
        for index, (a, b, line, kind, *more) in sites:
            texts = a & HALF, b >> 32, a >> 32, b & HALF, more[0] & HALF if more else 0
            self.sites[index] = Site(*(self.strings.get(each, "") for each in texts), line & HALF, line >> 32, kind)

    def site(self, index):
        return self.sites.get(index, Site(f"?site {index}", "", "", "", "", 0, 0, 0))

    def ring(self):
        at, end = 0, (min(self.next, self.count) if self.next else self.count) * self.chunk_size
        while at < end:
            place = self.chunks + at
            sequence, *base, state, form, lost = self.fields("5QIIQ", place)
            size = self.chunk_size >> (form >> 8 & 15)
            if size != self.chunk_size and (size < 256 or size % 8) or at % self.chunk_size % size:
                self.damaged, at = self.damaged + 1, (at | 4095) + 1
                continue
            if sequence and size > self.chunk_header:
                yield sequence, base, lost, state == OWNED, self.data[place + self.chunk_header:place + size]
            at += size

    def blocks(self):
        if not self.archive or self.oldest == self.newest:
            return
        parts = [(self.oldest, self.newest)]
        if self.oldest > self.newest:
            parts = [(self.oldest, self.limit or len(self.data)), (self.archive, self.newest)]
        for at, end in parts:
            if end > len(self.data):
                self.damaged, end = self.damaged + 1, len(self.data) & -8
            while end - at >= 64:
                magic, size, sequence, *base, lost, words, check = self.fields("IIQ4QQII", at)
                data = self.data[at + 64:at + size]
                if magic != 0x6B6C6270 or size < 64 or size % 8 or at + size > end or check != self.check(at, data):
                    self.damaged, at = self.damaged + 1, at + 8
                    while at < end and self.fields("I", at)[0] != 0x6B6C6270:
                        at += 8
                    continue
                if not sequence:
                    break  # the archive goes on at its beginning
                if self.state == STOPPED or sequence <= self.next:
                    yield sequence, base, lost, False, unpack(data, words, self.order)
                at += size

    def check(self, at, data):
        magic, size, *fields, words, _ = self.fields("II6QII", at)
        value = 0xCBF29CE484222325
        for word in (size << 32 | magic, *fields, words, *struct.unpack(f"<{len(data) // 8}Q", data)):
            value = (value ^ word) * 0x9E3779B97F4A7C15 & ALL
            value ^= value >> 29
        return (value ^ value >> 32) & HALF

    def cut(self, base, lost, owned, data):
        """Cuts the words of a chunk into segments, which are of one track each."""
        words, segment, at = self.fields(f"{len(data) // 8}Q", 0, data), None, 0
        if base[1] > self.first[1]:
            self.pairs.append(tuple(base))
        while at < len(words):
            head, size = words[at], record_words(words[at])
            if not size or at + size > len(words):
                break
            if head >> 60 == TRACK:
                serial = words[at + 1] >> 40 << 28 | head >> 32 & 0xFFFFFFF
                segment = {"serial": serial, "head": head, "thread": words[at + 2], "base": base[0], "words": words,
                           "data": data, "records": [], "first": None if at else base[0], "lost": 0, "owned": False}
                self.segments.setdefault(words[at + 1] & TICKS, []).append(segment)
            elif segment:
                segment["records"].append((at, size))
                if head >> 60 in TIMED and segment["first"] is None:
                    segment["first"] = base[0] + (head & TICKS)
            at += size
        if segment:
            segment["lost"], segment["owned"] = lost, owned
        else:
            self.lost += lost

    def make_clock(self):
        pairs = self.pairs + ([self.last] if self.last[1] > self.first[1] else [])
        limit = sorted(pair[3] for pair in pairs)[len(pairs) // 2] * 4 + 100
        narrow = [pair for pair in pairs if pair[3] <= limit]
        pairs = sorted(narrow if len(narrow) > 1 else pairs, key=lambda pair: (pair[0], pair[3]))
        apart = lambda a, b, ns=1000000: b[0] > a[0] and b[1] > a[1] and b[1] - a[1] >= ns
        kept = pairs[:1]
        for i, pair in enumerate(pairs[1:], 1):
            if apart(kept[-1], pair) or (len(kept) == 1 and i + 1 == len(pairs) and apart(kept[0], pair, 1)):
                kept.append(pair)
            elif len(kept) > 1 and pair[3] < kept[-1][3] and apart(kept[-2], pair):
                kept[-1] = pair
        if len(kept) < 2 or (self.hz and (kept[-1][1] - kept[0][1] < 10000000 or self.clock == MONOTONIC)):
            self.lines = [(kept[0][0], kept[0][1] - self.first[1], self.hz or 1000000000, 1000000000)]
        else:
            newest = kept[-2] if len(kept) > 2 and kept[-1][1] - kept[-2][1] >= 1000000000 else kept[0]
            ways = [*zip(kept, kept[1:]), (newest, kept[-1])]
            self.lines = [(at[0], at[1] - self.first[1], b[0] - a[0], b[1] - a[1]) for at, (a, b) in zip(kept, ways)]

    def ns(self, tick):
        at, ns, ticks, took = self.lines[max(bisect.bisect(self.lines, (tick, ALL)) - 1, 0)]
        far = (abs(tick - at) * took * 2 + ticks) // (2 * ticks)
        return max(ns + far if tick >= at else ns - far, 0)

    def argument(self, segment, at):
        """The key, value and type of an ARG or DATA, and the call site of its scope, or None if it has no value."""
        words, data, key = segment["words"], segment["data"], None
        if words[at] & KEY:
            key, at = text(data[at * 8 + 8:(at + record_words(words[at])) * 8]), at + record_words(words[at])
            if at >= len(words) or words[at] >> 60 != words[segment["at"]] >> 60 or words[at] & KEY:
                return None
        head, size, kind, to = words[at], words[at] & 0xFFFF, value_type(words[at]), None
        if head & TO and size:
            to, size = self.site(words[at + size] >> 40 & SITES), size - 1
        if key is None:
            key = self.site(head >> 40 & SITES).name if head >> 40 & SITES else ""
        if kind == STRING:
            return key, text(data[at * 8 + 8:(at + 1 + size) * 8]) + ("..." if head & CUT else ""), kind, to
        return key, number(words[at + 1], kind) if size and NONE < kind < STRING else None, kind, to

    def read_track(self, track):
        segments = sorted(self.segments[track], key=lambda segment: segment["serial"])
        gaps, start, name, system = set(), 0, "", False
        for i in range(1, len(segments)):
            if segments[i]["serial"] - segments[i - 1]["serial"] > 1:
                gaps, self.partial = gaps | {i}, True
                start = start if self.oldest != self.newest or self.damaged else i
        matcher = Matcher(self, next((each["first"] for each in segments[start:] if each["first"] is not None),
                                     segments[-1]["base"]))
        for i, segment in enumerate(segments[start:], start):
            if self.strings.get(segment["head"] & STRINGS):
                name, system = self.strings[segment["head"] & STRINGS], segment["head"] & OF_SYSTEM
            if i in gaps and i > start:
                matcher.gap()
            matcher.run(segment)
        if system:
            name = self.strings.get(self.threads.get(track, 0)) or name
        for event in matcher.stack:
            event.end, event.flags = matcher.tick, "truncated_end"
            event.open = segments[-1]["owned"] or any(segment["head"] & FIBER for segment in segments[start:])
        return {"id": track, "thread": segments[start]["thread"], "name": name, "tick": matcher.tick,
                "orphans": len(matcher.orphans), "events": matcher.orphans[::-1] + matcher.events}


class Matcher:
    """Finds out which end belongs to which begin, on one track."""

    def __init__(self, image, tick):
        self.image, self.first, self.tick, self.torn, self.late, self.frames = image, tick, tick, False, {}, {}
        self.events, self.orphans, self.stack, self.pending, self.stale = [], [], [], [], collections.Counter()

    def add(self, kind, site, value=None):
        self.events.append(Event(kind, site, self.tick, self.stack[-1] if self.stack else None, len(self.orphans)))
        self.events[-1].value = value
        return self.events[-1]

    def cut(self, depth):
        """Ends the scopes inside this depth, whose own ends are missing or come later."""
        for event in self.stack[depth:]:
            event.end, event.flags = self.tick, "truncated_end"
            self.late.setdefault(event.site, []).append(event)
            self.stale[event.site.name] += 1
        del self.stack[depth:]

    def gap(self):
        self.cut(0)
        self.torn, self.late, self.pending = True, {}, []

    def end(self, site):
        same = [i for i, event in enumerate(self.stack) if event.site == site]
        if not same and not self.late.get(site):
            same = [i for i, event in enumerate(self.stack) if event.site.name == site.name]
        if same:
            self.cut(same[-1] + 1)
            self.stack.pop().end = self.tick
        elif self.late.get(site):
            scope = max(self.late[site], key=self.events.index)
            self.late[site].remove(scope)
            self.stale[site.name] -= 1
            scope.type, scope.overlaps, scope.end, scope.flags = "span_begin", True, scope.begin, ""
            self.add("span_end", site)
        elif self.stale[site.name] > 0:
            self.stale[site.name] -= 1
        elif self.image.partial and not self.torn:
            self.cut(0)
            orphan = Event("scope", site, self.first, None, len(self.orphans) + 1)
            orphan.end, orphan.flags, orphan.args, self.pending = self.tick, "truncated_begin", self.pending, []
            self.orphans.append(orphan)

    def run(self, segment):
        words, data, named, noted, after = segment["words"], segment["data"], None, None, 0
        for at, size in segment["records"]:
            head, kind, event, found = words[at], words[at] >> 60, None, None
            if at < after:  # the value of a key
                continue
            site = self.image.site(head >> 40 & SITES)
            if kind in TIMED:
                self.tick = max(self.tick, segment["base"] + (head & TICKS))
            if kind == BEGIN:
                event = self.add("scope", site)
                self.stack.append(event)
            elif kind == END and self.stack and self.stack[-1].site == site:
                self.stack.pop().end = self.tick
            elif kind == END:
                self.end(site)
            elif kind == MARK:
                event = self.add("mark", site)
            elif kind in COUNTERS:
                self.add("counter", site, number(words[at + 1], COUNTERS[kind]))
            elif kind == FRAME:
                event = self.add("frame", site)
                event.before = self.frames.get(site.name, self.tick)
                self.frames[site.name] = self.tick
                if at + 2 < len(words) and words[at + 1] == DATA << 60 | 2 << 32 | 1:  # its number
                    after = at + 3
            elif kind == LOST:
                self.add("lost", LOSS, head & TICKS)
            elif kind == EVENT and 5 <= words[at + 1] & 0xFF < len(TYPES):
                event = self.add(TYPES[words[at + 1] & 0xFF], site, words[at + 2])
                event.detail = words[at + 1] >> 8
            elif kind == EVENT and not 200 <= words[at + 1] & 0xFF <= 203:  # those are of devices
                self.image.unknown += 1
            elif kind == NAME and named and size > 1:
                values = (at + size - (head >> 16 & 31)) * 8
                named.name = text(data[at * 8 + 8:values])
                if head >> 16 & 31:
                    named.name = formatted(named.name, bytes(data[values:(at + size) * 8]))
            elif kind in (ARG, DATA):
                segment["at"] = at
                found = self.image.argument(segment, at)
                after = at + size + (record_words(words[at + size]) if found and head & KEY else 0)
            if found and kind == ARG:
                scopes = [event for event in self.stack if not found[3] or event.site == found[3]]
                if scopes or not found[3]:
                    (scopes[-1].args if scopes else self.pending).append(found[:3])
            elif found and noted:
                noted.args.append(found[:3])
            named = event if event and not event.type.startswith(("flow", "frame")) else None
            noted = event if kind in (MARK, FRAME, EVENT) else noted if kind in (NAME, DATA) else None
        if segment["lost"]:
            self.add("lost", LOSS, segment["lost"])


def rows(image):
    yield ["track_id", "thread_id", "thread", "type", "name", "category", "start_ns", "duration_ns", "depth", "flags",
           "value", "args", "file", "line", "function"]
    for track in image.tracks:
        for event in track["events"]:
            took = event.begin - image.ns(event.before) if event.type == "frame" else event.end - event.begin
            args, site = ";".join(f"{key}={value}" for key, value, _ in event.args), event.site
            yield [track["id"], track["thread"], track["name"], event.type, event.name, site.category, event.begin,
                   took, event.depth(track["orphans"]), event.flags, event.value, args, site.file, site.line,
                   site.function]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 read_trace.py FILE.prof")
    with open(sys.argv[1], "rb") as file:
        try:
            image = Image(file.read())
            csv.writer(sys.stdout).writerows(rows(image))
            if image.unknown:
                print(f"{sys.argv[1]}: {image.unknown} events of kinds that this reader does not know", file=sys.stderr)
        except (ValueError, struct.error) as error:
            sys.exit(f"{sys.argv[1]}: {error}")
