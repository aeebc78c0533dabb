"""Reads an image (.prof) without prof, as docs/format.md describes it, and prints its events as CSV.

    python3 examples/read_trace.py hello.prof

It needs Python 3.8 and nothing else. It leaves out what that page says a reader may leave out: devices, suspensions of
the machine, the texts of messages, which are formats here, and what a loss of power left of a file."""
import bisect
import csv
import struct
import sys

BEGIN, END, MARK, COUNT_INT, COUNT_DOUBLE, FRAME, ARG, NAME, TRACK, LOST, EVENT, DATA, COUNT_UINT = range(1, 14)
TIMED = {BEGIN, END, MARK, COUNT_INT, COUNT_DOUBLE, FRAME, EVENT, COUNT_UINT}
WORDS = {BEGIN: 1, END: 1, MARK: 1, FRAME: 1, LOST: 1, COUNT_INT: 2, COUNT_DOUBLE: 2, COUNT_UINT: 2, EVENT: 3, TRACK: 3}
NONE, INT, UINT, DOUBLE, BOOL, POINTER, STRING = range(7)
TYPES = ["scope", "mark", "counter", "frame", "lost", "span_begin", "span_mark", "span_end", "flow_out", "flow_step",
         "flow_in", "alloc", "free", "lock_wait", "lock_acquire", "lock_release", "log"]
KEY, TO, CUT = 1 << 30, 1 << 29, 1 << 31
TICKS, HALF, ALL = (1 << 40) - 1, (1 << 32) - 1, (1 << 64) - 1


def text(data):
    return bytes(data).split(b"\0")[0].decode("utf-8", "replace")


def number(word, kind):
    form = {INT: "q", DOUBLE: "d"}.get(kind, "Q")
    return bool(word) if kind == BOOL else struct.unpack(form, struct.pack("Q", word))[0]


def record_words(head):
    kind = head >> 60
    return 1 + (head & 0xFFFF) if kind in (ARG, NAME, DATA) else WORDS.get(kind, 0)


class Event:
    def __init__(self, kind, site, tick, parent, orphans):
        self.type, self.site, self.begin, self.end, self.parent, self.orphans = kind, site, tick, tick, parent, orphans
        self.name, self.value, self.args, self.flags, self.overlaps, self.open = site[0], None, [], "", False, False

    def depth(self, orphans):  # a scope that ends after an outer one encloses nothing
        depth, outer = orphans - self.orphans, self.parent
        while outer:
            depth, outer = depth + (not outer.overlaps), outer.parent
        return depth


