import type { Aedes, Client, Subscription } from 'aedes';
import type { Log } from '../../runtime/log.ts';
import { onBrokerError, subscriptionsOf } from './aedes-internals.ts';
import type { createDeafConnections } from './deaf-connections.ts';
import type { createDeviceConnections } from './device-connections.ts';
import type { createOpenLinks } from './opened-links.ts';
import type { createSubacks } from './suback.ts';

interface Parts {
  broker: Aedes;
  log: Log;
  devices: Pick<ReturnType<typeof createDeviceConnections>, 'loggedIn' | 'ended' | 'because'>;
  openLinks: ReturnType<typeof createOpenLinks>;
  deaf: Pick<ReturnType<typeof createDeafConnections>, 'check' | 'ended'>;
  /** Called when a device has logged in, after it is one of the connected ones. */
  ready(client: Client): void;
  /** Called when the connection of a device has ended. */
  left(client: Client): void;
  subacks: Pick<ReturnType<typeof createSubacks>, 'answer'>;
}

/** Lets the service know, by the events of Aedes, when devices connect, subscribe, unsubscribe and leave. */
export function followClients({ broker, log, devices, openLinks, deaf, ready, left, subacks }: Parts): void {
  broker.on('clientReady', (client) => {
    if (client.closed) return;
    devices.loggedIn(client);
    ready(client);
    openLinks.open(client, Object.keys(subscriptionsOf(client)));
    deaf.check(client);
  });
  broker.on('subscribe', (subscriptions: Subscription[], client) => {
    const granted = subscriptions.filter(({ qos }) => (qos as number) !== 0x80);
    openLinks.open(
      client,
      granted.map(({ topic }) => topic),
    );
    deaf.check(client);
    subacks.answer(client, subscriptions);
  });
  broker.on('unsubscribe', (topics, client) => {
    openLinks.close(client, topics);
    deaf.check(client);
  });
  broker.on('clientDisconnect', (client) => {
    openLinks.close(client);
    deaf.ended(client);
    devices.ended(client);
    left(client);
  });
  broker.on('clientError', (client, err) => {
    devices.because(client, 'lost', err.message);
    log.debug({ deviceId: client.id, reason: err.message }, 'connection ended');
  });
  broker.on('connectionError', (_client, err) => log.debug({ reason: err.message }, 'connection ended before login'));
  onBrokerError(broker, (err) => log.error({ err }, 'the broker reported an error'));
}
