"""How settings are checked: a number out of its bounds is refused with a sentence."""

from collections.abc import Mapping

__all__ = ["check_numbers"]


def check_numbers(settings: object, bounds: Mapping[str, tuple[float, float]], *, whole: bool = False) -> None:
    """Refuses fields that are no numbers (no whole ones), or out of their bounds: the least and the most."""
    kind, words = (int, "a whole number") if whole else (int | float, "a number")
    for name, (least, most) in bounds.items():
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, kind):
            raise TypeError(f"{name} must be {words}, not {type(value).__name__}")
        if not least <= value <= most:
            raise ValueError(f"{name} is {value:g}: give {words} from {least:g} to {most:g}")
