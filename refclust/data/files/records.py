"""Records in documents: a dataclass whose annotations say how it is read, written and described.

Each field is a key. Its annotation is a type, ``Annotated`` with a part where bounds or another
look are due, or with what is added to one. Checks across fields are the method ``check`` of the
record, which gets the node, for paths, and what is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin
from typing import get_type_hints as hints_of

from refclust.data.files import parts
from refclust.data.files.document import Node
from refclust.data.files.parts import Known, Part, Schema
from refclust.errors import RefclustError

T = TypeVar("T")
FAMILY: Final = "family"  # the name by which a class is chosen


def _once(function: Callable[[Any], T]) -> Callable[[Any], T]:
    """Each annotation is looked at once."""
    return cache(function)


@dataclass(frozen=True, slots=True)
class Look:
    """Another look of a record, or of a field in its record."""

    what: str


GIVEN: Final = Look("only what is not None has a key")
ONE_KEY: Final = Look("exactly one key has a value, and the others are not there")
IN_ARRAY: Final = Look("the values alone, in an array")
INLINED: Final = Look("its keys stand among those of the record around it")
UNWRITTEN: Final = Look("no key at all")
IF_ANY: Final = Look("no key where the value is None")


@dataclass(frozen=True, slots=True)
class Key:
    """The key of a field that has another name."""

    name: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """A record whose class depends on what is known."""

    choose: Callable[[Known], type]


def read(record: type[T], node: Node, known: Known) -> T:
    """The record at a node, or a refusal with the path of what is wrong.

    Spec: MODEL-LOAD

    >>> from refclust.data.files.document import parse
    >>> read(Look, parse('{"what": "new"}', "m"), {})
    Look(what='new')
    """
    value: T = part_of(record).read(node, known)
    return value


def plain(record: Any, known: Known, *, line: bool = False) -> Any:
    """A record as a document has it, with its keys in the order of its fields.

    Spec: MODEL-DOC

    >>> plain(Look("new"), {})
    {'what': 'new'}
    """
    return part_of(type(record)).plain(record, known, line)


def taken(record: type[T], source: Any, **values: Any) -> T:
    """A record made of what has the same names elsewhere: attributes, or keys of a mapping.

    Spec: MODEL-DOC

    >>> taken(Look, {"what": "new", "when": "now"})
    Look(what='new')
    """
    made = dict(values)
    defaults = {field.name for field in fields(record) if field.default is not MISSING}  # type: ignore[arg-type]
    for name, field in fields_of(record).items():
        if name not in made and field.part is not None:
            if not isinstance(source, Mapping):
                made[name] = field.part.taken(getattr(source, name))
            elif name in source or name not in defaults:
                made[name] = field.part.taken(source[name])
    return record(**made)


def values_by_path(record: Any, prefix: str) -> dict[str, Any]:
    """What the keys of a record stand for, by their paths.

    >>> values_by_path(Look("new"), "params")
    {'params.what': 'new'}
    """
    values: dict[str, Any] = {}
    for name, field in fields_of(type(record)).items():
        value = getattr(record, name)
        values |= values_by_path(value, prefix) if field.inlined else {f"{prefix}.{name}": value}
    return values


@_once
def part_of(annotation: Any) -> Part:
    """The part that an annotation declares."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _annotated(args[0], args[1:])
    if origin is Literal:
        return parts.words(args)
    if origin in (Union, UnionType):
        some = [part_of(choice) for choice in args if choice is not NoneType]
        present = some[0] if len(some) == 1 else parts.either(some)
        return parts.maybe(present) if NoneType in args else present
    if origin is frozenset:
        return parts.array(part_of(args[0]), made=frozenset)
    if origin is tuple:
        if args == (float, Ellipsis):
            return parts.doubles()
        if args[-1] is not Ellipsis and len(set(args)) > 1:
            return parts.several([part_of(place) for place in args])
        return parts.array(part_of(args[0]), None if args[-1] is Ellipsis else len(args))
    if isinstance(annotation, TypeVar):
        return _by_name(annotation.__name__)
    scalar = _PLAIN.get(annotation)
    return _object(origin or annotation) if scalar is None else scalar()


_PLAIN: Final[dict[Any, Callable[[], Part]]] = {
    int: parts.whole,
    float: parts.double,
    str: parts.text,
    bool: parts.flag,
    Fraction: parts.rational,
}


