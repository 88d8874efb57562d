#!/bin/busybox sh
# The first process of the virtual machine: loads the modules, and mounts the host's read-only files
# under an overlay as its root. Files written there are in memory and vanish with the machine.
B=/bin/busybox
$B mount -t proc p /proc; $B mount -t sysfs s /sys; $B mount -t devtmpfs d /dev
while read -r module; do
  $B insmod "/mods/$module" || echo "<2>machine: $module cannot be loaded" >/dev/kmsg
done </mods/list
OPTIONS=trans=virtio,version=9p2000.L,msize=512000,access=any
$B mount -t 9p -o $OPTIONS,cache=loose,ro root /ro || $B poweroff -f
$B mount -t 9p -o $OPTIONS,cache=none control /rw || $B poweroff -f
$B mount -t tmpfs t /run; $B mkdir /run/up /run/work
$B mount -t overlay -o lowerdir=/ro,upperdir=/run/up,workdir=/run/work overlay /newroot
for name in proc sys dev; do $B mount --move /$name /newroot/$name; done
cd /newroot || $B poweroff -f
$B mkdir -p dev/shm dev/pts
$B mount -t tmpfs -o size=75% t dev/shm; $B mount -t devpts p dev/pts
$B mount -t tmpfs t run; $B mkdir -p run/control; $B mount --move /rw run/control
exec $B chroot /newroot /bin/bash /run/control/guest.sh