class Unpacker:
    """Makes the words of a chunk of the bytes of a block."""

    def __init__(self, data, order):
        self.data, self.order, self.at, self.out = data, order, 0, []
        self.symbols, self.next, self.strings, self.open = [], {}, {}, []  # a symbol's number is its index; None: none

    def integer(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at, value, shift = self.at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value & ALL

    def raw(self):
        self.at += 8
        return struct.unpack_from("<Q", self.data, self.at - 8)[0]

    def learn(self, symbol):  # the number of a new one, or None if the table is full
        if symbol in self.symbols:
            return self.symbols.index(symbol)
        if len(self.symbols) == 500:
            return None
        self.symbols.append(symbol)
        return len(self.symbols) - 1

    def run(self, count):
        tick, before = 0, None
        while len(self.out) < count:
            first, index, head = self.integer(), self.next.get(before), None
            if not first & 1:
                symbol = self.symbols[index]
            else:
                code = self.integer()
                if code == 0:
                    symbol = END << 60 | self.open[-1] << 40
                    index = self.learn(symbol)
                elif code == 1:
                    head, index = self.raw(), None
                elif code == 2:
                    both = self.integer()
                    symbol = (both & 15) << 60 | (both >> 4 & 0xFFFFF) << 40
                    if (both & 15) not in TIMED:
                        symbol |= self.integer() & TICKS
                    index = self.learn(symbol)
                else:
                    index = code - 3
                    symbol = self.symbols[index]
            if head is None:
                head = symbol | (tick + (first >> 1) if symbol >> 60 in TIMED else 0)
            kind, self.next[before], before = head >> 60, index, index
            tick = head & TICKS if kind in TIMED else tick
            if kind == BEGIN:
                self.open.append(head >> 40 & 0xFFFFF)
            elif kind == END and self.open:
                self.open.pop()
            self.out.append(head)
            self.payload(head, before, max(record_words(head), 1) - 1)
        return struct.pack(f"{self.order}{count}Q", *self.out)

    def payload(self, head, symbol, words):
        kind, value = head >> 60, head >> 32 & 0xFF
        if kind == NAME or (kind in (ARG, DATA) and value == STRING):
            if words:
                self.string(head, symbol, words)
            return
        for _ in range(words):
            if kind == COUNT_DOUBLE or (kind in (ARG, DATA) and value == DOUBLE):
                self.out.append(self.raw())
            else:
                zigzag = kind == COUNT_INT or (kind in (ARG, DATA) and value == INT)
                word = self.integer()
                self.out.append((word >> 1 ^ -(word & 1)) & ALL if zigzag else word)

    def string(self, head, symbol, words):
        size = self.integer()
        if size & 1:
            made = self.strings[symbol]
        else:
            data = self.data[self.at:self.at + (size >> 1)].ljust(words * 8, b"\0")
            self.at += size >> 1
            made = list(struct.unpack(f"{self.order}{words}Q", data))
            if head >> 60 == ARG and head & TO:
                made[-1] = struct.unpack("<Q", data[-8:])[0]
        if symbol is not None:
            self.strings[symbol] = made
        self.out += made


class Image:
    def __init__(self, data):
        if data[:8] != b"prof.img":
            raise ValueError("not an image of prof")
        self.data, self.order = data, "<" if data[12:16] == b"\4\3\2\1" else ">"
        self.version, _, size = self.unpack("3I", 8)
        if not 3 <= self.version <= 4:
            raise ValueError(f"image version {self.version}: this reader knows 3 and 4")
        if self.unpack("Q", 24)[0] > len(data):
            raise ValueError("the file was cut")
        self.meta, self.meta_size = self.unpack("2Q", 32)
        self.chunks, self.count, self.chunk_size, self.chunk_header = self.unpack("QQII", 64)
        self.mode, self.clock, self.state = self.unpack("3I", 88)
        self.hz, self.first, self.last = self.unpack("Q", 112)[0], self.unpack("4Q", 136), self.unpack("4Q", 168)
        self.next, self.overwritten, _, self.lost = self.unpack("4Q", 200)
        self.archive, self.limit, self.oldest, self.newest = self.unpack("4Q", 384)
        self.damaged, self.segments, self.pairs = 0, {}, [self.first]
        self.read_meta()
        seen = set()
        for chunk in [*self.blocks(), *sorted(self.ring(), key=lambda chunk: chunk[0])]:
            if chunk[0] not in seen:
                seen.add(chunk[0])
                self.cut(*chunk[1:])
        self.partial = bool(self.overwritten or self.damaged or (self.mode not in (1, 2) and self.next > self.count))
        self.make_clock()
        self.tracks = [self.read_track(track) for track in sorted(self.segments)]
        ends = [self.ns(self.last[0])] + [self.ns(track["tick"]) for track in self.tracks]
        for event in (event for track in self.tracks for event in track["events"]):
            event.begin, event.end = self.ns(event.begin), max(ends) if event.open else self.ns(event.end)

    def unpack(self, form, at, data=None):
        return struct.unpack_from(self.order + form, self.data if data is None else data, at)

    def read_meta(self):
        self.strings, self.sites, self.threads, self.metadata, sites = {0: ""}, {}, {}, {}, []
        at, end = self.meta, self.meta + self.meta_size
        while at < end:
            head, = self.unpack("Q", at)
            kind, words, index = head >> 56, head >> 32 & 0xFFFFFF, head & HALF
            if not words or at + words * 8 > end:
                break
            body, at = self.data[at + 8:at + words * 8], at + words * 8
            fields = self.unpack(f"{words - 1}Q", 0, body)
            if kind == 1 and words > 1:
                self.strings[index] = text(body)
            elif kind == 2 and words >= 5:
                sites.append((index, fields))
            elif kind == 3 and words > 1:
                key, value = (body.split(b"\0") + [b""])[:2]
                self.metadata[text(key)] = text(value)
            elif kind == 6 and words > 1:
                self.threads[fields[0]] = index
        for index, fields in sites:
            name, file, function, category, unit = (
                self.strings.get(each, "") for each in (fields[0] & HALF, fields[0] >> 32, fields[1] & HALF,
                                                        fields[1] >> 32, fields[4] & HALF if len(fields) > 4 else 0))
            self.sites[index] = (name, category, file, fields[2] & HALF, function, unit, fields[2] >> 32, fields[3])

    def site(self, index):
        return self.sites.get(index, (f"?site {index}", "", "", 0, "", "", 0, 0))

    def ring(self):
        slots = min(self.next, self.count) if self.next else self.count
        at, end = 0, slots * self.chunk_size
        while at < end:
            place = self.chunks + at
            sequence, *base, state, form, lost = self.unpack("5QIIQ", place)
            size, rest = self.chunk_size >> (form >> 8 & 15), self.chunk_size - at % self.chunk_size
            if size < 256 or size % 8 or size > rest:
                size = rest
            if sequence and size > self.chunk_header:
                yield sequence, base, lost, state == 1, self.data[place + self.chunk_header:place + size]
            at += size

    def blocks(self):
        if not self.archive or self.oldest == self.newest:
            return
        wraps = self.oldest > self.newest
        limit = self.limit or len(self.data)
        for at, end in [(self.oldest, limit), (self.archive, self.newest)] if wraps else [(self.oldest, self.newest)]:
            if end > len(self.data):  # the file was cut
                self.damaged, end = self.damaged + 1, len(self.data) & -8
            while end - at >= 64:
                magic, size, sequence, *base, lost, words, check = self.unpack("IIQ4QQII", at)
                data = self.data[at + 64:at + size]
                if magic != 0x6B6C6270 or size < 64 or size % 8 or at + size > end or check != self.check(at, data):
                    self.damaged, at = self.damaged + 1, at + 8
                    while at < end and self.unpack("I", at)[0] != 0x6B6C6270:
                        at += 8
                    continue
                if not sequence:
                    break  # the archive goes on at its beginning
                if self.state == 2 or sequence <= self.next:
                    yield sequence, base, lost, False, Unpacker(data, self.order).run(words)
                at += size

    def check(self, at, data):
        magic, size, *fields, words, _ = self.unpack("II6QII", at)
        value = 0xCBF29CE484222325
        for word in (size << 32 | magic, *fields, words, *struct.unpack(f"<{len(data) // 8}Q", data)):
            value = (value ^ word) * 0x9E3779B97F4A7C15 & ALL
            value ^= value >> 29
        return (value ^ value >> 32) & HALF

    def cut(self, base, lost, owned, data):
        """Cuts the words of a chunk into segments, which are of one track each."""
        words, segment, at = self.unpack(f"{len(data) // 8}Q", 0, data), None, 0
        if base[1] > self.first[1]:
            self.pairs.append(tuple(base))
        while at < len(words):
            head, size = words[at], record_words(words[at])
            if not size or at + size > len(words):
                break
            if head >> 60 == TRACK:
                serial = words[at + 1] >> 40 << 28 | head >> 32 & 0xFFFFFFF
                segment = {"serial": serial, "head": head, "thread": words[at + 2], "base": base[0], "lost": 0,
                           "first": None if at else base[0], "owned": False, "words": words, "data": data, "records": []}
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
        apart = lambda a, b, ns: b[0] > a[0] and b[1] > a[1] and b[1] - a[1] >= ns
        kept = pairs[:1]
        for i, pair in enumerate(pairs[1:], 1):
            if apart(kept[-1], pair, 1000000) or (len(kept) == 1 and i + 1 == len(pairs) and apart(kept[0], pair, 1)):
                kept.append(pair)
            elif len(kept) > 1 and pair[3] < kept[-1][3] and apart(kept[-2], pair, 1000000):
                kept[-1] = pair
        took = kept[-1][1] - kept[0][1]
        if len(kept) < 2 or (self.hz and (took < 10000000 or self.clock == 3)):
            self.lines = [(kept[0][0], kept[0][1] - self.first[1], self.hz or 1000000000, 1000000000)]
        else:
            newest = kept[-2] if len(kept) > 2 and kept[-1][1] - kept[-2][1] >= 1000000000 else kept[0]
            ways = [*zip(kept, kept[1:]), (newest, kept[-1])]
            self.lines = [(at[0], at[1] - self.first[1], b[0] - a[0], b[1] - a[1]) for at, (a, b) in zip(kept, ways)]
        self.starts = [line[0] for line in self.lines]

    def ns(self, tick):
        at, ns, ticks, took = self.lines[max(bisect.bisect_right(self.starts, tick) - 1, 0)]
        far = (abs(tick - at) * took * 2 + ticks) // (2 * ticks)
        return max(ns + far if tick >= at else ns - far, 0)

    def argument(self, segment, at):
        """The key and the value of an ARG or DATA, and where the scope's call site is; None if the value is missing."""
        words, data, key = segment["words"], segment["data"], None
        if words[at] & KEY:
            key, after = text(data[at * 8 + 8:(at + record_words(words[at])) * 8]), at + record_words(words[at])
            if after >= len(words) or words[after] >> 60 != words[at] >> 60 or words[after] & KEY:
                return None
            at = after
        head, size = words[at], words[at] & 0xFFFF
        to = self.site(words[at + size] >> 40 & 0xFFFFF) if head & TO and size else None
        size, kind, site = size - bool(head & TO and size), head >> 32 & 0xFF, head >> 40 & 0xFFFFF
        if key is None:
            key = self.site(site)[0] if site else ""
        if kind == STRING:
            return key, text(data[at * 8 + 8:(at + 1 + size) * 8]) + ("..." if head & CUT else ""), kind, to
        return key, number(words[at + 1], kind) if size and NONE < kind < STRING else None, kind, to

    def read_track(self, track):
        segments = sorted(self.segments[track], key=lambda segment: segment["serial"])
        begins, start = set(), 0  # segments after a gap
        for i in range(1, len(segments)):
            if segments[i]["serial"] - segments[i - 1]["serial"] > 1:
                self.partial = True
                begins.add(i)
                start = start if self.oldest != self.newest or self.damaged else i
        name, system, chosen = "", False, segments[start:]
        for segment in chosen:
            if self.strings.get(segment["head"] & (1 << 30) - 1):
                name, system = self.strings[segment["head"] & (1 << 30) - 1], bool(segment["head"] & 1 << 30)
        if system and self.strings.get(self.threads.get(track, 0)):
            name = self.strings[self.threads[track]]
        firsts = [segment["first"] for segment in chosen if segment["first"] is not None] + [chosen[-1]["base"]]
        matcher = Matcher(self, firsts[0])
        for i, segment in enumerate(chosen, start):
            if i in begins and i > start:
                matcher.gap()
            matcher.segment(segment)
        alive = chosen[-1]["owned"] or any(segment["head"] & 1 << 31 for segment in chosen)
        for event in matcher.stack:
            event.end, event.flags, event.open = matcher.tick, "truncated_end", alive
        return {"id": track, "thread": chosen[0]["thread"], "name": name, "tick": matcher.tick,
                "orphans": len(matcher.orphans), "events": matcher.orphans[::-1] + matcher.events}


class Matcher:
    """Finds out which end belongs to which begin, on one track."""

    def __init__(self, image, tick):
        self.image, self.first, self.tick, self.torn = image, tick, tick, False
        self.events, self.orphans, self.stack, self.pending, self.late, self.stale, self.frames = [], [], [], [], {}, {}, {}

    def add(self, kind, site):
        parent = self.stack[-1] if self.stack else None
        self.events.append(Event(kind, site, self.tick, parent, len(self.orphans)))
        return self.events[-1]

    def cut(self, scopes):  # they have no end of their own, or have it later
        for event in scopes:
            event.end, event.flags = self.tick, "truncated_end"
            self.late.setdefault(event.site, []).append(event)
            self.stale[event.site[0]] = self.stale.get(event.site[0], 0) + 1
        del self.stack[len(self.stack) - len(scopes):]

    def gap(self):
        self.cut(self.stack[:])
        self.torn, self.late, self.pending = True, {}, []

    def end(self, site):
        same = [i for i, event in enumerate(self.stack) if event.site == site]
        named = [i for i, event in enumerate(self.stack) if event.site[0] == site[0]]
        late = self.late.get(site)
        if not same and late:
            scope = max(late, key=self.events.index)
            late.remove(scope)
            self.stale[site[0]] -= 1
            scope.type, scope.overlaps, scope.end, scope.flags = "span_begin", True, scope.begin, ""
            self.add("span_end", site)
        elif same or named:
            self.cut(self.stack[(same or named)[-1] + 1:])
            self.stack.pop().end = self.tick
        elif self.stale.get(site[0]):
            self.stale[site[0]] -= 1
        elif self.image.partial and not self.torn:
            self.cut(self.stack[:])
            orphan = Event("scope", site, self.first, None, len(self.orphans) + 1)
            orphan.end, orphan.flags, orphan.args, self.pending = self.tick, "truncated_begin", self.pending, []
            self.orphans.append(orphan)

    def argument(self, found):
        key, value, kind, to = found
        scopes = [event for event in self.stack if not to or event.site == to]
        if scopes or not to:
            (scopes[-1].args if scopes else self.pending).append((key, value, kind))

    def segment(self, segment):
        words, data, takes_name, takes_data, after = segment["words"], segment["data"], None, None, 0
        for at, size in segment["records"]:
            head, kind, event = words[at], words[at] >> 60, None
            if at < after:  # the value of a key
                continue
            site = self.image.site(head >> 40 & 0xFFFFF)
            if kind in TIMED:
                self.tick = max(self.tick, segment["base"] + (head & TICKS))
            if kind == BEGIN:
                event = self.add("scope", site)
                self.stack.append(event)
            elif kind == END:
                if self.stack and self.stack[-1].site == site:
                    self.stack.pop().end = self.tick
                else:
                    self.end(site)
            elif kind == MARK:
                event = self.add("mark", site)
            elif kind in (COUNT_INT, COUNT_DOUBLE, COUNT_UINT):
                value = number(words[at + 1], {COUNT_INT: INT, COUNT_DOUBLE: DOUBLE}.get(kind, UINT))
                self.add("counter", site).value = value
            elif kind == FRAME:
                frame = self.add("frame", site)
                frame.before, self.frames[site[0]] = self.frames.get(site[0], self.tick), self.tick
            elif kind == LOST:
                self.lost(head & TICKS)
            elif kind == EVENT and 5 <= words[at + 1] & 0xFF < len(TYPES):
                event = self.add(TYPES[words[at + 1] & 0xFF], site)
                event.value, event.detail = words[at + 2], words[at + 1] >> 8
            elif kind == NAME and takes_name and size > 1:
                takes_name.name = text(data[at * 8 + 8:(at + size) * 8])
            elif kind in (ARG, DATA):
                found = self.image.argument(segment, at)
                after = at + size + (record_words(words[at + size]) if found and head & KEY else 0)
                if found and kind == ARG:
                    self.argument(found)
                elif found and takes_data:
                    takes_data.args.append(found[:3])
            takes_name = event if event and not event.type.startswith("flow") else None
            takes_data = (event if kind in (MARK, EVENT) else takes_data if kind in (NAME, DATA) else None)
        if segment["lost"]:
            self.lost(segment["lost"])

    def lost(self, count):
        self.add("lost", ("lost", "", "", 0, "", "", 0, 0)).value = count


def rows(image):
    yield "track_id thread_id thread type name category start_ns duration_ns depth flags value args file line function".split()
    for track in image.tracks:
        for event in track["events"]:
            took = event.begin - image.ns(event.before) if event.type == "frame" else event.end - event.begin
            args = ";".join(f"{key}={value}" for key, value, kind in event.args)
            yield [track["id"], track["thread"], track["name"], event.type, event.name, event.site[1], event.begin, took,
                   event.depth(track["orphans"]), event.flags, event.value, args, event.site[2], event.site[3], event.site[4]]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 read_trace.py FILE.prof")
    with open(sys.argv[1], "rb") as file:
        try:
            csv.writer(sys.stdout).writerows(rows(Image(file.read())))
        except (ValueError, struct.error) as error:
            sys.exit(f"{sys.argv[1]}: {error}")