def _annotated(kind: Any, added: tuple[Any, ...]) -> Part:
    """A part given as it is, or a class in another look; then what is added to it."""
    part: Part | None = None
    for mark in added:
        if isinstance(mark, Part):
            part = mark
        elif isinstance(mark, Chosen):
            part = _chosen(mark.choose)
        elif mark in _LOOKS:
            part = _LOOKS[mark](kind)
    part = part_of(kind) if part is None else part
    for mark in added:
        if not isinstance(mark, Part | Look | Chosen | Key):
            part = mark(part)
    return part


def _by_name(name: str) -> Part:
    """The part that is known by the name of a type variable."""
    return Part(
        lambda node, known: known[name].read(node, known),
        lambda defs, known: known[name].schema(defs, known),
        (dict,),
        plain=lambda value, known, line: known[name].plain(value, known, line),
        scalar=False,
    )


def _chosen(choose: Callable[[Known], type]) -> Part:
    return Part(
        lambda node, known: part_of(choose(known)).read(node, known),
        lambda defs, known: part_of(choose(known)).schema(defs, known),
        (dict,),
        frozenset((FAMILY,)),
        lambda value, known, line: part_of(type(value)).plain(value, known, line),
        narrowed=lambda known: part_of(choose(known)).narrowed(known),
        scalar=False,
    )


# -- fields ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record: its key; its part, if it is written; whether its keys are inlined."""

    key: str
    part: Part | None
    present: Part | None  # the part of what is not null
    inlined: Chosen | None
    if_any: bool = False


@_once
def fields_of(record: type) -> dict[str, Field]:
    """The fields of a record by their names."""
    hints = hints_of(record, include_extras=True)
    listed: dict[str, Field] = {}
    for name in (field.name for field in fields(record)):
        hint = hints[name]
        added = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        if UNWRITTEN in added:
            listed[name] = Field(name, None, None, None)
            continue
        if_any = IF_ANY in added
        present = hint = get_args(hint)[0] if if_any else hint
        if get_origin(hint) in (Union, UnionType):
            present = Union[tuple(choice for choice in get_args(hint) if choice is not NoneType)]  # noqa: UP007
        inlined = next((mark for mark in added if isinstance(mark, Chosen)), None)
        key = next((mark.name for mark in added if isinstance(mark, Key)), name)
        inlined = inlined if INLINED in added else None
        part = part_of(present if if_any else hint)
        listed[name] = Field(key, part, part_of(present), inlined, if_any)
    return listed


def _keys(record: type, known: Known) -> dict[str, Part]:
    """The keys of a record in their order, with those that are inlined among them."""
    keyed: dict[str, Part] = {}
    for field in fields_of(record).values():
        if field.inlined is not None:
            keyed |= _keys(field.inlined.choose(known), known)
        elif field.part is not None:
            keyed[field.key] = field.part
    return keyed


def _rare(record: type, known: Known) -> frozenset[str]:
    """The keys that need not be there, with those of inlined records."""
    rare: set[str] = set()
    for field in fields_of(record).values():
        if field.inlined is not None:
            rare |= _rare(field.inlined.choose(known), known)
        elif field.if_any:
            rare.add(field.key)
    return frozenset(rare)


def _names(record: type) -> frozenset[str]:
    """What a record must agree with, beside its own fields."""
    listed = fields_of(record)
    every = (field.part.names for field in listed.values() if field.part is not None)
    return frozenset().union(*every) - listed.keys()


@_once
def _order(record: type) -> list[tuple[str, Field, frozenset[str]]]:
    """The fields in the order of reading, each with the others it names, which come first."""
    listed = fields_of(record)
    readable = [
        (name, field, field.part.names & listed.keys())
        for name, field in listed.items()
        if field.part is not None
    ]
    return sorted(readable, key=lambda entry: bool(entry[2]))


def _made(record: type, node: Node, values: dict[str, Any], known: Known) -> Any:
    try:
        value = record(**values)
    except RefclustError as wrong:
        node.fail(str(wrong))
    check = getattr(record, "check", None)
    if check is not None:
        check(value, node, known)
    return value


