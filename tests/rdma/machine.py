#!/usr/bin/env python3
"""tests/rdma/machine.py [--limit-s S] COMMAND…: runs a command in a virtual machine that has two
Soft-RoCE devices, rxe0 and rxe1, and two NUMA nodes.

Boots Debian's stock kernel in QEMU, without hardware support, in about 10 s. The virtual machine
sees this machine's files; files that it writes vanish. The exit code is the command's, 124 after S
seconds, or 125 if the virtual machine died. If there can be no virtual machine, it is 77, and one
line says why. The unpacked kernel is kept in build/rdma.
"""
import argparse, lzma, os, re, shlex, shutil, signal, struct, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.normpath(os.path.join(HERE, "../../build/rdma"))
PACKAGES = ["qemu-system-x86", "qemu-system-common", "seabios", "rdma-core", "ibverbs-providers",
            "busybox-static", "cpio", "iproute2", "kmod", "binutils"]
MODULES = ["9p", "9pnet_virtio", "virtio_pci", "virtio_console", "overlay", "veth",
           "crc32_generic", "ib_uverbs", "rdma_rxe"]
BOOT_ATTEMPTS, BOOT_LIMIT_S = 3, 90


class CannotBeHad(Exception):
    pass


def said(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def unpack_kernel(image, to):
    """Unpacks the xz-compressed kernel of a bzImage; an emulated processor is slow at that."""
    with open(image, "rb") as file:
        data = file.read()
    start, size = struct.unpack_from("<II", data, 0x248)
    start += (data[0x1F1] + 1) * 512
    with open(to, "wb") as file:
        file.write(lzma.LZMADecompressor().decompress(data[start:start + size]))


def pack_initrd(kernel_root, version, scratch, to):
    tree = os.path.join(scratch, "initrd")
    for folder in ["bin", "mods", "proc", "sys", "dev", "newroot", "tmp", "run", "ro", "rw"]:
        os.makedirs(os.path.join(tree, folder))
    said("depmod", "-b", kernel_root, version)
    modules = []
    for module in MODULES:
        for line in said("modprobe", "-d", kernel_root, "-S", version, "--show-depends",
                         module).splitlines():
            kind, _, path = line.partition(" ")
            if kind == "insmod" and path.strip() not in modules:
                modules.append(path.strip())
    for path in modules:
        said("strip", "--strip-debug", "-o", os.path.join(tree, "mods", os.path.basename(path)),
             path)
    with open(os.path.join(tree, "mods/list"), "w", encoding="utf-8") as file:
        file.writelines(os.path.basename(path) + "\n" for path in modules)
    shutil.copy(shutil.which("busybox"), os.path.join(tree, "bin"))
    shutil.copy(os.path.join(HERE, "init.sh"), os.path.join(tree, "init"))
    os.chmod(os.path.join(tree, "init"), 0o755)
    names = said("find", ".", cwd=tree)
    with open(to, "wb") as file:
        subprocess.run(["cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0"], cwd=tree, check=True,
                       input=names.encode(), stdout=file)


def prepare():
    """The kernel and its first files, made when they are not there yet."""
    installed = subprocess.run([os.path.join(HERE, "../../.ci/install-packages"), *PACKAGES],
                               stdout=sys.stderr.fileno(), check=False)
    if installed.returncode or not shutil.which("qemu-system-x86_64"):
        raise CannotBeHad("QEMU and the packages for it cannot be installed")
    kernel, initrd = os.path.join(CACHE, "vmlinux"), os.path.join(CACHE, "initrd.cpio")
    inputs = [__file__, os.path.join(HERE, "init.sh")]
    if os.path.exists(initrd) and all(os.path.getmtime(initrd) > os.path.getmtime(path)
                                      for path in inputs):
        return kernel, initrd
    os.makedirs(CACHE, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        try:
            depends = said("apt-cache", "depends", "linux-image-amd64")
            package = re.search(r"Depends: (\S+)", depends).group(1)
            os.chmod(scratch, 0o755)  # apt may download as another user
            said("apt-get", "-o", "APT::Sandbox::User=root", "download", package, cwd=scratch)
        except (subprocess.CalledProcessError, OSError, AttributeError):
            raise CannotBeHad("the package linux-image-amd64 cannot be downloaded") from None
        archive = next(name for name in os.listdir(scratch) if name.endswith(".deb"))
        root = os.path.join(scratch, "kernel")
        said("dpkg", "-x", os.path.join(scratch, archive), root)
        version = os.listdir(os.path.join(root, "lib/modules"))[0]
        unpack_kernel(os.path.join(root, "boot/vmlinuz-" + version), kernel)
        packed = os.path.join(scratch, "initrd.cpio")
        pack_initrd(root, version, scratch, packed)
        os.rename(packed, initrd)
    return kernel, initrd


def qemu(kernel, initrd, control, output):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        mhz = re.search(r"cpu MHz\s*: ([\d.]+)", file.read())
    khz = int(float(mhz.group(1)) * 1000) if mhz else 2_000_000
    # Otherwise the guest calibrates its clock by an emulated timer, which fails on a busy host.
    clock = f"tsc=reliable tsc_early_khz={khz} lpj={khz * 4} no_timer_check nowatchdog"
    options = f"console=ttyS0 quiet panic=-1 nokaslr mitigations=off {clock} audit=0 apparmor=0"
    # Without these two features the kernel copies word by word, so that Soft-RoCE writes each word
    # atomically, as adapters do. With them, QEMU would copy byte by byte.
    processor = "max,-erms,-fsrm"
    numa = []
    for node in "01":
        numa += ["-object", f"memory-backend-ram,id=ram{node},size=1G",
                 "-numa", f"node,nodeid={node},memdev=ram{node},cpus={node}"]
    shared = "security_model=none,multidevs=remap"
    return ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none",
            "-M", "q35", "-accel", "tcg,thread=multi", "-cpu", processor, "-smp", "2",
            "-m", "2048", *numa, "-no-reboot", "-kernel", kernel, "-initrd", initrd,
            "-append", options + " random.trust_cpu=on",
            "-chardev", f"file,id=console,path={control}/console", "-serial", "chardev:console",
            "-device", "virtio-serial-pci", "-add-fd", f"fd={output},set=1",
            "-chardev", "file,id=output,path=/dev/fdset/1,append=on",
            "-device", "virtserialport,chardev=output,nr=1,name=output",
            "-fsdev", f"local,id=root,path=/,{shared},readonly=on",
            "-device", "virtio-9p-pci,fsdev=root,mount_tag=root",
            "-fsdev", f"local,id=control,path={control},security_model=none",
            "-device", "virtio-9p-pci,fsdev=control,mount_tag=control"]


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def wait_until(child, done, limit_s):
    end = time.monotonic() + limit_s
    while child.poll() is None and not done() and time.monotonic() < end:
        time.sleep(0.1)
    return done()


def run(command, limit_s):
    kernel, initrd = prepare()
    output = os.dup(sys.stdout.fileno())
    with tempfile.TemporaryDirectory() as control:
        up, code = os.path.join(control, "up"), os.path.join(control, "code")
        shutil.copy(os.path.join(HERE, "guest.sh"), control)
        kept = {name: value for name, value in os.environ.items()
                if name in ("PATH", "LANG") or name.startswith(("TEST_", "GTEST_", "SLIMGRAPH_"))}
        with open(os.path.join(control, "command"), "w", encoding="utf-8") as file:
            file.writelines(f"export {name}={shlex.quote(value)}\n" for name, value in kept.items())
            file.write(f"cd {shlex.quote(os.getcwd())}\n{shlex.join(command)}\n")
        for _ in range(BOOT_ATTEMPTS):
            child = subprocess.Popen(qemu(kernel, initrd, control, output), pass_fds=[output],
                                     stdin=subprocess.DEVNULL)
            try:
                if not wait_until(child, lambda: os.path.exists(up), BOOT_LIMIT_S):
                    continue
                wait_until(child, lambda: False, limit_s)
                if child.poll() is None:
                    print(f"machine.py: not done after {limit_s} s", file=sys.stderr)
                    return 124
                if text_of(code):
                    return int(text_of(code))
                break
            finally:
                child.kill()
                child.wait()
        print(text_of(os.path.join(control, "console"))[-2000:], file=sys.stderr)
        return 125


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit-s", type=int, default=600)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return run(options.command, options.limit_s)
    except CannotBeHad as reason:
        print(f"no virtual machine with RDMA: {reason}")
        return 77


sys.exit(main())
