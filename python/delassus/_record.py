"""What structs of the library look like in Python."""
import ctypes


class Record(ctypes.Structure):
    """A copy of a struct: members by name, and all of them when it is printed."""

    def __repr__(self):
        return f"{type(self).__name__.removeprefix('dls_')}({', '.join(f'{key}={plain(value)!r}' for key, value in self.items())})"

    def items(self):
        return [(member[0], getattr(self, member[0])) for member in self._fields_]

    def as_dict(self):
        """Members by name, those of inner structs under theirs with a dot: energy.kinetic."""
        found = {}
        for key, value in self.items():
            if isinstance(value, Record):
                found.update({f"{key}.{inner}": number for inner, number in value.as_dict().items()})
            else:
                found[key] = plain(value)
        return found


def plain(value):
    if isinstance(value, ctypes.Array):
        return [plain(one) for one in value]
    return value.decode(errors="replace") if isinstance(value, bytes) else value
