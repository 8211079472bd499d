"""Adverse conditions of a recording: full or read-only disks, few descriptors, models that harm their process."""

from __future__ import annotations

import resource
import shutil
import subprocess
from dataclasses import dataclass
from typing import Final

from benchmarks.kill_sweep.subjects import StruckCommand, recording

#: Runs the rest of its arguments; afterwards the contents of a mounted folder are copied out.
_MOUNTED: Final = """\
set -e
{mount}
set +e
"$@"
code=$?
{after}
exit $code
"""
_FULL_DISK: Final = """\
cp -a {folder} {folder}.before
mount -t tmpfs -o size={size} none {folder}
cp -a {folder}.before/. {folder}/
rm -rf {folder}.before"""
_COPY_OUT: Final = """\
mkdir {folder}.after
cp -a {folder}/. {folder}.after/
umount {folder}
rm -rf {folder}
mv {folder}.after {folder}"""
_READ_ONLY: Final = "mount --bind {folder} {folder}\nmount -o remount,ro,bind {folder}"
#: Python searches these and the working directory for another temporary folder.
_NO_TEMPORARY: Final = """\
base=$(pwd -P)
for each in /tmp /var/tmp /usr/tmp "$base"; do
    [ ! -d $each ] || { mount --bind $each $each; mount -o remount,ro,bind $each; }
done
cd "$base"
mount --bind out out
mount -o remount,rw,bind out"""


@dataclass(frozen=True, slots=True)
class Circumstance:
    """One adverse condition, and the end of a recording that it requires.

    Attributes:
        name: argument of ``--only`` to repeat it.
        subject: the command to run.
        codes: allowed exit codes.
        says: regular expression that the message has to match unless the code is 0.
        steps: minimum number of steps in the trace; 0 if there may be none.
        mount: shell commands that prepare the folders.
        after: shell commands that come after it.
        limits: of the system's resources.
    """

    name: str
    subject: StruckCommand
    codes: tuple[int, ...] = (0,)
    says: str = ""
    steps: int = 0
    mount: str = ""
    after: str = ""
    limits: tuple[tuple[int, int], ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The command that takes the subject's command as its arguments."""
        if not self.mount:
            return ()
        return ("unshare", "-rm", "sh", "-c", _MOUNTED.format(mount=self.mount, after=self.after), "sh")


def can_mount() -> bool:
    """Returns whether a process can mount folders of its own on this machine."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode == 0


def _full(folder: str, pages: int, says: str) -> Circumstance:
    mount = _FULL_DISK.format(folder=folder, size=f"{4 * pages}k")
    after = _COPY_OUT.format(folder=folder)
    where = {"out": "output", "tmp": "temporary"}[folder]
    codes = (0, 2, 3)
    return Circumstance(f"full {where} folder, {pages} pages", recording("net"), codes, says, 0, mount, after)


def _limited(name: str, what: int, most: int, *, options: tuple[str, ...] = ()) -> Circumstance:
    return Circumstance(f"{name} {most}", recording("net", *options), (0, 2, 3), "", 0, limits=((what, most),))


def circumstances() -> list[Circumstance]:
    """Returns all circumstances; those with mounts need `can_mount`."""
    sound = recording("net")
    return [
        *(_full("out", pages, "No space left on device|Disk quota") for pages in range(2, 9)),
        *(_full("tmp", pages, "No space left on device") for pages in (1, 2, 3, 4, 5, 6, 8, 12, 16)),
        Circumstance("read-only output folder", sound, (2, 3), "Read-only", mount=_READ_ONLY.format(folder="out")),
        Circumstance("no temporary space", sound, (2, 3), "temporary", mount=_NO_TEMPORARY),
        *(_limited("longest file", resource.RLIMIT_FSIZE, size) for size in (1024, 4096, 8192, 9000, 1 << 16)),
        *(_limited("descriptors", resource.RLIMIT_NOFILE, most) for most in (*range(5, 16), 20, 30, 64)),
        *of_models(),
    ]


def of_models() -> list[Circumstance]:
    """Returns the circumstances of models that harm the process that records them."""
    own = (
        "forking leaving_a_child leaving_a_daemon changing_the_folder one_long_line starting_threads "
        "replacing_signal_handlers printing_a_gigabyte unlinking_its_folder"
    )
    lost = "closing_descriptors reusing_descriptors closing_the_streams"
    return [
        *(Circumstance(name, recording(name), steps=20) for name in own.split()),
        *(Circumstance(name, recording(name), (0, 3), steps=0) for name in lost.split()),
        Circumstance("exiting_at_once", recording("exiting_at_once"), (3,), "exit code 0, while loading the model"),
        Circumstance("exiting_with_an_error", recording("exiting_with_an_error"), (3,), "exit code 7, while loading"),
        Circumstance("exiting_as_scripts_do", recording("exiting_as_scripts_do"), (2, 3), "I do not want to"),
        Circumstance("allocating", recording("allocating", "--memory", "1G"), (3,), "memory"),
        Circumstance("sleeping", recording("sleeping", "--limit", "20"), (3,), "20 s, the limit, while loading"),
        Circumstance("unlinking_and_dying", recording("unlinking_and_dying"), (3,), "SIGKILL"),
        Circumstance("damaging_its_folder", recording("damaging_its_folder"), (3,), "SIGKILL"),
        Circumstance("removing_the_temporary_folder", recording("removing_the_temporary_folder"), steps=20),
        Circumstance(
            "removing_the_output_folder",
            recording("removing_the_output_folder"),
            (2, 3),
            "there is no folder|cannot be written",
        ),
    ]
