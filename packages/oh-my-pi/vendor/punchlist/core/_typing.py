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
    from collections import _tuplegetter

    from ._constructors import CONSTRUCTORS

    Any = NoReturn = Protocol = object

    def TypeVar(name):
        return object

    _function = type(TypeVar)

    def _constructor(name, fields, defaults):
        known = CONSTRUCTORS[len(fields) - 1]
        own = {"co_name": "__new__", "co_qualname": f"{name}.__new__"}
        code = known.__code__.replace(co_varnames=("_cls", *fields), **own)
        return _function(code, known.__globals__, "__new__", tuple(defaults) or None)

    def _make(cls, values):
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _asdict(self):
        return dict(zip(self._fields, self, strict=True))

    def _values(self):
        return tuple(self)

    def _shown(self):
        values = ", ".join([f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)])
        return f"{type(self).__name__}({values})"

    def _replacer(fields):
        """`_replace` in half the time that `namedtuple`'s takes: values are copied with every call, many times over."""
        places = {name: place for place, name in enumerate(fields)}

        def _replace(self, /, **changes):
            values = list(self)
            for name, value in changes.items():
                if name not in places:
                    raise ValueError(f"Got unexpected field names: {[name]!r}")
                values[places[name]] = value
            return tuple.__new__(type(self), values)

        return _replace

    class _Maker(type):
        """Makes a named tuple of a class whose annotations are texts: `from __future__ import annotations`. It is what
        `namedtuple` makes, in a third of the time: a hook loads dozens of them."""

        def __new__(cls, name, bases, body):
            fields = tuple(body["__annotations__"])
            defaults = {field: body.pop(field) for field in fields if field in body}
            replace = _replacer(fields)
            made = {
                "__slots__": (),
                "__match_args__": fields,
                "_fields": fields,
                "_field_defaults": defaults,
                "__new__": _constructor(name, fields, defaults.values()),
                "_make": classmethod(_make),
                "_replace": replace,
                "__replace__": replace,
                "_asdict": _asdict,
                "__repr__": _shown,
                "__getnewargs__": _values,
            }
            for place, field in enumerate(fields):
                made[field] = _tuplegetter(place, "")
            return type(name, (tuple,), made | body)

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
