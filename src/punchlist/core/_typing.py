"""What a type checker sees of this is `typing`. What runs does without it: loading `typing` takes as long as all that a
hook has to do."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any as Any
    from typing import NamedTuple as NamedTuple
    from typing import NoReturn as NoReturn
    from typing import Protocol as Protocol
    from typing import TypeVar as TypeVar
else:
    from collections import namedtuple

    Any = NoReturn = Protocol = object

    def TypeVar(name):
        return object

    _KEPT = frozenset(("__module__", "__qualname__", "__annotations__", "__static_attributes__", "__firstlineno__"))

    def _replacer(made):
        """`_replace` in half the time that `namedtuple`'s takes: values are copied with every call, many times over."""
        places = {name: place for place, name in enumerate(made._fields)}

        def _replace(self, /, **changes):
            values = list(self)
            for name, value in changes.items():
                if name not in places:
                    raise ValueError(f"Got unexpected field names: {[name]!r}")
                values[places[name]] = value
            return tuple.__new__(made, values)

        return _replace

    class _Maker(type):
        """Makes a named tuple of a class whose annotations are texts: `from __future__ import annotations`."""

        def __new__(cls, name, bases, body):
            fields = body["__annotations__"]
            defaults = [body[field] for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            made.__qualname__, made.__annotations__ = body["__qualname__"], fields
            made._replace = _replacer(made)
            for key, value in body.items():
                if key not in fields and key not in _KEPT:
                    setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
