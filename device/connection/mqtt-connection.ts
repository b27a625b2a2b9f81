import { connect } from 'mqtt';
import { INCOMING } from '../core/effects.ts';
import type { Connection, ConnectionEvents, Login } from './connection.ts';

/** Where the service is. */
export interface Address {
  /** Such as `mqtts://lapel.example.com:8883`. */
  url: string;
  /** PEM of the CAs that may have signed the certificate of the service; those of the system if left out. */
  ca?: string;
  /** The version of MQTT: 4 is 3.1.1, which every service speaks. */
  protocolVersion?: 4 | 5;
}

const KEEP_ALIVE_SECONDS = 60;
const LOGIN_MILLISECONDS = 30_000;
/** The reason code of a message that the service has not carried out. */
const ABOVE_THE_RATE = 0x97;
/** Milliseconds before such a message is sent again, and a random part, so that not all of them come at once. */
const RATE_PAUSE = 1000;
/** The session of MQTT 5 does not end by itself. */
const FOREVER = 4_294_967_295;
/** Codes of a CONNACK that refuse the login: of 3.1.1, and of 5. */
const REFUSES_LOGIN: readonly unknown[] = [4, 5, 0x86, 0x87];

/**
 * An attempt with the `mqtt` package (rules `login`, `mqtt`, `keep-alive`, `topics`). Each connection has a client of its
 * own, because the core repeats messages itself.
 */
export function openMqtt(deviceId: string, address: Address, login: Login, events: ConnectionEvents): Connection {
  const prefix = `devices/${deviceId}/`;
  const { url, ca, protocolVersion = 4 } = address;
  const unaccepted: (() => void)[] = [];
  let reason = 'the connection was closed';
  let isRefused = false;
  let isOver = false;
  const again = new Set<NodeJS.Timeout>();
  const client = connect(url, {
    clientId: deviceId,
    username: deviceId,
    ...('credential' in login ? { password: login.credential } : { cert: login.certificate, key: login.key }),
    ...(ca !== undefined && { ca }),
    protocolVersion,
    ...(protocolVersion === 5 && { properties: { sessionExpiryInterval: FOREVER } }),
    clean: false,
    keepalive: KEEP_ALIVE_SECONDS,
    connectTimeout: LOGIN_MILLISECONDS,
    reconnectPeriod: 0,
    resubscribe: false, // with it, `subscribe` leaves out the topics of an earlier connection
  });
  function end(): void {
    isOver = true;
    for (const timer of again) clearTimeout(timer); // the core sends all of them at the next login
  }
  function sendLater(send: () => void): void {
    const timer = setTimeout(
      () => {
        again.delete(timer);
        send();
      },
      RATE_PAUSE * (1 + Math.random()),
    );
    again.add(timer);
  }
  client.handleMessage = ({ topic, payload }, done) => {
    const kind = INCOMING.find((one) => topic === prefix + one);
    if (isOver || !kind) {
      if (!isOver) done();
      return;
    }
    unaccepted.push(done);
    events.message(kind, payload.toString());
  };
  client.on('connect', () => {
    if (!isOver) events.connected();
  });
  client.on('error', (error: Error & { code?: unknown }) => {
    reason = error.message;
    isRefused = REFUSES_LOGIN.includes(error.code);
    client.end(true);
  });
  client.on('close', () => {
    if (isOver) return;
    end();
    client.end(true);
    events.lost(reason, isRefused);
  });

  return {
    subscribe(kinds) {
      const topics = kinds.map((kind) => prefix + kind);
      client.subscribe(topics, { qos: 1 }, (error) => {
        if (!error || isOver) return;
        reason = error.message;
        client.end(true); // without its subscriptions it would get no command, and not notice
      });
    },
    publish({ kind, message }, token) {
      const payload = JSON.stringify(message);
      const send = (): void =>
        void client.publish(prefix + kind, payload, { qos: 1 }, (error) => {
          if (isOver) return;
          const code = (error as { code?: unknown } | undefined)?.code;
          // A PUBACK of MQTT 5 that refuses is one nevertheless: sent again, the message would be refused again.
          if (code === ABOVE_THE_RATE) sendLater(send);
          else if (!error || typeof code === 'number') events.confirmed(token);
        });
      send();
    },
    accept: () => unaccepted.shift()?.(),
    close() {
      end();
      client.end(true);
    },
  };
}
