/** The topics that a device may publish to, below `devices/{deviceId}/`. */
export const INBOUND = ['acks', 'status', 'events', 'requests'] as const;
export type Inbound = (typeof INBOUND)[number];

/** The topics that a device may subscribe to, below `devices/{deviceId}/`; wildcards are refused. */
export const OUTBOUND = ['commands', 'responses', 'errors'] as const;
export type Outbound = (typeof OUTBOUND)[number];

export const topicOf = (deviceId: string, kind: Inbound | Outbound): string => `devices/${deviceId}/${kind}`;

/** The last level of a topic that is a device's own and one of `kinds`; undefined for every other topic. */
function ownKind<Kind extends string>(deviceId: string, topic: string, kinds: readonly Kind[]): Kind | undefined {
  const prefix = `devices/${deviceId}/`;
  if (!topic.startsWith(prefix)) return undefined;
  const rest = topic.slice(prefix.length);
  return kinds.find((kind) => kind === rest);
}

/** The kind of message that a device may publish to this topic; undefined when it may not publish there. */
export const inboundKind = (deviceId: string, topic: string): Inbound | undefined => ownKind(deviceId, topic, INBOUND);

/** The kind of message that a device may receive on this topic; undefined when it may not subscribe to it. */
export const outboundKind = (deviceId: string, topic: string): Outbound | undefined =>
  ownKind(deviceId, topic, OUTBOUND);

/**
 * Whether a device gets a subscription. A response is kept until its PUBACK, which QoS 0 does not have, so `responses`
 * is not granted with it. A command is confirmed by the acknowledgement as well, and a message on `errors` may be lost.
 */
export function isGranted(deviceId: string, topic: string, qos: number): boolean {
  const kind = outboundKind(deviceId, topic);
  return kind !== undefined && (kind !== 'responses' || qos > 0);
}

/**
 * Whether the subscriptions of a stored session are those that a device needs: it holds `commands`, and each is one that
 * the device would get today.
 */
export const isUsable = (deviceId: string, subscriptions: readonly { topic: string; qos: number }[]): boolean =>
  subscriptions.some(({ topic }) => outboundKind(deviceId, topic) === 'commands') &&
  subscriptions.every(({ topic, qos }) => isGranted(deviceId, topic, qos));
