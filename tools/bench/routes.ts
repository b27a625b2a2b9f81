import type { AsyncDisposableStack } from '@lapel/schemas/base/async-disposable-stack';
import { startHaproxy } from '../harness/haproxy.ts';
import { type Process, processorSeconds } from './processes.ts';

/**
 * How devices and calls get to nodes:
 * - spread: independently of one another, so that most commands cross from one node to another
 * - direct: each call goes to the node of its device, as with a balancer that costs nothing
 * - haproxy: through HAProxy, with the example for clusters
 */
export const ROUTES = ['spread', 'direct', 'haproxy'] as const;
export type Route = (typeof ROUTES)[number];

export interface Routed {
  /** The addresses over which calls are spread. */
  origins: string[];
  /** The address for the calls about a device; undefined when they are spread. */
  originOf?(deviceId: string): string;
  /** The port of MQTT for a device, by its place in the list of devices. */
  mqttPortOf(index: number): number;
  /** Seconds of processor time that the balancer has used. */
  balancerSeconds(): number;
}

const portOf = (address = ''): number => Number(new URL(address).port);

/** Opens the way to the nodes, over which `deviceIds` will connect. */
export async function openRoute(
  route: Route,
  nodes: readonly Process[],
  { folder, stack, deviceIds }: { folder: string; stack: AsyncDisposableStack; deviceIds: readonly string[] },
): Promise<Routed> {
  const origins = nodes.map(({ addresses }) => addresses['http'] ?? '');
  const mqttPorts = nodes.map(({ addresses }) => portOf(addresses['mqtt']));
  if (route === 'haproxy') {
    const ports = nodes.map(({ addresses: { http, admin, mqtt } }) => ({
      http: portOf(http),
      admin: portOf(admin),
      mqtt: portOf(mqtt),
    }));
    const haproxy = stack.use(await startHaproxy(folder, ports));
    return {
      origins: [`http://127.0.0.1:${haproxy.http}`],
      mqttPortOf: () => haproxy.mqtt,
      balancerSeconds: () => processorSeconds(haproxy.pid),
    };
  }
  const places = new Map(deviceIds.map((deviceId, index) => [deviceId, index % nodes.length]));
  return {
    origins,
    ...(route === 'direct' && { originOf: (deviceId: string) => origins[places.get(deviceId) ?? 0] ?? '' }),
    mqttPortOf: (index) => mqttPorts[index % nodes.length] ?? 0,
    balancerSeconds: () => 0,
  };
}
