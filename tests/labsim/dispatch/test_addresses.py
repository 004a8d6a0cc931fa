"""Addresses and near misses: dispatch/D-1 to dispatch/D-6, and what the two readers of a path make of it."""

from __future__ import annotations

import string

import pytest
from dispatch_kit import INSPECT, Desk, slot_tool
from hypothesis import example, given
from hypothesis import strategies as st

from labsim.dispatch.addresses import (
    Address,
    SpecialDevice,
    bare_name,
    is_routed,
    near_miss,
    parse_address,
    unwrap_header,
)
from labsim.dispatch.events import AddressRead, Target
from labsim.dispatch.write import file_tag, xxhash32

ANY_TEXT = st.text(st.characters(), max_size=60)
NEARLY = st.builds(
    "".join, st.lists(st.sampled_from(["xd", "XD", ":", "/", "//", " ", "[", "]", "#", "A1", "seed"]))
)
FILESYSTEM = "Prefix the path with './' to write it as a filesystem path."


@pytest.mark.parametrize(
    ("path", "device"),
    [
        ("xd://seed_slot", "seed_slot"),
        ("XD://seed_slot", "seed_slot"),
        ("Xd://Seed_Slot", "Seed_Slot"),
        ("  xd://seed_slot\n", "seed_slot"),
        ("\ufeffxd://seed_slot", "seed_slot"),
        ("xd://seed slot", "seed slot"),
        ("xd://seed%5Fslot", "seed%5Fslot"),
        ("xd://seed_slot:raw", "seed_slot:raw"),
    ],
)
def test_an_address_is_trimmed_and_its_name_kept_as_written(path: str, device: str):
    """dispatch/D-1 and dispatch/D-4: the scheme is free in case, the rest is the name, blanks around it aside and
    nothing decoded.
    """
    assert parse_address(path) == Address(device)


@pytest.mark.parametrize("path", ["xd://", "XD://", " xd:// "])
def test_nothing_after_the_scheme_is_the_root(path: str):
    """dispatch/D-2."""
    assert parse_address(path) == Address(None)


@pytest.mark.parametrize(
    "path", ["xd://seed_slot/", "xd://seed_slot/x", "xd:///seed_slot", "xd://seed_slot?x=1", "xd://seed_slot#x"]
)
def test_a_name_with_a_slash_query_or_fragment_is_no_device_address(path: str):
    """dispatch/D-3: a trailing slash is enough; the router still takes the path for an address of its own."""
    assert parse_address(path) is None
    assert is_routed(path)


@pytest.mark.parametrize("path", ["", "xd", "xd:", "xd:/seed_slot", "card.txt", "./xd://seed_slot", "x\u0085d://a"])
def test_other_paths_are_no_addresses(path: str):
    """dispatch/D-1: nothing but the scheme makes an address."""
    assert parse_address(path) is None


def test_a_blank_is_what_the_host_takes_for_one():
    """dispatch/D-1: U+0085 is trimmed by Python and not by the host, so it hides the scheme."""
    assert parse_address("\u0085xd://seed_slot") is None


@pytest.mark.parametrize(
    ("name", "bare"),
    [("xd://seed_slot", "seed_slot"), ("xD://a/b", "a/b"), ("seed_slot", "seed_slot"), (" xd://a", " xd://a")],
)
def test_the_bare_name_is_without_a_leading_scheme(name: str, bare: str):
    """dispatch/D-6."""
    assert bare_name(name) == bare


@pytest.mark.parametrize("device", list(SpecialDevice))
def test_the_devices_that_are_no_tools_are_known_by_their_exact_name(device: SpecialDevice):
    """dispatch/D-4 and dispatch/D-14."""
    assert Address(device.value).special is device
    assert Address(device.value.upper()).special is None
    assert Address(None).special is None


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("xd:/seed_slot", "'xd:/seed_slot'. Did you mean 'xd://seed_slot'?"),
        ("xd/seed_slot", "'xd/seed_slot'. Did you mean 'xd://seed_slot'?"),
        ("XD//seed_slot", "'XD//seed_slot'. Did you mean 'xd://seed_slot'?"),
        ("dx://seed_slot", "'dx://seed_slot'. Did you mean 'xd://seed_slot'?"),
        ("dx:/seed_slot", "'dx:/seed_slot'. Did you mean 'xd://seed_slot'?"),
        ("XDD://seed_slot", "'XDD://seed_slot'. Did you mean 'xd://seed_slot'?"),
        ("xdt://seed_slot", "'xdt://seed_slot'. Did you mean 'xd://seed_slot'?"),
        ("skill:/seeds", "'skill:/seeds'. Did you mean 'skill://seeds'?"),
        ("foo://x", "'foo://x'. Tool devices use 'xd://<tool>'."),
        (" foo:/x ", "'foo:/x'. Tool devices use 'xd://<tool>'."),
    ],
)
def test_a_near_miss_is_named_with_what_may_have_been_meant(path: str, message: str):
    """dispatch/D-1 to dispatch/D-6: the table of near misses, blanks aside; raised as a tool's error before
    anything is routed.
    """
    told = f"Unknown URI-like write target {message} {FILESYSTEM}"
    desk = Desk([slot_tool()])

    assert near_miss(path) == told
    assert desk.raised(path) == told
    assert [event.target for event in desk.seen(AddressRead)] == [Target.NEAR_MISS]
    assert desk.session.files.content == {}


