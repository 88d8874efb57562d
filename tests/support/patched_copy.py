"""A copy of the tree, to which patches are applied and which is built again."""
import argparse
import os
import shutil
import subprocess

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))


def planted_options(description, **more):
    """The options of a planted.py: how to make, names of patches, and `more`, each with the
    arguments of add_argument(), or None for a word before the names."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--make", default="make")
    for name, settings in more.items():
        if settings is None:
            parser.add_argument(name)
        else:
            parser.add_argument("--" + name, **settings)
    parser.add_argument("names", nargs="*", metavar="NAME")
    return parser.parse_args()


class PatchedCopy:
    """Patches lie in `folder`/planted. The copy keeps the objects of build/`mode`, with their
    times, so that make compiles only what a patch changes."""

    def __init__(self, folder, mode, leave_out):
        self.patches = os.path.join(folder, "planted")
        self.root = os.path.join(ROOT, "build/planted-" + mode)
        built = os.path.join(ROOT, "build")
        shutil.rmtree(self.root, ignore_errors=True)

        def left_out(where, names):
            if where == ROOT:
                return [name for name in names if name in ("build", ".git")]
            return [name for name in names if name == "planted"] if where == folder else []

        shutil.copytree(ROOT, self.root, ignore=left_out, symlinks=True)
        os.makedirs(os.path.join(self.root, "build"), exist_ok=True)
        for name in os.listdir(built):
            if name.startswith(".") and os.path.isfile(os.path.join(built, name)):
                shutil.copy2(os.path.join(built, name), os.path.join(self.root, "build", name))
        shutil.copytree(os.path.join(built, mode), os.path.join(self.root, "build", mode),
                        ignore=lambda where, names: [name for name in names if name in leave_out])

    def names(self):
        return sorted(name[:-len(".patch")] for name in os.listdir(self.patches))

    def patch(self, name, *words):
        with open(os.path.join(self.patches, name + ".patch"), "rb") as file:
            return subprocess.run(["patch", "-p1", "--force", "--no-backup-if-mismatch", "-r", "-",
                                   *words], cwd=self.root, stdin=file, capture_output=True,
                                  text=True, check=False)

    def try_patch(self, name, make, find):
        """Applies the patch, builds by the command line `make`, calls find(name), and reverts.
        Returns a line in words, and whether find() has returned one, which says what it found."""
        applied = self.patch(name)
        if applied.returncode != 0:
            self.patch(name, "-R")
            return f"its patch no longer applies: {applied.stdout.strip().splitlines()[-1:]}", False
        try:
            done = subprocess.run(make, cwd=self.root, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return f"it does not build: {(done.stdout + done.stderr)[-2000:]}", False
            found = find(name)
            return found or "not found", bool(found)
        finally:
            self.patch(name, "-R")

    def try_all(self, names, make, find):
        """Prints a line for each patch, and the counts. Returns an exit code."""
        names = names or self.names()
        passed = 0
        for name in names:
            said, good = self.try_patch(name, make, find)
            passed += good
            print(f"  {'found' if good else 'FAILED':6}  {name}: {said}", flush=True)
        print(f"{passed} passed, {len(names) - passed} failed")
        return 0 if passed == len(names) else 1
