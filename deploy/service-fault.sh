#!/bin/sh
# Makes the nodes of compose.cluster.yaml fail: a command for `lapel-sim run outage --service-fault deploy/service-fault.sh`.
# SERVICE_FAULT is restart, kill or freeze; SERVICE_FAULT_SECONDS says how long; SERVICE_FAULT_NODE is 1, 2, 3 or all.
set -eu
case "$SERVICE_FAULT_NODE" in
  all) nodes='node-1 node-2 node-3' ;;
  *) nodes="node-$SERVICE_FAULT_NODE" ;;
esac
case "$SERVICE_FAULT" in
  restart) away='stop' back='start' ;;
  kill) away='kill' back='start' ;;
  freeze) away='pause' back='unpause' ;;
  *) echo "service-fault.sh: SERVICE_FAULT is \"$SERVICE_FAULT\", not restart, kill or freeze" >&2; exit 2 ;;
esac
# shellcheck disable=SC2086 # each node is a word of its own
docker compose -f compose.cluster.yaml $away $nodes
sleep "$SERVICE_FAULT_SECONDS"
# shellcheck disable=SC2086
docker compose -f compose.cluster.yaml $back $nodes