@pytest.mark.parametrize(
    "path",
    ["xd://seed_slot", "skill://seeds", "ssh://host/x", "card.txt", "./xd/a", "/xd/a", "C:/seeds", "xd:seed_slot",
     "conflict://1", "foo:x", "foo:/x\ny", "a b://c", "xdd"],
)  # fmt: skip
def test_addresses_and_plain_paths_are_no_near_misses(path: str):
    """dispatch/D-1 to dispatch/D-6: an address of the host's, an absolute path, or one without a scheme and slash,
    is let through.
    """
    assert near_miss(path) is None


def test_a_leading_blank_makes_a_file_of_an_address():
    """dispatch/D-5, as recorded (dispatch-0541): the gate trims and the router does not, so a file is written."""
    desk = Desk([slot_tool()], mode="always-ask")

    result = desk.result(" xd://seed_slot", '{"action":"publish"}')

    assert result.details == {"resolvedPath": "<tmp>/cwd/ xd:/seed_slot"}
    assert result.content[0].text == "[ xd:/seed_slot#77F9]\nSuccessfully wrote 20 bytes to  xd:/seed_slot"
    assert desk.session.files.content == {" xd:/seed_slot": '{"action":"publish"}'}
    assert [event.target for event in desk.seen(AddressRead)] == [Target.FILE]


def test_a_trailing_blank_changes_nothing():
    """dispatch/D-1 and dispatch/D-5: blanks behind the name are trimmed by both readers (dispatch-0544)."""
    assert Desk([slot_tool()]).result("xd://seed_slot ").details["xdev"]["tool"] == "seed_slot"


@pytest.mark.parametrize(
    ("path", "inner"),
    [
        ("[xd://seed_slot#ABCD]", "xd://seed_slot"),
        ("[xd://seed_slot]", "xd://seed_slot"),
        ("[card.txt#01ef] \n", "card.txt"),
        ("[xd://seed_slot#ABCDE]", "[xd://seed_slot#ABCDE]"),
        ("[a#b#ABCD]", "[a#b#ABCD]"),
        ("[#ABCD]", "[#ABCD]"),
        ("[]", "[]"),
        (" [card.txt]", " [card.txt]"),
        ("card.txt", "card.txt"),
    ],
)
def test_a_copied_header_is_peeled_off_the_path(path: str, inner: str):
    """dispatch/D-57: only `[path]` and `[path#TAG]`, the tag four hexadecimal digits; any other shape is left
    alone.
    """
    assert unwrap_header(path) == inner


def test_a_wrapped_address_reaches_its_device():
    """dispatch/D-57: gate and execution both unwrap (dispatch-0636)."""
    spy = slot_tool()
    Desk([spy], mode="always-ask").result("[xd://seed_slot#ABCD]")

    assert spy.execute.inputs == [{"action": "inspect"}]


@given(st.one_of(ANY_TEXT, NEARLY))
@example("xd://" + "a" * 50 + "\u0000")
def test_reading_a_path_never_fails(path: str):
    """Any text is an address, a near miss or a plain path; no reader raises."""
    address, miss = parse_address(path), near_miss(path)

    unwrap_header(path)
    if address is not None:
        assert miss is None
        assert address.device is None or not set(address.device) & set("/?#")
    if miss is not None:
        assert path.strip() in miss


@given(
    st.text(string.ascii_letters + string.digits + "_-.:% ", min_size=1).filter(lambda name: name.strip() == name)
)
def test_any_plain_name_comes_back_from_its_address(name: str):
    """dispatch/D-1 and dispatch/D-4: a name goes in and comes out unchanged, in either case of the scheme."""
    assert parse_address(f"xd://{name}") == parse_address(f"XD://{name}") == Address(name)
    assert bare_name(f"xd://{name}") == name


@given(st.one_of(ANY_TEXT, NEARLY), st.sampled_from([INSPECT, "{not-json", "", "a card"]))
def test_whatever_the_path_only_the_named_device_is_entered(path: str, content: str):
    """A write ends in a result or in an error of the host; the device runs only for its own address."""
    tool = slot_tool()
    Desk([tool]).write(path, content)

    if tool.execute.calls:
        assert parse_address(unwrap_header(path)) == Address("seed_slot")
        assert content == INSPECT


@pytest.mark.parametrize(
    ("data", "digest"),
    [
        (b"", 0x02CC5D05),
        (b"a", 0x550D7456),
        (b"abc", 0x32D153FF),
        (b"Nobody inspects the spammish repetition", 0xE2293B2F),
    ],
)
def test_the_hash_behind_a_file_tag_is_xxhash32(data: bytes, digest: int):
    """The tag of a written file is the low half of its xxHash32; known answers of that function."""
    assert xxhash32(data) == digest


def test_line_ends_do_not_change_a_file_tag():
    """A tag is of the normalised text."""
    assert file_tag("a\r\nb\r") == file_tag("a\nb\n")
