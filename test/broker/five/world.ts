import mqttPacket, { type Packet } from 'mqtt-packet';
import type { Test } from 'tap';
import type { RawDevice, RawDeviceOptions } from '../../raw-device.ts';
import { startWorld, type World } from '../../world.ts';

/** Starts a service that speaks MQTT 5, with a developer. */
export async function startFive(t: Test, given: Parameters<typeof startWorld>[1] = {}) {
  const world = await startWorld(t, given);
  const tenant = await world.createTenant();
  return { world, tenant };
}

/** Opens a connection of a new device that has logged in with MQTT 5, without subscriptions. */
export async function openFive(world: World, connect: Record<string, unknown> = {}) {
  const device = await world.registerDevice();
  const link = await world.open({ ...device, level: 5, connect: { clean: true, ...connect } });
  const connack = await link.login();
  return { ...device, link, connack };
}

/** The bytes of a packet of MQTT 5, as another implementation writes it. */
export const bytesOf = (packet: Record<string, unknown>): Buffer =>
  mqttPacket.generate(packet as unknown as Packet, { protocolVersion: 5 });

/** Sends bytes; resolves to the reason code of the DISCONNECT that ends the connection, or 'closed' without one. */
export async function endOf(link: RawDevice, ...bytes: (string | Buffer)[]): Promise<number | 'closed' | undefined> {
  for (const part of bytes)
    link.socket.write(typeof part === 'string' ? Buffer.from(part.replaceAll(' ', ''), 'hex') : part);
  await link.closed;
  const [last] = link.pending('disconnect');
  return last?.cmd === 'disconnect' ? last.reasonCode : 'closed';
}

/** The reason code of a CONNACK that refuses a login, after which the connection ends. */
export async function refusalOf(world: World, device: Omit<RawDeviceOptions, 'url'>): Promise<number | undefined> {
  const link = await world.open({ ...device, level: 5 });
  const { reasonCode } = await link.login();
  await link.closed;
  world.clock.advance(1000); // fast refusals are delayed
  return reasonCode;
}
