# Sourced by bash in the virtual machine. Makes two linked network interfaces, each with a Soft-RoCE
# device, then runs the command. Without the routing rules, the kernel would deliver packets between
# the two local addresses directly, not over the link.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
ulimit -l unlimited; ulimit -n 65536; hostname rdma-machine
sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.core.netdev_max_backlog=20000 \
  net.ipv4.conf.{all,default}.rp_filter=0 net.ipv4.conf.{all,default}.accept_local=1
ip -batch - <<'IP'
link set lo up
link add veth0 address 02:00:00:00:00:01 type veth peer name veth1 address 02:00:00:00:00:02
link set veth0 mtu 9000 up
link set veth1 mtu 9000 up
addr add 10.0.0.1/24 dev veth0
addr add 10.0.0.2/24 dev veth1
neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev veth0
neigh replace 10.0.0.1 lladdr 02:00:00:00:00:01 dev veth1
route add 10.0.0.2 dev veth0 src 10.0.0.1 table 101
route add 10.0.0.1 dev veth1 src 10.0.0.2 table 102
rule add pref 1 iif lo from 10.0.0.1 to 10.0.0.2 lookup 101
rule add pref 2 iif lo from 10.0.0.2 to 10.0.0.1 lookup 102
rule add pref 10 lookup local
rule del pref 0
IP
rdma link add rxe0 type rxe netdev veth0
rdma link add rxe1 type rxe netdev veth1
: >/run/control/up
(. /run/control/command) </dev/null >/dev/vport0p1 2>&1
echo $? >/run/control/code
/bin/busybox poweroff -f
