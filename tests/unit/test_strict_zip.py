"""Zip files that readers may understand in two ways, and the plain ones that they may not."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import pytest

from freeze_engine.models.untrusted import strict_zip
from freeze_engine.models.untrusted.exported_program import RefusedError, texts
from freeze_engine.models.untrusted.strict_zip import ZipRefusedError, member_bytes, zip_members

LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
MEMBERS = {"net/version": b"3", "net/models/model.json": b'{"a": 1}', "net/data/weights/weight_0": bytes(64)}


def zipped(members=None, *, method=zipfile.ZIP_STORED, comment=b"") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in (members or MEMBERS).items():
            archive.writestr(name, data)
        archive.comment = comment
    return buffer.getvalue()


def packed(*entries: dict) -> bytes:
    """Builds a zip file by hand; an entry may say in one header what it does not say in the other."""
    body, directory = b"", b""
    for entry in entries:
        name, data = entry["name"].encode("utf-8"), entry.get("data", b"{}")
        local = {"name": name, "flags": 0, "method": 0, "crc": zlib.crc32(data), "size": len(data), "extra": b""}
        central = {**local, "offset": len(body), **entry.get("central", {})}
        local |= entry.get("local", {})
        body += LOCAL + struct.pack(
            "<5H3L2H",
            *(20, local["flags"], local["method"], 0, 0x21, local["crc"], local["size"], local["size"]),
            *(len(local["name"]), len(local["extra"])),
        )
        body += local["name"] + local["extra"] + data + entry.get("after", b"")
        directory += CENTRAL + struct.pack(
            "<6H3L5H2L",
            *(20, 20, central["flags"], central["method"], 0, 0x21, central["crc"], central["size"], central["size"]),
            *(len(central["name"]), len(central["extra"]), 0, 0, 0, 0, central["offset"]),
        )
        directory += central["name"] + central["extra"]
    return (
        body + directory + END + struct.pack("<4H2LH", 0, 0, len(entries), len(entries), len(directory), len(body), 0)
    )


def read(data: bytes) -> dict[str, bytes]:
    stream = io.BytesIO(data)
    return {member.name: member_bytes(stream, member, 1 << 20) for member in zip_members(stream)}


def refusal(data: bytes) -> str:
    with pytest.raises(ZipRefusedError) as caught:
        read(data)
    return str(caught.value)


def test_plain_files_are_read():
    assert read(zipped()) == MEMBERS
    assert read(packed(*({"name": name, "data": data} for name, data in MEMBERS.items()))) == MEMBERS
    assert read(END + bytes(18)) == {}


def test_checksums_may_follow_the_data():
    data = b"{}"
    numbers = struct.pack("<3L", zlib.crc32(data), 2, 2)
    flags = {"flags": 8}
    hidden = {"flags": 8, "crc": 0, "size": 0}
    found = packed({"name": "a", "data": data, "central": flags, "local": hidden, "after": b"PK\x07\x08" + numbers})
    assert read(found) == {"a": data}
    wrong = b"PK\x07\x08" + struct.pack("<3L", 1, 2, 2)
    assert "numbers that differ" in refusal(packed({"name": "a", "central": flags, "local": hidden, "after": wrong}))
    assert "something is between" in refusal(packed({"name": "a", "central": flags, "local": hidden, "after": numbers}))
    assert "something is between" in refusal(packed({"name": "a", "central": flags, "local": hidden}))


def test_zip64_is_read_where_both_headers_agree():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, archive.open("a", "w", force_zip64=True) as member:
        member.write(b"{}")
    assert read(buffer.getvalue()) == {"a": b"{}"}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("models/model.json", "models/MODEL.JSON"),
        ("models/model.json", "models/model.json"),
        ("models/stra\u00dfe", "models/STRASSE"),
        ("models/\u00e9", "models/e\u0301"),
        ("models/model.json", "models/\uff4dodel.json"),
        ("models/k", "models/\u212a"),
        ("models/fi", "models/\ufb01"),
    ],
)
def test_no_two_names_are_the_same_for_any_reader(first, second):
    utf8 = {"flags": 0x800}
    entries = ({"name": name, "local": utf8, "central": utf8} for name in (first, second))
    assert "which a reader may take for the same" in refusal(packed(*entries))


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../a", "a/../b", "a//b", "a/./b", "a\\b", "a/", "", "a\x00.json", "a\nb", "a\u202eb", "a\u200bb"],
)
def test_names_are_plain_relative_paths(name):
    utf8 = {"flags": 0x800}
    assert "is not a plain relative path" in refusal(packed({"name": name, "local": utf8, "central": utf8}))


def test_names_are_in_the_encoding_that_the_header_says():
    assert "not in the encoding" in refusal(packed({"name": "\u00e9"}))
    raw = {"name": b"\xff", "flags": 0x800}
    assert "not in the encoding" in refusal(packed({"name": "x", "local": raw, "central": raw}))


@pytest.mark.parametrize(
    "other",
    [
        {"name": b"models/other.js"},
        {"size": 1},
        {"size": 200},
        {"method": 8},
        {"flags": 0x800},
        {"crc": 1},
        {"flags": 1},
    ],
    ids=str,
)
def test_local_and_central_headers_say_the_same(other):
    assert "headers that differ" in refusal(packed({"name": "models/mode.js", "local": other}))
    assert refusal(packed({"name": "models/mode.js", "central": other}))


@pytest.mark.parametrize("method", [1, 9, 12, 14, 93, 95, 99])
def test_encryption_and_other_packing_is_refused(method):
    both = {"method": method}
    assert "is encrypted, or packed" in refusal(packed({"name": "a", "local": both, "central": both}))
    for flags in (0x1, 0x40, 0x2000):
        both = {"flags": flags}
        assert "is encrypted, or packed" in refusal(packed({"name": "a", "local": both, "central": both}))


def test_extra_fields_give_no_second_name_or_size():
    path = struct.pack("<2HBL", 0x7075, 5 + 17, 1, zlib.crc32(b"a")) + b"models/model.json"
    wide = struct.pack("<2HQ", 1, 8, 2)
    for extra in (path, wide, b"\x75", struct.pack("<2H", 0x4246, 9)):
        assert "extra fields" in refusal(packed({"name": "a", "central": {"extra": extra}}))
    assert "extra fields" in refusal(packed({"name": "a", "local": {"extra": path}}))
    other = struct.pack("<2H2Q", 1, 16, 99, 99)
    assert "headers that differ" in refusal(packed({"name": "a", "local": {"extra": other}}))
    assert read(packed({"name": "a", "local": {"extra": struct.pack("<2H", 0x4246, 3) + b"ZZZ"}})) == {"a": b"{}"}


def test_nothing_stands_around_the_members():
    plain = zipped()
    other = zipped({"net/models/model.json": b"evil"})
    for data in (b"#!/bin/sh\n" + plain, plain + b"\n", plain + other, other + plain, zipped(comment=b"PK")):
        assert refusal(data)
    assert "something is between" in refusal(packed({"name": "a", "after": b"hidden"}, {"name": "b"}))
    # Another whole archive in the comment: some readers look for the end from the front, others from the back.
    assert "is not where it should be" in refusal(zipped(comment=other))


def test_nothing_follows_the_end_of_packed_bytes():
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    data = packer.compress(b"safe") + packer.flush()
    for after, sound in ((b"", True), (b"evil", False), (zipped(), False)):
        numbers = struct.pack("<3L", zlib.crc32(b"safe"), len(data + after), 4)
        local = LOCAL + struct.pack("<5H", 20, 0, 8, 0, 0x21) + numbers + struct.pack("<2H", 1, 0) + b"a" + data + after
        central = (
            CENTRAL + struct.pack("<6H", 20, 20, 0, 8, 0, 0x21) + numbers + struct.pack("<5H2L", 1, *[0] * 6) + b"a"
        )
        end = END + struct.pack("<4H2LH", 0, 0, 1, 1, len(central), len(local), 0)
        stream = io.BytesIO(local + central + end)
        (member,) = zip_members(stream)
        if sound:
            assert strict_zip.unpacked_bytes(stream, member, 1 << 20) == b"safe"
        else:
            with pytest.raises(ZipRefusedError, match="something behind its end"):
                strict_zip.unpacked_bytes(stream, member, 1 << 20)


def test_members_do_not_overlap():
    twice = packed({"name": "a", "data": bytes(100)}, {"name": "b", "central": {"offset": 0}})
    assert refusal(twice)
    inner = packed({"name": "b"})
    assert refusal(packed({"name": "a", "data": inner}, {"name": "b", "central": {"offset": 31}}))


def test_damage_is_found():
    data = zipped()
    for length in range(0, len(data), 7):
        assert refusal(data[:length])
    at = data.index(b'{"a": 1}')
    assert "is damaged" in refusal(data[:at] + b'{"a": 2}' + data[at + 8 :])


def test_compressed_members_are_listed_and_not_unpacked():
    bomb = zipped({"a": bytes(10_000_000)}, method=zipfile.ZIP_DEFLATED)
    assert [member.size_bytes for member in zip_members(io.BytesIO(bomb))] == [10_000_000]
    with pytest.raises(ZipRefusedError, match="up to"):
        read(bomb)
    assert "is compressed" in refusal(zipped({"a": bytes(1000)}, method=zipfile.ZIP_DEFLATED))


def test_long_members_are_not_read():
    stream = io.BytesIO(zipped())
    (member,) = (each for each in zip_members(stream) if each.name.endswith("weight_0"))
    with pytest.raises(ZipRefusedError, match="up to 63 are read"):
        member_bytes(stream, member, 63)


def test_members_beyond_the_bound_are_refused_before_any_is_read(monkeypatch):
    def none(*given):
        raise AssertionError("a member is read")

    monkeypatch.setattr(strict_zip, "_MOST_MEMBERS", 2)
    monkeypatch.setattr(strict_zip, "_entries", none)
    assert refusal(zipped()).startswith("it has 3 members in a directory of ")


def test_every_changed_byte_is_refused_or_changes_nothing():
    data = packed(*({"name": name, "data": content} for name, content in MEMBERS.items()))
    for at in range(len(data)):
        changed = data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :]
        try:
            found = read(changed)
        except ZipRefusedError:
            continue
        # Versions and dates, which no reader uses to find or read a member.
        assert found == MEMBERS


def test_no_refusal_quotes_more_than_a_reader_can_use():
    assert len(refusal(packed({"name": "a" * 60_000, "local": {"crc": 1}}))) < 600
    for rule in (texts.guard_text, texts.identifier, texts.dotted_path, texts.option, texts.operator):
        with pytest.raises(RefusedError) as caught:
            rule("%" * 1_000_000)
        assert len(str(caught.value)) < 600