def _read(record: type, node: Node, entries: Mapping[str, Node], known: Known) -> Any:
    values: dict[str, Any] = {}
    for name, field, needed in _order(record):
        seen = {**known, **{other: values[other] for other in needed}} if needed else known
        if field.inlined is not None:
            values[name] = _read(field.inlined.choose(known), node, entries, seen)
        else:
            assert field.part is not None
            if field.key in entries:
                values[name] = field.part.read(entries[field.key], seen)
    return _made(record, node, values, known)


# -- looks ----------------------------------------------------------------------------------------


def _object(record: type) -> Part:
    """An object with a key for each field."""

    def read(node: Node, known: Known) -> Any:
        rare = _rare(record, known)
        keys = [key for key in _keys(record, known) if key not in rare or key in node.mapping()]
        return _read(record, node, dict(zip(keys, node.members(*keys), strict=True)), known)

    def plain(value: Any, known: Known, line: bool) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for name, field in fields_of(type(value)).items():
            if field.part is not None:
                if field.if_any and getattr(value, name) is None:
                    continue
                part = field.part.plain(getattr(value, name), known, line)
                members |= part if field.inlined else {field.key: part}
        return members

    def schema(defs: Schema, known: Known) -> Schema:
        name = f"{known[FAMILY]}.{record.__name__}" if FAMILY in names else record.__name__
        if name not in defs:
            defs[name] = {}  # in its place, before those inside
            keys = {key: part.schema(defs, known) for key, part in _keys(record, known).items()}
            rules, rare = getattr(record, "RULES", {}), _rare(record, known)
            defs[name] = {**_shaped(keys, [key for key in keys if key not in rare]), **rules}
        return {"$ref": f"#/$defs/{name}"}

    def narrowed(known: Known) -> Schema | None:
        inner = {key: part.narrowed(known) for key, part in _keys(record, known).items()}
        narrower = {key: narrow for key, narrow in inner.items() if narrow is not None}
        return {"properties": narrower} if narrower else None

    names = _names(record)
    make = lambda value: value if isinstance(value, record) else taken(record, value)  # noqa: E731
    return Part(read, schema, (dict,), names, plain, make, narrowed, scalar=False)


def _shaped(keys: Schema, required: list[str]) -> Schema:
    return {
        "type": "object",
        "required": required,
        "additionalProperties": False,
        "properties": keys,
    }


def _given(record: type) -> Part:
    """An object with a key for each field that is not None."""
    whole, listed = _object(record), fields_of(record)
    present = {name: field.present for name, field in listed.items() if field.present is not None}

    def read(node: Node, known: Known) -> Any:
        entries = node.chosen(*present)
        values = {name: present[name].read(entry, known) for name, entry in entries.items()}
        return _made(record, node, values, known)

    def plain(value: Any, known: Known, line: bool) -> dict[str, Any]:
        return {
            name: part.plain(getattr(value, name), known, line)
            for name, part in present.items()
            if getattr(value, name) is not None
        }

    def schema(defs: Schema, known: Known) -> Schema:
        return _shaped({name: part.schema(defs, known) for name, part in present.items()}, [])

    return replace(whole, read=read, plain=plain, schema=schema)


def _one_key(record: type) -> Part:
    """An object with a single key: that of the one field that is not None."""
    whole, listed = _given(record), fields_of(record)
    choices = " or ".join(f'{{"{name}": number}}' for name in listed)

    def read(node: Node, known: Known) -> Any:
        if len(node.mapping()) != 1 or not node.mapping().keys() <= listed.keys():
            node.fail(f"an object with one key is needed: {choices}")
        return whole.read(node, known)

    def schema(defs: Schema, known: Known) -> Schema:
        keys = whole.schema(defs, known)["properties"]
        return {"oneOf": [_shaped({name: key_schema}, [name]) for name, key_schema in keys.items()]}

    return replace(whole, read=read, schema=schema)


def _in_array(record: type) -> Part:
    """The values alone, in an array of one line."""
    names = [name for name, field in fields_of(record).items() if field.part]
    whole = parts.several([field.part for field in fields_of(record).values() if field.part])
    return replace(
        whole,
        read=lambda node, known: record(*whole.read(node, known)),
        plain=lambda value, known, line: whole.plain(
            [getattr(value, name) for name in names], known, line
        ),
    )


_LOOKS: Final = {GIVEN: _given, ONE_KEY: _one_key, IN_ARRAY: _in_array}
