"""What the package itself exports; read by type checkers and by the lazy loader alike."""

from .notebook.show import (
    compare as compare,
    show as show,
)
