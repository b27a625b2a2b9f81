import type { Client, PublishPacket } from 'aedes';
import type { Command, DeviceLink } from '../../../core/outbox/connection-state.ts';
import type { Due } from '../../../core/outbox/due.ts';
import type { ResponseLink } from '../../../core/requests/response-sender.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import { SECOND } from '../../../runtime/units.ts';
import type { GuardParts } from '../guard-parts.ts';
import type { About } from '../outbound.ts';
import { topicOf } from '../topics.ts';
import type { Five } from './five.ts';

/** The most unacknowledged commands of a device that says how many messages it takes. */
const WIDEST_WINDOW = 64;
/** The longest message expiry, in seconds. */
const LONGEST_EXPIRY = 0xffff_ffff;

/** A link that is told, besides the command, what MQTT 5 says of it. */
interface CommandLink extends DeviceLink {
  publish(...given: [...Parameters<DeviceLink['publish']>, about?: About]): void;
}

interface Parts {
  clock: Pick<Clock, 'now'>;
  log: Log;
  published: GuardParts['published'];
  fiveOf(client: Client): Five | undefined;
}

/** Makes the links of a connection say what MQTT 5 can say, and take no more of the device than it has asked for. */
export function createFiveLinks({ clock, log, published, fiveOf }: Parts) {
  /** What is left of the time in which a command must be delivered; none for one that was delivered. */
  function expiryOf({ status, expiresAt }: Due): number | undefined {
    if (status !== 'queued' || expiresAt === null) return undefined;
    return Math.min(LONGEST_EXPIRY, Math.max(1, Math.ceil((expiresAt - clock.now()) / SECOND)));
  }

  /**
   * Settles a command that the device cannot take, as if the device had answered it with `failed`: it must not be sent
   * again [MQTT-4.4.0-2], and nobody would learn of it otherwise. A refused cancel comes again at the next connection.
   */
  function fail(client: Client, { transactionId, operation }: Command, code: string, message: string): void {
    if (operation === 'cancel') return;
    const payload = JSON.stringify({ transactionId, status: 'failed', error: { code, message } });
    const packet: PublishPacket = {
      cmd: 'publish',
      topic: topicOf(client.id, 'acks'),
      payload: Buffer.from(payload),
      qos: 1,
      dup: false,
      retain: false,
    };
    published(client, packet, (error) => {
      if (error) log.debug({ err: error, deviceId: client.id, transactionId }, 'a refused command comes again');
    });
  }

  return {
    /** The link of the commands of a connection; the given one for MQTT 3.1.1. */
    commandsOf(client: Client, link: CommandLink): DeviceLink {
      const five = fiveOf(client);
      if (!five) return link;
      const { saidMaximum, maximumPacketSize } = five.asked;
      return {
        ...link,
        window: saidMaximum && Math.min(saidMaximum, WIDEST_WINDOW),
        publish(command, acknowledged, written, due) {
          if (!five.fits(topicOf(client.id, 'commands'), () => JSON.stringify(command))) {
            written();
            const message = `the command is larger than the ${maximumPacketSize} bytes of a packet that the device takes`;
            fail(client, command, 'PACKET_TOO_LARGE', message);
            return;
          }
          let isRefused = false;
          const about: About = {
            expirySeconds: expiryOf(due),
            traceparent: due.traceparent ?? undefined,
            refused({ code, text }) {
              isRefused = true;
              const words = text === '' ? '' : `: ${text}`;
              fail(client, command, 'NOT_ACCEPTED', `the device refused it with 0x${code.toString(16)}${words}`);
            },
          };
          link.publish(command, () => (isRefused ? written() : acknowledged()), written, due, about);
        },
      };
    },

    /** The link of the responses of a connection; the given one for MQTT 3.1.1. */
    responsesOf(client: Client, link: ResponseLink): ResponseLink {
      const five = fiveOf(client);
      if (!five) return link;
      return {
        ...link,
        respond(payload, acknowledged) {
          if (five.fits(topicOf(client.id, 'responses'), () => payload)) return link.respond(payload, acknowledged);
          acknowledged(); // as if it had been sent [MQTT-3.1.2-25]
          return true;
        },
      };
    },
  };
}
